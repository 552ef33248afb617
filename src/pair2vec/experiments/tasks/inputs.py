"""Inputs of a network: the embedder of its words and the source of relations between them."""

import os
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast, get_args

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.embedders.embedder import Embedder
from pair2vec.experiments.embedders.open import open_embedder
from pair2vec.injection.frozen_pair import subset_vocabulary, whitened_weights
from pair2vec.injection.pair_attention import AttentionMode, PairAttention
from pair2vec.injection.pair_distance import pair_distance_attention
from pair2vec.injection.sources import ConcatenatedSources, EmptySource, RelationSource
from pair2vec.injection.wordnet_attention import WordNetAttention
from pair2vec.model.folder import load_model
from pair2vec.model.resolve import bundled_models, find_model
from pair2vec.ranges import OptionalCount, PartialShare, Range, Share, check_ranges
from pair2vec.runtime.jobs import content_hash
from pair2vec.wordnet.dictionary import DICTIONARY_FILES, WordNet, find_dictionary

PairSourceName = Literal["pair2vec", "wordnet", "none", "pair_distance"]
"""Where relations between two words come from: a pair2vec model; WordNet (the features of KIM);
nothing; or the difference of the two words' vectors."""

SEPARATOR = "+"
"""Between the names of several sources, which are concatenated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PairsConfig:
    """How relations between words enter the network."""

    dropout: PartialShare = 0.15
    """Of pair vectors and of differences; WordNet's features are never dropped."""
    attention: AttentionMode = "kept"
    """What happens to attention on out-of-vocabulary words of the pair2vec model."""
    sharpness: Annotated[float, Range(above=0, most=100)] = 1.0
    """The power of attention to pair vectors; 1 is the paper's."""
    whitening: Share = 0.0
    """Of R, or of differences, from 0 (the paper) to 1."""
    at_once: OptionalCount = 0
    """The most pairs whose vectors are in memory at a time; 0 is what suits the device."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class InputPaths:
    """The inputs as the user names them."""

    words: str
    """A file of word vectors, or a folder with ELMo or a Hugging Face encoder."""
    pairs: str = "none"
    """One of `PairSourceName`, or several as in "pair2vec+wordnet"."""
    pair_model: str | None = None
    """Of pair2vec: a folder, a bundled model or one on the hub; None is the default one."""
    wordnet: str | None = None
    """The folder of WordNet; None looks where it is usually installed."""
    pair_vectors: str | None = None
    """The word vectors whose differences `pair_distance` takes: those that R started from."""

    def __post_init__(self) -> None:
        sources, known = self.pair_sources, get_args(PairSourceName)
        if not set(sources) <= set(known) or len(set(sources)) < len(sources):
            raise UsageError(
                f"--pairs {self.pairs}: it must be one of {', '.join(known)}, or several, each "
                f"once, as in pair2vec{SEPARATOR}wordnet"
            )

    @property
    def pair_sources(self) -> list[PairSourceName]:
        """The sources that are concatenated."""
        return cast("list[PairSourceName]", self.pairs.split(SEPARATOR))

    def replaced(self, others: Mapping[str, str | None]) -> "InputPaths":
        """A copy with the paths of `others` that are not None."""
        changes: dict[str, Any] = {name: path for name, path in others.items() if path is not None}
        return replace(self, **changes)

    def resolved(self) -> dict[str, Any]:
        """As they are saved: paths are absolute, names of bundled and hub models stay."""
        names = set(bundled_models())
        return {
            name: os.fspath(Path(value).resolve())
            if name != "pairs" and value is not None and value not in names and Path(value).exists()
            else value
            for name, value in asdict(self).items()
        }


class Inputs(NamedTuple):
    """Opened inputs, for the words of a data set alone."""

    embedder: Embedder
    relations: RelationSource
    source: dict[str, Any]
    """What is known of the source of relations."""


def open_inputs(paths: InputPaths, words: Iterable[str], config: PairsConfig) -> Inputs:
    """Load the embedder and the relations of these words.

    An embedder with trainable weights initialises them from torch's global generator.

    Raises:
        InputError: an input is missing or damaged.
    """
    distinct = list(dict.fromkeys(words))
    relations, source = open_relations(paths, distinct, config)
    return Inputs(open_embedder(paths.words, distinct), relations, source)


_Opened = tuple[RelationSource, dict[str, Any]]


def open_relations(paths: InputPaths, words: list[str], config: PairsConfig) -> _Opened:
    """The source of relations among these words alone, and what is known of it."""
    opened = [_SOURCES[name](paths, words, config) for name in paths.pair_sources]
    if len(opened) == 1:
        return opened[0]
    known = ChainMap(*(facts for _, facts in opened))
    return ConcatenatedSources([source for source, _ in opened], words), dict(known)


def _no_pairs(paths: InputPaths, words: list[str], config: PairsConfig) -> _Opened:
    del paths, words, config
    return EmptySource(), {}


def _pair_vectors(paths: InputPaths, words: list[str], config: PairsConfig) -> _Opened:
    saved = load_model(find_model(paths.pair_model))
    layer = PairAttention(
        subset_vocabulary(whitened_weights(saved, config.whitening), words),
        dropout=config.dropout,
        attention=config.attention,
        sharpness=config.sharpness,
        pairs_at_once=config.at_once,
        keep_parts=True,
    )
    fingerprint = saved.config.get("corpus", {}).get("fingerprint")
    return layer, {
        "name": saved.folder.name,
        "recipe": saved.config.get("recipe", {}).get("name"),
        "corpus": fingerprint,
        "words": len(saved.vocabulary),
    }


def _wordnet(paths: InputPaths, words: list[str], config: PairsConfig) -> _Opened:
    del config
    return WordNetAttention(WordNet.open(paths.wordnet), words), {}


def _differences(paths: InputPaths, words: list[str], config: PairsConfig) -> _Opened:
    path = paths.pair_vectors
    if path is None:
        # Not the network's own words: it has their differences already.
        raise UsageError(
            "--pairs pair_distance takes differences of the word vectors that pair2vec was trained "
            "from: name their file as --pair-vectors"
        )
    layer = pair_distance_attention(path, words, dropout=config.dropout, whitening=config.whitening)
    return layer, {"name": Path(path).name}


_SOURCES: dict[PairSourceName, Callable[[InputPaths, list[str], PairsConfig], _Opened]] = {
    "none": _no_pairs,
    "pair2vec": _pair_vectors,
    "wordnet": _wordnet,
    "pair_distance": _differences,
}


def input_hashes(paths: InputPaths) -> dict[str, str]:
    """Content hashes of the files that a network reads its words and relations from."""
    hashes = {"words": content_hash(Path(paths.words))}
    sources = paths.pair_sources
    if "pair2vec" in sources:
        hashes["pair_model"] = load_model(find_model(paths.pair_model)).fingerprint
    if "wordnet" in sources:
        folder = find_dictionary(paths.wordnet)
        hashes["wordnet"] = " ".join(content_hash(folder / name)[:8] for name in DICTIONARY_FILES)
    if "pair_distance" in sources and paths.pair_vectors is not None:
        hashes["pair_vectors"] = content_hash(Path(paths.pair_vectors))
    return hashes


def check_input_hashes(
    actual: Mapping[str, str], expected: Mapping[str, str], folder: Path
) -> None:
    """Refuse other inputs than those a network was trained with.

    Raises:
        InputError: the content of one of them is another.
    """
    for name in expected:
        if actual.get(name) != expected[name]:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{folder}: was trained with another content of {option} than what is there now; "
                f"name the right one as {option}"
            )
