"""A corpus or a model in a few lines."""

from collections.abc import Mapping
from pathlib import Path

from rich.filesize import decimal
from rich.table import Table

from pair2vec.text.corpus import Manifest
from pair2vec.text.places import Place


def corpus_summary(folder: Place, manifest: Manifest) -> Table:
    """What a corpus holds, and what its vocabulary left out."""
    dropped = "  ".join(f"{word} ({count:,})" for word, count in manifest.dropped) or "none"
    rows = {
        "corpus": str(folder),
        "documents": f"{manifest.documents:,}",
        "sentences": f"{manifest.sentences:,}",
        "tokens": f"{manifest.tokens:,}",
        "vocabulary": f"{manifest.words:,} words",
        "out of vocabulary": f"{manifest.share_out_of_vocabulary:.2%} of the text's "
        f"{manifest.text_tokens:,} tokens",
        "most frequent dropped": dropped,
        "made from": "  ".join(
            f"{Path(source['name']).name} ({decimal(source['bytes'])})"
            for source in manifest.sources[:5]
        )
        + (f"  and {len(manifest.sources) - 5} more" if len(manifest.sources) > 5 else ""),
        "fingerprint": manifest.fingerprint[:16],
    }
    if manifest.invalid_bytes:
        rows["invalid UTF-8"] = f"{manifest.invalid_bytes:,} places, replaced by white space"
    return facts_table(rows)


def facts_table(facts: Mapping[str, str]) -> Table:
    """Names and values, one a line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, value)
    return table


def models_table(models: Mapping[str, Mapping[str, str]]) -> Table:
    """One model a row: its name, and what `model_facts` says of it."""
    columns = {"words": "words", "size on disk": "size", "corpus tokens": "tokens learnt from"}
    table = Table(box=None, pad_edge=False)
    for title in ("name", *columns.values(), "licence"):
        table.add_column(title, justify="left" if title in {"name", "licence"} else "right")
    for name, facts in models.items():
        values = [facts.get(fact, "–") for fact in columns]
        table.add_row(name, *values, facts.get("licence", "–"))
    return table
