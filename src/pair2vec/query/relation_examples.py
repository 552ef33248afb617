"""The examples of relations as ids; for a relation by patterns alone, pairs that fit them best."""

from collections.abc import Sequence

import numpy as np

from pair2vec.errors import UsageError
from pair2vec.query.matches import best
from pair2vec.query.neighbours import repeated_words
from pair2vec.query.pair_vectors import Numbers
from pair2vec.query.relation_definitions import RelationDefinition
from pair2vec.query.relation_features import Examples, PairSource, PatternFit, blocks
from pair2vec.text.sentences import tokenize
from pair2vec.text.spelling import is_word
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

FOUND_EXAMPLES = 30
_FIRST_WORDS = 400
_SECOND_WORDS = 40
_PASSED_OVER = 100
"""The most frequent words, which mean little by themselves."""


def find_examples(
    definitions: Sequence[RelationDefinition], source: PairSource, vocabulary: Vocabulary
) -> Examples:
    """The example pairs of which both words are known.

    Raises:
        UsageError: a relation has no such pair and no patterns either.
    """
    x, y, relation = [], [], []
    for place, definition in enumerate(definitions):
        pairs = _known(definition, vocabulary)
        if not pairs:
            pairs = _fitting(definition, source)
        x += [first for first, _ in pairs]
        y += [second for _, second in pairs]
        relation += [place] * len(pairs)
    return Examples(np.array(x, np.intp), np.array(y, np.intp), np.array(relation, np.intp))


def _known(definition: RelationDefinition, vocabulary: Vocabulary) -> list[tuple[int, int]]:
    known = [pair for pair in definition.all_examples if all(is_word(w, vocabulary) for w in pair)]
    return [(vocabulary.ids[tokenize(x)[0]], vocabulary.ids[tokenize(y)[0]]) for x, y in known]


def _fitting(definition: RelationDefinition, source: PairSource) -> list[tuple[int, int]]:
    """Pairs of frequent words with words like them, the best for the patterns; no word twice."""
    if not any(map(source.contexts.knows, definition.patterns)):
        raise UsageError(
            f"relation {definition.name!r}: the model knows none of its examples and patterns; "
            "give others, of words that it knows"
        )
    fit = PatternFit(source, [definition])
    x, y = _likely_pairs(source)
    scores = np.concatenate(
        [fit(source.pairs(a, b), source.pairs(b, a))[:, 0] for a, b in blocks(x, y)]
    )
    left_out = repeated_words(scores, x, y)
    places = best(scores, FOUND_EXAMPLES, left_out.tolist())
    return list(zip(x[places].tolist(), y[places].tolist(), strict=True))


def _likely_pairs(source: PairSource) -> tuple[Numbers, Numbers]:
    words = source.unit_words
    first = min(len(SPECIAL_TOKENS) + _PASSED_OVER, max(len(SPECIAL_TOKENS), len(words) - 2))
    starts = np.arange(first, min(first + _FIRST_WORDS, len(words)), dtype=np.intp)
    special = range(len(SPECIAL_TOKENS))
    ends = [best(words @ words[n], _SECOND_WORDS, (*special, n)) for n in starts.tolist()]
    return np.repeat(starts, [len(end) for end in ends]), np.concatenate(ends)
