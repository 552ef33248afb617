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
