"""Entries of a lexicon, and the thesaurus that can be asserted of them.

An entry is a prediction; two of them may contradict each other. In a thesaurus none do: terms that
mean the same are one concept, as ISO 25964 has it (USE and UF), the hierarchy has no cycle and no
edge that follows from others, and no two concepts are `related` that it relates. These are the
integrity conditions of SKOS (https://www.w3.org/TR/skos-reference/) and the rules of qSKOS
(Suominen and Mader, Journal on Data Semantics 2014).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from pair2vec.lexicon.evidence import Evidence

SYNONYM = "synonym"
"""The one relation whose words may replace each other in a search."""
ANTONYM = "antonym"
HYPERNYM, HYPONYM = "hypernym", "hyponym"
"""The relations of a hierarchy."""


class LexiconEntry(NamedTuple):
    """One relation between two terms: y is the `relation` of x."""

    x: str
    relation: str
    y: str
    probability: float
    evidence: list[Evidence]
    accepted: bool = False
    """Whether a person has accepted it."""

    @property
    def certainty(self) -> float:
        """The probability, or 1 of what was accepted."""
        return 1.0 if self.accepted else self.probability

    @property
    def pair(self) -> frozenset[str]:
        return frozenset((self.x, self.y))

    def to_json(self) -> dict[str, Any]:
        return {**self._asdict(), "evidence": [sentence._asdict() for sentence in self.evidence]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        evidence = [Evidence(**sentence) for sentence in content["evidence"]]
        return cls(**{**content, "evidence": evidence})


def likeliest(entries: Iterable[LexiconEntry]) -> list[LexiconEntry]:
    """Of each two terms the more certain entry; a term is in no relation to itself."""
    best: dict[frozenset[str], LexiconEntry] = {}
    for entry in entries:
        pair = entry.pair
        if len(pair) == 2 and (pair not in best or entry.certainty > best[pair].certainty):
            best[pair] = entry
    return list(best.values())


def label_of(term: str) -> str:
    """A term as it is read: a phrase may be spelled with underscores."""
    return " ".join(term.replace("_", " ").split()) or term


class Thesaurus:
    """Concepts, each named by its preferred term, and what relates them."""

    def __init__(
        self,
        entries: Iterable[LexiconEntry],
        frequency: Mapping[str, int] | None = None,
        *,
        same: float | None,
    ) -> None:
        """Assert as much of the entries as goes together.

        Args:
            entries: Of a lexicon.
            frequency: Of the terms: the most frequent one of a concept is preferred.
            same: The least probability of synonyms that are one concept; None keeps each term one.
        """
        spelled: dict[str, str] = {}
        named = []
        for entry in entries:
            x, y = (spelled.setdefault(label_of(w).casefold(), w) for w in (entry.x, entry.y))
            named.append(entry._replace(x=x, y=y))
        groups = {word: [word] for word in spelled.values()}
        if same is not None:
            _merge_synonyms(groups, named, same)
        order = {word: number for number, word in enumerate(groups)}
        counts = frequency or {}
        self.terms: dict[str, list[str]] = {}
        """Of each concept by its preferred term, which is the first of them."""
        for group in {id(group): group for group in groups.values()}.values():
            ranked = sorted(group, key=lambda word: (-counts.get(word, 0), order[word]))
            self.terms[ranked[0]] = ranked
        concept = {word: name for name, words in self.terms.items() for word in words}
        self.concept = concept
        """Of each term, by its preferred term."""
        within = likeliest(entry for entry in named if concept[entry.x] == concept[entry.y])
        self.label_entries: dict[str, LexiconEntry] = {}
        """Of each term that is not the preferred one, the entry that it is a label by."""
        for entry in sorted(within, key=lambda entry: -entry.certainty):
            rank = self.terms[concept[entry.x]].index
            self.label_entries.setdefault(max(entry.x, entry.y, key=rank), entry)
        self.between = _distinct(
            entry._replace(x=concept[entry.x], y=concept[entry.y])
            for entry in named
            if concept[entry.x] != concept[entry.y]
        )
        """Entries between concepts: of those with the same relation the most certain one."""
        asserted = likeliest(self.between)
        hierarchy = Hierarchy(asserted)
        self.broader = hierarchy.reduced()
        """Pairs of a concept and a broader one."""
        parents, children = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for child, parent in self.broader:
            parents[child].add(parent)
            children[parent].add(child)
        self.top = [name for name in self.terms if name not in parents]
        """Concepts without a broader one."""
        self.associated = [
            entry
            for entry in asserted
            if entry.relation not in (HYPERNYM, HYPONYM)
            and not hierarchy.connects(entry.x, entry.y)
            # What siblings are to each other is said by what they have in common.
            and not parents[entry.x] & parents[entry.y]
            and not children[entry.x] & children[entry.y]
        ]
        """Entries of which `skos:related` says something that the hierarchy does not."""


def _distinct(entries: Iterable[LexiconEntry]) -> list[LexiconEntry]:
    best: dict[tuple[str, str, str], LexiconEntry] = {}
    for entry in entries:
        key = entry[:3]
        if key not in best or entry.certainty > best[key].certainty:
            best[key] = entry
    return list(best.values())


def _merge_synonyms(
    groups: dict[str, list[str]], entries: Sequence[LexiconEntry], same: float
) -> None:
    """Join the groups of synonyms, the most certain first.

    A chain of synonyms leads anywhere: *sound*, *healthy*; *sound*, *noise*. So two groups are
    joined only if each term of one is as certain a synonym of each term of the other (complete
    linkage), and none is above another in the hierarchy. What a person accepted is transitive,
    unless an entry says otherwise.
    """
    by_pair: defaultdict[frozenset[str], list[LexiconEntry]] = defaultdict(list)
    for entry in entries:
        by_pair[entry.pair].append(entry)
    best = likeliest(entries)
    hierarchy = Hierarchy(best)

    def are_same(x: str, y: str, *, is_transitive: bool) -> bool:
        known = by_pair.get(frozenset((x, y)), [])
        return (
            all(entry.relation == SYNONYM for entry in known)
            and (is_transitive or max((e.certainty for e in known), default=0.0) >= same)
            and not hierarchy.connects(x, y)
        )

    for entry in sorted(best, key=lambda entry: -entry.certainty):
        if entry.relation != SYNONYM or entry.certainty < same:
            continue
        first, second = groups[entry.x], groups[entry.y]
        if first is not second and all(
            are_same(x, y, is_transitive=entry.accepted) for x in first for y in second
        ):
            first += second
            groups.update(dict.fromkeys(second, first))


class Hierarchy:
    """Hypernyms and hyponyms without cycles: the least probable entry of one is left out.

    Args:
        entries: At most one of two terms.
    """

    def __init__(self, entries: Iterable[LexiconEntry]) -> None:
        self._edges: list[tuple[str, str]] = []
        self._parents: defaultdict[str, list[str]] = defaultdict(list)
        # A parent's level is above those of its children, which keeps searches short.
        self._levels: defaultdict[str, int] = defaultdict(int)
        for entry in sorted(entries, key=lambda entry: -entry.certainty):
            if entry.relation not in (HYPERNYM, HYPONYM):
                continue
            pair = (entry.x, entry.y)
            child, parent = pair if entry.relation == HYPERNYM else pair[::-1]
            if not self._is_above(child, parent):
                self._edges.append((child, parent))
                self._parents[child].append(parent)
                self._raise_above(child)

    def reduced(self) -> list[tuple[str, str]]:
        """From a term to its broader one, without what follows from others."""
        return [
            (child, parent)
            for child, parent in self._edges
            if not any(self._is_above(parent, other) for other in self._parents[child])
        ]

    def connects(self, x: str, y: str) -> bool:
        """Whether one is above the other; SKOS has no such terms related (its condition S27)."""
        return self._is_above(x, y) or self._is_above(y, x)

    def _is_above(self, upper: str, lower: str) -> bool:
        seen, open_words = {lower}, [lower]
        while open_words:
            for parent in self._parents.get(open_words.pop(), ()):
                if parent == upper:
                    return True
                if parent not in seen and self._levels[parent] < self._levels[upper]:
                    seen.add(parent)
                    open_words.append(parent)
        return False

    def _raise_above(self, word: str) -> None:
        """Put all that is above a word on higher levels than what is below it."""
        open_words = [word]
        while open_words:
            child = open_words.pop()
            for parent in self._parents.get(child, ()):
                if self._levels[parent] <= self._levels[child]:
                    self._levels[parent] = self._levels[child] + 1
                    open_words.append(parent)
