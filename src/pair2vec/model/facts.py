"""A model in a few printable lines."""

from rich.filesize import decimal

from pair2vec.model.card import SHORT_FINGERPRINT, corpus_facts, flattened, size_facts
from pair2vec.model.folder import FILES, SavedModel


def model_facts(saved: SavedModel) -> dict[str, str]:
    """What is known of a model, as printable values by name; what is not known is left out."""
    config = saved.config
    size = sum(path.stat().st_size for path in map(saved.folder.joinpath, FILES) if path.exists())
    facts = {"model": str(saved.folder), **size_facts(config), "size on disk": decimal(size)}
    facts.pop("model.safetensors", None)
    recipe = config.get("recipe")
    name = recipe.get("name") if isinstance(recipe, dict) else recipe
    if isinstance(name, str):
        facts["recipe"] = name
    corpus = corpus_facts(config)
    if "fingerprint" in corpus:
        facts["corpus fingerprint"] = corpus["fingerprint"][:SHORT_FINGERPRINT]
    if "tokens" in corpus:
        facts["corpus tokens"] = corpus["tokens"]
    if "triples seen" in corpus:
        facts["triples seen"] = corpus["triples seen"]
    if "licence" in config:
        facts["licence"] = str(config["licence"])
    # Under a name of their own, so that a metric called "words" is not taken for the size.
    metrics = flattened(config.get("metrics") or None, "metric")
    return {**facts, **{f"metrics.{name}": value for name, value in metrics.items()}}
