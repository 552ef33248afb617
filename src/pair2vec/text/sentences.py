"""Text to sentences to tokens: the one set of rules for corpora and for queries.

The rules, in the order they apply:

1. **Normalise.** HTML entities decoded; curly quotes and apostrophes made straight, all white space
   but a line's end a blank; soft hyphens and zero-width characters, web addresses, and
   ``formula_12`` placeholders and empty brackets, which text extracted from Wikipedia is full of,
   removed.
2. **Split into sentences** at a line's end, and after ``. ! ? …`` (and closing quotes or brackets)
   followed by white space and something that can start a sentence: a capital, a digit, or a letter
   of a script without capitals. Not after a title (``Dr. Smith``), not after ``No.`` or ``Jan.``
   before a number; after an initial or an acronym (``J. Smith``, ``U.S. Army``) only before a word
   that commonly starts a sentence (``in the U.S. The ...``). ``。！？।`` end one by themselves.
3. **Split into tokens.** A token is an acronym with its points (``u.s.``); a number
   with its separators (``1,000.5``); a word with inner apostrophes, hyphens and underscores
   (``don't``, ``well-known``, ``new_york``), a hyphen between two digits excepted (``1990-95``);
   the possessive ``'s``, by itself (``france 's capital``: the relation is between the words); or a
   single punctuation mark.
4. **Lower-case** each token and compose its accents (NFC).

No token crosses white space, and whether a sentence ends at white space depends only on the
whitespace tokens before and after it. So rules 2 to 4 are applied once per distinct whitespace
token, and numpy assembles the text from the results: no Python runs per token or sentence.
"""

import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count, groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.text.whitespace import (
    LINE_END,
    WhitespaceTokens,
    concatenate_slices,
    encode_whitespace_tokens,
)


def split_sentences(text: str) -> Iterator[list[str]]:
    """The sentences of `text`, each a list of tokens."""
    utf8 = normalise_text(text).encode(errors="ignore")
    ids, words = encode_sentences(encode_whitespace_tokens(utf8))
    for is_inside, sentence in groupby(ids.tolist(), bool):
        if is_inside:
            yield [words[word_id - 1] for word_id in sentence]


def tokenize(text: str) -> list[str]:
    """The tokens of a query, which is one sentence whatever its punctuation."""
    if text.isascii() and text.isalpha():
        # By rule 3 one token: what nearly all words of a long list are.
        return [text.lower()]
    return [fold(token) for token in cased_tokens(text)]


def cased_tokens(text: str) -> list[str]:
    """Rules 1 and 3: the tokens of `text`, taken as one line, in their original case."""
    line = normalise_text(text.replace("\n", " "))
    return [token for token in _TOKEN.findall(line) if token != BREAK]


def token_spans(text: str) -> list[tuple[int, int]]:
    """Rule 3: start and end of each token in `text`, which is not normalised."""
    return [token.span() for token in _TOKEN.finditer(text) if token[0] != BREAK]


def fold(token: str) -> str:
    """Rule 4: a token as the vocabulary spells it."""
    token = token.lower()
    return token if token.isascii() else unicodedata.normalize("NFC", token)


class EncodedText(NamedTuple):
    """Sentences as ids of their own words: 0 ends a sentence, n is words[n - 1]."""

    ids: NDArray[np.unsignedinteger]
    words: list[str]


def encode_sentences(tokens: WhitespaceTokens) -> EncodedText:
    """Rules 2 to 4, for the whitespace tokens of a normalised text."""
    ids, words = _encode_distinct(tokens.distinct)
    # A 0 follows the ids of each whitespace token; it is copied along where a sentence ends.
    stops = np.flatnonzero(ids == 0).astype(np.int32)
    starts = np.insert(stops[:-1] + 1, 0, 0)
    sizes = stops - starts
    sizes[LINE_END] = 1
    blocks = [
        concatenate_slices(ids, starts[block], sizes[block] + ends)
        for block, ends in zip(tokens.blocks, sentence_ends(tokens), strict=True)
    ]
    return EncodedText(np.concatenate(blocks), words)


