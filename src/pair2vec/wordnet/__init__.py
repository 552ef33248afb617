"""WordNet, read from its own files: synsets, base forms, and the relations between words."""

from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.related_words import RelatedWords, related_words
from pair2vec.wordnet.relations import RELATIONS, Relations, relations

__all__ = ["RELATIONS", "RelatedWords", "Relations", "WordNet", "related_words", "relations"]
