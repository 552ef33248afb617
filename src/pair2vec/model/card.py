"""The model card: a Markdown page of what the config says, and nothing else.

It shows these keys of the config, each of which may be absent: ``name``, ``created``, ``corpus``
(``documents``, ``sentences``, ``tokens``, ``fingerprint``, ``sources``), ``recipe``, ``triples``,
``teaching`` (``language_model``, ``candidates``, ``weights``, ``labelled``), ``continued``
(``model``, ``corpus``, ``new_words``, ``triples``, ``before``), ``metrics``, ``shrunk``,
``licence``, ``notes`` (a list of lines), and what `save_model` adds.
"""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from rich.filesize import decimal

Config = Mapping[str, Any]

SHORT_FINGERPRINT = 16
"""Characters of a corpus' fingerprint that identify it."""

_INTRODUCTION = """\
A [pair2vec](https://arxiv.org/abs/1810.08854) model: a vector for the *relation* between any two
words it knows, R(x, y), and one for any context of two words, C(c), learned from plain text so
that R(x, y) · C(c) is high where the text joins x and y by c."""

_USE = """\
```
pair2vec fill "X and Y" --x hot --model FOLDER
```
```python
import pair2vec

pair2vec.load("FOLDER").pair("hot", "cold")
```
where FOLDER is the folder of this file."""

_LIMITS = """\
- A word outside `vocabulary.txt` has no vector of its own.
- A word has one vector, whatever its senses.
- What the text says is learned, right or wrong, fair or not."""

_PRECISION_LIMITS = {
    "float16": "- Tables are rounded to float16.",
    "int8": "- Tables are rounded to eight bits: by at most 1/254 of a row's largest value.",
}


def model_card(config: Config) -> str:
    """The card of the model that `config` describes."""
    limits = "\n".join(filter(None, [_LIMITS, _PRECISION_LIMITS.get(config.get("precision", ""))]))
    sections = {
        "Size": _table(size_facts(config)),
        "Corpus": _table(corpus_facts(config)),
        "Recipe": _table(flat_settings(config.get("recipe"), "recipe")),
        "Taught": _table(teaching_facts(config)),
        "Continued": _table(continued_facts(config)),
        "Metrics": _table(flat_settings(config.get("metrics"), "metric")),
        "Shrunk": _table(flat_settings(config.get("shrunk"), "shrunk")),
        "Use": _USE,
        "Limits": limits,
        "Notes": "\n".join(f"- {_in_one_line(note)}" for note in config.get("notes", [])),
        "Licence": _in_one_line(config.get("licence", "")),
    }
    licence = f"license: {_in_one_line(config['licence'])}\n" if "licence" in config else ""
    front = f"---\nlibrary_name: pair2vec\n{licence}---\n"
    title = f"# {_in_one_line(config.get('name', 'pair2vec model'))}"
    bodies = [f"## {heading}\n\n{body}" for heading, body in sections.items() if body]
    return "\n\n".join([front + title, _INTRODUCTION, *bodies]) + "\n"


def size_facts(config: Config) -> dict[str, str]:
    """Size, precision, date and version."""
    facts: dict[str, str] = {}
    if "words" in config:
        facts["words"] = f"{config['words']:,}"
    shapes = config.get("tensors", {})
    # By convention a tensor with one row per word is called "<encoder>.words".
    dimensions = {shape[-1] for name, shape in shapes.items() if name.endswith(".words")}
    if dimensions:
        facts["dimension"] = ", ".join(map(str, sorted(dimensions)))
    if shapes:
        facts["parameters"] = f"{sum(math.prod(shape) for shape in shapes.values()):,}"
    if "bytes" in config:
        facts["model.safetensors"] = decimal(config["bytes"])
    for key, name in {
        "precision": "precision",
        "created": "created",
        "version": "pair2vec version",
    }.items():
        if key in config:
            facts[name] = str(config[key])
    return facts


