"""The five relations between two words that KIM asks WordNet for (Chen et al., ACL 2018).

Of the pair [x, y], by all senses of the base forms of each:

- synonymy: 1 if the two share a synset;
- antonymy: 1 if they are antonyms;
- hypernymy: 1 − n/8 if y is above x with n edges between, the fewest, and n is below 8:
  [dog, canid] = 0.875, [dog, carnivore] = 0.75, [canid, dog] = 0;
- hyponymy: the same with x above y;
- co-hyponymy: 1 if a synset is right above both, and they share none: [dog, wolf].

A word that WordNet has is a synonym of itself and of its own inflections, and nothing else to them,
though one of its senses may be above another. Instances count as hyponyms: [Paris, capital]. A word
that WordNet does not have is in no relation.
"""

from typing import NamedTuple

from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.senses import Senses, hypernyms_of, senses_of

EDGES = 8
"""So many between two words, or more, are too many."""


class Relations(NamedTuple):
    """How strongly each holds of two words, from 0 to 1."""

    synonymy: float = 0.0
    antonymy: float = 0.0
    hypernymy: float = 0.0
    """The second word is the more general one."""
    hyponymy: float = 0.0
    co_hyponymy: float = 0.0


RELATIONS = Relations._fields


def relations(wordnet: WordNet, x: str, y: str) -> Relations:
    """Those between two words; to ask for many, see `related_words`."""
    return relations_of_senses(senses_of(wordnet, x), senses_of(wordnet, y))


def relations_of_senses(x: Senses, y: Senses) -> Relations:
    """The same of words that were looked up."""
    if x.lemmas == y.lemmas:
        return Relations(synonymy=float(bool(x)))
    are_synonyms = bool(x.synsets & y.synsets)
    parents = hypernyms_of(x.wordnet, x.synsets) & hypernyms_of(y.wordnet, y.synsets)
    return Relations(
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
