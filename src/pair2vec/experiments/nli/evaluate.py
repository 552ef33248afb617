"""The accuracy of a classifier, or of the WordNet rule, on sets of NLI examples."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from pair2vec.errors import UsageError
from pair2vec.experiments.nli.examples import LABELS, NliExample, NliSet, read_nli_set
from pair2vec.wordnet.dictionary import ANTONYM, SIMILAR, SynsetId, WordNet
from pair2vec.wordnet.relations import Senses, word_senses

Labeller = Callable[[Sequence[NliExample]], Sequence[str | None]]
"""A label for each example; None is no label, which counts as wrong."""

RULE = "wordnet rule"
"""The model name of `wordnet_labeller` in results."""

ESIM, KIM = "esim", "kim"
"""Those of trained classifiers."""

_Z = 1.959964
"""The 97.5 % quantile of the normal distribution."""

ENTAILMENT, NEUTRAL, CONTRADICTION = LABELS

MAX_EDGES_UP = 2
"""From a co-hyponym to the common hypernym."""

_LONGEST_COLLOCATION = 9
"""In words, of all in WordNet."""


class LabelAccuracy(NamedTuple):
    """The share of right labels in percent, with its 95 % interval."""

    n: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class SetAccuracy:
    """The accuracies on one set of examples."""

    overall: LabelAccuracy
    dropped: int
    """Examples without a gold label, which were left out."""
    answered: float
    """The share of examples that got a label at all, in percent."""
    categories: Mapping[str, LabelAccuracy] = field(default_factory=dict)
    """Of Breaking NLI, the largest category first."""


def wilson_accuracy(is_right: Sequence[bool]) -> LabelAccuracy:
    """Accuracy with Wilson's interval, which stays within 0 and 100 also for few examples."""
    n, share = len(is_right), sum(is_right) / max(1, len(is_right))
    if not n:
        return LabelAccuracy(0, 0.0, 0.0, 100.0)
    half_width = _Z * math.sqrt(share * (1 - share) / n + (_Z / (2 * n)) ** 2)
    centre = share + _Z**2 / (2 * n)
    low, high = ((centre + sign * half_width) / (1 + _Z**2 / n) for sign in (-1, 1))
    # Rounding errors reach below 0 and above 1.
    clipped = (min(1.0, max(0.0, value)) for value in (share, low, high))
    return LabelAccuracy(n, *(round(100 * value, 2) for value in clipped))


def evaluate_nli(sets: Mapping[str, NliSet], labeller: Labeller) -> dict[str, SetAccuracy]:
    """The accuracy on each set."""
    return {name: score_labels(nli, labeller(nli.examples)) for name, nli in sets.items()}


def score_labels(nli: NliSet, labels: Sequence[str | None]) -> SetAccuracy:
    """The accuracy of predicted labels, overall and by category."""
    is_right = [e.label == label for e, label in zip(nli.examples, labels, strict=True)]
    by_category: dict[str, list[bool]] = {}
    for example, right in zip(nli.examples, is_right, strict=True):
        if example.category is not None:
            by_category.setdefault(example.category, []).append(right)
    ordered = sorted(by_category.items(), key=lambda item: (-len(item[1]), item[0]))
    answered = sum(label is not None for label in labels) / max(1, len(labels))
    return SetAccuracy(
        wilson_accuracy(is_right),
        nli.dropped,
        round(100 * answered, 2),
        {name: wilson_accuracy(right) for name, right in ordered},
    )


def wordnet_labeller(wordnet: WordNet) -> Labeller:
    """The rule baseline of Glockner et al. (2018): WordNet's relation of the differing words."""
    return lambda examples: [wordnet_label(wordnet, e.premise, e.hypothesis) for e in examples]


def read_nli_sets(paths: Sequence[str], named: Sequence[str] = ()) -> dict[str, NliSet]:
    """Sets by name: recognised by a file's content or name, or given as ``NAME=FILE``.

    Raises:
        UsageError: a set is not recognised, or two have one name.
    """
    unnamed = ((path, "") for path in paths)
    sets: dict[str, NliSet] = {}
    for path, explicit_name in [*unnamed, *map(_split_name, named)]:
        nli = read_nli_set(path)
        name = explicit_name or nli_set_name(path, nli)
        if name in sets:
            raise UsageError(f"{path}: is a second {name}; name one of them: --as NAME=FILE")
        sets[name] = nli
    if not sets:
        raise UsageError("no examples to label; name files of them as --data")
    return sets


