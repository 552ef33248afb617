"""scikit-learn: pair vectors as a transformer, and the classifier of relations as an estimator.

Shapes: N pairs, D dimension of the model. X is always N rows of two words, x and y: a list of
pairs, an array of strings or a data frame. An estimator is pickled with the name of its model, not
with its arrays: where it is unpickled, the same model has to be there.
"""

from typing import Any, Literal, Self

import numpy as np

from pair2vec.arrays import FloatArray
from pair2vec.errors import UsageError
from pair2vec.integrations import ModelLike, missing_extra, open_model
from pair2vec.query.pair_encoder import Direction, directed_vectors
from pair2vec.query.space import Unknown
from pair2vec.relations.classifier import RelationClassifier as PlainClassifier
from pair2vec.relations.classifier import View, WordTable
from pair2vec.relations.mlp import MlpConfig

try:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        TransformerMixin,
    )
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError as error:
    raise missing_extra("sklearn", "scikit-learn 1.6 or newer") from error

_MOST_SEEDS = 2**31 - 1


class PairInput:
    """An estimator whose X is pairs of words."""

    def _pairs(self, X: Any, *, reset: bool) -> list[tuple[str, str]]:  # noqa: ANN401, N803
        """The rows of X; its columns are noted, or compared with those noted."""
        rows = validate_data(self, X, reset=reset, dtype=object, ensure_all_finite=False)
        if rows.shape[1] != 2:
            raise UsageError(f"X has {rows.shape[1]} feature(s); it must have two words a row")
        for number, row in enumerate(rows):
            for word in row:
                if not isinstance(word, str):
                    raise UsageError(f"X, row {number}: {word!r} is no text; give two words a row")
        return [(x, y) for x, y in rows]


class PairVectorizer(
    PairInput,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Pairs of words to vectors of their relation, (N, D) or (N, 2D); there is nothing to fit."""

    def __init__(
        self,
        model: ModelLike = None,
        *,
        direction: Direction = "both",
        normalised: bool = True,
        whitened: bool = False,
        unknown: Literal["error", "zero"] = "error",
    ) -> None:
        """A transformer.

        Args:
            model: What `pair2vec.load` opens, or an opened model.
            direction: "forward" is R(x, y), "backward" R(y, x), "both" their concatenation.
            normalised: Each direction with unit norm.
            whitened: As `nearest` compares pairs, rather than as patterns are scored.
            unknown: "error" raises at the first unknown word; "zero" gives such pairs zeros.
        """
        self.model = model
        self.direction = direction
        self.normalised = normalised
        self.whitened = whitened
        self.unknown = unknown

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ANN401, N803 - scikit-learn's
        """Check X, and learn nothing but the names of its columns."""
        del y
        self._pairs(X, reset=True)
        return self

    def transform(self, X: Any) -> FloatArray:  # noqa: ANN401, N803
        """The vector of each pair."""
        if self.unknown not in {"error", "zero"}:
            raise UsageError(f"unknown is {self.unknown!r}; it must be error or zero: a row a pair")
        pairs = self._pairs(X, reset=False)
        space = open_model(self.model).space
        x, y, known = space.look_up_pairs(pairs, self.unknown)
        vectors = directed_vectors(
            space.whitened_pairs if self.whitened else space.pairs,
            x[known],
            y[known],
            self.direction,
            normalised=self.normalised,
        )
        rows = np.zeros((len(pairs), vectors.shape[1]), np.float32)
        rows[known] = vectors
        return rows

    @property
    def _n_features_out(self) -> int:
        size: int = open_model(self.model).space.pairs.dimension
        return 2 * size if self.direction == "both" else size

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = []  # always float32
        return tags


class RelationClassifier(PairInput, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """`pair2vec.RelationClassifier` for pipelines and searches: its settings are parameters."""

    def __init__(  # noqa: PLR0913 - scikit-learn searches over arguments
        self,
        model: ModelLike = None,
        *,
        words: WordTable | None = None,
        views: tuple[View, ...] | None = None,
        networks: int = 1,
        hidden: int = 300,
        dropout: float = 0.5,
        input_dropout: float = 0.2,
        decay: float = 0.1,
        steps: int = 3_000,
        batch: int = 128,
        rate: float = 2e-3,
        unknown: Unknown = "error",
        random_state: Any = 0,  # noqa: ANN401 - a seed, a RandomState or None
    ) -> None:
        """A classifier to be fitted.

        Args:
            model: What `pair2vec.load` opens, or an opened model.
            words: As in `pair2vec.RelationClassifier`.
            views: As there.
            networks: As there.
            hidden: Units of a network.
            dropout: Of hidden units.
            input_dropout: Of features.
            decay: Of weights.
            steps: Of training.
            batch: Pairs of a step.
            rate: Of learning.
            unknown: As in `pair2vec.RelationClassifier`.
            random_state: Of initialisation, dropout and batches.
        """
        self.model = model
        self.words = words
        self.views = views
        self.networks = networks
        self.hidden = hidden
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.decay = decay
        self.steps = steps
        self.batch = batch
        self.rate = rate
        self.unknown = unknown
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401, N803
        """Train on labelled pairs."""
        if y is None:
            raise UsageError("requires y to be passed, but the target y is None")
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        pairs = self._pairs(X, reset=True)
        config = MlpConfig(
            hidden=self.hidden,
            dropout=self.dropout,
            input_dropout=self.input_dropout,
            decay=self.decay,
            steps=self.steps,
            batch=self.batch,
            rate=self.rate,
        )
        self.classifier_ = PlainClassifier(
            open_model(self.model),
            self.words,
            views=self.views,
            networks=self.networks,
            config=config,
            unknown=self.unknown,
            seed=int(check_random_state(self.random_state).randint(_MOST_SEEDS)),
        ).fit(pairs, labels)
        self.classes_ = self.classifier_.classes_
        return self

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: ANN401, N803
        """The probability of each of `classes_` for each pair: (N, classes)."""
        check_is_fitted(self)
        return self.classifier_.predict_proba(self._pairs(X, reset=False))

    def predict(self, X: Any) -> Any:  # noqa: ANN401, N803
        """The most probable class of each pair."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags
