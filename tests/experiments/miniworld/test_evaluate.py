"""A model trained on the mini-world knows what the text states, and what it only implies."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from pair2vec.api import Pair2vec, load
from pair2vec.experiments.miniworld.evaluate import (
    WorldAccuracy,
    analogy_questions,
    answer_analogies,
    answer_slots,
    mvpmi_agreement,
    slot_questions,
    spearman,
    with_sentence_boundaries,
    world_accuracies,
)
from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.model.folder import save_model
from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import prepare
from pair2vec.training.recipes import find_recipe, with_settings
from pair2vec.training.train import train
from pair2vec.word_vectors.fasttext import FasttextConfig, train_fasttext
from pair2vec.word_vectors.formats import write_vec

WORLD = MiniWorld.create()


class Trained(NamedTuple):
    corpus: Corpus
    model: Pair2vec


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("world")
    (folder / "world.txt").write_text(WORLD.text(30_000))
    corpus = prepare([str(folder / "world.txt")], folder / "corpus")
    vectors = train_fasttext(corpus, FasttextConfig(dimension=64, epochs=10), workers=1)
    write_vec(folder / "words.vec", corpus.vocabulary.words[4:], vectors[4:])
    recipe = with_settings(find_recipe("tiny"), {"training": {"batch": 256}})
    model = train(corpus, folder / "model", recipe, vectors=folder / "words.vec", device="cpu")
    return Trained(corpus, Pair2vec(model))


def overall(accuracies: list[WorldAccuracy], *, held_out: bool) -> WorldAccuracy:
    (accuracy,) = [
        accuracy
        for accuracy in accuracies
        if accuracy.relation == "all" and accuracy.held_out == held_out
    ]
    return accuracy


def test_stated_relations_are_known(trained: Trained) -> None:
    answers = answer_slots(slot_questions(WORLD), trained.model, trained.corpus)
    seen = overall(world_accuracies(answers), held_out=False)
    assert seen.right >= 0.9
    assert seen.right_of_all >= 0.6


def test_implied_relations_are_known_where_counting_knows_nothing(trained: Trained) -> None:
    answers = answer_slots(slot_questions(WORLD), trained.model, trained.corpus)
    held_out = overall(world_accuracies(answers), held_out=True)
    assert held_out.chance < 0.1
    assert held_out.co_occurrence == 0
    assert held_out.right > 0.5


def test_knowledge_of_implied_relations_lies_in_the_words(trained: Trained, tmp_path: Path) -> None:
    # The same network with every word's vector given to another word knows nothing.
    saved = trained.model.saved
    arrays = {name: saved.array(name) for name in saved.names}
    arrays["pair.words"] = np.random.default_rng(0).permutation(arrays["pair.words"])
    save_model(tmp_path / "shuffled", arrays, saved.vocabulary, saved.config)
    answers = answer_slots(slot_questions(WORLD), load(tmp_path / "shuffled"), trained.corpus)
    assert overall(world_accuracies(answers), held_out=True).right < 0.25


def test_analogies_hold_on_stated_and_on_implied_pairs(trained: Trained) -> None:
    questions = analogy_questions(WORLD)
    accuracies = world_accuracies(answer_analogies(questions, trained.model, trained.corpus))
    assert overall(accuracies, held_out=False).right > 0.75
    assert overall(accuracies, held_out=True).right > 0.5


def test_scores_rank_frequent_triples_as_mvpmi_does(trained: Trained) -> None:
    # Subsampling, typed negatives and a minute of training keep it from being 1.
    assert mvpmi_agreement(trained.model, trained.corpus) > 0.3


def test_ranks_correlate_whatever_the_values_and_ties_share_a_rank() -> None:
    values = np.array([3.0, -1.0, 8.0, 5.0])
    assert spearman(values, np.exp(values)) == pytest.approx(1)
    assert spearman(values, -(values**3)) == pytest.approx(-1)
    # Ranks 1.5, 1.5, 3 against 1, 2, 3: a covariance of 0.75 over √(0.75·1).
    assert spearman(np.array([1.0, 1.0, 2.0]), np.array([4.0, 5.0, 6.0])) == pytest.approx(
        0.75**0.5
    )


def test_a_pattern_at_the_edge_of_a_sentence_meets_its_boundary() -> None:
    assert with_sentence_boundaries("X lies in Y") == "<s> X lies in Y <s>"
    assert with_sentence_boundaries("in X , Y .") == "in X , Y ."
