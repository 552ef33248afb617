"""A smaller model out of a larger one: fewer words, fewer bits."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel, save_model
from pair2vec.model.precision import Precision
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, WordCount

_SPECIAL = len(SPECIAL_TOKENS)


def shrink_model(
    saved: SavedModel,
    folder: str | os.PathLike[str],
    *,
    words: int | None = None,
    context_words: int | None = None,
    precision: Precision = "int8",
    overwrite: bool = False,
) -> None:
    """Write a smaller model to `folder`.

    Args:
        saved: The model, which stays as it is.
        folder: Where to write.
        words: How many to keep, the most frequent; all otherwise.
        context_words: How many of them a pattern may have; all otherwise. Patterns need few.
        precision: Of the tables.
        overwrite: Replace a model that is there.
    """
    known = len(saved.vocabulary) - _SPECIAL
    words = known if words is None else words
    context_words = words if context_words is None else context_words
    if not 1 <= context_words <= words <= known:
        raise UsageError(
            f"words is {words:,} and context words {context_words:,}; the model has {known:,}, and "
            "words in patterns are some of them"
        )
    rows = {"pair.words": words + _SPECIAL, "context.words": context_words + _SPECIAL}
    vocabulary = saved.vocabulary
    save_model(
        folder,
        {name: _first_rows(saved.array(name), rows.get(name)) for name in saved.names},
        Vocabulary(
            [
                WordCount(word, int(count))
                for word, count in zip(
                    vocabulary.words[_SPECIAL : words + _SPECIAL],
                    vocabulary.counts[_SPECIAL:],
                    strict=False,
                )
            ]
        ),
        {**saved.config, "shrunk": _origin(saved, words, context_words)},
        patterns=[
            entry
            for entry in saved.patterns()
            if all(
                vocabulary.ids.get(word, 0) < rows["context.words"]
                for word in entry.pattern.split()
            )
        ],
        precision=precision,
        overwrite=overwrite,
    )


def _first_rows(array: NDArray[np.float32], count: int | None) -> NDArray[np.float32]:
    return array if count is None else array[:count]


def _origin(saved: SavedModel, words: int, context_words: int) -> dict[str, Any]:
    """What a reader of the config should know of the larger model."""
    return {
        "from_words": len(saved.vocabulary) - _SPECIAL,
        "from_precision": saved.config["precision"],
        "words": words,
        "context_words": context_words,
    }
