from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import PrepareConfig, prepare
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS
from pair2vec.word_vectors import skipgram
from pair2vec.word_vectors.fasttext import train_fasttext
from pair2vec.word_vectors.fasttext_format import FasttextModel, word_buckets
from pair2vec.word_vectors.sampler import WordSampler
from pair2vec.word_vectors.skipgram import (
    CENTRES_A_GROUP,
    SkipGram,
    SkipGramPairs,
    SubwordRows,
    draw_pairs,
    keep_probability,
    ngram_buckets,
    skipgram_loss,
    subsampled,
    train_skipgram,
)

FIRST = len(SPECIAL_TOKENS)
CPU = torch.device("cpu")

# Each group has its own company; no name shares an n-gram with another of its group.
CITIES, FOODS = ["oslo", "lima", "rome", "cairo"], ["bread", "olives", "jam", "figs"]
OF_CITIES = ["mayor", "visited", "streets", "airport", "tram", "capital"]
OF_FOODS = ["baked", "tasty", "eaten", "dish", "spoon", "kitchen"]

SMALL: dict[str, Any] = {"dimension": 20, "epochs": 3, "window": 3, "seed": 3, "device": CPU}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Two threads on a busy machine mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skipgram, "_LEAST_STEPS", 100)


def company(names: list[str], others: list[str], generator: np.random.Generator) -> str:
    words = [*generator.choice(others, 3), generator.choice(names), *generator.choice(others, 3)]
    return " ".join(words)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("skipgram")
    generator = np.random.default_rng(0)
    groups = [(CITIES, OF_CITIES), (FOODS, OF_FOODS)] * 4000
    lines = [company(names, others, generator) for names, others in groups]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    return prepare([str(folder / "text.txt")], folder / "corpus", PrepareConfig(min_count=1))


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator(CPU).manual_seed(seed)


def closeness(corpus: Corpus, vectors: NDArray[np.float32], pairs: list[tuple[str, str]]) -> float:
    rows = np.array([[corpus.vocabulary.ids[word.lower()] for word in pair] for pair in pairs])
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return float(np.sum(units[rows[:, 0]] * units[rows[:, 1]], axis=1).mean())


@pytest.mark.parametrize(("min_n", "max_n"), [(3, 6), (1, 2), (2, 3), (3, 0)])
def test_ngrams_are_in_the_buckets_where_fasttext_has_them(min_n: int, max_n: int) -> None:
    words = ["a", "of", "naïve", "straße", "東京都", "𝛼𝛽", "antidisestablishmentarianism"]
    owners, buckets = ngram_buckets(words, min_n, max_n, 1009)
    model = FasttextModel(dimension=1, words=0, buckets=1009, shortest=min_n, longest=max_n)
    for number, word in enumerate(words):
        expected = sorted(word_buckets(word.encode(), model))
        assert sorted(buckets[owners == number].tolist()) == expected


def test_a_word_is_the_mean_of_its_own_row_and_those_of_its_ngrams() -> None:
    words = ["cat", "scatter", "of"]
    parts = SubwordRows.of(words, 3, 4, 50, CPU)
    model = SkipGram(parts, 8, generator())
    owners, buckets = ngram_buckets(words, 3, 4, 50)
    vectors = model.word_vectors()
    table = model.inputs.values.numpy()
    assert not vectors[:FIRST].any()
    for number in range(len(words)):
        of_ngrams = table[FIRST + len(words) + buckets[owners == number]]
        expected = np.mean([table[FIRST + number], *of_ngrams], axis=0)
        np.testing.assert_allclose(vectors[FIRST + number], expected, atol=1e-6)


def test_parts_of_some_words_come_in_their_order() -> None:
    parts = SubwordRows.of(["cat", "scatter", "of"], 3, 4, 50, CPU)
    ids = torch.tensor([5, BOUNDARY, 4, 5])
    table = torch.randn(parts.row_count, 8, generator=generator())
    torch.testing.assert_close(parts.of_words(ids).means(table), parts.means(table)[ids])


def plain_pairs(ids: list[int], window: int) -> set[tuple[int, int]]:
    """All that two places within a window and a sentence can be."""
    places = product(range(len(ids)), repeat=2)
    return {
        (ids[one], ids[other])
        for one, other in places
        if one != other
        and abs(one - other) <= window
        and min(ids[min(one, other) : max(one, other) + 1]) >= FIRST
    }


