"""Answers as they are shown, in their sentences."""

from pair2vec.cli.qa import answers_text, sentence_around
from pair2vec.experiments.qa.answerer import Answers, CandidateAnswer

PASSAGE = 'He left in 1347. "It was Dr. No," she\nsaid. Then 3 came? Yes'


def shown(word: str) -> str:
    start = PASSAGE.index(word)
    begin, end = sentence_around(PASSAGE, start, start + len(word))
    return PASSAGE[begin:end]


def test_an_answer_is_shown_in_its_sentence() -> None:
    assert shown("1347") == "He left in 1347."
    assert shown("she") == 'No," she'
    assert shown("3 came") == "Then 3 came?"
    assert shown("Yes") == "Yes"
    assert shown("came? Yes") == "Then 3 came? Yes"
    assert shown("she\nsaid") == 'No," she\nsaid.'


def answers(probability: float, no_answer: float) -> Answers:
    start = PASSAGE.index("1347")
    return Answers([CandidateAnswer("1347", probability, start, start + 4)], no_answer)


def test_the_likelier_of_answer_and_no_answer_comes_first() -> None:
    said = answers_text(answers(0.75, 0.1), PASSAGE).plain.splitlines()
    assert said == ["1347  75.0%", "    He left in [1347].", "no answer  10.0%"]
    said = answers_text(answers(0.2, 0.7), PASSAGE).plain.splitlines()
    assert said[0] == "no answer  70.0%"
    assert answers_text(Answers([], 1.0), "").plain == "no answer  100.0%"
