"""Text to sentences to tokens: the one set of rules for corpora and for queries.

The rules, in the order they apply:

1. **Normalise.** HTML entities decoded; curly quotes and apostrophes made straight, all white space
   but a line's end a blank; soft hyphens and zero-width characters, web addresses, and
   ``formula_12`` placeholders and empty brackets, which text extracted from Wikipedia is full of,
   removed.
2. **Break into sentences** at a line's end, and after ``. ! ? …`` (and closing quotes or brackets)
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

No token crosses white space, and whether a sentence ends there is told by the chunks of text before
and after it. So rules 2 to 4 are asked once a distinct chunk, and numpy puts the text together from
the answers: no Python runs for a token or a sentence.
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

from pair2vec.text.breaks import sentence_ends
from pair2vec.text.chunks import LINE_END, Chunks, joined_rows, number_chunks

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


def normalise(text: str) -> str:
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
    line = normalise(text.replace("\n", " "))
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


def encode(chunks: Chunks) -> EncodedText:
    """Rules 2 to 4, for the chunks of a normalised text."""
    tokens, words = _encode_chunks(chunks.distinct)
    # Behind each chunk's tokens is a 0, which is taken along where a sentence ends.
    stops = np.flatnonzero(tokens == 0).astype(np.int32)
    starts = np.insert(stops[:-1] + 1, 0, 0)
    sizes = stops - starts
    sizes[LINE_END] = 1
    ids = [
        joined_rows(tokens, starts[numbers], sizes[numbers] + ends)
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
    ids, words = encode(number_chunks(normalise(text).encode(errors="ignore")))
    for is_inside, numbers in groupby(ids.tolist(), bool):
        if is_inside:
            yield [words[number - 1] for number in numbers]
