"""What the API answers, and what it refuses."""

import json

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from pair2vec.api import DirectedPair, Pair2vec
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import ENDPOINTS, Resources
from pair2vec.server.handlers import ServerConfig
from pair2vec.server.middleware import HEADERS


def answer(client: TestClient, name: str, **asked: object) -> dict[str, object]:
    found = client.get(f"/api/{name}", params=asked)  # type: ignore[arg-type]
    assert found.status_code == 200, found.text
    content: dict[str, object] = found.json()
    return content


def dicts(matches: list[object]) -> list[dict[str, object]]:
    return [match._asdict() for match in matches]  # type: ignore[attr-defined]


def test_each_question_is_answered_as_the_library_does(client: TestClient, model: Pair2vec) -> None:
    asked = answer(client, "fill", pattern="X or Y", x="hot", search="exact")
    assert asked["matches"] == dicts([*model.fill("X or Y", x="hot")])
    asked = answer(client, "fill", pattern=["X or Y", "X and Y"], x="hot", y="cold")
    assert asked["matches"] == dicts([*model.fill(["X or Y", "X and Y"], x="hot", y="cold")])
    asked = answer(client, "analogy", a="france", b="paris", x="japan", alpha=1, search="exact")
    assert asked["matches"] == dicts([*model.analogy("france", "paris", "japan", alpha=1)])
    asked = answer(client, "nearest", x="hot", y="cold", direction="forward", top=3)
    assert asked["matches"] == dicts([*model.nearest("hot", "cold", direction="forward", top=3)])
    asked = answer(client, "score", x="hot", y="cold", pattern="X or Y")
    assert asked["score"] == model.score("hot", "cold", "X or Y")


def test_a_pair_has_its_vector_only_if_asked_for(client: TestClient, model: Pair2vec) -> None:
    whole = DirectedPair.of(model, "hot", "cold").as_json()
    asked = answer(client, "pair", x="hot", y="cold", vector=True)
    assert asked["forward"] == whole
    assert asked["backward"] == DirectedPair.of(model, "cold", "hot").as_json()
    asked = answer(client, "pair", x="hot", y="cold", direction="forward")
    del whole["vector"]
    assert asked["forward"] == whole
    assert "backward" not in asked


def test_an_answer_repeats_the_question_with_what_it_left_open(client: TestClient) -> None:
    asked = answer(client, "analogy", a="France", b="paris", x="japan")
    assert asked["query"] == {
        "command": "analogy", "a": "France", "b": "paris", "x": "japan",
        "alpha": 0.5, "direction": "both", "search": "shortlist", "top": 10,
    }  # fmt: skip


def test_words_are_completed_or_else_corrected(client: TestClient) -> None:
    assert answer(client, "words", start="NEI")["words"] == ["neither"]
    assert answer(client, "words", start="tokio")["words"] == ["tokyo"]
    assert answer(client, "words", start="<")["words"] == []


def test_json_asks_the_same_as_an_address(client: TestClient) -> None:
    question = {"x": "hot", "y": "cold", "top": 2}
    posted = client.post("/api/nearest", json=question)
    assert posted.json() == answer(client, "nearest", **question)


def test_many_questions_are_answered_in_their_order_and_a_bad_one_alone_fails(
    client: TestClient,
) -> None:
    good = {"x": "hot", "y": "cold", "pattern": "X or Y"}
    bad = {**good, "x": "wram"}
    found = client.post("/api/score", json={"questions": [good, bad, 3, good]}).json()["answers"]
    assert found[0] == found[3] == answer(client, "score", **good)
    assert found[1] == {
        "error": "'wram' is not in the vocabulary; did you mean warm?",
        "word": "wram",
        "alike": ["warm"],
    }
    assert found[2] == {"error": "a question must be a JSON object"}


