"""Go on from a published model with another corpus: its words, and the new words of the corpus.

The encoders R and C and the relation head stay as they are, so that what they say of the model's
words stays true; the word tables learn. A word's vector is an average over all that was read of it:
the more of that is new, the faster it learns, and a word that the model lacks learns at the full
rate. It starts from the mean vector of the words around it, mapped to the model's table by a ridge
regression on words that the model knows: "à la carte" (Khodak et al., 2018).

Shapes: V ids of the merged vocabulary, D dimension.
"""

import datetime
import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from pair2vec.arrays import FloatArray, normalise, safe_norms
from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.runtime.checksums import CHECKSUMS
from pair2vec.text.corpus import Corpus, with_vocabulary
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.training.network import Network
from pair2vec.training.publish import (
    ModelContent,
    corpus_record,
    model_recipe,
    published_arrays,
    trainable_network,
)
from pair2vec.training.recipes import (
    ContinuedConfig,
    ContinuedRecipe,
    Recipe,
    fast,
    find_recipe,
    read_settings,
    with_settings,
)
from pair2vec.training.trainer import TrainedNetwork, Trainer
from pair2vec.triples.epoch import WordSubsampling
from pair2vec.triples.windows import find_triples, triple_words
from pair2vec.word_vectors.carry_over import FREQUENT_COUNT, carry_over
from pair2vec.word_vectors.formats import WordVectors, read_word_vectors

CONTINUED_KEY = "continued"
"""Of the model's config: which model it was continued from, with what."""

_PAIR_WORDS, _CONTEXT_WORDS = "pair.words", "context.words"
_LEAST_KNOWN = 20
"""A model may have read a word less often than that, or never, and know it all the same: from
other vectors, or from labelled pairs. It counts as read so often."""

_NOT_KEPT = {"metrics", "shrunk", CHECKSUMS}
_MEANS_THRESHOLD = 1e-3
"""Of subsampling words around others. The map weighs directions, so that it need not be low."""
_BLOCK = 1 << 16
"""Tokens at a time: as many vectors as their triples are in memory."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Continuation:
    """What a run that goes on from a model begins with."""

    model: SavedModel
    config: ContinuedConfig
    corpus: Corpus
    """With the ids of the vocabulary; in memory."""
    vocabulary: Vocabulary
    """Of both, the most frequent word first, with the counts of both texts."""
    context_words: int
    """Ids up to this one get a row of C's table in the new model."""
    trained: TrainedNetwork

    @property
    def new_words(self) -> int:
        return len(self.vocabulary) - len(self.model.vocabulary)


def continued_recipe(
    model: SavedModel,
    name: str | None = None,
    config: Path | None = None,
    assignments: Iterable[str] = (),
) -> ContinuedRecipe:
    """The recipe to go on from a model by, changed as `recipes.resolve` changes one.

    By default with the model's own network and negatives, one epoch, and small batches: a corpus of
    a few megabytes has few triples, and in large ones a new word would be moved too seldom. More
    steps, or a higher rate, make `fill` better and relations worse: the head was taught on vectors
    that text alone does not lead to (benchmarks/continue_field.py).
    """
    settings = read_settings(name, config, assignments)
    if named := settings.pop("recipe", None):
        base = find_recipe(named)
    else:
        training = replace(
            fast().training,
            batch=1024,
            epochs=1,
            warmup_steps=100,
            report_steps=50,
            validation_steps=1_000,
            checkpoint_steps=2_000,
        )
        own = model_recipe(model)
        base = replace(own, name="continued", training=training)
    groups = {field.name: getattr(base, field.name) for field in fields(Recipe)}
    return with_settings(ContinuedRecipe(**groups), settings)


def check_continued(model: SavedModel, recipe: Recipe, out: Path) -> ContinuedRecipe:
    """Refuse what cannot go on from a model.

    Raises:
        UsageError: the model has nothing to train, the recipe is of another network, or `out` is
            the model itself.
    """
    if not isinstance(recipe, ContinuedRecipe):
        raise UsageError(f"{out}: was begun without a model; leave out --from {model.folder}")
    own = model_recipe(model)
    if own.pair.composition == "difference":
        raise UsageError(
            f"--from {model.folder}: its pairs are differences of word vectors, which nothing "
            "trains; give a model of another recipe"
        )
    for group in ("pair", "context"):
        wanted, found = (asdict(getattr(r, group)) for r in (recipe, own))
        for name in wanted:
            if wanted[name] != found[name]:
                raise UsageError(
                    f"recipe {recipe.name}: has {group}.{name}={wanted[name]} where the model "
                    f"--from {model.folder} has {found[name]}; leave out --recipe or the setting"
                )
    if not recipe.training.epochs:
        raise UsageError(f"recipe {recipe.name} trains nothing: no model goes on by it")
    if recipe.training.step_mode == "cuda_graph":
        raise UsageError("--from needs training.step_mode=plain: rows learn at their own rates")
    if out.resolve() == model.folder.resolve():
        raise UsageError(f"{out}: is the model to go on from; give another --out")
    return recipe


