"""Words of a text, and where they stand in it.

The rules are those of the corpora (`pair2vec.text.sentences`), with two differences, both because
an answer is part of a text. Nothing that shows is taken out, not even a web address. And hyphens
part words, because answers begin and end there: ``two`` in ``a two-page letter``.
"""

import json
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from pair2vec.errors import InputError, UsageError
from pair2vec.text.sentences import token_spans
from pair2vec.text.sources import Source

_SPELLINGS = {
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’ʼ", "'"),
    **dict.fromkeys("\u2010\u2011", "-"),
    "\ufffd": " ",
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0f", ""),
}
"""As in the corpora: one for what is written in several ways, and none for what does not show."""

_PIECE = re.compile(r"-|[^-]+")


class Words(NamedTuple):
    """Words, and the characters from where to where they go."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    """One behind the last character of each."""


def find_words(text: str) -> Words:
    """The words of `text` in order, case kept, quotes and apostrophes straight."""
    line, places = _respelled(text)
    spans = list(_spans(line))
    return Words(
        tuple(line[start:end] for start, end in spans),
        tuple(places[start] for start, _ in spans),
        tuple(places[end - 1] + 1 for _, end in spans),
    )


def _respelled(text: str) -> tuple[str, Sequence[int]]:
    """One spelling for what is written in several ways, and where each character was."""
    if text.isascii():
        return text, range(len(text))
    spelled = [_SPELLINGS.get(character, character) for character in text]
    return "".join(spelled), [place for place, spelling in enumerate(spelled) if spelling]


def _spans(line: str) -> Iterator[tuple[int, int]]:
    for start, end in token_spans(line):
        if "-" in line[start:end]:
            yield from (piece.span() for piece in _PIECE.finditer(line, start, end))
        else:
            yield start, end


# == Questions and passages: SQuAD 1.1 and 2.0 and the adversarial sets, as they are published.
#
# A file is one JSON object: ``data`` has articles, an article ``paragraphs``, a paragraph its
# ``context`` and its ``qas``, the questions, whose ``answers`` are a text and the character of the
# context where it starts. It may be compressed.


class Text(NamedTuple):
    """A text, its words, and where they stand in it."""

    text: str
    words: tuple[str, ...]
    """In order, case kept."""
    starts: tuple[int, ...]
    """The first character of each word."""
    ends: tuple[int, ...]
    """One behind the last character of each."""

    @classmethod
    def of(cls, text: str) -> Self:
        """A text with its words found."""
        return cls(text, *find_words(text))

    def span(self, first: int, last: int) -> str:
        """The text from the first word to the last, which is in it."""
        return self.text[self.starts[first] : self.ends[last]]

    def covering(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and the last word of which some character is in text[start:end]."""
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end) - 1
        return (first, last) if start < end and first <= last else None


class GoldAnswer(NamedTuple):
    """Part of a passage, as somebody marked it."""

    text: str
    start: int
    """The character of the passage where it starts."""


class QaQuestion(NamedTuple):
    """A question, and what answers it in its passage."""

    id: str
    text: Text
    passage: int
    """Its number in the set."""
    answers: tuple[GoldAnswer, ...]
    """Of different people; none if the passage has no answer."""
    title: str = ""
    """Of the article."""


class QaSet(NamedTuple):
    """The passages and questions of one or several files."""

    passages: list[Text]
    questions: list[QaQuestion]
    files: dict[str, int]
    """How many questions each file has, by its name without folders."""


def answer_words(passage: Text, answer: GoldAnswer) -> tuple[int, int] | None:
    """The first and the last word that cover an answer; None if the passage does not have it.

    Where the passage says something else at the answer's start, the nearest place counts.
    """
    start = _place(passage.text, answer)
    return None if start is None else passage.covering(start, start + len(answer.text))


def _place(text: str, answer: GoldAnswer) -> int | None:
    start = max(0, answer.start)
    if text.startswith(answer.text, start):
        return start
    before = text.rfind(answer.text, 0, start + len(answer.text))
    found = [place for place in (before, text.find(answer.text, start)) if place >= 0]
    return min(found, key=lambda place: abs(place - start), default=None)


def read_qa(paths: Sequence[str | os.PathLike[str]]) -> QaSet:
    """The passages and questions of several files, one behind the other.

    Raises:
        UsageError: there is no such file.
        InputError: a file cannot be read, or has no question.
    """
    found = QaSet([], [], {})
    for path in paths:
        before = len(found.questions)
        for title, paragraph, place in _paragraphs(os.fspath(path)):
            _add_paragraph(found, title, paragraph, place)
        count = len(found.questions) - before
        if not count:
            raise InputError(f"{path}: has no questions")
        name = Path(path).name
        found.files[name] = found.files.get(name, 0) + count
    return found


def _paragraphs(name: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each with the title of its article, and where it stands."""
    content = _read(name)
    for number, article in enumerate(_field(content, "data", list, name), start=1):
        place = f"{name}, article {number:,}"
        paragraphs = _field(article, "paragraphs", list, place)
        title = str(article.get("title", ""))
        for count, paragraph in enumerate(paragraphs, start=1):
            yield title, paragraph, f"{place}, paragraph {count:,}"


def _read(name: str) -> Any:  # noqa: ANN401
    if not Path(name).is_file():
        raise UsageError(f"{name}: {'is a folder' if Path(name).is_dir() else 'no such file'}")
    with Source(name) as source:
        content = b"".join(source.blocks(map))
    try:
        return json.loads(content)
    except ValueError as error:
        raise InputError(f"{name}: not JSON, as SQuAD is published: {error}") from error


def _add_paragraph(found: QaSet, title: str, paragraph: dict[str, Any], place: str) -> None:
    passage = Text.of(_field(paragraph, "context", str, place))
    found.passages.append(passage)
    for number, asked in enumerate(_field(paragraph, "qas", list, place), start=1):
        where = f"{place}, question {number:,}"
        answers = tuple(
            GoldAnswer(
                _field(answer, "text", str, where), _field(answer, "answer_start", int, where)
            )
            for answer in _field(asked, "answers", list, where)
        )
        text = Text.of(_field(asked, "question", str, where))
        name, passage_number = _field(asked, "id", str, where), len(found.passages) - 1
        found.questions.append(QaQuestion(name, text, passage_number, answers, title))


def _field(owner: Any, name: str, kind: type, place: str) -> Any:  # noqa: ANN401
    """What `owner` has under a name, if that is of the right kind."""
    if not isinstance(owner, dict):
        raise InputError(f"{place}: expected an object with {name}, as SQuAD is published")
    value = owner.get(name)
    if not isinstance(value, kind):
        kinds = {list: "a list", str: "text", int: "a whole number"}
        raise InputError(f"{place}: {name} is {_short(value)}; it must be {kinds[kind]}")
    return value


def _short(value: object) -> str:
    shown = "missing" if value is None else repr(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"


class Prediction(NamedTuple):
    """The best answer that a passage has, and how much speaks against there being one."""

    answer: str
    """The text of the best span."""
    no_answer: float
    """The score of no answer less that of the best span; −inf of a model that always answers."""
    words: tuple[int, int]
    """The first and the last word of the span in the passage."""
