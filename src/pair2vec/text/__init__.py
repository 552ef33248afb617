"""From raw text to a corpus on disk, and back."""

from pair2vec.text.corpus import Corpus, open_corpus
from pair2vec.text.prepare import PrepareConfig, prepare
from pair2vec.text.sentences import split_sentences, tokenize
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.text.wikitext import clean_wikitext

__all__ = [
    "Corpus",
    "PrepareConfig",
    "Vocabulary",
    "clean_wikitext",
    "open_corpus",
    "prepare",
    "split_sentences",
    "tokenize",
]
