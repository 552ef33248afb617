"""The published model: a folder to save, to load, and to read about."""

from pair2vec.model.card import model_card
from pair2vec.model.describing import describe_model
from pair2vec.model.facts import model_facts
from pair2vec.model.folder import PatternCount, SavedModel, load_model, save_model
from pair2vec.model.hub import push_model
from pair2vec.model.precision import PRECISIONS, Precision, Rows
from pair2vec.model.shelf import bundled_models, find_model

__all__ = [
    "PRECISIONS",
    "PatternCount",
    "Precision",
    "Rows",
    "SavedModel",
    "bundled_models",
    "describe_model",
    "find_model",
    "load_model",
    "model_card",
    "model_facts",
    "push_model",
    "save_model",
]