def continue_from(
    model: SavedModel,
    corpus: Corpus,
    config: ContinuedConfig,
    vectors: Iterable[Path] = (),
) -> Continuation:
    """Merge the words of a model with those of a corpus, and find a vector for each.

    Args:
        model: To go on from.
        corpus: Which stays as it is on the disk.
        config: Which words to add, and how fast all learn.
        vectors: Files of word vectors of any dimension. Words that the model lacks are carried
            over from the first that has them; the others start from the words around them.
    """
    vocabulary = merged_vocabulary(model.vocabulary, corpus.vocabulary, config.min_count)
    corpus = with_vocabulary(corpus, vocabulary)
    sources = [read_word_vectors(path, vocabulary) for path in vectors]
    own_words = word_table(model, _PAIR_WORDS, vocabulary, *sources)
    pair_words = _with_context_means(own_words, corpus, config.min_count)
    network = network_of_words(model, pair_words)
    for encoder in (network.pair, network.context):
        encoder.requires_grad_(config.encoders > 0)
    shares = {
        "pair_words": _shares(model, vocabulary, corpus, _PAIR_WORDS, config),
        "context_words": _shares(model, vocabulary, corpus, _CONTEXT_WORDS, config),
        **{name: torch.tensor(config.encoders) for name, _ in network.named_parameters()},
    }
    found = Continuation(
        model,
        config,
        corpus,
        vocabulary,
        _context_words(model, vocabulary),
        TrainedNetwork(network, shares),
    )
    _log.info(
        "%s new words occur %d times or more; %s words of the model occur in the corpus",
        f"{found.new_words:,}",
        config.min_count,
        f"{np.count_nonzero(corpus.vocabulary.counts) - found.new_words:,}",
    )
    return found


def merged_vocabulary(model: Vocabulary, corpus: Vocabulary, min_count: int) -> Vocabulary:
    """All words of a model, and those of a corpus that occur `min_count` times or more there.

    With the counts of both, by frequency, then alphabetically.
    """
    special = len(SPECIAL_TOKENS)
    totals = dict(zip(model.words[special:], model.counts[special:].tolist(), strict=True))
    for word, count in zip(corpus.words[special:], corpus.counts[special:].tolist(), strict=True):
        if word in totals:
            totals[word] += count
        elif count >= min_count:
            totals[word] = count
    return Vocabulary(sorted(totals.items(), key=lambda entry: (-entry[1], entry[0])))


def word_table(
    model: SavedModel, name: str, vocabulary: Vocabulary, *sources: WordVectors
) -> WordVectors:
    """A table of word vectors of a model for another vocabulary.

    Args:
        model: With the table.
        name: ``pair.words`` or ``context.words``.
        vocabulary: Whose words to find.
        sources: Other vectors of this vocabulary, from which words that the model lacks are carried
            over.
    """
    table = model.array(name)
    own = model.vocabulary.ids
    ids = np.array([own.get(word, len(table)) for word in vocabulary.words])
    found = ids < len(table)
    vectors = np.zeros((len(vocabulary), table.shape[1]), np.float32)
    vectors[found] = table[ids[found]]
    vectors[~found] = _small_vectors(table, int((~found).sum()))
    known = WordVectors(vocabulary, vectors, found)
    for source in sources:
        if not known.found.all():
            known = carry_over(known, source, rare=0)
    return known


def network_of_words(model: SavedModel, pair_words: WordVectors) -> Network:
    """The network of a model with another vocabulary, that of `pair_words`.

    Words that C has no row for get one mapped from their row of R's table.
    """
    context_words = _carried(word_table(model, _CONTEXT_WORDS, pair_words.vocabulary), pair_words)
    return trainable_network(model, pair_words.vectors, context_words.vectors)


def _small_vectors(table: FloatArray, count: int) -> FloatArray:
    """Random vectors of a hundredth of the usual norm for words that nothing is known of."""
    random = np.random.default_rng(0)
    directions = random.standard_normal((count, table.shape[1])).astype(np.float32)
    norm = np.float32(0.01 * safe_norms(table).mean())
    return norm * directions / safe_norms(directions)


