"""An invented world of capitals: passages that state some, and questions that some of them answer.

Each passage has capitals of its own, so that nothing can be memorised. In the second world, of
relatives, passages only list words: which of them is the answer only pair vectors show, as in the
tests of NLI.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.wordnet.small_wordnet import write_wordnet

from pair2vec.experiments.qa.answerer import QaSettings, qa_settings
from pair2vec.experiments.qa.examples import GoldAnswer, QaQuestion, QaSet, TokenisedText
from pair2vec.experiments.qa.train import QaData
from pair2vec.experiments.tasks.inputs import InputPaths
from pair2vec.word_vectors.formats import write_vec

COUNTRIES, CITIES = 40, 40
FAMILIES = 60
NAMES = np.random.default_rng(9).permutation(4 * FAMILIES) + 1000
SMALL = (
    *("bidaf.hidden=10", "bidaf.dropout=0.0", "bidaf.filters=4", "bidaf.filter_width=3"),
    *("bidaf.characters=4", "bidaf.no_answer=8", "training.batch=32", "training.rate=0.02"),
    *("training.rate_factor=1.0", "training.patience=0", "training.epochs=16"),
    *("training.checkpoint_epochs=0", "training.threads=1", "qa.longest_answer=2"),
)


def settings(*more: str) -> QaSettings:
    return qa_settings([*SMALL, *more])


def capitals(count: int, seed: int) -> list[dict[str, Any]]:
    """Paragraphs of two capitals each, with two questions that they answer, and one not."""
    random = np.random.default_rng(seed)
    paragraphs: list[dict[str, Any]] = []
    for number in range(count):
        countries = [f"Land{n}" for n in random.permutation(COUNTRIES)[:3]]
        cities = [f"Town{n}" for n in random.permutation(CITIES)[:2]]
        stated = [f"{land} has {town}." for land, town in zip(countries, cities, strict=False)]
        text = " ".join([*stated, *["So."] * (number % 3)])
        questions = [
            {
                "id": f"q{seed}_{number}_{land}",
                "question": f"Which has {land}?",
                "answers": [{"text": town, "answer_start": text.index(town)}] if town else [],
            }
            for land, town in zip(countries, [*cities, ""], strict=True)
        ]
        paragraphs.append({"context": text, "qas": questions})
    return paragraphs


def write_capitals(path: Path, count: int, seed: int) -> Path:
    """As SQuAD is published."""
    path.write_text(json.dumps({"data": [{"title": "w", "paragraphs": capitals(count, seed)}]}))
    return path


def write_words(path: Path) -> Path:
    """Random vectors of all words of the world but its numbers."""
    names = [f"{kind}{n}" for kind in ("land", "town") for n in range(COUNTRIES)]
    words = [*names, *"which has so . ?".split()]
    vectors = np.random.default_rng(0).normal(size=(len(words), 12)).astype(np.float32)
    write_vec(path, words, vectors)
    return path


def relative(family: int, member: int) -> str:
    """Member 0 is the one that the others are relatives of; the spelling carries no information."""
    return f"w{NAMES[4 * family + member]}"


def relatives(families: range) -> QaSet:
    """Which of a word's relatives in the passage is the second? In some passages, none is."""
    qa_set = QaSet([], [], {"relatives.json": len(families)})
    for family in families:
        order = np.random.default_rng(family).permutation([1, 2, 3]).tolist()
        listed = [relative(family, kind) for kind in order if kind != 2 or family % 4]
        passage, target = TokenisedText.of(" ".join(listed)), relative(family, 2)
        answers = (GoldAnswer(target, passage.text.index(target)),) if target in listed else ()
        text = TokenisedText.of(relative(family, 0))
        qa_set.questions.append(QaQuestion(f"q{family}", text, len(qa_set.passages), answers))
        qa_set.passages.append(passage)
    return qa_set


def write_relatives(folder: Path) -> dict[str, InputPaths]:
    """Random word vectors, and word vectors whose differences are the same for a kind.

    A small WordNet stands beside these, and has none of the names.
    """
    random = np.random.default_rng(0)
    names = [relative(family, member) for family in range(FAMILIES) for member in range(4)]
    write_vec(folder / "words.vec", names, random.normal(size=(len(names), 10)))
    pairs = random.normal(size=(FAMILIES, 1, 6)) + 3 * np.eye(4, 6)
    write_vec(folder / "pairs.vec", names, pairs.reshape(-1, 6))
    write_wordnet(folder / "wordnet")
    plain = InputPaths(
        words=str(folder / "words.vec"),
        pair_vectors=str(folder / "pairs.vec"),
        wordnet=str(folder / "wordnet"),
    )
    kinds = ("none", "pair_distance", "pair_distance+wordnet")
    return {pairs: replace(plain, pairs=pairs) for pairs in kinds}


def relative_data() -> QaData:
    """Dev has the last families, of which training sees no word."""
    return QaData.of(relatives(range(FAMILIES - 15)), relatives(range(FAMILIES - 15, FAMILIES)))