def test_pairs_drawn_are_those_within_a_window_and_a_sentence() -> None:
    # No word comes twice, so that a word tells its place.
    lengths = [1, 2, 0, 9, 3, 14]
    words = iter(range(FIRST, FIRST + sum(lengths)))
    ids = [BOUNDARY]
    for length in lengths:
        ids += [*(next(words) for _ in range(length)), BOUNDARY]
    pairs = draw_pairs(torch.tensor(ids, dtype=torch.int32), 20_000, 4, generator())
    drawn, _ = torch.nonzero(pairs.valid, as_tuple=True)
    centres = pairs.centres[drawn].tolist()
    assert {*zip(centres, pairs.contexts[pairs.valid].tolist(), strict=True)} == plain_pairs(ids, 4)


@pytest.mark.parametrize("special", range(FIRST))
def test_no_pair_has_a_special_token(special: int) -> None:
    ids = torch.tensor([BOUNDARY, 4, special, 5, 6, BOUNDARY], dtype=torch.int32)
    pairs = draw_pairs(ids, 500, 3, generator())
    assert pairs.contexts[pairs.valid].min() >= FIRST
    assert pairs.centres[pairs.valid.any(1)].min() >= FIRST


def test_a_centre_has_as_many_contexts_as_window_plus_one_on_average() -> None:
    ids = torch.full((10_000,), 7, dtype=torch.int32)
    pairs = draw_pairs(ids, 50_000, 5, generator())
    assert pairs.valid.sum(1).float().mean() == pytest.approx(6, abs=0.05)


def test_frequent_words_are_left_out_by_the_root_of_their_share() -> None:
    counts = np.array([0, 0, 0, 0, 90_000, 9_999, 1])
    keep = torch.from_numpy(keep_probability(counts))
    ids = torch.from_numpy(np.repeat([BOUNDARY, 4, 5, 6], [1000, 90_000, 9_999, 1]))
    kept = subsampled(ids, keep, generator()).bincount(minlength=7).tolist()
    assert (kept[BOUNDARY], kept[6]) == (1000, 1)
    assert kept[4] == pytest.approx(90_000 * np.sqrt(1e-4 / 0.9), rel=0.1)
    assert kept[5] == pytest.approx(9_999 * np.sqrt(1e-4 / 0.09999), rel=0.2)


