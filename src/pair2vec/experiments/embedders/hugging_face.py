"""Sentences as the pieces of words that a tokeniser of ``transformers`` makes of them.

Shapes: B sentences, p pieces of the longest, F what the tokeniser says of a piece.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.experiments.embedders.embedder import (
    LAYERS,
    Embedder,
    EmbedderInputs,
    ScalarMix,
    Sentence,
)

logger = logging.getLogger(__name__)

_MOST_SENTENCES = 1 << 18
"""Whose pieces are kept at hand, some 500 bytes each: all of a data set, but not all that a
service ever sees."""

_NO_WORD = -1


class Subwords(NamedTuple):
    """Those of a batch."""

    inputs: dict[str, Tensor]
    """(B, p) each, by the name under which the encoder takes it."""
    words: Tensor
    """(B, p): of which word in its sentence a piece is; -1 if it is of none."""


class SubwordTokenizer:
    """A tokeniser that is asked about each sentence once.

    It takes ten times as long as looking up what it said, and a network is shown the same sentences
    in every epoch.
    """

    def __init__(self, tokenizer: Any, max_subwords: int | None) -> None:  # noqa: ANN401
        """Take one of the fast kind; longer sentences are cut, which is told once."""
        self._tokenizer, self._max_subwords = tokenizer, max_subwords
        self._said: dict[tuple[str, ...], NDArray[np.int32]] = {}
        """(1 + F, pieces) of a sentence: words first, then what has a name."""
        self._names: list[str] = []
        self._has_told_of_cut = False

    def __call__(self, sentences: Sequence[Sentence]) -> Subwords:
        """The pieces of a batch, which must not be empty."""
        keys = [tuple(sentence) for sentence in sentences]
        if len(self._said) + len(keys) > _MOST_SENTENCES:
            self._said.clear()
        if new := [key for key in dict.fromkeys(keys) if key not in self._said]:
            self._said.update(zip(new, self._ask(new), strict=True))
        return self._side_by_side([self._said[key] for key in keys])

    def _ask(self, sentences: Sequence[tuple[str, ...]]) -> list[NDArray[np.int32]]:
        encoded = self._tokenizer(
            [list(sentence) for sentence in sentences],
            is_split_into_words=True,
            truncation=self._max_subwords is not None,
            max_length=self._max_subwords,
        )
        self._tell_of_cut(encoded.encodings)
        self._names = list(encoded)
        words = [
            [_NO_WORD if word is None else word for word in encoding.word_ids]
            for encoding in encoded.encodings
        ]
        return [np.array(rows, np.int32) for rows in zip(words, *encoded.values(), strict=True)]

    def _side_by_side(self, said: Sequence[NDArray[np.int32]]) -> Subwords:
        lengths = np.array([rows.shape[1] for rows in said])
        is_piece = np.arange(lengths.max()) < lengths[:, None]
        block = np.zeros((1 + len(self._names), *is_piece.shape), np.int64)
        block[0] = _NO_WORD
        if "input_ids" in self._names:
            block[1 + self._names.index("input_ids")] = self._tokenizer.pad_token_id or 0
        block[:, is_piece] = np.concatenate(said, axis=1)
        words, *inputs = torch.from_numpy(block).unbind()
        return Subwords(dict(zip(self._names, inputs, strict=True)), words)

    def _tell_of_cut(self, encodings: Sequence[Any]) -> None:
        if not self._has_told_of_cut and any(encoding.overflowing for encoding in encodings):
            self._has_told_of_cut = True
            logger.warning(
                "a sentence has more than %d pieces; words beyond them are zero", self._max_subwords
            )


# == Encoders of the library ``transformers`` as an embedder: BERT and its kin, from a folder.
#
# Shapes: B sentences, n words of the longest or more, p pieces of the longest, N pieces of words in
# all, K layers, D dimension.


_NO_LIMIT = 1 << 20
"""Pieces; tokenisers that know no limit say a number far above this."""

_POOLER = "pooler."
"""What makes one vector of a sentence, which is of no concern here."""


class HuggingFaceEncoder(Embedder):
    """The layers of a frozen encoder, in a mix that is learned.

    A word's vector is the mean of those of its pieces. A word without pieces is zero: one that the
    tokeniser drops, and one beyond the longest sentence that the encoder takes.
    """

    def __init__(self, encoder: nn.Module, tokenizer: Any) -> None:  # noqa: ANN401
        """Take an encoder and its tokeniser, which must be one of the fast kind."""
        super().__init__()
        self.encoder = encoder.float().requires_grad_(False).eval()
        self.max_subwords = _max_subwords(encoder, tokenizer)
        """Of a sentence, its begin and end included; None where there is no limit."""
        self._make_pieces = SubwordTokenizer(tokenizer, self.max_subwords)
        # The surest way to know how many layers a model gives, and of which width.
        sample = self._layers(self.prepare([["a"]]))
        self.dimension = sample.shape[-1]
        self.mix = ScalarMix(len(sample))

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """From a folder with an encoder and a tokeniser, as ``save_pretrained`` writes them.

        Raises:
            UsageError: the library that reads them is not installed.
            InputError: they cannot be read, or are of a kind that cannot be used here.
        """
        name = os.fspath(folder)
        transformers = _library(name)
        try:
            with _quiet(transformers):
                return cls(_load_encoder(transformers, name), _load_tokenizer(transformers, name))
        except Pair2vecError:
            raise
        # The library raises errors of all kinds for files that are missing, damaged or of others.
        except Exception as error:
            problem = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError(f"{name}: not an encoder of transformers: {problem}") from error

    def train(self, mode: bool = True) -> Self:
        """Set the mode of what is learned; the encoder itself never drops anything out."""
        super().train(mode)
        self.encoder.eval()
        return self

    def _prepare(self, sentences: Sequence[Sentence], width: int) -> dict[str, Tensor]:
        # Of no sentences there are no tensors for the encoder: it is given one without words.
        made = self._make_pieces(sentences or [[]])
        pieces, starts = _spans(made.words[: len(sentences)], width)
        return {**made.inputs, "pieces": pieces, "starts": starts}

    @torch.no_grad()
    def precompute(self, inputs: EmbedderInputs) -> EmbedderInputs:
        """All layers of the encoder."""
        if LAYERS in inputs.tensors:
            return inputs
        return EmbedderInputs({LAYERS: self._layers(inputs)})

    def forward(self, inputs: EmbedderInputs) -> Tensor:
        """The vectors (B, n, D) of a batch, prepared or read; zero behind a sentence's end."""
        mixed: Tensor = self.mix(self.precompute(inputs)[LAYERS])
        return mixed

    def _layers(self, inputs: EmbedderInputs) -> Tensor:
        """All layers of words, (K, B, n, D)."""
        given = dict(inputs.tensors)
        pieces, starts = given.pop("pieces"), given.pop("starts")
        states = self.encoder(**given, output_hidden_states=True).hidden_states
        return torch.stack([_means(state.float(), pieces, starts) for state in states])


