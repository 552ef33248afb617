"""What the API answers, and what it refuses."""

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient
from tests.documented_json import section, shape
from tests.tiny_model import ALL_ANSWERS, WORDS, save_tiny_model, taught_model

import pair2vec
from pair2vec.api import DirectedPair, Pair2vec, load
from pair2vec.server.access import HEADERS, ServerConfig
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import ENDPOINTS, RELATION_ENDPOINTS, Resources


def answer(client: TestClient, name: str, **parameters: object) -> dict[str, object]:
    response = client.get(f"/api/{name}", params=parameters)  # type: ignore[arg-type]
    assert response.status_code == 200, response.text
    content: dict[str, object] = response.json()
    return content


def dicts(matches: list[object]) -> list[dict[str, object]]:
    return [match._asdict() for match in matches]  # type: ignore[attr-defined]


def test_each_endpoint_answers_as_the_library_does(client: TestClient, model: Pair2vec) -> None:
    content = answer(client, "fill", pattern="X or Y", x="hot", search="exact")
    assert content["matches"] == dicts([*model.fill("X or Y", x="hot")])
    content = answer(client, "fill", pattern=["X or Y", "X and Y"], x="hot", y="cold")
    assert content["matches"] == dicts([*model.fill(["X or Y", "X and Y"], x="hot", y="cold")])
    content = answer(client, "analogy", a="france", b="paris", x="japan", alpha=1, search="exact")
    assert content["matches"] == dicts([*model.analogy("france", "paris", "japan", alpha=1)])
    content = answer(client, "nearest", x="hot", y="cold", direction="forward", top=3)
    assert content["matches"] == dicts([*model.nearest("hot", "cold", direction="forward", top=3)])
    content = answer(client, "score", x="hot", y="cold", pattern="X or Y")
    assert content["score"] == model.score("hot", "cold", "X or Y")


def test_a_plane_has_the_pairs_of_two_lists(client: TestClient, model: Pair2vec) -> None:
    pairs = [("hot", "cold"), ("warm", "cool"), ("france", "paris")]
    given = {"x": [x for x, _ in pairs], "y": [y for _, y in pairs]}
    content = answer(client, "plane", **given)
    assert content["arrows"] == json.loads(json.dumps(model.plane(pairs).as_json()["arrows"]))
    assert content["shares"] == [*model.plane(pairs).shares]
    del given["y"][2]
    refused = client.get("/api/plane", params=given)
    message = "x has 3 words and y has 2: a pair has one of each"
    assert (refused.status_code, refused.json()) == (400, {"error": message})


def test_a_plane_says_which_words_were_composed(tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path / "model", composes=True))
    with TestClient(make_app(Resources(model)), base_url="http://127.0.0.1") as asked:
        content = answer(asked, "plane", x=["hot", "upp"], y=["cold", "down"])
    assert [word["word"] for word in content["composed"]] == ["upp"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["plane", "play"])
def test_what_the_server_alone_answers_is_documented(name: str) -> None:
    (block,) = re.findall(r"```\n(/api.*?)```", section(name), re.DOTALL)
    address, documented = block.split("\n", 1)
    with TestClient(make_app(Resources(pair2vec.load())), base_url="http://127.0.0.1") as asked:
        answered = asked.get(address).json()
    assert shape(answered) == shape(json.loads(documented.replace(", …", "")))
    if name == "plane":
        assert answered["shares"] == pytest.approx([0.7048, 0.2952], abs=1e-3)


def test_games_are_played_with_words_of_the_model(tmp_path: Path) -> None:
    model = load(taught_model(tmp_path / "model"))
    with TestClient(make_app(Resources(model)), base_url="http://127.0.0.1") as asked:
        content = answer(asked, "play")
    named = {each["name"]: each["pairs"] for each in content["analogies"]}  # type: ignore[attr-defined]
    assert named["country and capital"] == [["france", ["paris"]]]
    assert named["opposite"] == [["hot", ["cold"]]]
    assert content["groups"] == []


