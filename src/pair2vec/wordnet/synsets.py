"""Synsets: the words of one meaning, and its pointers to others (wndb(5WN), "Data File Format")."""

import re
from typing import NamedTuple

POS_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
"""The parts of speech, and the suffixes of their files."""

HYPERNYM, INSTANCE_HYPERNYM, ANTONYM, SIMILAR = "@", "@i", "!", "&"
"""Pointer symbols. Antonymy is between words; the others are between whole synsets."""

_SATELLITE = "s"
"""Type of an adjective that gets its antonyms through its head, to which it is similar."""

_SYNTACTIC_MARKER = re.compile(r"\((?:a|p|ip)\)$")
"""Of an adjective limited to a position: ``galore(ip)``."""


class SynsetId(NamedTuple):
    """The part of speech of a synset, and its offset in the data file."""

    pos: str
    offset: int


class Pointer(NamedTuple):
    """From a synset to another (semantic), or from a word of one to a word of another (lexical)."""

    symbol: str
    target: SynsetId
    source_word: int
    """Counted from 1; 0 if the pointer is semantic."""
    target_word: int


class Synset(NamedTuple):
    """Words that share a meaning."""

    id: SynsetId
    words: tuple[str, ...]
    """In their case, with ``_`` between the words of a collocation."""
    pointers: tuple[Pointer, ...]

    def targets(self, *symbols: str) -> list[SynsetId]:
        """The targets of the pointers of these kinds."""
        return [pointer.target for pointer in self.pointers if pointer.symbol in symbols]


def parse_synset(line: str, synset_id: SynsetId) -> Synset:
    """Parse the line of a data file at the offset of `synset_id`.

    Raises:
        ValueError: it is not the line of this synset.
    """
    fields = line.partition("|")[0].split()
    if len(fields) < 4 or fields[0] != f"{synset_id.offset:08d}":
        raise ValueError(f"expected the synset of offset {synset_id.offset:08d}")
    if _pos_of_type(fields[2]) != synset_id.pos:
        raise ValueError(f"expected a synset of type {synset_id.pos!r}, got {fields[2]!r}")
    words = fields[4 : 4 + 2 * int(fields[3], 16)]
    pointers = fields[4 + len(words) :]
    if not words or not pointers or len(pointers) <= 4 * int(pointers[0]):
        raise ValueError("ends before its last word or pointer")
    starts = range(1, 1 + 4 * int(pointers[0]), 4)
    return Synset(
        synset_id,
        tuple(_SYNTACTIC_MARKER.sub("", word) for word in words[::2]),
        tuple(_parse_pointer(*pointers[start : start + 4]) for start in starts),
    )


def _parse_pointer(symbol: str, offset: str, synset_type: str, words: str) -> Pointer:
    target = SynsetId(_pos_of_type(synset_type), int(offset))
    return Pointer(symbol, target, int(words[:2], 16), int(words[2:], 16))


def _pos_of_type(synset_type: str) -> str:
    pos = "a" if synset_type == _SATELLITE else synset_type
    if pos not in POS_FILES:
        raise ValueError(f"{synset_type!r} is no type of synset")
    return pos
