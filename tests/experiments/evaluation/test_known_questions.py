"""Questions are dropped for an unknown word, and for nothing else."""

import numpy as np
import pytest

from pair2vec.errors import InputError
from pair2vec.experiments.evaluation.analogy_sets import (
    AnalogyEntry,
    AnalogyItem,
    AnalogyRelation,
    AnswerVocabulary,
    KnownQuestion,
    find_answer_vocabulary,
    known_relations,
)
from pair2vec.text.vocabulary import Vocabulary, WordCount

WORDS = "france paris japan tokyo kyoto peru lima".split()
VOCABULARY = Vocabulary([WordCount(word, 9) for word in WORDS])


def candidates(without: str = "", limit: int | None = None) -> AnswerVocabulary:
    vectors = np.random.default_rng(0).normal(size=(len(VOCABULARY), 3)).astype(np.float32)
    found = np.array([word != without for word in VOCABULARY.words])
    found[:4] = False
    return find_answer_vocabulary(VOCABULARY, vectors, found, limit)


def known(
    example: AnalogyEntry, asked: AnalogyEntry, known_words: AnswerVocabulary
) -> list[KnownQuestion]:
    relation = AnalogyRelation("capitals", "encyclopedic", (AnalogyItem(example, asked),))
    (made,) = known_relations([relation], known_words)
    assert (made.name, made.group, made.asked) == ("capitals", "encyclopedic", 1)
    return made.questions


FRANCE = AnalogyEntry("france", ("paris",))
JAPAN = AnalogyEntry("japan", ("edo", "tokyo", "kyoto"))


def test_b_is_the_first_answer_that_is_known_and_any_known_answer_is_right() -> None:
    assert known(FRANCE, JAPAN, candidates()) == [KnownQuestion(0, 1, 2, frozenset({3, 4}))]
    assert known(JAPAN, FRANCE, candidates()) == [KnownQuestion(2, 3, 0, frozenset({1}))]


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize(
    "entry", [AnalogyEntry("spain", ("paris",)), AnalogyEntry("peru", ("cuzco", "callao"))]
)
def test_a_question_with_an_unknown_word_is_dropped(entry: AnalogyEntry, asked: bool) -> None:
    pair = (FRANCE, entry) if asked else (entry, FRANCE)
    assert known(*pair, candidates()) == []


def test_a_word_without_a_vector_is_unknown_and_no_candidate() -> None:
    assert known(FRANCE, JAPAN, candidates(without="france")) == []
    assert known(FRANCE, JAPAN, candidates(without="tokyo")) == [
        KnownQuestion(0, 1, 2, frozenset({3}))
    ]
    assert candidates(without="tokyo").ids.tolist() == [4, 5, 6, 8, 9, 10]


def test_words_beyond_the_limit_are_unknown() -> None:
    few = candidates(limit=4)
    assert [VOCABULARY.words[number] for number in few.ids] == WORDS[:4]
    assert known(FRANCE, JAPAN, few) == [KnownQuestion(0, 1, 2, frozenset({3}))]
    assert known(FRANCE, JAPAN, candidates(limit=3)) == []


def test_words_are_spelled_as_the_tokeniser_spells_them() -> None:
    assert known(
        AnalogyEntry("France", ("PARIS",)),
        AnalogyEntry("Japan", ("tokyo city", "Kyoto")),
        candidates(),
    )
    assert not known(FRANCE, AnalogyEntry("japan", ("tokyo kyoto", "<pad>")), candidates())


def test_vectors_are_brought_to_length_one() -> None:
    np.testing.assert_allclose(np.linalg.norm(candidates().vectors, axis=1), 1, rtol=1e-6)


def test_no_candidate_at_all_is_an_error() -> None:
    with pytest.raises(InputError, match="none of the model's words has a word vector"):
        find_answer_vocabulary(VOCABULARY, np.zeros((11, 3), np.float32), np.zeros(11, np.bool_))
