"""WordNet confirms the entries that it has, of words that it has."""

from pathlib import Path

import pytest

from pair2vec.errors import InputError
from pair2vec.lexicon.build import check_against_wordnet
from pair2vec.lexicon.export import LexiconEntry
from pair2vec.wordnet.dictionary import WordNet


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    try:
        return WordNet.open()
    except InputError as error:
        pytest.skip(str(error))


def entry(x: str, relation: str, y: str) -> LexiconEntry:
    return LexiconEntry(x, relation, y, 0.9, [])


def test_entries_are_confirmed_where_wordnet_has_the_relation(wordnet: WordNet) -> None:
    lexicon = [
        entry("hot", "antonym", "cold"),
        entry("hot", "antonym", "dog"),
        entry("dog", "hypernym", "animal"),
        entry("animal", "hyponym", "dog"),
        entry("big", "synonym", "large"),
        entry("dog", "co-hyponym", "wolf"),
        entry("wheel", "part", "car"),
        entry("hot", "antonym", "xyzzyx"),
    ]
    agreement = {
        relation: (entries, confirmed)
        for relation, entries, confirmed in check_against_wordnet(lexicon, wordnet)
    }
    assert agreement == {
        "antonym": (2, 1),
        "hypernym": (1, 1),
        "hyponym": (1, 1),
        "synonym": (1, 1),
        "co-hyponym": (1, 1),
    }


def test_a_folder_without_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        WordNet.open(tmp_path)
