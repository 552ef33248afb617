"""What WordNet says of a word in all its senses: its synsets, what is above them, its antonyms."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.morphology import Lemma, base_forms
from pair2vec.wordnet.synsets import ANTONYM, HYPERNYM, INSTANCE_HYPERNYM, SynsetId


@dataclass(frozen=True)
class Senses:
    """Those of some base forms, each looked up when it is first asked for."""

    wordnet: WordNet
    lemmas: frozenset[Lemma]

    def __bool__(self) -> bool:
        """Whether WordNet has the word."""
        return bool(self.lemmas)

    @cached_property
    def synsets(self) -> frozenset[SynsetId]:
        """All that have one of the base forms."""
        return frozenset(
            place for lemma in self.lemmas for place in self.wordnet.synset_ids(*lemma)
        )

    @cached_property
    def hypernyms(self) -> dict[SynsetId, int]:
        """All synsets above those, and the least number of edges to each, which is 1 or more."""
        found: dict[SynsetId, int] = {}
        level, edges = hypernyms_of(self.wordnet, self.synsets), 1
        while level:
            found.update(dict.fromkeys(level, edges))
            level, edges = hypernyms_of(self.wordnet, level) - found.keys(), edges + 1
        return found

    @cached_property
    def antonyms(self) -> frozenset[Lemma]:
        """The base forms that are opposed to one of these: a matter of words, not of synsets."""
        return frozenset(
            opposite
            for lemma in self.lemmas
            for place in self.wordnet.synset_ids(*lemma)
            for opposite in antonyms_in(self.wordnet, lemma, place)
        )


def senses_of(wordnet: WordNet, word: str) -> Senses:
    """Those of a word by all its base forms, in any part of speech; none if WordNet has it not."""
    return Senses(wordnet, base_forms(wordnet, word))


def hypernyms_of(wordnet: WordNet, places: Iterable[SynsetId]) -> set[SynsetId]:
    """The synsets one edge above; what a name is an instance of is above it as well."""
    return {
        target
        for place in places
        for target in wordnet.synset(place).targets(HYPERNYM, INSTANCE_HYPERNYM)
    }


def antonyms_in(wordnet: WordNet, lemma: Lemma, place: SynsetId) -> set[Lemma]:
    """The antonyms of a lemma in one of its senses."""
    synset = wordnet.synset(place)
    found = set()
    for pointer in synset.pointers:
        if pointer.symbol == ANTONYM and _is_of(pointer.source_word, synset.words, lemma):
            words = wordnet.synset(pointer.target).words
            chosen = words[pointer.target_word - 1 : pointer.target_word] or words
            found |= {Lemma(word.lower(), pointer.target.part) for word in chosen}
    return found


def _is_of(number: int, words: tuple[str, ...], lemma: Lemma) -> bool:
    """Whether the word of this number, or any if it is 0, is the lemma."""
    chosen = words[number - 1 : number] if number else words
    return lemma.spelling in {word.lower() for word in chosen}


# == The five relations between two words that KIM asks WordNet for (Chen et al., ACL 2018).
#
# Of the pair [x, y], by all senses of the base forms of each:
#
# - synonymy: 1 if the two share a synset;
# - antonymy: 1 if they are antonyms;
# - hypernymy: 1 − n/8 if y is above x with n edges between, the fewest, and n is below 8:
#   [dog, canid] = 0.875, [dog, carnivore] = 0.75, [canid, dog] = 0;
# - hyponymy: the same with x above y;
# - co-hyponymy: 1 if a synset is right above both, and they share none: [dog, wolf].
#
# A word that WordNet has is a synonym of itself and of its own inflections, and nothing else to them,
# though one of its senses may be above another. Instances count as hyponyms: [Paris, capital]. A word
# that WordNet does not have is in no relation.


EDGES = 8
"""So many between two words, or more, are too many."""


class WordNetRelations(NamedTuple):
    """How strongly each holds of two words, from 0 to 1."""

    synonymy: float = 0.0
    antonymy: float = 0.0
    hypernymy: float = 0.0
    """The second word is the more general one."""
    hyponymy: float = 0.0
    co_hyponymy: float = 0.0


WORDNET_RELATIONS = WordNetRelations._fields


def wordnet_relations(wordnet: WordNet, x: str, y: str) -> WordNetRelations:
    """Those between two words; to ask for many, see `related_words`."""
    return relations_of_senses(senses_of(wordnet, x), senses_of(wordnet, y))


def relations_of_senses(x: Senses, y: Senses) -> WordNetRelations:
    """The same of words that were looked up."""
    if x.lemmas == y.lemmas:
        return WordNetRelations(synonymy=float(bool(x)))
    are_synonyms = bool(x.synsets & y.synsets)
    parents = hypernyms_of(x.wordnet, x.synsets) & hypernyms_of(y.wordnet, y.synsets)
    return WordNetRelations(
        synonymy=float(are_synonyms),
        antonymy=float(bool(x.antonyms & y.lemmas or y.antonyms & x.lemmas)),
        hypernymy=_nearness(x, y),
        hyponymy=_nearness(y, x),
        co_hyponymy=float(bool(parents) and not are_synonyms),
    )


def _nearness(x: Senses, y: Senses) -> float:
    """1 − n/8, y being n edges above x; 0 if it is not."""
    edges = min((x.hypernyms[place] for place in y.synsets if place in x.hypernyms), default=EDGES)
    return max(0.0, 1 - edges / EDGES)
