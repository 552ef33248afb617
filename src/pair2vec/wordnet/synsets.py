"""Synsets: the words of one meaning, and its pointers to others (wndb(5WN), "Data File Format")."""

import re
from typing import NamedTuple

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
"""The parts of speech, and how the names of their files end."""

HYPERNYM, INSTANCE_HYPERNYM, HYPONYM, INSTANCE_HYPONYM = "@", "@i", "~", "~i"
ANTONYM, SIMILAR = "!", "&"
"""Symbols of pointers. An antonym is one of a word; the others are of a whole synset."""

_SATELLITE = "s"
"""An adjective that has its antonyms through another, to which it is similar; filed with them."""

_MARKER = re.compile(r"\((?:a|p|ip)\)$")
"""Where an adjective may stand, written behind it: ``galore(ip)``."""


class SynsetId(NamedTuple):
    """Where a synset is: the part of speech, and the offset in its data file."""

    part: str
    offset: int


class Pointer(NamedTuple):
    """From a synset to another, or from a word of one to a word of the other."""

    symbol: str
    target: SynsetId
    source_word: int
    """Counted from 1; 0 if the pointer is of the whole synset."""
    target_word: int


class Synset(NamedTuple):
    """The words that have one meaning in common."""

    id: SynsetId
    words: tuple[str, ...]
    """As spelled, case kept, with ``_`` between the words of a collocation."""
    pointers: tuple[Pointer, ...]

    def targets(self, *symbols: str) -> list[SynsetId]:
        """The synsets that pointers of these kinds lead to."""
        return [pointer.target for pointer in self.pointers if pointer.symbol in symbols]


def parse_synset(line: str, place: SynsetId) -> Synset:
    """A line of a data file, the one at `place`.

    Raises:
        ValueError: it is not a synset's line, or not the one at that place.
    """
    fields = line.partition("|")[0].split()
    if len(fields) < 4 or fields[0] != f"{place.offset:08d}":
        raise ValueError(f"expected the synset of offset {place.offset:08d}")
    if _filed_under(fields[2]) != place.part:
        raise ValueError(f"expected a synset of type {place.part!r}, got {fields[2]!r}")
    words = fields[4 : 4 + 2 * int(fields[3], 16)]
    rest = fields[4 + len(words) :]
    if not words or not rest or len(rest) <= 4 * int(rest[0]):
        raise ValueError("ends before its last word or pointer")
    starts = range(1, 1 + 4 * int(rest[0]), 4)
    return Synset(
        place,
        tuple(_MARKER.sub("", word) for word in words[::2]),
        tuple(_pointer(*rest[start : start + 4]) for start in starts),
    )


def _pointer(symbol: str, offset: str, part: str, words: str) -> Pointer:
    target = SynsetId(_filed_under(part), int(offset))
    return Pointer(symbol, target, int(words[:2], 16), int(words[2:], 16))


def _filed_under(synset_type: str) -> str:
    part = "a" if synset_type == _SATELLITE else synset_type
    if part not in PARTS:
        raise ValueError(f"{synset_type!r} is no type of synset")
    return part
