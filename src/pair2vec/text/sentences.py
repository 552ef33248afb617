"""Text to sentences to tokens: the one set of rules for corpora and for queries.

The rules, in the order they apply:

1. **Normalise.** HTML entities decoded; curly quotes and apostrophes made straight; soft
   hyphens and zero-width characters, and web
   addresses, removed; ``formula_12`` placeholders and empty brackets, which
   text extracted from Wikipedia is full of, removed.
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

Two compiled expressions do the work, one for the sentence ends and one for the tokens; no Python
runs for a token or a sentence, and case and NFC are settled once a distinct token.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby

BREAK = "\n"
"""The token that stands between two sentences in the output of `cased_tokens`."""

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

_CLOSERS = r"""["')\]»]"""
_OPENERS = r"""["'(\[«]"""


def _ranges(characters: Iterable[int]) -> str:
    """Code points as the inside of a regular expression's character class."""
    spans: list[list[int]] = []
    for point in characters:
        if spans and point == spans[-1][1] + 1:
            spans[-1][1] = point
        else:
            spans.append([point, point])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in spans)


# Up to U+3100 lie all scripts that have either case or combining marks in common use.
_ALPHABETS = range(0x80, 0x3100)
_LOWER = "a-z" + _ranges(point for point in _ALPHABETS if chr(point).islower())
# Python's \w leaves out vowel signs and accents that NFC cannot compose; words need them.
_MARKS = _ranges(p for p in _ALPHABETS if unicodedata.category(chr(p)) in {"Mn", "Mc", "Me"})
_CONTROLS = r"\x00-\x1f\x7f-\x9f\u202a-\u202e\u2061-\u206f\ufff9-\uffff"


_DIGIT_NEXT = r"[^\S\n]+\d"
_STARTER_NEXT = rf"[^\S\n]+(?:{'|'.join(_STARTERS)})\b"


def _ends_one_of(words: Iterable[str]) -> str:
    """What follows the point of one of `words`: a look-behind a length, as Python wants them."""
    by_length: dict[int, list[str]] = {}
    for word in words:
        by_length.setdefault(len(word), []).append(re.escape(word))
    return "|".join(rf"(?<=\b(?:{'|'.join(group)})\.)" for group in by_length.values())


_NOT_AN_ABBREVIATION = rf"""
    (?! {_ends_one_of(_TITLES)} )
    (?! (?:{_ends_one_of(_NUMBERED)}) {_DIGIT_NEXT} )
    (?! (?<=\b[^\W\d_]\.) (?!{_STARTER_NEXT}) )         # an initial, or the end of an acronym
"""
_SENTENCE_START = rf"{_OPENERS}* [^\W_{_LOWER}]"
_SENTENCE_END = re.compile(
    rf"([.!?…] {_NOT_AN_ABBREVIATION} {_CLOSERS}*) [^\S\n]+ (?={_SENTENCE_START})", re.VERBOSE
)
# The same for lines whose only ends are plain points, five times as fast: it begins with a literal
# character, and what to put in its place is constant.
_PLAIN_SENTENCE_END = re.compile(
    rf"\. (?=[^\S\n]+ {_SENTENCE_START}) {_NOT_AN_ABBREVIATION} [^\S\n]+", re.VERBOSE
)
_OTHER_END = re.compile(rf"[!?…]|\.{_CLOSERS}")
_UNSPACED_END = re.compile("[。！？।]")

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
    | [^\w\s{_CONTROLS}]
    """,
    re.VERBOSE,
)
# The same for text that is ASCII, where asking what is a letter takes half the time.
_ASCII_TOKEN = re.compile(_TOKEN.pattern, re.VERBOSE | re.ASCII)

# Longer numbers name no character, and int() refuses those beyond 4300 digits.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_unescape = lru_cache(maxsize=1024)(html.unescape)
_REMOVED = tuple(
    map(re.compile, (r"https?://\S+", r"www\.\S+", r"formula_\d+", r"\([\s,;]*\)", r"\[\s*\]"))
)
# An underscore joins words (new_york); elsewhere it is emphasis or a ruled line.
_LOOSE_UNDERSCORE = re.compile(r"_(?:(?<![^\W_]_)|(?![^\W_]))")
_RESPELL = {
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "ʼ": "'",
    "\u2010": "-", "\u2011": "-",
    "\u00ad": "", "\u200b": "", "\u200c": "", "\u200d": "", "\u200e": "", "\u200f": "",
    "\u2060": "", "\ufeff": "", "\ufe0f": "",
    "\ufffd": " ",
}  # fmt: skip


def decode_entities(text: str) -> str:
    """`text` with ``&amp;`` and its like as characters; a bare ``&`` stays."""
    return _ENTITY.sub(lambda entity: _unescape(entity[0]), text) if "&" in text else text


def normalise(text: str) -> str:
    """Rule 1: one spelling for what is written in several ways."""
    text = decode_entities(text)
    if not text.isascii():
        for written, meant in _RESPELL.items():
            text = text.replace(written, meant)
    for removed in _REMOVED:
        text = removed.sub(" ", text)
    return _LOOSE_UNDERSCORE.sub(" ", text) if "_" in text else text


def cased_tokens(text: str) -> list[str]:
    """Rules 1 to 3: the tokens of `text` as written, `BREAK` wherever a sentence ends.

    A document with any character beyond ASCII is taken line by line, because most lines have none
    and Python is twice as fast on those.
    """
    if text.isascii() or "\n" not in text:
        return _tokens_of(text)
    tokens: list[str] = []
    for line in text.split("\n"):
        tokens += _tokens_of(line)
        tokens.append(BREAK)
    return tokens


def _tokens_of(text: str) -> list[str]:
    text = normalise(text)
    if _OTHER_END.search(text):
        text = _SENTENCE_END.sub(rf"\1{BREAK}", text)
    else:
        text = _PLAIN_SENTENCE_END.sub(f".{BREAK}", text)
    if not text.isascii():
        text = _UNSPACED_END.sub(rf"\g<0>{BREAK}", text)
        return _TOKEN.findall(text)
    return _ASCII_TOKEN.findall(text)


def fold(token: str) -> str:
    """Rule 4: a token as the vocabulary spells it."""
    return unicodedata.normalize("NFC", token.lower())


def split_sentences(text: str) -> Iterator[list[str]]:
    """The sentences of `text`, each a list of tokens."""
    for is_break, tokens in groupby(cased_tokens(text), BREAK.__eq__):
        if not is_break:
            yield [fold(token) for token in tokens]


def tokenize(text: str) -> list[str]:
    """The tokens of a query, which is one sentence whatever its punctuation."""
    return [fold(token) for token in _TOKEN.findall(normalise(text)) if token != BREAK]
