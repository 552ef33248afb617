"""A causal language model of random weights, as a folder that transformers reads."""

from collections.abc import Iterable
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaModel, PreTrainedTokenizerFast

PIECES = 300
"""Tokens: the 256 bytes and a few pieces of words, so that words have different lengths."""


def save_language_model(
    folder: Path, words: Iterable[str], *, bos: bool = True, seed: int = 0
) -> Path:
    """Write a Llama of one layer, with a byte-level BPE of `words`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES,
        special_tokens=["<s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([f" {word}" for word in words], trainer)
    named = {"bos_token": "<s>"} if bos else {}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named).save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=64,
        bos_token_id=0,
        eos_token_id=0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        transformers.utils.logging.disable_progress_bar()
        LlamaModel(config).save_pretrained(folder)
    return folder
