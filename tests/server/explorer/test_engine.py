"""The engine of the explorer page, in node: its answers are those of Python, for any model."""

import itertools
import json
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.server.explorer.engine_questions import (
    EVEN_SHARES,
    UNKNOWN,
    UNKNOWN_WORDS,
    Question,
    difference,
    make_questions,
    python_answer,
)
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.model.tensors import Precision
from pair2vec.relations.definitions import fitted_definitions
from pair2vec.server.endpoints import ENDPOINTS, RELATION_ENDPOINTS, Resources
from pair2vec.server.static_site import write_site
from pair2vec.text.sentences import tokenize

WORDS = [
    *"""
    the of in , . or and either neither nor hot cold warm cool france paris japan tokyo cheap
    cheaper expensive fair unfair stop stopping enable disable noon is was a user x's u.s. café
    new such as name kind 1990 colder warmer cooler unkind unstop uncool 3d co𝓵e
    """.split(),
    *("new york", "york"),
]
PAIRS = [
    *(("hot", "cold"), ("fair", "unfair"), ("New York", "new_york"), ("cheap", "cheaper")),
    ("enable", "disable"),
]
ODD_TEXT = [
    *"a é ﬁ ß İ ' ’ - _ . , & ; ( ) [ ] < > / : % ! ? … 1 2 9 ½ ² ٣ 日 。 😀 's n't u.s.".split(
        " "
    ),
    *("\u0301", "\u00ad", "\u200d", "\u00a0", "\u2028", "\n", "\t", "\x1c", "\x85", " ", "1,000.5"),
    *("http://a", "www.b", "formula_1", "&amp;", "&ampx", "&notit;", "&#65;", "&#x80;", "&#xfffe;"),
]


KINDS = {
    *("relate", "opposed", "pair", "score", "words", "fill", "analogy", "neighbours", "nearest"),
    "plane",
}
ROUGH = 1e-3
"""Of random weights, sums of large numbers that cancel out."""


def asked(site: Path, questions: list[Question]) -> list[Any]:
    """What the engine answers, in node."""
    node = shutil.which("node")
    if not node:
        pytest.skip("the engine is not tested by itself: apt-get install nodejs")
    command = [node, str(Path(__file__).parent / "ask.mjs"), str(site)]
    asked = json.dumps(questions).encode()
    done = subprocess.run(command, input=asked, capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()
    answers: list[Any] = json.loads(done.stdout)
    return answers


def faults(
    model: Pair2vec, site: Path, words: Sequence[str], *, without: str | None = None
) -> list[tuple[Question, str]]:
    """Questions of all kinds, but for one, that the engine answers differently, and in what."""
    write_site(model, site)
    questions = list(make_questions(words, PAIRS, 440, EVEN_SHARES))
    assert {name for name, _ in questions} == KINDS
    questions = [question for question in questions if question[0] != without]
    questions += UNKNOWN_WORDS
    # Of sentences, no words are composed.
    questions += [("opposed", {"a": word, "b": "hot"}) for word in UNKNOWN]
    endpoints = {endpoint.name: endpoint for endpoint in (*ENDPOINTS, *RELATION_ENDPOINTS)}
    resources = Resources(model)
    expected = [python_answer(resources, endpoints, question) for question in questions]
    both = zip(questions, expected, asked(site, questions), strict=True)
    return [(q, fault) for q, own, other in both if (fault := difference(own, other, ROUGH))]


def recipe(composition: str, dimension: int) -> dict[str, Any]:
    pair = {"composition": composition, "layers": 2, "dimension": dimension}
    return {"recipe": {"name": "t", "pair": pair}}


@pytest.mark.parametrize(
    ("composition", "precision", "dimension"),
    [
        ("mlp", "float32", 8),
        ("mlp", "int8", 14),
        ("mlp", "float16", 36),
        ("multiply", "int8", 8),
        ("difference", "float32", 10),
    ],
)
def test_it_answers_as_python_does(
    tmp_path: Path, composition: str, precision: Precision, dimension: int
) -> None:
    model = load(
        save_tiny_model(
            tmp_path / "tiny",
            WORDS,
            dimension=dimension,
            precision=precision,
            config=recipe(composition, dimension),
            hidden=6,
            composes=True,
        )
    )
    # Where R is symmetric, a hypernym is as probably a hyponym, and either may be named.
    without = "neighbours" if composition == "multiply" else None
    assert not faults(model, tmp_path / "site", WORDS, without=without)


@pytest.mark.parametrize("composition", ["mlp", "difference"])
def test_relations_without_a_head_are_fitted_for_it(tmp_path: Path, composition: str) -> None:
    known = [definition.examples[:6] for definition in fitted_definitions()]
    examples = [word for pairs in known for pair in pairs for word in pair]
    words = list(dict.fromkeys([*WORDS, *examples]))
    config = recipe(composition, 8)
    model = load(save_tiny_model(tmp_path / "tiny", words, config=config, composes=True))
    # In x − y, the scores of a pattern both ways cancel out; what is left of them is rounded off
    # differently in each sum.
    without = "neighbours" if composition == "difference" else None
    assert not faults(model, tmp_path / "site", words, without=without)


def test_it_tokenises_as_python_does(tmp_path: Path) -> None:
    write_site(load(save_tiny_model(tmp_path / "tiny")), tmp_path / "site")
    source = random.Random(0)
    texts = ["".join(source.choices(ODD_TEXT, k=source.randrange(1, 9))) for _ in range(3_000)]
    found = asked(tmp_path / "site", [("tokens", {"text": text}) for text in texts])
    wrong = [
        (text, tokenize(text), tokens)
        for text, tokens in zip(texts, found, strict=True)
        if tokens != tokenize(text)
    ]
    assert not wrong


def test_it_has_the_games_of_the_server(tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path / "tiny", WORDS, hidden=6))
    write_site(model, tmp_path / "site")
    (found,) = asked(tmp_path / "site", [("play", {})])
    games = {endpoint.name: endpoint for endpoint in RELATION_ENDPOINTS}["play"]
    expected = games.answer(Resources(model), {})
    assert found == json.loads(json.dumps({"query": {"command": "play"}, **expected}))
    assert ["hot", ["cold", "cool"]] in found["analogies"][3]["pairs"]


