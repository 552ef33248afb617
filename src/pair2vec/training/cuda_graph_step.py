"""The training step as a CUDA graph: what the plain step computes, captured once and replayed.

The plain step finds the distinct rows that a batch touches: it sorts, and waits for the device to
know their number. Here gradients are those of whole tables, which costs a GPU little, and all
shapes are the same in every step, as a graph requires.

Shapes: V vocabulary, B triples, K negative words per side, L length of the longest context,
D dimension, W the width that vectors of D are padded to.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from pair2vec.kernels.lstm import bilstm_states
from pair2vec.kernels.rows import copy_rows
from pair2vec.runtime.cuda_graphs import Replay, capture, warm_up
from pair2vec.text.patterns import DISTANCES
from pair2vec.training.distributed import ProcessGroup, flatten_tensors, split_like
from pair2vec.training.network import TrainingBatch
from pair2vec.training.objective import Losses, Scores, losses, score_triples
from pair2vec.training.optim import StepRate
from pair2vec.training.steps import (
    STEP_METRICS,
    StepModel,
    batch_loss,
    mean_losses,
    step_metrics,
)

LONGEST_CONTEXT = DISTANCES[-1] + 3
ALIGNMENT = 64
"""Tensor cores are fastest on widths that are multiples of it."""

CaptureWork = Callable[[Callable[[], None]], tuple[Replay, None]]
"""As `capture`: captures some work, and returns what replays it."""


class CudaGraphStep:
    """A step with gradients of whole tables; on a GPU compiled and captured, on a CPU eager."""

    def __init__(self, model: StepModel, precision: torch.dtype = torch.bfloat16) -> None:
        self._network, self._optimiser, self._config, self._typed, _ = model
        self._precision = precision
        words = self._network.pair_words
        self._device = words.device
        self._on_gpu = self._device.type == "cuda"
        dimension = self._network.pair.dimension
        self._width = -(-dimension // ALIGNMENT) * ALIGNMENT if self._on_gpu else dimension
        self._tables = {
            name: getattr(self._network, name).detach().requires_grad_()
            for name in ("pair_words", "context_words")
        }
        self._rate = words.new_zeros(())
        self._steps = words.new_zeros(())
        # False during warm-up, whose steps must not change any weight.
        self._enabled = torch.ones((), dtype=torch.bool, device=self._device)
        self._inputs: _Inputs | None = None
        self._values = torch.empty(0, device=self._device)
        self._replay: Replay = self._run

    def __call__(self, batch: TrainingBatch, rate: float) -> Tensor:
        self._rate.fill_(rate)
        if self._inputs is None:
            self._inputs = _Inputs(batch)
            self._begin()
        self._inputs.fill(batch)
        self._replay()
        self._optimiser.steps += 1
        return self._values.clone()

    def _begin(self) -> None:
        """At the first step, since a resumed run has the optimiser's state only then."""
        self._steps.fill_(self._optimiser.steps)
        for name, weight in self._weights().items():
            for slot in self._optimiser.slots:
                self._optimiser.slot(name, slot, weight)
        if self._on_gpu:
            self._prepare_graph()

    def _prepare_graph(self) -> None:
        """Compile a step, and capture it on the present inputs."""
        self._compile()
        self._enabled.fill_(False)
        warm_up(self._run, self._device)
        self._replay = self._captured(capture)
        self._enabled.fill_(True)

    def _captured(self, capture_work: CaptureWork) -> Replay:
        """What replays a step."""
        return capture_work(self._run)[0]

    def _compile(self) -> None:
        for name in (
            "_pair_words",
            "_word_gates",
            "_pairs",
            "_pool",
            "_objective",
            "_update",
            "_metrics",
        ):
            setattr(self, name, torch.compile(getattr(self, name), dynamic=False))

    def _run(self) -> None:
        """One step on the inputs as they are."""
        group_losses, scores, gradients = self._differentiate()
        norm = self._update(gradients, self._touched())
        self._values = self._metrics(group_losses, scores, norm)

    def _differentiate(self) -> tuple[Losses, Scores, dict[str, Tensor]]:
        """The losses of the inputs, and the gradients of the weights that they depend on."""
        group_losses, scores = self.forward()
        loss = batch_loss(group_losses, self._config, self._share())
        weights = self._weights()
        gradients = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
        used = {n: g for n, g in zip(weights, gradients, strict=True) if g is not None}
        return group_losses, scores, used

    def _share(self) -> float:
        """The share of the whole batch that the inputs are."""
        return 1.0

    def _weights(self) -> dict[str, Tensor]:
        """All trained tensors."""
        return {**self._tables, **dict(self._network.named_parameters())}

    def forward(self) -> tuple[Losses, Scores]:
        """The losses of the inputs."""
        inputs = self._inputs
        assert inputs is not None
        with torch.autocast(
            self._device.type, self._precision, enabled=self._precision is torch.bfloat16
        ):
            words = self._pair_words(self._tables["pair_words"])
            x, y = (copy_rows(words, rows, self._precision) for rows in (inputs.x, inputs.y))
            pairs = self._pairs(x, y)
            word_gates = self._word_gates(self._tables["context_words"])
            weight = self._network.context.state_weight
            states = bilstm_states(word_gates, inputs.contexts, inputs.lengths, weight)
            contexts = self._pool(states, inputs.lengths)
            others = copy_rows(contexts, inputs.shuffles, contexts.dtype)
            return self._objective(pairs, contexts, others)

    def _pair_words(self, words: Tensor) -> Tensor:
        """Prepared for R: (V, W)."""
        return self._padded(self._network.pair.prepare(words))

    def _word_gates(self, words: Tensor) -> Tensor:
        """The LSTM's input gates of each word: (V, 8H)."""
        return self._network.context.word_gates(self._padded(words))

    def _padded(self, words: Tensor) -> Tensor:
        return functional.pad(words, (0, self._width - words.shape[1]))

    def _pairs(self, x: Tensor, y: Tensor) -> Tensor:
        """R of (x, y), the (x', y) and the (x, y'), from words (B, 1 + K, W): (B, 1 + 2K, W)."""
        pair, others = self._network.pair, x.shape[1] - 1

        def every_x(part: Tensor) -> Tensor:
            return torch.cat([part, part[:, :1].expand(-1, others, -1)], dim=1)

        def every_y(part: Tensor) -> Tensor:
            return torch.cat([part[:, :1].expand(-1, 1 + others, -1), part[:, 1:]], dim=1)

        encoded: Tensor = pair(
            tuple(every_x(part) for part in pair.as_x(x)),
            tuple(every_y(part) for part in pair.as_y(y)),
        )
        return encoded

    def _pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        """C from the states (L, B, 2H): (B, W)."""
        context = self._network.context
        positions = torch.arange(len(states), device=states.device)[:, None]
        pooled = context.pool(states, (positions < lengths)[..., None])
        weight = context.value.weight
        return functional.linear(
            pooled, functional.pad(weight, (0, 0, 0, self._width - len(weight)))
        )

    def _objective(self, pairs: Tensor, contexts: Tensor, others: Tensor) -> tuple[Losses, Scores]:
        scores = score_triples(pairs, contexts, others)
        return losses(scores, self._typed), scores

    def _metrics(self, group_losses: Losses, scores: Scores, norm: Tensor) -> Tensor:
        return step_metrics(group_losses, scores, norm).detach()

    def _touched(self) -> dict[str, Tensor]:
        """For each table, which rows the batch names, (V, 1)."""
        inputs = self._inputs
        assert inputs is not None
        named = {"pair_words": [inputs.x, inputs.y], "context_words": [inputs.contexts]}
        masks = {
            name: torch.zeros(len(table), 1, dtype=torch.bool, device=self._device)
            for name, table in self._tables.items()
        }
        for name, ids in named.items():
            for rows in ids:
                # Not by assignment: it would copy the True from the CPU, which no graph can.
                masks[name].index_fill_(0, rows.flatten(), True)
        return masks

    @torch.no_grad()
    def _update(self, gradients: dict[str, Tensor], touched: dict[str, Tensor]) -> Tensor:
        """Update all weights, and of the tables the rows touched; returns the gradient's norm."""
        norm: Tensor = torch.stack([gradient.norm() for gradient in gradients.values()]).norm()
        enabled = norm.isfinite() & self._enabled
        limit = self._config.clip
        scale = (limit / (norm + 1e-6)).clamp(max=1.0) if limit else 1.0
        weights, at = self._weights(), StepRate(self._rate, self._steps + 1)
        for name, gradient in gradients.items():
            mask = enabled & touched[name] if name in touched else enabled
            self._optimiser.update_where(mask, name, weights[name], gradient * scale, at)
        self._steps.add_(enabled)
        return norm


