"""One step of training as a GPU likes it: the same as the plain one, as one recorded graph.

The plain step finds the distinct rows that a batch touches: it sorts, and waits for the device to
say how many they are. Here whole tables take part. Their gradients are as large as they are, which
costs a GPU little, and all shapes are the same in every step, so that a step is recorded once and
replayed.

Shapes: V vocabulary, B triples, K negative words a side, L length of the longest context,
D dimension, W the width that vectors of D are padded to.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from pair2vec.kernels.lstm import bilstm_states
from pair2vec.kernels.rows import copy_rows
from pair2vec.text.patterns import DISTANCES
from pair2vec.training.distributed import ProcessGroup, flatten_tensors, split_like
from pair2vec.training.network import Network, TrainingBatch
from pair2vec.training.objective import Losses, Scores, losses, score_triples
from pair2vec.training.optim import Optimiser
from pair2vec.training.recipes import TrainingConfig
from pair2vec.training.steps import SUMMARY, batch_loss, mean_losses, step_summary

LONGEST_CONTEXT = DISTANCES[-1] + 3
ALIGNED = 64
"""Tensor cores are fastest on widths that are multiples of it."""
WARM_UP = 3
"""Steps before recording: libraries set themselves up in their first calls."""


class CudaGraphStep:
    """A step in which all tables take part; recorded on a GPU."""

    def __init__(
        self,
        network: Network,
        optimiser: Optimiser,
        config: TrainingConfig,
        typed: int,
        precision: torch.dtype = torch.bfloat16,
    ) -> None:
        self._network = network
        self._optimiser = optimiser
        self._config = config
        self._typed = typed
        self._precision = precision
        self._device = network.pair_words.device
        self._on_gpu = self._device.type == "cuda"
        dimension = network.pair.dimension
        self._width = -(-dimension // ALIGNED) * ALIGNED if self._on_gpu else dimension
        self._tables = {
            name: getattr(network, name).detach().requires_grad_()
            for name in ("pair_words", "context_words")
        }
        self._rate = network.pair_words.new_zeros(())
        self._steps = network.pair_words.new_zeros(())
        # While recording is prepared, steps run and change nothing.
        self._changes = torch.ones((), dtype=torch.bool, device=self._device)
        self._inputs: _Inputs | None = None
        self._values = torch.empty(0, device=self._device)
        self._replay: Callable[[], None] = self._run

    def __call__(self, batch: TrainingBatch, rate: float) -> Tensor:
        """Forward, backward, update."""
        self._rate.fill_(rate)
        if self._inputs is None:
            self._inputs = _Inputs(batch)
            self._begin()
        self._inputs.fill(batch)
        self._replay()
        self._optimiser.steps += 1
        return self._values.clone()

    def _begin(self) -> None:
        """With the state of the optimiser, which a resumed run has only now."""
        self._steps.fill_(self._optimiser.steps)
        for name, weight in self._weights().items():
            for kind in self._optimiser.slots:
                self._optimiser.slot(name, kind, weight)
        if self._on_gpu:
            self._record()

    def _record(self) -> None:
        """Compile a step, and record it on the inputs that are there."""
        self._compile()
        self._changes.fill_(False)
        side = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self._run()
        torch.cuda.current_stream().wait_stream(side)
        self._replay = self._recorded()
        self._changes.fill_(True)

    def _recorded(self) -> Callable[[], None]:
        """A step that is replayed."""
        return self._captured(self._run).replay

    @staticmethod
    def _captured(work: Callable[[], None]) -> torch.cuda.CUDAGraph:
        """A recording of `work`."""
        graph = torch.cuda.CUDAGraph()
        # Another thread fetches batches meanwhile, which is none of this recording's business.
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            work()
        return graph

    def _compile(self) -> None:
        for name in (
            "_pair_words",
            "_context_part",
            "_pairs",
            "_pool",
            "_objective",
            "_update",
            "_summary",
        ):
            setattr(self, name, torch.compile(getattr(self, name), dynamic=False))

    def _run(self) -> None:
        """One step on the inputs as they are."""
        found, scores, gradients = self._differentiate()
        self._values = self._summary(found, scores, self._update(gradients, self._touched()))

    def _differentiate(self) -> tuple[Losses, Scores, dict[str, Tensor]]:
        """The losses of the inputs, and the gradients of what they depend on."""
        found, scores = self.forward()
        loss = batch_loss(found, self._config, self._share())
        leaves = self._weights()
        gradients = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
        given = {n: g for n, g in zip(leaves, gradients, strict=True) if g is not None}
        return found, scores, given

    def _share(self) -> float:
        """The part of the whole batch that the inputs are."""
        return 1.0

    def _weights(self) -> dict[str, Tensor]:
        """All that is learnt."""
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
            part = self._context_part(self._tables["context_words"])
            weight = self._network.context.state_weight
            states = bilstm_states(part, inputs.contexts, inputs.lengths, weight)
            contexts = self._pool(states, inputs.lengths)
            others = copy_rows(contexts, inputs.shuffles, contexts.dtype)
            return self._objective(pairs, contexts, others)

    def _pair_words(self, words: Tensor) -> Tensor:
        """As R wants them: (V, W)."""
        return self._widen(self._network.pair.prepare(words))

    def _context_part(self, words: Tensor) -> Tensor:
        """What the LSTM adds up of each word: (V, 8H)."""
        return self._network.context.word_part(self._widen(words))

    def _widen(self, words: Tensor) -> Tensor:
        return functional.pad(words, (0, self._width - words.shape[1]))

    def _pairs(self, x: Tensor, y: Tensor) -> Tensor:
        """R of (x, y), the (x', y) and the (x, y'), from words (B, 1 + K, W): (B, 1 + 2K, W)."""
        pair, others = self._network.pair, x.shape[1] - 1

        def every_x(part: Tensor) -> Tensor:
            return torch.cat([part, part[:, :1].expand(-1, others, -1)], dim=1)

        def every_y(part: Tensor) -> Tensor:
            return torch.cat([part[:, :1].expand(-1, 1 + others, -1), part[:, 1:]], dim=1)

        found: Tensor = pair(
            tuple(every_x(part) for part in pair.as_x(x)),
            tuple(every_y(part) for part in pair.as_y(y)),
        )
        return found

    def _pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        """C from the states (L, B, 2H): (B, W)."""
        context = self._network.context
        places = torch.arange(len(states), device=states.device)[:, None]
        pooled = context.pool(states, (places < lengths)[..., None])
        weight = context.value.weight
        return functional.linear(
            pooled, functional.pad(weight, (0, 0, 0, self._width - len(weight)))
        )

    def _objective(self, pairs: Tensor, contexts: Tensor, others: Tensor) -> tuple[Losses, Scores]:
        scores = score_triples(pairs, contexts, others)
        return losses(scores, self._typed), scores

    def _summary(self, found: Losses, scores: Scores, norm: Tensor) -> Tensor:
        return step_summary(found, scores, norm).detach()

    def _touched(self) -> dict[str, Tensor]:
        """For each table, whether the batch names a row, (V, 1)."""
        inputs = self._inputs
        assert inputs is not None
        named = {"pair_words": [inputs.x, inputs.y], "context_words": [inputs.contexts]}
        masks = {
            name: torch.zeros(len(table), 1, dtype=torch.bool, device=self._device)
            for name, table in self._tables.items()
        }
        for name, ids in named.items():
            for rows in ids:
                # Not by assignment: it would send the True from the host, which no graph holds.
                masks[name].index_fill_(0, rows.flatten(), True)
        return masks

    @torch.no_grad()
    def _update(self, gradients: dict[str, Tensor], touched: dict[str, Tensor]) -> Tensor:
        """Change all weights, and of the tables the rows touched; returns the gradient's norm."""
        norm: Tensor = torch.stack([gradient.norm() for gradient in gradients.values()]).norm()
        changes = norm.isfinite() & self._changes
        limit = self._config.clip
        scale = (limit / (norm + 1e-6)).clamp(max=1.0) if limit else 1.0
        weights, step = self._weights(), self._steps + 1
        for name, gradient in gradients.items():
            changed = changes & touched[name] if name in touched else changes
            self._optimiser.update_where(
                changed, name, weights[name], gradient * scale, self._rate, step
            )
        self._steps.add_(changes)
        return norm


