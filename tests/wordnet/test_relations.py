"""The five relations against their definitions, and all pairs at once against pair by pair."""

from collections import deque
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wordnet.real_wordnet import real_wordnet
from tests.wordnet.small_wordnet import Link, Meaning, meaning, small_wordnet

from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.related_words import RelatedWords, related_words
from pair2vec.wordnet.relations import WORDNET_RELATIONS, WordNetRelations, wordnet_relations

KIMS_EXAMPLES = [
    ("dog", "canid", WordNetRelations(hypernymy=0.875)),
    ("wolf", "canid", WordNetRelations(hypernymy=0.875)),
    ("dog", "carnivore", WordNetRelations(hypernymy=0.75)),
    ("canid", "dog", WordNetRelations(hyponymy=0.875)),
    ("dog", "wolf", WordNetRelations(co_hyponymy=1)),
    ("hot", "cold", WordNetRelations(antonymy=1)),
]
kims_examples = pytest.mark.parametrize(("x", "y", "expected"), KIMS_EXAMPLES)


@kims_examples
def test_relations_are_those_of_kims_examples(
    x: str, y: str, expected: WordNetRelations, tmp_path: Path
) -> None:
    assert wordnet_relations(small_wordnet(tmp_path), x, y) == expected


@kims_examples
def test_relations_in_the_real_wordnet_are_those_of_kims_examples(
    x: str, y: str, expected: WordNetRelations
) -> None:
    assert wordnet_relations(real_wordnet(), x, y) == expected


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("animal", "beast", WordNetRelations(synonymy=1)),
        ("dog", "chap", WordNetRelations(synonymy=1)),
        ("Wolves", "CANIDS", WordNetRelations(hypernymy=0.875)),
        ("paris", "city", WordNetRelations(hypernymy=0.75)),  # an instance of a kind
        ("chilly", "hot", WordNetRelations()),  # antonyms are words, not meanings
        ("icy", "scorching", WordNetRelations()),
        ("dog", "dog", WordNetRelations(synonymy=1)),
        ("dogs", "dog", WordNetRelations(synonymy=1)),
        ("saw", "saw", WordNetRelations(synonymy=1)),
        ("sees", "saw", WordNetRelations(synonymy=1)),
        ("unheard", "unheard", WordNetRelations()),
        ("unheard", "dog", WordNetRelations()),
        ("dog", "cat", WordNetRelations()),  # cousins, not siblings
    ],
)
def test_words_are_related_in_any_sense_of_their_base_forms(
    x: str, y: str, expected: WordNetRelations, tmp_path: Path
) -> None:
    assert wordnet_relations(small_wordnet(tmp_path), x, y) == expected


def test_eight_edges_are_too_many(tmp_path: Path) -> None:
    chain = [
        meaning(f"w{n}", "n", f"w{n}", *([Link("@", f"w{n - 1}")] if n else [])) for n in range(10)
    ]
    wordnet = small_wordnet(tmp_path, chain)
    found = [wordnet_relations(wordnet, f"w{n}", "w0").hypernymy for n in range(1, 10)]
    assert found == [0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0, 0]
    check_against_pairs(wordnet, [f"w{n}" for n in range(10)])


def test_the_shortest_path_to_a_hypernym_counts(tmp_path: Path) -> None:
    wordnet = small_wordnet(
        tmp_path,
        [
            meaning("top", "n", "top"),
            meaning("middle", "n", "middle", Link("@", "top")),
            meaning("low", "n", "low", Link("@", "middle"), Link("@", "top")),
        ],
    )
    assert wordnet_relations(wordnet, "low", "top") == WordNetRelations(hypernymy=0.875)
    assert wordnet_relations(wordnet, "low", "middle") == WordNetRelations(
        hypernymy=0.875, co_hyponymy=1
    )


def test_words_that_share_a_synset_are_no_co_hyponyms(tmp_path: Path) -> None:
    wordnet = small_wordnet(
        tmp_path,
        [
            meaning("top", "n", "top"),
            meaning("one", "n", "x", Link("@", "top")),
            meaning("two", "n", "y", Link("@", "top")),
            meaning("three", "v", "x y"),
        ],
    )
    assert wordnet_relations(wordnet, "x", "y") == WordNetRelations(synonymy=1)
    check_against_pairs(wordnet, ["x", "y", "top"])


def as_table(
    related: RelatedWords, words: Sequence[str]
) -> dict[tuple[str, str], WordNetRelations]:
    """By words instead of ids."""
    features = {
        (i, j): WordNetRelations(*row)
        for i, j, row in zip(
            related.first.tolist(), related.second.tolist(), related.features.tolist(), strict=True
        )
    }
    assert all(any(row) for row in features.values())
    ids = {word: related.ids.get(word.lower(), 0) for word in words}
    return {
        (x, y): features.get((ids[x], ids[y]), WordNetRelations()) for x, y in product(words, words)
    }


