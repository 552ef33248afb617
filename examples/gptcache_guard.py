"""A similarity evaluation for GPTCache that gives opposite questions the lowest score.

Run it with `python examples/gptcache_guard.py`; it works without GPTCache, too. In a cache:

    cache.init(
        pre_embedding_func=get_prompt,
        embedding_func=...,
        data_manager=manager_factory("sqlite,faiss", vector_params={"dimension": 384, "top_k": 5}),
        similarity_evaluation=OpposedGuard(pair2vec.load(), SearchDistanceEvaluation()),
    )

A top_k above 1 lets the cache serve the next question where the nearest one is opposed.
"""

from typing import Any

import pair2vec

try:
    from gptcache.similarity_evaluation import SimilarityEvaluation
except ImportError:  # a plain class with the same methods
    SimilarityEvaluation = object

Request = dict[str, Any]
"""What GPTCache knows of a question: "question", and of a cached one "search_result", too."""


class CosineEvaluation(SimilarityEvaluation):  # type: ignore[misc]
    """The cosine, from the squared distance of unit vectors that FAISS and hnswlib return."""

    def evaluation(self, src_dict: Request, cache_dict: Request, **_: object) -> float:
        squared_distance, _id = cache_dict["search_result"]
        return min(1.0, max(0.0, 1 - float(squared_distance) / 2))

    def range(self) -> tuple[float, float]:
        return 0.0, 1.0


class OpposedGuard(SimilarityEvaluation):  # type: ignore[misc]
    """The score of another evaluation; the lowest for questions that are, or may be, opposed."""

    def __init__(
        self,
        model: pair2vec.Pair2vec,
        evaluation: SimilarityEvaluation | None = None,
        *,
        requires_same: bool = False,
    ) -> None:
        """Without an evaluation the cosine; with `requires_same` only the same is served."""
        self._model, self._inner = model, evaluation or CosineEvaluation()
        self._served = {"same"} if requires_same else {"same", "different"}

    def evaluation(self, src_dict: Request, cache_dict: Request, **kwargs: object) -> float:
        lowest, _ = self.range()
        asked, cached = src_dict["question"], cache_dict["question"]
        if self._model.opposed(asked, cached).verdict not in self._served:
            return lowest
        return float(self._inner.evaluation(src_dict, cache_dict, **kwargs))

    def range(self) -> tuple[float, float]:
        lowest, highest = self._inner.range()
        return lowest, highest


def main() -> None:
    """Print the scores of two questions at one distance from a cached one."""
    guard = OpposedGuard(pair2vec.load())
    cached = {"question": "How do I enable two-factor authentication?", "search_result": (0.1, 1)}
    for asked in (
        "How can I enable two-factor authentication?",
        "How do I disable two-factor authentication?",
    ):
        print(f"{guard.evaluation({'question': asked}, cached):.2f}  {asked}")


if __name__ == "__main__":
    main()
