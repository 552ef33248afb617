"""Vectors of the words of a sentence, from pretrained models of several kinds; needs torch."""

from pair2vec.experiments.embedders.embedder import Embedder, EmbedderInputs
from pair2vec.experiments.embedders.open import open_embedder

__all__ = ["Embedder", "EmbedderInputs", "open_embedder"]
