"""How much of a lexicon WordNet says, too: an estimate of its precision, from below.

Only relations that WordNet's files tell of, and only pairs of words that it has; what it does not
say of them may be true all the same.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

from pair2vec.lexicon.export import LexiconEntry
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.relations import relations_of_senses, senses_of

SAMPLE = 2_000
IN_WORDNET = {
    "synonym": "synonymy",
    "antonym": "antonymy",
    "hypernym": "hypernymy",
    "hyponym": "hyponymy",
    "co-hyponym": "co_hyponymy",
}
"""Our relations, and what they are called there."""


class WordNetAgreement(NamedTuple):
    """Entries of one relation."""

    relation: str
    entries: int
    """Of the sample, whose words WordNet both has."""
    confirmed: int


def check_against_wordnet(
    entries: Sequence[LexiconEntry], wordnet: WordNet, seed: int = 0
) -> list[WordNetAgreement]:
    """Each relation that WordNet tells of, by a sample of entries."""
    candidates = [entry for entry in entries if entry.relation in IN_WORDNET]
    sample = random.Random(seed).sample(candidates, min(SAMPLE, len(candidates)))
    checked: dict[str, list[bool]] = {name: [] for name in IN_WORDNET}
    for entry in sample:
        x, y = (senses_of(wordnet, word) for word in (entry.x, entry.y))
        if x and y:
            said = getattr(relations_of_senses(x, y), IN_WORDNET[entry.relation])
            checked[entry.relation].append(said > 0)
    return [WordNetAgreement(name, len(said), sum(said)) for name, said in checked.items() if said]
