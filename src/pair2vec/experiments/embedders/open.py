"""Opens the embedder in a file or a folder, of whichever kind it is."""

import os
from collections.abc import Iterable
from pathlib import Path

from pair2vec.errors import InputError
from pair2vec.experiments.embedders.elmo import Elmo
from pair2vec.experiments.embedders.elmo_files import find_elmo_files
from pair2vec.experiments.embedders.embedder import Embedder, WordVectorEmbedder
from pair2vec.experiments.embedders.hugging_face import HuggingFaceEncoder

_TOKENIZER_FILES = (
    *("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.txt", "vocab.json"),
    *("spiece.model", "sentencepiece.bpe.model"),
)
"""An encoder's folder has one of these; a ``config.json`` is in folders of other models too."""


def open_embedder(path: str | os.PathLike[str], words: Iterable[str]) -> Embedder:
    """Open an embedder.

    Args:
        path: A file of word vectors, in any format that `read_word_vectors` reads; or a folder with
            ELMo's options and weights as AllenNLP publishes them; or one with an encoder and a
            tokeniser of the library ``transformers``.
        words: All that will ever be embedded. Word vectors are read for these only; the other
            kinds take any word, and ignore them.

    Raises:
        UsageError: an extra that it needs is not installed.
        InputError: there is nothing of these kinds, or it cannot be read.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if not path.is_dir():
        return WordVectorEmbedder.open(path, words)
    if all(find_elmo_files(path)):
        return Elmo.open(path)
    if (path / "config.json").exists() and any((path / name).exists() for name in _TOKENIZER_FILES):
        return HuggingFaceEncoder.open(path)
    raise InputError(
        f"{path}: neither ELMo (options.json and a file *.hdf5) nor an encoder of transformers "
        "(config.json and a tokeniser); word vectors are a file, not a folder"
    )
