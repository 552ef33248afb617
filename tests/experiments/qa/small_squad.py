"""A small set in SQuAD's format."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pair2vec.experiments.qa.examples import GoldAnswer, QaQuestion, TokenisedText


def paragraph(context: str, questions: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """A context, and its questions with the texts that answer them; the ids are the questions."""
    qas = [
        {
            "id": question,
            "question": question,
            "answers": [{"text": text, "answer_start": context.index(text)} for text in texts],
        }
        for question, texts in questions.items()
    ]
    return {"context": context, "qas": qas}


def write_squad(path: Path, *paragraphs: Mapping[str, Any], title: str = "Dogs") -> Path:
    article = {"title": title, "paragraphs": [*paragraphs]}
    path.write_text(json.dumps({"version": "v2.0", "data": [article]}))
    return path


def question(name: str, *answers: str) -> QaQuestion:
    """One that is answered by these texts."""
    return QaQuestion(
        name, TokenisedText.of(name), 0, tuple(GoldAnswer(text, 0) for text in answers)
    )
