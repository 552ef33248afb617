"""Recipes: named, complete settings of a training run, and settings as a user writes them.

Settings come from a recipe, a TOML file and ``--set training.batch=4096``, and are saved as JSON.

Where the released code of the paper differs from its text, `paper` follows
- the text on subsampling (a pair-probability threshold; the code's rule keeps a quarter of it) and
  on pairs seen 50 times or fewer (the text drops none);
- the code on what "does not decrease for 300K steps" is said of: means over 30K steps;
- the code on smoothing negative words by 0.75 (the text names the unigram distribution, the results
  come from the code) and on summing the loss over the batch with the gradient clipped at 10
  (without it, a rate of 0.01 hardly moves the weights);
- the text's objective on where negative words come from, P(x, ·, ·) and P(·, y, ·), which are also
  what the code draws from: the marginals of the triples that subsampling leaves, in which frequent
  words are rarer than in the corpus;
- the text on negative contexts, P(·, ·, c) as it is (the code smooths it by 0.75:
  ``negatives.context_exponent``);
- neither on padding (the code runs its LSTM over it; ours has none), nor on the edges of sentences
  (where a word to the left or right is missing, the code has a shorter context; ours has a word
  ``<s>``, so that a pattern can say that X begins a sentence).

`fast` draws negative words from the corpus, smoothed by 0.5.
"""

import difflib
import logging
import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig, unit_product_length
from pair2vec.errors import UsageError
from pair2vec.ranges import Count, Range, Share, check_ranges
from pair2vec.text.corpus import Corpus
from pair2vec.training.batches import NegativesConfig
from pair2vec.training.optim import TrainingConfig
from pair2vec.triples.epoch import TriplesConfig, TripleStream
from pair2vec.word_vectors.fasttext import SMALL_CORPUS, fitting_dimension

_log = logging.getLogger(__name__)

_NOT_TOML = (ValueError, RecursionError)
"""Raised for what is no TOML, for a number of thousands of digits, for thousands of brackets."""

_TOO_LARGE = 10**18
"""In absolute value: TOML's integers have 64 bits, and the error of a range prints the value."""

_LEAST_TRIPLES, _MOST_EPOCHS = 2_000_000, 10
_FITTED_STEPS = 8_000
_SMALLEST_BATCH, _LARGEST_BATCH = 64, 1_024
_FITTED_RATE = 3e-3
"""Of `fitted`, for a small corpus; chosen with benchmarks/own_text.py."""

ConfigT = TypeVar("ConfigT")
"""A frozen dataclass of values, and of groups of settings that are such dataclasses themselves."""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class ContinuedConfig:
    """How a published model goes on with another corpus."""

    min_count: Count = 5
    """New words that occur less often in the corpus are left out."""
    known: Annotated[float, Range(least=0, most=1_000_000)] = 1_000_000.0
    """What an occurrence in the model's text weighs beside one in the corpus: a word with n in the
    corpus and m in the model's text learns at n / (n + known · m) of the rate. So much lets new
    words alone learn, chosen by ``benchmarks/continue_field.py`` for a text of a few megabytes; 1
    counts both texts alike, and 0 lets all words learn alike."""
    encoders: Share = 0.0
    """The share of the rate at which R and C learn; 0 keeps them, and the relation head, as they
    are."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class ContinuedRecipe(Recipe):
    """Of a run that goes on from a published model."""

    continued: ContinuedConfig = field(default_factory=ContinuedConfig)


def paper() -> Recipe:
    """The paper's full model."""
    return Recipe(name="paper", negatives=NegativesConfig(words_from="triples"))


def paper_2_layers() -> Recipe:
    """Ablation "Composition: 2 Layers"."""
    return replace(paper(), name="paper_2_layers", pair=PairConfig(layers=2))


def paper_multiply() -> Recipe:
    """Ablation "Composition: Multiply"."""
    full = paper()
    length = unit_product_length(full.pair.dimension)
    pair = replace(full.pair, composition="multiply", length=length)
    return replace(full, name="paper_multiply", pair=pair)


