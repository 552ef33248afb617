"""What is wrong with the data that networks are trained and evaluated on, stated beside figures."""

from collections.abc import Iterable
from fnmatch import fnmatch

_NOT_UNIFORM = "not a uniform sample of the published one, and class-skewed"
_RECONSTRUCTION = (
    "is a reconstruction: 87,599 answerable and 43,470 unanswerable questions, where the published "
    "one has 86,821 and 43,498; 11,286 of the unanswerable ones have guessed paragraphs"
)
_FIRST_OCCURRENCES = (
    f"The training set {_RECONSTRUCTION}, and answer offsets are those of the answer's first "
    "occurrence."
)

_FAULTS: dict[str, tuple[tuple[str, str], ...]] = {
    "nli": (
        (
            "*snli_train.subset*",
            f"The training subset of SNLI is {_NOT_UNIFORM}: entailment 39.8, neutral 35.1, "
            "contradiction 25.1 %.",
        ),
        (
            "*multinli_train.subset*",
            f"The training subset of MultiNLI is {_NOT_UNIFORM}: entailment 28.2, neutral 43.1, "
            "contradiction 28.7 %.",
        ),
        (
            "*snli_train.union*",
            f"The training set of SNLI is a union of partial copies, {_NOT_UNIFORM}: entailment "
            "38.6, neutral 37.1, contradiction 24.4 %.",
        ),
        (
            "*multinli_train.union*",
            f"The training set of MultiNLI is a union of partial copies, {_NOT_UNIFORM}: "
            "entailment 30.1, neutral 39.7, contradiction 30.3 %.",
        ),
        (
            "*_train.balanced*",
            "The balanced training sets have as many examples of each class, of unions of partial "
            "copies that are not uniform samples of the published sets.",
        ),
        (
            "breaking_nli",
            "Breaking NLI is 87.4 % contradiction: few contradictions in training cost more there "
            "than elsewhere.",
        ),
        (
            "replaced_words",
            "The set of replaced words is made by WordNet, which models with WordNet know.",
        ),
    ),
    "qa": (
        (
            "*train-v2.0.aligned*",
            f"The training set {_RECONSTRUCTION}; 2,893 answer offsets were corrected from token "
            "spans, the others are those of the answer's first occurrence.",
        ),
        ("train-v2.0.json*", _FIRST_OCCURRENCES),
        # Of the same file, before its name was kept.
        ("rest.json*", _FIRST_OCCURRENCES),
        ("rest.train-v2.0.json*", _FIRST_OCCURRENCES),
    ),
}
"""By task: patterns of training files and of test sets, and what is wrong with each."""


def data_faults(task: str, names: Iterable[str]) -> list[str]:
    """What is known to be wrong with some training files or test sets of a task."""
    known = list(names)
    return [
        fault
        for pattern, fault in _FAULTS.get(task, ())
        if any(fnmatch(name, pattern) for name in known)
    ]
