"""A small invented world with known relations: its facts, its text, and questions about it."""

from pair2vec.miniworld.questions import (
    AnalogyQuestion,
    SlotQuestion,
    analogy_questions,
    slot_questions,
)
from pair2vec.miniworld.relations import Fact
from pair2vec.miniworld.world import MiniWorld, WorldConfig

__all__ = [
    "AnalogyQuestion",
    "Fact",
    "MiniWorld",
    "SlotQuestion",
    "WorldConfig",
    "analogy_questions",
    "slot_questions",
]
