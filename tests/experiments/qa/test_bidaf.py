"""BiDAF++, against itself and against a plain computation."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from tests.experiments.qa.capital_world import relative, relatives, settings, write_relatives
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.experiments.qa.answerer import ReadingConfig
from pair2vec.experiments.qa.batches import (
    MAX_CHARACTERS,
    EncodedQuestions,
    QaBatch,
    QaBatches,
    Windows,
    answering_windows,
    character_codes,
    training_windows,
)
from pair2vec.experiments.qa.bidaf import Bidaf, BidafConfig, CharacterCnn, SelfAttention, Trilinear
from pair2vec.experiments.qa.examples import GoldAnswer, QaQuestion, QaSet, TokenisedText
from pair2vec.experiments.qa.spans import SpanScores, span_loss
from pair2vec.experiments.tasks.batches import PadLength, bucketed_length, exact_length
from pair2vec.experiments.tasks.inputs import InputPaths, open_inputs
from pair2vec.experiments.tasks.layers import BiGru

LONG = "The first word, and many others that are longer than those-of any other hot dog here."


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> dict[str, InputPaths]:
    return write_relatives(tmp_path_factory.mktemp("inputs"))


def questions() -> QaSet:
    """Of several lengths, one of them without any word, one with words of the small WordNet."""
    qa_set = relatives(range(6))
    qa_set.passages.extend(
        [TokenisedText.of(LONG), TokenisedText.of(""), TokenisedText.of(relative(0, 2))]
    )
    texts = [f"Is {relative(0, 0)} longer than a cold wolf?", relative(0, 0), f"{relative(0, 0)} ?"]
    answers = [(GoldAnswer("many", LONG.index("many")),), (), ()]
    qa_set.questions.extend(
        QaQuestion(f"more{n}", TokenisedText.of(text), 6 + n, answers[n])
        for n, text in enumerate(texts)
    )
    return qa_set


def make(paths: InputPaths) -> tuple[Bidaf, EncodedQuestions]:
    torch.manual_seed(0)
    encoded = EncodedQuestions(questions())
    opened = open_inputs(paths, encoded.words, settings().pairs)
    config = BidafConfig(hidden=5, filters=4, characters=3, filter_width=3, no_answer=6)
    return Bidaf(opened.embedder, opened.relations, config).eval(), encoded


def batch_of(network: Bidaf, encoded: EncodedQuestions, *indices: int) -> QaBatch:
    windows = answering_windows(encoded, np.array(indices), 100)
    batches = QaBatches(encoded, windows, network.embedder, network.relations)
    return batches.batch(np.arange(len(indices)))


def plain_scores(network: Bidaf, batch: QaBatch) -> SpanScores:
    """The formulas for one question, word by word and with torch's own layers."""
    letters = network.characters(batch.characters)

    def encode(inputs: Tensor, rows: Tensor) -> Tensor:
        words = torch.cat([inputs[0], torch.stack([letters[row] for row in rows[0]])], dim=1)
        return read(network.encoder, words)

    a = encode(network.embedder(batch.passages.inputs), batch.passage_rows)
    b = encode(network.embedder(batch.questions.inputs), batch.question_rows)
    s = trilinear(network.scores, a, b)
    alpha, mu = s.softmax(dim=1), s.max(dim=1).values.softmax(dim=0)
    aligned, whole = alpha @ b, mu @ a
    r = network.relations.both(
        batch.passages.ids, batch.questions.ids, alpha[None], torch.zeros_like(alpha.T)[None]
    ).a[0]
    x = network.projection(torch.cat([a, aligned, a * aligned, a * whole, r], dim=1)).relu()
    y = x + plain_self_attention(network.self_attention, read(network.modelling, x))
    starts = read(network.starts, y)
    ends = read(network.ends, torch.cat([y, starts], dim=1))
    s_scores, g_scores = network.start_score(starts)[:, 0], network.end_score(ends)[:, 0]
    summed = [s_scores.softmax(0) @ starts, g_scores.softmax(0) @ ends, y.max(dim=0).values]
    return SpanScores(s_scores, g_scores, network.no_answer(torch.cat(summed))[0])


def read(gru: BiGru, x: Tensor) -> Tensor:
    return torch.cat([gru.ahead(x)[0], gru.back(x.flip(0))[0].flip(0)], dim=1)


