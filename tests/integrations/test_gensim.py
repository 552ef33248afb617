"""The words of a model as gensim's vectors."""

from pathlib import Path

import numpy as np
import pytest
from tests.tiny_model import WORDS, save_tiny_model

from pair2vec.api import load

pytest.importorskip("gensim")
from pair2vec.integrations.gensim import keyed_vectors


def test_words_have_their_vectors_counts_and_order(tmp_path: Path) -> None:
    words = [*WORDS, "new york"]
    model = load(save_tiny_model(tmp_path / "model", words))
    keyed = keyed_vectors(model)
    assert keyed.index_to_key == [*WORDS, "new_york"]
    np.testing.assert_array_equal(keyed["hot"], model.unit_words[model.vocabulary.ids["hot"]])
    assert keyed.get_vecattr("the", "count") == 100 * len(words)
    assert keyed.most_similar("hot", topn=1)[0][1] == pytest.approx(
        np.partition(keyed.vectors @ keyed["hot"], -2)[-2]
    )
    raw = keyed_vectors(tmp_path / "model", normalised=False)
    row = model.space.pairs.all_inputs[model.vocabulary.ids["cold"]]
    np.testing.assert_array_equal(raw["cold"], row)
    raw.vectors[0] += 1  # a copy: the model's file is mapped read-only
