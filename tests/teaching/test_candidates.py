"""Candidate pairs: each source's are there, each pair once, and the first sources are kept."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.wordnet.small_wordnet import small_wordnet

from pair2vec.teaching.candidates import (
    SOURCES,
    Candidates,
    CandidatesConfig,
    find_candidates,
    pair_keys,
)
from pair2vec.teaching.wordnet_pairs import VocabularySenses
from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import prepare
from pair2vec.text.vocabulary import Vocabulary, WordCount
from pair2vec.triples.epoch import TriplesConfig, TripleStream

AFFIXES = """enable disable useful useless happy unhappy import export upload download employer
employee hope hopeless centralise decentralise overrate underrate it unit maximum minimum
whitelist blacklist login logout"""
WORDS = ["the", "dog", "canid", "wolf", "cat", "feline", "hot", "cold", "icy", *AFFIXES.split()]
VOCABULARY = Vocabulary([WordCount(w, 1000 // (n + 1)) for n, w in enumerate(WORDS)])
SIZE = len(VOCABULARY)
NO_RANDOM = CandidatesConfig(random=0, nearest=2, nearest_others=1, frequent_alike=0)
Pair = tuple[str, str]


@pytest.fixture(scope="module")
def senses(tmp_path_factory: pytest.TempPathFactory) -> VocabularySenses:
    return VocabularySenses(small_wordnet(tmp_path_factory.mktemp("wordnet")), VOCABULARY.words)


def no_nearest() -> list[NDArray[np.int32]]:
    return [np.zeros((SIZE, 0), np.int32)]


def ring(step: int, count: int = 3) -> NDArray[np.int32]:
    """As nearest words the next ones in the vocabulary, special tokens among them."""
    ids: NDArray[np.int64] = np.arange(SIZE)[:, None] + step * np.arange(1, count + 1)
    return (ids % SIZE).astype(np.int32)


def found_in(candidates: Candidates, source: str) -> set[Pair]:
    own = candidates.source == SOURCES.index(source)
    words = VOCABULARY.words
    pairs = zip(candidates.x[own].tolist(), candidates.y[own].tolist(), strict=True)
    return {(words[x], words[y]) for x, y in pairs}


def in_order(*pairs: Pair) -> set[Pair]:
    """With the word of the lower id first."""
    ids = VOCABULARY.ids
    return {(x, y) if ids[x] < ids[y] else (y, x) for x, y in pairs}


def test_words_that_wordnet_joins_by_two_pointers_are_candidates(senses: VocabularySenses) -> None:
    asked = np.zeros(SIZE, np.bool_)
    found = find_candidates(NO_RANDOM, VOCABULARY, senses, asked, no_nearest(), [], None)
    # Of cold: hot one step, of icy: hot two steps; the small WordNet has no pointers downwards.
    assert in_order(("dog", "canid"), ("hot", "cold"), ("icy", "hot"), ("cat", "feline")) <= (
        found_in(found, "wordnet")
    )
    assert not in_order(("dog", "cat"), ("dog", "cold")) & found_in(found, "wordnet")
    one_step = replace(NO_RANDOM, wordnet_steps=1)
    found = find_candidates(one_step, VOCABULARY, senses, asked, no_nearest(), [], None)
    assert in_order(("icy", "cold")) <= found_in(found, "wordnet")
    assert not in_order(("icy", "hot")) & found_in(found, "wordnet")


def test_a_large_neighbourhood_is_sampled(senses: VocabularySenses) -> None:
    asked = np.zeros(SIZE, np.bool_)
    config = replace(NO_RANDOM, wordnet_most=1)
    found = find_candidates(config, VOCABULARY, senses, asked, no_nearest(), [], None)
    whole = find_candidates(NO_RANDOM, VOCABULARY, senses, asked, no_nearest(), [], None)
    assert found_in(found, "wordnet") < found_in(whole, "wordnet")


def test_affixes_of_opposites_pair_words(senses: VocabularySenses) -> None:
    found = find_candidates(
        NO_RANDOM, VOCABULARY, senses, np.zeros(SIZE, np.bool_), no_nearest(), [], None
    )
    affix = found_in(found, "affix")
    assert affix == in_order(
        ("enable", "disable"),
        ("useful", "useless"),
        ("happy", "unhappy"),
        ("import", "export"),
        ("upload", "download"),
        ("employer", "employee"),
        ("hope", "hopeless"),
        ("centralise", "decentralise"),
        ("overrate", "underrate"),
        ("maximum", "minimum"),
        ("whitelist", "blacklist"),
        ("login", "logout"),
    )


def test_words_that_are_near_each_other_among_those_of_their_kind_are_candidates(
    senses: VocabularySenses,
) -> None:
    ids = VOCABULARY.ids
    alike = np.array([[ids["unit"], ids["hope"]], [ids["dog"], ids["it"]]], np.int32)
    asked = np.zeros(SIZE, np.bool_)
    config = replace(NO_RANDOM, frequent_alike=100)
    found = find_candidates(config, VOCABULARY, senses, asked, no_nearest(), [alike], None)
    near = in_order(("unit", "dog"), ("hope", "it"))
    adjectives = set(map(tuple, combinations(("hot", "cold", "icy"), 2)))
    assert found_in(found, "alike") == near | adjectives
    two = replace(NO_RANDOM, frequent_alike=2)
    found = find_candidates(two, VOCABULARY, senses, asked, no_nearest(), [], None)
    assert found_in(found, "alike") == {("hot", "cold")}


def test_nearest_words_are_more_for_words_that_are_asked_about(senses: VocabularySenses) -> None:
    asked = np.zeros(SIZE, np.bool_)
    asked[VOCABULARY.ids["the"]] = True
    found = find_candidates(NO_RANDOM, VOCABULARY, senses, asked, [ring(2)], [], None)
    nearest, words = found_in(found, "nearest"), VOCABULARY.words
    assert {("the", words[6]), ("the", words[8])} <= nearest
    assert ("the", words[10]) not in nearest
    assert ("dog", "wolf") in found_in(found, "nearest") | found_in(found, "wordnet")
    other = find_candidates(NO_RANDOM, VOCABULARY, senses, asked, [ring(2), ring(7)], [], None)
    assert ("the", words[11]) in found_in(other, "nearest")
    assert nearest <= found_in(other, "nearest")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    sentences = ["The dog met happy cat."] * 40 + ["Cold may hope."] * 2 + [" ".join(WORDS)]
    (folder / "text.txt").write_text("\n\n".join(sentences))
    return prepare([str(folder / "text.txt")], folder / "corpus")


def test_words_that_often_co_occur_are_candidates(corpus: Corpus, tmp_path: Path) -> None:
    vocabulary = corpus.vocabulary
    senses = VocabularySenses(small_wordnet(tmp_path), vocabulary.words)
    stream = TripleStream(corpus, TriplesConfig(subsampling="none", held_out=0))
    found = find_candidates(
        NO_RANDOM,
        vocabulary,
        senses,
        np.zeros(len(vocabulary), np.bool_),
        [np.zeros((len(vocabulary), 0), np.int32)],
        [],
        stream,
    )
    own = found.source == SOURCES.index("cooccurrence")
    ids = vocabulary.ids
    pairs = set(zip(found.x[own].tolist(), found.y[own].tolist(), strict=True))
    often = {
        tuple(sorted(map(ids.__getitem__, pair)))
        for pair in combinations(("dog", "met", "happy"), 2)
    }
    assert often <= pairs
    # Twice is chance.
    assert tuple(sorted((ids["cold"], ids["hope"]))) not in pairs
    assert found.x.min() >= 4


def everything(senses: VocabularySenses, config: CandidatesConfig) -> Candidates:
    asked = np.arange(SIZE) % 2 == 0
    alike = [np.array([[5, 9, 9], [8, 5, 11]], np.int32)]
    near, linked = [ring(1), ring(5)], [np.array([[12, 30, 30], [30, 12, 30]])]
    return find_candidates(config, VOCABULARY, senses, asked, near, alike, None, linked)


def test_each_pair_is_there_once_in_order_and_of_words_alone(senses: VocabularySenses) -> None:
    found = everything(senses, replace(NO_RANDOM, random=500))
    assert set(found.source.tolist()) == {SOURCES.index(s) for s in SOURCES if s != "cooccurrence"}
    keys = found.x * SIZE + found.y
    assert (np.diff(keys) > 0).all()
    assert (found.x < found.y).all()
    assert found.x.min() >= 4
    assert found.y.max() < SIZE


def test_random_pairs_are_those_of_the_seed(senses: VocabularySenses) -> None:
    config = replace(NO_RANDOM, random=40)
    one, again = everything(senses, config), everything(senses, config)
    np.testing.assert_array_equal(one.x, again.x)
    np.testing.assert_array_equal(one.source, again.source)
    other = everything(senses, replace(config, seed=1))
    assert found_in(one, "random") != found_in(other, "random")
    assert found_in(one, "wordnet") == found_in(other, "wordnet")


def test_beyond_the_most_the_last_sources_are_dropped(senses: VocabularySenses) -> None:
    config = replace(NO_RANDOM, random=20)
    whole = everything(senses, config)
    counts = {source: len(found_in(whole, source)) for source in SOURCES}
    kept = [source for source in SOURCES if source != "nearest"]
    first = sum(counts[source] for source in kept)
    assert counts["nearest"] > 5
    capped = everything(senses, replace(config, most=first + 5))
    for source in kept:
        assert found_in(capped, source) == found_in(whole, source)
    assert len(found_in(capped, "nearest")) == 5
    assert found_in(capped, "nearest") < found_in(whole, "nearest")
    tiny = everything(senses, replace(config, most=3))
    assert len(tiny.x) == 3
    assert found_in(tiny, "wordnet") < found_in(whole, "wordnet")


def test_keys_are_those_of_distinct_pairs_of_words() -> None:
    x, y = np.array([7, 5, 5, 2, 6, 9]), np.array([5, 7, 5, 8, 3, 4])
    assert pair_keys(x, y, 10).tolist() == [49, 57]
