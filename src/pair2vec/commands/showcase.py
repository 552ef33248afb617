"""What a model answers to a few questions: the first thing a newcomer sees."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pair2vec.query import Pair2vec

_FILLS = (
    ("in X , Y .", "portland"),
    ("X , a famous Y ,", "monet"),
    ("either X or Y", "accept"),
    ("including X and other Y", "copper"),
)
_ANALOGIES = (
    ("france", "paris", "japan"),
    ("einstein", "physicist", "mozart"),
    ("walk", "walked", "sing"),
)
_PAIRS = (("japan", "tokyo"), ("hot", "cold"), ("king", "queen"))
_WORDS_SHOWN, _PAIRS_SHOWN = 4, 3


class Answered(NamedTuple):
    """A question and what the model says."""

    question: str
    command: str
    """To ask it oneself, behind ``pair2vec``."""
    answers: list[str]
    """The best first."""


def answered_questions(model: "Pair2vec") -> Iterator[Answered]:
    """The questions of which the model knows all words, answered."""

    def knows(*words: str) -> bool:
        return all(word in model.vocabulary.ids for word in words)

    for pattern, x in _FILLS:
        if knows(*pattern.replace("X", x).replace(" Y", "").split()):
            found = model.fill(pattern, x=x, top=_WORDS_SHOWN)
            question = f"“{pattern.replace('X', x).replace('Y', '…')}”"
            yield Answered(question, f'fill "{pattern}" --x {x}', [m.word for m in found])
    for a, b, x in _ANALOGIES:
        if knows(a, b, x):
            words = [match.word for match in model.analogy(a, b, x, top=_WORDS_SHOWN)]
            yield Answered(f"{a} is to {b} as {x} is to …", f"analogy {a} {b} {x}", words)
    for x, y in _PAIRS:
        if knows(x, y):
            pairs = [f"{m.x} : {m.y}" for m in model.nearest(x, y, top=_PAIRS_SHOWN)]
            yield Answered(f"which pairs are like {x} : {y}?", f"nearest {x} {y}", pairs)
