"""An exam gives what a plain loop over questions, words and α gives."""

import os
import subprocess
import sys
from dataclasses import asdict
from itertools import permutations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.alpha_sweep import ALPHAS, AnalogyBatch, NumpyAlphaSweep
from pair2vec.experiments.evaluation.alpha_sweep_torch import TorchAlphaSweep
from pair2vec.experiments.evaluation.analogies import (
    AnalogyConfig,
    AnalogyExam,
    evaluate_analogies,
    find_analogy_device,
)
from pair2vec.experiments.evaluation.analogy_sets import (
    AnalogyEntry,
    AnalogyItem,
    AnalogyRelation,
    AnswerVocabulary,
    find_answer_vocabulary,
)
from pair2vec.query.analogies import Direction
from pair2vec.query.pair_encoder import make_pair_vectors
from pair2vec.query.whitening import whiten
from pair2vec.training.recipes import Recipe

WORDS = [f"word{number}" for number in range(40)]
DIRECTIONS: tuple[Direction, ...] = ("both", "forward", "backward")


def relation(name: str, group: str, *entries: str) -> AnalogyRelation:
    rows = [AnalogyEntry(word, tuple(answers)) for word, *answers in map(str.split, entries)]
    return AnalogyRelation(name, group, tuple(AnalogyItem(*pair) for pair in permutations(rows, 2)))


RELATIONS = (
    relation("first", "g", "word0 word1", "word2 word3 word4", "word5 nothing word6", "nix word7"),
    # An x of the first relation again, one that is its own answer, and answers that are b.
    relation("second", "g", "word0 word8 word9", "word10 word10", "word11 word8", "word12 word13"),
    relation("third", "h", "word20 word21", "word22 word23", "word24 word25 word26 word27"),
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    recipe = Recipe(
        name="t",
        pair=PairConfig(layers=2, dimension=8),
        context=ContextConfig(dimension=8, hidden=4),
    )
    folder = tmp_path_factory.mktemp("exam") / "model"
    return load(save_tiny_model(folder, WORDS, config={"recipe": asdict(recipe)}))


def word_vectors() -> NDArray[np.float32]:
    return np.random.default_rng(3).normal(size=(4 + len(WORDS), 5)).astype(np.float32)


def candidates(model: Pair2vec) -> AnswerVocabulary:
    found = np.array([True] * 44)
    found[[0, 1, 2, 3, 4 + 30]] = False
    return find_answer_vocabulary(model.vocabulary, word_vectors(), found)


def exam(model: Pair2vec) -> AnalogyExam:
    return AnalogyExam(relations=RELATIONS, candidates=candidates(model), data="d", vectors="v")


def cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def plain_right(
    model: Pair2vec, a: str, b: str, asked: AnalogyEntry, direction: Direction
) -> list[bool]:
    """For each α whether the best word is right, by the model's own words for it."""
    vectors = word_vectors()
    unit = {word: vectors[4 + n] / np.linalg.norm(vectors[4 + n]) for n, word in enumerate(WORDS)}
    example = model.pair(a, b, direction=direction)
    target = unit[b] - unit[a] + unit[asked.word]
    relational, single = {}, {}
    for word in WORDS:
        if word not in {a, b, asked.word, "word30"}:
            relational[word] = cosine(example, model.pair(asked.word, word, direction=direction))
            single[word] = cosine(target, unit[word])
    return [
        max(single, key=lambda y: alpha * relational[y] + (1 - alpha) * single[y]) in asked.answers
        for alpha in ALPHAS.tolist()
    ]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_exam_counts_what_a_plain_loop_counts(model: Pair2vec, direction: Direction) -> None:
    config = AnalogyConfig(direction=direction, whitening=0)
    found = evaluate_analogies(model.saved, exam(model), config).accuracies
    known = {word for word in WORDS if word != "word30"}
    for name, _, questions in RELATIONS:
        rows = []
        for example, asked in questions:
            bs = [answer for answer in example.answers if answer in known]
            if {example.word, asked.word} <= known and bs and known & set(asked.answers):
                rows.append(plain_right(model, example.word, bs[0], asked, direction))
        accuracy = found.relations[name]
        assert accuracy.n == len(rows)
        assert accuracy.dropped == pytest.approx(100 * (1 - len(rows) / len(questions)), abs=0.005)
        np.testing.assert_allclose(accuracy.by_alpha, 100 * np.mean(rows, axis=0), atol=0.005)
    # The questions are hard, but not so hard that nothing was compared.
    assert sum(group.scores["oracle_alpha"] for group in found.groups.values()) > 0


@pytest.mark.parametrize("whitening", [0.0, 0.5])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_torch_and_numpy_find_the_same_cosines(
    model: Pair2vec, direction: Direction, whitening: float
) -> None:
    chosen = candidates(model)
    pairs = whiten(make_pair_vectors(model.saved), whitening)
    by_numpy = NumpyAlphaSweep(pairs, chosen.ids, chosen.vectors, direction)
    by_torch = TorchAlphaSweep(model.saved, chosen, direction, whitening, torch.device("cpu"))
    batch = AnalogyBatch(5, np.array([1, 2, 30]), np.array([3, 3, 0]))
    for name in ("pair_cosines", "offset_cosines"):
        ours, theirs = (getattr(contest, name)(batch) for contest in (by_numpy, by_torch))
        assert ours.shape == (3, len(chosen))
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-5)
    assert by_numpy(batch).tolist() == by_torch(batch).tolist()