def paper_bivariate() -> Recipe:
    """Ablation "Objective: Bivariate NS"."""
    full = paper()
    negatives = replace(full.negatives, words=0, typed=0)
    return replace(full, name="paper_bivariate", negatives=negatives)


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
        training=replace(
            fast().training,
            batch=512,
            rate=1e-2,
            warmup_steps=100,
            report_steps=100,
            validation_steps=500,
            validation_triples=5_000,
            checkpoint_steps=500,
            # Compiling and capturing a step would take longer than a run.
            step_mode="plain",
            # Its matrices are so small that threads wait for each other more than they work.
            threads=1,
        ),
    )


def fitted(corpus: Corpus, dimension: int | None = None) -> Recipe:
    """What a corpus is trained with where no recipe is named: `fast`, in a size that suits it.

    - A corpus of 20 million tokens or more has `fast` as it is.
    - A smaller one has a smaller network and batches of which there are some thousands, trained on
      for 3 epochs, or up to 10 to see two million triples; and ten validations.
    - Where all words are frequent, as in a text of a hundred words, subsampling leaves nothing of
      it: the threshold is raised tenfold until an epoch has a triple for every second token.

    Args:
        corpus: To train on.
        dimension: Of the word vectors to start from, if there are any.
    """
    tokens = corpus.manifest.tokens
    size = dimension or fitting_dimension(tokens)
    sized = replace(
        fast(),
        name="fitted",
        pair=PairConfig(dimension=size, length=math.sqrt(size)),
        context=ContextConfig(dimension=size),
    )
    if tokens >= SMALL_CORPUS:
        _log.info("recipe fast, which fits %.0f million tokens", tokens / 1e6)
        return sized
    triples, per_epoch = _enough_triples(corpus, sized.triples)
    epochs = min(_MOST_EPOCHS, max(sized.training.epochs, _LEAST_TRIPLES // per_epoch))
    # The power of two that is nearest to as many batches as the smallest good model needs.
    batch = 2 ** round(math.log2(max(1, epochs * per_epoch / _FITTED_STEPS)))
    batch = min(_LARGEST_BATCH, max(_SMALLEST_BATCH, batch))
    steps = max(1, epochs * per_epoch // batch)
    is_short = epochs * per_epoch < 2 * _LEAST_TRIPLES
    validation_steps = max(1, steps // 10)
    _log.info(
        "settings that fit %.1f million tokens: %d dimensions, %d epochs, batch %s, a validation "
        "every %s steps",
        tokens / 1e6,
        size,
        epochs,
        f"{batch:,}",
        f"{validation_steps:,}",
    )
    return replace(
        sized,
        triples=triples,
        context=ContextConfig(dimension=size, hidden=max(1, size // 2)),
        training=replace(
            sized.training,
            batch=batch,
            epochs=epochs,
            rate=_FITTED_RATE,
            warmup_steps=min(sized.training.warmup_steps, steps // 10),
            validation_steps=validation_steps,
            report_steps=max(1, steps // 200),
            checkpoint_minutes=2.0,
            # Compiling and capturing a step would take longer than a run.
            step_mode="plain" if is_short else "auto",
        ),
    )


def _enough_triples(corpus: Corpus, config: TriplesConfig) -> tuple[TriplesConfig, int]:
    """Settings that keep a triple for every second token or more, and how many an epoch has."""
    while True:
        triples = max(1, TripleStream(corpus, config).expected_triples())
        if 2 * triples >= corpus.manifest.tokens or config.threshold >= 1:
            return config, triples
        config = replace(config, threshold=min(1.0, 10 * config.threshold))


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


def find_recipe(name: str) -> Recipe:
    if name not in RECIPES:
        raise UsageError(f"no recipe {name!r}; {_nearest(name, RECIPES)}")
    return RECIPES[name]()


def resolve(
    name: str | None,
    config: Path | None,
    assignments: Iterable[str],
    unnamed: Callable[[], Recipe] = fast,
) -> Recipe:
    """The named recipe, or else `unnamed`, changed by a TOML file, then by ``key=value``."""
    settings = read_settings(name, config, assignments)
    named = settings.pop("recipe", None)
    return with_settings(find_recipe(named) if named else unnamed(), settings)


def read_settings(
    name: str | None, config: Path | None, assignments: Iterable[str]
) -> dict[str, Any]:
    """The settings of a TOML file, changed by assignments; ``recipe`` is a name, if given."""
    settings = _read_toml(config) if config else {}
    named = name or settings.pop("recipe", None)
    assign(settings, assignments)
    return {**settings, "recipe": str(named)} if named else settings


def assign(settings: dict[str, Any], assignments: Iterable[str]) -> None:
    """Put ``key=value`` assignments into nested settings."""
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals:
            raise UsageError(f"--set {assignment}: expected KEY=VALUE, as in training.batch=4096")
        _assign(settings, key.strip().split("."), _parse(value.strip()))


def with_settings(before: ConfigT, settings: Mapping[str, Any]) -> ConfigT:
    """`before` with nested settings changed, all at once, since some only fit together.

    Raises:
        UsageError: a key or value is wrong; the message names the nearest valid one.
    """
    changed: ConfigT = _changed(before, settings, "")
    return changed


def recipe_from_json(saved: Mapping[str, Any]) -> Recipe:
    """The recipe that was saved with ``asdict``; a setting that is not there has its default."""
    kind = ContinuedRecipe if "continued" in saved else Recipe
    return with_settings(kind(name=saved["name"]), saved)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"{path}: no such file") from error
    except UnicodeDecodeError as error:
        where = f"byte {error.object[error.start]:#x} at {error.start}"
        raise UsageError(f"{path}: not UTF-8 ({where}); save it as UTF-8 text") from error
    except _NOT_TOML as error:
        raise UsageError(f"{path}: not TOML: {error}") from error


def _assign(settings: dict[str, Any], keys: list[str], value: object) -> None:
    for key in keys[:-1]:
        inner = settings.setdefault(key, {})
        if not isinstance(inner, dict):
            raise UsageError(f"--set {'.'.join(keys)}: {key} is set to {inner!r} already")
        settings = inner
    settings[keys[-1]] = value


def _parse(value: str) -> object:
    """A TOML value; a bare word is a string."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except _NOT_TOML:
        return value


def _changed(owner: Any, settings: Mapping[str, Any], prefix: str) -> Any:  # noqa: ANN401
    known = {field.name: getattr(owner, field.name) for field in fields(owner)}
    changes = {}
    for key, value in settings.items():
        if key not in known:
            raise UsageError(f"no setting {prefix}{key}; {_nearest(key, known, prefix)}")
        if is_dataclass(known[key]):
            if not isinstance(value, Mapping):
                inner = ", ".join(asdict(known[key]))
                raise UsageError(f"{prefix}{key} is a group of settings: {inner}")
            changes[key] = _changed(known[key], value, f"{prefix}{key}.")
        else:
            changes[key] = _typed(value, known[key], f"{prefix}{key}")
    try:
        return replace(owner, **changes)
    except UsageError as error:
        raise UsageError(f"{prefix}{error}") from error


def _typed(value: object, present: object, name: str) -> object:
    wanted = type(present)
    if isinstance(value, int) and abs(value) >= _TOO_LARGE:
        raise UsageError(f"{name} has more than 18 digits; no setting is that large")
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not wanted:
        types = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}
        raise UsageError(f"{name} is {value!r}; it must be {types[wanted]}, as in {present!r}")
    return value


def _nearest(name: str, known: Iterable[str], prefix: str = "") -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.4)
    if close:
        return f"did you mean {prefix}{close[0]}?"
    return f"there are {', '.join(prefix + key for key in known)}"
