"""Pieces of words: what the tokeniser says, however often and in whatever company it is asked."""

from pathlib import Path

import pytest
import torch
from tests.experiments.embedders.small_bert import write_bert
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from pair2vec.experiments.embedders import hugging_face as pieces
from pair2vec.experiments.embedders.hugging_face import SubwordTokenizer

SENTENCES = [["The", "cat", "sleeping"], ["cat"], ["xyz", "", "cat"], [], ["cat"]]


@pytest.fixture
def tokenizer(tmp_path: Path) -> PreTrainedTokenizerBase:
    found: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(write_bert(tmp_path))
    return found


class Counting:
    """A tokeniser, and the sentences it was asked about."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer, self.asked = tokenizer, list[list[str]]()
        self.pad_token_id = tokenizer.pad_token_id

    def __call__(self, sentences: list[list[str]], **options: object) -> object:
        self.asked += sentences
        return self.tokenizer(sentences, **options)


def test_a_batch_is_what_the_tokeniser_makes_of_it(tokenizer: PreTrainedTokenizerBase) -> None:
    made = SubwordTokenizer(tokenizer, None)(SENTENCES)
    plain = tokenizer(SENTENCES, is_split_into_words=True, padding=True, return_tensors="pt")
    assert made.inputs.keys() == plain.keys()
    for name, tensor in made.inputs.items():
        assert torch.equal(tensor, plain[name])
    for row, words in enumerate(made.words.tolist()):
        assert words == [-1 if word is None else word for word in plain.word_ids(row)]


def test_a_sentence_is_asked_about_once_and_said_the_same_in_other_company(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    counting = Counting(tokenizer)
    maker = SubwordTokenizer(counting, 16)
    maker(SENTENCES[:3])
    again = maker(SENTENCES[::-1])
    assert counting.asked == SENTENCES[:4]
    expected = SubwordTokenizer(tokenizer, None)(SENTENCES[::-1])
    assert torch.equal(again.words, expected.words)
    assert all(torch.equal(again.inputs[name], expected.inputs[name]) for name in again.inputs)


def test_what_is_kept_has_a_limit(
    tokenizer: PreTrainedTokenizerBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "_MOST_SENTENCES", 3)
    counting = Counting(tokenizer)
    maker = SubwordTokenizer(counting, 16)
    for batch in (SENTENCES[:2], SENTENCES[2:4], SENTENCES[:2]):
        made = maker(batch)
        assert torch.equal(made.words, SubwordTokenizer(tokenizer, None)(batch).words)
    assert counting.asked == [*SENTENCES[:4], *SENTENCES[:2]]
