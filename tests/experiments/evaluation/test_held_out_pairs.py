"""WordNet's pairs of held-out words: the file, and the scores of its pairs."""

import lzma
from pathlib import Path

import numpy as np
import pytest
from tests.rendering import rendered
from tests.tiny_model import ALL_ANSWERS, RELATION_NAMES, WORDS, taught_model

from pair2vec.api import Pair2vec, load
from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.held_out_pairs import (
    ALL,
    ALWAYS_NONE,
    LABELLED,
    NOT_LABELLED,
    HeldOutPair,
    held_out_part,
    read_held_out_pairs,
    score_held_out_pairs,
)
from pair2vec.experiments.report.grid import grid_table
from pair2vec.relations.definitions import RelationDefinition
from pair2vec.relations.head import HeadScorer, RelationHead, read_head_config
from pair2vec.relations.relations import Relations
from pair2vec.relations.scores import relation_scores

TITLES = "part\tx\ty\trelation\tlabelled\n"
LINES = "dev\tup\tdown\tantonym\t1\ntest\thot\tcold\tantonym\t1\ntest\tfrance\tparis\tnone\t0\n"


@pytest.fixture
def model(tmp_path: Path) -> Pair2vec:
    return load(taught_model(tmp_path / "model", ALL_ANSWERS))


def write(tmp_path: Path, text: str) -> Path:
    (tmp_path / "pairs.tsv").write_text(text)
    return tmp_path / "pairs.tsv"


def test_only_the_test_part_is_read(tmp_path: Path) -> None:
    assert read_held_out_pairs(write(tmp_path, TITLES + LINES)) == [
        HeldOutPair("hot", "cold", "antonym", labelled=True),
        HeldOutPair("france", "paris", "none", labelled=False),
    ]


def test_a_compressed_file_is_read_as_a_plain_one(tmp_path: Path) -> None:
    plain = write(tmp_path, TITLES + LINES)
    packed = tmp_path / "pairs.tsv.xz"
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    assert read_held_out_pairs(packed) == read_held_out_pairs(plain)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"pairs\.tsv\.xz: is damaged"):
        read_held_out_pairs(packed)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        (TITLES + LINES + "test\thot\tcold\tantonym\n", "line 5: expected part, x, y, relation"),
        (TITLES + "test\thot\t\tantonym\t1\n" + LINES, "line 2: expected part"),
        (TITLES + "tset\thot\tcold\tantonym\t1\n", "line 2: expected part"),
        (TITLES + "test\thot\tcold\tantonym\tyes\n", "line 2: expected part"),
        (TITLES + LINES + "\n", "line 5: expected part"),
        (TITLES + "dev\thot\tcold\topposite\t1\n", "line 2: relation 'opposite' must be one of"),
        (LINES, "line 1: expected the titles part, x, y"),
        ("", "line 1: expected the titles"),
        (TITLES + "dev\thot\tcold\tantonym\t1\n", "has no pair of the part 'test'"),
    ],
)
def test_a_damaged_file_is_an_error_with_its_line(tmp_path: Path, text: str, fragment: str) -> None:
    with pytest.raises(InputError, match=fragment) as raised:
        read_held_out_pairs(write(tmp_path, text))
    assert "pairs.tsv" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_file_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; give one of held-out pairs as --pairs"):
        read_held_out_pairs(tmp_path / "none.tsv")


def pairs_of(model: Pair2vec) -> list[HeldOutPair]:
    """All pairs of the model's words, with the names of its relations by turns."""
    words = [(x, y) for x in WORDS for y in WORDS if x < y]
    return [
        HeldOutPair(x, y, RELATION_NAMES[n % len(RELATION_NAMES)], labelled=n % 3 == 0)
        for n, (x, y) in enumerate(words)
    ]