def test_the_loss_is_the_plain_sum_over_pairs_and_random_words() -> None:
    centres, window, negative, drawn = 2 * CENTRES_A_GROUP, 2, 3, 6
    table = torch.randn(9, 5, generator=generator(), dtype=torch.float64)
    contexts = torch.randint(4, 9, (centres, 2 * window), generator=generator(1))
    valid = torch.rand(contexts.shape, generator=generator(2)) < 0.6
    negatives = torch.randint(4, 9, (2, drawn), generator=generator(3))
    vectors = torch.randn(centres, 5, generator=generator(4), dtype=torch.float64)
    pairs = SkipGramPairs(torch.zeros(centres), contexts, valid)

    expected = 0.0
    for centre, place in valid.nonzero().tolist():
        context = contexts[centre, place]
        scores = table @ vectors[centre]
        others = [n for n in negatives[centre // CENTRES_A_GROUP] if n != context]
        expected += torch.log1p(torch.exp(-scores[context])).item()
        expected += negative / drawn * sum(torch.log1p(torch.exp(scores[n])).item() for n in others)

    outputs = table[torch.cat([contexts.flatten(), negatives.flatten()])]
    loss = skipgram_loss(vectors, outputs, pairs, negatives, negative)
    assert loss.item() == pytest.approx(expected)


def test_gradients_of_the_same_row_make_one_step_of_adagrad() -> None:
    table = skipgram._Table(torch.zeros(4, 2))
    rows = torch.tensor([2, 0, 2])
    table.update(rows, torch.tensor([[1.0, 0], [0, 2], [2, 4]]), rate=0.5)
    summed = np.array([[0, 2], [0, 0], [3, 4], [0, 0]])
    history = np.array([2, 1, 5, 1])[:, None]
    np.testing.assert_allclose(table.values, -0.5 * summed / history)
    table.update(rows[:1], torch.tensor([[12.0, 0]]), rate=0.5)
    np.testing.assert_allclose(table.values[2], [-0.3 - 0.5 * 12 / 13, -0.4])


def test_the_loss_falls_from_that_of_an_undecided_model(corpus: Corpus) -> None:
    words, negative = corpus.vocabulary.words[FIRST:], 5
    random = generator()
    model = SkipGram(SubwordRows.of(words, 3, 6, 200, CPU), 20, random)
    sampler = WordSampler.smoothed(corpus.vocabulary.counts, 0.75, CPU)
    ids = torch.from_numpy(corpus.tokens.astype(np.int32))
    losses = []
    for _ in range(60):
        pairs = draw_pairs(ids, 256, 3, random)
        negatives = sampler.draw((256 // CENTRES_A_GROUP, 20), random)
        losses.append(model.step(pairs, negatives, negative, rate=1.0).item())
    # A random word that is the context does not count: of so few words, one in twenty does not.
    assert losses[0] == pytest.approx((1 + negative * 19 / 20) * np.log(2), rel=0.02)
    assert np.mean(losses[-10:]) < 0.8 * losses[0]


@pytest.fixture(scope="module")
def vectors(corpus: Corpus) -> NDArray[np.float32]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skipgram, "_LEAST_STEPS", 100)
        return train_skipgram(corpus, **SMALL)


def test_words_of_the_same_company_are_closer_than_others(
    corpus: Corpus, vectors: NDArray[np.float32]
) -> None:
    apart = closeness(corpus, vectors, list(product(CITIES, FOODS)))
    assert closeness(corpus, vectors, list(combinations(CITIES, 2))) > apart + 0.3
    assert closeness(corpus, vectors, list(combinations(FOODS, 2))) > apart + 0.3


def test_every_word_has_a_row_at_its_id_and_special_tokens_a_zero_one(
    corpus: Corpus, vectors: NDArray[np.float32]
) -> None:
    assert vectors.shape == (len(corpus.vocabulary), 20)
    assert vectors.dtype == np.float32
    is_zero = ~vectors.any(axis=1)
    assert np.flatnonzero(is_zero).tolist() == list(range(FIRST))


def test_the_same_seed_gives_the_same_vectors(corpus: Corpus) -> None:
    few = {**SMALL, "epochs": 1}
    first = train_skipgram(corpus, **few)
    np.testing.assert_array_equal(first, train_skipgram(corpus, **few))
    assert not np.array_equal(first, train_skipgram(corpus, **{**few, "seed": 4}))


def test_each_epoch_is_reported(corpus: Corpus) -> None:
    reports: list[tuple[int, int]] = []
    few = {**SMALL, "max_n": 0}
    train_skipgram(corpus, report=lambda done, total: reports.append((done, total)), **few)
    assert reports == [(1, 3), (2, 3), (3, 3)]


def test_a_corpus_in_pieces_gives_the_same_ids(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skipgram, "_IDS_AT_ONCE", 999)
    np.testing.assert_array_equal(skipgram._ids_on(corpus, CPU), corpus.tokens)


@pytest.mark.parametrize(
    ("ids", "expected"), [(10**9, 2720), (10**6, 992), (20_000, 128), (50, 32)]
)
def test_a_small_corpus_is_taken_in_smaller_batches(ids: int, expected: int) -> None:
    assert skipgram._centres_a_step(16384, 5, ids) == expected


@pytest.mark.parametrize("name", ["dimension", "epochs", "window", "negative", "batch"])
def test_a_setting_below_one_is_refused(corpus: Corpus, name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is 0; it must be 1 or more"):
        train_skipgram(corpus, **{**SMALL, name: 0})


def test_towns_of_a_region_are_close_and_more_so_than_gensim_finds_them(tmp_path: Path) -> None:
    world = MiniWorld.create(0)
    (tmp_path / "text.txt").write_text(world.text(20_000))
    made = prepare([str(tmp_path / "text.txt")], tmp_path / "corpus", PrepareConfig(min_count=1))
    region_of = {fact.x: fact.y for fact in world.facts_of("located_in")}
    towns = list(combinations(region_of, 2))
    same = [(x, y) for x, y in towns if region_of[x] == region_of[y]]
    elsewhere = [(x, y) for x, y in towns if region_of[x] != region_of[y]]
    words = np.random.default_rng(0).choice(made.vocabulary.words[FIRST:], (2000, 2))
    random = [(x, y) for x, y in words.tolist() if x != y]

    ours = train_skipgram(made, dimension=32, epochs=2, device=CPU)
    assert closeness(made, ours, same) > closeness(made, ours, random) + 0.3
    # Both see by their endings that they are towns; which region takes gensim more epochs.
    gensims = train_fasttext(made, dimension=32, epochs=5, workers=1, seed=0)
    gain = closeness(made, gensims, same) - closeness(made, gensims, elsewhere)
    assert closeness(made, ours, same) > closeness(made, ours, elsewhere) + max(0.03, gain)
