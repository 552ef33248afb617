"""The published model: a folder to save, to load, and to read about."""

from pair2vec.model.card import model_card
from pair2vec.model.folder import (
    PatternCount,
    SavedModel,
    describe_model,
    load_model,
    model_facts,
    save_model,
)
from pair2vec.model.resolve import bundled_models, find_model, push_model
from pair2vec.model.tensors import PRECISIONS, Precision, Rows

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
