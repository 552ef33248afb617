"""SQuAD files, tokenised texts, and answers as spans of words."""

import json
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.experiments.qa.small_squad import paragraph, write_squad
from tests.real_data import real_data

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.qa.examples import GoldAnswer, TokenisedText, answer_span, read_qa
from pair2vec.experiments.qa.squad import normalise_answer
from pair2vec.text.sentences import cased_tokens

PASSAGE = "Rex, a two-page dog (the U.S.’s best), didn't cost $1,000.50 in 1990–95."
ODD = "\u00a0\u2009\u3000\t\n\u200b\u00ad\ufeff\u2028\x00\x85\ufffd"
TEXTS = st.text(
    st.one_of(st.sampled_from("abzéİſß'’“-‐._&$,12 \u0301\u0939\u093f。😀ﬁ" + ODD), st.characters())
)


def test_words_are_corpus_tokens_split_at_hyphens_with_straight_quotes() -> None:
    text = TokenisedText.of(PASSAGE)
    assert " ".join(text.words) == (
        "Rex , a two - page dog ( the U.S. 's best ) , didn't cost $ 1,000.50 in 1990 – 95 ."
    )
    assert [text.text[s:e] for s, e in zip(text.starts, text.ends, strict=True)][10] == "’s"
    assert text.span(3, 6) == "two-page dog"


@given(TEXTS)
def test_offsets_are_exact_and_skip_only_invisible_characters(text: str) -> None:
    tokenised = TokenisedText.of(text)
    assert len(tokenised.words) == len(tokenised.starts) == len(tokenised.ends)
    end = 0
    for word, start, stop in zip(tokenised.words, tokenised.starts, tokenised.ends, strict=True):
        assert end <= start < stop <= len(text)
        assert not cased_tokens(text[end:start])
        written = text[start:stop].translate(dict.fromkeys(map(ord, ODD)))
        assert len(word) == len(written)
        assert word == written or not text[start:stop].isascii()
        end = stop
    assert not cased_tokens(text[end:])


@given(st.text(st.sampled_from("aB1é .,$()\t\u00a0"), max_size=30))
def test_words_of_plain_text_are_those_of_the_corpora(text: str) -> None:
    # An empty pair of brackets is taken out of a corpus, and not out of a passage.
    if not any(removed in "".join(text.split()) for removed in ("()", "(,", ",)")):
        assert [*TokenisedText.of(text).words] == cased_tokens(text)


