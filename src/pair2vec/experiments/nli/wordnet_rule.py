"""The WordNet rule: labels by the relation of the words that differ (Glockner et al., 2018).

With p a differing word of the premise and h of the hypothesis, the label is

- entailment if they are synonyms, or p is a hyponym of h;
- neutral if p is a hypernym of h;
- contradiction if they are antonyms, or co-hyponyms: a synset is at most `MAX_EDGES_UP` edges above
  each of the two;
- none if WordNet has none of these relations (the baseline's "other").

The first that holds between any two of their senses counts, in this order. Adjectives have no
hypernyms; most are satellites of another, their head. A satellite and its head count as synonyms
here, and its antonyms are those of the head, as WordNet itself shows them.

The two sentences are aligned in lower case (difflib). Both sides of a replacement may have several
words: their words and collocations that WordNet has, ``red_wine`` before ``red`` and ``wine``, are
tried with each other, the longest first, until two are related; so *near* meets the *far* of *far
away from*. If there are several replacements, one contradiction decides; else each must have a
label, and one that is neutral makes the whole neutral. An insertion or a deletion has no label.
Equal sentences entail each other.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from pair2vec.experiments.nli.examples import LABELS
from pair2vec.wordnet.dictionary import ANTONYM, SIMILAR, SynsetId, WordNet
from pair2vec.wordnet.relations import Senses, word_senses

ENTAILMENT, NEUTRAL, CONTRADICTION = LABELS

MAX_EDGES_UP = 2
"""From a co-hyponym to the common hypernym."""

_LONGEST_COLLOCATION = 9
"""In words, of all in WordNet."""


class _Replacement(NamedTuple):
    """Words of the premise, and those of the hypothesis in their place; either may be empty."""

    premise: list[str]
    hypothesis: list[str]


def wordnet_label(
    wordnet: WordNet, premise: Sequence[str], hypothesis: Sequence[str]
) -> str | None:
    """The label of two sentences of words in any case, or None."""
    labels = {_label(wordnet, changed) for changed in _replacements(premise, hypothesis)}
    if CONTRADICTION in labels:
        return CONTRADICTION
    if None in labels:
        return None
    return NEUTRAL if NEUTRAL in labels else ENTAILMENT


def word_label(premise: Senses, hypothesis: Senses) -> str | None:
    """The label of a word of the premise that is replaced by one of the hypothesis."""
    p, h = _Meaning.of(premise), _Meaning.of(hypothesis)
    if p.synsets & (h.synsets | h.heads) or p.heads & h.synsets or h.synsets & p.above.keys():
        return ENTAILMENT
    if p.synsets & h.above.keys():
        return NEUTRAL
    # One direction is enough: antonymy is symmetric.
    if p.antonyms & (h.synsets | h.heads):
        return CONTRADICTION
    return CONTRADICTION if p.near_above() & h.near_above() else None


class _Meaning(NamedTuple):
    """The synsets that the rules look at, over all senses of a word."""

    synsets: frozenset[SynsetId]
    heads: frozenset[SynsetId]
    """Of satellite adjectives."""
    antonyms: frozenset[SynsetId]
    above: dict[SynsetId, int]
    """Hypernyms, by number of edges."""

    @classmethod
    def of(cls, senses: Senses) -> "_Meaning":
        heads = _targets(senses, senses.synsets, SIMILAR)
        antonyms = _targets(senses, senses.synsets | heads, ANTONYM)
        return cls(senses.synsets, heads, antonyms, senses.hypernyms)

    def near_above(self) -> set[SynsetId]:
        return {synset for synset, edges in self.above.items() if edges <= MAX_EDGES_UP}


def _targets(senses: Senses, synsets: frozenset[SynsetId], symbol: str) -> frozenset[SynsetId]:
    look_up = senses.wordnet.synset
    return frozenset(target for synset in synsets for target in look_up(synset).targets(symbol))


def _replacements(premise: Sequence[str], hypothesis: Sequence[str]) -> Iterator[_Replacement]:
    a, b = ([_normalised(word) for word in sentence] for sentence in (premise, hypothesis))
    # Its heuristic for long texts would ignore the frequent words of long sentences.
    aligned = SequenceMatcher(None, a, b, autojunk=False)
    for kind, start_a, end_a, start_b, end_b in aligned.get_opcodes():
        if kind != "equal":
            yield _Replacement(a[start_a:end_a], b[start_b:end_b])


def _normalised(word: str) -> str:
    """In lower case, and *an* as *a*: the article depends on the next word alone."""
    return "a" if word.lower() == "an" else word.lower()


def _label(wordnet: WordNet, changed: _Replacement) -> str | None:
    """The label of the longest related collocations of a replacement."""
    premise, hypothesis = (list(_collocations(wordnet, side)) for side in changed)
    labels = (word_label(p, h) for p in premise for h in hypothesis)
    return next(filter(None, labels), None)


def _collocations(wordnet: WordNet, words: list[str]) -> Iterator[Senses]:
    """The words and collocations that WordNet has, the longest first."""
    for length in range(min(len(words), _LONGEST_COLLOCATION), 0, -1):
        for start in range(len(words) - length + 1):
            senses = word_senses(wordnet, "_".join(words[start : start + length]))
            if senses:
                yield senses