def _carried(
    known: WordVectors, source: WordVectors, frequent: int = FREQUENT_COUNT
) -> WordVectors:
    """With rows mapped from `source`, unless there are too few words to learn the map from."""
    shared = known.found & source.found & (known.vocabulary.counts >= frequent)
    if known.found.all() or shared.sum() <= source.vectors.shape[1]:
        return known
    return carry_over(known, source, rare=0, frequent=frequent)


def _with_context_means(words: WordVectors, corpus: Corpus, least: int) -> WordVectors:
    """With rows for words that have none, of the words around them in the corpus.

    The map is learnt on all words of the corpus that occur `least` times, not on frequent ones
    alone: the means of these have less noise than those of the new words.
    """
    if words.found.all():
        return words
    means = context_means(corpus, words)
    in_corpus = WordVectors(corpus.vocabulary, words.vectors, words.found)
    return replace(_carried(in_corpus, means, least), vocabulary=words.vocabulary)


def context_means(corpus: Corpus, words: WordVectors) -> WordVectors:
    """For each word of a corpus the mean vector left of it, beside the one right of it: (V, 2D)."""
    weights = WordSubsampling(_MEANS_THRESHOLD).weights(corpus.vocabulary.counts)
    generator = np.random.default_rng(0)
    unit = torch.from_numpy(normalise(words.vectors) * words.found[:, None])
    left, right = torch.zeros_like(unit), torch.zeros_like(unit)
    for shard in corpus.shards:
        for start in range(0, len(shard.tokens), _BLOCK):
            stop = min(start + _BLOCK, len(shard.tokens))
            triples = find_triples(shard.tokens, start, stop, weights, generator)
            x, y = map(torch.from_numpy, triple_words(shard.tokens, triples))
            left.index_add_(0, y, unit[x])
            right.index_add_(0, x, unit[y])
    means = np.concatenate([normalise(side.numpy()) for side in (left, right)], axis=1)
    return WordVectors(corpus.vocabulary, means, np.any(means, axis=1))


def _shares(
    model: SavedModel, vocabulary: Vocabulary, corpus: Corpus, name: str, config: ContinuedConfig
) -> Tensor:
    """At which share of the rate each row of a table learns, (V, 1)."""
    rows = len(model.rows(name))
    own = model.vocabulary.ids
    ids = np.array([own.get(word, rows) for word in vocabulary.words])
    read = np.zeros(len(vocabulary))
    has_row = ids < rows
    read[has_row] = np.maximum(model.vocabulary.counts[ids[has_row]], _LEAST_KNOWN)
    new = corpus.vocabulary.counts
    shares = new / np.maximum(new + config.known * read, 1)
    return torch.from_numpy(shares.astype(np.float32)[:, None])


def _context_words(model: SavedModel, vocabulary: Vocabulary) -> int:
    """How many ids get a row of C's table: words as frequent as those that the model has there."""
    rows = len(model.rows(_CONTEXT_WORDS))
    if rows == len(model.vocabulary):
        return len(vocabulary)
    special = len(SPECIAL_TOKENS)
    least = model.vocabulary.counts[special:rows].min(initial=np.iinfo(np.int64).max)
    return special + int(np.count_nonzero(vocabulary.counts[special:] >= least))


class ContinuedContent:
    """Of a network that goes on from a model: its tables, and all else that the model has."""

    def __init__(self, begun: Continuation) -> None:
        self._begun = begun

    def __call__(self, trainer: Trainer, sample: int) -> ModelContent:
        del sample
        begun, model = self._begun, self._begun.model
        arrays = published_arrays(trainer.network)
        arrays[_CONTEXT_WORDS] = arrays[_CONTEXT_WORDS][: begun.context_words]
        record = {
            "model": model.config.get("name"),
            "fingerprint": model.fingerprint,
            "precision": model.config["precision"],
            "corpus": corpus_record(begun.corpus),
            "triples": trainer.triples,
            "new_words": begun.new_words,
            "settings": asdict(begun.config),
            "training": asdict(trainer.recipe.training),
            **({"before": model.config[CONTINUED_KEY]} if CONTINUED_KEY in model.config else {}),
        }
        return ModelContent(
            {name: model.array(name) for name in model.names} | arrays,
            begun.vocabulary,
            {
                # What was measured on the other model, or says how it was made small, is not true
                # of this.
                **{name: fact for name, fact in model.config.items() if name not in _NOT_KEPT},
                "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
                CONTINUED_KEY: record,
            },
            model.patterns(),
        )
