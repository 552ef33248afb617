"""Questions and passages: SQuAD 1.1 and 2.0 and the adversarial sets, as they are published.

A file is one JSON object: ``data`` has articles, an article ``paragraphs``, a paragraph its
``context`` and its ``qas``, the questions, whose ``answers`` are a text and the character of the
context where it starts. It may be compressed.

Texts are tokenised by the rules of the corpora (`pair2vec.text.sentences`), with two differences,
both because an answer is part of a text. No visible character is removed, not even a web address.
And hyphens are tokens, because answers begin and end there: ``two`` in ``a two-page letter``.
"""

import json
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.tasks.json_fields import is_text, short_repr
from pair2vec.text.sentences import token_spans
from pair2vec.text.sources import Source

_SPELLINGS = {
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’ʼ", "'"),
    **dict.fromkeys("\u2010\u2011", "-"),
    "\ufffd": " ",
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0f", ""),
}
"""As in the corpora: one spelling for equivalent characters, and none for invisible ones."""

_AT_HYPHENS = re.compile(r"-|[^-]+")


class TokenisedText(NamedTuple):
    """A text, its words, and their character offsets."""

    text: str
    words: tuple[str, ...]
    """In order, case kept."""
    starts: tuple[int, ...]
    """The first character of each word."""
    ends: tuple[int, ...]
    """After the last character of each word."""

    @classmethod
    def of(cls, text: str) -> Self:
        """Tokenise a text; in words, quotes and apostrophes are straight."""
        line, offsets = _normalise_spelling(text)
        spans = list(_spans(line))
        return cls(
            text,
            tuple(line[start:end] for start, end in spans),
            tuple(offsets[start] for start, _ in spans),
            tuple(offsets[end - 1] + 1 for _, end in spans),
        )

    def span(self, first: int, last: int) -> str:
        """The text from the first word to the last, inclusive."""
        return self.text[self.starts[first] : self.ends[last]]

    def covering(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and the last word that overlap text[start:end]."""
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end) - 1
        return (first, last) if start < end and first <= last else None


class GoldAnswer(NamedTuple):
    """A span of a passage, as an annotator marked it."""

    text: str
    start: int
    """Its first character in the passage."""


class QaQuestion(NamedTuple):
    """A question, and its gold answers."""

    id: str
    text: TokenisedText
    passage: int
    """Its index in the set."""
    answers: tuple[GoldAnswer, ...]
    """Of several annotators; none if the passage has no answer."""
    title: str = ""
    """Of the article."""


class QaSet(NamedTuple):
    """The passages and questions of one or several files."""

    passages: list[TokenisedText]
    questions: list[QaQuestion]
    files: dict[str, int]
    """By file name, how many questions each has."""


class SpanPrediction(NamedTuple):
    """The best span of a passage, and the score of no answer."""

    answer: str
    """The text of the span."""
    no_answer: float
    """The score of no answer less that of the span; −inf of a model that always answers."""
    words: tuple[int, int]
    """The positions of the first and the last word of the span."""


def answer_span(passage: TokenisedText, answer: GoldAnswer) -> tuple[int, int] | None:
    """The first and the last word that cover an answer; None if the passage does not have it.

    If the answer is not at its given start, its nearest occurrence counts.
    """
    start = _find_answer(passage.text, answer)
    return None if start is None else passage.covering(start, start + len(answer.text))


def _find_answer(text: str, answer: GoldAnswer) -> int | None:
    start = max(0, answer.start)
    if text.startswith(answer.text, start):
        return start
    before = text.rfind(answer.text, 0, start + len(answer.text))
    occurrences = [offset for offset in (before, text.find(answer.text, start)) if offset >= 0]
    return min(occurrences, key=lambda offset: abs(offset - start), default=None)


def read_qa(paths: Sequence[str | os.PathLike[str]]) -> QaSet:
    """Concatenate the passages and questions of several files.

    Raises:
        UsageError: there is no such file.
        InputError: a file cannot be read, or has no question.
    """
    qa_set = QaSet([], [], {})
    for path in paths:
        before = len(qa_set.questions)
        for title, paragraph, location in _paragraphs(os.fspath(path)):
            _add_paragraph(qa_set, title, paragraph, location)
        count = len(qa_set.questions) - before
        if not count:
            raise InputError(f"{path}: has no questions")
        name = Path(path).name
        qa_set.files[name] = qa_set.files.get(name, 0) + count
    return qa_set


def _paragraphs(name: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each with the title of its article, and its location for error messages."""
    content = _read_json(name)
    for number, article in enumerate(_field(content, "data", list, name), start=1):
        location = f"{name}, article {number:,}"
        paragraphs = _field(article, "paragraphs", list, location)
        title = article.get("title", "")
        title = title if is_text(title) else short_repr(title)
        for count, paragraph in enumerate(paragraphs, start=1):
            yield title, paragraph, f"{location}, paragraph {count:,}"


def _read_json(name: str) -> Any:  # noqa: ANN401
    if not Path(name).is_file():
        raise UsageError(f"{name}: {'is a folder' if Path(name).is_dir() else 'no such file'}")
    with Source(name) as source:
        content = b"".join(source.blocks(map))
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: not JSON, as SQuAD is published: {error}") from error


def _add_paragraph(qa_set: QaSet, title: str, paragraph: dict[str, Any], location: str) -> None:
    passage = TokenisedText.of(_field(paragraph, "context", str, location))
    qa_set.passages.append(passage)
    for number, question in enumerate(_field(paragraph, "qas", list, location), start=1):
        where = f"{location}, question {number:,}"
        answers = tuple(
            GoldAnswer(
                _field(answer, "text", str, where), _field(answer, "answer_start", int, where)
            )
            for answer in _field(question, "answers", list, where)
        )
        text = TokenisedText.of(_field(question, "question", str, where))
        question_id, passage_index = _field(question, "id", str, where), len(qa_set.passages) - 1
        qa_set.questions.append(QaQuestion(question_id, text, passage_index, answers, title))


def _field(owner: Any, name: str, kind: type, location: str) -> Any:  # noqa: ANN401
    """The value of a key, which must be of this type."""
    if not isinstance(owner, dict):
        raise InputError(f"{location}: expected an object with {name}, as SQuAD is published")
    value = owner.get(name)
    if not isinstance(value, kind) or (kind is str and not is_text(value)):
        kinds = {list: "a list", str: "text", int: "a whole number"}
        found = "missing" if value is None else short_repr(value)
        raise InputError(f"{location}: {name} is {found}; it must be {kinds[kind]}")
    return value


def _normalise_spelling(text: str) -> tuple[str, Sequence[int]]:
    """The text with one spelling for equivalent characters, and their offsets in the original."""
    if text.isascii():
        return text, range(len(text))
    spelled = [_SPELLINGS.get(character, character) for character in text]
    return "".join(spelled), [offset for offset, spelling in enumerate(spelled) if spelling]


def _spans(line: str) -> Iterator[tuple[int, int]]:
    for start, end in token_spans(line):
        if "-" in line[start:end]:
            yield from (part.span() for part in _AT_HYPHENS.finditer(line, start, end))
        else:
            yield start, end