@given(TEXTS, st.data())
def test_an_answer_is_covered_by_its_words_and_by_no_others(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    passage = TokenisedText.of(text)
    touched = [
        number
        for number, (first, last) in enumerate(zip(passage.starts, passage.ends, strict=True))
        if first < end and last > start
    ]
    expected = (touched[0], touched[-1]) if touched else None
    if start == end:
        expected = None
    assert passage.covering(start, end) == expected
    assert answer_span(passage, GoldAnswer(text[start:end], start)) == expected


def test_an_answer_at_a_wrong_offset_is_found_at_its_nearest_occurrence() -> None:
    passage = TokenisedText.of("one two one three one")
    assert answer_span(passage, GoldAnswer("one", 7)) == (2, 2)
    assert answer_span(passage, GoldAnswer("one", 12)) == (2, 2)
    assert answer_span(passage, GoldAnswer("one", 99)) == (4, 4)
    assert answer_span(passage, GoldAnswer("one", -5)) == (0, 0)
    assert answer_span(passage, GoldAnswer("four", 4)) is None
    assert answer_span(passage, GoldAnswer(" ", 3)) is None
    assert answer_span(passage, GoldAnswer("", 2)) is None


def test_a_file_has_passages_questions_and_answers(tmp_path: Path) -> None:
    first = paragraph("Rex is a dog.", {"Who is a dog?": ["Rex", "Rex is"], "Who is a cat?": []})
    other = paragraph("Tom is a cat.", {"Who is it?": ["Tom"]})
    path = write_squad(tmp_path / "dev.json", first, other)
    qa_set = read_qa([path])
    assert [passage.text for passage in qa_set.passages] == ["Rex is a dog.", "Tom is a cat."]
    assert [question.passage for question in qa_set.questions] == [0, 0, 1]
    assert qa_set.questions[0].answers == (("Rex", 0), ("Rex is", 0))
    assert qa_set.questions[0].text.words == ("Who", "is", "a", "dog", "?")
    assert qa_set.questions[0].title == "Dogs"
    assert not qa_set.questions[1].answers
    assert qa_set.files == {"dev.json": 3}
    packed = tmp_path / "more.json.xz"
    packed.write_bytes(lzma.compress(path.read_bytes()))
    both = read_qa([path, packed])
    assert both.files == {"dev.json": 3, "more.json.xz": 3}
    assert [question.passage for question in both.questions] == [0, 0, 1, 2, 2, 3]
    assert both.passages[2:] == qa_set.passages


NESTED = '{"a": ' * 800 + "0" + "}" * 800


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not JSON, as SQuAD is published"),
        ("[" * 100_000, "not JSON, as SQuAD is published"),
        (f'{{"data": {"[" * 900}{"]" * 900}}}', "article 1: expected an object with paragraphs"),
        (
            f'{{"data": [{{"paragraphs": {NESTED}}}]}}',
            "article 1: paragraphs is {'a': {'a': ",
        ),
        (
            '{"data": [{"paragraphs": [{"context": "half \\ud83d", "qas": []}]}]}',
            r"paragraph 1: context is 'half \\ud83d'; it must be text",
        ),
        ("[]", "expected an object with data"),
        ('{"data": []}', "has no questions"),
        ('{"data": [{"paragraphs": 3}]}', "article 1: paragraphs is 3; it must be a list"),
        ('{"data": [{"paragraphs": [{"qas": []}]}]}', "paragraph 1: context is missing; it must"),
    ],
)
def test_a_file_that_is_not_squad_is_an_error_of_one_line(
    tmp_path: Path, content: str, problem: str
) -> None:
    path = tmp_path / "dev.json"
    path.write_text(content)
    with pytest.raises(InputError, match=problem) as caught:
        read_qa([path])
    assert "\n" not in str(caught.value)


def test_a_damaged_answer_is_located(tmp_path: Path) -> None:
    whole = paragraph("Rex is a dog.", {"Who?": ["Rex"], "What?": ["dog"]})
    whole["qas"][1]["answers"][0]["answer_start"] = "9"
    path = write_squad(tmp_path / "dev.json", whole)
    message = r"dev\.json, article 1, paragraph 1, question 2: answer_start is '9'"
    with pytest.raises(InputError, match=message):
        read_qa([path])
    del whole["qas"][1]["answers"]
    path.write_text(json.dumps({"data": [{"paragraphs": [whole]}]}))
    with pytest.raises(InputError, match="question 2: answers is missing; it must be a list"):
        read_qa([path])
    with pytest.raises(UsageError, match="no such file"):
        read_qa([tmp_path / "none.json"])


@pytest.mark.parametrize("name", ["dev-v1.1", "dev-v2.0", "add_sent", "add_one_sent"])
def test_every_answer_of_the_dev_sets_is_covered_by_words(name: str) -> None:
    qa_set = read_qa([real_data("squad") / f"{name}.json.xz"])
    answers, same = 0, 0
    for question in qa_set.questions:
        passage = qa_set.passages[question.passage]
        for answer in question.answers:
            words = answer_span(passage, answer)
            assert words is not None, question
            start, end = passage.starts[words[0]], passage.ends[words[1]]
            assert answer.text.strip() in passage.text[start:end]
            answers += 1
            same += normalise_answer(passage.span(*words)) == normalise_answer(answer.text)
    # What remains are answers that begin or end within a word: Rhin, of Rhine.
    assert same / answers > 0.992, f"{100 * same / answers:.2f} % of {answers:,}"