def test_scores_are_those_of_the_model_and_a_relation_it_lacks_has_no_probability(
    model: Pair2vec,
) -> None:
    pairs = pairs_of(model)
    scores = score_held_out_pairs(model, {"head": model.relations()}, pairs)
    chosen = {
        ALL: pairs,
        LABELLED: [pair for pair in pairs if pair.labelled],
        NOT_LABELLED: [pair for pair in pairs if not pair.labelled],
    }
    for which, own in chosen.items():
        probabilities = model.relations().predict_proba([(pair.x, pair.y) for pair in own])
        gold = np.array([RELATION_NAMES.index(pair.relation) for pair in own], np.int64)
        expected = relation_scores(
            probabilities, gold, RELATION_NAMES, read_head_config(model.saved).inverse
        )
        found = scores.rows["head"][which]
        # Batches of another size round differently.
        assert found.calibration_error == pytest.approx(expected.calibration_error, rel=1e-5)
        assert found._replace(calibration_error=expected.calibration_error) == expected
    assert scores.rows["head"][LABELLED].pairs + scores.rows["head"][NOT_LABELLED].pairs == 153
    assert scores.dropped == 0


def test_saying_always_none_is_right_where_there_is_no_relation(model: Pair2vec) -> None:
    pairs = pairs_of(model)
    scores = score_held_out_pairs(model, {}, pairs)
    none = sum(pair.relation == "none" for pair in pairs) / len(pairs)
    row = scores.rows[ALWAYS_NONE][ALL]
    assert row.f1["none"] == pytest.approx(100 * 2 * none / (1 + none))
    assert row.macro_f1 == pytest.approx(row.f1["none"] / 8)
    assert row.calibration_error == pytest.approx(100 * (1 - none))
    assert scores.unrelated == pytest.approx(100 * none)


def test_pairs_with_an_unknown_word_are_dropped_and_counted(model: Pair2vec) -> None:
    pairs = [*pairs_of(model), HeldOutPair("hot", "zebra", "antonym", labelled=True)]
    scores = score_held_out_pairs(model, {"head": model.relations()}, pairs)
    assert scores.dropped == 1
    without = score_held_out_pairs(model, {"head": model.relations()}, pairs_of(model))
    assert scores.rows == without.rows
    with pytest.raises(UsageError, match="knows both words of none of 1 held-out pairs"):
        score_held_out_pairs(model, {}, pairs[-1:])


def test_built_in_examples_among_the_pairs_are_counted_whichever_way(model: Pair2vec) -> None:
    pairs = [
        HeldOutPair("paris", "france", "located-in", labelled=False),
        HeldOutPair("france", "paris", "location-of", labelled=False),
        HeldOutPair("france", "paris", "located-in", labelled=False),
        HeldOutPair("hot", "cold", "antonym", labelled=False),
    ]
    scores = score_held_out_pairs(model, {"head": model.relations()}, pairs)
    assert scores.examples == 2
    assert LABELLED not in scores.rows["head"]


def test_a_relation_that_is_none_of_wordnets_is_an_error(model: Pair2vec) -> None:
    own = [RelationDefinition(name="rhyme"), *model.relations().definitions[1:]]
    scorer = HeadScorer(RelationHead(model.saved), model.space)
    with pytest.raises(UsageError, match="relation 'rhyme' of the model is none of those"):
        score_held_out_pairs(model, {"own": Relations(own, model.space, scorer)}, pairs_of(model))


def test_tables_have_what_predicts_side_by_side(model: Pair2vec) -> None:
    scores = score_held_out_pairs(model, {"head": model.relations()}, pairs_of(model))
    part = held_out_part(scores)
    text = rendered(grid_table(part.grids[0]), 100)
    assert "WordNet, unseen words: all, 153 pairs" in text
    rows = {" ".join(line.split()[:-2]): line.split()[-2:] for line in text.splitlines()[4:]}
    head, none = scores.rows["head"][ALL], scores.rows[ALWAYS_NONE][ALL]
    assert rows["macro-F1"] == [f"{head.macro_f1:.1f}", f"{none.macro_f1:.1f}"]
    assert rows["F1, antonym"] == [f"{head.f1['antonym']:.1f}", "0.0"]
    assert rows["calibration error"][0] == f"{head.calibration_error:.1f}"
    notes = " ".join(part.notes)
    assert f"{scores.unrelated:.0f} % of the pairs are in no relation" in notes
    assert "Left out because a word is unknown: 0 pairs" in notes
