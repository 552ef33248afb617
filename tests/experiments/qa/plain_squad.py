"""SQuAD's scores once more, from the published JSON, one question and one rule at a time."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ARTICLES = {"a", "an", "the"}
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


class Plain(NamedTuple):
    id: str
    golds: list[str]
    has_answer: bool


def read_plain(path: Path) -> Iterator[Plain]:
    content: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    for article in content["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                golds = [answer["text"] for answer in question["answers"]]
                yield Plain(question["id"], golds, bool(golds))


def plain_words(text: str) -> list[str]:
    kept = ""
    for character in text.lower():
        if character not in PUNCTUATION:
            kept += character
    # An article is one only between characters that are not of words, as in a regular expression.
    parts, word = [], ""
    for character in [*kept, " "]:
        if character.isalnum() or character == "_":
            word += character
        else:
            parts += ["" if word in ARTICLES else word, character]
            word = ""
    return "".join(" " if part == "" else part for part in parts).split()


def plain_em(gold: str, predicted: str) -> int:
    return int(plain_words(gold) == plain_words(predicted))


def plain_f1(gold: str, predicted: str) -> float:
    golds, words = plain_words(gold), plain_words(predicted)
    if len(golds) == 0 or len(words) == 0:
        return int(golds == words)
    same = 0
    rest = list(golds)
    for word in words:
        if word in rest:
            rest.remove(word)
            same += 1
    if same == 0:
        return 0.0
    precision, recall = same / len(words), same / len(golds)
    return 2 * precision * recall / (precision + recall)


def plain_scores(question: Plain, predicted: str) -> tuple[int, float]:
    golds = [gold for gold in question.golds if plain_words(gold)] or [""]
    return max(plain_em(g, predicted) for g in golds), max(plain_f1(g, predicted) for g in golds)


def plain_squad2(
    outcomes: list[tuple[bool, float, int, float]], threshold: float
) -> tuple[float, float]:
    """EM and F1 in percent, of (has an answer, score of no answer, EM if said, F1 if said)."""
    em = f1 = 0.0
    for has_answer, no_answer, span_em, span_f1 in outcomes:
        if no_answer > threshold:
            em += not has_answer
            f1 += not has_answer
        else:
            em += span_em
            f1 += span_f1
    return 100 * em / len(outcomes), 100 * f1 / len(outcomes)
