"""What all tests of NLI share: the inputs of the invented language."""

from pathlib import Path

import pytest
from tests.experiments.nli.relation_world import write_inputs


@pytest.fixture(scope="package")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_inputs(tmp_path_factory.mktemp("inputs"))
