"""What may be an answer: the kinds of words, and the searches that leave some out."""

import pytest
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.query.answers import AnswerFilter, WordKind, word_kind
from pair2vec.text.vocabulary import Vocabulary

WORDS = "the , of he she 1990 1991 st fl hot cold warm cool paris".split()
NO_ANSWERS = {"the", ",", "of", "he", "she", "1990", "1991", "st", "fl"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", WORDS, hidden=6))


@pytest.mark.parametrize(
    ("kind", "words"),
    {
        WordKind.CONTENT: "dog new-york ox tv u.s. łódź o'brien bmw mp3 北京 東 שלום",
        WordKind.FUNCTION: "the of he which doesn't didn't etc",
        WordKind.NUMBER: "7 1990 1,000.5 2nd 1990s 3d",
        WordKind.SHORT: "st fl ca é 's 're ж",
        WordKind.MARK: ", . – $ … 。",
    }.items(),
)
def test_the_kind_of_a_word_is_seen_from_its_spelling(kind: WordKind, words: str) -> None:
    assert {word_kind(word) for word in words.split()} == {kind}


def test_a_vocabulary_has_the_kinds_of_its_words() -> None:
    words = [*"dog the 1990 st , neither ox doesn't łódź o'brien new-york ж".split(), "new york"]
    kinds = AnswerFilter(Vocabulary((word, 1) for word in words)).kinds
    assert kinds.tolist() == [WordKind.MARK] * 4 + [word_kind(word) for word in words]


def test_a_phrase_is_content() -> None:
    assert word_kind("new york") == word_kind("of mice and men") == WordKind.CONTENT


def test_no_answer_has_a_word_in_common_with_the_question() -> None:
    words = ["germany", "east germany", "east", "germanys", "new york", "new york city", "york"]
    vocabulary = Vocabulary((word, 1) for word in words)
    answers = AnswerFilter(vocabulary)

    def left_out(word: str) -> set[str]:
        ids = answers.overlapping([vocabulary.ids[word]])
        return {vocabulary.words[n] for n in ids} & {*words} - {word}

    assert left_out("germany") == {"east germany"}
    assert left_out("east germany") == {"germany", "east"}
    assert left_out("new york") == {"new york city", "york"}
    assert left_out("new york city") == {"new york", "york"}


def test_answers_are_words_of_content_and_of_the_kinds_of_the_question() -> None:
    vocabulary = Vocabulary((word, 1) for word in WORDS)
    answers = AnswerFilter(vocabulary)

    def left_out(*query: str) -> set[str]:
        ids = answers.excluded([vocabulary.ids[word] for word in query])
        return {vocabulary.words[n] for n in ids} - set(vocabulary.words[:4])

    assert left_out("hot") == NO_ANSWERS
    assert left_out("hot", "he") == NO_ANSWERS - {"the", "of", "he", "she"}
    assert left_out("1990") == NO_ANSWERS - {"1990", "1991"}
    assert left_out(",") == NO_ANSWERS - {","}
    beyond = len(vocabulary) + 3
    assert set(answers.excluded([beyond])) == set(answers.excluded([vocabulary.ids["hot"]]))


def test_searches_answer_with_content_unless_all_words_are_asked_for(model: Pair2vec) -> None:
    def found(*, all_words: bool) -> list[set[str]]:
        filled = model.fill("X of Y", x="hot", top=99, all_words=all_words)
        analogous = model.analogy("hot", "cold", "warm", top=99, all_words=all_words)
        near = model.neighbours("hot", "antonym", top=99, all_words=all_words)
        pairs = model.nearest("hot", "cold", top=99, all_words=all_words)
        words = [{match.word for match in matches} for matches in (filled, analogous, near)]
        return [*words, {word for match in pairs for word in match[:2]}]

    assert all(not words & NO_ANSWERS for words in found(all_words=False))
    assert all(words & NO_ANSWERS for words in found(all_words=True))
    assert found(all_words=False)[0] == {"cold", "warm", "cool", "paris"}


def test_words_to_choose_among_are_never_left_out(model: Pair2vec) -> None:
    some = ["of", "1990", "cold"]
    assert len(model.fill("X of Y", x="hot", among=some)) == 3
    assert len(model.analogy("hot", "cold", "warm", among=["of", "1990"])) == 2
    assert len(model.nearest("hot", "cold", among=[("of", "the"), ("warm", "cool")])) == 2
    relations = model.relations()
    assert len(relations.neighbours("hot", "antonym", among=some)) == 3


def test_a_question_about_a_function_word_finds_function_words(model: Pair2vec) -> None:
    assert "she" in {match.word for match in model.fill("X of Y", x="he", top=99)}
    assert not {",", "1990"} & {match.word for match in model.fill("X of Y", x="he", top=99)}
