"""Pairs in a plane: true to their offsets, and the same whatever is asked beside them."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.errors import UsageError
from pair2vec.query.plane import MOST_ARROWS, PairArrow

PAIRS = [("hot", "cold"), ("up", "down"), ("cheap", "dear"), ("france", "paris")]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    folder: Path = tmp_path_factory.mktemp("model") / "tiny"
    return load(save_tiny_model(folder))


def offset(model: Pair2vec, x: str, y: str) -> NDArray[np.float64]:
    first, second = model.unit_words[[model.vocabulary.ids[word] for word in (x, y)]].astype(float)
    return np.subtract(second, first)  # type: ignore[no-any-return]


def direction(arrow: PairArrow) -> NDArray[np.float64]:
    return np.subtract(arrow.end, arrow.start)


def test_two_pairs_have_their_lengths_and_angle(model: Pair2vec) -> None:
    plane = model.plane(PAIRS[:2])
    one, other = map(direction, plane.arrows)
    first, second = (offset(model, *pair) for pair in PAIRS[:2])
    found = [one @ one, other @ other, one @ other]
    assert found == pytest.approx([first @ first, second @ second, first @ second], abs=1e-6)
    assert sum(plane.shares) == pytest.approx(1)
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert plane.arrows[0].offset_cosine == pytest.approx(cosine, abs=1e-6)


def test_all_pairs_have_the_same_mean_along_the_first_axis_and_none_along_the_second(
    model: Pair2vec,
) -> None:
    plane = model.plane(PAIRS)
    mean = np.mean([offset(model, *pair) for pair in PAIRS], axis=0)
    along, beside = np.mean([direction(arrow) for arrow in plane.arrows], axis=0)
    assert (along, beside) == pytest.approx((np.linalg.norm(mean), 0), abs=1e-6)


def test_no_other_plane_through_the_mean_shows_more_of_the_offsets(model: Pair2vec) -> None:
    plane = model.plane(PAIRS)
    offsets = np.array([offset(model, *pair) for pair in PAIRS])
    mean = offsets.mean(axis=0) / np.linalg.norm(offsets.mean(axis=0))
    rest = offsets - np.outer(offsets @ mean, mean)
    most = np.linalg.svd(rest)[1][0] ** 2 / np.square(offsets).sum()
    shown = np.square([direction(arrow) for arrow in plane.arrows]).sum(axis=0)
    assert plane.shares == pytest.approx(shown / np.square(offsets).sum(), abs=1e-6)
    assert plane.shares[1] == pytest.approx(most, abs=1e-6)
    assert sum(plane.shares) < 1


def test_the_middle_of_all_words_is_the_origin(model: Pair2vec) -> None:
    places = [place for arrow in model.plane(PAIRS).arrows for place in (arrow.start, arrow.end)]
    assert np.mean(places, axis=0) == pytest.approx((0, 0), abs=1e-6)


def test_cosines_are_means_with_the_other_pairs(model: Pair2vec) -> None:
    arrows = model.plane(PAIRS).arrows
    for weight, name in ((1, "pair_cosine"), (0, "offset_cosine")):
        for arrow in arrows:
            others = [pair for pair in PAIRS if pair != (arrow.x, arrow.y)]
            nearest = model.nearest(arrow.x, arrow.y, among=others, alpha=weight)
            mean = np.mean([match.score for match in nearest])
            assert getattr(arrow, name) == pytest.approx(mean, abs=1e-6)


def test_a_pair_given_twice_lies_on_one_line_and_its_inverse_on_the_other(model: Pair2vec) -> None:
    twice = model.plane([("hot", "cold"), ("hot", "cold")])
    assert twice.shares == pytest.approx((1, 0))
    assert twice.arrows[0].pair_cosine == pytest.approx(1)
    assert [place[1] for arrow in twice.arrows for place in (arrow.start, arrow.end)] == [0] * 4
    inverse = model.plane([("hot", "cold"), ("cold", "hot")])
    assert inverse.shares == pytest.approx((0, 1))
    assert inverse.arrows[0].end[1] > 0 > inverse.arrows[1].end[1]


def test_words_that_do_not_differ_are_no_error(model: Pair2vec) -> None:
    plane = model.plane([("hot", "hot"), ("hot", "hot")])
    assert plane.shares == (0, 0)
    assert plane.arrows[0].start == (0, 0)


@pytest.mark.parametrize("count", [0, 1, MOST_ARROWS + 1])
def test_it_shows_two_to_eight_pairs(model: Pair2vec, count: int) -> None:
    with pytest.raises(UsageError, match=f"a plane shows 2 to 8 pairs; {count} are given"):
        model.plane([("hot", "cold")] * count)
