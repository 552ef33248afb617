"""Published sets of analogies (BATS, Google's): a is to b as x is to which y.

Questions are read in words; `encode_relations` keeps those whose words are known.

Shapes: V vocabulary, N candidates, E dimension of the word vectors.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.api import Pair2vec
from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.errors import InputError, UsageError
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.word_vectors.formats import read_word_vectors

BATS_GROUPS = {
    "1": "inflectional",
    "2": "derivational",
    "3": "encyclopedic",
    "4": "lexicographic",
}
"""By the number that a folder's name begins with."""

Half = Literal["choose", "report"]
"""Of the relations: one to choose settings by, the other to report what they reach."""


class AnalogyEntry(NamedTuple):
    """A word, and the words that stand in a relation to it."""

    word: str
    answers: tuple[str, ...]


class AnalogyItem(NamedTuple):
    """A question in words."""

    example: AnalogyEntry
    """a, and b among its answers."""
    query: AnalogyEntry
    """x, and every y that is correct."""


class AnalogyRelation(NamedTuple):
    """The questions of one relation."""

    name: str
    group: str
    """Of relations of one kind, such as "encyclopedic"."""
    questions: tuple[AnalogyItem, ...]


def read_analogies(path: Path) -> list[AnalogyRelation]:
    """BATS if it is a folder, Google's format if it is a file.

    Raises:
        UsageError: there is no such path.
        InputError: it is in neither format, or a line is malformed.
    """
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder; give a BATS folder or Google's file")
    return _read_bats(path) if path.is_dir() else _read_google(path)


def _read_bats(folder: Path) -> list[AnalogyRelation]:
    """BATS, the Bigger Analogy Test Set (Gladkova et al., 2016), in its published folders.

    Four folders of one group each, such as ``3_Encyclopedic_semantics``; in them one file a
    relation, such as ``E01 [country - capital].txt``; in that one entry a line: a word, a tab, and
    its answers with ``/`` between them. Every ordered pair of two entries is a question.
    """
    paths = sorted(folder.glob(f"[{''.join(BATS_GROUPS)}]_*/*.txt"))
    if not paths:
        raise InputError(
            f"{folder}: has no BATS files, such as "
            "'3_Encyclopedic_semantics/E01 [country - capital].txt'"
        )
    relations = []
    for path in paths:
        entries = [_bats_entry(location, line) for location, line in non_blank_lines(path)]
        questions = tuple(AnalogyItem(*pair) for pair in permutations(entries, 2))
        relations.append(AnalogyRelation(path.stem, BATS_GROUPS[path.parent.name[0]], questions))
    return relations


def _bats_entry(location: str, line: str) -> AnalogyEntry:
    word, *rest = (part.strip() for part in line.split("\t"))
    # Some lists end with a slash.
    answers = tuple(filter(None, rest[0].split("/"))) if len(rest) == 1 else ()
    if not word or not answers:
        raise InputError(
            f"{location}: expected a word, a tab and its answers with / between, got {line!r}"
        )
    return AnalogyEntry(word, answers)


def _read_google(path: Path) -> list[AnalogyRelation]:
    """Google's analogies (Mikolov et al., 2013), in two groups: semantic and syntactic.

    A section begins with a line such as ``: capital-world``; a question is a line of four words,
    ``a b x y``.
    """
    sections: defaultdict[str, list[AnalogyItem]] = defaultdict(list)
    section = None
    for location, line in non_blank_lines(path):
        if line.startswith(":"):
            section = line[1:].strip()
        elif section is None:
            raise InputError(f"{location}: a question before the first section, got {line!r}")
        else:
            sections[section].append(_google_question(location, line))
    if not sections:
        raise InputError(f"{path}: has no questions")
    return [
        AnalogyRelation(
            name, "syntactic" if name.startswith("gram") else "semantic", tuple(questions)
        )
        for name, questions in sections.items()
    ]


def _google_question(location: str, line: str) -> AnalogyItem:
    words = line.split()
    if len(words) != 4:
        raise InputError(f"{location}: expected four words, or ': section', got {line!r}")
    a, b, x, y = words
    return AnalogyItem(AnalogyEntry(a, (b,)), AnalogyEntry(x, (y,)))


