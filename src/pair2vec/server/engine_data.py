"""What the engine of the explorer page needs of Python, to answer without a server.

The engine (``static/engine/``) reads the model folder itself. Beside it stand two files:
``engine.json`` with the lists, constants and definitions that rules here go by, and
``engine.safetensors`` with what is computed from a model once: whitening, clusters of words, and
the regressions that relations are fitted by to a model without a relation head.
"""

import html
import json
from dataclasses import asdict
from functools import cache
from html.entities import html5
from importlib.resources import files

import numpy as np
from safetensors.numpy import save

from pair2vec.api import Pair2vec
from pair2vec.arrays import FloatArray
from pair2vec.query import composition
from pair2vec.query.context_encoder import OPEN_WORDS
from pair2vec.query.pair_encoder import LinearLayer
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
from pair2vec.relations.features import NEAREST_EXAMPLES
from pair2vec.relations.opposed import MOST_OF_SAME
from pair2vec.server.endpoints import Endpoint, Resources, available_endpoints, games_json

TENSORS = "engine.safetensors"
FACTS = "engine.json"

_EXCEPTIONAL_CHARACTERS = 0xA0
"""Numbers of characters below it may stand for others."""


def engine_files(model: Pair2vec) -> dict[str, bytes]:
    """The files by name; of a model without a relation head, its relations are fitted for them."""
    resources = Resources(model)
    facts = {
        "facts": {**model.info(), "model": model.saved.folder.name},
        "endpoints": list(map(_declared, available_endpoints(resources))),
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
            "NEAREST_EXAMPLES": NEAREST_EXAMPLES,
            "composition": _composition(),
        },
        "relations": _relations(resources),
        "lists": _lists(),
        "play": games_json(model.vocabulary),
        "entities": _entities(),
        "opposed": _opposed(),
    }
    return {FACTS: json.dumps(facts, ensure_ascii=False).encode(), TENSORS: _tensors(resources)}


def _declared(endpoint: Endpoint) -> dict[str, object]:
    parameters = [
        {slot: getattr(parameter, slot) for slot in parameter.__slots__}
        for parameter in endpoint.parameters
    ]
    return {"name": endpoint.name, "parameters": parameters}


def _composition() -> dict[str, object]:
    """The numbers that unknown words are composed by."""
    constants = ((name, value) for name, value in vars(composition).items() if name.isupper())
    numbers = {name: value for name, value in constants if isinstance(value, int | float)}
    return {**numbers, "WEIGHTS": asdict(composition.CompositionWeights())}


def _relations(resources: Resources) -> dict[str, object] | None:
    if not resources.has_relations:
        return None
    known = resources.relations
    return {
        "names": known.names,
        "thresholds": known.thresholds.tolist(),
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


def _tensors(resources: Resources) -> bytes:
    space = resources.model.space
    clusters = WordClusters(space.pairs.all_inputs)
    arrays = {
        "clusters.of_words": clusters.clusters.astype(np.uint8),
        "clusters.centroids": clusters.centroids,
        "words.kinds": space.answers.kinds.astype(np.uint8),
    }
    if space.whitening_layer is not None:
        arrays |= _layer("whitening", space.whitening_layer)
    scorer = resources.relations.scorer if resources.has_relations else None
    if isinstance(scorer, relations.FittedScorer):
        features, regression = scorer.fitted
        examples = features.examples
        arrays |= {
            "relations.mean": regression.mean,
            "relations.weight": regression.weight,
            **_layer("relations.patterns", features.patterns.linear),
            **_layer("relations.calibration", LinearLayer(*regression.calibration)),
            "relations.offsets": features.offsets,
            "relations.examples": np.array([examples.x, examples.y, examples.relation], np.int32),
        }
    return save(arrays)


def _layer(name: str, layer: LinearLayer) -> dict[str, FloatArray]:
    weight = np.ascontiguousarray(layer.weight)
    return {f"{name}.weight": weight, f"{name}.bias": np.ascontiguousarray(layer.bias)}
