"""Relation classifiers: sets are read, every row is there, and no pair is dropped."""

from pathlib import Path

import numpy as np
import pytest
from tests.real_data import real_data
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.relations import (
    LabelledPair,
    RelationSet,
    evaluate_relations,
    read_relation_set,
)
from pair2vec.experiments.evaluation.results import read_results, write_result
from pair2vec.relations.classifier import WordTable
from pair2vec.relations.mlp import MlpConfig

OTHERS = "the , . and or of".split()
CONTENT = [f"{kind}{number}" for kind in "ab" for number in range(20)]
FAST = [MlpConfig(hidden=16, steps=60, rate=1e-2)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", OTHERS + CONTENT))


@pytest.fixture(scope="module")
def words() -> WordTable:
    vectors = np.random.default_rng(0).normal(size=(len(CONTENT), 6))
    return WordTable(CONTENT, vectors.astype(np.float32))


@pytest.fixture(scope="module")
def relation_set() -> RelationSet:
    pairs = [
        LabelledPair(x, y, "same" if x[0] == y[0] else "other")
        for x in CONTENT[::2]
        for y in CONTENT[1::2]
    ]
    order = np.random.default_rng(1).permutation(len(pairs)).tolist()
    shuffled = [pairs[index] for index in order]
    test = (*shuffled[300:], LabelledPair("a1", "unheard", "same"))
    return RelationSet("small", tuple(shuffled[:250]), tuple(shuffled[250:300]), test)


def test_a_result_has_every_row_and_drops_no_pair(
    model: Pair2vec, words: WordTable, relation_set: RelationSet
) -> None:
    reported: list[str] = []
    result = evaluate_relations(
        model, relation_set, words, vectors="of the test", configs=FAST, report=reported.append
    )
    assert [row.name for row in result.rows] == [
        "majority",
        "concatenation",
        "difference",
        "pair2vec",
        "pair2vec and words",
    ]
    for row in result.rows:
        assert sum(score.n for score in row.test.classes.values()) == len(relation_set.test)
        assert sum(score.n for score in row.val.classes.values()) == len(relation_set.val)
    assert result.rows[-1].views == ("words", "both")
    assert len(reported) == 4
    assert result.protocol.test == len(relation_set.test)
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


def test_the_config_is_chosen_on_the_validation_split(
    model: Pair2vec, words: WordTable, relation_set: RelationSet
) -> None:
    good, bad = FAST[0], MlpConfig(hidden=16, steps=1, rate=1e-9)
    turned = {"same": "other", "other": "same"}
    wrong = tuple(LabelledPair(x, y, turned[label]) for x, y, label in relation_set.test)
    for test in (relation_set.test, wrong):
        one = RelationSet(relation_set.name, relation_set.train, relation_set.train[:50], test)
        for configs in ([good, bad], [bad, good]):
            result = evaluate_relations(model, one, words, vectors="v", configs=configs)
            assert result.protocol.steps == good.steps


def test_a_result_is_written_and_read_back(
    model: Pair2vec, words: WordTable, relation_set: RelationSet, tmp_path: Path
) -> None:
    result = evaluate_relations(
        model, relation_set, words, vectors="/somewhere/words.vec", configs=FAST
    )
    path = write_result(tmp_path, result.to_run_result(model.saved))
    assert path.name == "relations-small-model-seed0.json"
    (read,) = read_results(tmp_path, "relations")
    assert set(read["metrics"]) == {row.name for row in result.rows}
    assert "somewhere" not in path.read_text()
    assert "--vectors words.vec" in read["command"]


def test_a_set_is_read_with_its_splits(tmp_path: Path) -> None:
    for name, text in {
        "train": "cat\tanimal\thyper\r\n\nbody_part\tarm\tmero\n",
        "val": "cat\tdog\thyper\n",
        "test": "cat\tred\tmero\n",
    }.items():
        (tmp_path / f"{name}.tsv").write_text(text)
    relation_set = read_relation_set(tmp_path)
    assert relation_set.name == tmp_path.name
    assert relation_set.train == (("cat", "animal", "hyper"), ("body_part", "arm", "mero"))
    assert relation_set.words == {"cat", "animal", "body_part", "arm", "dog", "red"}
    (tmp_path / "val.tsv").write_text("cat\tdog\tcoord\n")
    with pytest.raises(InputError, match=r"val.tsv: relation 'coord' is not in train.tsv"):
        read_relation_set(tmp_path)
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
    relation_set = read_relation_set(real_data("relations") / name)
    assert sum(map(len, (relation_set.train, relation_set.val, relation_set.test))) == pairs
