"""The set of reversals, paraphrases and differing pairs, and the baselines measured on it."""

import os
import re
import subprocess
import sys
import tomllib
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from tests.wordnet.real_wordnet import real_wordnet

import opposed_set
from edited_sentences import ACTION_FRAMES, STATE_FRAMES
from example_sentences import Grammar, with_article
from opposed import LISTED, best_threshold, by_wordnet, listed, words_of
from opposed_set import COLUMNS, FORMS, SentencePair, is_held_out, make_pairs, part_of_word
from pair2vec.relations.word_forms import is_negated_form
from pair2vec.wordnet.dictionary import WordNet

LEAST = {"opposed": 2_000, "same": 2_000, "different": 1_000}


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return real_wordnet()


@pytest.fixture(scope="module")
def pairs(wordnet: WordNet) -> list[SentencePair]:
    return make_pairs(wordnet)


def test_the_set_is_the_same_in_another_process(pairs: list[SentencePair], tmp_path: Path) -> None:
    here, there = tmp_path / "here.tsv", tmp_path / "there.tsv"
    opposed_set.write_pairs(here, pairs)
    command = [sys.executable, opposed_set.__file__, "--out", str(there)]
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert here.read_bytes() == there.read_bytes()
    assert here.read_text().startswith("\t".join(COLUMNS) + "\n")
    assert opposed_set.read_pairs(here) == [pair._replace(replaced=None) for pair in pairs]


def test_what_opposed_learns_from_has_one_frame_of_the_set() -> None:
    written = tomllib.loads(opposed_set.FRAMES.read_text(encoding="utf-8"))
    groups = [g for form in written["frames"].values() for own in form.values() for g in own]
    groups += [side for row in written["negation"] for two in row["frames"] for side in two]
    learned = [side for two in (*ACTION_FRAMES, *STATE_FRAMES) for side in two]
    assert frames_of(learned) & frames_of(groups) == {"never {}"}


def frames_of(groups: Iterable[Iterable[str]]) -> set[str]:
    """Whatever they are filled with, and however they end."""
    return {re.sub(r"\{.*?\}", "{}", f).strip("?. ").lower() for group in groups for f in group}


def test_each_label_has_its_number_of_pairs_and_as_many_of_each_form(
    pairs: list[SentencePair],
) -> None:
    labels, forms = Counter(p.label for p in pairs), Counter((p.label, p.form) for p in pairs)
    assert labels.keys() == LEAST.keys()
    for label, least in LEAST.items():
        assert labels[label] >= least
        assert {forms[label, form] for form in FORMS} == {labels[label] / len(FORMS)}


def test_three_of_five_reversals_are_opposites_and_the_others_negations(
    pairs: list[SentencePair],
) -> None:
    reversals = [pair for pair in pairs if pair.label == "opposed"]
    opposites = [pair for pair in reversals if pair.kind in ("opposite", "affix")]
    assert 0.58 < len(opposites) / len(reversals) < 0.64
    assert all((pair in opposites) == (pair.replaced is not None) for pair in reversals)
    for pair in opposites:
        assert pair.replaced
        assert is_negated_form(*pair.replaced) == (pair.kind == "affix")


def test_opposites_are_many_and_none_is_frequent(pairs: list[SentencePair]) -> None:
    uses = Counter(frozenset(pair.replaced) for pair in pairs if pair.replaced)
    opposites = {frozenset(p.replaced) for p in pairs if p.replaced and p.label == "opposed"}
    assert len(opposites) >= 350
    assert max(uses.values()) <= 12


def test_no_two_replaced_words_are_both_of_the_part_that_the_teacher_saw(
    pairs: list[SentencePair], wordnet: WordNet
) -> None:
    replaced = [pair.replaced for pair in pairs if pair.replaced]
    assert len(replaced) > 1_000
    for x, y in replaced:
        parts = part_of_word(wordnet, x), part_of_word(wordnet, y)
        assert parts not in (("train", "train"), ("dev", "dev"))