@pytest.mark.parametrize(
    ("name", "asked", "status", "message"),
    [
        ("nearest", {"x": "hot"}, 400, "y is missing: A word."),
        ("nearest", {"x": "hot", "y": "cold", "top": "many"}, 400, "top is 'many'; it must be a w"),
        ("nearest", {"x": "hot", "y": "cold", "top": "2.5"}, 400, "top is '2.5'; it must be a who"),
        ("nearest", {"x": "hot", "y": "cold", "top": 0}, 400, "top is 0; it must be from 1 to 100"),
        ("nearest", {"x": "hot", "y": "cold", "up": 1}, 400, "'up' is not asked for; there are d"),
        ("nearest", {"x": ["hot", "warm"], "y": "cold"}, 400, "x is given 2 times; give it once"),
        ("nearest", {"x": "hot", "y": "c" * 65}, 400, "y has 65 characters; it may have 64"),
        ("nearest", {"x": "hot", "y": "cldo"}, 404, "'cldo' is not in the vocabulary"),
        ("analogy", {"a": "hot", "b": "cold", "x": "warm", "alpha": "nan"}, 400, "alpha is 'nan'"),
        ("pair", {"x": "hot", "y": "cold", "vector": "yes"}, 400, "vector is 'yes'; it must be t"),
        ("pair", {"x": "hot", "y": "cold", "direction": "up"}, 400, "direction is 'up'; it must"),
        ("fill", {"pattern": "or", "x": "hot"}, 400, "pattern 'or'"),
        ("fill", {"pattern": "X or Y"}, 400, ""),
        ("fill", {"pattern": ["X or Y"] * 2, "x": "hot"}, 400, "several patterns are ranked for"),
        ("fill", {"pattern": ["X or Y"] * 17, "x": "hot"}, 400, "pattern: 17 are too many; at m"),
    ],
)
def test_a_question_that_cannot_be_answered_is_told_why(
    client: TestClient, name: str, asked: dict[str, object], status: int, message: str
) -> None:
    found = client.get(f"/api/{name}", params=asked)  # type: ignore[arg-type]
    assert found.status_code == status
    assert found.json()["error"].startswith(message)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the body is not JSON"),
        (b"\xff", "the body is not JSON"),
        (b"[1]", "the body is not a JSON object"),
        (b'{"questions": {}}', "questions must be a list, and stand alone"),
        (b'{"questions": [], "x": "hot"}', "questions must be a list, and stand alone"),
        (json.dumps({"questions": [{}] * 65}).encode(), "65 questions are too many at a time"),
        (b'{"x": 3, "y": "cold"}', "x is 3; it must be a string"),
        (b'{"x": "hot", "y": "cold", "top": true}', "top is True; it must be a whole number"),
    ],
)
def test_a_body_that_is_no_question_is_told_why(
    client: TestClient, body: bytes, message: str
) -> None:
    found = client.post("/api/nearest", content=body)
    assert found.status_code == 400
    assert found.json()["error"].startswith(message)


def test_a_body_may_not_be_endless(model: Pair2vec) -> None:
    with TestClient(
        make_app(Resources(model), ServerConfig(most_bytes=100)), "http://localhost"
    ) as client:
        found = client.post("/api/nearest", content=b" " * 101)
    assert found.status_code == 413
    assert found.json() == {"error": "the body has more than 100 bytes"}


def test_other_methods_and_addresses_are_refused(client: TestClient) -> None:
    assert client.delete("/api/nearest").status_code == 405
    assert client.get("/api/unheard").status_code == 404
    assert client.get("/static/../app.py").status_code == 404


def test_a_page_of_another_site_under_our_address_is_refused(client: TestClient) -> None:
    found = client.get("/api/words", params={"start": "h"}, headers={"Host": "evil.example"})
    assert found.status_code == 400


def test_every_answer_has_the_strict_headers(client: TestClient) -> None:
    for path in ("/", "/health", "/api/unheard", "/api/nearest"):
        found = client.get(path)
        assert {name: found.headers[name] for name in HEADERS} == HEADERS
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_what_is_answered_is_counted(client: TestClient) -> None:
    answer(client, "words", start="h")
    client.get("/api/words")
    client.get("/made/up")
    text = client.get("/metrics").text
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    counted = {
        (s.labels["path"], s.labels["status"]): s.value
        for s in samples
        if s.name == "pair2vec_answers_total"
    }
    assert counted[("/api/words", "200")] == 1
    assert counted[("/api/words", "400")] == 1
    assert counted[("other", "404")] == 1


def test_the_model_says_what_it_is_and_what_can_be_asked(client: TestClient) -> None:
    found = client.get("/api/model").json()
    assert found["facts"]["model"] == "tiny"
    assert found["questions"] == [question.name for question in ENDPOINTS]
    assert client.get("/health").json() == {"status": "ok"}


def test_the_description_has_every_question_with_its_parameters(client: TestClient) -> None:
    found = client.get("/openapi.json").json()
    assert found["openapi"] == "3.1.0"
    for question in ENDPOINTS:
        path = found["paths"][f"/api/{question.name}"]
        names = [parameter["name"] for parameter in path["get"]["parameters"]]
        assert names == [parameter.name for parameter in question.parameters]
        one, many = path["post"]["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
        assert list(one["properties"]) == names
        assert many["properties"]["questions"]["items"] == one
