"""Words beyond the vocabulary: how their vectors are composed, and that queries take them."""

import logging
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from tests.model.test_subwords import plain_ngrams
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, normalise
from pair2vec.model.folder import load_model, save_model
from pair2vec.model.subwords import fit_subwords
from pair2vec.query import pair_encoder
from pair2vec.query.composition import (
    LONGEST,
    SHORTEST,
    AffixRules,
    SpellingIndex,
    WordComposer,
    phrase_weights,
)
from pair2vec.query.pair_encoder import AddedInputs
from pair2vec.query.search import Search
from pair2vec.query.space import Unknown
from pair2vec.text.vocabulary import SPECIAL_TOKENS, UnknownWordError, Vocabulary

WORDS = """cold colder coldest warm warmer warmest old older oldest fast faster fastest hot slow
slower slowest the of or and climate change weather cup""".split()
UNKNOWN = "coldes"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_tiny_model(tmp_path / "model", WORDS, hidden=6, composes=True)


@pytest.fixture
def model(folder: Path) -> Pair2vec:
    return load(folder)


def test_similar_spellings_are_those_of_a_plain_loop() -> None:
    words = [*SPECIAL_TOKENS, *WORDS]
    ids, cosines = SpellingIndex(words).nearest(UNKNOWN, 5)
    ngrams = {word: {*plain_ngrams(word, SHORTEST, LONGEST)} for word in [*WORDS, UNKNOWN]}
    owners = {n: sum(n in ngrams[word] for word in WORDS) for word in ngrams for n in ngrams[word]}

    def rarity(ngram: str) -> float:
        return float(np.log(len(words) / max(1, owners[ngram])))

    def norm(word: str) -> float:
        return float(np.sqrt(sum(rarity(n) ** 2 for n in ngrams[word])))

    expected = {
        word: sum(rarity(n) ** 2 for n in ngrams[word] & ngrams[UNKNOWN])
        / (norm(word) * norm(UNKNOWN))
        for word in WORDS
    }
    best = sorted(expected, key=lambda word: -expected[word])[:5]
    assert [words[n] for n in ids] == best
    np.testing.assert_allclose(cosines, [expected[word] for word in best], rtol=1e-4)


def affix_world() -> tuple[list[str], FloatArray]:
    """Comparatives are their adjective plus one direction, and a little noise."""
    stems = ["cold", "warm", "old", "fast", "slow", "hard", "soft"]
    random = np.random.default_rng(0)
    vectors = normalise(random.normal(size=(len(stems), 16)).astype(np.float32))
    offset = normalise(random.normal(size=16).astype(np.float32))
    words = [*SPECIAL_TOKENS, *stems, *(f"{stem}er" for stem in stems[:-1])]
    special = np.zeros((4, 16), np.float32)
    return words, np.concatenate([special, vectors, normalise(vectors[:-1] + offset)])


def test_an_affix_rule_moves_a_word_as_it_moves_others() -> None:
    words, vectors = affix_world()
    (quality, estimate), *_ = AffixRules(words, vectors.__getitem__).estimates("softer")
    stem = vectors[words.index("soft")]
    pairs = [(vectors[words.index(w[:-2])], vectors[n]) for n, w in enumerate(words) if "er" in w]
    offset = np.sum([after - before for before, after in pairs], axis=0) / (len(pairs) + 3)
    np.testing.assert_allclose(estimate, stem + offset, atol=1e-5)
    assert 0.5 < quality < 1
    assert float(normalise(estimate) @ normalise(stem + (pairs[0][1] - pairs[0][0]))) > 0.8