def test_a_pair_has_its_vector_only_on_request(client: TestClient, model: Pair2vec) -> None:
    whole = DirectedPair.from_model(model, "hot", "cold").as_json()
    content = answer(client, "pair", x="hot", y="cold", vector=True)
    assert content["forward"] == whole
    assert content["backward"] == DirectedPair.from_model(model, "cold", "hot").as_json()
    content = answer(client, "pair", x="hot", y="cold", direction="forward")
    del whole["vector"]
    assert content["forward"] == whole
    assert "backward" not in content


def test_an_answer_repeats_the_query_with_its_defaults(client: TestClient) -> None:
    content = answer(client, "nearest", x="France", y="paris")
    assert content["query"] == {
        "command": "nearest", "x": "France", "y": "paris",
        "alpha": 0.8, "direction": "both", "all_words": False,
        "top": 10, "offset": 0,
    }  # fmt: skip


def test_prefixes_are_completed_or_else_corrected(client: TestClient) -> None:
    assert answer(client, "words", start="NEI")["words"] == ["neither"]
    assert answer(client, "words", start="tokio")["words"] == ["tokyo"]
    assert answer(client, "words", start="<")["words"] == []


def test_phrases_are_completed_and_asked(tmp_path: Path) -> None:
    words = ["in", "new york", "new", "york", "usa", "new year"]
    app = make_app(Resources(load(save_tiny_model(tmp_path / "model", words))))
    with TestClient(app, base_url="http://127.0.0.1") as phrases:
        assert answer(phrases, "words", start="New  y")["words"] == ["new york", "new year"]
        content = answer(phrases, "score", x="New York", y="usa", pattern="X in Y")
        assert (
            content["score"]
            == answer(phrases, "score", x="new_york", y="usa", pattern="X in Y")["score"]
        )
        refused = phrases.get("/api/pair", params={"x": "new yorks", "y": "usa"})
        assert refused.status_code == 404
        assert refused.json()["alike"] == ["new york", "new year"]


def test_a_json_body_is_answered_as_a_query_string(client: TestClient) -> None:
    question = {"x": "hot", "y": "cold", "top": 2}
    posted = client.post("/api/nearest", json=question)
    assert posted.json() == answer(client, "nearest", **question)


def test_many_questions_are_answered_in_order_and_a_bad_one_alone_fails(
    client: TestClient,
) -> None:
    good = {"x": "hot", "y": "cold", "pattern": "X or Y"}
    bad = {**good, "x": "wram"}
    answers = client.post("/api/score", json={"questions": [good, bad, 3, good]}).json()["answers"]
    assert answers[0] == answers[3] == answer(client, "score", **good)
    assert answers[1] == {
        "error": "'wram' is not in the vocabulary; did you mean warm?",
        "word": "wram",
        "alike": ["warm"],
    }
    assert answers[2] == {"error": "a question must be a JSON object"}


@pytest.mark.parametrize(
    ("name", "parameters", "status", "message"),
    [
        ("nearest", {"x": "hot"}, 400, "y is missing: A word."),
        ("nearest", {"x": "hot", "y": "cold", "top": "many"}, 400, "top is 'many'; it must be a w"),
        ("nearest", {"x": "hot", "y": "cold", "top": "2.5"}, 400, "top is '2.5'; it must be a who"),
        ("nearest", {"x": "hot", "y": "cold", "top": 0}, 400, "top is 0; it must be from 1 to 100"),
        (
            "nearest",
            {"x": "hot", "y": "cold", "up": 1},
            400,
            "'up' is not a parameter; there are a",
        ),
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
def test_a_wrong_query_is_refused_with_the_reason(
    client: TestClient, name: str, parameters: dict[str, object], status: int, message: str
) -> None:
    response = client.get(f"/api/{name}", params=parameters)  # type: ignore[arg-type]
    assert response.status_code == status
    assert response.json()["error"].startswith(message)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the body is not JSON"),
        (b"\xff", "the body is not JSON"),
        (b"[1]", "the body is not a JSON object"),
        (b'{"questions": {}}', "questions must be a list, and the only parameter"),
        (b'{"questions": [], "x": "hot"}', "questions must be a list, and the only parameter"),
        (json.dumps({"questions": [{}] * 65}).encode(), "65 questions are too many at a time"),
        (b'{"x": 3, "y": "cold"}', "x is 3; it must be a string"),
        (b'{"x": "hot", "y": "cold", "top": true}', "top is True; it must be a whole number"),
    ],
)
def test_a_wrong_body_is_refused_with_the_reason(
    client: TestClient, body: bytes, message: str
) -> None:
    response = client.post("/api/nearest", content=body)
    assert response.status_code == 400
    assert response.json()["error"].startswith(message)