def _split_name(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise UsageError(f"--as {text}: expected NAME=FILE, as in snli_test=mine.jsonl")
    return path, name


def nli_set_name(path: str, nli: NliSet) -> str:
    """Which of the known sets a file is, such as ``snli_test`` or ``multinli_matched``.

    Raises:
        UsageError: neither its content nor its name shows it.
    """
    name = Path(path).name.lower()
    if "replaced_words" in name:  # made by benchmarks/replaced_words.py, with categories too
        return "replaced_words"
    if any(example.category for example in nli.examples) or "breaking" in name:
        return "breaking_nli"
    if "multinli" in name or "mnli" in name:
        # "matched" is part of "mismatched".
        for part in ("mismatched", "matched", "train"):
            if part in name:
                return f"multinli_{part}"
    elif "snli" in name:
        for part in ("test", "dev", "train"):
            if part in name:
                return f"snli_{part}"
    raise UsageError(
        f"{path}: neither its content nor its name shows which set it is; name it: --as NAME={path}"
    )


class _Replacement(NamedTuple):
    """Words of the premise, and those of the hypothesis in their place; either may be empty."""

    premise: list[str]
    hypothesis: list[str]


def wordnet_label(
    wordnet: WordNet, premise: Sequence[str], hypothesis: Sequence[str]
) -> str | None:
    """The label of two sentences of words in any case, or None (Glockner et al., 2018).

    With p a differing word of the premise and h of the hypothesis, the label is

    - entailment if they are synonyms, or p is a hyponym of h;
    - neutral if p is a hypernym of h;
    - contradiction if they are antonyms, or co-hyponyms: a synset is at most `MAX_EDGES_UP` edges
      above each of the two;
    - none if WordNet has none of these relations (the baseline's "other").

    The first that holds between any two of their senses counts, in this order. Adjectives have no
    hypernyms; most are satellites of another, their head. A satellite and its head count as
    synonyms here, and its antonyms are those of the head, as WordNet itself shows them.

    The two sentences are aligned in lower case (difflib). Both sides of a replacement may have
    several words: their words and collocations that WordNet has, ``red_wine`` before ``red`` and
    ``wine``, are tried with each other, the longest first, until two are related; so *near* meets
    the *far* of *far away from*. If there are several replacements, one contradiction decides; else
    each must have a label, and one that is neutral makes the whole neutral. An insertion or a
    deletion has no label. Equal sentences entail each other.
    """
    labels = {_label(wordnet, changed) for changed in _replacements(premise, hypothesis)}
    if CONTRADICTION in labels:
        return CONTRADICTION
    if None in labels:
        return None
    return NEUTRAL if NEUTRAL in labels else ENTAILMENT


def word_label(premise: Senses, hypothesis: Senses) -> str | None:
    """The label of a word of the premise that is replaced by one of the hypothesis."""
    p, h = _Meaning.of(premise), _Meaning.of(hypothesis)
    if p.synsets & (h.synsets | h.heads) or p.heads & h.synsets or h.synsets & p.above.keys():
        return ENTAILMENT
    if p.synsets & h.above.keys():
        return NEUTRAL
    # One direction is enough: antonymy is symmetric.
    if p.antonyms & (h.synsets | h.heads):
        return CONTRADICTION
    return CONTRADICTION if p.near_above() & h.near_above() else None


class _Meaning(NamedTuple):
    """The synsets that the rules look at, over all senses of a word."""

    synsets: frozenset[SynsetId]
    heads: frozenset[SynsetId]
    """Of satellite adjectives."""
    antonyms: frozenset[SynsetId]
    above: dict[SynsetId, int]
    """Hypernyms, by number of edges."""

    @classmethod
    def of(cls, senses: Senses) -> "_Meaning":
        heads = _targets(senses, senses.synsets, SIMILAR)
        antonyms = _targets(senses, senses.synsets | heads, ANTONYM)
        return cls(senses.synsets, heads, antonyms, senses.hypernyms)

    def near_above(self) -> set[SynsetId]:
        return {synset for synset, edges in self.above.items() if edges <= MAX_EDGES_UP}


def _targets(senses: Senses, synsets: frozenset[SynsetId], symbol: str) -> frozenset[SynsetId]:
    look_up = senses.wordnet.synset
    return frozenset(target for synset in synsets for target in look_up(synset).targets(symbol))


def _replacements(premise: Sequence[str], hypothesis: Sequence[str]) -> Iterator[_Replacement]:
    a, b = ([_normalised(word) for word in sentence] for sentence in (premise, hypothesis))
    # Its heuristic for long texts would ignore the frequent words of long sentences.
    aligned = SequenceMatcher(None, a, b, autojunk=False)
    for kind, start_a, end_a, start_b, end_b in aligned.get_opcodes():
        if kind != "equal":
            yield _Replacement(a[start_a:end_a], b[start_b:end_b])


def _normalised(word: str) -> str:
    """In lower case, and *an* as *a*: the article depends on the next word alone."""
    return "a" if word.lower() == "an" else word.lower()


def _label(wordnet: WordNet, changed: _Replacement) -> str | None:
    """The label of the longest related collocations of a replacement."""
    premise, hypothesis = (list(_collocations(wordnet, side)) for side in changed)
    labels = (word_label(p, h) for p in premise for h in hypothesis)
    return next(filter(None, labels), None)


def _collocations(wordnet: WordNet, words: list[str]) -> Iterator[Senses]:
    """The words and collocations that WordNet has, the longest first."""
    for length in range(min(len(words), _LONGEST_COLLOCATION), 0, -1):
        for start in range(len(words) - length + 1):
            senses = word_senses(wordnet, "_".join(words[start : start + length]))
            if senses:
                yield senses