class _Inputs:
    """Places on the device that hold a batch, the same ones in each step."""

    def __init__(self, batch: TrainingBatch) -> None:
        count, device = len(batch.x), batch.x.device
        self.x = torch.cat([batch.x[:, None], batch.other_x], dim=1)
        self.y = torch.cat([batch.y[:, None], batch.other_y], dim=1)
        self.contexts = torch.zeros(count, LONGEST_CONTEXT, dtype=torch.long, device=device)
        self.lengths = torch.zeros(count, dtype=torch.long, device=device)
        self.shuffles = batch.shuffles.clone()
        self.fill(batch)

    def fill(self, batch: TrainingBatch) -> None:
        """With another batch of the same size."""
        for to, first, others in (
            (self.x, batch.x, batch.other_x),
            (self.y, batch.y, batch.other_y),
        ):
            to[:, 0] = first
            to[:, 1:] = others
        self.shuffles.copy_(batch.shuffles)
        start = 0
        for group in batch.contexts:
            stop, length = start + len(group), group.shape[1]
            self.contexts[start:stop, :length] = group
            # Behind its end a context repeats its X, so that all words in it are named by it.
            self.contexts[start:stop, length:] = group[:, 1:2]
            self.lengths[start:stop] = length
            start = stop


# == The fused step on several ranks: two recorded graphs, and between them the exchange.
#
# Whole tables take part, and so do their gradients in the exchange: between GPUs that is cheaper than
# to find out which rows were touched and to wait for their number.


