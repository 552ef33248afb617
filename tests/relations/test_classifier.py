"""The classifier of relations: training, features, and scikit-learn's conventions."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.errors import UsageError
from pair2vec.relations.classifier import PairViews, RelationClassifier, View, WordTable
from pair2vec.relations.mlp import Mlp, MlpConfig
from pair2vec.text.vocabulary import UnknownWordError

OTHERS = "the , . and or of".split()
CONTENT = [f"{kind}{number}" for kind in "abc" for number in range(15)]
FAST = MlpConfig(hidden=32, steps=500, dropout=0.0, input_dropout=0.0, rate=1e-2)
PAIRS = [(x, y) for x in CONTENT[::2] for y in CONTENT[1::2]]
LABELS = ["same" if x[0] == y[0] else f"{x[0]}{y[0]}" for x, y in PAIRS]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", OTHERS + CONTENT))


@pytest.fixture(scope="module")
def words() -> WordTable:
    """Vectors that separate the kinds of words."""
    random = np.random.default_rng(0)
    kinds = dict(zip("abcz", random.normal(size=(4, 6)), strict=True))
    spelled = [*CONTENT, "z1"]
    vectors = [kinds[word[0]] + 0.2 * random.normal(size=6) for word in spelled]
    return WordTable(spelled, np.array(vectors, np.float32))


def numeric_gradient(
    network: Mlp, number: int, rows: NDArray[np.float32], labels: NDArray[np.intp]
) -> float:
    """Of the loss, by one number of a parameter."""
    parameter = network._parameters[number]
    index = tuple(np.array(parameter.shape) // 2)
    kept, losses = parameter[index].copy(), []
    for change in (1e-2, -1e-2):
        parameter[index] = kept + change
        found = network.probabilities(rows)
        losses.append(-np.log(found[np.arange(len(labels)), labels]).mean())
    parameter[index] = kept
    return float((losses[0] - losses[1]) / 2e-2)


def test_gradients_are_those_of_the_loss() -> None:
    random = np.random.default_rng(1)
    rows, labels = random.normal(size=(40, 5)).astype(np.float32), random.integers(0, 3, 40)
    config = MlpConfig(hidden=7, steps=5, dropout=0.0, input_dropout=0.0)
    network = Mlp(rows, labels, 3, config, random)
    standardised = (rows - network.network.mean) * network.network.scale
    gradients = network._gradients(standardised, labels, config, random)
    for number, gradient in enumerate(gradients):
        index = tuple(np.array(gradient.shape) // 2)
        expected = numeric_gradient(network, number, rows, labels)
        assert gradient[index] == pytest.approx(expected, abs=2e-3)


def test_a_network_learns_what_no_linear_one_can() -> None:
    random = np.random.default_rng(2)
    rows = random.uniform(-1, 1, (400, 2)).astype(np.float32)
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(np.intp)
    config = MlpConfig(hidden=32, steps=1500, dropout=0.0, input_dropout=0.0, rate=1e-2)
    network = Mlp(rows, labels, 2, config, random)
    found = network.probabilities(rows)
    assert (found.argmax(axis=1) == labels).mean() > 0.95
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    "changes", [{"dropout": 1.0}, {"input_dropout": -0.1}, {"hidden": 0}, {"steps": 0}]
)
def test_a_config_out_of_range_is_refused(changes: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(changes))):
        MlpConfig(**changes)  # type: ignore[arg-type]


def test_views_are_what_they_are_called(model: Pair2vec, words: WordTable) -> None:
    views = PairViews(model.space, words)
    pairs = [("a0", "b1"), ("C2", "a3")]
    x, y = words.rows(["a0", "c2"]), words.rows(["b1", "a3"])
    np.testing.assert_array_equal(views("words", pairs), np.concatenate([x, y], axis=1))
    np.testing.assert_array_equal(views("difference", pairs), y - x)
    seen = views("pairs", pairs)
    np.testing.assert_array_equal(views("both", pairs), np.concatenate([x, y, seen], axis=1))
    size = model.space.pairs.dimension
    first = np.array([model.vocabulary.ids[w] for w in ("a0", "c2")])
    second = np.array([model.vocabulary.ids[w] for w in ("b1", "a3")])
    forward = model.space.whiten(model.space.pairs(first, second))
    np.testing.assert_allclose(seen[:, :size], forward, atol=1e-5)
    turned = views("pairs", [(y, x) for x, y in pairs])
    np.testing.assert_allclose(turned[:, :size], seen[:, size : 2 * size], atol=1e-6)
    with pytest.raises(UsageError, match="needs word vectors"):
        PairViews(model.space)("words", pairs)
    with pytest.raises(UsageError, match="it must be one of pairs, words, difference, both"):
        views("all", pairs)  # type: ignore[arg-type]


def test_an_unknown_word_is_mapped_read_as_a_known_form_or_zero(
    model: Pair2vec, words: WordTable
) -> None:
    views = PairViews(model.space, words)
    pairs = [("a0", "b1"), ("z1", "b1"), ("x_b1", "a0"), ("qqq", "b1")]
    assert views.known(pairs).tolist() == [True, False, False, False]
    assert views.has_vectors(pairs).tolist() == [True, True, False, False]
    seen = views("pairs", [("a0", "x_and"), ("a0", "and")])
    np.testing.assert_array_equal(seen[0], seen[1])
    assert not views("pairs", pairs)[3].any()
    assert views("pairs", pairs)[1].any()
    alone = PairViews(model.space)
    assert alone.has_vectors(pairs).tolist() == [True, False, False, False]


def test_a_word_is_mapped_as_the_words_that_both_know_are(model: Pair2vec) -> None:
    random = np.random.default_rng(3)
    ids = [model.vocabulary.ids[word] for word in CONTENT]
    turn = np.linalg.qr(random.normal(size=(8, 8)))[0].astype(np.float32)
    table = WordTable([*CONTENT[1:], "new"], model.unit_words[[*ids[1:], ids[0]]] @ turn)
    views = PairViews(model.space, table)
    # In the table, "new" is where a0 would be: both give the same pair vectors.
    new, known = views("pairs", [("new", "b1"), ("a0", "b1")])
    np.testing.assert_allclose(new, known, atol=0.02)


@pytest.mark.parametrize("views", [None, ["words"], ["pairs"], ["words", "both"]])
def test_it_fits_labelled_pairs_and_predicts_their_classes(
    model: Pair2vec, words: WordTable, views: list[View] | None
) -> None:
    classifier = RelationClassifier(model, words, views=views, config=FAST)
    assert classifier.fit(PAIRS, LABELS) is classifier
    assert classifier.classes_.tolist() == sorted(set(LABELS))
    found = classifier.predict_proba(PAIRS)
    assert found.shape == (len(PAIRS), len(classifier.classes_))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    predicted = classifier.predict(PAIRS)
    assert predicted.tolist() == classifier.classes_[found.argmax(axis=1)].tolist()
    accuracy = classifier.score(PAIRS, LABELS)
    assert accuracy == pytest.approx(np.mean(predicted == np.array(LABELS)))
    # The pair vectors are random: their labels can only be memorised.
    assert accuracy > (0.95 if views != ["pairs"] else 0.7)


def test_the_same_seed_trains_the_same(model: Pair2vec, words: WordTable) -> None:
    first, second, other = (
        RelationClassifier(model, words, views=["words"], config=FAST, seed=seed)
        .fit(PAIRS, LABELS)
        .predict_proba(PAIRS[:5])
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 1e-4


def test_parameters_are_got_and_set_as_in_scikit_learn(model: Pair2vec, words: WordTable) -> None:
    classifier = RelationClassifier(model, words, networks=2, seed=3)
    parameters = classifier.get_params()
    assert parameters["model"] is model
    copy = RelationClassifier(**parameters)
    assert copy.get_params() == parameters
    assert copy.set_params(networks=1).get_params()["networks"] == 1
    with pytest.raises(UsageError, match="'depth' is not one of model, words"):
        copy.set_params(depth=3)


def test_unknown_words_are_an_error_left_out_or_predicted(
    model: Pair2vec, words: WordTable
) -> None:
    pairs, labels = [*PAIRS, ("qqq", "a0")], [*LABELS, "rare"]
    strict = RelationClassifier(model, words, views=["words"], config=FAST)
    with pytest.raises(UnknownWordError, match="'qqq'"):
        strict.fit(pairs, labels)
    skipping = RelationClassifier(model, words, views=["words"], config=FAST, unknown="skip")
    assert "rare" not in skipping.fit(pairs, labels).classes_
    with pytest.raises(UsageError, match="knows both words of none of the pairs"):
        skipping.fit([("qqq", "a0")], ["rare"])
    with pytest.raises(UsageError, match='unknown is "skip"'):
        skipping.predict(PAIRS)
    lenient = RelationClassifier(model, words, views=["words"], config=FAST, unknown="zero")
    assert "rare" in lenient.fit(pairs, labels).classes_
    assert lenient.predict_proba([("qqq", "rrr")]).shape == (1, len(lenient.classes_))
    with pytest.raises(UsageError, match="it must be one of error, skip, zero"):
        RelationClassifier(model, unknown="drop").fit(PAIRS, LABELS)  # type: ignore[arg-type]


def test_wrong_calls_say_what_is_wrong(model: Pair2vec) -> None:
    classifier = RelationClassifier(model)
    with pytest.raises(UsageError, match="call fit first"):
        classifier.predict(PAIRS)
    with pytest.raises(UsageError, match="2 pairs but 1 labels"):
        classifier.fit(PAIRS[:2], LABELS[:1])
    with pytest.raises(UsageError, match="0 pairs but 0 labels"):
        classifier.fit([], [])
    with pytest.raises(UsageError, match="3 words but vectors of shape"):
        WordTable(["a", "b", "c"], np.zeros((2, 3), np.float32))


def test_training_a_classifier_imports_neither_torch_nor_scikit_learn(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = "import pair2vec.api, sys; print({'torch', 'sklearn', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
