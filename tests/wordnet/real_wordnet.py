"""The WordNet of this machine, for tests that want a real one."""

import pytest

from pair2vec.errors import InputError
from pair2vec.wordnet.dictionary import WordNet


def real_wordnet() -> WordNet:
    """That which is found without naming a folder; skips the test where there is none."""
    try:
        return WordNet.open()
    except InputError as error:
        pytest.skip(str(error))
