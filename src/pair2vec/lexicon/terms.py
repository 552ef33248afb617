"""The terms of a lexicon: a list of words, or what a corpus is about by itself.

Shapes: V vocabulary of the corpus, T terms.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.text.corpus import Corpus
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import Vocabulary

_FUNCTION_WORDS = 150
"""The most frequent words of the model, which are no terms of anything."""
_SHORTEST = 3
_RAREST = 20
"""Words seen fewer times are no keywords: there is little to learn of them."""


class Terms(NamedTuple):
    """Words that both the corpus and the model know."""

    words: list[str]
    in_corpus: NDArray[np.intp]
    """(T,), ids."""
    in_model: NDArray[np.intp]
    """(T,), ids."""
    unknown: list[str]
    """Those asked for that one of them does not know."""


def terms_of(typed: Iterable[str], corpus: Vocabulary, model: Vocabulary) -> Terms:
    """The terms that a user lists, each once; a term of several words is joined by ``_``.

    Raises:
        UsageError: none of them is known.
    """
    distinct = dict.fromkeys(_spelled(word) for word in typed if word.strip())
    known = [word for word in distinct if word in corpus.ids and word in model.ids]
    unknown = [word for word in distinct if not (word in corpus.ids and word in model.ids)]
    if len(known) < 2:
        raise UsageError(
            f"of {len(distinct):,} terms, corpus and model both know {len(known)}; a lexicon needs "
            "two at least"
        )
    return _made(known, unknown, corpus, model)


def keywords(corpus: Corpus, model: Vocabulary, count: int) -> Terms:
    """What a corpus is about: its words that other text, that of the model, has more rarely.

    By Dunning's log-likelihood; of a corpus that is the model's own, its frequent words.
    """
    vocabulary = corpus.vocabulary
    candidates = [
        word
        for word in vocabulary.words
        if word.isalpha()
        and len(word) >= _SHORTEST
        and vocabulary.counts[vocabulary.ids[word]] >= _RAREST
        and model.ids.get(word, 0) >= _FUNCTION_WORDS
    ]
    if len(candidates) < 2:
        raise UsageError(f"{corpus.folder}: has too few words that the model knows; list --words")
    here = vocabulary.counts[[vocabulary.ids[word] for word in candidates]]
    there = model.counts[[model.ids[word] for word in candidates]]
    keyness = log_likelihood(here, int(vocabulary.counts.sum()), there, int(model.counts.sum()))
    order = np.lexsort((-here, -keyness))[:count]
    return _made([candidates[place] for place in order.tolist()], [], vocabulary, model)


def log_likelihood(
    here: NDArray[np.int64], all_here: int, there: NDArray[np.int64], all_there: int
) -> NDArray[np.float64]:
    """How surely words are more frequent here than there; 0 where they are not."""
    share = (here + there) / (all_here + all_there)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [
            np.where(seen > 0, seen * np.log(seen / (total * share)), 0.0)
            for seen, total in ((here, all_here), (there, all_there))
        ]
    more_here = here * all_there > there * all_here
    return np.where(more_here, 2 * (parts[0] + parts[1]), 0.0)


def _spelled(typed: str) -> str:
    """As a corpus spells it."""
    stripped = typed.strip()
    tokens = tokenize(stripped)
    return tokens[0] if len(tokens) == 1 else stripped.lower().replace(" ", "_")


def _made(words: list[str], unknown: list[str], corpus: Vocabulary, model: Vocabulary) -> Terms:
    return Terms(words, _ids(words, corpus), _ids(words, model), unknown)


def _ids(words: list[str], vocabulary: Vocabulary) -> NDArray[np.intp]:
    return np.array([vocabulary.ids[word] for word in words], np.intp)