def test_a_rule_works_at_the_beginning_and_backwards_too() -> None:
    words, vectors = affix_world()
    rules = AffixRules(words, vectors.__getitem__)
    assert rules.estimates("softer")
    # *hard* and *soft* are known as they are: taking off an ending is a rule, too.
    base = AffixRules([w for w in words if w != "cold"], np.delete(vectors, 4, 0).__getitem__)
    assert base.estimates("cold")
    turned = [*SPECIAL_TOKENS, *(word[::-1] for word in words[4:])]
    found = AffixRules(turned, vectors.__getitem__).estimates("softer"[::-1])
    np.testing.assert_allclose(found[0][1], rules.estimates("softer")[0][1], atol=1e-6)


@pytest.mark.parametrize("text", ["123", "x", "%", "a" * 100, "ZQJKV", "климат", "hott hotter"])
def test_what_looks_like_no_known_word_is_refused(model: Pair2vec, text: str) -> None:
    with pytest.raises((UnknownWordError, ValueError)):
        model.pair(text, "cold")


def test_a_word_is_composed_said_once_and_still_not_in_the_model(
    model: Pair2vec, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        first, second = model.pair(UNKNOWN.title(), "cold"), model.pair(UNKNOWN, "cold")
    np.testing.assert_array_equal(first, second)
    (said,) = (record.getMessage() for record in caplog.records)
    assert said.startswith(
        "'coldes' is not in the vocabulary: its vector is composed from its spelling; did you mean "
    )
    assert UNKNOWN not in model
    (word,) = model.composed("hot", UNKNOWN, "cold")
    assert (word.word, word.source, word.suggestions[0]) == (UNKNOWN, "spelling", "coldest")


def test_a_phrase_is_the_mean_of_its_words(model: Pair2vec) -> None:
    model.pair("Climate Change", "weather")
    assert model.composed("climate change")[0].source == "words"
    found = model.space.unit_inputs(np.array([model.space.look_up("climate change")]))[0]
    ids = np.array([model.vocabulary.ids[word] for word in ("climate", "change")])
    weights = phrase_weights(ids, model.vocabulary)
    np.testing.assert_allclose(found, normalise(weights @ model.unit_words[ids]), atol=1e-6)


def test_usual_words_count_less_in_a_phrase() -> None:
    vocabulary = Vocabulary([("the", 1_000_000), ("cup", 100)])
    usual, rare = phrase_weights(np.array([4, 5]), vocabulary)
    assert usual < 0.01
    assert rare > 0.9


def test_a_model_without_ngrams_refuses_as_before(tmp_path: Path) -> None:
    old = load(save_tiny_model(tmp_path / "old", WORDS))
    for query in (old.pair, lambda x, y: old.pairs([(x, y)], unknown="compose")):
        with pytest.raises(UnknownWordError, match="'coldes' is not in the vocabulary; did you"):
            query(UNKNOWN, "cold")


def with_row(folder: Path, word: str, vector: FloatArray, out: Path) -> Pair2vec:
    """The model with one more word."""
    saved = load_model(folder)
    tensors = {name: saved.array(name).copy() for name in saved.names}
    tensors["pair.words"] = np.concatenate([tensors["pair.words"], vector[None]])
    counts = saved.vocabulary.counts.tolist()[4:]
    words = zip(saved.vocabulary.words[4:], counts, strict=True)
    save_model(
        out, tensors, Vocabulary([*words, (word, 1)]), saved.config, patterns=saved.patterns()
    )
    return load(out)


def test_answers_are_those_of_a_model_that_has_the_row(model: Pair2vec, tmp_path: Path) -> None:
    vector = model.space.unit_inputs(np.array([model.space.look_up(UNKNOWN)]))[0]
    other = with_row(model.saved.folder, UNKNOWN, vector, tmp_path / "other")
    # Whitening and clusters are of the whole vocabulary, which is larger by a word.
    other.space.__dict__["whitening_layer"] = model.space.whitening_layer
    for query in (
        lambda m: m.pair(UNKNOWN, "cold"),
        lambda m: m.pair("cold", UNKNOWN),
        lambda m: m.pairs([(UNKNOWN, "old"), ("old", "cup")], unknown="compose").vectors,
        lambda m: m.scores([("hot", UNKNOWN)], ["X or Y", "X of Y"], unknown="compose"),
        lambda m: m.relate_many([(UNKNOWN, "cold")], unknown="compose").probabilities,
        lambda m: [score for _, score in m.fill("X or Y", x=UNKNOWN, among=WORDS)],
        lambda m: [score for _, score in m.fill("X or Y", y=UNKNOWN, among=WORDS, prior=0.5)],
        lambda m: [score for _, score in m.fill(["X or Y", "X of Y"], x=UNKNOWN, y="cold")],
        lambda m: [s for _, s in m.analogy("cold", "warm", UNKNOWN, alpha=0, among=WORDS)],
        lambda m: [s for _, s in m.analogy(UNKNOWN, "warm", "cold", alpha=0, among=WORDS)],
        lambda m: [s for *_, s in m.nearest(UNKNOWN, "cold", among=[("old", "cup")])],
        lambda m: [s for *_, s in m.nearest(UNKNOWN, "cold", words=["old", "cup", "warm"])],
        lambda m: [s for _, s in m.relations().neighbours(UNKNOWN, "antonym", among=WORDS)],
        lambda m: [s for *_, s in m.relations().typed_neighbours(UNKNOWN, among=WORDS)],
    ):
        np.testing.assert_allclose(query(model), query(other), rtol=1e-4, atol=1e-5)
    ours, theirs = (m.relate(UNKNOWN, "cold") for m in (model, other))
    assert (ours.name, ours.others, ours.like) == (theirs.name, theirs.others, theirs.like)
    assert ([word.word for word in ours.composed], theirs.composed) == ([UNKNOWN], [])


@pytest.mark.parametrize("abx", [("cold", "warm", UNKNOWN), ("cold", UNKNOWN, "old")])
def test_analogies_with_a_composed_word_compare_pairs_by_shorter_vectors(
    model: Pair2vec, abx: tuple[str, str, str]
) -> None:
    pairs = model.space.whitened_pairs

    def both(x: str, y: str) -> FloatArray:
        vectors = pairs.inputs(np.array([model.space.look_up(x), model.space.look_up(y)]))
        first, second = (
            vector[None] * np.float32(0.6 if word in abx else 1)
            for vector, word in zip(vectors, (x, y), strict=True)
        )
        return np.concatenate(
            [normalise(pairs.compose(first, second)), normalise(pairs.compose(second, first))]
        )

    a, b, x = abx
    for y, score in model.analogy(a, b, x, alpha=1, among=["hot", "cup"]):
        assert score == pytest.approx(np.vdot(both(a, b), both(x, y)) / 2, abs=1e-5)


def test_an_analogy_with_a_composed_word_relies_less_on_pair_vectors(model: Pair2vec) -> None:
    for abx, alpha in ((("cold", "warm", UNKNOWN), 0.4), (("cold", "warm", "old"), 0.5)):
        assert model.analogy(*abx) == model.analogy(*abx, alpha=alpha)
        assert model.analogy(*abx) != model.analogy(*abx, alpha=0.45)


@pytest.mark.parametrize("search", get_args(Search))
def test_answers_are_words_of_the_vocabulary(
    model: Pair2vec, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pair2vec.query.search.SHORTLIST", 5)
    model.pair(UNKNOWN, "cold")
    found = model.analogy("cold", "colder", UNKNOWN, top=99, search=search)
    found += model.fill("X or Y", x=UNKNOWN, top=99, search=search)
    found += model.neighbours(UNKNOWN, "antonym", top=99)
    assert {match.word for match in found} <= {*WORDS}
    pairs = model.nearest(UNKNOWN, "cold", top=99)
    assert {word for match in pairs for word in match[:2]} <= {*WORDS}


def test_scores_and_lists_compose_only_where_asked(model: Pair2vec) -> None:
    model.pair(UNKNOWN, "cold")  # composed already
    for query in (
        lambda: model.score(UNKNOWN, "cold", "X or Y"),
        lambda: model.scores([(UNKNOWN, "cold")], ["X or Y"]),
        lambda: model.pairs([(UNKNOWN, "cold")]),
        lambda: model.relate_many([(UNKNOWN, "cold")]),
        lambda: model.fill("X or Y", x="cold", among=[UNKNOWN]),
        lambda: model.nearest("hot", "cold", among=[(UNKNOWN, "cold")]),
        lambda: model.relations().predict_proba([(UNKNOWN, "cold")]),
    ):
        with pytest.raises(UnknownWordError):
            query()
    assert model.score(UNKNOWN, "cold", "X or Y", unknown="compose")
    known = model.pairs([(UNKNOWN, "cold"), ("hot", "cold")], unknown="skip").known
    assert known.tolist() == [False, True]
    policies: tuple[Unknown, ...] = ("compose", "zero")
    for unknown in policies:
        with pytest.raises(ValueError, match="answers are pairs of known words"):
            model.nearest("hot", "cold", among=[("a", "b")], unknown=unknown)


def test_a_model_of_differences_composes_words_of_the_usual_norm(tmp_path: Path) -> None:
    config = {"recipe": {"name": "t", "pair": {"composition": "difference", "layers": 2}}}
    model = load(save_tiny_model(tmp_path / "model", WORDS, config=config, composes=True))
    inputs = model.space.pairs.inputs(np.array([model.space.look_up(UNKNOWN), 4, 5]))
    norms = np.linalg.norm(model.space.pairs.inputs(np.arange(len(model.vocabulary))), axis=1)
    np.testing.assert_allclose(np.linalg.norm(inputs[0]), norms.mean(), rtol=1e-5)
    np.testing.assert_array_equal(inputs[1:], model.space.pairs.all_inputs[4:6])


def test_added_rows_keep_their_ids_and_the_oldest_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pair_encoder, "MOST_ADDED", 40)
    table = AddedInputs(100, 3)
    for number in range(100):
        assert table.add(np.full(3, number, np.float32)) == 100 + number
        held = np.arange(table.first, 101 + number)
        assert len(held) <= 40
        np.testing.assert_array_equal(table[held][:, 0], held - 100)


def test_a_word_whose_row_was_forgotten_is_composed_again(
    model: Pair2vec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_encoder, "MOST_ADDED", 2)
    before = model.pair(UNKNOWN, "cold")
    for other in ("warmes", "oldes", "fastes", "slowes"):
        model.pair(other, "cold")
    assert model.space.pairs.added.first > len(model.vocabulary)
    np.testing.assert_allclose(model.pair(UNKNOWN, "cold"), before, atol=1e-6)


def test_vectors_that_are_given_are_one_more_estimate() -> None:
    vocabulary = Vocabulary((word, 1) for word in WORDS)
    random = np.random.default_rng(0)
    vectors = normalise(random.normal(size=(len(vocabulary), 8)).astype(np.float32))
    table = fit_subwords(vocabulary, vectors)
    own = np.eye(8, dtype=np.float32)[0]
    given = {"coldes": own, "qjzxv": own, "some phrase": own}.get
    spelled, carried, both = (
        WordComposer(vocabulary, vectors.__getitem__, *arguments)
        for arguments in ((table, None), (None, given), (table, given))
    )
    cosines = []
    for composer, source in ((spelled, "spelling"), (carried, "vectors"), (both, "vectors")):
        found = composer(["coldes"])
        assert found is not None
        assert found.word.source == source
        cosines.append(float(found.vector @ own))
    assert cosines[0] < cosines[2] < cosines[1] == 1
    for tokens in (["qjzxv"], ["some", "phrase"]):
        alone = both(tokens)
        assert alone is not None
        np.testing.assert_array_equal(alone.vector, own)
        assert spelled(tokens) is None
    assert carried(["colds"]) is None
