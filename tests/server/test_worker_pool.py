"""Few questions at a time, few that wait, and none for ever."""

import asyncio
import threading

import pytest
from starlette.testclient import TestClient

from pair2vec.api import Pair2vec
from pair2vec.errors import UsageError
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import Resources
from pair2vec.server.handlers import ServerConfig
from pair2vec.server.worker_pool import PoolFullError, TooSlowError, WorkerPool, WorkerPoolConfig


def test_beyond_those_that_may_wait_questions_are_sent_away_and_later_ones_taken_again() -> None:
    async def asked() -> None:
        desk, go_on = WorkerPool(WorkerPoolConfig(workers=1, waiting=1)), threading.Event()
        first, second = (asyncio.create_task(desk.answer(go_on.wait)) for _ in range(2))
        await asyncio.sleep(0)
        assert desk.taken == 2
        with pytest.raises(PoolFullError):
            await desk.answer(lambda: None)
        go_on.set()
        assert await first
        assert await second
        await asyncio.sleep(0.01)
        assert desk.taken == 0
        assert await desk.answer(lambda: "taken") == "taken"
        desk.close()

    asyncio.run(asked())


def test_a_slow_answer_is_given_up_but_keeps_its_place_until_its_thread_is_free() -> None:
    async def asked() -> None:
        desk, go_on = (
            WorkerPool(WorkerPoolConfig(workers=1, waiting=0, seconds=0.02)),
            threading.Event(),
        )
        with pytest.raises(TooSlowError):
            await desk.answer(go_on.wait)
        with pytest.raises(PoolFullError):
            await desk.answer(lambda: None)
        go_on.set()
        while desk.taken:
            await asyncio.sleep(0.001)
        assert await desk.answer(lambda: "taken") == "taken"
        desk.close()

    asyncio.run(asked())


def test_a_waiting_question_that_is_given_up_is_never_asked() -> None:
    async def asked() -> None:
        desk, go_on = (
            WorkerPool(WorkerPoolConfig(workers=1, waiting=1, seconds=0.05)),
            threading.Event(),
        )
        answered: list[str] = []
        first = asyncio.create_task(desk.answer(go_on.wait))
        await asyncio.sleep(0)
        with pytest.raises(TooSlowError):
            await desk.answer(lambda: answered.append("late"))
        with pytest.raises(TooSlowError):
            await first
        go_on.set()
        while desk.taken:
            await asyncio.sleep(0.001)
        assert not answered
        desk.close()

    asyncio.run(asked())


def test_what_an_answer_raises_is_raised() -> None:
    def fail() -> None:
        raise TimeoutError("its own")

    async def asked() -> None:
        desk = WorkerPool(WorkerPoolConfig())
        with pytest.raises(TimeoutError, match="its own"):
            await desk.answer(fail)
        desk.close()

    asyncio.run(asked())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"workers": 0}, "--workers is 0; it must be 1 or more"),
        ({"waiting": -1}, "--waiting is -1; it must be 0 or more"),
        ({"seconds": 0}, "--timeout is 0; it must be above 0"),
    ],
)
def test_a_desk_that_cannot_be_is_refused(config: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        WorkerPoolConfig(**config)


def test_a_full_desk_and_a_slow_one_are_told_apart_over_http(
    model: Pair2vec, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(type(model), "score", lambda *_: float(go_on.wait()))
    config = ServerConfig(desk=WorkerPoolConfig(workers=1, waiting=0, seconds=0.1))
    with TestClient(make_app(Resources(model), config), base_url="http://127.0.0.1") as client:
        asked = {"x": "hot", "y": "cold", "pattern": "X or Y"}
        slow, full = (client.get("/api/score", params=asked) for _ in range(2))
        go_on.set()
    assert slow.status_code == 504
    assert full.status_code == 503
    assert full.headers["Retry-After"] == "1"
    assert "come again" in full.json()["error"]
