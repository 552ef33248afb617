"""Which kind of embedder a path is."""

from pathlib import Path

import numpy as np
import pytest
from tests.experiments.embedders.small_bert import write_bert
from tests.experiments.embedders.small_elmo import small_options, small_weights, write_elmo
from tests.tiny_model import save_tiny_model

from pair2vec.errors import InputError
from pair2vec.experiments.embedders.elmo import Elmo
from pair2vec.experiments.embedders.embedder import WordVectorEmbedder
from pair2vec.experiments.embedders.hugging_face import HuggingFaceEncoder
from pair2vec.experiments.embedders.open import open_embedder
from pair2vec.word_vectors.formats import write_vec


def test_each_kind_is_recognised(tmp_path: Path) -> None:
    write_vec(tmp_path / "words.vec.gz", ["cat", "dog"], np.ones((2, 3), np.float32))
    opened = open_embedder(tmp_path / "words.vec.gz", ["cat", "cow"])
    assert isinstance(opened, WordVectorEmbedder)
    assert [*opened.ids] == ["cat"]
    elmo = write_elmo(tmp_path / "elmo", small_options(), small_weights())
    assert isinstance(open_embedder(str(elmo), []), Elmo)
    assert isinstance(open_embedder(write_bert(tmp_path / "bert"), []), HuggingFaceEncoder)


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent: no such file or folder$"):
        open_embedder(tmp_path / "absent", ["cat"])


def test_the_error_for_another_folder_names_the_three_kinds(tmp_path: Path) -> None:
    # A model of our own has a config.json as well.
    for folder in (tmp_path, save_tiny_model(tmp_path / "model")):
        with pytest.raises(InputError, match=r"neither ELMo .* nor an encoder .* word vectors are"):
            open_embedder(folder, ["cat"])
