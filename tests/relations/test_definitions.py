"""Relations as they are written down: the built-in ones, and files of one's own."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.real_data import real_data

import pair2vec
from pair2vec.errors import InputError
from pair2vec.relations.definitions import (
    RelationDefinition,
    fitted_definitions,
    has_slots_in_order,
    read_definitions,
    swap_slots,
)
from pair2vec.relations.word_forms import is_form

BUILT_IN = read_definitions()
NAMES = (
    *("synonym", "antonym", "hypernym", "hyponym", "co-hyponym", "part", "whole"),
    *("located-in", "location-of", "made-of", "material-of", "occupation", "occupation-of"),
)
INVERSES = {
    "hyponym": "hypernym",
    "whole": "part",
    "location-of": "located-in",
    "material-of": "made-of",
    "occupation-of": "occupation",
}


def write(folder: Path, text: str) -> Path:
    path = folder / "relations.toml"
    path.write_text(text)
    return path


def test_the_built_in_relations_have_a_meaning_examples_and_patterns() -> None:
    assert tuple(definition.name for definition in BUILT_IN) == NAMES
    for definition in BUILT_IN:
        assert definition.definition
        assert 30 <= len(definition.examples) <= 400
        assert len(set(definition.examples)) == len(definition.examples)
        assert definition.patterns
        assert not any(is_form(x, y) for x, y in definition.examples)
    symmetric = {definition.name for definition in BUILT_IN if definition.symmetric}
    assert symmetric == {"synonym", "antonym", "co-hyponym"}


def test_no_pair_is_an_example_of_two_built_in_relations() -> None:
    of_pair: dict[frozenset[str], set[str]] = {}
    for definition in BUILT_IN:
        for pair in definition.examples:
            name = INVERSES.get(definition.name, definition.name)
            of_pair.setdefault(frozenset(pair), set()).add(name)
    assert {pair: names for pair, names in of_pair.items() if len(names) > 1} == {}


def test_the_bundled_model_knows_every_word_of_the_built_in_relations() -> None:
    model = pair2vec.load()
    words = {word for one in BUILT_IN for pair in one.examples for word in pair}
    assert {word for word in words if word not in model.vocabulary} == set()
    for definition in BUILT_IN:
        in_order = [p if has_slots_in_order(p) else swap_slots(p) for p in definition.patterns]
        for pattern in in_order:
            assert model.context(pattern).any()


@pytest.mark.parametrize("split", ["val", "test"])
@pytest.mark.parametrize("name", ["BLESS", "EVALution"])
def test_no_built_in_example_is_a_pair_that_relations_are_measured_on(
    name: str, split: str
) -> None:
    lines = (real_data("relations") / name / f"{split}.tsv").read_text().splitlines()
    evaluated = {frozenset(line.lower().split("\t")[:2]) for line in lines}
    examples = {frozenset(pair) for definition in BUILT_IN for pair in definition.examples}
    assert not evaluated & examples


def test_a_model_without_a_head_lacks_only_inverses_that_a_head_is_taught() -> None:
    fitted = fitted_definitions()
    assert set(fitted) < set(BUILT_IN)
    lacking = [one.name for one in BUILT_IN if one not in fitted]
    assert lacking == ["location-of", "material-of", "occupation-of"]


def test_an_inverse_turns_examples_and_patterns_round() -> None:
    by_name = {definition.name: definition for definition in BUILT_IN}
    for name, other in INVERSES.items():
        one, turned = by_name[other], by_name[name]
        assert turned.examples == tuple((y, x) for x, y in one.examples)
        assert turned.patterns == tuple(map(swap_slots, one.patterns))
        assert turned.definition != one.definition
    assert "Y such as X" in by_name["hypernym"].patterns
    assert "X such as Y" in by_name["hyponym"].patterns


def test_a_symmetric_relation_counts_both_ways() -> None:
    one = RelationDefinition(
        name="near", examples=(("a", "b"), ("b", "a"), ("c", "d")), patterns=("X by Y",)
    )
    assert one.all_examples == one.examples
    assert one.all_patterns == ("X by Y",)
    both = RelationDefinition(
        name="near", examples=one.examples, patterns=one.patterns, symmetric=True
    )
    assert both.all_examples == (("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"))
    assert both.all_patterns == ("X by Y", "Y by X")


@given(st.lists(st.sampled_from(["X", "Y", "Xerox", "of", "lazY", "X-ray", ","]), max_size=6))
def test_swapping_slots_twice_changes_nothing(words: list[str]) -> None:
    pattern = " ".join(words)
    assert swap_slots(swap_slots(pattern)) == pattern
    assert "Xerox" not in words or "Xerox" in swap_slots(pattern)


def test_a_file_of_ones_own_may_have_examples_patterns_or_both(tmp_path: Path) -> None:
    found = read_definitions(
        write(
            tmp_path,
            '[cause]\nexamples = ["Rain Flood"]\n[cure]\npatterns = ["X cures Y"]\n'
            '[effect]\ninverse = "cause"\n',
        )
    )
    assert [one.name for one in found] == ["cause", "cure", "effect"]
    assert found[0].examples == (("rain", "flood"),)
    assert found[1].patterns == ("X cures Y",)
    assert found[2].examples == (("flood", "rain"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no relation"),
        ("[cause", "is not TOML"),
        ("cause = 3", r"\[cause\]: is not a table"),
        ("[none]\nexamples = ['a b']", "stands for no relation"),
        ("[cause]\ndefinition = 'why'", "has neither examples nor patterns"),
        ("[cause]\nexamples = ['a b c']", "the example 'a b c' is not two words"),
        ("[cause]\nexamples = 'a b'", "examples must be a list of texts"),
        ("[cause]\npatterns = [1]", "patterns must be a list of texts"),
        ("[cause]\npatterns = ['X causes']", "needs one X and one Y"),
        ("[cause]\npatterns = ['X causes Y']\nsymmetric = 1", "symmetric must be true or false"),
        ("[cause]\npattern = ['X causes Y']", "'pattern' is not one of its fields"),
        ("[effect]\ninverse = 'cause'", "is the inverse of 'cause', which has no examples"),
        ("[a]\ninverse = 'b'\n[b]\ninverse = 'a'", "which has no examples of its own"),
    ],
)
def test_a_file_that_cannot_be_meant_is_one_clear_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=message) as raised:
        read_definitions(path)
    assert str(path) in str(raised.value)
    with pytest.raises(InputError, match="no such file"):
        read_definitions(tmp_path / "nowhere.toml")