def non_blank_lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file that are not blank, each with its location as an error names it.

    Raises:
        InputError: the file is not UTF-8.
    """
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 at byte {error.start + 1:,}") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            # Some published files end their lines as Windows does.
            yield f"{path}, line {number}", line.rstrip("\r")


def select_half(relations: Sequence[AnalogyRelation], half: Half | None) -> list[AnalogyRelation]:
    """Every second relation of each group in the order of their names; None is all.

    The first, the third and so on are those to "choose" by, the others those to "report": 5 and 5
    of each group of BATS.

    Raises:
        UsageError: there is no such half, or nothing is in it.
    """
    if half is None:
        return list(relations)
    if half not in get_args(Half):
        raise UsageError(f"half is {half!r}; it must be one of {', '.join(get_args(Half))}")
    by_group = defaultdict(list)
    for relation in relations:
        by_group[relation.group].append(relation.name)
    start = get_args(Half).index(half)
    names = {(group, name) for group in by_group for name in sorted(by_group[group])[start::2]}
    kept = [relation for relation in relations if (relation.group, relation.name) in names]
    if not kept:
        raise UsageError(f"half is {half!r}, but no group has the two relations to be halved")
    return kept


def select_relations(
    relations: Sequence[AnalogyRelation], names: Sequence[str]
) -> list[AnalogyRelation]:
    """The relations that have one of `names` as their group or in their own name; [] is all.

    Raises:
        UsageError: one of the names fits nothing.
    """
    for name in names:
        if not any(_fits(relation, name) for relation in relations):
            groups = ", ".join(sorted({relation.group for relation in relations}))
            raise UsageError(
                f"{name!r} is neither a group ({groups}) nor part of the name of any of the "
                f"{len(relations)} relations, such as {relations[0].name!r}"
            )
    return [r for r in relations if not names or any(_fits(r, name) for name in names)]


def _fits(relation: AnalogyRelation, name: str) -> bool:
    return name.lower() == relation.group or name.lower() in relation.name.lower()


@dataclass(frozen=True, kw_only=True)
class AnswerVocabulary:
    """The candidates for y: words with both a pair model's and a word vector.

    So both methods choose from the same words, and any other word is out of vocabulary.
    """

    ids: IntArray
    """In the model's vocabulary, the most frequent first, (N,)."""
    vectors: FloatArray
    """For 3CosAdd, unit norm, (N, E)."""
    indices: Mapping[str, int]

    def __len__(self) -> int:
        """N."""
        return len(self.ids)

    def index(self, spelling: str) -> int | None:
        """The index of a word as a published set spells it; None if it is unknown."""
        tokens = tokenize(spelling)
        return self.indices.get(tokens[0]) if len(tokens) == 1 else None


def read_answer_vectors(model: Pair2vec, path: Path | None) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Of each id the word vector for 3CosAdd, (V, E), and whether there is one, (V,).

    They are those of a file, or else those that the pair vectors are made of, which all words have.
    """
    if path is None:
        return model.unit_words, np.ones(len(model.vocabulary), np.bool_)
    found = read_word_vectors(path, model.vocabulary)
    return found.vectors, found.found


def find_answer_vocabulary(
    vocabulary: Vocabulary,
    vectors: FloatArray,
    has_vector: NDArray[np.bool_],
    limit: int | None = None,
) -> AnswerVocabulary:
    """The words of a vocabulary that have a word vector.

    Args:
        vocabulary: Of the model.
        vectors: For single words, a row an id: (V, E).
        has_vector: Of each id, whether its row is the vector of its word: (V,).
        limit: Only so many of the most frequent words.
    """
    special = len(SPECIAL_TOKENS)
    end = len(vocabulary) if limit is None else special + limit
    ids = special + np.flatnonzero(has_vector[special:end])
    if not len(ids):
        raise InputError("none of the model's words has a word vector; are they of one language?")
    indices = {vocabulary.words[number]: index for index, number in enumerate(ids.tolist())}
    return AnswerVocabulary(ids=ids, vectors=normalise(vectors[ids]), indices=indices)


class EncodedQuestion(NamedTuple):
    """A question by the indices of its words among the candidates."""

    a: int
    b: int
    x: int
    answers: frozenset[int]
    """Those that are known. One that is a, b or x itself can never be predicted, as the published
    protocol has it: *series* is no help to find the plural of *series*."""


class EncodedRelation(NamedTuple):
    """A relation without the questions that have an unknown word."""

    name: str
    group: str
    questions: list[EncodedQuestion]
    total: int
    """How many questions there are with those."""


def encode_relations(
    relations: Iterable[AnalogyRelation], candidates: AnswerVocabulary
) -> list[EncodedRelation]:
    """Drop each question of which a, x, or every answer of either is unknown.

    b is the first of the example's answers that is known.
    """

    @cache
    def encode(entry: AnalogyEntry) -> tuple[int | None, list[int]]:
        answers = [candidates.index(answer) for answer in entry.answers]
        return candidates.index(entry.word), [index for index in answers if index is not None]

    encoded = []
    for name, group, questions in relations:
        kept = []
        for example, query in questions:
            (a, bs), (x, ys) = encode(example), encode(query)
            if a is not None and bs and x is not None and ys:
                kept.append(EncodedQuestion(a, bs[0], x, frozenset(ys)))
        encoded.append(EncodedRelation(name, group, kept, len(questions)))
    return encoded