def _spans(word_of_piece: Tensor, words: int) -> tuple[Tensor, Tensor]:
    """Which pieces belong to words (N,), and where among them each word's begin (B, n).

    Args:
        word_of_piece: (B, p), by its place in the sentence; -1 where a piece belongs to none.
        words: n
    """
    first = words * torch.arange(len(word_of_piece))[:, None]
    is_of_word = word_of_piece >= 0
    places = (first + word_of_piece)[is_of_word]
    starts = torch.searchsorted(places, first + torch.arange(words))
    return is_of_word.flatten().nonzero().flatten(), starts


def _means(states: Tensor, pieces: Tensor, starts: Tensor) -> Tensor:
    """The mean of each word's pieces (B, n, D), from the states of all of them (B, p, D)."""
    if not starts.numel():
        return states.new_zeros(*starts.shape, states.shape[-1])
    means = functional.embedding_bag(pieces, states.flatten(0, 1), starts.flatten(), mode="mean")
    return means.view(*starts.shape, -1)


def _library(name: str) -> ModuleType:
    try:
        import transformers
    except ImportError as error:
        raise UsageError(f"{name}: to read it: pip install 'pair2vec[transformers]'") from error
    library: ModuleType = transformers
    return library


@contextmanager
def _quiet(transformers: ModuleType) -> Iterator[None]:
    """Neither bars nor reports of the library, which would write them to the terminal."""
    reports = transformers.utils.logging
    level, has_bars = reports.get_verbosity(), reports.is_progress_bar_enabled()
    reports.set_verbosity_error()
    if has_bars:
        reports.disable_progress_bar()
    try:
        yield
    finally:
        reports.set_verbosity(level)
        if has_bars:
            reports.enable_progress_bar()


_ON_DISK = {"local_files_only": True, "trust_remote_code": False}


def _load_encoder(transformers: ModuleType, name: str) -> nn.Module:
    model, report = transformers.AutoModel.from_pretrained(
        name, output_loading_info=True, **_ON_DISK
    )
    # What a file lacks the library fills with random numbers.
    missing = sorted(key for key in report["missing_keys"] if not key.startswith(_POOLER))
    if missing:
        raise InputError(
            f"{name}: the encoder's weights lack {len(missing)}, such as {missing[0]}; fetch or "
            "save it again"
        )
    encoder: nn.Module = model.get_encoder() if model.config.is_encoder_decoder else model
    return encoder


def _load_tokenizer(transformers: ModuleType, name: str) -> Any:  # noqa: ANN401
    load = transformers.AutoTokenizer.from_pretrained
    tokenizer = load(name, **_ON_DISK)
    if not tokenizer.is_fast:
        raise InputError(
            f"{name}: its tokeniser cannot tell which word a piece is of; "
            "one with a tokenizer.json can"
        )
    before = tokenizer.backend_tokenizer.pre_tokenizer
    is_of_bytes = before is not None and b"ByteLevel" in before.__getstate__()
    if is_of_bytes and not getattr(tokenizer, "add_prefix_space", False):
        # To these a word without a space before it is another one than in the midst of a text.
        tokenizer = load(name, add_prefix_space=True, **_ON_DISK)
    return tokenizer


def _max_subwords(encoder: Any, tokenizer: Any) -> int | None:  # noqa: ANN401
    limits = [tokenizer.model_max_length]
    positions = getattr(encoder.config, "max_position_embeddings", None) or 0
    if positions > 0:
        table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
        # RoBERTa and its kin count positions from behind the padding's id.
        padding = getattr(table, "padding_idx", None)
        limits.append(positions if padding is None else positions - padding - 1)
    return min(limits) if min(limits) < _NO_LIMIT else None