def check_against_pairs(wordnet: WordNet, words: Sequence[str]) -> None:
    table = as_table(related_words(wordnet, words), words)
    assert table == {(x, y): wordnet_relations(wordnet, x, y) for x, y in product(words, words)}


def test_all_pairs_at_once_equal_pair_by_pair(tmp_path: Path) -> None:
    words = "dog Dogs wolf wolves Paris paris city saw sees see unheard hot cold chilly cat entity"
    wordnet = small_wordnet(tmp_path)
    check_against_pairs(wordnet, words.split())
    check_against_pairs(wordnet, [])
    check_against_pairs(wordnet, ["unheard"])
    check_against_pairs(wordnet, ["dog", "hot"])


def test_words_of_the_same_base_forms_share_an_id(tmp_path: Path) -> None:
    found = related_words(small_wordnet(tmp_path), ["Wolves", "dog", "unheard", "wolf", "dogs"])
    assert found.ids == {"wolves": 1, "dog": 2, "wolf": 1, "dogs": 2}
    assert (found.first.tolist(), found.second.tolist()) == ([1, 1, 2, 2], [1, 2, 1, 2])
    assert found.features.dtype == np.float32
    assert found.features.shape == (4, len(WORDNET_RELATIONS))


def test_all_pairs_of_the_real_wordnet_equal_pair_by_pair() -> None:
    words = """dog canine wolf cats animal man woman boys child person hot cold warm red colour blue
        paris france city running walks go went stood big small tiny two three seven the of"""
    check_against_pairs(real_wordnet(), words.split())


WORDS = [f"word{letter}" for letter in "abcdefg"]


@st.composite
def small_worlds(draw: st.DrawFn) -> list[Meaning]:
    """Synsets of random words; hypernyms come before what is below them, so there is no circle."""
    made: list[Meaning] = []
    for number in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from("nnnv"))
        words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True))
        links = []
        for one in made:
            if one.type == kind and draw(st.booleans()):
                links.append(Link(draw(st.sampled_from(["@", "@i"])), one.name))
            if one.type == kind and draw(st.integers(0, 4)) == 0:
                source = draw(st.integers(1, len(words)))
                links.append(Link("!", one.name, source, draw(st.integers(1, len(one.words)))))
        made.append(Meaning(f"s{number}", kind, tuple(words), tuple(links)))
    return made


def edges_up(world: Sequence[Meaning], x: str, y: str) -> int | None:
    """The fewest from a sense of x to a sense of y, at least one."""
    by_name = {one.name: one for one in world}
    found = []
    for start in (one for one in world if x in one.words):
        queue = deque([(start, 0)])
        while queue:
            one, edges = queue.popleft()
            if edges and y in one.words:
                found.append(edges)
                break
            queue.extend((by_name[n.to], edges + 1) for n in one.links if n.symbol in ("@", "@i"))
    return min(found, default=None)


def defined_relations(world: Sequence[Meaning], x: str, y: str) -> WordNetRelations:
    """By the definitions, straight from the synsets."""
    if x == y:
        return WordNetRelations(synonymy=float(any(x in one.words for one in world)))
    by_name = {one.name: one for one in world}
    opposites = {
        (one.words[link.source - 1], by_name[link.to].words[link.target - 1])
        for one in world
        for link in one.links
        if link.symbol == "!"
    }
    up, down = edges_up(world, x, y), edges_up(world, y, x)
    share = any({x, y} <= set(one.words) for one in world)
    parents_x, parents_y = (
        {n.to for one in world if w in one.words for n in one.links if n.symbol != "!"}
        for w in (x, y)
    )
    return WordNetRelations(
        synonymy=float(share),
        antonymy=float((x, y) in opposites or (y, x) in opposites),
        hypernymy=max(0.0, 1 - up / 8) if up else 0.0,
        hyponymy=max(0.0, 1 - down / 8) if down else 0.0,
        co_hyponymy=float(bool(parents_x & parents_y) and not share),
    )


@given(world=small_worlds())
def test_all_ways_to_the_relations_of_a_random_world_agree(
    world: list[Meaning], tmp_path_factory: pytest.TempPathFactory
) -> None:
    wordnet = small_wordnet(tmp_path_factory.mktemp("wordnet"), world)
    check_against_pairs(wordnet, WORDS)
    for x, y in product(WORDS, WORDS):
        assert wordnet_relations(wordnet, x, y) == defined_relations(world, x, y)