def _encode_distinct(whitespace_tokens: list[str]) -> EncodedText:
    """Rules 3 and 4, as if each whitespace token were a sentence."""
    # The first whitespace token is empty, so BREAK is the first token and gets the id 0.
    tokens = _TOKEN.findall(BREAK.join([*whitespace_tokens, ""]))
    cased_ids: defaultdict[str, int] = defaultdict(count().__next__)
    encoded = np.fromiter(map(cased_ids.__getitem__, tokens), np.uint32, len(tokens))
    folded_ids: defaultdict[str, int] = defaultdict(count().__next__)
    table = np.array([folded_ids[fold(token)] for token in cased_ids])
    table = table.astype(np.uint16 if len(folded_ids) <= 1 << 16 else np.uint32)
    return EncodedText(table[encoded], list(folded_ids)[1:])


# Rule 1: normalise.

BREAK = "\n"
"""The end of a line, which is never part of a token."""

# Up to U+3100 lie all scripts that have combining marks in common use, and all white space.
_ALPHABETS = range(0x80, 0x3100)


# Longer numbers name no character, and int() refuses those beyond 4300 digits.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_unescape = lru_cache(maxsize=1024)(html.unescape)
_RESPELL = {
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "ʼ": "'",
    "\u2010": "-", "\u2011": "-",
    "\u00ad": "", "\u200b": "", "\u200c": "", "\u200d": "", "\u200e": "", "\u200f": "",
    "\u2060": "", "\ufeff": "", "\ufe0f": "",
    **dict.fromkeys(filter(str.isspace, map(chr, _ALPHABETS)), " "), "\ufffd": " ",
    # They end a sentence by themselves.
    "。": "。\n", "！": "！\n", "？": "？\n", "।": "।\n",
}  # fmt: skip
_RESPELLED = re.compile(f"[{''.join(_RESPELL)}]")
# Invisible characters, the newline excepted.
_BLANKS = r"\x00-\x09\x0b-\x20\x7f-\x9f\u202a-\u202e\u2061-\u206f\ufff9-\uffff"
# Each pattern with a character it contains: a quick test of whether it can match at all.
_REMOVED = (
    ("/", re.compile(r"https?://\S+")),
    (".", re.compile(r"www\.\S+")),
    ("_", re.compile(r"formula_\d+")),
    ("(", re.compile(rf"\([{_BLANKS},;]*\)")),
    ("[", re.compile(rf"\[[{_BLANKS}]*\]")),
    # An underscore joins words (new_york); elsewhere it is emphasis or a ruled line.
    ("_", re.compile(r"_(?:(?<![^\W_]_)|(?![^\W_]))")),
)


def decode_entities(text: str) -> str:
    """`text` with ``&amp;`` and its like as characters; a bare ``&`` stays."""
    return _ENTITY.sub(lambda entity: _unescape(entity[0]), text) if "&" in text else text


def normalise_text(text: str) -> str:
    """Rule 1: one spelling for equivalent characters."""
    text = decode_entities(text)
    if not text.isascii():
        text = "\n".join(map(_respell, text.split("\n")))
    for character, removed in _REMOVED:
        if character in text:
            text = removed.sub(" ", text)
    return text


def _respell(line: str) -> str:
    # Most lines are ASCII even in a text that is not.
    if line.isascii():
        return line
    return _RESPELLED.sub(lambda written: _RESPELL[written[0]], line)


# Rule 2: split into sentences.

# Followed by a name, so never the end of a sentence.
_TITLES = """Mr Mrs Ms Mx Dr Prof St Ste Mt Ft Rev Fr Sr Msgr Hon Gen Col Lt Maj Capt Cpt Sgt Cpl
    Cmdr Cdr Adm Gov Sen Rep Pres Supt Amb Mme Mlle vs cf viz ca approx resp e.g i.e""".split()
# Followed by a number when they are abbreviations: "No. 5", but "He said no. Five left."
_NUMBERED = """No Nos Nr no nos nr p pp Vol vol Vols vols Fig fig Figs figs Eq eq Ch ch Sec sec Art
    art Op op Pt pt Ed ed c Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec""".split()
# After an initial or an acronym a capital proves nothing; these words do.
_STARTERS = """The This That These Those There Then They He She It We You I His Her Its Their Our My
    In On At By For From After Before During When While Where Since As If Although However But And
    Some Many Most Both Each One Two Other Another According Under With Until Also An""".split()

_END_MARKS = frozenset(".!?…")
_CLOSERS = "\"')]»"
_OPENERS = r"""["'(\[«]"""