def test_a_large_body_is_refused(model: Pair2vec) -> None:
    with TestClient(
        make_app(Resources(model), ServerConfig(max_body_bytes=100)), "http://localhost"
    ) as client:
        response = client.post("/api/nearest", content=b" " * 101)
    assert response.status_code == 413
    assert response.json() == {"error": "the body has more than 100 bytes"}


def test_other_methods_and_paths_are_refused(client: TestClient) -> None:
    assert client.delete("/api/nearest").status_code == 405
    assert client.get("/api/unheard").status_code == 404
    assert client.get("/static/../app.py").status_code == 404


def test_another_host_header_is_refused(client: TestClient) -> None:
    response = client.get("/api/words", params={"start": "h"}, headers={"Host": "evil.example"})
    assert response.status_code == 400


def test_every_response_has_the_strict_headers(client: TestClient) -> None:
    for path in ("/", "/health", "/api/unheard", "/api/nearest"):
        response = client.get(path)
        assert {name: response.headers[name] for name in HEADERS} == HEADERS
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_responses_are_counted_by_path_and_status(client: TestClient) -> None:
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


def test_the_model_endpoint_has_facts_and_the_names_of_the_endpoints(client: TestClient) -> None:
    info = client.get("/api/model").json()
    assert info["facts"]["model"] == "tiny"
    assert info["questions"] == [endpoint.name for endpoint in ENDPOINTS]
    assert client.get("/health").json() == client.get("/ready").json() == {"status": "ok"}


def test_the_openapi_document_has_every_endpoint_with_its_parameters(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    assert document["openapi"] == "3.1.0"
    assert "security" not in document
    for endpoint in ENDPOINTS:
        path = document["paths"][f"/api/{endpoint.name}"]
        names = [parameter["name"] for parameter in path["get"]["parameters"]]
        assert names == [parameter.name for parameter in endpoint.parameters]
        one, many = path["post"]["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
        name = endpoint.name.capitalize()
        assert one == {"$ref": f"#/components/schemas/{name}Question"}
        assert many == {"$ref": f"#/components/schemas/{name}Questions"}
        assert list(schemas[f"{name}Question"]["properties"]) == names
        assert schemas[f"{name}Questions"]["properties"]["questions"]["items"] == one


def named_schemas(document: object) -> set[str]:
    """The names that a document refers to."""
    if isinstance(document, list):
        return set().union(*map(named_schemas, document))
    if not isinstance(document, dict):
        return set()
    here = {str(document["$ref"]).rpartition("/")[2]} if "$ref" in document else set()
    return here.union(*map(named_schemas, document.values()))


def test_every_named_schema_is_used_and_is_there(relating: TestClient) -> None:
    document = relating.get("/openapi.json").json()
    assert named_schemas(document) == {*document["components"]["schemas"]}
    ids = [method["operationId"] for path in document["paths"].values() for method in path.values()]
    assert len(ids) == len({*ids})


PAIR = {"x": "hot", "y": "cold"}


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("fill", {"pattern": ["X or Y"], "x": "hot"}),
        ("fill", {"pattern": ["X or Y", "X and Y"], **PAIR}),
        ("pair", {**PAIR, "vector": True}),
        ("pair", {**PAIR, "direction": "forward"}),
        ("analogy", {"a": "hot", "b": "cold", "x": "up"}),
        ("nearest", PAIR),
        ("score", {**PAIR, "pattern": "X or Y"}),
        ("words", {"start": "h"}),
        ("relate", PAIR),
        ("opposed", {"a": "it is hot", "b": "it is not cold"}),
        ("neighbours", {"word": "hot"}),
    ],
)
def test_answers_are_as_the_document_says(
    relating: TestClient, name: str, question: dict[str, object]
) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="answers are not checked: jsonschema")
    document = relating.get("/openapi.json").json()

    def check(content: object, shape: str) -> None:
        schema = {**document, "$ref": f"#/components/schemas/{name.capitalize()}{shape}"}
        jsonschema.Draft202012Validator(schema).validate(content)

    check({"questions": [question, question]}, "Questions")
    check(relating.post(f"/api/{name}", json=question).json(), "Answer")
    many = relating.post(f"/api/{name}", json={"questions": [question, {"unheard": 1}]}).json()
    check(many, "Answers")
    assert "error" in many["answers"][1]


