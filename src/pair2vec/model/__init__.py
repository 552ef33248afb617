"""The published model: a folder to save, to load, and to read about."""

from pair2vec.model.card import model_card
from pair2vec.model.facts import model_facts
from pair2vec.model.folder import PatternCount, SavedModel, load_model, save_model
from pair2vec.model.precision import PRECISIONS, Precision, Rows

__all__ = [
    "PRECISIONS",
    "PatternCount",
    "Precision",
    "Rows",
    "SavedModel",
    "load_model",
    "model_card",
    "model_facts",
    "save_model",
]
