"""Thousands of seeded mutations: no traceback, and no other answer from what is damaged.

`benchmarks/fuzz.py` makes a million of them.
"""

import random
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from tests.fuzzing import KINDS, Finding, FuzzedModel, changed_json, mutated

COUNTS = {"model folder": 2_000, "corpus": 3_000, "checkpoint": 5_000, "request": 3_000}


@pytest.mark.parametrize("kind", COUNTS)
def test_whatever_is_changed_is_refused_or_answered_as_before(kind: str, tmp_path: Path) -> None:
    outcomes: Counter[str] = Counter()
    with closing(KINDS[kind](tmp_path / "fuzzed")) as fuzzed:
        for seed in range(COUNTS[kind]):
            try:
                outcomes[fuzzed.run(random.Random(f"{kind} {seed}"))] += 1
            except Exception as error:
                raise AssertionError(f"{kind}, seed {seed}") from error
    # Neither is everything refused, nor nothing.
    assert outcomes["refused"] > COUNTS[kind] / 10
    assert outcomes["same"] > COUNTS[kind] / 100


def test_a_mutation_is_the_same_each_time() -> None:
    value = {"a": [1, {"b": "c"}], "d": None}
    for seed in range(50):
        first, second = (mutated(b"some bytes", random.Random(seed)) for _ in range(2))
        assert first == second
        assert changed_json(value, random.Random(seed)) == changed_json(value, random.Random(seed))
    assert value == {"a": [1, {"b": "c"}], "d": None}


def test_damage_that_goes_unnoticed_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fuzzed = FuzzedModel(tmp_path / "model")
    for name in ("check_file", "check_finite"):
        monkeypatch.setattr(f"pair2vec.model.folder.{name}", lambda *_: None)
    with pytest.raises(Finding, match="is damaged, and the answer is another one"):
        for seed in range(1_000):
            fuzzed.run(random.Random(seed))
