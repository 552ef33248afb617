"""How far an answer is the right one: exact match and F1, as in SQuAD's official programs."""

import re
import string
from collections import Counter
from typing import NamedTuple

from pair2vec.qa.examples import Question

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


class Match(NamedTuple):
    """How far one text is another, from 0 to 1."""

    em: float
    """1 if they are the same, and otherwise 0."""
    f1: float
    """Of the words they share."""


def normalised(text: str) -> str:
    """Lower case, without punctuation and articles, one blank between words."""
    plain = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", plain).split())


def match(said: str, answer: str) -> Match:
    """How far what was said is the answer; of two texts without any word, all the way."""
    words, right = normalised(said).split(), normalised(answer).split()
    if not words or not right:
        return Match(float(words == right), float(words == right))
    shared = (Counter(words) & Counter(right)).total()
    return Match(float(words == right), 2 * shared / (len(words) + len(right)))


def best_match(said: str, question: Question) -> Match:
    """The best over the answers, of EM and F1 each by itself; the answer may be that there is none.

    As in the official program of SQuAD 2.0, answers without a word (*the*) do not count.
    """
    answers = {answer.text for answer in question.answers if normalised(answer.text)} or {""}
    matches = [match(said, answer) for answer in answers]
    return Match(max(one.em for one in matches), max(one.f1 for one in matches))