def test_a_list_goes_on_from_an_offset(relating: TestClient) -> None:
    for name, question in {
        "fill": {"pattern": "X or Y", "x": "hot"},
        "analogy": {"a": "hot", "b": "cold", "x": "up"},
        "nearest": PAIR,
        "neighbours": {"word": "hot"},
        "words": {"start": "n"},
    }.items():
        field = "words" if name == "words" else "matches"
        whole = answer(relating, name, **question, top=6)[field]
        assert isinstance(whole, list)
        assert len(whole) > 1
        for n in range(len(whole)):
            part = answer(relating, name, **question, top=2, offset=n)[field]
            assert part == whole[n : n + 2] or n + 2 > 6
        assert answer(relating, name, **question, offset=900)[field] == []
    refused = relating.get("/api/nearest", params={**PAIR, "offset": 901})
    assert refused.json()["error"] == "offset is 901; it must be from 0 to 900"


def test_head_is_answered_as_get_without_the_body(client: TestClient) -> None:
    for path in ("/api/score?x=hot&y=cold&pattern=X+or+Y", "/api/model", "/health", "/", "/docs"):
        head, get = client.head(path), client.get(path)
        assert head.status_code == get.status_code == 200
        assert head.headers["Content-Length"] == get.headers["Content-Length"]
    assert client.head("/api/score?x=hot").status_code == 400


def test_a_failure_has_the_strict_headers_and_one_line(
    model: Pair2vec, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> float:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(Pair2vec, "score", fail)
    app = make_app(Resources(model))
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        for method in ("GET", "HEAD"):
            response = client.request(method, "/api/score", params={**PAIR, "pattern": "X or Y"})
            assert response.status_code == 500
            assert {name: response.headers[name] for name in HEADERS} == HEADERS
            if method == "GET":
                assert response.json() == {"error": "the server failed; its log says why"}


DEEP = 100_000


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("[" * DEEP, "the body is nested too deeply"),
        ('{"x":' * DEEP, "the body is nested too deeply"),
        ('{"x": ' + "[" * 500 + "]" * 500 + "}", "x is given 1 times; give it once"),
        ('{"x": {"x": ' + "[" * 500 + "]" * 500 + "}}", "x is {'x': [[[[["),
        ('{"x": "hot", "y": "cold", "top": {"x": ' + "[" * 500 + "]" * 500 + "}}", "top is {'x': "),
        ('{"x": "\\ud800", "y": "cold"}', "x is '\\ud800', which has half of a surrogate pair"),
        ('{"x": "hot", "y": "a\\udfffb"}', "y is 'a\\udfffb', which has half of a surrogate pair"),
        ('{"\\ud800": "hot"}', "'\\ud800' is not a parameter"),
        ('{"x": "hot", "y": "cold", "direction": "\\ud800"}', "direction is '\\ud800'; it must"),
        ('{"x": "hot", "y": "cold", "top": "\\ud800"}', "top is '\\ud800'; it must be a whole"),
        ('{"x": "hot", "y": "cold", "top": ' + "9" * 4000 + "}", "top is 999"),
        ('{"x": "hot", "y": "cold", "top": ' + "9" * 5000 + "}", "the body is not JSON"),
        ('{"x": "hot", "y": "cold", "top": Infinity}', "top is inf; it must be a whole number"),
    ],
    ids=range(13),
)
def test_no_json_is_a_failure(model: Pair2vec, body: str, message: str) -> None:
    config = ServerConfig(max_body_bytes=10**6)
    with TestClient(make_app(Resources(model), config), "http://localhost") as client:
        for content, nested in ((body, False), (f'{{"questions": [{body}]}}', True)):
            response = client.post("/api/nearest", content=content)
            answer = response.json()
            if nested and response.status_code == 200:
                (answer,) = answer["answers"]
            else:
                assert response.status_code == 400
            if not nested or "JSON" not in answer["error"]:
                assert answer["error"].startswith(message)
            assert len(answer["error"]) < 200


