"""Encoders of the library ``transformers`` as an embedder: BERT and its kin, from a folder.

Shapes: B sentences, n words of the longest or more, p subwords of the longest, N subwords that
belong to words in all, F inputs of the encoder by subword, K layers, D dimension.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.experiments.embedders.embedder import (
    EmbedderInputs,
    LayeredEmbedder,
    ScalarMix,
    Sentence,
)
from pair2vec.runtime.pretrained import LOCAL_ONLY, SAFETENSORS_ONLY, check_safetensors

logger = logging.getLogger(__name__)

_NO_LIMIT = 1 << 20
"""Subwords; tokenisers without a limit have a ``model_max_length`` far above this."""

_POOLER = "pooler."
"""Weights that make one vector of a sentence, which is not needed here."""

_CACHED_SENTENCES = 1 << 18
"""Some 500 bytes each: all of a data set, but not all that a service ever sees."""

_NO_WORD = -1


class HuggingFaceEncoder(LayeredEmbedder):
    """The layers of a frozen encoder, in a trained mix.

    A word's vector is the mean over its subwords. A word without subwords is zero: one that the
    tokeniser drops, and one beyond the longest sentence that the encoder takes.
    """

    def __init__(self, encoder: nn.Module, tokenizer: Any) -> None:  # noqa: ANN401
        """Take an encoder and its tokeniser, which must be a fast one."""
        super().__init__()
        self.encoder = encoder.float().requires_grad_(False).eval()
        self.max_subwords = _max_subwords(encoder, tokenizer)
        """Of a sentence, special tokens included; None where there is no limit."""
        self._tokenize = SubwordTokenizer(tokenizer, self.max_subwords)
        # Configs differ in how they name the number of layers and the dimension.
        sample = self.layers(self.prepare([["a"]]))
        self.dimension = sample.shape[-1]
        self.mix = ScalarMix(len(sample))

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """Open a folder with an encoder and a tokeniser, as ``save_pretrained`` writes them.

        Raises:
            UsageError: the library that reads them is not installed.
            InputError: they cannot be read, or are of a kind that cannot be used here.
        """
        name = os.fspath(folder)
        transformers = _import_transformers(name)
        try:
            with _quiet(transformers):
                return cls(_load_encoder(transformers, name), _load_tokenizer(transformers, name))
        except Pair2vecError:
            raise
        # The library raises errors of all kinds for files that are missing, damaged or foreign.
        except Exception as error:
            problem = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError(f"{name}: not an encoder of transformers: {problem}") from error

    def train(self, mode: bool = True) -> Self:
        """Set the mode of the trained mix; the frozen encoder stays in eval mode."""
        super().train(mode)
        self.encoder.eval()
        return self

    def _prepare(self, sentences: Sequence[Sentence], width: int) -> dict[str, Tensor]:
        # The tokeniser makes no tensors of an empty batch: it gets one sentence without words.
        subwords = self._tokenize(sentences or [[]])
        positions, starts = _spans(subwords.words[: len(sentences)], width)
        return {**subwords.inputs, "subwords": positions, "starts": starts}

    def layers(self, inputs: EmbedderInputs) -> Tensor:
        tensors = dict(inputs.tensors)
        subwords, starts = tensors.pop("subwords"), tensors.pop("starts")
        states = self.encoder(**tensors, output_hidden_states=True).hidden_states
        return torch.stack([_word_means(state.float(), subwords, starts) for state in states])


def _spans(words: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The positions of the subwords that belong to words (N,), and each word's first one (B, n).

    Args:
        words: (B, p), as in `Subwords`.
        width: n
    """
    first = width * torch.arange(len(words))[:, None]
    has_word = words >= 0
    flat = (first + words)[has_word]
    starts = torch.searchsorted(flat, first + torch.arange(width))
    return has_word.flatten().nonzero().flatten(), starts


def _word_means(states: Tensor, subwords: Tensor, starts: Tensor) -> Tensor:
    """The mean over each word's subwords (B, n, D), from the states of all of them (B, p, D)."""
    if not starts.numel():
        return states.new_zeros(*starts.shape, states.shape[-1])
    means = functional.embedding_bag(subwords, states.flatten(0, 1), starts.flatten(), mode="mean")
    return means.view(*starts.shape, -1)


class Subwords(NamedTuple):
    """The subwords of a batch."""

    inputs: dict[str, Tensor]
    """(B, p) each, by the encoder's argument names."""
    words: Tensor
    """(B, p), the index of the word that a subword belongs to; -1 for special tokens."""


