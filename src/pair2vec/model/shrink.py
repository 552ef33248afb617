"""Shrink a model: fewer words, fewer bits."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.model.folder import PatternCount, SavedModel, save_model
from pair2vec.model.subwords import fit_subwords, read_subwords
from pair2vec.model.tensors import Precision
from pair2vec.text.phrases import join_tokens
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, WordCount

_SPECIAL = len(SPECIAL_TOKENS)
_WORD_TABLES = ("pair.words", "context.words")


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
    known, in_patterns = (len(saved.rows(name)) - _SPECIAL for name in _WORD_TABLES)
    words = known if words is None else words
    context_words = min(words, in_patterns) if context_words is None else context_words
    if not (1 <= context_words <= words <= known and context_words <= in_patterns):
        raise UsageError(
            f"words is {words:,} and context words {context_words:,}; the model has {known:,} and "
            f"{in_patterns:,}, and context words are some of the words"
        )
    rows = dict(zip(_WORD_TABLES, (words + _SPECIAL, context_words + _SPECIAL), strict=True))
    tensors = {name: _first_rows(saved.array(name), rows.get(name)) for name in saved.names}
    facts: dict[str, Any] = {}
    if read_subwords(saved) is None:
        # Of all words: those that are left out say how others are spelled, too.
        subwords = fit_subwords(saved.vocabulary, saved.array("pair.words"))
        tensors |= subwords.tensors()
        facts = subwords.facts()
    save_model(
        folder,
        tensors,
        _first_words(saved.vocabulary, words),
        {
            **saved.config,
            **facts,
            # They were measured on the larger model.
            "metrics": {},
            "shrunk": _origin(saved, words, context_words),
        },
        patterns=_patterns_of_first_words(saved, context_words),
        precision=precision,
        overwrite=overwrite,
    )


def _first_rows(array: NDArray[np.float32], count: int | None) -> NDArray[np.float32]:
    return array if count is None else array[:count]


def _first_words(vocabulary: Vocabulary, count: int) -> Vocabulary:
    kept = slice(_SPECIAL, _SPECIAL + count)
    return Vocabulary(
        list(map(WordCount, vocabulary.words[kept], vocabulary.counts[kept].tolist()))
    )


def _patterns_of_first_words(saved: SavedModel, count: int) -> list[PatternCount]:
    # The slots X and Y are no words of the vocabulary.
    ids = saved.vocabulary.ids
    return [
        entry
        for entry in saved.patterns()
        if all(
            ids.get(word, 0) < count + _SPECIAL for word in join_tokens(entry.pattern.split(), ids)
        )
    ]


def _origin(saved: SavedModel, words: int, context_words: int) -> dict[str, Any]:
    """What the config says about the larger model."""
    return {
        "from_words": len(saved.vocabulary) - _SPECIAL,
        "from_precision": saved.config["precision"],
        "from_metrics": saved.config.get("metrics", {}),
        "words": words,
        "context_words": context_words,
    }
