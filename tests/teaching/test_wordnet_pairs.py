"""Relations of a vocabulary's words by a WordNet of a few lines, and probabilities of senses."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from tests.wordnet.real_wordnet import real_wordnet
from tests.wordnet.small_wordnet import Link, Meaning, meaning, small_wordnet, write_wordnet

from pair2vec.relations.definitions import read_definitions
from pair2vec.teaching.labels import RelationNames
from pair2vec.teaching.wordnet_pairs import (
    Taxonomy,
    VocabularySenses,
    inflections,
    sense_probabilities,
)
from pair2vec.wordnet.dictionary import LOCATION, PERSON, WordNet

NAMES, INVERSE = RelationNames.of_definitions(read_definitions())


def down(*names: str) -> tuple[Link, ...]:
    return tuple(Link("~", name) for name in names)


MEANINGS = (
    meaning("thing", "n", "thing"),
    meaning("animal", "n", "animal beast", Link("@", "thing"), *down("dog", "cat")),
    meaning("dog", "n", "dog", Link("@", "animal"), Link("%p", "tail")),
    meaning("cat", "n", "cat", Link("@", "animal")),
    meaning("poodle", "n", "poodle", Link("@", "dog")),
    meaning("tail", "n", "tail", Link("@", "thing")),
    meaning("pack", "n", "pack", Link("%m", "dog")),
    meaning("france", "n", "France", Link("%p", "paris"), file=LOCATION),
    meaning("paris", "n", "Paris", Link("@i", "capital"), file=LOCATION),
    meaning("capital", "n", "capital", file=LOCATION),
    meaning("bread", "n", "bread", Link("%s", "flour")),
    meaning("flour", "n", "flour"),
    meaning("einstein", "n", "Einstein", Link("@i", "physicist"), file=PERSON),
    meaning("physicist", "n", "physicist", file=PERSON),
    meaning("fast", "a", "fast quick", Link("!", "slow", 1, 1), Link("&", "speedy")),
    meaning("slow", "a", "slow sluggish", Link("!", "fast", 1, 1)),
    meaning("speedy", "s", "speedy", Link("&", "fast")),
)
WORDS = tuple(dict.fromkeys(word.lower() for synset in MEANINGS for word in synset.words))


def weights(wordnet: WordNet, words: tuple[str, ...] = WORDS) -> dict[tuple[str, str, str], float]:
    """By x, relation and y, in the order of the vocabulary."""
    found = VocabularySenses(wordnet, words).relation_weights(NAMES, len(words))
    assert (found.x < found.y).all()
    return {
        (words[x], NAMES[relation], words[y]): float(row[relation])
        for x, y, row in zip(found.x.tolist(), found.y.tolist(), found.weights, strict=True)
        for relation in np.flatnonzero(row)
    }


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    return small_wordnet(tmp_path_factory.mktemp("wordnet"), MEANINGS)


EXPECTED = [
    ("animal", "synonym", "beast"),
    ("fast", "synonym", "quick"),
    ("slow", "synonym", "sluggish"),
    ("fast", "antonym", "slow"),
    ("dog", "hypernym", "animal"),
    ("poodle", "hypernym", "dog"),
    ("dog", "co-hyponym", "cat"),
    ("dog", "part", "tail"),
    ("pack", "part", "dog"),
    ("paris", "located-in", "france"),
    ("paris", "hypernym", "capital"),
    ("bread", "made-of", "flour"),
    ("einstein", "occupation", "physicist"),
]


@pytest.mark.parametrize(("x", "relation", "y"), EXPECTED)
def test_a_relation_holds_in_its_direction_in_any_order_of_the_words(
    x: str, relation: str, y: str, wordnet: WordNet
) -> None:
    inverse = NAMES[INVERSE[NAMES.index(relation)]]
    # Kinds of a thing are co-hyponyms where the vocabulary has the thing.
    others = ("animal",) if relation == "co-hyponym" else ()
    found = {key for key in weights(wordnet, (x, y, *others)) if {key[0], key[2]} == {x, y}}
    assert found == {(x, relation, y)}
    found = {key for key in weights(wordnet, (*others, y, x)) if {key[0], key[2]} == {x, y}}
    assert found == {(y, inverse, x)}


def test_a_vocabulary_may_have_no_related_words(wordnet: WordNet) -> None:
    assert weights(wordnet, ("dog", "flour", "unheard")) == {}


def test_words_have_these_relations_and_no_others(wordnet: WordNet) -> None:
    relations = {
        frozenset({(x, y, relation), (y, x, NAMES[INVERSE[NAMES.index(relation)]])})
        for x, relation, y in weights(wordnet)
    }
    of_beasts = [
        *(
            ("dog", "hypernym", "beast"),
            ("cat", "hypernym", "animal"),
            ("cat", "hypernym", "beast"),
        ),
        *(("animal", "hypernym", "thing"), ("beast", "hypernym", "thing")),
        *(
            ("tail", "hypernym", "thing"),
            ("dog", "hypernym", "thing"),
            ("cat", "hypernym", "thing"),
        ),
        *(("poodle", "hypernym", "animal"), ("poodle", "hypernym", "beast")),
    ]
    assert relations == {
        frozenset({(x, y, relation), (y, x, NAMES[INVERSE[NAMES.index(relation)]])})
        for x, relation, y in [*EXPECTED, *of_beasts]
    }


def test_a_hypernym_two_edges_above_weighs_half(wordnet: WordNet) -> None:
    found = weights(wordnet, ("poodle", "dog", "animal", "thing"))
    assert found["poodle", "hypernym", "dog"] == pytest.approx(1)
    assert found["poodle", "hypernym", "animal"] == pytest.approx(0.5)
    # Three edges are too far.
    assert ("poodle", "hypernym", "thing") not in found


def test_a_hypernym_two_edges_above_a_verb_is_none(tmp_path: Path) -> None:
    meanings = [
        meaning("move", "v", "move"),
        meaning("go", "v", "go", Link("@", "move")),
        meaning("run", "v", "run", Link("@", "go")),
    ]
    found = weights(small_wordnet(tmp_path, meanings), ("run", "go", "move"))
    assert set(found) == {("run", "hypernym", "go"), ("go", "hypernym", "move")}


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        (1, {"poodle", "dog"}),
        (2, {"poodle", "dog", "animal"}),
        (9, {"poodle", "dog", "animal", "thing"}),
    ],
)
def test_ancestors_are_so_many_edges_above_a_word(
    edges: int, expected: set[str], wordnet: WordNet
) -> None:
    senses = VocabularySenses(wordnet, WORDS)
    found = senses.ancestors(WORDS.index("poodle"), edges)
    assert {wordnet.synset(synset).words[0] for synset in found} == expected


def test_a_weight_is_the_product_of_the_probabilities_of_the_senses(tmp_path: Path) -> None:
    meanings = [
        *(
            meaning("bank", "n", "bank shore"),
            meaning("money", "n", "bank"),
            meaning("sea", "n", "shore"),
        ),
    ]
    folder = write_wordnet(tmp_path, meanings)
    (folder / "cntlist.rev").write_text("bank%1:03:00:: 1 5\nbank%1:03:00:: 2 2\n")
    wordnet = WordNet.open(folder)
    # bank: 5 + 1 and 2 + 1/2; shore, never counted: 1 and 1/2.
    expected = (6 / 8.5) * (1 / 1.5)
    assert weights(wordnet, ("bank", "shore")) == {
        ("bank", "synonym", "shore"): pytest.approx(expected)
    }


def test_only_the_two_likeliest_senses_of_a_word_are_related(tmp_path: Path) -> None:
    synsets = [meaning(f"s{n}", "n", f"word other{n}") for n in range(3)]
    folder = write_wordnet(tmp_path, synsets)
    (folder / "cntlist.rev").write_text("word%1:03:00:: 1 9\nword%1:03:00:: 3 5\n")
    found = weights(WordNet.open(folder), ("word", "other0", "other1", "other2"))
    assert {y for _, _, y in found} == {"other0", "other2"}


def siblings(tmp_path: Path, count: int) -> Iterable[tuple[str, str, str]]:
    names = [f"kind{number}" for number in range(count)]
    kinds: list[Meaning] = [meaning(name, "n", name, Link("@", "parent")) for name in names]
    wordnet = small_wordnet(tmp_path, [meaning("parent", "n", "parent", *down(*names)), *kinds])
    return weights(wordnet, ("parent", *names[:3]))


def test_kinds_of_a_thing_with_too_many_kinds_are_no_co_hyponyms(tmp_path: Path) -> None:
    few, many = (siblings(tmp_path / str(count), count) for count in (60, 61))
    assert sum(relation == "co-hyponym" for _, relation, _ in few) == 3
    assert sum(relation == "co-hyponym" for _, relation, _ in many) == 0
    assert sum(relation == "hyponym" for _, relation, _ in many) == 3


def test_an_adjective_is_an_antonym_by_way_of_a_similar_one(wordnet: WordNet) -> None:
    senses = VocabularySenses(wordnet, WORDS)
    ((x, y, weight),) = senses.indirect_antonyms()
    assert (WORDS[x], WORDS[y]) == ("speedy", "slow")
    assert weight == pytest.approx(1)
    assert ("speedy", "antonym", "slow") not in weights(wordnet)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (0, []),
        (1, ["fast", "quick"]),
        (2, ["fast", "quick", "slow", "sluggish"]),
    ],
)
def test_a_neighbourhood_is_what_so_many_pointers_reach(
    steps: int, expected: list[str], wordnet: WordNet
) -> None:
    reached = dict(VocabularySenses(wordnet, WORDS).neighbourhoods(steps))
    assert [WORDS[word] for word in reached[WORDS.index("speedy")]] == expected
    assert WORDS.index("speedy") not in reached[WORDS.index("speedy")]


def test_a_synset_with_too_many_pointers_is_no_step(tmp_path: Path) -> None:
    names = [f"kind{number}" for number in range(201)]
    kinds = [meaning(name, "n", name, Link("@", "parent")) for name in names]
    for count, reaches in ((200, True), (201, False)):
        parent = meaning("parent", "n", "parent", *down(*names[:count]))
        wordnet = small_wordnet(tmp_path / str(count), [parent, *kinds])
        words = ("kind0", "kind1", "parent")
        near = dict(VocabularySenses(wordnet, words).neighbourhoods(2))[0]
        assert (1 in near) == reaches
        assert 2 in near


def test_probabilities_of_senses_sum_to_one_and_follow_the_counts(tmp_path: Path) -> None:
    folder = write_wordnet(tmp_path)
    uncounted = sense_probabilities(WordNet.open(folder), "dog")
    assert [probability for _, probability, _ in uncounted] == pytest.approx([2 / 3, 1 / 3])
    (folder / "cntlist.rev").write_text("dog%1:03:00:: 1 1\ndog%1:03:00:: 2 8\nsaw%2:03:00:: 1 4\n")
    wordnet = WordNet.open(folder)
    dog = sense_probabilities(wordnet, "dog")
    assert [probability for _, probability, _ in dog] == pytest.approx([2 / 10.5, 8.5 / 10.5])
    saw = sense_probabilities(wordnet, "saw")
    assert [pos for _, _, pos in saw] == ["n", "v"]
    assert [probability for _, probability, _ in saw] == pytest.approx([1 / 6, 5 / 6])
    # A form that is no lemma has no senses of its own.
    assert sense_probabilities(wordnet, "dogs") == [] == sense_probabilities(wordnet, "unheard")


def test_probabilities_of_the_real_wordnet_sum_to_one() -> None:
    wordnet = real_wordnet()
    for word in ("run", "good", "bank", "set", "paris", "well", "cold"):
        senses = sense_probabilities(wordnet, word)
        assert sum(probability for _, probability, _ in senses) == pytest.approx(1)
        assert min(probability for _, probability, _ in senses) > 0


def test_inflections_are_regular_forms_of_one_lemma(tmp_path: Path) -> None:
    wordnet = small_wordnet(tmp_path)
    words = ["dogs", "looking", "hoped", "hotter", "saw", "wolves", "dog", "unheard", "men"]
    assert inflections(wordnet, words) == {
        0: ("dog", "n-s"),
        1: ("look", "v-ing"),
        2: ("hope", "v-ed"),
        5: ("wolf", "n-s"),
    }


def test_words_of_opposed_synsets_are_antonyms_in_any_sense(wordnet: WordNet) -> None:
    senses = VocabularySenses(wordnet, WORDS)
    found = {(WORDS[x], WORDS[y]): weight for x, y, weight in senses.antonyms_of_synsets()}
    opposed = {("fast", "slow"), ("fast", "sluggish"), ("quick", "slow"), ("quick", "sluggish")}
    # Of words that have one sense each.
    assert found == dict.fromkeys(opposed, 1.0)


def test_a_taxonomy_rules_out_kinds_of_words_that_it_may_be_asked_about(wordnet: WordNet) -> None:
    words = (*WORDS, "unheard")
    ids = {word: n for n, word in enumerate(words)}
    asked = np.array([word != "tail" for word in words])
    taxonomy = Taxonomy(VocabularySenses(wordnet, words), asked)
    pairs = [
        *(("dog", "animal", False), ("animal", "dog", True), ("poodle", "thing", False)),
        *(("dog", "cat", True), ("dog", "tail", False), ("tail", "dog", False)),
        *(("animal", "beast", False), ("dog", "unheard", False), ("unheard", "dog", False)),
    ]
    x = np.array([ids[one] for one, _, _ in pairs], np.int64)
    y = np.array([ids[other] for _, other, _ in pairs], np.int64)
    assert taxonomy.is_no_kind(x, y).tolist() == [ruled_out for _, _, ruled_out in pairs]
