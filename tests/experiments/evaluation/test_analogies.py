"""Accuracies are those of a plain loop over questions, words and α, and are shown with them."""

import os
import subprocess
import sys
from dataclasses import asdict, replace
from itertools import permutations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.rendering import rendered
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.alpha_sweep import ALPHAS, AnalogyBatch, NumpyAlphaSweep
from pair2vec.experiments.evaluation.alpha_sweep_torch import TorchAlphaSweep
from pair2vec.experiments.evaluation.analogies import (
    AnalogyBenchmark,
    AnalogyConfig,
    AnalogyProtocol,
    AnalogyResult,
    analogy_tables,
    evaluate_analogies,
    find_analogy_device,
    protocol_lines,
)
from pair2vec.experiments.evaluation.analogy_accuracy import RelationOutcome, analogy_accuracies
from pair2vec.experiments.evaluation.analogy_sets import (
    AnalogyEntry,
    AnalogyItem,
    AnalogyRelation,
    AnswerVocabulary,
    find_answer_vocabulary,
)
from pair2vec.query.pair_encoder import Direction
from pair2vec.query.space import PairSpace
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
    folder = tmp_path_factory.mktemp("analogies") / "model"
    return load(save_tiny_model(folder, WORDS, config={"recipe": asdict(recipe)}))


def word_vectors() -> NDArray[np.float32]:
    return np.random.default_rng(3).normal(size=(4 + len(WORDS), 5)).astype(np.float32)


def candidates(model: Pair2vec) -> AnswerVocabulary:
    has_vector = np.array([True] * 44)
    has_vector[[0, 1, 2, 3, 4 + 30]] = False
    return find_answer_vocabulary(model.vocabulary, word_vectors(), has_vector)


def benchmark(model: Pair2vec) -> AnalogyBenchmark:
    return AnalogyBenchmark(
        relations=RELATIONS, candidates=candidates(model), data="d", vectors="v"
    )


def cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def plain_correct(
    model: Pair2vec, a: str, b: str, query: AnalogyEntry, direction: Direction
) -> list[bool]:
    """For each α whether the best word is correct, by the model's own words for it."""
    vectors = word_vectors()
    unit = {word: vectors[4 + n] / np.linalg.norm(vectors[4 + n]) for n, word in enumerate(WORDS)}
    example = model.pair(a, b, direction=direction)
    target = unit[b] - unit[a] + unit[query.word]
    relational, single = {}, {}
    for word in WORDS:
        if word not in {a, b, query.word, "word30"}:
            relational[word] = cosine(example, model.pair(query.word, word, direction=direction))
            single[word] = cosine(target, unit[word])
    return [
        max(single, key=lambda y: alpha * relational[y] + (1 - alpha) * single[y]) in query.answers
        for alpha in ALPHAS.tolist()
    ]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_evaluation_counts_what_a_plain_loop_counts(
    model: Pair2vec, direction: Direction
) -> None:
    config = AnalogyConfig(direction=direction, whitening=0)
    accuracies = evaluate_analogies(model.saved, benchmark(model), config).accuracies
    known = {word for word in WORDS if word != "word30"}
    for name, _, questions in RELATIONS:
        rows = []
        for example, query in questions:
            bs = [answer for answer in example.answers if answer in known]
            if {example.word, query.word} <= known and bs and known & set(query.answers):
                rows.append(plain_correct(model, example.word, bs[0], query, direction))
        accuracy = accuracies.relations[name]
        assert accuracy.n == len(rows)
        assert accuracy.dropped == pytest.approx(100 * (1 - len(rows) / len(questions)), abs=0.005)
        np.testing.assert_allclose(accuracy.by_alpha, 100 * np.mean(rows, axis=0), atol=0.005)
    # The questions are hard, but not so hard that nothing was compared.
    assert sum(group.scores["oracle_alpha"] for group in accuracies.groups.values()) > 0


@pytest.mark.parametrize("whitening", [0.0, 0.5])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_torch_and_numpy_find_the_same_cosines(
    model: Pair2vec, direction: Direction, whitening: float
) -> None:
    chosen = candidates(model)
    pairs = PairSpace(model.saved, whitening=whitening).whitened_pairs
    by_numpy = NumpyAlphaSweep(pairs, chosen.ids, chosen.vectors, direction)
    by_torch = TorchAlphaSweep(model.saved, chosen, direction, whitening, torch.device("cpu"))
    batch = AnalogyBatch(5, np.array([1, 2, 30]), np.array([3, 3, 0]))
    for name in ("pair_cosines", "offset_cosines"):
        ours, theirs = (getattr(sweep, name)(batch) for sweep in (by_numpy, by_torch))
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
        evaluate_analogies(model.saved, benchmark(model), AnalogyConfig(workers=n)) for n in (1, 2)
    )
    assert one.accuracies == two.accuracies
    assert dict(os.environ) == before


