"""What is counted of the server, for Prometheus."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Measures:
    """Of one server: each has its own registry, so that several can live in a process."""

    def __init__(self, taken: Callable[[], int]) -> None:
        """`taken` says how many questions are at the desk."""
        self._registry = CollectorRegistry()
        self._answers = Counter(
            "pair2vec_answers",
            "Answers, by path and status",
            ["path", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "pair2vec_answer_seconds",
            "Time to an answer",
            ["path"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        at_desk = Gauge(
            "pair2vec_questions_taken", "Being answered or waiting", registry=self._registry
        )
        at_desk.set_function(taken)

    def note(self, path: str, status: int, seconds: float) -> None:
        """An answer was sent."""
        self._answers.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """All of it."""
        return generate_latest(self._registry)
