"""A model of some words alone."""

from pathlib import Path

from tests.injection.small_layer import A, B, close, make_model, random_attention

from pair2vec.injection.frozen_pair import subset_vocabulary, word_spellings
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.model.folder import load_model
from pair2vec.text.vocabulary import SPECIAL_TOKENS

WORDS = [word for sentence in [*A, *B] for word in sentence]


def test_words_are_spelled_as_a_model_spells_them() -> None:
    assert word_spellings(["Up", "up", "don't know", "", "<x>", "hot"]) == ["hot", "up"]


def test_a_model_of_the_words_at_hand_says_the_same_of_them(tmp_path: Path) -> None:
    saved = load_model(make_model(tmp_path))
    few = subset_vocabulary(saved, WORDS)
    assert len(SPECIAL_TOKENS) < len(few.vocabulary) < len(saved.vocabulary)
    found = []
    for source in (saved, few):
        layer = PairAttention(source, attention="renormalised").eval()
        a, b = layer.ids(A), layer.ids(B)
        found.append(layer(a, b, random_attention(a, b)))
    close(*found)


def test_there_may_be_no_word_that_it_knows(tmp_path: Path) -> None:
    few = subset_vocabulary(load_model(make_model(tmp_path)), ["unheard"])
    layer = PairAttention(few).eval()
    a = layer.ids([["unheard", "hot"]])
    assert not a.any()
    assert not layer(a, a, random_attention(a, a)).any()
