"""Where sentences end: rule 2 of `sentences`, told from a chunk and the one after it."""

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

from pair2vec.text.whitespace import LINE_END, WhitespaceTokens, concatenate_slices, number_tokens

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
        [False, False, True, True],  # after the abbreviation of what is numbered
        [False, True, True, True],  # after another end
    ]
)
"""Whether a sentence ends between two chunks: a row for the first, a column for the second."""


def _ends_one_of(words: Iterable[str]) -> str:
    """What follows the point of one of `words`: a look-behind a length, as Python wants them."""
    by_length: dict[int, list[str]] = {}
    for word in words:
        by_length.setdefault(len(word), []).append(re.escape(word))
    return "|".join(rf"(?<=\b(?:{'|'.join(group)})\.)" for group in by_length.values())


# Matched behind the point. The number of the group is the row of _BREAKS.
_ABBREVIATION = re.compile(
    rf"""
    (?<! \w{{7}}\. )                            # none is that long
    (?: {_ends_one_of(_TITLES)}
      | (?<= \b[^\W\d_]\. ) (?: (\Z) | )        # an initial, or the end of an acronym
      | (?: {_ends_one_of(_NUMBERED)} ) (\Z)
    )
    """,
    re.VERBOSE,
)
_ANOTHER_END = 3
# The number of the group is the column of _BREAKS.
_START = re.compile(rf"(\d) | ((?:{'|'.join(_STARTERS)})\b) | {_OPENERS}* ([^\W_])", re.VERBOSE)


def sentence_ends(chunks: WhitespaceTokens) -> Iterator[NDArray[np.bool_]]:
    """For each block of chunks, behind which of them a sentence ends inside a line."""
    blocks, distinct = chunks
    end_kinds = np.fromiter(map(_end_kind, distinct), np.uint8, len(distinct))
    for numbers in blocks:
        places = np.flatnonzero(end_kinds[numbers])
        following, which = np.unique(numbers[places + 1], return_inverse=True)
        start_kinds = np.array([_start_kind(distinct[n]) for n in following.tolist()], np.uint8)
        ends = np.zeros(len(numbers), np.bool_)
        ends[places] = _BREAKS[end_kinds[numbers[places]], start_kinds[which]]
        yield ends


def _end_kind(chunk: str) -> int:
    """The row of `_BREAKS` for `chunk`."""
    stem = chunk.rstrip(_CLOSERS)
    if stem[-1:] not in _END_MARKS:
        return 0
    abbreviation = _ABBREVIATION.match(chunk, len(stem))
    return (abbreviation.lastindex or 0) if abbreviation else _ANOTHER_END


def _start_kind(chunk: str) -> int:
    """The column of `_BREAKS` for `chunk`."""
    start = _START.match(chunk)
    if start is None or start.group(start.lastindex or 0).islower():
        return 0
    return start.lastindex or 0


# == Text to sentences to tokens: the one set of rules for corpora and for queries.
#
# The rules, in the order they apply:
#
# 1. **Normalise.** HTML entities decoded; curly quotes and apostrophes made straight, all white space
#    but a line's end a blank; soft hyphens and zero-width characters, web addresses, and
#    ``formula_12`` placeholders and empty brackets, which text extracted from Wikipedia is full of,
#    removed.
# 2. **Break into sentences** at a line's end, and after ``. ! ? …`` (and closing quotes or brackets)
#    followed by white space and something that can start a sentence: a capital, a digit, or a letter
#    of a script without capitals. Not after a title (``Dr. Smith``), not after ``No.`` or ``Jan.``
#    before a number; after an initial or an acronym (``J. Smith``, ``U.S. Army``) only before a word
#    that commonly starts a sentence (``in the U.S. The ...``). ``。！？।`` end one by themselves.
# 3. **Split into tokens.** A token is an acronym with its points (``u.s.``); a number
#    with its separators (``1,000.5``); a word with inner apostrophes, hyphens and underscores
#    (``don't``, ``well-known``, ``new_york``), a hyphen between two digits excepted (``1990-95``);
#    the possessive ``'s``, by itself (``france 's capital``: the relation is between the words); or a
#    single punctuation mark.
# 4. **Lower-case** each token and compose its accents (NFC).
#
# No token crosses white space, and whether a sentence ends there is told by the chunks of text before
# and after it. So rules 2 to 4 are asked once a distinct chunk, and numpy puts the text together from
# the answers: no Python runs for a token or a sentence.


