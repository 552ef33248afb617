"""A reviewed lexicon: marks are read, applied in both directions, and learned from."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pair2vec.errors import InputError
from pair2vec.lexicon.review import (
    INTERCEPT_PRECISION,
    SLOPE_PRECISION,
    Judgement,
    Review,
    fit_correction,
    read_review,
)

HEADER = "x\trelation\ty\tprobability\tevidence_1\tevidence_2\tevidence_3\taccept\treject\n"
NAMES = ("antonym", "hypernym", "hyponym")
INVERSES = {"antonym": "antonym", "hypernym": "hyponym", "hyponym": "hypernym"}


def review_of(judgements: list[Judgement], probability: float = 0.7) -> Review:
    return Review(
        judgements, NAMES, INVERSES.__getitem__, lambda n: np.full(len(n), probability, np.float32)
    )


def written(folder: Path, *lines: str) -> Path:
    path = folder / "lexicon.tsv"
    path.write_text(HEADER + "".join(f"{line}\n" for line in lines))
    return path


def test_marked_entries_are_read_and_others_are_not(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        'hot\tantonym\tcold\t0.9\ta "quoted\t\t\tx\t',
        "hot\tantonym\tfood\t0.8\t\t\t\t\tno",
        "hot\tantonym\twarm\t0.7\t\t\t\t\t",
        "warm\tantonym\tcool\t0.7\t\t\t",
        "",
    )
    assert read_review(path) == [
        Judgement("hot", "antonym", "cold", accepted=True),
        Judgement("hot", "antonym", "food", accepted=False),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "lexicon.tsv: has no column 'x'"),
        ("x\trelation\ty\n", "lexicon.tsv: has no column 'accept'"),
        (f"{HEADER}hot\tantonym\n", "lexicon.tsv, line 2: 2 of 9 columns"),
        (f"{HEADER}a\tb\tc\t1\t\t\t\tx\tx\n", "line 2: a b c is both accepted and rejected"),
        (
            f"{HEADER}a\tb\tc\t1\t\t\t\tx\t\na\tb\tc\t1\t\t\t\t\tx\n",
            "line 3: a b c is both accepted and rejected",
        ),
    ],
)
def test_what_is_no_reviewed_lexicon_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "lexicon.tsv"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_review(path)
    with pytest.raises(InputError, match="no such file"):
        read_review(tmp_path / "none.tsv")


def test_a_judgement_holds_in_both_directions() -> None:
    review = review_of(
        [
            Judgement("dog", "hypernym", "animal", accepted=True),
            Judgement("hot", "antonym", "food", accepted=False),
        ]
    )
    assert review.accepted("dog", "animal") == "hypernym"
    assert review.accepted("animal", "dog") == "hyponym"
    assert review.accepted_partners("animal") == ["dog"]
    assert review.is_rejected("food", "antonym", "hot")
    assert not review.is_rejected("food", "hypernym", "hot")
    assert review.accepted("hot", "food") is None


def test_without_judgements_probabilities_stay_as_they_are() -> None:
    probabilities = np.array([0, 0.3, 1], np.float32)
    corrected = review_of([]).corrected(probabilities, np.array([0, 1, 3]))
    np.testing.assert_array_equal(corrected, probabilities)


def test_rejections_of_a_relation_lower_its_other_entries_most() -> None:
    rejected = [Judgement(f"a{n}", "antonym", f"b{n}", accepted=False) for n in range(20)]
    accepted = [Judgement(f"a{n}", "hypernym", f"b{n}", accepted=True) for n in range(20)]
    review = review_of([*rejected, *accepted])
    p = np.full(4, 0.7, np.float32)
    antonym, hypernym, hyponym, none = review.corrected(p, np.arange(4)).tolist()
    assert antonym < 0.3 < hyponym < hypernym
    assert hypernym > 0.85
    assert none == pytest.approx(hyponym)  # Nothing was said of either.


def test_a_few_marks_of_what_the_model_got_wrong_leave_the_other_entries() -> None:
    wrong = [Judgement("a", "antonym", "b", accepted=False)]
    missed = [Judgement("c", "hypernym", "d", accepted=True)]
    names = ["antonym", "hypernym", "hyponym"]
    known = [*wrong * 2, *missed * 2]
    probabilities = np.array([0.9, 0.9, 0.2, 0.2], np.float32)
    review = Review(known, names, lambda name: "", lambda judged: probabilities)
    unmarked = review.corrected(np.array([0.85], np.float32), np.array([2]))
    assert unmarked == pytest.approx(0.85, abs=0.02)


@given(
    data=st.data(),
    count=st.integers(1, 30),
)
def test_the_correction_is_where_the_posterior_is_highest(data: st.DataObject, count: int) -> None:
    probabilities = data.draw(
        arrays.arrays(np.float32, count, elements=st.floats(0, 1, width=32)), label="p"
    )
    relations = data.draw(arrays.arrays(np.intp, count, elements=st.integers(0, 2)))
    labels = data.draw(arrays.arrays(np.float64, count, elements=st.sampled_from([0.0, 1.0])))
    slope, intercepts = fit_correction(probabilities, relations, labels, 3)
    p = np.clip(probabilities.astype(np.float64), 1e-12, 1 - 1e-12)
    logits = np.clip(np.log(p / (1 - p)), -8, 8)
    right = 1 / (1 + np.exp(-(slope * logits + intercepts[relations])))
    gradient = [((right - labels) * logits).sum() + SLOPE_PRECISION * (slope - 1)]
    gradient += [
        (right - labels)[relations == k].sum() + INTERCEPT_PRECISION * intercepts[k]
        for k in range(len(intercepts))
    ]
    np.testing.assert_allclose(gradient, 0, atol=1e-6)


def test_rounding_of_the_loss_does_not_end_the_search_early() -> None:
    """Where a step changes the loss by less than its last digit, it is a good one all the same."""
    random = np.random.default_rng(0)
    for _ in range(600):
        count = int(random.integers(1, 31))
        probabilities = random.choice([0.003, 0.99, 0.5, random.random()], count).astype(np.float32)
        labels = random.integers(0, 2, count).astype(np.float64)
        slope, _ = fit_correction(probabilities, np.zeros(count, np.intp), labels, 1)
        again, _ = fit_correction(probabilities[::-1], np.zeros(count, np.intp), labels[::-1], 1)
        assert slope == pytest.approx(again, abs=1e-10)
