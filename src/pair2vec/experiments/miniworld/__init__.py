"""A small invented world with known relations: its facts, its text, and questions about it."""

from pair2vec.experiments.miniworld.exam import (
    AnalogyQuestion,
    SlotQuestion,
    analogy_questions,
    slot_questions,
)
from pair2vec.experiments.miniworld.relations import Fact
from pair2vec.experiments.miniworld.world import MiniWorld, WorldConfig

__all__ = [
    "AnalogyQuestion",
    "Fact",
    "MiniWorld",
    "SlotQuestion",
    "WorldConfig",
    "analogy_questions",
    "slot_questions",
]
