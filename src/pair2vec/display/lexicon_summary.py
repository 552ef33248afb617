"""What a lexicon has: entries by relation, and how many of a sample WordNet confirms."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pair2vec.lexicon.checking import Checked
from pair2vec.lexicon.entries import Entry


def lexicon_summary(
    entries: Sequence[Entry], checked: Sequence[Checked] | None, out: Path
) -> RenderableType:
    """A table of relations; `checked` is None where there is no WordNet."""
    by_relation = {one.relation: one for one in checked or ()}
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("relation")
    for name in ("entries", "with evidence", "in WordNet", "confirmed"):
        table.add_column(name, justify="right")
    counts = Counter(entry.relation for entry in entries)
    evident = Counter(entry.relation for entry in entries if entry.evidence)
    for relation, count in counts.most_common():
        one = by_relation.get(relation)
        confirmed = [f"{one.entries:,}", f"{one.confirmed / one.entries:.0%}"] if one else ["", ""]
        table.add_row(relation, f"{count:,}", f"{evident[relation]:,}", *confirmed)
    return Group(Text(f"{out}: {len(entries):,} entries"), table, Text(_note(checked)))


def _note(checked: Sequence[Checked] | None) -> str:
    if checked is None:
        return "WordNet is not here to estimate the precision by (--wordnet FOLDER)."
    return (
        "“In WordNet”: entries of a sample whose two words it has; “confirmed”: of these, the "
        "share in which it says the same. What it does not say may be true all the same."
    )