def trilinear(layer: Trilinear, a: Tensor, b: Tensor) -> Tensor:
    weights = torch.cat([layer.of_a, layer.of_b, layer.of_both])
    rows = [torch.stack([weights @ torch.cat([x, y, x * y]) for y in b]) for x in a]
    return torch.stack(rows)


def plain_self_attention(layer: SelfAttention, x: Tensor) -> Tensor:
    s = trilinear(layer.scores, x, x)
    merged = []
    for i in range(len(x)):
        others = [j for j in range(len(x)) if j != i]
        c = s[i, others].softmax(dim=0) @ x[others] if others else torch.zeros_like(x[i])
        merged.append(layer.merge(torch.cat([x[i], c, x[i] * c])).relu())
    return torch.stack(merged)


@pytest.mark.parametrize("pairs", ["none", "pair_distance", "pair_distance+wordnet"])
def test_scores_are_those_of_the_formulas(pairs: str, named: dict[str, InputPaths]) -> None:
    network, encoded = make(named[pairs])
    for number in (0, 3, 6, 7, 8):
        batch = batch_of(network, encoded, number)
        scores, expected = network(batch), plain_scores(network, batch)
        for one, other in zip(scores, expected, strict=True):
            torch.testing.assert_close(one[0], other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pairs", ["none", "pair_distance"])
def test_a_question_has_the_same_scores_beside_longer_ones(
    pairs: str, named: dict[str, InputPaths]
) -> None:
    network, encoded = make(named[pairs])
    together = network(batch_of(network, encoded, *range(9)))
    for number in range(9):
        alone = network(batch_of(network, encoded, number))
        length = alone.starts.shape[1]
        for side in ("starts", "ends"):
            scores = getattr(together, side)[number]
            torch.testing.assert_close(
                scores[:length], getattr(alone, side)[0], rtol=1e-5, atol=1e-5
            )
            assert (scores[length:] == -torch.inf).all()
        torch.testing.assert_close(together.no_answer[number], alone.no_answer[0])


@pytest.mark.parametrize("pad_length", [exact_length, bucketed_length])
def test_every_word_has_its_own_characters(
    pad_length: PadLength, named: dict[str, InputPaths]
) -> None:
    network, encoded = make(named["none"])
    windows = answering_windows(encoded, np.arange(9), 100)
    batches = QaBatches(encoded, windows, network.embedder, network.relations, pad_length)
    batch, qa_set = batches.batch(np.arange(9)), questions()
    for index, question in enumerate(qa_set.questions):
        for rows, text in (
            (batch.passage_rows, qa_set.passages[question.passage]),
            (batch.question_rows, question.text),
        ):
            codes = batch.characters[rows[index, : len(text.words)]].numpy()
            assert np.array_equal(codes, character_codes(text.words))


@pytest.mark.parametrize("pairs", ["none", "pair_distance"])
def test_bucketed_padding_changes_nothing(pairs: str, named: dict[str, InputPaths]) -> None:
    network, encoded = make(named[pairs])
    windows, results = training_windows(encoded, 100)[0], []
    indices = np.arange(len(windows.question))
    for pad_length in (exact_length, bucketed_length):
        batches = QaBatches(encoded, windows, network.embedder, network.relations, pad_length)
        batch = batches.batch(indices)
        assert batch.passages.is_word.shape[1] == pad_length(int(windows.length.max()))
        network.zero_grad()
        loss = span_loss(network(batch), batch.answers).sum()
        torch.autograd.backward(loss)
        results.append([loss, *(w.grad for w in network.parameters() if w.grad is not None)])
    assert len(batch.characters) == bucketed_length(len(batch.characters))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_gradients_do_not_depend_on_padding_either(named: dict[str, InputPaths]) -> None:
    network, encoded = make(named["pair_distance"])
    gradients = []
    for indices in ((0, 1, 2), (0, 1, 2, 6)):
        network.zero_grad()
        scores = network(batch_of(network, encoded, *indices))
        real = [part[:3].masked_fill(part[:3] == -torch.inf, 0).square().sum() for part in scores]
        torch.autograd.backward(sum(real))
        gradients.append([w.grad for w in network.parameters() if w.grad is not None])
    for one, other in zip(*gradients, strict=True):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_a_window_is_read_as_a_passage_of_its_own(named: dict[str, InputPaths]) -> None:
    network, encoded = make(named["none"])
    windows = Windows(np.array([6]), np.array([3]), np.array([5]))
    part = QaBatches(encoded, windows, network.embedder, network.relations).batch(np.arange(1))
    words = encoded.sentences.text(*encoded.sentences.block(encoded.passages[[6]]))[0]
    qa_set = questions()
    qa_set.passages[6] = TokenisedText.of(" ".join(words[3:8]))
    alone = EncodedQuestions(qa_set)
    expected = network(batch_of(network, alone, 6))
    for one, other in zip(network(part), expected, strict=True):
        torch.testing.assert_close(one, other)
    assert words[5] == "many"
    assert part.answers.tolist() == [[2, 2]]


def test_a_batch_has_the_answers_of_its_questions(named: dict[str, InputPaths]) -> None:
    network, encoded = make(named["none"])
    windows, skipped = training_windows(encoded, 100)
    assert skipped == (0, 0)
    batches = QaBatches(encoded, windows, network.embedder, network.relations)
    batch = batches.batch(np.array([0, 1, 7]))
    # Every fourth family has no second relative.
    assert batch.answers[[0, 2]].tolist() == [[-1, -1], [-1, -1]]
    first, last = batch.answers[1].tolist()
    assert first == last
    assert questions().passages[1].words[first] == relative(1, 2)
    assert batches.sizes[[0, 6]].tolist() == [[2, 1], [20, 8]]


def test_only_trained_weights_have_gradients(named: dict[str, InputPaths]) -> None:
    network, _ = make(named["pair_distance"])
    names = {name for name, weights in network.named_parameters() if weights.requires_grad}
    assert [name for name in names if name.startswith("embedder")] == ["embedder.unknown"]
    assert not [name for name in names if name.startswith("relations")]


def test_pairs_widen_the_projection_and_nothing_else(named: dict[str, InputPaths]) -> None:
    (base, _), (paired, _) = make(named["none"]), make(named["pair_distance"])
    assert base.projection.in_features == 4 * 2 * 5
    assert paired.projection.in_features - base.projection.in_features == 12
    shapes = [
        {name: w.shape for name, w in network.named_parameters() if "projection" not in name}
        for network in (base, paired)
    ]
    assert shapes[0] == shapes[1]


def test_dropout_is_for_training_only(named: dict[str, InputPaths]) -> None:
    network, encoded = make(named["none"])
    batch = batch_of(network, encoded, 0, 6)

    def twice() -> Iterator[Tensor]:
        return (network(batch).no_answer for _ in range(2))

    assert torch.equal(*twice())
    network.train()
    assert not torch.equal(*twice())


def test_character_codes_are_bytes_plus_one() -> None:
    codes = character_codes(["ab", "é", "", "x" * 99, "\udc80"])
    assert codes.shape == (5, MAX_CHARACTERS)
    assert codes[0, :3].tolist() == [98, 99, 0]
    assert codes[1, :3].tolist() == [0xC3 + 1, 0xA9 + 1, 0]
    assert not codes[2].any()
    assert (codes[3] == ord("x") + 1).all()
    assert not codes[4].any()


def test_the_character_cnn_is_the_maximum_over_convolutions() -> None:
    torch.manual_seed(0)
    layer = CharacterCnn(dimension=3, filters=4, width=2)
    letters = torch.from_numpy(character_codes(["abc"]))
    vectors = layer.letters(letters.int())[0]
    seen = [layer.filters(vectors[n : n + 2].T.flatten()) for n in range(MAX_CHARACTERS - 1)]
    torch.testing.assert_close(layer(letters)[0], torch.stack(seen).amax(dim=0).relu())
    assert not torch.equal(layer(letters), layer(torch.from_numpy(character_codes(["acb"]))))


def test_invalid_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="hidden is 0; it must be from 1 to 10,000"):
        BidafConfig(hidden=0)
    with pytest.raises(UsageError, match="dropout is 1"):
        BidafConfig(dropout=1.0)
    with pytest.raises(UsageError, match="filter_width is 21; it must be from 1 to 20"):
        BidafConfig(filter_width=21)
    with pytest.raises(UsageError, match="max_words is 0"):
        ReadingConfig(max_words=0)
    with pytest.raises(UsageError, match="longest_answer is 17; it must be at most a quarter"):
        ReadingConfig(max_words=67)
