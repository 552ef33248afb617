"""A label, how sure it is, and the pairs of words that mattered most."""

from collections.abc import Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.nli.explanation import Explanation


def explanation_table(explanation: Explanation, sentences: Sequence[str]) -> Group:
    """The answer first, then why."""
    chances = ", ".join(f"{name} {share:.1%}" for name, share in explanation.probabilities.items())
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for name in ("premise", "hypothesis"):
        table.add_column(name)
    for name in ("through pairs", "through words", "attention"):
        table.add_column(name, justify="right", no_wrap=True)
    for share in explanation.shares:
        numbers = (f"{share.pairs:+.3f}", f"{share.words:+.3f}", f"{share.attention:.2f}")
        table.add_row(Text(share.premise), Text(share.hypothesis), *numbers)
    caption = (
        f"What each pair adds to the score of “{explanation.label}” over the mean of the others, "
        "to first order: by what is known of the pair, and by the alignment of its words."
    )
    premise, hypothesis = sentences
    return Group(
        Text(f"“{premise}” → “{hypothesis}”: {explanation.label}", style="bold"),
        Text(chances),
        table,
        Text(caption, style="dim"),
    )
