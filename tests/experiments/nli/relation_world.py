"""An invented language in which the relation between two words decides the label.

Sentences are "The A." and "The B." B is A's relative of one of three kinds, and the kind is the
label. Word vectors are random and do not show the kind. Pair vectors do: the difference of two
relatives is the same for all of a kind.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from tests.wordnet.small_wordnet import write_wordnet

from pair2vec.experiments.nli.classifier import NliSettings, nli_settings
from pair2vec.experiments.nli.examples import LABELS, NliExample
from pair2vec.experiments.nli.train import LabelledExamples, NliData
from pair2vec.experiments.tasks.inputs import InputPaths
from pair2vec.model.folder import save_model
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.word_vectors.formats import write_vec

FAMILIES = 60
FRAME = ("The", "{}", ".")
DIMENSION = 6
SMALL = (
    *("esim.hidden=12", "esim.dropout=0.1", "training.batch=16", "training.rate=0.02"),
    *("training.rate_factor=1.0", "training.patience=0"),
    # A checkpoint takes longer here than an epoch.
    "training.checkpoint_epochs=0",
)


def word(family: int, member: int) -> str:
    """Member 0 is the one that the others are relatives of."""
    return f"w{family}{'abcd'[member]}"


def sentence(noun: str, *, extra: Sequence[str] = ()) -> tuple[str, ...]:
    return (*(noun if part == "{}" else part for part in FRAME), *extra)


def examples(families: Iterable[int], extra: int = 0) -> list[NliExample]:
    """Each family's three pairs, in sentences of several lengths."""
    return [
        NliExample(
            sentence(word(family, 0), extra=["."] * ((family + kind) % (1 + extra))),
            sentence(word(family, kind)),
            LABELS[kind - 1],
            f"kind{kind}",
        )
        for family in families
        for kind in (1, 2, 3)
    ]


def data(extra: int = 0) -> NliData:
    """Dev has the last families, of which training sees no word."""
    parts = [examples(range(FAMILIES - 15), extra), examples(range(FAMILIES - 15, FAMILIES), extra)]
    named = zip(parts, ("train.jsonl", "dev.jsonl"), strict=True)
    return NliData(*(LabelledExamples(part, {name: len(part)}) for part, name in named))


def write_examples(path: Path, examples: Iterable[NliExample]) -> Path:
    rows = (
        {
            "sentence1": " ".join(e.premise),
            "sentence2": " ".join(e.hypothesis),
            "gold_label": e.label,
            **({"category": e.category} if e.category and "breaking" in path.name else {}),
        }
        for e in examples
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_inputs(folder: Path) -> dict[str, Path]:
    """Random word vectors in words.vec, the pair vectors as a model and as pairs.vec, a WordNet.

    The small WordNet has none of the language's nouns, but others.
    """
    random = np.random.default_rng(0)
    nouns = [word(family, member) for family in range(FAMILIES) for member in range(4)]
    others = [part.lower() for part in FRAME if part != "{}"]
    vectors = random.normal(size=(len(nouns) + len(others), 10)).astype(np.float32)
    write_vec(folder / "words.vec", [*nouns, *others], vectors)
    pairs = random.normal(size=(len(nouns), DIMENSION)).astype(np.float32)
    for family in range(FAMILIES):
        for member in (1, 2, 3):
            pairs[4 * family + member] = pairs[4 * family] + 3 * np.eye(DIMENSION)[member]
    write_vec(folder / "pairs.vec", nouns, pairs)
    vocabulary = Vocabulary((noun, 9) for noun in nouns)
    table = np.concatenate([np.zeros((4, DIMENSION), np.float32), pairs])
    recipe = {"composition": "difference", "layers": 1, "dimension": DIMENSION}
    config = {"recipe": {"name": "t", "pair": recipe}, "corpus": {"fingerprint": "of a test"}}
    save_model(folder / "pair_model", {"pair.words": table}, vocabulary, config)
    write_wordnet(folder / "wordnet")
    return {name: folder / name for name in ("words.vec", "pairs.vec", "pair_model", "wordnet")}


def input_paths(inputs: dict[str, Path], pairs: str) -> InputPaths:
    return InputPaths(
        words=str(inputs["words.vec"]),
        pairs=pairs,
        pair_model=str(inputs["pair_model"]),
        pair_vectors=str(inputs["pairs.vec"]),
        wordnet=str(inputs["wordnet"]),
    )


def settings(*more: str) -> NliSettings:
    return nli_settings([*SMALL, "training.epochs=9", "training.threads=1", *more])
