"""Small encoders with random weights, in the folders that transformers writes."""

import json
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import torch
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel, T5Config, T5Model
from transformers.utils import logging

LAYERS, SIZE = 2, 8
SHAPE = {
    "hidden_size": SIZE,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    # Large, so that a layer is not much the same as the one before.
    "initializer_range": 0.5,
}
POSITIONS = 16
_LETTERS = [*ascii_lowercase, "é", "東", *(f"##{letter}" for letter in ascii_lowercase)]
_WORDPIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_LETTERS, "the", "##ing", "cat"]


def write_bert(folder: Path) -> Path:
    _write_wordpieces(folder)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(_WORDPIECES), max_position_embeddings=POSITIONS, **SHAPE)
    _save(BertModel(config), folder)
    return folder


def write_t5(folder: Path) -> Path:
    """One with a decoder behind the encoder, and no limit to the length of a sentence."""
    # T5's own tokeniser has no token types either.
    _write_wordpieces(folder, model_input_names=["input_ids", "attention_mask"])
    torch.manual_seed(0)
    shape = {"d_model": SIZE, "d_kv": 4, "d_ff": 12, "num_layers": LAYERS, "num_heads": 2}
    _save(T5Model(T5Config(vocab_size=len(_WORDPIECES), **shape)), folder)
    return folder


def write_roberta(folder: Path) -> Path:
    """One with a byte-level tokeniser; of its positions, the first two are never used."""
    folder.mkdir(exist_ok=True)
    space = "Ġ"
    subwords = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *ascii_lowercase, space, f"{space}h"]
    (folder / "vocab.json").write_text(json.dumps({name: n for n, name in enumerate(subwords)}))
    (folder / "merges.txt").write_text(f"#version: 0.2\n{space} h\n")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizer"}')
    torch.manual_seed(0)
    config = RobertaConfig(vocab_size=len(subwords), max_position_embeddings=POSITIONS, **SHAPE)
    _save(RobertaModel(config), folder)
    return folder


def _write_wordpieces(folder: Path, **settings: object) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("".join(f"{wordpiece}\n" for wordpiece in _WORDPIECES))
    settings |= {"tokenizer_class": "BertTokenizer", "strip_accents": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def _save(model: Any, folder: Path) -> None:
    logging.disable_progress_bar()
    model.save_pretrained(folder)
    logging.enable_progress_bar()