def test_a_model_that_knows_too_few_words_has_no_relations(tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path / "tiny", patterns=()))
    write_site(model, tmp_path / "site")
    facts, relate, pair = asked(
        tmp_path / "site",
        [("model", {}), ("relate", {"x": "hot", "y": "cold"}), ("pair", {"x": "hot", "y": "up"})],
    )
    assert facts["questions"] == [endpoint.name for endpoint in ENDPOINTS]
    assert facts["facts"]["words"] == "18"
    assert relate == {"error": "this model cannot answer 'relate'"}
    assert pair["forward"]["patterns"] is None


def test_many_composed_words_are_forgotten_and_composed_again(tmp_path: Path) -> None:
    write_site(load(save_tiny_model(tmp_path / "tiny", WORDS, composes=True)), tmp_path / "site")
    combinations = itertools.product("hot cold warm cool".split(), repeat=6)
    phrases = [" ".join(words) for words in itertools.islice(combinations, 1_100)]
    asked_of = {"y": "hot", "direction": "forward", "top": 1}
    answers = asked(
        tmp_path / "site", [("pair", {"x": x, **asked_of}) for x in [*phrases, *phrases[:9]]]
    )
    assert answers[:9] == answers[-9:]
    assert len({answer["forward"]["norm"] for answer in answers}) > 100


def test_two_answers_differ_where_a_word_or_a_score_does() -> None:
    def answer(*matches: tuple[str, float]) -> dict[str, object]:
        return {"matches": [{"word": word, "score": score} for word, score in matches]}

    expected = answer(("a", 3.0), ("b", 2.00004), ("c", 2.0), ("d", 1.0))
    assert difference(expected, expected) is None
    assert difference(expected, answer(("a", 3.0), ("c", 2.0), ("b", 2.0), ("e", 1.0))) is None
    assert difference(expected, answer(("b", 3.0), ("a", 2.0), ("c", 2.0), ("d", 1.0)))
    assert difference(expected, answer(("a", 3.1), ("b", 2.0), ("c", 2.0), ("d", 1.0)))
    assert difference(expected, answer(("a", 3.0), ("b", 2.0), ("x", 2.0), ("d", 1.0)))
    assert difference(expected, answer(("a", 3.0), ("b", 2.0), ("c", 2.0)))
    assert difference({"error": "no"}, expected)
