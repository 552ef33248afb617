"""What WordNet says of a word in all its senses: its synsets, what is above them, its antonyms."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

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