def test_raw_bytes_of_a_surrogate_are_refused(client: TestClient) -> None:
    response = client.post("/api/words", content=b'{"start": "\xed\xa0\x80"}')
    assert response.status_code == 400
    assert client.get("/api/words?start=%ED%A0%80").status_code == 200, "replaced, as browsers do"


def test_thousands_of_parameters_are_refused_before_they_are_parsed(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(*_: object) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr("starlette.requests.QueryParams", parse)
    monkeypatch.setattr("starlette.requests.Request.query_params", property(parse))
    response = client.get(f"/api/nearest?{'&'.join(['a=1'] * 9_000)}")
    assert response.status_code == 413
    assert response.json() == {"error": "the address has 9,000 parameters; it may have 64"}


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(taught_model(tmp_path_factory.mktemp("taught"), ALL_ANSWERS))


@pytest.fixture
def relating(taught: Pair2vec) -> Iterator[TestClient]:
    """A client of a server whose model has a relation head."""
    with TestClient(make_app(Resources(taught)), base_url="http://127.0.0.1") as made:
        yield made


def test_relate_answers_as_the_library_does(relating: TestClient, taught: Pair2vec) -> None:
    words = WORDS[10:]
    pairs = [(x, y) for x in words for y in words if x != y]
    assert any(taught.relate(*pair).like for pair in pairs)
    for x, y in pairs:
        content = answer(relating, "relate", x=x, y=y)
        query = {"command": "relate", "x": x, "y": y, "top": 5}
        assert content == {"query": query, **taught.relate(x, y).as_json()}


def test_many_pairs_are_related_in_one_request(relating: TestClient, taught: Pair2vec) -> None:
    questions: list[dict[str, object]] = [
        {"x": "hot", "y": "cold", "top": 0},
        {"x": "hott", "y": "cold"},
    ]
    first, second = relating.post("/api/relate", json={"questions": questions}).json()["answers"]
    assert first == {
        "query": {"command": "relate", **questions[0]},
        **taught.relate("hot", "cold", top=0).as_json(),
    }
    assert first["like"] == first["patterns"] == []
    assert second["alike"] == ["hot"]


def test_relate_refuses_a_wrong_query_with_the_reason(relating: TestClient) -> None:
    unknown = relating.get("/api/relate", params={"x": "hott", "y": "cold"})
    assert (unknown.status_code, unknown.json()["alike"]) == (404, ["hot"])
    missing = relating.get("/api/relate", params={"x": "hot"})
    assert (missing.status_code, missing.json()["error"]) == (400, "y is missing: A word.")
    negative = relating.get("/api/relate", params={"x": "hot", "y": "cold", "top": -1})
    assert negative.json()["error"] == "top is -1; it must be from 0 to 100"


def test_relate_is_counted_and_described_where_it_is_offered(
    relating: TestClient, client: TestClient
) -> None:
    answer(relating, "relate", x="hot", y="cold")
    assert 'path="/api/relate",status="200"} 1.0' in relating.get("/metrics").text
    names = [endpoint.name for endpoint in RELATION_ENDPOINTS]
    assert names == ["relate", "opposed", "neighbours", "play"]
    assert relating.get("/api/model").json()["questions"][-4:] == names
    described = relating.get("/openapi.json").json()["paths"]
    assert {"get", "post"} <= set(described["/api/relate"])
    assert client.get("/api/relate", params={"x": "hot", "y": "cold"}).status_code == 404
    assert "/api/relate" not in client.get("/openapi.json").json()["paths"]


def test_opposed_answers_as_the_library_does(relating: TestClient, taught: Pair2vec) -> None:
    sentences = ["paris is hot", "paris is not cold", "Paris is hot!", "up", "zzz", "привет", "."]
    for a, b in product(sentences, repeat=2):
        query = {"command": "opposed", "a": a, "b": b}
        expected = {"query": query, **taught.opposed(a, b).as_json()}
        assert answer(relating, "opposed", a=a, b=b) == expected
        assert relating.post("/api/opposed", json={"a": a, "b": b}).json() == expected
    assert answer(relating, "opposed", a="paris is hot", b="Paris is hot!")["verdict"] == "same"
    assert answer(relating, "opposed", a="zzz", b="qqq")["verdict"] == "unsure"


def test_a_sentence_has_at_most_2000_characters(relating: TestClient) -> None:
    longest = "hot " * 500
    content = answer(relating, "opposed", a=longest, b="up")
    assert content["verdict"] == "unsure"
    assert content["reason"] == "the first sentence has 500 words; at most 256 are compared"
    refused = relating.post("/api/opposed", json={"a": longest + "hot", "b": "up"})
    assert refused.status_code == 400
    assert refused.json()["error"] == "a has 2,003 characters; it may have 2000"
    for empty in ({"a": "hot"}, {"a": "hot", "b": ""}):
        missing = relating.post("/api/opposed", json=empty)
        assert missing.status_code == 400
        assert missing.json()["error"] == "b is missing: A sentence."


def test_long_sentences_cost_more() -> None:
    long = {"a": "hot " * 500, "b": "cold " * 400}
    (endpoint,) = (each for each in RELATION_ENDPOINTS if each.name == "opposed")
    assert endpoint.cost({"a": "it is hot", "b": "it is not"}) == 1
    assert endpoint.cost(long) == 21


def test_opposed_is_offered_with_relate(relating: TestClient, client: TestClient) -> None:
    described = relating.get("/openapi.json").json()["paths"]
    assert {"get", "post"} <= set(described["/api/opposed"])
    assert client.get("/api/opposed", params={"a": "hot", "b": "cold"}).status_code == 404
    assert "/api/opposed" not in client.get("/openapi.json").json()["paths"]


def test_a_composed_word_is_named_in_the_answer(tmp_path: Path) -> None:
    model = load(taught_model(tmp_path / "model", composes=True))
    with TestClient(make_app(Resources(model)), base_url="http://127.0.0.1") as client:
        for name, question in {
            "relate": {"x": "cheaps", "y": "cold"},
            "pair": {"x": "cheaps", "y": "cold"},
            "fill": {"pattern": "X or Y", "y": "cheaps"},
            "analogy": {"a": "hot", "b": "cold", "x": "cheaps"},
            "nearest": {"x": "cheaps", "y": "cold"},
            "neighbours": {"word": "cheaps"},
            "score": {"x": "cheaps", "y": "cold", "pattern": "X or Y", "unknown": "compose"},
        }.items():
            content = client.get(f"/api/{name}", params=question).json()
            assert content["composed"] == [
                {"word": "cheaps", "source": "spelling", "suggestions": ["cheap"]}
            ], name
        question = {"x": "cheaps", "y": "cold", "pattern": "X or Y"}
        assert client.get("/api/score", params=question).status_code == 404
        assert "composed" not in client.get("/api/pair", params={"x": "hot", "y": "cold"}).json()
