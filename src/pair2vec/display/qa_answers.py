"""Answers to a question, how sure they are, and the sentences they stand in."""

import re

from rich.text import Text

from pair2vec.qa.answerer import Answered, Answers

_BREAK = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])|\s*\n\s*")


def answers_text(found: Answers, passage: str) -> Text:
    """The answer first; where no answer is likelier, that comes first."""
    lines = [_line(one, passage) for one in found.answers]
    nothing = Text.assemble(("no answer", "bold"), f"  {found.no_answer:.1%}")
    lines.insert(0 if found.best is None else 1, nothing)
    return Text("\n").join(lines)


def _line(one: Answered, passage: str) -> Text:
    start, end = sentence_around(passage, one.start, one.end)
    return Text.assemble(
        (one.answer, "bold"),
        f"  {one.probability:.1%}\n    ",
        _plain(passage[start : one.start]),
        (f"[{_plain(one.answer)}]", "bold"),
        _plain(passage[one.end : end]),
    )


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """From where to where the sentence goes, or the sentences, that a span is in."""
    breaks = [found.span() for found in _BREAK.finditer(text)]
    before = max((stop for _, stop in breaks if stop <= start), default=0)
    behind = min((begin for begin, _ in breaks if begin >= end), default=len(text))
    return before, behind


def _plain(text: str) -> str:
    """On one line."""
    return re.sub(r"\s+", " ", text)
