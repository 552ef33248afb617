"""The fused step on several ranks: two recorded graphs, and between them the exchange.

Whole tables take part, and so do their gradients in the exchange: between GPUs that is cheaper than
to find out which rows were touched and to wait for their number.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from pair2vec.training.exchange import flattened, split_like
from pair2vec.training.fused_step import FusedStep
from pair2vec.training.network import Network
from pair2vec.training.optimisers import Optimiser
from pair2vec.training.ranks import Ranks
from pair2vec.training.recipes import TrainingConfig
from pair2vec.training.steps import SUMMARY, mean_losses


class FusedStepTogether(FusedStep):
    """A fused step that learns from the batches of all ranks."""

    def __init__(
        self,
        network: Network,
        optimiser: Optimiser,
        config: TrainingConfig,
        typed: int,
        ranks: Ranks,
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
        self._sent = flattened([*gradients.values(), means])
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
