"""WordNet, read from its own files: synsets, base forms, and relations between words."""

from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.related_words import RelatedWords, related_words
from pair2vec.wordnet.relations import WORDNET_RELATIONS, WordNetRelations, wordnet_relations

__all__ = [
    "WORDNET_RELATIONS",
    "RelatedWords",
    "WordNet",
    "WordNetRelations",
    "related_words",
    "wordnet_relations",
]
