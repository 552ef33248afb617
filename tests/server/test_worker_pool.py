"""Few tasks at a time, few in the queue, and none for ever."""

import asyncio
import threading

import pytest
from starlette.testclient import TestClient

from pair2vec.api import Pair2vec
from pair2vec.errors import UsageError
from pair2vec.server.access import ServerConfig
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import Resources
from pair2vec.server.worker_pool import PoolFullError, TooSlowError, WorkerPool, WorkerPoolConfig


def test_tasks_beyond_the_queue_are_rejected_and_later_ones_accepted_again() -> None:
    async def scenario() -> None:
        pool, release = WorkerPool(WorkerPoolConfig(workers=1, queue_size=1)), threading.Event()
        first, second = (asyncio.create_task(pool.run([release.wait])) for _ in range(2))
        await asyncio.sleep(0)
        assert pool.in_flight == 2
        with pytest.raises(PoolFullError):
            await pool.run([lambda: None])
        release.set()
        assert await first
        assert await second
        await asyncio.sleep(0.01)
        assert pool.in_flight == 0
        assert await pool.run([lambda: "accepted"]) == ["accepted"]
        pool.close()

    asyncio.run(scenario())


def test_a_task_that_timed_out_stays_in_flight_until_its_thread_is_free() -> None:
    async def scenario() -> None:
        pool, release = (
            WorkerPool(WorkerPoolConfig(workers=1, queue_size=0, timeout=0.02)),
            threading.Event(),
        )
        with pytest.raises(TooSlowError):
            await pool.run([release.wait])
        with pytest.raises(PoolFullError):
            await pool.run([lambda: None])
        release.set()
        while pool.in_flight:
            await asyncio.sleep(0.001)
        assert await pool.run([lambda: "accepted"]) == ["accepted"]
        pool.close()

    asyncio.run(scenario())


def test_a_task_that_has_waited_for_long_is_rejected_and_never_run() -> None:
    async def scenario() -> None:
        pool, release = (
            WorkerPool(WorkerPoolConfig(workers=1, queue_size=1, timeout=0.05)),
            threading.Event(),
        )
        ran: list[str] = []
        first = asyncio.create_task(pool.run([release.wait]))
        await asyncio.sleep(0)
        with pytest.raises(PoolFullError):
            await pool.run([lambda: ran.append("late")])
        with pytest.raises(TooSlowError):
            await first
        release.set()
        while pool.in_flight:
            await asyncio.sleep(0.001)
        assert not ran
        pool.close()

    asyncio.run(scenario())


def test_what_a_task_raises_is_raised() -> None:
    def fail() -> None:
        raise TimeoutError("its own")

    async def scenario() -> None:
        pool = WorkerPool(WorkerPoolConfig())
        with pytest.raises(TimeoutError, match="its own"):
            await pool.run([fail])
        pool.close()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"workers": 0}, "--workers is 0; it must be 1 or more"),
        ({"queue_size": -1}, "--waiting is -1; it must be 0 or more"),
        ({"timeout": 0}, "--timeout is 0; it must be above 0"),
    ],
)
def test_an_impossible_config_is_refused(config: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        WorkerPoolConfig(**config)


def test_a_full_pool_is_a_503_and_a_slow_task_a_504(
    model: Pair2vec, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr(type(model), "score", lambda *_, **__: float(release.wait()))
    config = ServerConfig(pool=WorkerPoolConfig(workers=1, queue_size=0, timeout=0.1))
    with TestClient(make_app(Resources(model), config), base_url="http://127.0.0.1") as client:
        question = {"x": "hot", "y": "cold", "pattern": "X or Y"}
        slow, full = (client.get("/api/score", params=question) for _ in range(2))
        release.set()
    assert slow.status_code == 504
    assert full.status_code == 503
    assert full.headers["Retry-After"] == "1"
    assert "come again" in full.json()["error"]
