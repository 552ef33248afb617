"""What all tests of NLI share: one thread, and the inputs of the invented language."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.experiments.nli.relation_world import write_inputs


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="package")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_inputs(tmp_path_factory.mktemp("inputs"))
