"""English words that reverse a sentence by themselves: negations, and opposites of closed classes.

Their pair vectors say nothing of it: they are too frequent to be in a relation.
"""

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from pair2vec.relations.alignment import Alignment, Token
from pair2vec.relations.word_forms import base_forms

OPPOSITES = {
    frozenset(pair.split("/"))
    for pair in """before/after with/without on/off in/out up/down above/below over/under more/less
    more/fewer most/least many/few much/little all/none always/never ever/never everyone/nobody
    everybody/nobody everything/nothing everywhere/nowhere someone/nobody something/nothing some/no
    any/no every/no all/no inside/outside for/against first/last best/worst
    better/worse left/right yes/no both/neither either/neither anyone/nobody anything/nothing
    within/outside beneath/above behind/ahead near/far front/behind until/after since/until
    often/rarely often/seldom usually/rarely likely/unlikely same/different""".split()
}
"""Of the closed classes."""
LISTED = 0.95
"""The probability that two of them reverse the meaning."""
NEGATIONS = {
    **dict.fromkeys(
        "not no never without non neither nor none nobody nothing nowhere".split(), 0.95
    ),
    **dict.fromkeys("hardly scarcely rarely seldom".split(), 0.9),
    "barely": 0.5,
}
"""Words that negate, and with what probability."""
IMPLICIT_NEGATIONS = {
    **dict.fromkeys("cease avoid stop quit".split(), "ing"),
    **dict.fromkeys("fail refuse decline neglect omit forget unable".split(), "to"),
    **dict.fromkeys("lack deny forbid prohibit prevent false untrue incapable absent".split(), ""),
}
"""Words that negate what follows, unless a synonym of theirs is in the other sentence; and what has
to follow, *-ing* or *to*: *stop the car* negates nothing."""
_IMPLICIT = 0.9
_OWN_SCOPE = 0.5
"""What remains of the probability of a negation if what it negates is in one sentence alone."""
_SCOPE = 4
"""Words behind a negation among which is what it negates."""
_LEAST_RELATED = 0.3
"""What is less in a relation to the other sentence is in one sentence alone."""


def listed_opposites(alignment: Alignment) -> list[tuple[int, int]]:
    """The places of opposites of the closed classes among the words without a partner."""
    found: list[tuple[int, int]] = []
    free_b = list(alignment.rest_b)
    for i in alignment.rest_a:
        for j in free_b:
            if frozenset({alignment.a[i].word, alignment.b[j].word}) in OPPOSITES:
                found.append((i, j))
                free_b.remove(j)
                break
    return found


class Side(NamedTuple):
    """One of two sentences, and which of its words the other one lacks."""

    tokens: Sequence[Token]
    rest: Sequence[int]
    """The words without a partner."""
    used: Container[int]
    """Those that are one of two listed opposites."""
    related: dict[int, float]
    """How much each content word of them is in a relation to a word of the other sentence."""
    alike: dict[int, float]
    """How much it is a synonym of one."""

    def negations(self) -> Iterator[tuple[int, float]]:
        """The places of the words that negate, and how probably they do."""
        for n in self.rest:
            probability = negation(self.tokens, n) * (1 - self.alike.get(n, 0.0))
            if probability and self._has_own_scope(n):
                probability *= _OWN_SCOPE
            if probability and n not in self.used:
                yield n, probability

    def _has_own_scope(self, n: int) -> bool:
        """Whether the first content word behind a negation says what the other sentence lacks."""
        for place in range(n + 1, min(n + 1 + _SCOPE, len(self.tokens))):
            if self.tokens[place].is_content:
                return place in self.related and self.related[place] < _LEAST_RELATED
        return False


def negation(tokens: Sequence[Token], n: int) -> float:
    """The probability that a word negates what follows it."""
    word = tokens[n].word
    following = tokens[n + 1].word if n + 1 < len(tokens) else ""
    if word in NEGATIONS:
        before = [token.word for token in tokens[max(0, n - 2) : n]]
        is_no_negation = (word, following) in {("not", "only"), ("no", "doubt")} or (
            before[-1:] == ["or"] or before == ["or", "why"]
        )
        has_neither = word == "nor" and any(token.word == "neither" for token in tokens[:n])
        return 0.0 if is_no_negation or has_neither else NEGATIONS[word]
    if (word, following) == ("yet", "to"):
        return _IMPLICIT
    for base in base_forms(word) & IMPLICIT_NEGATIONS.keys():
        if following.endswith(IMPLICIT_NEGATIONS[base]):
            return _IMPLICIT
    return 0.0
