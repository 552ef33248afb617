"""Google's analogies (Mikolov et al., 2013): one file, a question a line, in sections.

A section begins with a line such as ``: capital-world``; a question is four words, ``a b x y``.
"""

from collections import defaultdict
from pathlib import Path

from pair2vec.errors import InputError
from pair2vec.evaluation.analogies import Entry, Question, Relation, numbered_lines


def read_google_analogies(path: Path) -> list[Relation]:
    """The sections of a file as relations, in two groups: semantic and syntactic.

    Raises:
        InputError: a line is malformed, or there is no question.
    """
    sections: defaultdict[str, list[Question]] = defaultdict(list)
    section = None
    for place, line in numbered_lines(path):
        if line.startswith(":"):
            section = line[1:].strip()
        elif section is None:
            raise InputError(f"{place}: a question before the first section, got {line!r}")
        else:
            sections[section].append(_question(place, line))
    if not sections:
        raise InputError(f"{path}: has no questions")
    return [Relation(name, _group(name), tuple(questions)) for name, questions in sections.items()]


def _group(section: str) -> str:
    return "syntactic" if section.startswith("gram") else "semantic"


def _question(place: str, line: str) -> Question:
    words = line.split()
    if len(words) != 4:
        raise InputError(f"{place}: expected four words, or ': section', got {line!r}")
    a, b, x, y = words
    return Question(Entry(a, (b,)), Entry(x, (y,)))