def test_words_are_held_out_unless_both_are_of_train_or_both_of_dev(wordnet: WordNet) -> None:
    words = "cheap expensive upload download enable disable buy sell mute unmute".split()
    for x in words:
        for y in words:
            seen = part_of_word(wordnet, x) == part_of_word(wordnet, y) != "test"
            assert is_held_out(wordnet, x, y) is not seen
    # An inflected form is of the part of its base form.
    assert part_of_word(wordnet, "buying") == part_of_word(wordnet, "buy")


def test_no_pair_occurs_twice_and_all_are_of_a_sentence_s_length(pairs: list[SentencePair]) -> None:
    sentences = [frozenset((pair.sentence1, pair.sentence2)) for pair in pairs]
    assert len({*sentences}) == len(pairs)
    for pair in pairs:
        for sentence in (pair.sentence1, pair.sentence2):
            assert 3 <= len(sentence.split()) <= 22
            # Nothing of a frame is left.
            assert not {*"{}|\t"} & {*sentence} and "  " not in sentence


def test_a_hand_written_pair_that_the_teacher_saw_is_refused(
    wordnet: WordNet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = opposed_set.FRAMES.read_text().replace('["mute", "unmute"]', '["upload", "download"]')
    changed = tmp_path / "frames.toml"
    changed.write_text(text)
    monkeypatch.setattr(opposed_set, "FRAMES", changed)
    with pytest.raises(ValueError, match="upload and download are both of the part 'train'"):
        make_pairs(wordnet)


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("pin", "pins pinned pinned pinning"),
        ("unclip", "unclips unclipped unclipped unclipping"),
        ("permit", "permits permitted permitted permitting"),
        ("carry", "carries carried carried carrying"),
        ("publish", "publishes published published publishing"),
        ("enable", "enables enabled enabled enabling"),
        ("open", "opens opened opened opening"),
        ("hide", "hides hid hidden hiding"),
    ],
)
def test_verbs_are_inflected(verb: str, forms: str) -> None:
    grammar = Grammar({"hide": ["hid", "hidden"]})
    assert list(grammar.verb_forms(verb).values()) == forms.split()


def test_an_article_fits_the_word_after_it() -> None:
    assert with_article("a unhappy man", "unhappy") == "an unhappy man"
    assert with_article("an useful tool", "useful") == "a useful tool"
    assert with_article("A honest man and an old one", "honest") == "An honest man and an old one"


OPPOSED = [
    ("enable the cache", "disable the cache"),
    ("how do I open a ticket?", "how do I close a ticket?"),
    ("I like jazz", "I don't like jazz"),
    ("the shop is open", "the shop is not open"),
]
NOT_OPPOSED = [
    ("I don't like jazz", "I do not like jazz"),
    ("the light isn't off", "the light is on"),
    ("paint the door red", "paint the door blue"),
    ("I can't come", "I cannot come"),
]


def test_a_list_knows_its_21_pairs_and_the_parity_of_negations() -> None:
    assert len(LISTED) == len({frozenset(pair) for pair in LISTED}) == 21
    score = listed(Namespace())
    assert score(OPPOSED) == [True] * len(OPPOSED)
    assert score(NOT_OPPOSED[:3]) == [False] * 3
    assert score([("mount the disk", "unmount the disk"), ("she eats meat", "she never eats")]) == [
        False,
        True,
    ]


@pytest.mark.usefixtures("wordnet")
def test_wordnet_knows_inflected_antonyms_and_more_negations() -> None:
    score = by_wordnet(Namespace())
    assert score(OPPOSED) == [True] * len(OPPOSED)
    assert score(NOT_OPPOSED) == [False] * len(NOT_OPPOSED)
    more = [("she increased the dose", "she decreased the dose"), ("with milk", "without milk")]
    assert score(more) == [True, True]


def test_contracted_negations_are_words_of_their_own() -> None:
    assert words_of("Don't! It isn't on-line") == ["do", "not", "it", "is", "not", "on-line"]
    assert words_of("I can't, we won't") == ["i", "can", "not", "we", "will", "not"]


def test_the_best_threshold_separates_reversals_from_paraphrases() -> None:
    labels = ["opposed", "opposed", "opposed", "same", "same", "different"]
    scores = np.array([0.9, 0.8, 0.3, 0.4, 0.1, 5.0])
    # From .8 on: two of three reversals and no paraphrase.
    assert best_threshold(scores, labels) == 0.8
