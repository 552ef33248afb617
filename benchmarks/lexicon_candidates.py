"""Which synonyms a lexicon can find: those that are candidates, and those that are accepted.

    python benchmarks/lexicon_candidates.py [MODEL] [--terms 10000]

The terms are a model's most frequent words; the synonyms are pairs of them that share a first sense
in WordNet and are not forms of one word. Candidates by co-occurrence depend on a corpus and are not
counted. A pair is accepted where synonym is its most probable relation and at least as probable as
a lexicon demands. Last, the time that candidates by similarity take, in blocks of terms as in a
lexicon and term by term.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, IntArray
from pair2vec.lexicon.build import FITTED_UNRELATED, LexiconConfig
from pair2vec.lexicon.candidates import MAX_SIMILAR
from pair2vec.lexicon.thesaurus import SYNONYM
from pair2vec.relations.word_forms import is_form
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.morphology import base_forms

COMMON = tuple(
    (x, y)
    for x, y in map(
        str.split,
        (
            *("begin start", "buy purchase", "help assist", "choose select", "build construct"),
            *("repair fix", "doctor physician", "car automobile", "lawyer attorney"),
            *("error mistake", "remove eliminate"),
        ),
    )
)
"""Synonyms that anyone would call so."""
FUNCTION_WORDS = 150
NEAREST = (16, 32, MAX_SIMILAR, 128)
TERMS_PER_BLOCK = 50
TIMED_BLOCKS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--terms", type=int, default=10_000)
    arguments = parser.parse_args()
    model = load(arguments.model)
    first = len(SPECIAL_TOKENS) + FUNCTION_WORDS
    frequent = model.vocabulary.words[first : first + arguments.terms]
    terms = [word for word in frequent if word.isalpha() and len(word) > 2]
    vectors = model.unit_words[[model.vocabulary.ids[word] for word in terms]]
    pairs = sorted(set(synonyms(terms, WordNet.open())))
    print(machine.describe())
    print(f"{len(terms):,} terms, {len(pairs):,} pairs of synonyms, both directions")
    ranks = similarity_ranks(terms, vectors, pairs)
    for count in NEAREST:
        print(f"among the {count} most similar terms: {np.mean(ranks < count):.1%}")
    for unrelated in (None, FITTED_UNRELATED):
        common = accepted(model, COMMON, unrelated)
        print(
            f"accepted, unrelated={unrelated}: {accepted(model, pairs, unrelated).mean():.1%}; "
            f"of {len(common)} common ones: {common.sum()}"
        )
    print_time(vectors)


def synonyms(terms: Sequence[str], wordnet: WordNet) -> Iterator[tuple[str, str]]:
    """Pairs that share the first sense of one in a part of speech."""
    by_spelling = {*terms}
    for word in terms:
        for lemma in base_forms(wordnet, word):
            if lemma.spelling == word:
                for other in wordnet.synset(wordnet.synset_ids(*lemma)[0]).words:
                    spelled = other.lower()
                    if spelled in by_spelling and spelled != word and not is_form(word, spelled):
                        yield word, spelled


def similarity_ranks(
    terms: Sequence[str], vectors: FloatArray, pairs: Sequence[tuple[str, str]]
) -> IntArray:
    """How many terms are more similar to x than y is, for each pair of x and y."""
    rows = {word: row for row, word in enumerate(terms)}
    ranks = []
    for x, y in pairs:
        similarity = vectors @ vectors[rows[x]]
        ranks.append(np.count_nonzero(similarity > similarity[rows[y]]) - 1)  # x itself
    return np.array(ranks, np.intp)


def accepted(
    model: Pair2vec, pairs: Sequence[tuple[str, str]], unrelated: float | None
) -> NDArray[np.bool_]:
    relations = model.relations()
    probabilities = relations.predict_proba(pairs, unrelated=unrelated)
    are_synonyms = probabilities.argmax(axis=1) == relations.names.index(SYNONYM)
    are_probable = probabilities.max(axis=1) >= LexiconConfig().probability
    both: NDArray[np.bool_] = are_synonyms & are_probable
    return both


def print_time(vectors: FloatArray) -> None:
    """Of the products alone, projected to all terms."""
    count = min(len(vectors), TERMS_PER_BLOCK * TIMED_BLOCKS)
    begun = time.perf_counter()
    for start in range(0, count, TERMS_PER_BLOCK):
        vectors[start : start + TERMS_PER_BLOCK] @ vectors.T
    in_blocks = time.perf_counter() - begun
    begun = time.perf_counter()
    for row in range(count):
        vectors @ vectors[row]
    one_by_one = time.perf_counter() - begun
    seconds = [spent * len(vectors) / count for spent in (in_blocks, one_by_one)]
    print(f"similarity of all terms: {seconds[0]:.1f} s in blocks, {seconds[1]:.1f} s one by one")


if __name__ == "__main__":
    main()
