"""The words behind the sub-words of three kinds of tokenisers, and attention between either."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.injection.small_layer import make_layer

from pair2vec.errors import UsageError
from pair2vec.injection import EmptySource, PairAttention, align_subwords
from pair2vec.text.sentences import token_spans

pytest.importorskip("transformers")
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

A = ["The hotel isn't cheap, or dear.", "hot"]
B = ["  It’s HOT…", "France's capital is paris; up-to-date"]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def make_tokenizer(kind: str, **options: Any) -> PreTrainedTokenizerFast:
    """Of few sub-words, learned from the texts, so that most words have several."""
    common: dict[str, Any] = {"special_tokens": SPECIALS, "show_progress": False, "vocab_size": 90}
    if kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer: Any = trainers.WordPieceTrainer(**common)
    elif kind == "byte-level":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(**common | {"vocab_size": 300}, initial_alphabet=alphabet)
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(**common, unk_token="[UNK]")
    tokenizer.train_from_iterator([*A, *B] * 3, trainer)
    special = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", **options)


every_kind = pytest.mark.parametrize("kind", ["wordpiece", "byte-level", "sentencepiece"])


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> PairAttention:
    return make_layer(tmp_path_factory.mktemp("subwords"))


@every_kind
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_subword_has_the_word_it_is_a_part_of(kind: str, side: str, layer: PairAttention) -> None:
    tokens = make_tokenizer(kind, padding_side=side)(A, B, padding=True, return_tensors="pt")
    for sequence, texts in enumerate((A, B)):
        found = align_subwords(layer, tokens, texts, sequence=sequence)
        assert found.columns.shape == tokens["input_ids"].shape
        words = [[text[start:end] for start, end in token_spans(text)] for text in texts]
        assert torch.equal(found.ids, layer.ids(words))
        for row, text in enumerate(texts):
            extents: dict[int, tuple[int, int]] = {}
            for at, column in enumerate(found.columns[row].tolist()):
                start, end = tokens.encodings[row].offsets[at]
                owner = tokens.encodings[row].sequence_ids[at]
                assert column == -1 or (owner == sequence and end > start)
                first, last = extents.get(column, (start, end))
                extents[column] = min(first, start), max(last, end)
            # From the first to the last, the sub-words of a word are the word; with it may be a
            # blank, and marks that the tokeniser does not split off.
            for column, word in enumerate(words[row]):
                if column in extents:
                    assert text[slice(*extents[column])].strip().startswith(word)
                else:
                    assert not word.isalpha()


@every_kind
def test_words_that_were_split_before_are_taken_as_they_are(
    kind: str, layer: PairAttention
) -> None:
    tokenizer = make_tokenizer(kind)
    split = [["hot", "or", "unheard-of", "cold"], ["paris"]]
    tokens = tokenizer(split, is_split_into_words=True, padding=True)
    found = align_subwords(layer, tokens, split)
    assert torch.equal(found.ids, layer.ids(split))
    for row, words in enumerate(split):
        column_of = tokens.word_ids(row)
        assert found.columns[row].tolist() == [-1 if n is None else n for n in column_of]
        assert {*found.columns[row].tolist()} == {-1, *range(len(words))}


@every_kind
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_pooled_attention_gives_the_mean_of_what_the_subwords_get(
    kind: str, dtype: torch.dtype, layer: PairAttention
) -> None:
    tokens = make_tokenizer(kind)(A, B, padding=True)
    a, b = (align_subwords(layer, tokens, side, sequence=n) for n, side in enumerate((A, B)))
    draw = torch.Generator().manual_seed(0)
    size = a.columns.shape[1]
    alpha = torch.randn(len(A), size, size, generator=draw).softmax(-1).to(dtype)
    by_subword = layer(a.subword_ids, b.subword_ids, alpha)
    # What a base model has in rows that it masks as a whole does not spread.
    alpha[(a.columns < 0)] = torch.nan
    pooled = a.pool(alpha, b)
    assert pooled.dtype == dtype
    by_word = layer(a.ids, b.ids, pooled)
    tolerance = 1e-5 if dtype == torch.float32 else 0.02
    spread = a.spread(by_word)
    for row in range(len(A)):
        columns = a.columns[row]
        assert spread[row, columns < 0].eq(0).all()
        for column in {*columns.tolist()} - {-1}:
            mean = by_subword[row, columns == column].mean(0)
            torch.testing.assert_close(by_word[row, column], mean, rtol=0, atol=tolerance)
            assert spread[row, columns == column].eq(by_word[row, column]).all()


def test_no_words_are_no_special_case(layer: PairAttention) -> None:
    tokens = make_tokenizer("wordpiece")(["", ""], padding=True)
    found = align_subwords(layer, tokens, ["", ""])
    assert found.subword_ids.eq(0).all()
    assert found.columns.eq(-1).all()
    empty = align_subwords(EmptySource(), tokens, ["", ""])
    assert empty.pool(torch.ones(2, 2, 2), empty).shape == (2, 0, 0)


def test_what_cannot_be_aligned_is_refused(layer: PairAttention) -> None:
    tokens = make_tokenizer("wordpiece")(A)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: align_subwords(layer, SimpleNamespace(encodings=None), A), "take a fast one"),
        (lambda: align_subwords(layer, tokens, A[:1]), "1 texts but 2 rows of tokens"),
        (lambda: align_subwords(layer, tokens, A, sequence=2), "sequence is 2; it must be 0"),
    ]
    for call, message in calls:
        with pytest.raises(UsageError, match=message):
            call()
