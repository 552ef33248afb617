"""WordNet confirms what it says, of words that it has."""

from pathlib import Path

import pytest

from pair2vec.errors import InputError
from pair2vec.lexicon.export import LexiconEntry
from pair2vec.lexicon.wordnet_check import check_against_wordnet
from pair2vec.wordnet.dictionary import WordNet


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    try:
        return WordNet.open()
    except InputError as error:
        pytest.skip(str(error))


def entry(x: str, relation: str, y: str) -> LexiconEntry:
    return LexiconEntry(x, relation, y, 0.9, [])


def test_entries_are_confirmed_where_wordnet_says_the_same(wordnet: WordNet) -> None:
    entries = [
        entry("hot", "antonym", "cold"),
        entry("hot", "antonym", "dog"),
        entry("dog", "hypernym", "animal"),
        entry("animal", "hyponym", "dog"),
        entry("big", "synonym", "large"),
        entry("dog", "co-hyponym", "wolf"),
        entry("wheel", "part", "car"),
        entry("hot", "antonym", "xyzzyx"),
    ]
    found = {
        one.relation: (one.entries, one.confirmed)
        for one in check_against_wordnet(entries, wordnet)
    }
    assert found == {
        "antonym": (2, 1),
        "hypernym": (1, 1),
        "hyponym": (1, 1),
        "synonym": (1, 1),
        "co-hyponym": (1, 1),
    }


def test_without_wordnet_there_is_nothing_to_check_by(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        WordNet.open(tmp_path)
