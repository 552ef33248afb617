"""The words of a vocabulary in WordNet: senses with probabilities, relations, neighbourhoods.

WordNet relates senses; a pair of words is in a relation as far as the senses that people mean by
them are. A sense counts by how often it is tagged in a corpus, and the weight of a relation between
two words is the sum of p(s | x)·p(t | y) over the related senses s and t.

Shapes: P pairs, K relations.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.wordnet.dictionary import (
    ANTONYM,
    HYPERNYM,
    HYPONYM,
    INSTANCE_HYPERNYM,
    INSTANCE_HYPONYM,
    LOCATION,
    MEMBER,
    PART,
    PERSON,
    POS_FILES,
    SIMILAR,
    SUBSTANCE,
    Synset,
    SynsetId,
    WordNet,
)
from pair2vec.wordnet.morphology import Lemma, base_forms
from pair2vec.wordnet.relations import sense_antonyms

_LEVEL_WEIGHTS = {"n": (1.0, 0.5), "v": (1.0,)}
"""Of hypernyms one and two edges above: two edges above a verb there are only *move* and *make*."""
_USUAL_SENSES = 2
_USUAL_POS = 0.2
"""The least probability of a part of speech that a word is often meant in."""
_DEEPEST = 30
"""More edges than from any synset to its root."""
_MOST_SIBLINGS = 60
"""Under a hypernym with more hyponyms than these, such as *person*, kinds have little in common."""
_MOST_TARGETS = 200
"""A synset with more pointers is no step of a neighbourhood."""


class WordSense(NamedTuple):
    word: int
    probability: float
    lemma: Lemma


class RelationWeights(NamedTuple):
    """The relations of pairs of words x < y."""

    x: Int64Array
    y: Int64Array
    weights: NDArray[np.float32]
    """(P, K), in the order of the names given."""


class VocabularySenses:
    """The senses of the words that are lemmas of WordNet."""

    def __init__(self, wordnet: WordNet, words: Sequence[str]) -> None:
        """Look up the words, by id; what is no lemma, such as an inflected form, has no senses."""
        self.wordnet = wordnet
        self._of_synset: defaultdict[SynsetId, list[WordSense]] = defaultdict(list)
        self.synsets: dict[int, list[SynsetId]] = {}
        """Of each word that has a sense."""
        self._pos: dict[int, defaultdict[str, float]] = {}
        """The probabilities of its parts of speech."""
        self._usual: defaultdict[SynsetId, list[WordSense]] = defaultdict(list)
        """Of each synset the words that mean it often: it is one of their two likeliest senses."""
        for word, spelling in enumerate(words):
            senses = sense_probabilities(wordnet, spelling)
            if senses:
                self.synsets[word] = [synset for synset, _, _ in senses]
                self._pos[word] = defaultdict(float)
                for _, probability, pos in senses:
                    self._pos[word][pos] += probability
            usual = sorted(senses, key=lambda sense: -sense[1])[:_USUAL_SENSES]
            for entry in senses:
                synset, probability, pos = entry
                sense = WordSense(word, probability, Lemma(spelling, pos))
                self._of_synset[synset].append(sense)
                if entry in usual:
                    self._usual[synset].append(sense)

    def with_pos(self, pos: str) -> list[int]:
        """The words that are often meant in this part of speech, in the order of their ids."""
        return [word for word, own in self._pos.items() if own[pos] >= _USUAL_POS]

    def relation_weights(self, names: Sequence[str], size: int) -> RelationWeights:
        """The weight of each of the relations `names` for all related pairs of ids below `size`.

        Only usual senses count.
        """
        columns = {name: column for column, name in enumerate(names)}
        keys: list[int] = []
        relations: list[int] = []
        weights: list[float] = []
        for relation, inverse, x, y, weight in self._related():
            if x == y:
                continue
            name = relation if x < y else inverse
            keys.append(min(x, y) * size + max(x, y))
            relations.append(columns[name])
            weights.append(weight)
        pairs, rows = np.unique(np.array(keys, np.int64), return_inverse=True)
        table = np.zeros((len(pairs), len(names)), np.float32)
        np.add.at(table, (rows, np.array(relations, np.int64)), np.array(weights, np.float32))
        return RelationWeights(*np.divmod(pairs, size), table)

    def _related(self) -> Iterator[tuple[str, str, int, int, float]]:
        """Relation and its inverse, x, y, weight: of each two related senses."""
        for synset_id in list(self._usual):
            synset = self.wordnet.synset(synset_id)
            own = self._usual[synset_id]
            for x in own:
                for y in own:
                    if x.word < y.word:
                        weight = x.probability * y.probability
                        yield "synonym", "synonym", x.word, y.word, weight
            yield from self._antonyms(synset_id, own)
            yield from self._hypernyms(synset, own)
            for part in synset.targets(PART, MEMBER):
                names = ("part", "whole")
                if synset.lexicographer_file == LOCATION:
                    names = ("location-of", "located-in")
                yield from self._products(names, own, part)
            for substance in synset.targets(SUBSTANCE):
                yield from self._products(("made-of", "material-of"), own, substance)
            for kind in synset.targets(INSTANCE_HYPERNYM):
                names = ("hypernym", "hyponym")
                if synset.lexicographer_file == PERSON:
                    names = ("occupation", "occupation-of")
                yield from self._products(names, own, kind)
            yield from self._siblings(synset)

    def _antonyms(
        self, synset_id: SynsetId, own: list[WordSense]
    ) -> Iterator[tuple[str, str, int, int, float]]:
        for x in own:
            opposites = sense_antonyms(self.wordnet, x.lemma, synset_id)
            targets = self.wordnet.synset(synset_id).targets(ANTONYM) if opposites else []
            for y in (sense for target in targets for sense in self._usual.get(target, ())):
                if y.lemma in opposites:
                    yield "antonym", "antonym", x.word, y.word, x.probability * y.probability

    def antonyms_of_synsets(self) -> Iterator[tuple[int, int, float]]:
        """x, y and the weight: words of two synsets with antonyms of each other, in any sense.

        *begin* and *halt*, since *start* and *stop* are antonyms; and these two themselves, of
        whose many senses few are opposed.
        """
        for synset_id in list(self._of_synset):
            for target in set(self.wordnet.synset(synset_id).targets(ANTONYM)):
                for x in self._of_synset[synset_id]:
                    for y in self._of_synset.get(target, ()):
                        # A pair of synsets is met twice, once from each side.
                        if x.word < y.word:
                            yield x.word, y.word, x.probability * y.probability

    def indirect_antonyms(self) -> Iterator[tuple[int, int, float]]:
        """x, y and the weight: adjectives and the antonyms of what they are similar to.

        *speedy* is similar to *fast*, whose antonym is *slow*.
        """
        for synset_id in list(self._usual):
            if synset_id.pos != "a":
                continue
            for head in self.wordnet.synset(synset_id).targets(SIMILAR):
                for _, _, _, opposite, weight in self._antonyms(head, self._usual.get(head, [])):
                    for x in self._usual[synset_id]:
                        yield x.word, opposite, x.probability * weight

    def _hypernyms(
        self, synset: Synset, own: list[WordSense]
    ) -> Iterator[tuple[str, str, int, int, float]]:
        level, seen = set(synset.targets(HYPERNYM)), {synset.id}
        for scale in _LEVEL_WEIGHTS.get(synset.id.pos, ()):
            for target in level - seen:
                yield from self._products(("hypernym", "hyponym"), own, target, scale)
            seen |= level
            level = {
                above for target in level for above in self.wordnet.synset(target).targets(HYPERNYM)
            }

    def _siblings(self, parent: Synset) -> Iterator[tuple[str, str, int, int, float]]:
        """The nouns one edge below a synset, with each other."""
        below = parent.targets(HYPONYM, INSTANCE_HYPONYM)
        if parent.id.pos != "n" or len(below) > _MOST_SIBLINGS:
            return
        for number, first in enumerate(below):
            for second in below[:number]:
                own = self._usual.get(first, [])
                yield from self._products(("co-hyponym", "co-hyponym"), own, second, 0.5)

    def _products(
        self, names: tuple[str, str], own: list[WordSense], target: SynsetId, scale: float = 1.0
    ) -> Iterator[tuple[str, str, int, int, float]]:
        for x in own:
            for y in self._usual.get(target, ()):
                yield *names, x.word, y.word, scale * x.probability * y.probability

    def neighbourhoods(self, steps: int) -> Iterator[tuple[int, list[int]]]:
        """Each word with those that it reaches by at most `steps` pointers of any kind."""
        reached: dict[SynsetId, frozenset[SynsetId]] = {}
        for word, synsets in self.synsets.items():
            near: set[SynsetId] = set()
            for synset in synsets:
                if synset not in reached:
                    reached[synset] = frozenset(self._reach(synset, steps))
                near |= reached[synset]
            words = {sense.word for synset in near for sense in self._of_synset.get(synset, ())}
            yield word, sorted(words - {word})

    def ancestors(self, word: int, edges: int) -> frozenset[SynsetId]:
        """The senses of a word, and what is at most `edges` above them."""
        found = level = set(self.synsets.get(word, ()))
        for _ in range(edges):
            level = {
                above
                for synset in level
                for above in self.wordnet.synset(synset).targets(HYPERNYM, INSTANCE_HYPERNYM)
            }
            found = found | level
        return frozenset(found)

    def _reach(self, start: SynsetId, steps: int) -> set[SynsetId]:
        reached, level = {start}, {start}
        for _ in range(steps):
            targets = (self.wordnet.synset(synset).pointers for synset in level)
            level = {
                pointer.target
                for pointers in targets
                if len(pointers) <= _MOST_TARGETS
                for pointer in pointers
            } - reached
            reached |= level
        return reached


class Taxonomy:
    """What WordNet rules out: of two words that it knows, one is a kind of the other or not."""

    def __init__(self, senses: VocabularySenses, asked: NDArray[np.bool_]) -> None:
        """Prepare to look up words.

        Args:
            senses: Of the words.
            asked: Which of them it may be asked about, (V,): those to learn from.
        """
        self._senses = senses
        self._asked = asked.copy()
        lemmas = np.zeros_like(asked)
        lemmas[list(senses.synsets)] = True
        self._asked &= lemmas
        self._above: dict[int, frozenset[SynsetId]] = {}

    def is_no_kind(self, x: Int64Array, y: Int64Array) -> NDArray[np.bool_]:
        """Whether no sense of y is above one of x, however far; False where it may not be asked."""
        found = self._asked[x] & self._asked[y]
        for n in np.flatnonzero(found).tolist():
            found[n] = self._kinds(int(x[n])).isdisjoint(self._senses.synsets[int(y[n])])
        return found

    def _kinds(self, word: int) -> frozenset[SynsetId]:
        if word not in self._above:
            self._above[word] = self._senses.ancestors(word, _DEEPEST)
        return self._above[word]


def sense_probabilities(wordnet: WordNet, word: str) -> list[tuple[SynsetId, float, str]]:
    """The synsets of a lemma, each with p(sense | word) and its part of speech.

    By the counts of the senses; one over its rank is added, so that senses that were never tagged
    count a little, the first the most.
    """
    senses = [
        (synset, count + 1 / rank, pos)
        for pos in POS_FILES
        for rank, (synset, count) in enumerate(
            zip(wordnet.synset_ids(word, pos), wordnet.sense_counts(word, pos), strict=True),
            start=1,
        )
    ]
    total = sum(weight for _, weight, _ in senses)
    return [(synset, weight / total, pos) for synset, weight, pos in senses]


def inflections(wordnet: WordNet, words: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Of words that are regular inflections of one lemma: that lemma, and which inflection.

    What is a lemma itself, such as *building*, is left out.
    """
    found = {}
    for word, spelling in enumerate(words):
        lemmas = base_forms(wordnet, spelling)
        if len(lemmas) == 1 and not any(wordnet.has_lemma(spelling, pos) for pos in POS_FILES):
            (lemma,) = lemmas
            endings = ("ing", "ed", "est", "er", "s")
            ending = next((e for e in endings if spelling.endswith(e)), None)
            if ending:
                found[word] = (lemma.spelling, f"{lemma.pos}-{ending}")
    return found
