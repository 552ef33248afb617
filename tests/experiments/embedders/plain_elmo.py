"""ELMo written down as it is defined: one sentence, one word and one filter at a time, no torch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.experiments.embedders.small_elmo import Weights

Array = NDArray[np.floating]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def plain_characters(word: str | int, longest: int) -> list[int]:
    """The character ids of a word, or of 256 or 257, which mark a sentence's begin and end."""
    inner = [word] if isinstance(word, int) else list(word.encode())[: longest - 2]
    spelled = [258, *inner, 259]
    return spelled + [260] * (longest - len(spelled))


def plain_word(word: str | int, options: dict[str, Any], weights: Weights) -> Array:
    cnn = options["char_cnn"]
    numbers = plain_characters(word, cnn["max_characters_per_token"])
    letters = [weights["char_embed"][number].astype(float) for number in numbers]
    seen = []
    for index, (width, count) in enumerate(cnn["filters"]):
        kernel, bias = weights[f"CNN/W_cnn_{index}"], weights[f"CNN/b_cnn_{index}"]
        for number in range(count):
            sums = []
            for start in range(len(letters) - width + 1):
                total = float(bias[number])
                for step in range(width):
                    total += float(kernel[0, step, :, number] @ letters[start + step])
                sums.append(total)
            seen.append(max(sums))
    vector = np.array(seen)
    vector = np.tanh(vector) if cnn["activation"] == "tanh" else np.maximum(vector, 0)
    for index in range(cnn["n_highway"]):
        high = {part: weights[f"CNN_high_{index}/{part}"] for part in HIGHWAY}
        through = sigmoid(vector @ high["W_carry"] + high["b_carry"])
        changed = np.maximum(vector @ high["W_transform"] + high["b_transform"], 0)
        vector = through * changed + (1 - through) * vector
    projected: Array = vector @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"]
    return projected


HIGHWAY = ("W_carry", "b_carry", "W_transform", "b_transform")


def plain_lstm(
    vectors: list[Array], folder: str, options: dict[str, Any], weights: Weights
) -> list[Array]:
    lstm = options["lstm"]
    size = lstm["dim"]
    state, cell = np.zeros(lstm["projection_dim"]), np.zeros(size)
    outputs = []
    for vector in vectors:
        gates = np.concatenate([vector, state]) @ weights[f"{folder}/W_0"] + weights[f"{folder}/B"]
        i, j, f, o = (gates[k * size : (k + 1) * size] for k in range(4))
        cell = sigmoid(f + 1) * cell + sigmoid(i) * np.tanh(j)
        cell = np.clip(cell, -lstm["cell_clip"], lstm["cell_clip"])
        state = (sigmoid(o) * np.tanh(cell)) @ weights[f"{folder}/W_P_0"]
        state = np.clip(state, -lstm["proj_clip"], lstm["proj_clip"])
        outputs.append(state)
    return outputs


def plain_elmo(sentence: list[str], options: dict[str, Any], weights: Weights) -> Array:
    """The layers of a sentence's words, (layers, words, dimension)."""
    marked: list[str | int] = [256, *sentence, 257]
    words = [plain_word(word, options, weights) for word in marked]
    ways = []
    for way in range(2):
        vectors = words[::-1] if way else words
        layers = [vectors]
        for layer in range(options["lstm"]["n_layers"]):
            folder = f"RNN_{way}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            outputs = plain_lstm(vectors, folder, options, weights)
            if layer and options["lstm"]["use_skip_connections"]:
                outputs = [a + b for a, b in zip(outputs, vectors, strict=True)]
            vectors = outputs
            layers.append(vectors)
        ways.append([layer[::-1] if way else layer for layer in layers])
    return np.concatenate(ways, axis=-1)[:, 1:-1]
