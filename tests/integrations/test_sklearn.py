"""Pair vectors and the classifier as estimators of scikit-learn."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.tiny_model import WORDS, save_tiny_model

from pair2vec.api import load
from pair2vec.errors import UsageError
from pair2vec.text.vocabulary import UnknownWordError

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data

from pair2vec.integrations.sklearn import PairVectorizer, RelationClassifier

PAIRS = [("hot", "cold"), ("up", "down"), ("cheap", "dear"), ("paris", "france")] * 6
LABELS = ["antonym", "antonym", "antonym", "located-in"] * 6


class OnNumbers:
    """Reads the numbers that scikit-learn checks estimators with as words.

    Everything but the reading of X is the estimator's own.
    """

    def _pairs(self, X: Any, *, reset: bool) -> list[tuple[str, str]]:  # noqa: N803
        rows = validate_data(self, X, reset=reset, dtype=np.float64)
        numbers = np.clip(np.round(3 * rows) + len(WORDS) // 2, 0, len(WORDS) - 1).astype(int)
        words = [[WORDS[number] for number in row] for row in numbers]
        return [(row[0], row[-1]) for row in words]


class VectorizerOnNumbers(OnNumbers, PairVectorizer):
    pass


class ClassifierOnNumbers(OnNumbers, RelationClassifier):
    pass


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny_model(tmp_path_factory.mktemp("sklearn") / "model"))


FAST: dict[str, Any] = {
    "steps": 300, "hidden": 64, "dropout": 0, "input_dropout": 0, "batch": 64, "rate": 1e-2,
}  # fmt: skip
EXPECTED_TO_FAIL = {
    # Both want seven equal digits, or the same class where two are equally probable. Products are
    # of float32, whose last digit depends on how many rows there are.
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of labels that are infinite
@pytest.mark.parametrize(
    "make", [VectorizerOnNumbers, lambda model: ClassifierOnNumbers(model, **FAST)]
)
def test_the_checks_of_scikit_learn_hold(make: Callable[[str], Any], model: str) -> None:
    results = check_estimator(make(model), on_fail=None, on_skip=None)
    failed = {found["check_name"]: found["exception"] for found in results}
    failed = {name: error for name, error in failed.items() if error is not None}
    skipped = {found["check_name"] for found in results if found["status"] == "skipped"}
    assert len(results) > 40
    assert not {name: failed[name] for name in failed.keys() - skipped - EXPECTED_TO_FAIL}


def test_pairs_become_the_vectors_of_the_model(model: str) -> None:
    opened = load(model)
    rows = [["hot", "Cold"], ["up", "nowhere"]]
    for options in ({}, {"direction": "forward"}, {"normalised": False}):
        found = PairVectorizer(model, unknown="zero", **options).fit_transform(np.array(rows))
        expected = opened.pairs(rows, unknown="zero", **options)  # type: ignore[arg-type]
        np.testing.assert_array_equal(found, expected.vectors)
        assert not found[1].any()
    whitened = PairVectorizer(opened, whitened=True, direction="forward").transform(rows[:1])
    ids = [np.array([opened.vocabulary.ids[word]]) for word in ("hot", "cold")]
    np.testing.assert_allclose(whitened, opened.space.whiten(opened.space.pairs(*ids)), atol=1e-5)


def test_columns_are_named_and_frames_are_taken_and_given(model: str) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"from": ["hot", "up"], "to": ["cold", "down"]}, index=[7, 9])
    vectorizer = PairVectorizer(model, direction="forward").set_output(transform="pandas")
    found = vectorizer.fit(frame).transform(frame)
    assert found.index.tolist() == [7, 9]
    assert found.columns.tolist() == [f"pairvectorizer{n}" for n in range(8)]
    assert vectorizer.feature_names_in_.tolist() == ["from", "to"]
    np.testing.assert_array_equal(
        found, load(model).pairs(frame.to_numpy(), direction="forward")[0]
    )


def test_what_is_no_pair_of_words_is_refused(model: str) -> None:
    vectorizer = PairVectorizer(model)
    with pytest.raises(UsageError, match=r"X has 3 feature\(s\); it must have two words a row"):
        PairVectorizer(model).fit([["a", "b", "c"]])
    with pytest.raises(UsageError, match="X, row 1: 3 is no text"):
        vectorizer.transform([["hot", "cold"], ["hot", 3]])
    with pytest.raises(UnknownWordError, match="'nowhere' is not in the vocabulary"):
        vectorizer.transform([["hot", "nowhere"]])
    with pytest.raises(UsageError, match="unknown is 'skip'; it must be error or zero"):
        PairVectorizer(model, unknown="skip").transform(PAIRS)  # type: ignore[arg-type]


def test_an_estimator_is_pickled_by_the_name_of_its_model(model: str) -> None:
    opened = load(model, whitening=0.25)
    for estimator in (PairVectorizer(model), PairVectorizer(opened, whitened=True)):
        content = pickle.dumps(estimator)
        assert len(content) < 1_000
        again = pickle.loads(content)
        np.testing.assert_array_equal(again.transform(PAIRS), estimator.transform(PAIRS))
    assert again.model.space.whitening == 0.25
    assert clone(estimator).model is opened


def test_a_classifier_learns_in_a_pipeline_and_in_a_search(model: str) -> None:
    rows, labels = np.array(PAIRS), np.array(LABELS)
    pipeline = make_pipeline(PairVectorizer(model), LogisticRegression(C=100))
    assert pipeline.fit(rows, labels).score(rows, labels) == 1
    search = GridSearchCV(RelationClassifier(model, **FAST), {"hidden": [8, 16]}, cv=2)
    search.fit(rows, labels)
    assert search.best_score_ == 1
    found = pickle.loads(pickle.dumps(search.best_estimator_))
    assert found.classes_.tolist() == ["antonym", "located-in"]
    np.testing.assert_array_equal(found.predict_proba(rows), search.predict_proba(rows))
    same, other = (RelationClassifier(model, **FAST, random_state=n) for n in (0, 1))
    first = same.fit(rows, labels).predict_proba(rows)
    np.testing.assert_array_equal(clone(same).fit(rows, labels).predict_proba(rows), first)
    assert np.abs(other.fit(rows, labels).predict_proba(rows) - first).max() > 1e-6
