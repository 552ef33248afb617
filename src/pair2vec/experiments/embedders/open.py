"""The embedder in a file or a folder, of whichever kind it is."""

import os
from collections.abc import Iterable
from pathlib import Path

from pair2vec.errors import InputError
from pair2vec.experiments.embedders.elmo import Elmo
from pair2vec.experiments.embedders.elmo_files import find_elmo_files
from pair2vec.experiments.embedders.embedder import Embedder
from pair2vec.experiments.embedders.hugging_face import HuggingFaceEncoder
from pair2vec.experiments.embedders.word_vectors import WordVectorEmbedder

_TOKENIZERS = (
    *("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.txt", "vocab.json"),
    *("spiece.model", "sentencepiece.bpe.model"),
)
"""Files of which an encoder's folder has one; other models have a ``config.json`` too."""


def open_embedder(path: str | os.PathLike[str], words: Iterable[str]) -> Embedder:
    """Open an embedder.

    Args:
        path: A file of word vectors, in any format that `read_word_vectors` reads; or a folder with
            ELMo's options and weights as AllenNLP publishes them; or one with an encoder and a
            tokeniser of the library ``transformers``.
        words: All that will ever be asked for. Word vectors are read for these only; the other
            kinds know any word, and do not look at them.

    Raises:
        UsageError: an extra that it needs is not installed.
        InputError: there is nothing of these kinds, or it cannot be read.
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"{place}: no such file or folder")
    if not place.is_dir():
        return WordVectorEmbedder.open(place, words)
    if all(find_elmo_files(place)):
        return Elmo.open(place)
    if (place / "config.json").exists() and any((place / name).exists() for name in _TOKENIZERS):
        return HuggingFaceEncoder.open(place)
    raise InputError(
        f"{place}: neither ELMo (options.json and a file *.hdf5) nor an encoder of transformers "
        "(config.json and a tokeniser); word vectors are a file, not a folder"
    )
