"""Static word vectors as an embedder: a word has the same vector in every sentence.

Shapes: B sentences, n words of the longest, K words with a vector, D dimension.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import torch
from torch import Tensor, nn

from pair2vec.experiments.embedders.embedder import Embedder, EmbedderInputs, Sentence, pad_rows
from pair2vec.kernels.rows import gather_rows
from pair2vec.text.sentences import fold
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.word_vectors.formats import read_word_vectors

PADDING, UNKNOWN = range(2)
"""The ids of padding, and of any word without a vector; those of known words follow."""

_UNKNOWN_NORM = 0.1
"""Times the mean norm of known words: small, so that it adds little noise before it is trained."""


class WordVectorEmbedder(Embedder):
    """Frozen vectors of known words, and one trained vector for all unknown ones.

    A word without a vector in its own spelling has that of its lower case.
    """

    vectors: Tensor
    """(2 + K, D); the first two rows are zero."""

    def __init__(self, ids: Mapping[str, int], vectors: Tensor) -> None:
        """Take rows `ids` of the vectors (K, D); several words may share a row.

        The vector of unknown words is drawn from torch's generator.
        """
        super().__init__()
        first = UNKNOWN + 1
        self.ids = {word: first + number for word, number in ids.items()}
        self.dimension = vectors.shape[1]
        self.register_buffer("vectors", nn.functional.pad(vectors, (0, 0, first, 0)), False)
        scale = _UNKNOWN_NORM * vectors.norm(dim=1).mean() / self.dimension**0.5
        self.unknown = nn.Parameter(scale * torch.randn(self.dimension))

    @classmethod
    def open(cls, path: str | os.PathLike[str], words: Iterable[str]) -> Self:
        """The vectors of `words` in a file of any format that `read_word_vectors` reads.

        Raises:
            InputError: there is no such file, it is damaged, or it has none of the words.
        """
        distinct = dict.fromkeys(words)
        spellings = dict.fromkeys([*distinct, *map(fold, distinct)])
        # Counts are not used here.
        table = read_word_vectors(path, Vocabulary((spelling, 0) for spelling in spellings))
        known = table.found.nonzero()[0]
        ids = {table.vocabulary.words[row]: number for number, row in enumerate(known)}
        for word, number in [*ids.items()]:
            # A vector under the file's own spelling also serves the lower case of it.
            ids.setdefault(fold(word), number)
        return cls(ids, torch.from_numpy(table.vectors[known]))

    def _prepare(self, sentences: Sequence[Sentence], width: int) -> dict[str, Tensor]:
        rows = [[*map(self._id, sentence)] for sentence in sentences]
        return {"ids": pad_rows(rows, PADDING, width)}

    def _id(self, word: str) -> int:
        return self.ids.get(word) or self.ids.get(fold(word), UNKNOWN)

    def forward(self, inputs: EmbedderInputs) -> Tensor:
        """The vectors (B, n, D) of a batch; zero after a sentence's end."""
        ids = inputs["ids"]
        is_unknown = (ids == UNKNOWN).unsqueeze(-1)
        return torch.where(is_unknown, self.unknown, gather_rows(self.vectors, ids))

    def extra_repr(self) -> str:
        return f"words={len(self.ids)}, dimension={self.dimension}"
