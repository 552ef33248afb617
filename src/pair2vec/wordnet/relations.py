"""The five relations between two words that KIM takes from WordNet (Chen et al., ACL 2018).

Of the pair [x, y], over all senses of the base forms of each:

- synonymy: 1 if the two share a synset;
- antonymy: 1 if they are antonyms;
- hypernymy: 1 − n/8 if y is a hypernym of x by n edges, the fewest, and n is below 8:
  [dog, canid] = 0.875, [dog, carnivore] = 0.75, [canid, dog] = 0;
- hyponymy: the same with x and y exchanged;
- co-hyponymy: 1 if they have a direct hypernym in common, and share no synset: [dog, wolf].

A word that WordNet has is a synonym of itself and of its own inflections, and in no other relation
to them, though one of its senses may be a hypernym of another. Instances count as hyponyms:
[Paris, capital]. A word that WordNet does not have is in no relation.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pair2vec.wordnet.dictionary import ANTONYM, HYPERNYM, INSTANCE_HYPERNYM, SynsetId, WordNet
from pair2vec.wordnet.morphology import Lemma, base_forms

MAX_EDGES = 8
"""From this many edges on, two words do not count as hypernym and hyponym."""


class WordNetRelations(NamedTuple):
    """The strength of each relation between two words, from 0 to 1."""

    synonymy: float = 0.0
    antonymy: float = 0.0
    hypernymy: float = 0.0
    """The second word is the more general one."""
    hyponymy: float = 0.0
    co_hyponymy: float = 0.0


WORDNET_RELATIONS = WordNetRelations._fields


def wordnet_relations(wordnet: WordNet, x: str, y: str) -> WordNetRelations:
    """The relations between two words; for many words, see `related_words`."""
    return sense_relations(word_senses(wordnet, x), word_senses(wordnet, y))


def sense_relations(x: "Senses", y: "Senses") -> WordNetRelations:
    """The relations between two words, given their senses."""
    if x.lemmas == y.lemmas:
        return WordNetRelations(synonymy=float(bool(x)))
    are_synonyms = bool(x.synsets & y.synsets)
    parents = direct_hypernyms(x.wordnet, x.synsets) & direct_hypernyms(y.wordnet, y.synsets)
    return WordNetRelations(
        synonymy=float(are_synonyms),
        antonymy=float(bool(x.antonyms & y.lemmas or y.antonyms & x.lemmas)),
        hypernymy=_hypernymy(x, y),
        hyponymy=_hypernymy(y, x),
        co_hyponymy=float(bool(parents) and not are_synonyms),
    )


def _hypernymy(x: "Senses", y: "Senses") -> float:
    """1 − n/8 if y is a hypernym of x by n edges, else 0."""
    distances = (x.hypernyms[synset] for synset in y.synsets if synset in x.hypernyms)
    return max(0.0, 1 - min(distances, default=MAX_EDGES) / MAX_EDGES)


@dataclass(frozen=True)
class Senses:
    """All senses of a word: synsets, hypernyms and antonyms of its lemmas, each computed lazily."""

    wordnet: WordNet
    lemmas: frozenset[Lemma]

    def __bool__(self) -> bool:
        """Whether WordNet has the word."""
        return bool(self.lemmas)

    @cached_property
    def synsets(self) -> frozenset[SynsetId]:
        return frozenset(
            synset for lemma in self.lemmas for synset in self.wordnet.synset_ids(*lemma)
        )

    @cached_property
    def hypernyms(self) -> dict[SynsetId, int]:
        """All direct and indirect hypernyms, with the fewest edges to each, 1 or more."""
        hypernyms: dict[SynsetId, int] = {}
        level, edges = direct_hypernyms(self.wordnet, self.synsets), 1
        while level:
            hypernyms.update(dict.fromkeys(level, edges))
            level, edges = direct_hypernyms(self.wordnet, level) - hypernyms.keys(), edges + 1
        return hypernyms

    @cached_property
    def antonyms(self) -> frozenset[Lemma]:
        """Of any of the lemmas: antonymy is between words, not between synsets."""
        return frozenset(
            antonym
            for lemma in self.lemmas
            for synset in self.wordnet.synset_ids(*lemma)
            for antonym in sense_antonyms(self.wordnet, lemma, synset)
        )


def word_senses(wordnet: WordNet, word: str) -> Senses:
    """The senses of all base forms of a word; none if WordNet does not have it."""
    return Senses(wordnet, base_forms(wordnet, word))


def direct_hypernyms(wordnet: WordNet, synsets: Iterable[SynsetId]) -> set[SynsetId]:
    """The hypernyms one edge above, instance hypernyms included."""
    return {
        target
        for synset in synsets
        for target in wordnet.synset(synset).targets(HYPERNYM, INSTANCE_HYPERNYM)
    }


def sense_antonyms(wordnet: WordNet, lemma: Lemma, synset_id: SynsetId) -> set[Lemma]:
    """The antonyms of a lemma in one of its senses."""
    synset = wordnet.synset(synset_id)
    antonyms = set()
    for pointer in synset.pointers:
        if pointer.symbol != ANTONYM:
            continue
        # A word number of 0 means every word of the synset.
        source, target = pointer.source_word, pointer.target_word
        sources = synset.words[source - 1 : source] if source else synset.words
        if lemma.spelling in {word.lower() for word in sources}:
            words = wordnet.synset(pointer.target).words
            targets = words[target - 1 : target] or words
            antonyms |= {Lemma(word.lower(), pointer.target.pos) for word in targets}
    return antonyms