class DistributedCudaGraphStep(CudaGraphStep):
    """A fused step that learns from the batches of all ranks."""

    def __init__(
        self,
        network: Network,
        optimiser: Optimiser,
        config: TrainingConfig,
        typed: int,
        ranks: ProcessGroup,
        precision: torch.dtype = torch.bfloat16,
    ) -> None:
        super().__init__(network, optimiser, config, typed, precision)
        self._ranks = ranks
        self._names: list[str] = []
        """Of the weights that have a gradient, in its order."""
        self._sent = torch.empty(0, device=self._device)
        """All gradients, then what is known of the losses."""
        self._marks = torch.empty(0, dtype=torch.uint8, device=self._device)
        """Whether a row of a table is touched, one table after another."""

    def _share(self) -> float:
        assert self._inputs is not None
        return len(self._inputs.x) / self._config.batch

    def _run(self) -> None:
        self._differentiate_own()
        self._exchange()
        self._apply()

    def _recorded(self) -> Callable[[], None]:
        # Each has memory of its own: what the first leaves there is read by the second.
        first, second = self._captured(self._differentiate_own), self._captured(self._apply)

        def replay() -> None:
            first.replay()
            self._exchange()
            second.replay()

        return replay

    def _differentiate_own(self) -> None:
        """What this rank's part of the batch adds to the gradients."""
        found, scores, gradients = self._differentiate()
        self._names = list(gradients)
        means = torch.stack(mean_losses(found, scores)).detach() * self._share()
        self._sent = flatten_tensors([*gradients.values(), means])
        self._marks = torch.cat(list(self._touched().values())).view(torch.uint8)

    def _exchange(self) -> None:
        self._ranks.add_up(self._sent)
        self._ranks.unite(self._marks)

    def _apply(self) -> None:
        """Change the weights, by what all ranks have found."""
        weights = self._weights()
        known = self._sent.new_empty(len(SUMMARY) - 1)
        *gradients, means = split_like(
            self._sent, [*(weights[name] for name in self._names), known]
        )
        masks = torch.split(
            self._marks.view(torch.bool), [len(table) for table in self._tables.values()]
        )
        norm: Tensor = self._update(
            dict(zip(self._names, gradients, strict=True)),
            dict(zip(self._tables, masks, strict=True)),
        )
        self._values = torch.cat([means.double(), norm.double()[None]])