BREAK = "\n"
"""What ends a line, which is never part of a token."""

# Up to U+3100 lie all scripts that have combining marks in common use, and all white space.
_ALPHABETS = range(0x80, 0x3100)


def _ranges(characters: Iterable[int]) -> str:
    """Code points as the inside of a regular expression's character class."""
    spans: list[list[int]] = []
    for point in characters:
        if spans and point == spans[-1][1] + 1:
            spans[-1][1] = point
        else:
            spans.append([point, point])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in spans)


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
# What shows nothing, a line's end excepted.
_BLANKS = r"\x00-\x09\x0b-\x20\x7f-\x9f\u202a-\u202e\u2061-\u206f\ufff9-\uffff"
# Each with a character of it, which is quick to look for.
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
    """Rule 1: one spelling for what is written in several ways."""
    text = decode_entities(text)
    if not text.isascii():
        text = "\n".join(map(_respell, text.split("\n")))
    for character, removed in _REMOVED:
        if character in text:
            text = removed.sub(" ", text)
    return text


def _respell(line: str) -> str:
    # Most lines are ASCII, also in a text that is not.
    if line.isascii():
        return line
    return _RESPELLED.sub(lambda written: _RESPELL[written[0]], line)


# Python's \w leaves out vowel signs and accents that NFC cannot compose; words need them.
_MARKS = _ranges(p for p in _ALPHABETS if unicodedata.category(chr(p)) in {"Mn", "Mc", "Me"})
# Most words are followed by a space: the look-ahead spares them the six ways of going on.
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


def cased_tokens(text: str) -> list[str]:
    """Rules 1 and 3: the tokens of `text`, taken as one line, as written."""
    line = normalise_text(text.replace("\n", " "))
    return [token for token in _TOKEN.findall(line) if token != BREAK]


def token_spans(text: str) -> list[tuple[int, int]]:
    """Rule 3: from where to where the tokens of `text` go, which is taken as it is."""
    return [token.span() for token in _TOKEN.finditer(text) if token[0] != BREAK]


def fold(token: str) -> str:
    """Rule 4: a token as the vocabulary spells it."""
    token = token.lower()
    return token if token.isascii() else unicodedata.normalize("NFC", token)


def tokenize(text: str) -> list[str]:
    """The tokens of a query, which is one sentence whatever its punctuation."""
    return [fold(token) for token in cased_tokens(text)]


class EncodedText(NamedTuple):
    """Sentences as ids of their own words: 0 ends a sentence, n is words[n - 1]."""

    ids: NDArray[np.unsignedinteger]
    words: list[str]


def encode(chunks: WhitespaceTokens) -> EncodedText:
    """Rules 2 to 4, for the chunks of a normalised text."""
    tokens, words = _encode_chunks(chunks.distinct)
    # Behind each chunk's tokens is a 0, which is taken along where a sentence ends.
    stops = np.flatnonzero(tokens == 0).astype(np.int32)
    starts = np.insert(stops[:-1] + 1, 0, 0)
    sizes = stops - starts
    sizes[LINE_END] = 1
    ids = [
        concatenate_slices(tokens, starts[numbers], sizes[numbers] + ends)
        for numbers, ends in zip(chunks.blocks, sentence_ends(chunks), strict=True)
    ]
    return EncodedText(np.concatenate(ids), words)


def _encode_chunks(chunks: list[str]) -> EncodedText:
    """Rules 3 and 4, as if each chunk were a sentence."""
    # The first chunk is empty, so BREAK is the first token and gets the 0.
    tokens = _TOKEN.findall(BREAK.join([*chunks, ""]))
    written: defaultdict[str, int] = defaultdict(count().__next__)
    numbers = np.fromiter(map(written.__getitem__, tokens), np.uint32, len(tokens))
    id_of: defaultdict[str, int] = defaultdict(count().__next__)
    table = np.array([id_of[fold(token)] for token in written])
    table = table.astype(np.uint16 if len(id_of) <= 1 << 16 else np.uint32)
    return EncodedText(table[numbers], list(id_of)[1:])


def split_sentences(text: str) -> Iterator[list[str]]:
    """The sentences of `text`, each a list of tokens."""
    ids, words = encode(number_tokens(normalise_text(text).encode(errors="ignore")))
    for is_inside, numbers in groupby(ids.tolist(), bool):
        if is_inside:
            yield [words[number - 1] for number in numbers]
