"""Labelled pairs: whose words are held out, which relation they have, and what has none."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.teaching.small_world import (
    ADJECTIVES,
    FAMILY,
    FREQUENT,
    NOUNS,
    PLURALS,
    families,
    fours,
    made_up_words,
    meanings,
    world_vocabulary,
    world_wordnet,
)
from tests.wordnet.real_wordnet import real_wordnet
from tests.wordnet.small_wordnet import Link, meaning, small_wordnet

from pair2vec.relations.definitions import RelationDefinition, read_definitions
from pair2vec.relations.word_forms import is_form
from pair2vec.teaching import labels
from pair2vec.teaching.labels import (
    PARTS,
    LabelledPairs,
    LabelSource,
    Part,
    RelationNames,
    part_of,
    parts_of_words,
)
from pair2vec.teaching.wordnet_pairs import VocabularySenses
from pair2vec.text.vocabulary import Vocabulary, WordCount
from pair2vec.wordnet.dictionary import WordNet

NAMES, INVERSE = RelationNames.of_definitions(read_definitions())
NONE = len(NAMES) - 1


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("train", ["hot", "dog", "cat", "king", "queen", "paris", "happy", "tree", "water"]),
        ("dev", ["cold"]),
        ("test", ["unhappy", "house", "run"]),
    ],
)
def test_the_part_of_a_word_is_the_same_for_everyone(part: Part, words: list[str]) -> None:
    assert {part_of(word) for word in words} == {part}


def test_parts_have_their_shares_of_the_words() -> None:
    parts = [part_of(f"word{number}") for number in range(20_000)]
    shares = [parts.count(part) / len(parts) for part in PARTS]
    assert shares == pytest.approx([0.62, 0.13, 0.25], abs=0.015)


def test_forms_of_a_word_are_in_its_part(tmp_path: Path) -> None:
    wordnet = small_wordnet(tmp_path)
    words = ["dog", "dogs", "wolf", "wolves", "look", "looked", "looking", "hope", "hopes", "send"]
    words += ["sent", "cold", "colder", "coldest"]
    parts = [PARTS[number] for number in parts_of_words(wordnet, words)]
    bases = "dog dog wolf wolf look look look hope hope send send cold cold cold".split()
    assert parts == [part_of(base) for base in bases]
    # What WordNet does not have is its own base.
    assert parts_of_words(wordnet, ["unheards"]) == [PARTS.index(part_of("unheards"))]


def test_every_relation_has_the_inverse_that_swapped_pairs_are_in() -> None:
    assert NAMES[-1] == "none"
    assert [INVERSE[other] for other in INVERSE] == list(range(len(NAMES)))
    symmetric = {name for name, other in zip(NAMES, INVERSE, strict=True) if NAMES[other] == name}
    assert symmetric == {"synonym", "antonym", "co-hyponym", "none"}
    for name, other in [
        ("hypernym", "hyponym"),
        ("part", "whole"),
        ("located-in", "location-of"),
        ("made-of", "material-of"),
        ("occupation", "occupation-of"),
    ]:
        assert NAMES[INVERSE[NAMES.index(name)]] == other


def test_a_relation_without_an_inverse_is_refused() -> None:
    lonely = RelationDefinition(name="capital", examples=(("france", "paris"),))
    with pytest.raises(ValueError, match="relation 'capital' has no inverse; define one"):
        RelationNames.of_definitions([lonely])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, NONE))))
def test_both_ways_adds_each_swapped_pair_in_the_inverse_relation(
    rows: list[tuple[int, int, int]],
) -> None:
    pairs = LabelledPairs(*np.array(rows, np.int64).reshape(-1, 3).T)
    found = list(zip(*(column.tolist() for column in pairs.both_ways(INVERSE)), strict=True))
    assert found == rows + [(y, x, INVERSE[label]) for x, y, label in rows]


def source_of(
    wordnet: WordNet,
    vocabulary: Vocabulary,
    definitions: Sequence[RelationDefinition],
    seed: int,
    near: NDArray[np.int32] | None = None,
) -> LabelSource:
    senses = VocabularySenses(wordnet, vocabulary.words)
    if near is None:
        size = len(vocabulary)
        near = np.random.default_rng(7).integers(4, size, (size, 12)).astype(np.int32)
    return LabelSource(wordnet, vocabulary, senses, definitions, near, seed=seed)


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    return world_wordnet(tmp_path_factory.mktemp("wordnet"))


VOCABULARY = world_vocabulary(PLURALS)


@pytest.fixture(scope="module")
def drawn(wordnet: WordNet) -> dict[Part, LabelledPairs]:
    source = source_of(wordnet, VOCABULARY, read_definitions(), seed=0)
    return {part: source.pairs(part) for part in PARTS}


def check_invariants(
    drawn: dict[Part, LabelledPairs], wordnet: WordNet, vocabulary: Vocabulary
) -> None:
    """What holds for the labelled pairs of any vocabulary."""
    words, size = vocabulary.words, len(vocabulary)
    parts = parts_of_words(wordnet, words)
    near = {
        (word, other)
        for word, others in VocabularySenses(wordnet, words).neighbourhoods(2)
        for other in others
    }
    for number, (x, y, label) in enumerate(drawn.values()):
        assert (x < y).all()
        assert len(np.unique(x * size + y)) == len(x)
        assert {*parts[x].tolist(), *parts[y].tolist()} == {number}
        for a, b, relation in zip(x.tolist(), y.tolist(), label.tolist(), strict=True):
            assert not is_form(words[a], words[b]), (words[a], words[b])
            if relation == NONE:
                assert (a, b) not in near and (b, a) not in near, (words[a], words[b])
    seen = [{*pairs.x.tolist(), *pairs.y.tolist()} for pairs in drawn.values()]
    assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]


def test_words_of_a_part_are_in_no_pair_of_another(
    drawn: dict[Part, LabelledPairs], wordnet: WordNet
) -> None:
    check_invariants(drawn, wordnet, VOCABULARY)


def test_pairs_of_the_real_wordnet_are_of_held_out_words_and_no_forms() -> None:
    wordnet = real_wordnet()
    everyday = [word for d in read_definitions() for pair in d.examples for word in pair]
    filler = [f"filler{number}" for number in range(150)]
    words = dict.fromkeys([*filler, *everyday, *(f"{word}s" for word in everyday)])
    vocabulary = Vocabulary([WordCount(word, 1) for word in words])
    for seed in range(2):
        source = source_of(wordnet, vocabulary, read_definitions(), seed)
        drawn = {part: source.pairs(part) for part in PARTS}
        check_invariants(drawn, wordnet, vocabulary)
    assert min(len(pairs.x) for pairs in drawn.values()) > 10


def expected_relations() -> dict[tuple[str, str], str]:
    """Of all pairs of lemmas of the small world, in one direction."""
    found: dict[tuple[str, str], str] = {}
    for family in families():
        members = family.members
        found |= {(member, family.kind): "hypernym" for member in members}
        found |= {(a, b): "co-hyponym" for n, a in enumerate(members) for b in members[:n]}
        # They are co-hyponyms, too, which weighs half as much: just clear enough.
        found[family.whole, family.part] = "part"
        same = family.synonyms
        found |= {(a, b): "synonym" for n, a in enumerate(same) for b in same[:n]}
    found |= {(up, down): "antonym" for up, down, _, _ in fours()}
    return found


def named(pairs: LabelledPairs) -> dict[tuple[str, str], str]:
    words = VOCABULARY.words
    both = zip(*(column.tolist() for column in pairs.both_ways(INVERSE)), strict=True)
    return {(words[x], words[y]): NAMES[label] for x, y, label in both}


@pytest.mark.parametrize("part", PARTS)
def test_positives_have_the_relations_of_wordnet(
    part: Part, drawn: dict[Part, LabelledPairs]
) -> None:
    found = named(drawn[part])
    for (x, y), relation in expected_relations().items():
        if part_of(x) == part == part_of(y):
            often = relation in ("hypernym", "co-hyponym")
            assert found.get((x, y), relation if often else None) == relation
        else:
            assert (x, y) not in found


def test_mixed_pairs_have_one_word_to_learn_from_and_one_to_choose_on(
    drawn: dict[Part, LabelledPairs], wordnet: WordNet
) -> None:
    source = source_of(wordnet, VOCABULARY, read_definitions(), seed=0)
    again = {part: source.pairs(part) for part in PARTS}
    mixed = source.mixed_pairs()
    parts = source.parts[np.stack(mixed[:2])]
    one, other = np.sort(parts, axis=0)
    assert {*one.tolist()} == {PARTS.index("train")}
    assert {*other.tolist()} == {PARTS.index("dev")}
    assert (mixed.x < mixed.y).all()
    found, expected = named(mixed), expected_relations()
    related = {pair: name for pair, name in found.items() if name != "none"}
    assert len(related) > 20
    assert {NAMES[label] for label in mixed.label.tolist()} >= {"synonym", "antonym", "none"}
    inverse = dict(zip(NAMES, (NAMES[number] for number in INVERSE), strict=True))
    for (x, y), name in found.items():
        assert expected.get((x, y), inverse[expected.get((y, x), "none")]) == name
    antonyms = [
        pair
        for pair, name in expected.items()
        if name == "antonym" and {*map(part_of, pair)} == {"train", "dev"}
    ]
    assert all(found[pair] == "antonym" for pair in antonyms)
    # They are drawn last, and change no part.
    for part in PARTS:
        for one, other in zip(drawn[part], again[part], strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("part", ["dev", "test"])
def test_held_out_parts_have_few_of_the_relations_that_wordnet_has_most_of(
    part: Part, wordnet: WordNet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "_MOST_HELD_OUT", {"hypernym": 0.5, "co-hyponym": 1.25})
    source = source_of(wordnet, VOCABULARY, read_definitions(), seed=0)
    names = [NAMES[label] for label in source.pairs(part).label.tolist()]
    of_part = [
        relation
        for (x, y), relation in expected_relations().items()
        if part_of(x) == part == part_of(y)
    ]
    synonyms = of_part.count("synonym")
    assert names.count("synonym") == synonyms > 5
    assert names.count("antonym") == of_part.count("antonym")
    hypernyms = names.count("hypernym") + names.count("hyponym")
    assert hypernyms == round(0.5 * synonyms) < of_part.count("hypernym")
    assert names.count("co-hyponym") == round(1.25 * synonyms) < of_part.count("co-hyponym")


def test_training_pairs_have_inflected_forms_and_indirect_antonyms_too(
    drawn: dict[Part, LabelledPairs],
) -> None:
    lemmas = expected_relations()
    for part in PARTS:
        found = {p: r for p, r in named(drawn[part]).items() if r != "none"}
        inflected = [(x, y) for x, y in found if x in PLURALS or y in PLURALS]
        similar = {pair for _, down, higher, _ in fours() for pair in [(higher, down)]}
        similar |= {(lower, up) for up, _, _, lower in fours()}
        indirect = [pair for pair in found if pair in similar]
        assert bool(inflected) == bool(indirect) == (part == "train")
        assert all(found[pair] == "antonym" for pair in indirect)
        for x, y in inflected:
            assert x in PLURALS and y in PLURALS
            if (x[:-1], y[:-1]) in lemmas:
                assert found[x, y] == lemmas[x[:-1], y[:-1]]
    positives = sum(label != NONE for label in drawn["train"].label.tolist())
    plural = sum(
        VOCABULARY.words[x] in PLURALS and label != NONE
        for x, label in zip(drawn["train"].x.tolist(), drawn["train"].label.tolist(), strict=True)
    )
    assert 0.1 < plural / positives < 0.3


def test_near_words_that_are_forms_are_no_negatives(tmp_path: Path) -> None:
    forms = [f"{noun}y" for noun in NOUNS]
    wordnet = small_wordnet(tmp_path, [*meanings(), *(meaning(form, "n", form) for form in forms)])
    vocabulary = world_vocabulary(forms)
    assert is_form(NOUNS[0], forms[0])
    near = np.zeros((len(vocabulary), 1), np.int32)
    for noun, form in zip(NOUNS, forms, strict=True):
        near[vocabulary.ids[noun]], near[vocabulary.ids[form]] = (
            vocabulary.ids[form],
            vocabulary.ids[noun],
        )
    source = source_of(wordnet, vocabulary, read_definitions(), 0, near)
    check_invariants({part: source.pairs(part) for part in PARTS}, wordnet, vocabulary)


def test_near_words_of_the_same_part_are_negatives(wordnet: WordNet) -> None:
    # The next noun is of the same family, seven times out of eight, and eight nouns on never.
    near = np.arange(len(VOCABULARY), dtype=np.int32)[:, None] + np.array([1, 8], np.int32)
    source = source_of(wordnet, VOCABULARY, read_definitions(), 0, near % len(VOCABULARY))
    pairs = source.pairs("train")
    distances = (pairs.y - pairs.x)[pairs.label == NONE]
    assert np.mean(distances == 8) > 0.15
    assert np.mean(distances == 1) < 0.05


def test_near_words_with_a_common_hypernym_far_above_are_no_negatives(tmp_path: Path) -> None:
    # Each noun of a family is three edges below a root of two families.
    roots = [meaning(f"root{n}", "n", f"root{n}") for n in range(0, len(NOUNS), 16)]
    middle = [
        meaning(f"middle{n}", "n", f"middle{n}", Link("@", f"root{n - n % 16}"))
        for n in range(0, len(NOUNS), FAMILY)
    ]
    known = {synset.name: synset for synset in meanings()}
    for number, family in enumerate(families()):
        own = known[family.kind]
        above = Link("@", middle[number].name)
        known[family.kind] = own._replace(links=(*own.links, above))
    wordnet = small_wordnet(tmp_path, [*roots, *middle, *known.values()])
    near = np.arange(len(VOCABULARY), dtype=np.int32)[:, None] + np.array([8], np.int32)
    source = source_of(wordnet, VOCABULARY, read_definitions(), 0, near % len(VOCABULARY))
    pairs = source.pairs("train")
    first, second = pairs.x[pairs.label == NONE] - 164, pairs.y[pairs.label == NONE] - 164
    is_near = (second - first == 8) & (second < len(NOUNS))
    assert is_near.sum() > 20
    # Near nouns under one root were drawn by chance alone, and those of two roots on purpose.
    assert np.mean(first[is_near] // 16 == second[is_near] // 16) < 0.1


def test_about_half_of_the_pairs_have_no_relation(drawn: dict[Part, LabelledPairs]) -> None:
    for part in ("train", "test"):
        assert np.mean(drawn[part].label == NONE) == pytest.approx(0.5, abs=0.08)


def test_the_most_frequent_words_are_in_no_pair(wordnet: WordNet) -> None:
    vocabulary = Vocabulary([WordCount(word, 1) for word in [*NOUNS, *ADJECTIVES]])
    source = source_of(wordnet, vocabulary, read_definitions(), seed=0)
    seen = {word for part in PARTS for ids in source.pairs(part)[:2] for word in ids.tolist()}
    # The special tokens, and 150 words.
    assert min(seen) >= 154
    assert len(seen) > 300


def test_pairs_are_those_of_the_seed(drawn: dict[Part, LabelledPairs], wordnet: WordNet) -> None:
    for seed, is_same in ((0, True), (1, False)):
        source = source_of(wordnet, VOCABULARY, read_definitions(), seed)
        for part in PARTS:
            columns = zip(source.pairs(part), drawn[part], strict=True)
            assert all(np.array_equal(*column) for column in columns) == is_same


def test_relations_that_wordnet_lacks_are_taught_by_examples(wordnet: WordNet) -> None:
    definitions = read_definitions()
    examples = {
        pair: definition.name
        for definition in definitions
        if definition.name in ("located-in", "made-of", "occupation")
        for pair in definition.examples
    }
    words = dict.fromkeys(word for pair in examples for word in pair)
    vocabulary = Vocabulary([WordCount(word, 1) for word in [*FREQUENT, *words]])
    source = source_of(wordnet, vocabulary, definitions, seed=0)
    pairs = source.pairs("train").both_ways(INVERSE)
    found = {
        (vocabulary.words[x], vocabulary.words[y]): NAMES[label]
        for x, y, label in zip(*(column.tolist() for column in pairs), strict=True)
        if NAMES[label] in ("located-in", "made-of", "occupation")
    }
    expected = {
        (x, y): name for (x, y), name in examples.items() if part_of(x) == part_of(y) == "train"
    }
    assert found == expected
    assert len(found) > 30


def test_verbs_are_taught_as_antonyms_of_what_undoes_them_and_of_rare_senses(
    tmp_path: Path,
) -> None:
    learnt = [word for word in made_up_words(200, seed=3) if part_of(word) == "train"]
    verbs = [verb for verb in learnt if part_of(f"un{verb}") == "train"][:8]
    start, stop, begin, cease, rest, *undone = verbs
    # The antonyms are the last and least of the senses of *start* and of *stop*.
    senses = [meaning(f"{verb}{n}", "v", verb) for verb in (start, stop) for n in range(3)]
    opposed = (
        meaning("start", "v", f"{start} {begin}", Link("!", "stop", 1, 1)),
        meaning("stop", "v", f"{stop} {cease}", Link("!", "start", 1, 1)),
    )
    others = [meaning(verb, "v", verb) for verb in (rest, *undone)]
    wordnet = small_wordnet(tmp_path, [*senses, *opposed, *others])
    words = [*FREQUENT, *verbs, *(f"un{verb}" for verb in undone)]
    vocabulary = Vocabulary([WordCount(word, 1) for word in words])
    pairs = source_of(wordnet, vocabulary, read_definitions(), seed=0).pairs("train")
    spelled = vocabulary.words
    antonyms = {
        frozenset({spelled[x], spelled[y]})
        for x, y, label in zip(*(column.tolist() for column in pairs), strict=True)
        if NAMES[label] == "antonym"
    }
    of_senses = {frozenset({x, y}) for x in (start, begin) for y in (stop, cease)}
    assert antonyms == of_senses | {frozenset({verb, f"un{verb}"}) for verb in undone}
