"""Devices: which there are, and in what precision they compute."""

import pytest
import torch

from pair2vec.errors import UsageError
from pair2vec.runtime.devices import autocast, find_device, select_device


def test_a_cpu_computes_in_float32() -> None:
    with autocast(torch.device("cpu")):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


def test_on_a_cpu_nothing_is_selected() -> None:
    with select_device(torch.device("cpu")):
        assert torch.ones(1).device.type == "cpu"


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="no device 'abacus'; there are auto, cpu, cuda"):
        find_device("abacus")
    with pytest.raises(UsageError, match="no device 'mps'"):
        find_device("mps")


def test_a_gpu_beyond_those_there_are_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert find_device("cuda:0").index == 0
    with pytest.raises(UsageError, match="device 'cuda:9': torch finds 1 GPUs"):
        find_device("cuda:9")
