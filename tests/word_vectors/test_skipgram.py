"""Skip-gram in large batches: its parts against plain versions, its vectors against gensim's."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.word_vectors.two_topics import CITIES, FOODS, mean_cosine

from pair2vec.errors import UsageError
from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import PrepareConfig, prepare
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS
from pair2vec.word_vectors import skipgram
from pair2vec.word_vectors.fasttext import FasttextConfig, VectorsProgress, train_fasttext
from pair2vec.word_vectors.fasttext_format import FasttextModel, word_buckets
from pair2vec.word_vectors.sampler import WordSampler
from pair2vec.word_vectors.skipgram import (
    CENTRES_PER_GROUP,
    SkipGram,
    SkipGramPairs,
    SubwordRows,
    draw_pairs,
    keep_probability,
    ngram_buckets,
    skipgram_loss,
    subsample,
    train_skipgram,
)

FIRST = len(SPECIAL_TOKENS)
CPU = torch.device("cpu")

SMALL = FasttextConfig(dimension=20, epochs=3, window=3, seed=3)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Two threads on a busy machine mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skipgram, "_MIN_STEPS", 100)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator(CPU).manual_seed(seed)


def test_a_word_that_never_occurs_has_a_vector_of_its_ngrams(
    corpus_with_unseen_word: Corpus,
) -> None:
    corpus = corpus_with_unseen_word
    assert corpus.vocabulary.counts[-1] == 0
    vectors = train_skipgram(corpus, SMALL, device=CPU)
    near, far = ([("visitedly", word)] for word in ("visited", "kitchen"))
    assert mean_cosine(corpus, vectors, near) > mean_cosine(corpus, vectors, far) + 0.3


@pytest.mark.parametrize(("min_n", "max_n"), [(3, 6), (1, 2), (2, 3), (3, 0)])
def test_ngrams_are_in_the_buckets_where_fasttext_has_them(min_n: int, max_n: int) -> None:
    words = ["a", "of", "naïve", "straße", "東京都", "𝛼𝛽", "antidisestablishmentarianism"]
    owners, buckets = ngram_buckets(words, min_n, max_n, 1009)
    model = FasttextModel(dimension=1, words=0, buckets=1009, min_n=min_n, max_n=max_n)
    for number, word in enumerate(words):
        expected = sorted(word_buckets(word.encode(), model))
        assert sorted(buckets[owners == number].tolist()) == expected


def test_a_word_is_the_mean_of_its_own_row_and_those_of_its_ngrams() -> None:
    words = ["cat", "scatter", "of"]
    subwords = SubwordRows.from_words(words, 3, 4, 50, CPU)
    model = SkipGram(subwords, 8, generator())
    owners, buckets = ngram_buckets(words, 3, 4, 50)
    vectors = model.word_vectors()
    table = model.inputs.values.numpy()
    assert not vectors[:FIRST].any()
    for number in range(len(words)):
        ngram_rows = table[FIRST + len(words) + buckets[owners == number]]
        expected = np.mean([table[FIRST + number], *ngram_rows], axis=0)
        np.testing.assert_allclose(vectors[FIRST + number], expected, atol=1e-6)


def test_rows_of_selected_words_come_in_their_order() -> None:
    subwords = SubwordRows.from_words(["cat", "scatter", "of"], 3, 4, 50, CPU)
    ids = torch.tensor([5, BOUNDARY, 4, 5])
    table = torch.randn(subwords.row_count, 8, generator=generator())
    torch.testing.assert_close(subwords.select(ids).means(table), subwords.means(table)[ids])


def plain_pairs(ids: list[int], window: int) -> set[tuple[int, int]]:
    """All ordered pairs of words within a window and a sentence."""
    return {
        (ids[i], ids[j])
        for i, j in product(range(len(ids)), repeat=2)
        if i != j and abs(i - j) <= window and min(ids[min(i, j) : max(i, j) + 1]) >= FIRST
    }


def test_pairs_drawn_are_those_within_a_window_and_a_sentence() -> None:
    # No word occurs twice, so that a word identifies its position.
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


def test_frequent_words_are_kept_by_the_inverse_root_of_their_frequency() -> None:
    counts = np.array([0, 0, 0, 0, 90_000, 9_999, 1])
    keep = torch.from_numpy(keep_probability(counts))
    ids = torch.from_numpy(np.repeat([BOUNDARY, 4, 5, 6], [1000, 90_000, 9_999, 1]))
    kept = subsample(ids, keep, generator()).bincount(minlength=7).tolist()
    assert (kept[BOUNDARY], kept[6]) == (1000, 1)
    assert kept[4] == pytest.approx(90_000 * np.sqrt(1e-4 / 0.9), rel=0.1)
    assert kept[5] == pytest.approx(9_999 * np.sqrt(1e-4 / 0.09999), rel=0.2)


def test_the_loss_is_the_plain_sum_over_pairs_and_negative_samples() -> None:
    centres, window, per_pair, drawn = 2 * CENTRES_PER_GROUP, 2, 3, 6
    table = torch.randn(9, 5, generator=generator(), dtype=torch.float64)
    contexts = torch.randint(4, 9, (centres, 2 * window), generator=generator(1))
    valid = torch.rand(contexts.shape, generator=generator(2)) < 0.6
    negatives = torch.randint(4, 9, (2, drawn), generator=generator(3))
    vectors = torch.randn(centres, 5, generator=generator(4), dtype=torch.float64)
    pairs = SkipGramPairs(torch.zeros(centres), contexts, valid)

    expected = 0.0
    for centre, column in valid.nonzero().tolist():
        context = contexts[centre, column]
        scores = table @ vectors[centre]
        others = [n for n in negatives[centre // CENTRES_PER_GROUP] if n != context]
        expected += torch.log1p(torch.exp(-scores[context])).item()
        expected += per_pair / drawn * sum(torch.log1p(torch.exp(scores[n])).item() for n in others)

    outputs = table[torch.cat([contexts.flatten(), negatives.flatten()])]
    loss = skipgram_loss(vectors, outputs, pairs, negatives, per_pair)
    assert loss.item() == pytest.approx(expected)


def test_gradients_of_the_same_row_are_summed_into_one_step_of_adagrad() -> None:
    table = skipgram._AdagradTable(torch.zeros(4, 2))
    rows = torch.tensor([2, 0, 2])
    table.update(rows, torch.tensor([[1.0, 0], [0, 2], [2, 4]]), rate=0.5)
    summed = np.array([[0, 2], [0, 0], [3, 4], [0, 0]])
    history = np.array([2, 1, 5, 1])[:, None]
    np.testing.assert_allclose(table.values, -0.5 * summed / history)
    table.update(rows[:1], torch.tensor([[12.0, 0]]), rate=0.5)
    np.testing.assert_allclose(table.values[2], [-0.3 - 0.5 * 12 / 13, -0.4])


def test_the_loss_falls_from_that_of_an_undecided_model(corpus: Corpus) -> None:
    words, per_pair = corpus.vocabulary.words[FIRST:], 5
    random = generator()
    model = SkipGram(SubwordRows.from_words(words, 3, 6, 200, CPU), 20, random)
    sampler = WordSampler.smoothed(corpus.vocabulary.counts, 0.75, CPU)
    ids = torch.from_numpy(corpus.tokens.astype(np.int32))
    losses = []
    for _ in range(60):
        pairs = draw_pairs(ids, 256, 3, random)
        negatives = sampler.draw((256 // CENTRES_PER_GROUP, 20), random)
        losses.append(model.step(pairs, negatives, per_pair, rate=1.0).item())
    # A per_pair sample that equals the context is skipped: one in twenty with so few words.
    assert losses[0] == pytest.approx((1 + per_pair * 19 / 20) * np.log(2), rel=0.02)
    assert np.mean(losses[-10:]) < 0.8 * losses[0]


@pytest.fixture(scope="module")
def vectors(corpus: Corpus) -> NDArray[np.float32]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skipgram, "_MIN_STEPS", 100)
        return train_skipgram(corpus, SMALL, device=CPU)


def test_words_of_the_same_contexts_are_more_similar_than_others(
    corpus: Corpus, vectors: NDArray[np.float32]
) -> None:
    across = mean_cosine(corpus, vectors, list(product(CITIES, FOODS)))
    assert mean_cosine(corpus, vectors, list(combinations(CITIES, 2))) > across + 0.3
    assert mean_cosine(corpus, vectors, list(combinations(FOODS, 2))) > across + 0.3


def test_every_word_has_a_row_at_its_id_and_special_tokens_a_zero_one(
    corpus: Corpus, vectors: NDArray[np.float32]
) -> None:
    assert vectors.shape == (len(corpus.vocabulary), 20)
    assert vectors.dtype == np.float32
    is_zero = ~vectors.any(axis=1)
    assert np.flatnonzero(is_zero).tolist() == list(range(FIRST))


def test_the_same_seed_gives_the_same_vectors(corpus: Corpus) -> None:
    config = replace(SMALL, epochs=1)
    first = train_skipgram(corpus, config, device=CPU)
    np.testing.assert_array_equal(first, train_skipgram(corpus, config, device=CPU))
    other = train_skipgram(corpus, replace(config, seed=4), device=CPU)
    assert not np.array_equal(first, other)


def test_progress_is_reported_within_epochs(corpus: Corpus) -> None:
    reports: list[VectorsProgress] = []
    config = replace(SMALL, ngrams=(3, 0))
    train_skipgram(corpus, config, device=CPU, report=reports.append)
    assert len(reports) > 2 * config.epochs
    assert [progress.words for progress in reports] == sorted(
        {progress.words for progress in reports}
    )
    assert reports[-1] == (config.epochs * corpus.manifest.tokens,) * 2


def test_a_corpus_copied_in_parts_gives_the_same_ids(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skipgram, "_IDS_AT_ONCE", 999)
    np.testing.assert_array_equal(skipgram._corpus_ids(corpus, CPU), corpus.tokens)


@pytest.mark.parametrize(
    ("ids", "expected"), [(10**9, 2720), (10**6, 992), (20_000, 128), (50, 32)]
)
def test_a_small_corpus_is_trained_on_in_smaller_batches(ids: int, expected: int) -> None:
    assert skipgram._centres_per_step(16384, 5, ids) == expected


def test_a_batch_below_one_is_refused(corpus: Corpus) -> None:
    with pytest.raises(UsageError, match="batch is 0; it must be 1 or more"):
        train_skipgram(corpus, SMALL, batch=0, device=CPU)


def test_towns_of_a_region_are_more_similar_than_with_gensim(tmp_path: Path) -> None:
    world = MiniWorld.create(0)
    (tmp_path / "text.txt").write_text(world.text(20_000))
    corpus = prepare([str(tmp_path / "text.txt")], tmp_path / "corpus", PrepareConfig(min_count=1))
    region_of = {fact.x: fact.y for fact in world.facts_of("located_in")}
    towns = list(combinations(region_of, 2))
    same = [(x, y) for x, y in towns if region_of[x] == region_of[y]]
    elsewhere = [(x, y) for x, y in towns if region_of[x] != region_of[y]]
    words = np.random.default_rng(0).choice(corpus.vocabulary.words[FIRST:], (2000, 2))
    random = [(x, y) for x, y in words.tolist() if x != y]

    ours = train_skipgram(corpus, FasttextConfig(dimension=32, epochs=2), device=CPU)
    assert mean_cosine(corpus, ours, same) > mean_cosine(corpus, ours, random) + 0.3
    # Both learn from their endings that they are towns; for the region gensim needs more epochs.
    gensims = train_fasttext(corpus, FasttextConfig(dimension=32), workers=1)
    gain = mean_cosine(corpus, gensims, same) - mean_cosine(corpus, gensims, elsewhere)
    assert mean_cosine(corpus, ours, same) > mean_cosine(corpus, ours, elsewhere) + max(0.03, gain)