_BREAKS = np.array(
    [  # before: no start, a digit, a starter, another start
        [False, False, False, False],  # after no end
        [False, False, True, False],  # after an initial or an acronym
        [False, False, True, True],  # after an abbreviation that precedes a number
        [False, True, True, True],  # after another end
    ]
)
"""Whether a sentence ends between two whitespace tokens: row by the first, column by the second."""


def _after_abbreviation(words: Iterable[str]) -> str:
    """Matches after the point of one of `words`; Python wants one look-behind per length."""
    by_length: dict[int, list[str]] = {}
    for word in words:
        by_length.setdefault(len(word), []).append(re.escape(word))
    return "|".join(rf"(?<=\b(?:{'|'.join(group)})\.)" for group in by_length.values())


# Matched after the point. The number of the group is the row of _BREAKS.
_ABBREVIATION = re.compile(
    rf"""
    (?<! \w{{7}}\. )                            # none is that long
    (?: {_after_abbreviation(_TITLES)}
      | (?<= \b[^\W\d_]\. ) (?: (\Z) | )        # an initial, or the end of an acronym
      | (?: {_after_abbreviation(_NUMBERED)} ) (\Z)
    )
    """,
    re.VERBOSE,
)
_OTHER_END = 3
# The number of the group is the column of _BREAKS.
_START = re.compile(rf"(\d) | ((?:{'|'.join(_STARTERS)})\b) | {_OPENERS}* ([^\W_])", re.VERBOSE)


def sentence_ends(tokens: WhitespaceTokens) -> Iterator[NDArray[np.bool_]]:
    """For each block, after which of its whitespace tokens a sentence ends within a line."""
    end_kinds = np.fromiter(map(_end_kind, tokens.distinct), np.uint8, len(tokens.distinct))
    for ids in tokens.blocks:
        positions = np.flatnonzero(end_kinds[ids])
        following, inverse = np.unique(ids[positions + 1], return_inverse=True)
        following_tokens = map(tokens.distinct.__getitem__, following.tolist())
        start_kinds = np.fromiter(map(_start_kind, following_tokens), np.uint8, len(following))
        ends = np.zeros(len(ids), np.bool_)
        ends[positions] = _BREAKS[end_kinds[ids[positions]], start_kinds[inverse]]
        yield ends


def _end_kind(token: str) -> int:
    """The row of `_BREAKS` for a whitespace token."""
    stem = token.rstrip(_CLOSERS)
    if stem[-1:] not in _END_MARKS:
        return 0
    abbreviation = _ABBREVIATION.match(token, len(stem))
    return (abbreviation.lastindex or 0) if abbreviation else _OTHER_END


def _start_kind(token: str) -> int:
    """The column of `_BREAKS` for a whitespace token."""
    start = _START.match(token)
    if start is None or start.group(start.lastindex or 0).islower():
        return 0
    return start.lastindex or 0


# Rule 3: split into tokens.


def _ranges(characters: Iterable[int]) -> str:
    """Code points as the inside of a regular expression's character class."""
    spans: list[list[int]] = []
    for point in characters:
        if spans and point == spans[-1][1] + 1:
            spans[-1][1] = point
        else:
            spans.append([point, point])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in spans)


# Python's \w leaves out vowel signs and accents that NFC cannot compose; words need them.
_MARKS = _ranges(p for p in _ALPHABETS if unicodedata.category(chr(p)) in {"Mn", "Mc", "Me"})
# Most words are followed by a space: the look-ahead spares them the six alternatives.
_TOKEN = re.compile(
    rf"""
    \w++
    (?: (?=[&'.,\-{_MARKS}])
        (?: [{_MARKS}]++ \w*+
          | & \w++                                          # at&t
          | ' (?! [sS] (?!\w) ) \w++                        # don't, but france 's
          | (?: (?<!\d)- | -(?!\d) ) \w++                   # well-known, but 1990 - 95
          | (?<=\d) (?: \. | ,(?=\d{{3}}(?!\d)) ) \d \w*+   # 1,000.5
          | (?<=\b[^\W\d_]) (?: \. [^\W\d_] (?!\w) )++ \.?+ # u.s.
        )
    )*+
    | \n
    | '[sS] (?!\w)
    | [^\w\s{_BLANKS}]
    """,
    re.VERBOSE,
)
