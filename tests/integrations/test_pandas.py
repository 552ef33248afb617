"""Relations of the words in two columns of a frame."""

import numpy as np
import pytest
from tests.tiny_model import ALL_ANSWERS, taught_model

from pair2vec.api import Pair2vec, load
from pair2vec.errors import UsageError

pd = pytest.importorskip("pandas", minversion="2.2")
from pair2vec.integrations.pandas import relate_frame  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(taught_model(tmp_path_factory.mktemp("pandas") / "model", ALL_ANSWERS))


def test_rows_get_the_relation_of_their_words(model: Pair2vec) -> None:
    pairs = [("hot", "cold"), ("Paris", "france"), ("hot", "cold"), ("up", "down")]
    frame = pd.DataFrame(pairs, columns=["a", "b"], index=[3, 1, 1, 0])
    found = relate_frame(frame, "a", "b", model=model, every=True)
    batch = model.relate_many(pairs)
    assert found.index.tolist() == [3, 1, 1, 0]
    assert found["relation"].tolist() == batch.names.tolist()
    best = batch.probabilities.max(axis=1)
    np.testing.assert_allclose(found["probability"], best, rtol=1e-5)
    np.testing.assert_allclose(found[list(batch.relations)], batch.probabilities, rtol=1e-5)
    assert frame.columns.tolist() == ["a", "b"]


def test_words_that_are_unknown_or_missing_have_no_relation(model: Pair2vec) -> None:
    columns = {
        "x": ["hot", "nowhere", None, "hot", "hot and cold"],
        "y": ["cold", "hot", "up", 3.5, "up"],
    }
    found = relate_frame(pd.DataFrame(columns), model=model, every=True)
    for name in ("relation", "probability", "antonym", "none"):
        assert found[name].isna().tolist() == [False, True, True, True, True]
    empty = relate_frame(pd.DataFrame({"x": [], "y": []}), model=model)
    assert empty.columns.tolist() == ["x", "y", "relation", "probability"]
    assert not len(empty)


def test_columns_that_do_not_fit_are_named(model: Pair2vec) -> None:
    frame = pd.DataFrame({"x": ["hot"], "y": ["cold"], "probability": [1]})
    with pytest.raises(UsageError, match="a column 'probability' already; rename or drop it"):
        relate_frame(frame, model=model)
    with pytest.raises(UsageError, match="no columns 'z'; there are 'x', 'y', 'probability'"):
        relate_frame(frame, "z", model=model)
