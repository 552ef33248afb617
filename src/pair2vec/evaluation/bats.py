"""BATS, the Bigger Analogy Test Set (Gladkova et al., 2016), in its published folders.

Four folders of one group each, such as ``3_Encyclopedic_semantics``; in them one file a relation,
such as ``E01 [country - capital].txt``; in that one entry a line: a word, a tab, and its answers
with ``/`` between them.
"""

from itertools import permutations
from pathlib import Path

from pair2vec.errors import InputError
from pair2vec.evaluation.analogies import Entry, Question, Relation, numbered_lines

GROUPS = {
    "1": "inflectional",
    "2": "derivational",
    "3": "encyclopedic",
    "4": "lexicographic",
}
"""By the number that a folder's name begins with."""


def read_bats(folder: Path) -> list[Relation]:
    """The relations of BATS, with every ordered pair of two entries as a question.

    Raises:
        InputError: there are no such files, or a line is malformed.
    """
    files = sorted(folder.glob(f"[{''.join(GROUPS)}]_*/*.txt"))
    if not files:
        raise InputError(
            f"{folder}: has no BATS files, such as "
            "'3_Encyclopedic_semantics/E01 [country - capital].txt'"
        )
    return [_read_relation(path) for path in files]


def _read_relation(path: Path) -> Relation:
    entries = [_entry(place, line) for place, line in numbered_lines(path)]
    questions = tuple(Question(*pair) for pair in permutations(entries, 2))
    return Relation(path.stem, GROUPS[path.parent.name[0]], questions)


def _entry(place: str, line: str) -> Entry:
    word, *rest = (part.strip() for part in line.split("\t"))
    # Some lists end with a slash.
    answers = tuple(filter(None, rest[0].split("/"))) if len(rest) == 1 else ()
    if not word or not answers:
        raise InputError(
            f"{place}: expected a word, a tab and its answers with / between, got {line!r}"
        )
    return Entry(word, answers)
