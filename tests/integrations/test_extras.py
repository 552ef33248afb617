"""The modules where what they are for is not installed."""

import subprocess
import sys

import pytest

CODE = """
import sys
sys.modules[sys.argv[2]] = None
from pair2vec.errors import Pair2vecError
try:
    __import__(f"pair2vec.integrations.{sys.argv[1]}")
except Pair2vecError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("module", "package"),
    [("spacy", "srsly"), ("sklearn", "sklearn"), ("gensim", "gensim"), ("pandas", "pandas")],
)
def test_a_missing_extra_is_named(module: str, package: str) -> None:
    command = [sys.executable, "-c", CODE, module, package]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.endswith(f"not installed: pip install 'pair2vec[{module}]'\n")
    assert printed.count("\n") == 1