class _Inputs:
    """The input tensors of the graph, which every batch is copied into."""

    def __init__(self, batch: TrainingBatch) -> None:
        count, device = len(batch.x), batch.x.device
        self.x = torch.cat([batch.x[:, None], batch.other_x], dim=1)
        self.y = torch.cat([batch.y[:, None], batch.other_y], dim=1)
        self.contexts = torch.zeros(count, LONGEST_CONTEXT, dtype=torch.long, device=device)
        self.lengths = torch.zeros(count, dtype=torch.long, device=device)
        self.shuffles = batch.shuffles.clone()
        self.fill(batch)

    def fill(self, batch: TrainingBatch) -> None:
        """Copy another batch of the same size."""
        for words, first, others in (
            (self.x, batch.x, batch.other_x),
            (self.y, batch.y, batch.other_y),
        ):
            words[:, 0] = first
            words[:, 1:] = others
        self.shuffles.copy_(batch.shuffles)
        start = 0
        for group in batch.contexts:
            stop, length = start + len(group), group.shape[1]
            self.contexts[start:stop, :length] = group
            # Padded with its own X, so that padding touches no row that the context does not.
            self.contexts[start:stop, length:] = group[:, 1:2]
            self.lengths[start:stop] = length
            start = stop


class DistributedCudaGraphStep(CudaGraphStep):
    """The step of several ranks: two graphs, and between them the all-reduce.

    Gradients of whole tables are summed: between GPUs that is cheaper than to find out which rows
    were touched and to wait for their number.
    """

    def __init__(
        self, model: StepModel, ranks: ProcessGroup, precision: torch.dtype = torch.bfloat16
    ) -> None:
        super().__init__(model, precision)
        self._ranks = ranks
        self._names: list[str] = []
        """Of the weights that have a gradient, in its order."""
        self._sums = torch.empty(0, device=self._device)
        """All gradients, then the mean losses: summed over ranks."""
        self._touched_rows = torch.empty(0, dtype=torch.uint8, device=self._device)
        """Whether a row of a table is touched, one table after another: on any rank."""

    def _share(self) -> float:
        assert self._inputs is not None
        return len(self._inputs.x) / self._config.batch

    def _run(self) -> None:
        self._differentiate_own()
        self._all_reduce()
        self._apply()

    def _captured(self, capture_work: CaptureWork) -> Replay:
        # Each has a memory pool of its own: the second reads what the first leaves there.
        first, _ = capture_work(self._differentiate_own)
        second, _ = capture_work(self._apply)

        def replay() -> None:
            first()
            self._all_reduce()
            second()

        return replay

    def _differentiate_own(self) -> None:
        """The gradients of this rank's part of the batch."""
        group_losses, scores, gradients = self._differentiate()
        self._names = list(gradients)
        means = torch.stack(mean_losses(group_losses, scores)).detach() * self._share()
        self._sums = flatten_tensors([*gradients.values(), means])
        self._touched_rows = torch.cat(list(self._touched().values())).view(torch.uint8)

    def _all_reduce(self) -> None:
        self._ranks.all_reduce(self._sums)
        self._ranks.all_reduce_max(self._touched_rows)

    def _apply(self) -> None:
        """Update the weights by the gradients of all ranks."""
        weights = self._weights()
        like_means = self._sums.new_empty(len(STEP_METRICS) - 1)
        *gradients, means = split_like(
            self._sums, [*(weights[name] for name in self._names), like_means]
        )
        masks = torch.split(
            self._touched_rows.view(torch.bool), [len(table) for table in self._tables.values()]
        )
        norm: Tensor = self._update(
            dict(zip(self._names, gradients, strict=True)),
            dict(zip(self._tables, masks, strict=True)),
        )
        self._values = torch.cat([means.double(), norm.double()[None]])
