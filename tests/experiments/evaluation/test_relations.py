"""How well relations are told, and how sure: against plain counts."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.real_data import real_data
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.built_in_relations import (
    MEANT,
    on_held_out_words,
    on_labelled_pairs,
)
from pair2vec.experiments.evaluation.relations import (
    LabelledPair,
    RelationSet,
    calibration,
    evaluate_relations,
    f1_scores,
    read_relation_set,
)
from pair2vec.experiments.evaluation.results import (
    read_results,
    result_of_relations,
    write_relation_result,
)
from pair2vec.relations.classifier import WordTable
from pair2vec.relations.definitions import RelationDefinition, read_definitions
from pair2vec.relations.mlp import MlpConfig
from pair2vec.relations.relations import Relations

OTHERS = "the , . and or of".split()
CONTENT = [f"{kind}{number}" for kind in "ab" for number in range(20)]
FAST = [MlpConfig(hidden=16, steps=60, rate=1e-2)]
CLASSES = st.sampled_from("abc")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", OTHERS + CONTENT))


@pytest.fixture(scope="module")
def words() -> WordTable:
    vectors = np.random.default_rng(0).normal(size=(len(CONTENT), 6))
    return WordTable(CONTENT, vectors.astype(np.float32))


@pytest.fixture(scope="module")
def found() -> RelationSet:
    pairs = [
        LabelledPair(x, y, "same" if x[0] == y[0] else "other")
        for x in CONTENT[::2]
        for y in CONTENT[1::2]
    ]
    order = np.random.default_rng(1).permutation(len(pairs)).tolist()
    shuffled = [pairs[place] for place in order]
    test = (*shuffled[300:], LabelledPair("a1", "unheard", "same"))
    return RelationSet("small", tuple(shuffled[:250]), tuple(shuffled[250:300]), test)


def plain_f1(gold: list[str], told: list[str], name: str) -> float:
    """By precision and recall."""
    right = sum(g == t == name for g, t in zip(gold, told, strict=True))
    if not right:
        return 0.0
    precision, recall = right / told.count(name), right / gold.count(name)
    return 2 * precision * recall / (precision + recall)


@given(st.lists(st.tuples(CLASSES, st.sampled_from("abcd")), min_size=1, max_size=30))
def test_weighted_f1_is_the_mean_over_pairs_of_their_class_f1(
    pairs: list[tuple[str, str]],
) -> None:
    gold, told = [g for g, _ in pairs], [t for _, t in pairs]
    scores = f1_scores(gold, told)
    for name, score in scores.classes.items():
        assert score.n == gold.count(name)
        assert score.f1 == pytest.approx(plain_f1(gold, told, name))
    mean = sum(plain_f1(gold, told, name) for name in gold) / len(gold)
    assert scores.weighted_f1 == pytest.approx(mean)
    assert scores.accuracy == pytest.approx(np.mean([g == t for g, t in pairs]))


def test_probabilities_that_are_true_have_no_calibration_error() -> None:
    # Of ten pairs told with 0.8, eight are right; of ten with 0.6, six.
    probabilities = np.array([[0.8, 0.2]] * 10 + [[0.4, 0.6]] * 10)
    labels = [0] * 8 + [1] * 2 + [1] * 6 + [0] * 4
    told = calibration(probabilities, labels)
    assert told.n == 20
    assert told.accuracy == pytest.approx(0.7)
    assert told.confidence == pytest.approx(0.7)
    assert told.expected_error == pytest.approx(0, abs=1e-9)
    too_sure = calibration(np.array([[1.0, 0.0]] * 4), [0, 1, 1, 1])
    assert too_sure.expected_error == pytest.approx(0.75)
    assert np.isfinite(too_sure.log_loss)


def test_errors_in_opposite_directions_do_not_cancel() -> None:
    probabilities = np.array([[0.95, 0.05]] * 2 + [[0.55, 0.45]] * 2)
    told = calibration(probabilities, [0, 1, 0, 0])
    assert told.accuracy == told.confidence == pytest.approx(0.75)
    assert told.expected_error == pytest.approx(0.45)


def test_an_exam_has_every_row_and_answers_every_pair(
    model: Pair2vec, words: WordTable, found: RelationSet
) -> None:
    said: list[str] = []
    result = evaluate_relations(
        model, found, words, vectors="of the test", configs=FAST, report=said.append
    )
    assert [row.name for row in result.rows] == [
        "majority",
        "concatenation",
        "difference",
        "pair2vec",
        "pair2vec and words",
    ]
    for row in result.rows:
        assert sum(score.n for score in row.test.classes.values()) == len(found.test)
        assert sum(score.n for score in row.val.classes.values()) == len(found.val)
    assert result.rows[-1].views == ("words", "both")
    assert len(said) == 4
    assert result.protocol.test == len(found.test)
    assert result.protocol.unknown == result.protocol.zero == pytest.approx(100 / 101, abs=0.01)
    assert result.protocol.read_as_others == 0
    content = result.to_json()
    assert list(content) == ["rows", "protocol"]


def test_majority_gives_the_commonest_label_of_the_training_split(
    model: Pair2vec, words: WordTable
) -> None:
    rows = tuple(LabelledPair("a1", f"b{n}", "x" if n else "y") for n in range(4))
    tested = (LabelledPair("a1", "b1", "y"), LabelledPair("a2", "b1", "x"))
    small = RelationSet("s", rows, rows, tested)
    result = evaluate_relations(model, small, words, vectors="v", configs=FAST)
    assert result.rows[0].test.accuracy == 0.5
    assert result.rows[0].test.classes["y"].recall == 0


def test_how_to_learn_is_decided_by_the_validation_split(
    model: Pair2vec, words: WordTable, found: RelationSet
) -> None:
    good, bad = FAST[0], MlpConfig(hidden=16, steps=1, rate=1e-9)
    turned = {"same": "other", "other": "same"}
    wrong = tuple(LabelledPair(x, y, turned[label]) for x, y, label in found.test)
    for test in (found.test, wrong):
        one = RelationSet(found.name, found.train, found.train[:50], test)
        for configs in ([good, bad], [bad, good]):
            result = evaluate_relations(model, one, words, vectors="v", configs=configs)
            assert result.protocol.steps == good.steps


def test_a_result_is_written_and_read_again(
    model: Pair2vec, words: WordTable, found: RelationSet, tmp_path: Path
) -> None:
    result = evaluate_relations(model, found, words, vectors="/somewhere/words.vec", configs=FAST)
    path = write_relation_result(tmp_path, result_of_relations(model.saved, result))
    assert path.name == "relations-small-model-seed0.json"
    (read,) = read_results(tmp_path, "relations")
    assert set(read["metrics"]) == {row.name for row in result.rows}
    assert "somewhere" not in path.read_text()
    assert "--vectors words.vec" in read["command"]


# The built-in relations.


def test_on_held_out_words_nothing_is_known_of_the_words_asked_about(model: Pair2vec) -> None:
    definition = RelationDefinition(
        name="like", examples=tuple((f"a{n}", f"b{n}") for n in range(15)), patterns=("X and Y",)
    )
    told = on_held_out_words(model, Relations([definition], model.pair_source, model.vocabulary))
    assert set(told.scores.classes) == {"like", "none"}
    assert told.scores.classes["like"].n >= 15
    # The vectors are random: no relation can be told from them, and none should seem to be.
    assert told.scores.classes["like"].f1 < 0.8
    assert told.calibration.n == sum(score.n for score in told.scores.classes.values())


def test_labels_of_known_sets_are_read_as_the_built_in_relations(model: Pair2vec) -> None:
    names = {definition.name for definition in read_definitions()} | {"none"}
    assert set(MEANT.values()) <= names
    definitions = [RelationDefinition(name="hypernym", examples=(("a0", "b0"), ("a1", "b1")))]
    relations = Relations(definitions, model.pair_source, model.vocabulary)
    pairs = [LabelledPair("a2", "b2", "hyper"), LabelledPair("zzz", "b2", "hyper")]
    told = on_labelled_pairs(model, relations, pairs)
    assert told is not None
    assert told.calibration.n == 1
    assert on_labelled_pairs(model, relations, [LabelledPair("a2", "b2", "odd")]) is None


# Sets.


def test_a_set_is_read_with_its_splits(tmp_path: Path) -> None:
    for name, text in {
        "train": "cat\tanimal\thyper\r\n\nbody_part\tarm\tmero\n",
        "val": "cat\tdog\tcoord\n",
        "test": "cat\tred\trandom\n",
    }.items():
        (tmp_path / f"{name}.tsv").write_text(text)
    found = read_relation_set(tmp_path)
    assert found.name == tmp_path.name
    assert found.train == (("cat", "animal", "hyper"), ("body_part", "arm", "mero"))
    assert found.words == {"cat", "animal", "body_part", "arm", "dog", "red"}
    (tmp_path / "val.tsv").write_text("cat dog coord\n")
    with pytest.raises(InputError, match=r"val.tsv, line 1: expected word, tab, word, tab"):
        read_relation_set(tmp_path)
    (tmp_path / "val.tsv").write_text("\n")
    with pytest.raises(InputError, match="has no pairs"):
        read_relation_set(tmp_path)
    (tmp_path / "val.tsv").unlink()
    with pytest.raises(InputError, match=r"no such file; a set of relations has train\.tsv"):
        read_relation_set(tmp_path)
    with pytest.raises(UsageError, match="no such folder"):
        read_relation_set(tmp_path / "nowhere")


@pytest.mark.parametrize(("name", "pairs"), [("BLESS", 26_546), ("EVALution", 7_378)])
def test_the_published_sets_are_read_whole(name: str, pairs: int) -> None:
    found = read_relation_set(real_data("relations") / name)
    assert sum(map(len, (found.train, found.val, found.test))) == pairs
    assert {pair.relation for pair in found.test} <= MEANT.keys()


def test_the_bundled_model_is_as_sure_as_it_is_right() -> None:
    model = load()
    told = on_held_out_words(model, model.relations())
    assert told.scores.accuracy > 0.65
    assert told.calibration.expected_error < 0.08
    assert told.scores.classes["none"].recall > 0.8