def corpus_facts(config: Config) -> dict[str, str]:
    """What the model was trained on."""
    corpus = config.get("corpus", {})
    if not isinstance(corpus, Mapping):
        corpus = {"fingerprint": corpus}
    facts = {
        name: _printable_count(corpus[name])
        for name in ("documents", "sentences", "tokens")
        if name in corpus
    }
    if "fingerprint" in corpus:
        facts["fingerprint"] = str(corpus["fingerprint"])
    if isinstance(corpus.get("sources"), list | tuple) and corpus["sources"]:
        facts["sources"] = ", ".join(_source_name(source) for source in corpus["sources"])
    if "triples" in config:
        facts["triples seen"] = _printable_count(config["triples"])
    return facts


def teaching_facts(config: Config) -> dict[str, str]:
    """By whom the model was taught relations, and on what."""
    teaching = config.get("teaching", {})
    facts = {}
    if "language_model" in teaching:
        lexical = teaching.get("lexical", [])
        names = ["WordNet", *(map(_printable, lexical) if isinstance(lexical, list) else [])]
        if teaching["language_model"]:
            names.append(_printable(teaching["language_model"]))
        if teaching.get("taught_model"):
            names.append(f"the model {_printable(teaching['taught_model'])} taught before")
        facts["taught by"] = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    if "candidates" in teaching:
        facts["pairs labelled by teachers"] = _printable_count(teaching["candidates"])
    if isinstance(teaching.get("weights"), Mapping):
        facts["weights of teachers"] = ", ".join(
            f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {_printable(value)}"
            for name, value in teaching["weights"].items()
        )
    if isinstance(teaching.get("labelled"), Mapping):
        parts = teaching["labelled"].items()
        counts = ", ".join(f"{part} {_printable_count(count)}" for part, count in parts)
        facts["pairs of WordNet"] = f"{counts}; no word in two parts"
    return facts


def continued_facts(config: Config) -> dict[str, str]:
    """From which model it was continued, with what text; the last time first."""
    facts: dict[str, str] = {}
    continued, number = config.get("continued"), 1
    while isinstance(continued, Mapping):
        text = corpus_facts(continued)
        parts = [
            _printable(continued.get("model", "")),
            f"{text['tokens']} tokens" if "tokens" in text else "",
            f"of {text['sources']}" if "sources" in text else "",
            f"{text['triples seen']} triples" if "triples seen" in text else "",
            f"{_printable_count(continued.get('new_words', 0))} new words",
        ]
        again = f" ({number})" if number > 1 else ""
        facts[f"continued from{again}"] = ", ".join(filter(None, parts))
        continued, number = continued.get("before"), number + 1
    return facts


def flat_settings(value: object, name: str) -> dict[str, str]:
    """Any JSON as printable values by dotted names; what is not an object is called `name`.

    An object without further objects in it is one line.
    """
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return dict(_leaves(value))
    return {name: _printable(value)}


def _leaves(value: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        if isinstance(item, Mapping) and any(isinstance(part, Mapping) for part in item.values()):
            yield from _leaves(item, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _printable(item)


def _printable(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_printable(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_printable, value))
    if isinstance(value, float):
        return f"{value:.6g}"
    return json.dumps(value, ensure_ascii=False)


def _printable_count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else _printable(value)


def _source_name(source: object) -> str:
    """The file's name alone: its folder is private, and of no use to a reader."""
    name = source.get("name", "") if isinstance(source, Mapping) else source
    return PurePath(str(name)).name


def _in_one_line(text: object) -> str:
    return " ".join(str(text).split())


def _table(facts: Mapping[str, str]) -> str:
    if not facts:
        return ""
    rows = (
        " | ".join(_in_one_line(cell).replace("|", r"\|") for cell in row) for row in facts.items()
    )
    return "| | |\n| --- | --- |\n" + "\n".join(f"| {row} |" for row in rows)
