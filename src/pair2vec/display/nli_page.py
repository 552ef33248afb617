"""Two classifiers on a page: how often each is right, and what decided where only one was."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pair2vec.atomic import PARTIAL, write_whole
from pair2vec.display.markdown import plain, table_row
from pair2vec.errors import UsageError
from pair2vec.evaluation.nli import Accuracy
from pair2vec.evaluation.nli_comparison import Comparison, Telling, Verdict

PAGE = "index.md"
CATEGORIES = "categories.png"
EXAMPLES = "examples.png"
_FILES = (CATEGORIES, EXAMPLES, PAGE)
_TITLE = "# Two classifiers of natural language inference"

_THROUGH = {
    "pairs": "what is known of the pair of words",
    "words": "the alignment of the two words, because this classifier knows nothing of pairs",
}


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """What the figures of a page depend on; nothing in it names a folder of the machine."""

    base: str
    """The name of the classifier."""
    model: str
    base_config: Mapping[str, Any]
    model_config: Mapping[str, Any]
    data: str
    """The name of the file of examples."""
    dropped: int
    """Examples without a gold label."""
    date: str


def check_page_place(folder: Path) -> None:
    """Refuse a place that holds something else than an earlier page.

    Raises:
        UsageError: it is a file, or a folder of other things.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file, not a folder; give another --out")
    page = folder / PAGE
    if not folder.exists() or (page.is_file() and page.read_bytes().startswith(_TITLE.encode())):
        return
    pictures = (CATEGORIES, EXAMPLES)
    names = sorted(path.name for path in folder.iterdir() if path.name not in pictures)
    if others := [name for name in names if not name.endswith(PARTIAL)]:
        raise UsageError(
            f"{folder}: is not a comparison and not empty ({others[0]}); give another --out"
        )


def write_page(folder: Path, page: str, pictures: Mapping[str, bytes]) -> Path:
    """Write a page over whatever one is in `folder`; it is there only with all its pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)
    for name, picture in pictures.items():
        write_whole(folder / name, picture)
    write_whole(folder / PAGE, page.encode())
    return folder / PAGE


def comparison_page(comparison: Comparison, protocol: Protocol) -> str:
    """In Markdown: accuracies, disagreements, examples, and how all that was found."""
    parts = [
        [
            _TITLE,
            f"**{plain(protocol.base)}** against **{plain(protocol.model)}** on "
            f"{plain(protocol.data)}.",
        ],
        ["## Accuracy", _table(comparison, protocol), _picture(CATEGORIES, "Accuracy by category")],
        ["## Where they differ", _differences(comparison, protocol)],
        ["## Examples", *_examples(comparison, protocol)],
        ["## Protocol", "\n".join(f"- {line}" for line in _protocol(protocol))],
    ]
    return "\n\n".join(block for part in parts for block in part) + "\n"


def _table(comparison: Comparison, protocol: Protocol) -> str:
    head = ("category", "n", plain(protocol.base), plain(protocol.model), "gain")
    rows = [
        (plain(name), f"{gain.base.n:,}", *map(_accuracy, gain), f"{gain.points:+.2f}")
        for name, gain in comparison.rows
    ]
    lines = "\n".join(map(table_row, [head, ("---", *["---:"] * 4), *rows]))
    return f"{lines}\n\nRight labels in percent, with Wilson's interval of 95 %; gain in points."


def _accuracy(one: Accuracy) -> str:
    return f"{one.right:.2f} ({one.low:.1f}–{one.high:.1f})"


def _differences(comparison: Comparison, protocol: Protocol) -> str:
    base, model = plain(protocol.base), plain(protocol.model)
    return (
        f"Only {base} is right on {comparison.only_base:,} examples, only {model} on "
        f"{comparison.only_model:,}. If each were as likely to be the one that is right, a "
        f"difference this large would have probability {_p_value(comparison.p_value)} (McNemar's "
        "exact test, two-sided).\n\nThe test speaks of these two classifiers, not of others "
        "trained with other seeds, and takes examples as independent; those that share a premise "
        "are not quite."
    )


def _p_value(value: float) -> str:
    """The smallest ones are below what a float can tell."""
    return f"{value:.2g}" if value > 1e-300 else "below 1e-300"


def _examples(comparison: Comparison, protocol: Protocol) -> list[str]:
    base, model = plain(protocol.base), plain(protocol.model)
    if not comparison.examples:
        return [f"There is none that {model} gets right and {base} wrong."]
    return [
        f"{len(comparison.examples)} of the {comparison.only_model:,} that only {model} gets "
        "right: of each category that whose right label gains most probability, then the next.",
        f"A **share** is what the score of {model}'s label, over the mean of the others, would "
        f"lose to first order without a pair's part in the attention, through "
        f"{_THROUGH[comparison.through]}. A positive share speaks for the label, a negative one "
        "against it.",
        _picture(EXAMPLES, "Examples, and the pairs of words that decided them"),
        *(_example(n, one, protocol) for n, one in enumerate(comparison.examples, start=1)),
    ]


def _example(number: int, one: Telling, protocol: Protocol) -> str:
    premise, hypothesis = (plain(" ".join(sentence)) for sentence in one.example.sentences)
    title = ". ".join(
        [f"{number}", *([plain(one.example.category)] if one.example.category else [])]
    )
    pairs = ", ".join(
        f"*{plain(pair.premise)}* – *{plain(pair.hypothesis)}* {pair.share:+.3f}"
        for pair in one.pairs
    )
    return "\n".join(
        [
            f"### {title}\n",
            f"“{premise}” → “{hypothesis}”: {one.example.label}\n",
            f"- {plain(protocol.base)} says {_verdict(one.base)}",
            f"- {plain(protocol.model)} says {_verdict(one.model)}",
            f"- deciding pairs: {pairs or 'none; nothing is known of any'}",
        ]
    )


def _verdict(verdict: Verdict) -> str:
    chances = ", ".join(f"{name} {share:.1%}" for name, share in verdict.probabilities.items())
    return f"{verdict.label} ({chances})"


def _protocol(protocol: Protocol) -> list[str]:
    left_out = f"; {protocol.dropped:,} without a gold label left out" if protocol.dropped else ""
    return [
        f"{plain(protocol.base)}: {_made(protocol.base_config)}",
        f"{plain(protocol.model)}: {_made(protocol.model_config)}",
        f"examples: {plain(protocol.data)}{left_out}",
        f"date: {protocol.date}",
    ]


def _made(config: Mapping[str, Any]) -> str:
    """How a classifier was trained."""
    inputs = config["inputs"]
    learnt = " + ".join(f"{count:,} of {plain(name)}" for name, count in config["train"].items())
    return (
        f"{config['model']}, pairs {inputs['pairs']}, words {plain(Path(inputs['words']).name)}, "
        f"seed {config['settings']['training']['seed']}, trained on {learnt}, "
        f"{config['dev_score']:.2f} % of dev right"
    )


def _picture(name: str, what: str) -> str:
    return f"![{what}]({name})"