def test_an_evaluation_reports_its_progress_and_its_protocol(model: Pair2vec) -> None:
    reported: list[tuple[int, int]] = []
    result = evaluate_analogies(
        model.saved, benchmark(model), report=lambda done, total: reported.append((done, total))
    )
    total = sum(len(relation.questions) for relation in RELATIONS)
    scored = sum(accuracy.n for accuracy in result.accuracies.relations.values())
    assert reported[-1] == (scored, scored)
    protocol = result.to_json()["protocol"]
    assert isinstance(protocol, dict)
    assert protocol["questions"] == total == 12 + 12 + 6
    assert protocol["dropped"] == pytest.approx(100 * (1 - scored / total), abs=0.005)
    assert protocol["vocabulary"] == 39
    assert protocol["alphas"] == tuple(ALPHAS.tolist())
    assert (protocol["direction"], protocol["vectors"], protocol["data"]) == ("both", "v", "d")


def test_a_benchmark_of_unknown_words_is_refused(model: Pair2vec) -> None:
    strange = relation("strange", "g", "ni peng", "neewom zboing")
    unknown = AnalogyBenchmark(
        relations=[strange], candidates=candidates(model), data="d", vectors="v"
    )
    with pytest.raises(InputError, match="knows the words of none of the 2 questions"):
        evaluate_analogies(model.saved, unknown)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="direction is 'up'"):
        AnalogyConfig(direction="up")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="workers is 0"):
        AnalogyConfig(workers=0)
    with pytest.raises(UsageError, match="no device 'abacus'"):
        find_analogy_device("abacus")
    assert find_analogy_device("cpu") == "cpu"


def test_an_evaluation_on_a_cpu_does_without_torch(model: Pair2vec) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pair2vec.experiments.evaluation import analogies, slots\n"
        "print(analogies.find_analogy_device('auto'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "cpu"


# Tables.

PROTOCOL = AnalogyProtocol(
    model="some/model",
    vectors="words.vec",
    data="bats",
    direction="both",
    whitening=0.5,
    vocabulary=60_000,
    relations=3,
    questions=98_000,
    dropped=12.34,
    alphas=(0.0, 1.0),
    device="cpu",
    workers=2,
    seconds=812.3,
)


def result() -> AnalogyResult:
    def outcome(name: str, group: str, best: int) -> RelationOutcome:
        correct = np.zeros((40, 21), np.bool_)
        correct[:10, 0] = correct[:20, 20] = correct[:30, best] = True
        return RelationOutcome(name, group, 50, np.arange(40), correct)

    outcomes = [
        outcome("I05 [verb_inf - 3pSg]", "inflectional", 8),
        outcome("I06 [verb_inf - Ving]", "inflectional", 9),
        outcome("E01 [country - capital]", "encyclopedic", 17),
    ]
    return AnalogyResult(analogy_accuracies(outcomes), PROTOCOL)


def test_tables_have_groups_with_spread_and_relations_with_alpha_on_80_columns() -> None:
    lines = [" ".join(line.split()) for line in rendered(analogy_tables(result())).splitlines()]
    (group,) = [line for line in lines if line.startswith("inflectional")]
    assert group.startswith("inflectional 80 20.0 25.0 ±")
    assert group.count("±") == 4
    # A relation of a group of one has no α from others.
    assert "E01 [country - capital] 40 20.0 25.0 50.0 75.0 0.85 –" in lines
    assert "I05 [verb_inf - 3pSg] 40 20.0 25.0 50.0 75.0 0.40 0.0 0.45" in lines
    assert max(map(len, lines)) <= 80


def test_the_protocol_is_shown_with_the_tables() -> None:
    text = " ".join(rendered(analogy_tables(result())).split())
    assert "98,000 questions, 12.3 % dropped as unknown; 60,000 words to choose from" in text
    assert (
        "direction both, whitening 0.5. Model some/model, 3CosAdd on words.vec; 812.3 s on cpu, 2"
        in text
    )


def test_a_half_is_named_with_the_questions() -> None:
    text = rendered(protocol_lines(replace(PROTOCOL, half="choose")))
    assert text.startswith("98,000 questions of the half “choose”, 12.3 % dropped")
