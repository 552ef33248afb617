"""A text of two topics, whose words have their own contexts, and how similar vectors are."""

import numpy as np
from numpy.typing import NDArray

from pair2vec.text.corpus import Corpus

# No name shares an n-gram with another of its topic.
CITIES, FOODS = ["oslo", "lima", "rome", "cairo"], ["bread", "olives", "jam", "figs"]
CITY_CONTEXT = ["mayor", "visited", "streets", "airport", "tram", "capital"]
FOOD_CONTEXT = ["baked", "tasty", "eaten", "dish", "spoon", "kitchen"]


def two_topics_text(sentences: int) -> str:
    generator = np.random.default_rng(0)
    topics = [(CITIES, CITY_CONTEXT), (FOODS, FOOD_CONTEXT)] * (sentences // 2)
    return "".join(_sentence(names, context, generator) for names, context in topics)


def _sentence(names: list[str], context: list[str], generator: np.random.Generator) -> str:
    words = [*generator.choice(context, 3), generator.choice(names), *generator.choice(context, 3)]
    return " ".join(words) + "\n"


def mean_cosine(
    corpus: Corpus, vectors: NDArray[np.float32], pairs: list[tuple[str, str]]
) -> float:
    rows = np.array([[corpus.vocabulary.ids[word.lower()] for word in pair] for pair in pairs])
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return float(np.sum(units[rows[:, 0]] * units[rows[:, 1]], axis=1).mean())
