"""What pair vectors cost in question answering: questions a second, and the ratio of step times.

    python benchmarks/qa.py [--data FILE...] [--words FILE] [--pair-model NAME] [--device cuda]
        [--pairs pair2vec pair_distance] [--batch 64] [--steps 30] [--set KEY=VALUE]...

Without files, questions are synthetic: words of the pair model by 1 / rank, as long as those of
SQuAD (passages of 140 words in the mean and 400 at most, questions of 11); word vectors are random.
A step is forward, backward and update, on batches that are on the device already, each taken by all
networks in turn; the third round over all batches counts. Training includes making the batches,
prefetched on a GPU. Answering is finding the best spans of all questions.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

import gpu
from pair2vec.arrays import Int64Array
from pair2vec.experiments.embedders.embedder import Embedder, WordVectorEmbedder
from pair2vec.experiments.embedders.open import open_embedder
from pair2vec.experiments.qa.answerer import QaSettings, qa_settings, span_odds
from pair2vec.experiments.qa.batches import EncodedQuestions, QaBatch, QaBatches, answering_windows
from pair2vec.experiments.qa.bidaf import Bidaf
from pair2vec.experiments.qa.examples import GoldAnswer, QaQuestion, QaSet, TokenisedText, read_qa
from pair2vec.experiments.qa.train import QaTrainable
from pair2vec.experiments.tasks.batches import epoch_batches
from pair2vec.experiments.tasks.inputs import InputPaths, open_relations
from pair2vec.experiments.tasks.trainer import SupervisedStep
from pair2vec.model.folder import load_model
from pair2vec.model.resolve import find_model
from pair2vec.runtime.cuda_graphs import tree_to
from pair2vec.runtime.devices import find_device
from pair2vec.runtime.prefetch import prefetch
from pair2vec.text.vocabulary import SPECIAL_TOKENS

DIMENSION = 300
ROUNDS = 3
"""On a GPU, a shape runs eagerly in the first round and is captured in the second."""


class Subject(NamedTuple):
    """A network under test."""

    trainable: QaTrainable
    step: SupervisedStep[QaBatch]
    answer: QaBatches
    device: torch.device
    rate: float

    def learn(self, batch: QaBatch) -> None:
        """One step, as in training."""
        self.step(batch, self.rate)


def main() -> None:
    """Print the table."""
    arguments = parse()
    device = find_device(arguments.device)
    settings = qa_settings([f"training.batch={arguments.batch}", *arguments.settings])
    questions = read_qa(arguments.data) if arguments.data else synthetic(arguments)
    encoded = EncodedQuestions(questions)
    print(f"{gpu.describe(device)}; on {device}\n{text_lengths(encoded)}")
    torch.manual_seed(0)
    subjects = {
        pairs: subject(arguments, pairs, encoded, settings, device)
        for pairs in ("none", *arguments.pairs)
    }
    order = first_batches(subjects["none"].trainable, settings, arguments.steps)
    steps = step_times(subjects, order)
    print(f"\n{'pairs':14} step ms  to none  training q/s  answering q/s  peak GB")
    for pairs, tested in subjects.items():
        gpu.clear(device)
        training, answering = training_speed(tested, order), answering_speed(tested)
        peak = gpu.peak_gb(device)
        print(
            f"{pairs:14}{1e3 * statistics.mean(steps[pairs]):8.1f}"
            f"{sum(steps[pairs]) / sum(steps['none']):9.2f}{training:14,.0f}{answering:15,.0f}"
            f"{'–' if peak is None else f'{peak:.1f}':>9}",
            flush=True,
        )


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", help="SQuAD's format")
    parser.add_argument("--questions", type=int, default=4000, help="how many synthetic ones")
    parser.add_argument("--words", help="random vectors otherwise")
    parser.add_argument("--pairs", nargs="+", default=["pair2vec"])
    parser.add_argument("--pair-model")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    return parser.parse_args()


def synthetic(arguments: argparse.Namespace) -> QaSet:
    """Five questions a passage, two in three with an answer."""
    random = np.random.default_rng(0)
    words = load_model(find_model(arguments.pair_model)).vocabulary.words[len(SPECIAL_TOKENS) :]
    shares = 1 / np.arange(1, len(words) + 1)
    qa_set = QaSet([], [], {})

    def text(length: int) -> TokenisedText:
        drawn = random.choice(len(words), size=length, p=shares / shares.sum())
        return spaced([words[number] for number in drawn])

    for number in range(arguments.questions):
        if number % 5 == 0:
            qa_set.passages.append(text(int(np.clip(random.lognormal(4.86, 0.4), 20, 400))))
        passage = qa_set.passages[-1]
        first = int(random.integers(len(passage.words)))
        answer = GoldAnswer(passage.words[first], passage.starts[first])
        question = text(int(np.clip(random.normal(11.2, 3.5), 4, 40)))
        answers = (answer,) if number % 3 else ()
        passage_index = len(qa_set.passages) - 1
        qa_set.questions.append(QaQuestion(f"{number}", question, passage_index, answers))
    return qa_set


def spaced(words: Sequence[str]) -> TokenisedText:
    """A text of these words, whatever is in them."""
    ends = np.cumsum([len(word) + 1 for word in words]) - 1
    starts = ends - [len(word) for word in words]
    offsets = tuple(starts.tolist()), tuple(ends.tolist())
    return TokenisedText(" ".join(words), tuple(words), *offsets)


def text_lengths(encoded: EncodedQuestions) -> str:
    """A line on how long the texts are."""
    lengths = encoded.sentences.lengths
    passages, questions = lengths[encoded.passages], lengths[encoded.questions]
    return (
        f"{len(encoded):,} questions of {questions.mean():.1f} words on passages of "
        f"{passages.mean():.0f}, {passages.max()} at most"
    )


def subject(
    arguments: argparse.Namespace,
    pairs: str,
    encoded: EncodedQuestions,
    settings: QaSettings,
    device: torch.device,
) -> Subject:
    """A network with these pairs, and the questions as it takes them."""
    paths = InputPaths(
        words=arguments.words or "random",
        pairs=pairs,
        pair_model=arguments.pair_model,
    )
    relations, _ = open_relations(paths, encoded.words, settings.pairs)
    network = Bidaf(embedder(arguments.words, encoded.words), relations, settings.bidaf)
    network.to(device)
    trainable = QaTrainable(network, encoded, settings.qa)
    windows = answering_windows(encoded, np.arange(len(encoded)), settings.qa.max_words)
    answer = QaBatches(encoded, windows, network.embedder, relations)
    step = SupervisedStep(trainable, settings.training, device)
    return Subject(trainable, step, answer, device, settings.training.rate)


def embedder(path: str | None, words: Sequence[str]) -> Embedder:
    """The word vectors of a file, or random ones."""
    if path:
        return open_embedder(path, words)
    vectors = torch.randn(len(words), DIMENSION, generator=torch.Generator().manual_seed(0))
    return WordVectorEmbedder({word: number for number, word in enumerate(words)}, vectors)


def first_batches(trainable: QaTrainable, settings: QaSettings, count: int) -> list[Int64Array]:
    """The first batches of an epoch."""
    config = settings.training
    return epoch_batches(trainable.sizes, config.batch, seed=0, epoch=0, pool=config.pool)[:count]


def step_times(subjects: dict[str, Subject], order: Sequence[Int64Array]) -> dict[str, list[float]]:
    """Seconds of each step, by pairs: of the last of the rounds over all batches."""
    for _ in range(ROUNDS):
        times: dict[str, list[float]] = {pairs: [] for pairs in subjects}
        for indices in order:
            for pairs, tested in subjects.items():
                device = tested.device
                batch = tree_to(tested.trainable.batch(indices), device)
                times[pairs].append(gpu.seconds(lambda b=batch, s=tested: s.learn(b), device))  # type: ignore[misc]
    return times


def training_speed(tested: Subject, order: Sequence[Int64Array]) -> float:
    """Questions a second, batching included."""
    device = tested.device
    batches = (tree_to(tested.trainable.batch(indices), device) for indices in order)
    start = time.perf_counter()
    for batch in prefetch(batches, 8) if device.type == "cuda" else batches:
        tested.learn(batch)
    gpu.wait(device)
    return sum(map(len, order)) / (time.perf_counter() - start)


def answering_speed(tested: Subject) -> float:
    """Questions a second."""
    start = time.perf_counter()
    span_odds(tested.trainable.network, tested.answer, tested.device, longest=17)
    return len(tested.answer.sizes) / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
