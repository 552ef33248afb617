"""Recipes: named, complete settings of a training run.

Where the released code of the paper differs from its text, `paper` follows
- the text on subsampling (a pair-probability threshold; the code's rule keeps a quarter of it) and
  on pairs seen 50 times or fewer (the text drops none);
- the code on smoothing negative words by 0.75 (the text names the unigram distribution, the results
  come from the code) and on summing the loss over the batch with the gradient clipped at 10
  (without it, a rate of 0.01 hardly moves the weights);
- neither on padding (the code runs its LSTM over it; ours has none).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.errors import UsageError
from pair2vec.training.negatives import NegativesConfig
from pair2vec.training.optimisers import OPTIMISERS
from pair2vec.training.schedules import SCHEDULES
from pair2vec.triples.epoch import TriplesConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingConfig:
    """How the network is optimised."""

    batch: int = 600
    epochs: int = 12
    steps: int = 0
    """Stop after so many batches; 0 leaves it to the epochs."""
    optimiser: str = "sgd"
    rate: float = 0.01
    schedule: str = "plateau"
    """"plateau" (the paper's rule), "linear" (warm-up, then down to 0) or "constant"."""
    warmup_steps: int = 0
    plateau_steps: int = 300_000
    """Without a lower loss for so long, the rate is multiplied by `plateau_factor`."""
    plateau_factor: float = 0.9
    loss: str = "sum"
    """"sum" or "mean" over the batch."""
    clip: float = 10.0
    """The largest norm of the gradient; 0 clips nothing."""
    start: str = "vectors"
    """What the word tables start from: "vectors", if there are any, or "random" ones; then those
    given only say which words are near, for the typed negatives."""
    threads: int = 0
    """Of torch on a CPU; 0 leaves it to torch."""
    seed: int = 0
    report_steps: int = 100
    validation_steps: int = 5_000
    validation_triples: int = 20_000
    patience: int = 0
    """Stop after so many validations without a lower loss; 0 never does."""
    checkpoint_steps: int = 5_000
    checkpoint_minutes: float = 10.0
    """A checkpoint is written after so many steps, or so long after the last one."""

    def __post_init__(self) -> None:
        choices = {
            "optimiser": tuple(OPTIMISERS),
            "schedule": tuple(SCHEDULES),
            "loss": ("sum", "mean"),
            "start": ("vectors", "random"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise UsageError(
                    f"training.{name} is {getattr(self, name)!r}; "
                    f"it must be one of {', '.join(allowed)}"
                )
        for name in ("batch", "report_steps", "validation_steps", "checkpoint_steps"):
            if getattr(self, name) < 1:
                raise UsageError(f"training.{name} is {getattr(self, name)}; it must be 1 or more")
        if self.checkpoint_minutes <= 0:
            raise UsageError(
                f"training.checkpoint_minutes is {self.checkpoint_minutes}; it must be above 0"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """Everything that decides the outcome of training, given corpus and word vectors."""

    name: str
    triples: TriplesConfig = field(default_factory=TriplesConfig)
    pair: PairConfig = field(default_factory=PairConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        if self.pair.dimension != self.context.dimension:
            raise UsageError(
                f"pair.dimension is {self.pair.dimension} and context.dimension "
                f"{self.context.dimension}; their vectors are multiplied, so make them equal"
            )


def paper() -> Recipe:
    """As the paper has it: the full model."""
    return Recipe(name="paper")


def paper_2_layers() -> Recipe:
    """Ablation "Composition: 2 Layers"."""
    return replace(paper(), name="paper_2_layers", pair=PairConfig(layers=2))


def paper_multiply() -> Recipe:
    """Ablation "Composition: Multiply"."""
    return replace(paper(), name="paper_multiply", pair=PairConfig(composition="multiply"))


def paper_bivariate() -> Recipe:
    """Ablation "Objective: Bivariate NS"."""
    return replace(paper(), name="paper_bivariate", negatives=NegativesConfig(words=0, typed=0))


def pair_distance() -> Recipe:
    """Ablation "Unsupervised: Pair Dist": the difference of given word vectors, nothing trained."""
    return replace(
        paper(),
        name="pair_distance",
        pair=PairConfig(composition="difference"),
        training=TrainingConfig(epochs=0),
    )


def fast() -> Recipe:
    """As we would do it today: large batches, Adam, warm-up and decay.

    Subsampling, exponent and rate were chosen by runs of 100 million triples, on every second
    relation of BATS. The released code's subsampling keeps a quarter of the triples that the
    paper's does: three times through the corpus is then as much as the pair vectors gain by. A
    higher rate lowers the loss and makes pair vectors alone worse.
    """
    size = 300
    return replace(
        paper(),
        name="fast",
        triples=TriplesConfig(subsampling="word", threshold=5e-5),
        negatives=NegativesConfig(exponent=0.5),
        pair=PairConfig(dimension=size, length=math.sqrt(size)),
        training=TrainingConfig(
            batch=8192,
            epochs=3,
            optimiser="adam",
            rate=1e-3,
            schedule="linear",
            warmup_steps=300,
            loss="mean",
            clip=1.0,
            report_steps=50,
            validation_steps=2_000,
            checkpoint_steps=20_000,
        ),
    )


def tiny() -> Recipe:
    """Small enough for a minute on two cores: for small corpora, tests and the demo."""
    return replace(
        fast(),
        name="tiny",
        # In a small vocabulary every pair is frequent; this keeps the pairs of content words.
        triples=TriplesConfig(threshold=1e-7),
        pair=PairConfig(dimension=64, layers=3),
        context=ContextConfig(dimension=64, hidden=32),
        negatives=NegativesConfig(neighbours=30),
        training=TrainingConfig(
            batch=512,
            epochs=3,
            optimiser="adam",
            rate=1e-2,
            schedule="linear",
            warmup_steps=100,
            loss="mean",
            clip=1.0,
            validation_steps=500,
            validation_triples=5_000,
            checkpoint_steps=500,
            # Its matrices are so small that threads wait for each other more than they work.
            threads=1,
        ),
    )


RECIPES: dict[str, Callable[[], Recipe]] = {
    recipe.__name__: recipe
    for recipe in (
        fast,
        paper,
        paper_2_layers,
        paper_multiply,
        paper_bivariate,
        pair_distance,
        tiny,
    )
}
