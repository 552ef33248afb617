"""What a worker does with a piece: pure functions, so that it may as well be done twice."""

from functools import lru_cache
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from pair2vec.text.corpus import Ids
from pair2vec.text.encoding import encode_piece, load_ids, load_words
from pair2vec.text.pieces import Piece
from pair2vec.text.places import Place
from pair2vec.text.vocabulary import BOUNDARY, PADDING


class PieceTask(NamedTuple):
    """A piece to encode into a file, or None where the file is there."""

    path: Place
    piece: Piece | None
    read: int
    total: int | None

    def without_content(self) -> "PieceTask":
        """The task once done: the content need not travel back."""
        if self.piece is None:
            return self
        return self._replace(piece=Piece(self.piece.source, self.piece.offset, b"", is_dump=False))


class SentPiece(NamedTuple):
    """A task done, and what its file is to hold; None where the file is there."""

    task: PieceTask
    encoded: bytes | None


def encode_to_file(task: PieceTask) -> PieceTask:
    """Encode a piece, and write it where the task says."""
    if task.piece is not None:
        encode_piece(task.piece).save(task.path)
    return task.without_content()


def encode_to_send(task: PieceTask) -> SentPiece:
    """Encode a piece for another machine to write."""
    encoded = None if task.piece is None else encode_piece(task.piece).to_bytes()
    return SentPiece(task.without_content(), encoded)


class IdsTask(NamedTuple):
    """An encoded piece, by its place or as the file has it, and the vocabulary, as its file has it.

    Bytes, because they travel faster than a table; a worker makes the table once.
    """

    piece: Place | bytes
    vocabulary: bytes


def ids_of_piece(task: IdsTask) -> Ids:
    """A piece's sentences in the vocabulary's ids, `BOUNDARY` behind each, unknown words gone."""
    words, _, _ = load_words(task.piece)
    ids = map(_ids_by_word(task.vocabulary).get, words, repeat(PADDING))
    table = np.fromiter(chain([BOUNDARY], ids), np.uint32, len(words) + 1)
    tokens: Ids = table[load_ids(task.piece)]
    tokens = tokens[tokens != PADDING]
    is_end = tokens == BOUNDARY
    # Of boundaries in a row only the first ends a sentence; one at the start ends none.
    repeats = is_end & np.concatenate([[True], is_end[:-1]])
    sentences: Ids = tokens[~repeats]
    return sentences


@lru_cache(maxsize=1)
def _ids_by_word(vocabulary: bytes) -> dict[str, int]:
    lines = vocabulary.decode().split("\n")[:-1]
    return {line.partition("\t")[0]: number for number, line in enumerate(lines)}
