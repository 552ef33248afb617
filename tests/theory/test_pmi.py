"""The measures against their closed forms."""

from collections.abc import Callable
from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.errors import UsageError
from pair2vec.theory.pmi import Counts, Score, mvpmi, pmi, si1, si2, si3, si4

MEASURES: list[Callable[[Counts], Score]] = [pmi, mvpmi, si1, si2, si3, si4]
INDEPENDENT = Counts(xyc=1, xy=6, xc=5, yc=10, x=30, y=60, c=50, total=300)
"""P(x) = 1/10, P(y) = 1/5, P(c) = 1/6, and every joint probability is their product."""


@st.composite
def seen_counts(draw: st.DrawFn) -> Counts:
    """Counts that a corpus can have, with every part at least once: a 2 x 2 x 2 table's."""
    table = np.array(draw(st.lists(st.integers(0, 9999), min_size=8, max_size=8))).reshape(2, 2, 2)
    table[0, 0, 0] += 1
    parts = [(0, 0, 0), (0, 0), (0, slice(None), 0), (slice(None), 0, 0)]
    parts += [(0,), (slice(None), 0), (slice(None), slice(None), 0), ()]
    return Counts(*(int(table[part].sum()) for part in parts))


def test_independent_x_y_and_c_score_zero() -> None:
    for measure in (pmi, si1, si2, si3, si4):
        assert measure(INDEPENDENT) == pytest.approx(0, abs=1e-12)


def test_independent_x_y_and_c_have_an_mvpmi_of_minus_log_of_all_negatives() -> None:
    assert mvpmi(INDEPENDENT) == pytest.approx(-log(2 + 3 + 3))
    assert mvpmi(INDEPENDENT, k_x=1, k_y=5, k_c=7) == pytest.approx(-log(13))


def test_words_and_context_that_only_occur_together_have_known_scores() -> None:
    always = Counts(xyc=10, xy=10, xc=10, yc=10, x=10, y=10, c=10, total=1000)
    assert pmi(always) == pytest.approx(log(100))
    assert mvpmi(always) == pytest.approx(log(100) - log(8))
    assert si1(always) == pytest.approx(log(100))
    assert si2(always) == pytest.approx(2 * log(100))
    assert si4(always) == pytest.approx(0, abs=1e-12)


def test_each_measure_equals_its_formula_in_the_paper() -> None:
    counts = Counts(xyc=2, xy=3, xc=5, yc=7, x=11, y=13, c=17, total=19)
    p = Counts(*(count / 19 for count in counts))  # type: ignore[arg-type]
    assert pmi(counts) == pytest.approx(log(p.xyc / (p.xy * p.c)))
    assert mvpmi(counts, 2, 3, 5) == pytest.approx(
        log(p.xyc / (5 * p.c * p.xy + 2 * p.x * p.yc + 3 * p.y * p.xc))
    )
    assert si1(counts) == pytest.approx(log(p.xy * p.xc * p.yc / (p.x * p.y * p.c * p.xyc)))
    assert si2(counts) == pytest.approx(log(p.xyc / (p.x * p.y * p.c)))
    assert si3(counts) == pmi(counts)
    assert si4(counts) == pytest.approx(log(p.xyc * p.c / (p.xc * p.yc)))


@given(seen_counts(), st.integers(1, 20))
def test_without_negative_words_mvpmi_is_pmi_less_log_k(counts: Counts, k: int) -> None:
    assert mvpmi(counts, k_x=0, k_y=0, k_c=k) == pytest.approx(pmi(counts) - log(k), abs=1e-9)
    assert pmi(counts, k_c=k) == pytest.approx(pmi(counts) - log(k), abs=1e-9)


@given(seen_counts())
def test_x_and_y_play_the_same_role(counts: Counts) -> None:
    swapped = counts._replace(x=counts.y, y=counts.x, xc=counts.yc, yc=counts.xc)
    for measure in (pmi, si1, si2, si4):
        assert measure(swapped) == pytest.approx(measure(counts), abs=1e-9)
    assert mvpmi(swapped, 1, 4, 2) == pytest.approx(mvpmi(counts, 4, 1, 2), abs=1e-9)


@given(seen_counts())
def test_specific_correlation_is_the_pmi_of_the_pair_with_its_context_and_of_its_words(
    counts: Counts,
) -> None:
    words = np.log(np.asarray(counts.xy) * counts.total / np.asarray(counts.x) / counts.y)
    assert si2(counts) == pytest.approx(pmi(counts) + words, abs=1e-9)
    assert si1(counts) == pytest.approx(words - si4(counts), abs=1e-9)


@given(st.lists(seen_counts(), min_size=1, max_size=5))
def test_arrays_are_scored_entry_by_entry(many: list[Counts]) -> None:
    arrays = Counts(*(np.array(part) for part in zip(*many, strict=True)))
    for measure in MEASURES:
        expected = [float(measure(counts)) for counts in many]
        assert np.asarray(measure(arrays)).tolist() == expected


@pytest.mark.parametrize(
    "counts",
    [
        Counts(xyc=0, xy=6, xc=5, yc=10, x=30, y=60, c=50, total=300),
        Counts(xyc=0, xy=0, xc=5, yc=10, x=30, y=60, c=50, total=300),
        Counts(xyc=0, xy=0, xc=0, yc=0, x=0, y=0, c=0, total=300),
        Counts(xyc=0, xy=0, xc=0, yc=0, x=0, y=0, c=0, total=0),
    ],
)
def test_a_triple_that_never_occurs_scores_minus_infinity(counts: Counts) -> None:
    for measure in MEASURES:
        assert measure(counts) == (inf if measure is si1 else -inf)


def test_a_single_score_is_a_number() -> None:
    assert all(isinstance(measure(INDEPENDENT), float) for measure in MEASURES)


@pytest.mark.parametrize("negatives", [(0, 0, 0), (-1, 3, 3), (3, 3, -2)])
def test_negatives_must_be_some_and_not_negative(negatives: tuple[int, int, int]) -> None:
    with pytest.raises(UsageError, match="none may be negative"):
        mvpmi(INDEPENDENT, *negatives)