def test_more_processes_find_the_same_and_leave_no_trace(
    model: Pair2vec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    before = dict(os.environ)
    one, two = (
        evaluate_analogies(model.saved, exam(model), AnalogyConfig(workers=n)) for n in (1, 2)
    )
    assert one.accuracies == two.accuracies
    assert dict(os.environ) == before


def test_an_exam_reports_its_progress_and_its_protocol(model: Pair2vec) -> None:
    reported: list[tuple[int, int]] = []
    result = evaluate_analogies(
        model.saved, exam(model), report=lambda done, total: reported.append((done, total))
    )
    asked = sum(len(relation.questions) for relation in RELATIONS)
    scored = sum(accuracy.n for accuracy in result.accuracies.relations.values())
    assert reported[-1] == (scored, scored)
    protocol = result.to_json()["protocol"]
    assert isinstance(protocol, dict)
    assert protocol["questions"] == asked == 12 + 12 + 6
    assert protocol["dropped"] == pytest.approx(100 * (1 - scored / asked), abs=0.005)
    assert protocol["vocabulary"] == 39
    assert protocol["alphas"] == tuple(ALPHAS.tolist())
    assert (protocol["direction"], protocol["vectors"], protocol["data"]) == ("both", "v", "d")


def test_an_exam_of_unknown_words_is_refused(model: Pair2vec) -> None:
    strange = relation("strange", "g", "ni peng", "neewom zboing")
    asked = AnalogyExam(relations=[strange], candidates=candidates(model), data="d", vectors="v")
    with pytest.raises(InputError, match="knows the words of none of the 2 questions"):
        evaluate_analogies(model.saved, asked)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="direction is 'up'"):
        AnalogyConfig(direction="up")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="workers is 0"):
        AnalogyConfig(workers=0)
    with pytest.raises(UsageError, match="no device 'abacus'"):
        find_analogy_device("abacus")
    assert find_analogy_device("cpu") == "cpu"


def test_an_exam_on_a_cpu_does_without_torch(model: Pair2vec) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pair2vec.experiments.evaluation.analogies import evaluate_analogies, find_analogy_device\n"
        "from pair2vec.experiments.evaluation.slots import fill_rows\n"
        "print(find_analogy_device('auto'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "cpu"
