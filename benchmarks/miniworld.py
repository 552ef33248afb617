"""What a setting of recipe `tiny` changes on the mini-world: answers, and agreement with MVPMI.

    PYTHONPATH=src python3 benchmarks/miniworld.py [--seeds 0 1 2] [--sentences 60000]
        [--row NAME=KEY=VALUE,KEY=VALUE]...

Each seed is another world, text, word vectors and training. The rows are `tiny` as it is, `tiny`
with the negatives of the recipe `paper`, with those of the paper's released code, and those of
`--row`. Printed are the mean and the standard deviation over seeds of

- slots and analogies: the share of questions whose right answer comes first among the words of its
  type, of facts that the text states and of facts that it only implies;
- MVPMI: Spearman's correlation of R·C with it, over 2,000 frequent triples;
- frequent: the share of the 50 most frequent words among negative words for x;

and of each world the share of triples with a sentence's edge, `<s>`, in their context.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

import machine
from pair2vec.api import Pair2vec
from pair2vec.experiments.miniworld.evaluate import (
    WorldAnswer,
    analogy_questions,
    answer_analogies,
    answer_slots,
    mvpmi_agreement,
    slot_questions,
    world_accuracies,
)
from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import prepare
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS
from pair2vec.training.batches import NegativeSampler, TripleTensors
from pair2vec.training.recipes import Recipe, resolve
from pair2vec.training.train import train
from pair2vec.triples.epoch import TripleStream
from pair2vec.word_vectors.fasttext import FasttextConfig, train_fasttext
from pair2vec.word_vectors.formats import write_vec

ROWS: dict[str, list[str]] = {
    "tiny": [],
    "words from triples": ["negatives.words_from=triples"],
    "contexts ** 0.75": ["negatives.context_exponent=0.75"],
    "both": ["negatives.words_from=triples", "negatives.context_exponent=0.75"],
}
COLUMNS = (
    *("slots stated", "slots implied", "analogies stated", "analogies implied"),
    *("MVPMI", "frequent"),
)
FREQUENT = 50
DRAWN_FOR = 20_000
"""Triples that negatives are drawn for, to see how frequent they are."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--sentences", type=int, default=60_000)
    parser.add_argument("--row", action="append", default=[], metavar="NAME=SETTINGS")
    arguments = parser.parse_args()
    rows = ROWS | {
        name: settings.split(",")
        for name, _, settings in (text.partition("=") for text in arguments.row)
    }
    print(f"{machine.describe()}, torch {torch.__version__}; {arguments.sentences:,} sentences")
    figures: dict[str, list[list[float]]] = {name: [] for name in rows}
    for seed in arguments.seeds:
        with tempfile.TemporaryDirectory() as scratch:
            world = MiniWorld.create(seed)
            corpus, vectors = make_corpus(Path(scratch), world, arguments.sentences, seed)
            print(f"seed {seed}: {edges(corpus):.1%} of the triples have a sentence's edge")
            for name, settings in rows.items():
                recipe = resolve("tiny", None, [*settings, f"training.seed={seed}"])
                out = Path(scratch) / name.replace(" ", "_")
                model = Pair2vec(train(corpus, out, recipe, vectors=vectors, device="cpu"))
                figures[name].append([*measured(model, world, corpus), frequent(corpus, recipe)])
                shown = " ".join(f"{value:.3f}" for value in figures[name][-1])
                print(f"seed {seed}, {name}: {shown}", flush=True)
    print(f"\n{'':20}" + "".join(f"{column:>19}" for column in COLUMNS))
    for name, runs in figures.items():
        print(f"{name:20}" + "".join(f"{spread(column):>19}" for column in zip(*runs, strict=True)))


def make_corpus(folder: Path, world: MiniWorld, sentences: int, seed: int) -> tuple[Corpus, Path]:
    """The corpus of a world's text, and word vectors of it, as `pair2vec demo` makes them."""
    (folder / "world.txt").write_text(world.text(sentences))
    corpus = prepare([str(folder / "world.txt")], folder / "corpus")
    config = FasttextConfig(dimension=64, epochs=5, seed=seed)
    table = train_fasttext(corpus, config, workers=1, report=lambda *_: None)
    special = len(SPECIAL_TOKENS)
    write_vec(folder / "words.vec", corpus.vocabulary.words[special:], table[special:])
    return corpus, folder / "words.vec"


def measured(model: Pair2vec, world: MiniWorld, corpus: Corpus) -> list[float]:
    """All columns but the last."""
    slots = answer_slots(slot_questions(world), model, corpus)
    analogies = answer_analogies(analogy_questions(world), model, corpus)
    return [*right(slots), *right(analogies), mvpmi_agreement(model, corpus)]


def right(answers: Sequence[WorldAnswer]) -> list[float]:
    """The shares of right answers over all relations: of stated facts, and of implied ones."""
    overall = {
        row.held_out: row.right for row in world_accuracies(answers) if row.relation == "all"
    }
    return [overall[False], overall[True]]


def frequent(corpus: Corpus, recipe: Recipe) -> float:
    """The share of the most frequent words among the negatives for x that are not typed."""
    cpu, counts = torch.device("cpu"), corpus.vocabulary.counts
    stream = TripleStream(corpus, recipe.triples)
    sampler = NegativeSampler.of_triples(recipe.negatives, counts, stream, None, cpu)
    triples, _ = next(stream.batches(min(DRAWN_FOR, stream.expected_triples() // 2)))
    batch = sampler.complete(TripleTensors.from_numpy(triples), torch.Generator().manual_seed(0))
    commonest = torch.from_numpy(np.argsort(-counts)[:FREQUENT].copy())
    return float(torch.isin(batch.other_x, commonest).float().mean())


def edges(corpus: Corpus) -> float:
    """The share of triples, as `tiny` keeps them, whose context has the word of an edge."""
    groups = TripleStream(corpus, resolve("tiny", None, []).triples).sampled_contexts()
    at_edge = sum(int((group[:, [0, -1]] == BOUNDARY).any(axis=1).sum()) for group in groups)
    return at_edge / sum(map(len, groups))


def spread(values: Sequence[float]) -> str:
    """Mean and standard deviation."""
    deviation = f" ±{statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{deviation}"


if __name__ == "__main__":
    main()
