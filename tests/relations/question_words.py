"""The words that `pair2vec check` asks about."""

import tomllib
from importlib.resources import files


def question_words() -> list[str]:
    """Of all pairs of the list, each once."""
    text = (files("pair2vec.relations") / "data" / "check.toml").read_text("utf-8")
    pairs = [pair for table in tomllib.loads(text)["analogies"].values() for pair in table["pairs"]]
    return list(dict.fromkeys(word for pair in pairs for word in pair.replace("/", " ").split()))
