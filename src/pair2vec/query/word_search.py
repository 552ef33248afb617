"""The words that answer a question best, of all in the vocabulary or of some."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from pair2vec.errors import UsageError
from pair2vec.query.half_pair import Vectors
from pair2vec.query.matches import Match, best
from pair2vec.query.pair_vectors import Numbers, PairVectors
from pair2vec.query.shortlist import SHORTLIST, Regions, shortlist
from pair2vec.text.spelling import find_typed
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

Search = Literal["exact", "shortlist"]
"""Score every word; or only some thousand that a rough score chooses (`query.shortlist`)."""

Candidates = Numbers | slice
"""The ids of words to choose from, in order; or all of them, as a slice that copies nothing."""

_SPECIAL = range(len(SPECIAL_TOKENS))


class WordSearch:
    """A vocabulary, to be searched by scores."""

    def __init__(self, vocabulary: Vocabulary, pairs: PairVectors) -> None:
        self._vocabulary = vocabulary
        self._pairs = pairs

    @cached_property
    def regions(self) -> Regions:
        """What rough scores are made with."""
        return Regions(self._pairs.all_inputs)

    def inputs(self, ids: Candidates) -> Vectors:
        """The vectors of words as R takes them."""
        return self._pairs.all_inputs if isinstance(ids, slice) else self._pairs.inputs(ids)

    def best_words(
        self,
        scores: Callable[[Candidates], Vectors],
        rough_scores: Callable[[], Vectors],
        given: Sequence[int],
        *,
        among: Iterable[str] | None,
        search: Search,
        top: int,
    ) -> list[Match]:
        """The words with the best scores, without special tokens and those given.

        Args:
            scores: Of some words.
            rough_scores: Of all words; asked for only where a shortlist is made.
            given: The ids of the words in the question.
            among: Words to choose from; all of the vocabulary otherwise.
            search: How.
            top: How many to return.
        """
        ids = self._candidates(among, search, given, rough_scores)
        found = scores(ids)
        numbers = np.arange(len(self._vocabulary))[ids]
        left_out = np.flatnonzero(np.isin(numbers, (*_SPECIAL, *given)))
        return [
            Match(self._vocabulary.words[numbers[place]], float(found[place]))
            for place in best(found, top, left_out.tolist())
        ]

    def _candidates(
        self,
        among: Iterable[str] | None,
        search: Search,
        given: Sequence[int],
        rough_scores: Callable[[], Vectors],
    ) -> Candidates:
        """The words to score."""
        if search not in get_args(Search):
            raise UsageError(
                f"search is {search!r}; it must be one of {', '.join(get_args(Search))}"
            )
        if among is not None:
            return np.array(sorted({find_typed(word, self._vocabulary) for word in among}), np.intp)
        if search == "shortlist" and len(self._vocabulary) > SHORTLIST:
            return shortlist(rough_scores(), (*_SPECIAL, *given))
        return slice(None)
