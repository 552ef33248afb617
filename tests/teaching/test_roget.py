"""Roget's thesaurus: its text, the places of words, and what they say of a pair."""

from pathlib import Path

import numpy as np
import pytest
import torch

from pair2vec.errors import InputError
from pair2vec.teaching.roget import Place, Places, find_places, read_roget

TEXT = """<html><body>
(1) a list of 66. things -- not a head
66. Beginning -- N. beginning, commencement, alpha; dawn &amp;c (morning)
125; le premier pas, embarcation [Fr.], van &amp;c n.
     cradle.
V. begin, start &amp;c (cause) 153, take its rise;
launch.

67. End -- N. {ant. 66} end, (a note) finish.
V. end, close;  stop.
Phr. all's well that ends well.


SECTION II. OF TIME

    68. Middle -- N. middle, start.
70. [Absence of order.] Disorder -- N. disorder.
70a. Visible -- Adj. visible; seen.
71. Invisible -- Adj. invisible, unseen.
"""
WORDS = (
    "beginning commencement alpha dawn embarcation van cradle begin start launch end finish close "
    "stop middle disorder visible seen invisible unseen"
).split()
NOUN, VERB, ADJECTIVE = range(3)


@pytest.fixture(scope="module")
def roget(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("roget") / "roget.txt"
    path.write_text(TEXT)
    return path


def number(word: str) -> int:
    return WORDS.index(word) if word in WORDS else -1


@pytest.fixture(scope="module")
def places(roget: Path) -> Places:
    pairs = [("visible", "invisible"), ("seen", "unseen"), ("beginning", "launch")]
    opposites = [(number(x), number(y)) for x, y in pairs]
    return find_places(roget, number, len(WORDS) + 1, opposites)


def test_words_stand_under_heads_by_part_of_speech_and_group(roget: Path) -> None:
    found = list(read_roget(roget))
    of_head = {
        (place.head, place.pos): [word for word, other in found if other[:2] == place[:2]]
        for _, place in found
    }
    assert of_head == {
        (6600, NOUN): ["beginning", "commencement", "alpha", "dawn", "van", "cradle"],
        (6600, VERB): ["begin", "start", "launch"],
        (6700, NOUN): ["end", "finish"],
        (6700, VERB): ["end", "close", "stop"],
        (6800, NOUN): ["middle", "start"],
        (7000, NOUN): ["disorder"],
        (7001, ADJECTIVE): ["visible", "seen"],
        (7100, ADJECTIVE): ["invisible", "unseen"],
    }
    by_word: dict[str, Place] = dict(found[:6])
    assert by_word["beginning"].group == by_word["alpha"].group != by_word["dawn"].group
    assert by_word["beginning"].paragraph == by_word["dawn"].paragraph
    assert by_word["dawn"].paragraph != by_word["cradle"].paragraph
    # Groups of references and foreign phrases alone count, too.
    assert [by_word[word].order for word in ("beginning", "dawn", "cradle")] == [0, 1, 3]


def test_a_text_without_heads_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text("1. a list, of things\n")
    with pytest.raises(InputError, match=r"other\.txt: no heads of Roget's thesaurus"):
        list(read_roget(path))


def test_successive_heads_are_opposed_the_more_the_more_affixes_tell_their_words_apart(
    places: Places,
) -> None:
    # Heads 66, 67, 68, 70, 70a and 71; those of a number and of the next are successive.
    assert places.opposition.tolist() == [
        [-1, 0, -1, -1],
        [-1, 0, -1, -1],
        [-1, -1, -1, -1],
        [-1, 0, 0, -1],
        [-1, 2, -1, -1],
        [-1, -1, -1, -1],
    ]


def test_pairs_are_of_one_group_or_of_opposed_heads_and_one_part_of_speech(places: Places) -> None:
    pairs = {frozenset((WORDS[a], WORDS[b])) for a, b in places.pairs().T.tolist()}
    assert {"beginning", "alpha"} in pairs
    assert {"begin", "close"} in pairs
    assert {"seen", "invisible"} in pairs
    assert {"beginning", "dawn"} not in pairs
    assert {"begin", "finish"} not in pairs
    assert {"beginning", "middle"} not in pairs


def test_features_tell_neighbours_from_opposites(places: Places) -> None:
    features = places.features(torch.arange(len(WORDS) + 1))

    def of_pair(x: str, y: str) -> list[float]:
        swapped, own = (
            features(torch.tensor([number(a)]), torch.tensor([number(b)]))[0].tolist()
            for a, b in ((y, x), (x, y))
        )
        # The last two are those of each word.
        assert own[:-2] == pytest.approx(swapped[:-2])
        assert np.isfinite(own).all()
        return own

    group, paragraph, head_pos, head, opposed, opposed_pos, strength = range(7)
    alike = of_pair("begin", "start")
    assert alike[group] == alike[paragraph] == alike[head_pos] == alike[head] == 1
    assert alike[opposed_pos] == 0
    cradle = of_pair("beginning", "cradle")
    assert (cradle[paragraph], cradle[head_pos]) == (0, 1)
    unlike = of_pair("begin", "stop")
    assert unlike[head] == 0
    assert unlike[opposed] == unlike[opposed_pos] == 1
    assert of_pair("begin", "finish")[opposed_pos] == 0
    assert of_pair("visible", "unseen")[strength] > of_pair("begin", "stop")[strength] > 0
    # Between heads that are not successive, and of a word that has no place.
    assert not any(of_pair("alpha", "middle")[:-2])
    assert not any(of_pair("alpha", "nothing")[:-2])


def test_the_first_groups_count_most(places: Places) -> None:
    features = places.features(torch.arange(len(WORDS) + 1))
    first, later = (
        features(torch.tensor([number("begin")]), torch.tensor([number(word)]))[0]
        for word in ("close", "stop")
    )
    core = 8
    assert first[core] == 1
    assert later[core] == 0.5