class SubwordTokenizer:
    """A fast tokeniser of ``transformers`` that encodes each distinct sentence once.

    Encoding takes ten times as long as a look-up, and a network sees the same sentences in every
    epoch.
    """

    def __init__(self, tokenizer: Any, max_subwords: int | None) -> None:  # noqa: ANN401
        """Longer sentences are truncated, which is logged once."""
        self._tokenizer, self._max_subwords = tokenizer, max_subwords
        self._cache: dict[tuple[str, ...], NDArray[np.int32]] = {}
        """(1 + F, subwords) of a sentence: the words' indices, then the encoder's inputs."""
        self._names: list[str] = []
        self._has_warned = False

    def __call__(self, sentences: Sequence[Sentence]) -> Subwords:
        """The subwords of a batch, which must not be empty."""
        keys = [tuple(sentence) for sentence in sentences]
        if len(self._cache) + len(keys) > _CACHED_SENTENCES:
            self._cache.clear()
        if new := [key for key in dict.fromkeys(keys) if key not in self._cache]:
            self._cache.update(zip(new, self._encode(new), strict=True))
        return self._collate([self._cache[key] for key in keys])

    def _encode(self, sentences: Sequence[tuple[str, ...]]) -> list[NDArray[np.int32]]:
        encoded = self._tokenizer(
            [list(sentence) for sentence in sentences],
            is_split_into_words=True,
            truncation=self._max_subwords is not None,
            max_length=self._max_subwords,
        )
        self._warn_if_truncated(encoded.encodings)
        self._names = list(encoded)
        words = [
            [_NO_WORD if word is None else word for word in encoding.word_ids]
            for encoding in encoded.encodings
        ]
        return [np.array(rows, np.int32) for rows in zip(words, *encoded.values(), strict=True)]

    def _collate(self, encoded: Sequence[NDArray[np.int32]]) -> Subwords:
        lengths = np.array([rows.shape[1] for rows in encoded])
        is_subword = np.arange(lengths.max()) < lengths[:, None]
        block = np.zeros((1 + len(self._names), *is_subword.shape), np.int64)
        block[0] = _NO_WORD
        if "input_ids" in self._names:
            block[1 + self._names.index("input_ids")] = self._tokenizer.pad_token_id or 0
        block[:, is_subword] = np.concatenate(encoded, axis=1)
        words, *inputs = torch.from_numpy(block).unbind()
        return Subwords(dict(zip(self._names, inputs, strict=True)), words)

    def _warn_if_truncated(self, encodings: Sequence[Any]) -> None:
        if not self._has_warned and any(encoding.overflowing for encoding in encodings):
            self._has_warned = True
            logger.warning(
                "a sentence has more than %d subwords; the words beyond are zero",
                self._max_subwords,
            )


def _import_transformers(name: str) -> ModuleType:
    try:
        import transformers
    except ImportError as error:
        raise UsageError(f"{name}: to read it: pip install 'pair2vec[transformers]'") from error
    library: ModuleType = transformers
    return library


@contextmanager
def _quiet(transformers: ModuleType) -> Iterator[None]:
    """Silence the library's progress bars and warnings, which go to the terminal."""
    logs = transformers.utils.logging
    level, has_bars = logs.get_verbosity(), logs.is_progress_bar_enabled()
    logs.set_verbosity_error()
    if has_bars:
        logs.disable_progress_bar()
    try:
        yield
    finally:
        logs.set_verbosity(level)
        if has_bars:
            logs.enable_progress_bar()


def _load_encoder(transformers: ModuleType, name: str) -> nn.Module:
    check_safetensors(Path(name))
    model, report = transformers.AutoModel.from_pretrained(
        name, output_loading_info=True, **SAFETENSORS_ONLY
    )
    # The library initialises weights that a file lacks at random.
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
    tokenizer = load(name, **LOCAL_ONLY)
    if not tokenizer.is_fast:
        raise InputError(
            f"{name}: its tokeniser does not map subwords to words; one with a tokenizer.json does"
        )
    pre_tokenizer = tokenizer.backend_tokenizer.pre_tokenizer
    is_byte_level = pre_tokenizer is not None and b"ByteLevel" in pre_tokenizer.__getstate__()
    if is_byte_level and not getattr(tokenizer, "add_prefix_space", False):
        # To these a word without a space before it is another one than within a text.
        tokenizer = load(name, add_prefix_space=True, **LOCAL_ONLY)
    return tokenizer


def _max_subwords(encoder: Any, tokenizer: Any) -> int | None:  # noqa: ANN401
    limits = [tokenizer.model_max_length]
    positions = getattr(encoder.config, "max_position_embeddings", None) or 0
    if positions > 0:
        table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
        # RoBERTa and its kin count positions from the padding id + 1.
        padding = getattr(table, "padding_idx", None)
        limits.append(positions if padding is None else positions - padding - 1)
    return min(limits) if min(limits) < _NO_LIMIT else None
