"""The WordNet rule: labels of sentences by the words that differ."""

from pathlib import Path

import pytest
from tests.real_data import real_data
from tests.wordnet.real_wordnet import real_wordnet
from tests.wordnet.small_wordnet import SMALL, Link, meaning, small_wordnet

from pair2vec.experiments.nli.evaluate import wordnet_label
from pair2vec.experiments.nli.examples import read_nli_set

WORLD = (
    *SMALL,
    meaning("husky", "n", "husky", Link("@", "dog")),
    meaning("poodle", "n", "poodle", Link("@", "dog")),
    meaning("tabby", "n", "tabby", Link("@", "cat")),
    meaning("near", "a", "near close", Link("!", "far", 1, 1)),
    meaning("far", "a", "far", Link("!", "near", 1, 1)),
    meaning("out", "r", "from"),
)


def label(folder: Path, premise: str, hypothesis: str) -> str | None:
    wordnet = small_wordnet(folder, WORLD)
    return wordnet_label(wordnet, premise.split(), hypothesis.split())


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        ("beast", "animal", "entailment"),
        ("dog", "animal", "entailment"),  # a hyponym of it, however far
        ("husky", "entity", "entailment"),
        ("animal", "dog", "neutral"),
        ("dog", "wolf", "contradiction"),  # co-hyponyms
        ("dog", "cat", "contradiction"),  # something two edges above both
        ("husky", "cat", None),  # three edges above one of them
        ("hot", "cold", "contradiction"),
        ("hot", "icy", "contradiction"),  # through what icy is similar to
        ("scorching", "icy", "contradiction"),
        ("scorching", "chilly", "contradiction"),
        ("scorching", "hot", "entailment"),
        ("warm", "scorching", "entailment"),
        ("dog", "hope", None),
        ("dog", "unheard", None),
    ],
)
def test_the_relation_of_the_replaced_word_decides(
    premise: str, hypothesis: str, expected: str | None, tmp_path: Path
) -> None:
    sentence = "The {} saw it ."
    predicted = label(tmp_path, sentence.format(premise), sentence.format(hypothesis))
    assert predicted == expected


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        ("An Unheard barks", "an unheard barks", "entailment"),
        ("", "", "entailment"),
        ("it is an animal", "it is a dog", "neutral"),
        ("it is an unheard", "it is a unheard", "entailment"),  # a and an are one word
        ("two wolves bark", "two dogs bark", "contradiction"),
        ("some red wine here", "some wine here", None),  # a word that only one of them has
        ("they look up now", "they see now", None),
        ("some red wines here", "some husky here", None),
        ("it is near it", "it is far away from it", "contradiction"),
        ("it is close to it", "it is near it", "entailment"),
        ("he drinks red wine", "he drinks entity", "entailment"),
        ("entity is it", "red wine is it", "neutral"),
        # Several replacements.
        ("a dog is hot", "a canid is warm", "entailment"),
        ("a dog is hot", "a husky is warm", "neutral"),
        ("a dog is hot", "a husky is cold", "contradiction"),
        ("a dog is hot", "a hope is cold", "contradiction"),
        ("a dog is hot", "a hope is warm", None),
        ("a dog is hot", "a husky is hope", None),
    ],
)
def test_sentences_are_aligned_and_their_replacements_combined(
    premise: str, hypothesis: str, expected: str | None, tmp_path: Path
) -> None:
    assert label(tmp_path, premise, hypothesis) == expected


def test_the_longest_collocations_are_tried_first(tmp_path: Path) -> None:
    world = (*WORLD, meaning("fire water", "n", "hot_dog", Link("@", "wine")))
    wordnet = small_wordnet(tmp_path, world)
    # As one word it is a wine; the dog in it would be a wolf's sibling.
    assert wordnet_label(wordnet, ["hot", "dog"], ["wine"]) == "entailment"
    assert wordnet_label(wordnet, ["hot", "dog"], ["red", "wine"]) == "contradiction"
    assert wordnet_label(wordnet, ["hot", "dog"], ["wolf"]) == "contradiction"


def test_the_real_wordnet_labels_most_of_breaking_nli() -> None:
    examples = read_nli_set(real_data("nli/breaking_nli.jsonl.xz")).examples[::20]
    wordnet = real_wordnet()
    right = sum(wordnet_label(wordnet, e.premise, e.hypothesis) == e.label for e in examples)
    assert 0.75 < right / len(examples) < 0.95
