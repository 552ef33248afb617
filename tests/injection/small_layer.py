"""A layer over a few words and random numbers, and two short batches of sentences for it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.tiny_model import WORDS
from torch import Tensor

from pair2vec.encoders.pair import MlpPair
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.model.folder import load_model, save_model
from pair2vec.text.vocabulary import Vocabulary

SIZE = 6
A = [["hot", "cold", "unheard", "Up", "hot"], ["France", "is", "cheap"], ["unheard"]]
B = [["cold", "hot", "hot"], ["paris", "unheard", "dear", ","], ["is", "hot"]]
"""With capitals, unknown words, a word beside itself, and sentences of several lengths."""

every_composition = pytest.mark.parametrize(
    ("composition", "layers"),
    [("mlp", 1), ("mlp", 2), ("mlp", 4), ("multiply", 4), ("difference", 4)],
)


def make_model(folder: Path, composition: str = "mlp", layers: int = 3) -> Path:
    random = np.random.default_rng(layers)
    vocabulary = Vocabulary([(word, 9) for word in WORDS])
    shapes: dict[str, tuple[int, ...]] = {"pair.words": (len(vocabulary), SIZE)}
    if composition == "mlp":
        shapes |= {"pair.first.weight": (SIZE, 3 * SIZE), "pair.first.bias": (SIZE,)}
        for layer in range(layers - 1):
            shapes[f"pair.others.{layer}.weight"] = (SIZE, SIZE)
            shapes[f"pair.others.{layer}.bias"] = (SIZE,)
    tensors = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    # A word that was never trained may be all zeros.
    tensors["pair.words"][vocabulary.ids["dear"]] = 0
    # What a length of words was in training is of no concern: it is folded into the weights.
    pair = {"composition": composition, "layers": layers, "dimension": SIZE, "length": 17.0}
    save_model(folder, tensors, vocabulary, {"recipe": {"name": "t", "pair": pair}})
    return folder


def make_layer(
    folder: Path, *, composition: str = "mlp", layers: int = 3, **kw: Any
) -> PairAttention:
    saved = load_model(make_model(folder, composition, layers))
    return PairAttention(saved, **kw).eval()


def random_attention(a: Tensor, b: Tensor, seed: int = 0) -> Tensor:
    """Softmax over all of b, padding and unknown words too."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn((*a.shape, b.shape[1]), generator=generator).softmax(-1)


def watch_pairs(monkeypatch: pytest.MonkeyPatch, see: Callable[[Tensor], None]) -> None:
    """Have all vectors seen that the mlp makes of pairs, (B, n, m, D) at a time."""
    plain = MlpPair.both_ways

    def watched(*sides: Any) -> Iterator[Tensor]:
        for vectors in plain(*sides):
            see(vectors)
            yield vectors

    monkeypatch.setattr(MlpPair, "both_ways", watched)


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
