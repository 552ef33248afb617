"""What WordNet alone says of two sentences that differ in a word (Glockner et al., 2018).

The words in which the two differ decide, p of the premise and h of the hypothesis:

- entailment if they are synonyms, or p is a hyponym of h;
- neutral if p is a hypernym of h;
- contradiction if they are antonyms, or co-hyponyms: something is at most `EDGES_UP` edges above
  each of the two;
- nothing if WordNet knows none of these: the baseline's "other", which is no label.

The first that holds of any two of their senses counts, in this order. Adjectives have no hypernyms;
most are satellites that WordNet calls similar to another. A satellite and what it is similar to
count as synonyms here, and its antonyms are those of what it is similar to, as WordNet shows them.

Which words differ is told by aligning the two in lower case (difflib). What is replaced and what
replaces it may be several words each: their parts that WordNet has, ``red_wine`` before ``red`` and
``wine``, are tried with each other, the longest first, until two are found that have a relation; so
*near* meets the *far* of *far away from*. If there are several replacements, one contradiction
makes the whole one; else each must have a label, and one that is neutral makes the whole neutral.
Words that only one of the two has are a difference of which WordNet says nothing. Equal sentences
entail each other.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from pair2vec.experiments.nli.examples import LABELS
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.relations import Senses, senses_of
from pair2vec.wordnet.synsets import ANTONYM, SIMILAR, SynsetId

ENTAILMENT, NEUTRAL, CONTRADICTION = LABELS

EDGES_UP = 2
"""How far above two words that exclude each other may be what they have in common."""

_LONGEST_COLLOCATION = 9
"""Words, of those in WordNet."""


class _Difference(NamedTuple):
    """What the premise has, and the hypothesis in its place."""

    premise: list[str]
    hypothesis: list[str]


def wordnet_label(
    wordnet: WordNet, premise: Sequence[str], hypothesis: Sequence[str]
) -> str | None:
    """The label that WordNet's relations between the differing words give, or None.

    Args:
        wordnet: Where to look.
        premise: Its words, in any case.
        hypothesis: Its words.
    """
    labels = {_label(wordnet, one) for one in _differences(premise, hypothesis)}
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
    # One way is enough: a word is the antonym of its antonym.
    if p.opposed & (h.synsets | h.heads):
        return CONTRADICTION
    return CONTRADICTION if p.near_above() & h.near_above() else None


class _Meaning(NamedTuple):
    """What the rules ask of a word in all its senses."""

    synsets: frozenset[SynsetId]
    heads: frozenset[SynsetId]
    """What those are similar to."""
    opposed: frozenset[SynsetId]
    above: dict[SynsetId, int]
    """By how many edges."""

    @classmethod
    def of(cls, senses: Senses) -> "_Meaning":
        heads = _targets(senses, senses.synsets, SIMILAR)
        opposed = _targets(senses, senses.synsets | heads, ANTONYM)
        return cls(senses.synsets, heads, opposed, senses.hypernyms)

    def near_above(self) -> set[SynsetId]:
        return {place for place, edges in self.above.items() if edges <= EDGES_UP}


def _targets(senses: Senses, places: frozenset[SynsetId], symbol: str) -> frozenset[SynsetId]:
    synset = senses.wordnet.synset
    return frozenset(target for place in places for target in synset(place).targets(symbol))


def _differences(premise: Sequence[str], hypothesis: Sequence[str]) -> Iterator[_Difference]:
    a, b = ([_spelled(word) for word in sentence] for sentence in (premise, hypothesis))
    # Its heuristic for long texts would take frequent words of long sentences for noise.
    aligned = SequenceMatcher(None, a, b, autojunk=False)
    for kind, start_a, end_a, start_b, end_b in aligned.get_opcodes():
        if kind != "equal":
            yield _Difference(a[start_a:end_a], b[start_b:end_b])


def _spelled(word: str) -> str:
    """In lower case; *an* is *a* before another word, and no difference of its own."""
    return "a" if word.lower() == "an" else word.lower()


def _label(wordnet: WordNet, difference: _Difference) -> str | None:
    """That of the longest parts of a difference between which WordNet has a relation."""
    sides = [list(_parts(wordnet, side)) for side in difference]
    labels = (word_label(one, other) for one in sides[0] for other in sides[1])
    return next(filter(None, labels), None)


def _parts(wordnet: WordNet, words: list[str]) -> Iterator[Senses]:
    """The words and collocations in a difference that WordNet has, the longest first."""
    for length in range(min(len(words), _LONGEST_COLLOCATION), 0, -1):
        for start in range(len(words) - length + 1):
            senses = senses_of(wordnet, "_".join(words[start : start + length]))
            if senses:
                yield senses
