"""The share of a lexicon that WordNet confirms: a lower bound of its precision.

Only relations that WordNet has, between words that it has; an entry that it does not confirm may
still be true.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

from pair2vec.lexicon.export import LexiconEntry
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.relations import sense_relations, word_senses

SAMPLE_SIZE = 2_000
WORDNET_NAMES = {
    "synonym": "synonymy",
    "antonym": "antonymy",
    "hypernym": "hypernymy",
    "hyponym": "hyponymy",
    "co-hyponym": "co_hyponymy",
}
"""Our relations, and their names in `sense_relations`."""


class WordNetAgreement(NamedTuple):
    relation: str
    entries: int
    """In the sample, with both words in WordNet."""
    confirmed: int


def check_against_wordnet(
    entries: Sequence[LexiconEntry], wordnet: WordNet, seed: int = 0
) -> list[WordNetAgreement]:
    """For each relation that WordNet has, by a random sample of entries."""
    candidates = [entry for entry in entries if entry.relation in WORDNET_NAMES]
    sample = random.Random(seed).sample(candidates, min(SAMPLE_SIZE, len(candidates)))
    checked: dict[str, list[bool]] = {name: [] for name in WORDNET_NAMES}
    for entry in sample:
        x, y = (word_senses(wordnet, word) for word in (entry.x, entry.y))
        if x and y:
            strength = getattr(sense_relations(x, y), WORDNET_NAMES[entry.relation])
            checked[entry.relation].append(strength > 0)
    return [
        WordNetAgreement(name, len(confirmed), sum(confirmed))
        for name, confirmed in checked.items()
        if confirmed
    ]
