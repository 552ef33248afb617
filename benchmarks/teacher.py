"""How fast a language model learns labelled pairs and reads candidates, on this machine.

    python benchmarks/teacher.py [--language-model PATH] [--pairs 2000] [--device auto]

Pairs are of frequent words of the bundled model, sixteen of each first word, about as candidates
are. Reading what precedes the second word once for each first word is compared with reading every
prompt by itself.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

import machine
from pair2vec.model.folder import load_model
from pair2vec.model.resolve import find_model
from pair2vec.runtime.devices import find_device, has_bfloat16
from pair2vec.teaching.labels import LabelledPairs
from pair2vec.teaching.teacher import LanguageModelTeacher, TeacherConfig, load_language_model

FROZEN = 10
"""Layers, in the second row of fine-tuning."""
PER_WORD = 16
_RELATIONS = 14
_BATCH = 128
_TUNED = 10
"""Batches."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--language-model", type=Path, help="SmolLM2-135M-Instruct otherwise")
    parser.add_argument("--pairs", type=int, default=2_000, help="to read")
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    device = find_device(arguments.device)
    model = load_language_model(arguments.language_model)
    words = load_model(find_model("wikipedia")).vocabulary.words
    print(f"{machine.describe()}, torch {torch.__version__}, {device}, {model.name}")
    print(f"bfloat16: {'native' if has_bfloat16(device) else 'not native'}")
    teacher = LanguageModelTeacher(model, words, _RELATIONS, TeacherConfig().prompt)
    random = np.random.default_rng(0)
    x = np.repeat(random.integers(200, 20_000, -(-arguments.pairs // PER_WORD)), PER_WORD)
    y = random.integers(200, 20_000, len(x))
    config = TeacherConfig(epochs=1, batch=_BATCH, label_tokens=4_096)
    for bfloat16 in {False, has_bfloat16(device)}:
        name = "bfloat16" if bfloat16 else "float32"
        own = replace(config, bfloat16=bfloat16)
        teacher.float()
        teacher.prepare_to_label(own, device)
        by_itself = seconds(partial(read_alone, teacher, x, y, device))
        shared = seconds(partial(teacher.log_probabilities, x, y, own, device))
        print(
            f"read in {name}: {len(x) / shared:,.0f} pairs/s; each prompt by itself "
            f"{len(x) / by_itself:,.0f} ({by_itself / shared:.2f} times as long)"
        )
    count = _TUNED * _BATCH
    pairs = LabelledPairs(x[:count], y[:count], random.integers(0, _RELATIONS, min(count, len(x))))
    teacher.float()
    for frozen in (0, FROZEN):
        teacher.requires_grad_(True)
        own = replace(config, frozen_layers=frozen)
        spent = seconds(partial(teacher.fine_tune, pairs, own, device, lambda *_: None))
        print(f"fine-tuned, {frozen} layers frozen: {len(pairs.x) / spent:,.0f} pairs/s")


def read_alone(
    teacher: LanguageModelTeacher, x: np.ndarray, y: np.ndarray, device: torch.device
) -> None:
    """Every prompt from its beginning, those of one length together."""
    first, second = (torch.from_numpy(ids).to(device) for ids in (x, y))
    lengths = teacher._prepared(device).lengths
    order = torch.argsort(lengths[first] + lengths[second])
    with torch.no_grad():
        for start in range(0, len(order), 512):
            rows = order[start : start + 512]
            teacher(first[rows], second[rows])


def seconds(work: Callable[[], object]) -> float:
    """Of a second call; the first one warms up."""
    for _ in range(2):
        start = time.perf_counter()
        work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
