"""A model of a few words with random weights."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pair2vec.model.folder import PatternCount, save_model
from pair2vec.model.tensors import Precision
from pair2vec.text.vocabulary import Vocabulary, WordCount

WORDS = "the , . and or is neither nor of in hot cold up down cheap dear france paris".split()
PATTERNS = (PatternCount("X and Y", 9), PatternCount("X or Y", 5), PatternCount("the X of Y", 3))


def save_tiny_model(
    folder: Path,
    words: Sequence[str] = WORDS,
    *,
    patterns: Iterable[PatternCount] = PATTERNS,
    dimension: int = 8,
    seed: int = 0,
    precision: Precision = "float32",
    config: Mapping[str, Any] | None = None,
) -> Path:
    """Write it to `folder`; the first of `words` is the most frequent.

    Args:
        folder: Where to.
        words: Of its vocabulary.
        patterns: To explain pairs by.
        dimension: Of its vectors.
        seed: Of its weights.
        precision: Of its file.
        config: Added to the config, or replacing parts of it.
    """
    vocabulary = Vocabulary(
        [WordCount(word, 100 * (len(words) - rank)) for rank, word in enumerate(words)]
    )
    recipe = {"name": "t", "pair": {"composition": "mlp", "layers": 2, "dimension": dimension}}
    whole_config = {"recipe": recipe, "corpus": {"sentences": 500}, **(config or {})}
    tensors = _tensors(len(vocabulary), dimension, np.random.default_rng(seed))
    save_model(folder, tensors, vocabulary, whole_config, patterns=patterns, precision=precision)
    return folder


def _tensors(
    words: int, dimension: int, random: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    """The names and shapes of an MLP of two layers and a BiLSTM."""
    hidden = dimension // 2
    shapes = {
        "pair.words": (words, dimension),
        "pair.first.weight": (dimension, 3 * dimension),
        "pair.first.bias": (dimension,),
        "pair.others.0.weight": (dimension, dimension),
        "pair.others.0.bias": (dimension,),
        "context.words": (words, dimension),
        "context.input_weight": (8 * hidden, dimension),
        "context.state_weight": (2, hidden, 4 * hidden),
        "context.bias": (8 * hidden,),
        "context.attention.weight": (1, 2 * hidden),
        "context.value.weight": (dimension, 2 * hidden),
    }
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
