"""Real data for tests that want it: in the folder that PAIR2VEC_DATA names, or not at all."""

import os
from pathlib import Path

import pytest


def real_data(name: str) -> Path:
    """A file or folder of the real data; skips the test where it is not there."""
    folder = os.environ.get("PAIR2VEC_DATA")
    path = Path(folder or "") / name
    if not folder or not path.exists():
        pytest.skip(f"PAIR2VEC_DATA does not name a folder with {name}")
    return path
