"""A small ELMo with random weights, in the files that AllenNLP publishes."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[np.float32]]

LONGEST_WORD = 12
LETTER, SIZE, CELL, LAYERS = 4, 5, 7, 2
FILTERS = [[1, 3], [2, 4], [3, 2], [5, 3]]


def small_options(*, activation: str = "relu", skip: bool = True) -> dict[str, Any]:
    """Clips so low that they matter."""
    return {
        "lstm": {
            "use_skip_connections": skip,
            "projection_dim": SIZE,
            "cell_clip": 0.6,
            "proj_clip": 0.5,
            "dim": CELL,
            "n_layers": LAYERS,
        },
        "char_cnn": {
            "activation": activation,
            "filters": FILTERS,
            "n_highway": 2,
            "embedding": {"dim": LETTER},
            "n_characters": 262,
            "max_characters_per_token": LONGEST_WORD,
        },
    }


def small_weights() -> Weights:
    wide = sum(number for _, number in FILTERS)
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (261, LETTER)}
    for index, (width, number) in enumerate(FILTERS):
        shapes[f"CNN/W_cnn_{index}"] = (1, width, LETTER, number)
        shapes[f"CNN/b_cnn_{index}"] = (number,)
    for index in range(2):
        for part in ("carry", "transform"):
            shapes[f"CNN_high_{index}/W_{part}"] = (wide, wide)
            shapes[f"CNN_high_{index}/b_{part}"] = (wide,)
    shapes |= {"CNN_proj/W_proj": (wide, SIZE), "CNN_proj/b_proj": (SIZE,)}
    for way in range(2):
        for layer in range(LAYERS):
            folder = f"RNN_{way}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes[f"{folder}/W_0"] = (2 * SIZE, 4 * CELL)
            shapes[f"{folder}/B"] = (4 * CELL,)
            shapes[f"{folder}/W_P_0"] = (CELL, SIZE)
    random = np.random.default_rng(0)
    return {
        name: (0.7 * random.normal(size=shape)).astype(np.float32) for name, shape in shapes.items()
    }


def write_elmo(folder: Path, options: dict[str, Any], weights: Weights) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "options.json").write_text(json.dumps(options))
    with h5py.File(folder / "weights.hdf5", "w") as file:
        for name, values in weights.items():
            file[name] = values
    return folder
