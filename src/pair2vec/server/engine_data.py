"""What the engine of the explorer page needs of Python, to answer without a server.

The engine (``static/engine/``) reads the model folder itself. Beside it stand two files:
``engine.json`` with the lists, constants and definitions that rules here go by, and
``engine.safetensors`` with what is computed from a model once: whitening, and clusters of words.
"""

import html
import json
from functools import cache
from html.entities import html5
from importlib.resources import files

import numpy as np
from safetensors.numpy import save

from pair2vec.api import Pair2vec
from pair2vec.query.context_encoder import OPEN_WORDS
from pair2vec.query.search import (
    ANALOGY_ALPHA,
    COMPOSED_ALPHA,
    COMPOSED_NORM,
    PAPER_WEIGHTS,
    SHORTLIST,
    SLOT_WEIGHTS,
    WordClusters,
)
from pair2vec.relations import alignment, negation, relations, sentence_features, word_forms
from pair2vec.relations.opposed import MOST_OF_SAME
from pair2vec.server.endpoints import ENDPOINTS, RELATION_ENDPOINTS, Endpoint

TENSORS = "engine.safetensors"
FACTS = "engine.json"

_EXCEPTIONAL_CHARACTERS = 0xA0
"""Numbers of characters below it may stand for others."""


def engine_files(model: Pair2vec) -> dict[str, bytes]:
    """The files by name."""
    facts = {
        "facts": {**model.info(), "model": model.saved.folder.name},
        "endpoints": list(map(_declared, engine_endpoints(model))),
        "constants": {
            "OPEN_WORDS": OPEN_WORDS,
            "SHORTLIST": SHORTLIST,
            "ANALOGY_ALPHA": ANALOGY_ALPHA,
            "COMPOSED_ALPHA": COMPOSED_ALPHA,
            "COMPOSED_NORM": COMPOSED_NORM,
            "SLOT_WEIGHTS": SLOT_WEIGHTS._asdict(),
            "PAPER_WEIGHTS": PAPER_WEIGHTS._asdict(),
            "CANDIDATES": relations.CANDIDATES,
            "SIMILARITY_WEIGHT": relations.SIMILARITY_WEIGHT,
            "FREQUENCY_WEIGHT": relations.FREQUENCY_WEIGHT,
            "SYMMETRIC_SIMILARITY": relations.SYMMETRIC_SIMILARITY,
            "MOST_OF_SAME": MOST_OF_SAME,
        },
        "relations": _relations(model),
        "lists": _lists(),
        "entities": _entities(),
        "opposed": _opposed(),
    }
    return {FACTS: json.dumps(facts, ensure_ascii=False).encode(), TENSORS: _tensors(model)}


def engine_endpoints(model: Pair2vec) -> tuple[Endpoint, ...]:
    """What the engine answers of a model: relations only with a head, as it fits none."""
    return (*ENDPOINTS, *(RELATION_ENDPOINTS if model.saved.has_head else ()))


def _declared(endpoint: Endpoint) -> dict[str, object]:
    parameters = [
        {slot: getattr(parameter, slot) for slot in parameter.__slots__}
        for parameter in endpoint.parameters
    ]
    return {"name": endpoint.name, "parameters": parameters}


def _relations(model: Pair2vec) -> dict[str, object] | None:
    if not model.saved.has_head:
        return None
    known = model.relations()
    return {
        "relates_forms": known.relates_forms,
        "definitions": [
            {"name": each.name, "definition": each.definition, "symmetric": each.symmetric}
            for each in known.definitions
        ],
    }


def _lists() -> dict[str, object]:
    """Lists of English words and endings."""
    return {
        "endings": sorted(word_forms.ENDINGS),
        "inflections": word_forms.INFLECTIONS,
        "irregular": word_forms.irregular_bases(),
        "negating_prefixes": sorted(word_forms.NEGATING_PREFIXES),
        "opposite_prefixes": word_forms.OPPOSITE_PREFIXES,
        "spellings": word_forms.SPELLINGS,
        "forms": word_forms.FORMS,
        "variants": word_forms.VARIANTS,
        "function_words": sorted(alignment.LIGHT_WORDS),
        "contractions": alignment.CONTRACTIONS,
        "clitics": alignment.CLITICS,
        "number_words": alignment.NUMBER_WORDS,
        "opposites": sorted(map(sorted, negation.OPPOSITES)),
        "negations": negation.NEGATIONS,
        "implicit_negations": negation.IMPLICIT_NEGATIONS,
        "units": sorted(sentence_features.UNITS),
    }


@cache
def _entities() -> dict[str, str]:
    """What ``&name;`` stands for, by ``name;``; and numbers that do not name their character."""
    numbers = {n: html.unescape(f"&#{n};") for n in range(_EXCEPTIONAL_CHARACTERS)}
    return html5 | {f"#{n}": text for n, text in numbers.items() if text != chr(n)}


def _opposed() -> object:
    """The weights that were learned from sentences."""
    return json.loads((files("pair2vec.relations") / "data" / "opposed.json").read_bytes())


def _tensors(model: Pair2vec) -> bytes:
    space = model.space
    clusters = WordClusters(space.pairs.all_inputs)
    arrays = {
        "clusters.of_words": clusters.clusters.astype(np.uint8),
        "clusters.centroids": clusters.centroids,
        "words.kinds": space.answers.kinds.astype(np.uint8),
    }
    if space.whitening_layer is not None:
        arrays |= {
            "whitening.weight": np.ascontiguousarray(space.whitening_layer.weight),
            "whitening.bias": space.whitening_layer.bias,
        }
    return save(arrays)
