"""A model of a few words with random weights."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

from pair2vec.model.folder import PatternCount, save_model
from pair2vec.model.subwords import fit_subwords
from pair2vec.model.tensors import Precision
from pair2vec.runtime.checksums import file_checksum, with_checksums
from pair2vec.text.vocabulary import Vocabulary, WordCount

WORDS = "the , . and or is neither nor of in hot cold up down cheap dear france paris".split()
PATTERNS = (PatternCount("X and Y", 9), PatternCount("X or Y", 5), PatternCount("the X of Y", 3))
RELATION_NAMES = ("synonym", "antonym", "hypernym", "hyponym", "none")
HEAD_FACTS: dict[str, Any] = {
    "names": list(RELATION_NAMES),
    "inverse": [0, 1, 3, 2, 4],
    "scale": 0.5,
    "none": -0.3,
    "unrelated": 0.6,
    "thresholds": [0.6, 0.6, 0.6, 0.6, 0.5],
}
"""The config of its relation head."""


def save_tiny_model(  # noqa: PLR0913 - what a test may want otherwise
    folder: Path,
    words: Sequence[str] = WORDS,
    *,
    patterns: Iterable[PatternCount] = PATTERNS,
    dimension: int = 8,
    seed: int = 0,
    precision: Precision = "float32",
    config: Mapping[str, Any] | None = None,
    hidden: int = 0,
    composes: bool = False,
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
        hidden: Units of a relation head for `RELATION_NAMES`; 0 for no head.
        composes: Whether it has n-grams, to compose unknown words.
    """
    vocabulary = Vocabulary(
        [WordCount(word, 100 * (len(words) - rank)) for rank, word in enumerate(words)]
    )
    recipe = {"name": "t", "pair": {"composition": "mlp", "layers": 2, "dimension": dimension}}
    whole_config = {"recipe": recipe, "corpus": {"sentences": 500}, **(config or {})}
    random = np.random.default_rng(seed)
    tensors = _tensors(len(vocabulary), dimension, random)
    if hidden:
        tensors |= _head_tensors(dimension, hidden, random)
        whole_config["relations"] = HEAD_FACTS
    if composes:
        subwords = fit_subwords(vocabulary, tensors["pair.words"])
        tensors |= subwords.tensors()
        whole_config |= subwords.facts()
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


ALL_ANSWERS = 10
"""A seed of `taught_model` with which some pair has each relation, none, or an unclear one."""


def taught_model(folder: Path, seed: int = 0, *, composes: bool = False) -> Path:
    """A tiny model with a relation head."""
    return save_tiny_model(folder, hidden=6, seed=seed, composes=composes)


def _head_tensors(
    dimension: int, hidden: int, random: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    shapes = {
        "relation.hidden.weight": (hidden, 2 * dimension),
        "relation.hidden.bias": (hidden,),
        "relation.output.weight": (len(RELATION_NAMES), hidden),
        "relation.output.bias": (len(RELATION_NAMES),),
        "relation.negation": (len(RELATION_NAMES),),
        "relation.similarity": (len(RELATION_NAMES),),
    }
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def reseal(folder: Path, change: Callable[[dict[str, Any]], object] = lambda config: None) -> Path:
    """Change the config in place, and write checksums of all files as they are now.

    What a stranger may put on the hub: it fits its checksums, and nothing else need be true.
    """
    path = folder / "config.json"
    config = json.loads(path.read_bytes())
    change(config)
    names = [name for name in config["checksums"] if name != path.name and (folder / name).exists()]
    checksums = {name: file_checksum(folder / name) for name in names}
    path.write_text(json.dumps(with_checksums(path.name, config, checksums)))
    return folder


def as_older_version(folder: Path) -> Path:
    """The model as a version without checksums wrote it."""
    path = folder / "config.json"
    config = json.loads(path.read_bytes())
    del config["checksums"]
    path.write_text(json.dumps(config))
    tensors = folder / "model.safetensors"
    tensors.write_bytes(save(load_file(tensors), metadata={"library": "pair2vec"}))
    return folder
