"""Clients take turns, a request has a budget, and work stops when its time is over."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from pair2vec.api import Pair2vec
from pair2vec.server.access import ServerConfig
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import Resources
from pair2vec.server.worker_pool import Job, TurnQueue, WorkerPoolConfig

PAIR = {"x": "hot", "y": "cold"}
SCORE = {**PAIR, "pattern": "X or Y"}
STEP = 0.03
"""Seconds that a question takes here."""


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each first word was scored; each takes `STEP`."""
    counts: Counter[str] = Counter()

    def slow_score(_: Pair2vec, x: str, *__: str, unknown: str) -> float:
        del unknown
        counts[x] += 1
        time.sleep(STEP)
        return 0.0

    monkeypatch.setattr(Pair2vec, "score", slow_score)
    return counts


def served(model: Pair2vec, scenario: Callable[[Any], Awaitable[None]], **config: Any) -> None:
    """Run `scenario` with the application of a server."""
    pool = WorkerPoolConfig(workers=1, **config.pop("pool", {}))
    app = make_app(Resources(model), ServerConfig(pool=pool, **config))
    asyncio.run(scenario(app))  # type: ignore[arg-type]


def client_at(app: Any, address: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


def test_a_short_question_has_its_turn_amid_the_long_lists_of_others(
    model: Pair2vec, computed: Counter[str]
) -> None:
    async def scenario(app: Any) -> None:
        long = {"questions": [SCORE] * 30}
        async with client_at(app, "10.0.0.1") as greedy, client_at(app, "10.0.0.2") as modest:
            lists = [asyncio.create_task(greedy.post("/api/score", json=long)) for _ in range(2)]
            await asyncio.sleep(2 * STEP)
            before = computed["hot"]
            answer = await modest.get("/api/score", params={**SCORE, "x": "warm"})
            assert answer.status_code == 200
            assert computed["hot"] <= before + 4, "one question of the other client at a time"
            for response in await asyncio.gather(*lists):
                assert len(response.json()["answers"]) == 30

    served(model, scenario)


def test_the_work_ends_with_the_time(model: Pair2vec, computed: Counter[str]) -> None:
    async def scenario(app: Any) -> None:
        async with client_at(app, "10.0.0.1") as client:
            response = await client.post("/api/score", json={"questions": [SCORE] * 30})
            assert response.status_code == 504
            done = computed["hot"]
            await asyncio.sleep(5 * STEP)
            assert computed["hot"] <= done + 1 < 10, "but for the one that was running"

    served(model, scenario, pool={"timeout": 4 * STEP})


def test_the_work_ends_when_its_client_has_gone(model: Pair2vec, computed: Counter[str]) -> None:
    async def scenario(app: Any) -> None:
        body = httpx.Request("POST", "http://x/", json={"questions": [SCORE] * 30}).content
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        at_the_end: list[int] = []

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await asyncio.sleep(2 * STEP)
            at_the_end.append(computed["hot"])
            return {"type": "http.disconnect"}

        async def send(_: Any) -> None:
            pass

        scope = {
            "type": "http", "method": "POST", "path": "/api/score", "query_string": b"",
            "headers": [(b"host", b"127.0.0.1")], "client": ("10.0.0.1", 1), "root_path": "",
        }  # fmt: skip
        await app(scope, receive, send)
        await asyncio.sleep(5 * STEP)
        assert 1 <= computed["hot"] <= at_the_end[0] + 1 < 30

    served(model, scenario)


def test_a_request_that_costs_more_than_its_budget_is_refused_with_both(model: Pair2vec) -> None:
    async def scenario(app: Any) -> None:
        async with client_at(app, "10.0.0.1") as client:
            many = await client.post("/api/nearest", json={"questions": [PAIR] * 64})
            assert many.status_code == 413
            assert many.json() == {
                "error": "the 64 questions cost 32,000, about 500 each; a request may cost 5,000: "
                "ask fewer at a time"
            }
            few = await client.post("/api/nearest", json={"questions": [PAIR] * 10})
            assert len(few.json()["answers"]) == 10
            cheap = await client.post("/api/score", json={"questions": [SCORE] * 64})
            assert len(cheap.json()["answers"]) == 64

    served(model, scenario)


def test_one_question_above_the_budget_is_refused(model: Pair2vec) -> None:
    async def scenario(app: Any) -> None:
        async with client_at(app, "10.0.0.1") as client:
            question = {"a": "france", "b": "paris", "x": "japan"}
            assert (await client.get("/api/analogy", params=question)).status_code == 200
            exact = await client.get("/api/analogy", params={**question, "search": "exact"})
            assert exact.json()["error"].startswith("the question costs 900; a request may cost")

    served(model, scenario, max_cost=500)


@pytest.mark.parametrize("questions", [1, 3])
def test_a_client_that_fills_the_queue_makes_room_for_another(
    model: Pair2vec, monkeypatch: pytest.MonkeyPatch, questions: int
) -> None:
    release = threading.Event()
    monkeypatch.setattr(Pair2vec, "score", lambda *_, **__: float(release.wait()))

    async def scenario(app: Any) -> None:
        async with client_at(app, "10.0.0.1") as greedy, client_at(app, "10.0.0.2") as modest:
            flood = [
                asyncio.create_task(
                    greedy.post("/api/score", json={"questions": [SCORE] * questions})
                )
                for _ in range(9)
            ]
            while sum(request.done() for request in flood) < 4:  # refused: one runs, four wait
                await asyncio.sleep(STEP / 10)
            asked = asyncio.create_task(modest.get("/api/score", params=SCORE))
            while sum(request.done() for request in flood) < 5:
                await asyncio.sleep(STEP / 10)
            release.set()
            assert (await asked).status_code == 200
            statuses = Counter(response.status_code for response in await asyncio.gather(*flood))
            assert statuses == {200: 4, 503: 5}, "four were refused at once, one for the other"

    served(model, scenario, pool={"queue_size": 4})


def test_clients_take_turns_and_so_do_the_jobs_of_each() -> None:
    async def scenario() -> None:
        queue, finished = TurnQueue(), asyncio.get_running_loop().create_future()
        a1, a2, a3, b1, c1 = (Job(client, (), finished) for client in "aaabc")
        for job in (a1, a2, a3, b1, c1):
            queue.put(job)
        assert [queue.take() for _ in range(3)] == [a1, b1, c1]
        queue.put(b1)
        queue.put(a1)
        queue.discard(a2)
        queue.discard(a2)
        assert [queue.take() for _ in range(4)] == [a3, b1, a1, None]
        queue.put(c1)
        queue.discard(c1)
        assert queue.take() is None

    asyncio.run(scenario())


def test_a_question_that_ends_as_its_time_ends_is_a_504_and_no_failure(
    model: Pair2vec, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(app: Any) -> None:
        async with client_at(app, "10.0.0.1") as client:

            def held(*_: object, **__: object) -> float:
                # The loop is held until the answer is there and the time is over.
                loop.call_soon_threadsafe(time.sleep, 3 * STEP)
                time.sleep(STEP)
                return 0.0

            loop = asyncio.get_running_loop()
            monkeypatch.setattr(Pair2vec, "score", held)
            for _ in range(5):
                assert (await client.get("/api/score", params=SCORE)).status_code in (200, 504)

    served(model, scenario, pool={"timeout": 2 * STEP})
