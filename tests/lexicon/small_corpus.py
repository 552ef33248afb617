"""A corpus of a few sentences."""

from pathlib import Path

from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import PrepareConfig, prepare


def make_corpus(folder: Path, text: str, shard_ids: int = 2**31) -> Corpus:
    (folder / "text.txt").write_text(text)
    config = PrepareConfig(vocabulary=200, shard_ids=shard_ids)
    return prepare([str(folder / "text.txt")], folder / "corpus", config)
