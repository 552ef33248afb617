"""Base forms are those that WordNet itself finds."""

from pathlib import Path

import pytest
from tests.wordnet.real_wordnet import real_wordnet
from tests.wordnet.small_wordnet import meaning, small_wordnet

from pair2vec.wordnet.morphology import base_forms, morphy


@pytest.mark.parametrize(
    ("form", "pos", "bases"),
    [
        ("dog", "n", ["dog"]),
        ("dogs", "n", ["dog"]),
        ("cities", "n", ["city"]),
        ("wolves", "n", ["wolf"]),  # irregular
        ("men", "n", []),  # irregular, but WordNet does not have its base form
        ("boxes", "n", ["box"]),
        ("boxesful", "n", ["boxful"]),
        ("glasses", "n", ["glass"]),
        ("glass", "n", ["glass"]),
        ("saw", "v", ["saw", "see"]),  # a word of its own, and irregular
        ("saw", "n", ["saw"]),
        ("sees", "v", ["see"]),
        ("hoping", "v", ["hope"]),  # not of hop: the first rule decides
        ("hops", "v", ["hop"]),
        ("hoped", "v", ["hope"]),
        ("looked_up", "v", ["look_up"]),
        ("sent_packing", "v", ["send_packing"]),  # the first word alone
        ("customs_duties", "n", ["customs_duty"]),  # the last alone
        ("looked_and_saw", "v", ["look_and_see"]),  # every one
        ("attorneys_general", "n", ["attorney_general"]),
        ("red_wines", "n", ["red_wine"]),
        ("hotter", "a", []),
        ("colder", "a", ["cold"]),
        ("icest", "a", []),
        ("fasts", "r", []),  # adverbs have no endings
        ("unheard", "n", []),
        ("", "n", []),
    ],
)
def test_a_form_has_the_base_forms_that_wordnet_knows(
    form: str, pos: str, bases: list[str], tmp_path: Path
) -> None:
    assert morphy(small_wordnet(tmp_path), form, pos) == bases


def test_short_nouns_and_those_in_ss_keep_their_endings(tmp_path: Path) -> None:
    wordnet = small_wordnet(tmp_path, [meaning("a", "n", "a"), meaning("b", "n", "glas")])
    assert morphy(wordnet, "as", "n") == []
    assert morphy(wordnet, "glass", "n") == []


def test_a_word_is_looked_up_in_every_part_of_speech_and_any_case(tmp_path: Path) -> None:
    wordnet = small_wordnet(tmp_path)
    assert base_forms(wordnet, "SAW") == {("saw", "n"), ("saw", "v"), ("see", "v")}
    assert base_forms(wordnet, " Red  wines") == {("red_wine", "n")}
    assert base_forms(wordnet, "unheard") == frozenset() == base_forms(wordnet, "")


@pytest.mark.parametrize(
    ("form", "pos", "bases"),
    [
        ("singing", "v", ["sing", "singe"]),
        ("axes", "n", ["ax", "axis"]),
        ("women", "n", ["woman"]),
        ("was", "v", ["be"]),
        ("better", "a", ["better", "good", "well"]),
        ("boxesful", "n", ["boxful"]),
        ("asking_for_it", "v", ["ask_for_it"]),
        ("customs_duties", "n", ["customs_duty"]),
        ("planing", "v", ["plane"]),
    ],
)
def test_the_real_wordnet_has_real_base_forms(form: str, pos: str, bases: list[str]) -> None:
    assert morphy(real_wordnet(), form, pos) == bases
