"""How strongly two words and a context attract, as tables."""

from math import inf

from rich.table import Table
from rich.text import Text

from pair2vec.theory.pair_contexts import Order, PairContexts
from pair2vec.theory.pmi import PAPER, Counts, Negatives, mvpmi, pmi, si1, si2, si4


def pmi_table(x: str, y: str, pattern: str, counts: Counts, negatives: Negatives = PAPER) -> Table:
    """The counts of a pair in a pattern, and every measure made of them.

    Args:
        x: The first word, as the title shall show it.
        y: The second word.
        pattern: The pattern, as typed.
        counts: Of this one triple.
        negatives: The k_x, k_y and k_c of MVPMI.
    """
    table = Table(
        title=Text(f"{x}, {y} in “{pattern}”"),
        caption="Counts are of pairs of words 1 to 5 apart; logarithms are natural.",
    )
    table.add_column("measure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("meaning")
    for name, count, meaning in _counts(x, y, counts):
        table.add_row(name, f"{count:,}", Text(meaning))
    table.add_section()
    for name, score, meaning in _measures(counts, negatives):
        table.add_row(name, _number(score), meaning)
    return table


def contexts_table(
    x: str,
    y: str,
    contexts: PairContexts,
    by: Order = "count",
    limit: int = 20,
    min_count: int = 1,
    negatives: Negatives = PAPER,
) -> Table:
    """The best contexts of a pair.

    Args:
        x: The first word, as the title shall show it.
        y: The second word.
        contexts: All contexts of the pair.
        by: What is best: "count", "pmi" or "mvpmi".
        limit: The most rows.
        min_count: Leaves out rarer contexts.
        negatives: The k_x, k_y and k_c of MVPMI.
    """
    ranked = contexts.ranked(by, min_count=min_count, negatives=negatives)
    table = Table(
        title=Text(f"{x}, {y}: contexts by {by}"),
        caption=f"{min(limit, len(ranked)):,} of {len(contexts):,} contexts; "
        "<s> is a sentence's edge; logarithms are natural.",
    )
    table.add_column("rank", justify="right")
    table.add_column("context", overflow="fold")
    for name in ("count", "PMI", "MVPMI"):
        table.add_column(name, justify="right", no_wrap=True)
    for rank, row in enumerate(ranked[:limit], start=1):
        scores = (_number(row.pmi), _number(row.mvpmi))
        table.add_row(str(rank), Text(row.text), f"{row.frequency:,}", *scores)
    return table


def _counts(x: str, y: str, counts: Counts) -> list[tuple[str, int, str]]:
    rows = {
        "#(x,y,c)": (counts.xyc, f"{x} and {y} in this context"),
        "#(x,y,·)": (counts.xy, f"{x} before {y}, in any context"),
        "#(x,·,c)": (counts.xc, f"{x} and any y in this context"),
        "#(·,y,c)": (counts.yc, f"any x and {y} in this context"),
        "#(x,·,·)": (counts.x, f"{x} before any word"),
        "#(·,y,·)": (counts.y, f"{y} behind any word"),
        "#(·,·,c)": (counts.c, "any two words in this context"),
        "#(·,·,·)": (counts.total, "all triples"),
    }
    return [(name, int(count), meaning) for name, (count, meaning) in rows.items()]


def _measures(counts: Counts, negatives: Negatives) -> list[tuple[str, float, str]]:
    k = f"k_x={negatives.k_x}, k_y={negatives.k_y}, k_c={negatives.k_c}"
    rows = {
        "MVPMI": (
            mvpmi(counts, *negatives),
            f"what the multivariate objective tends to ({k})",
        ),
        "PMI = SI3": (pmi(counts), "pair and context, against pair and context by chance"),
        "SI1": (si1(counts), "below 0: the three attract beyond what each two of them do"),
        "SI2": (si2(counts), "x, y and c, against all three by chance"),
        "SI4": (si4(counts), "x and y within this context, against both there by chance"),
    }
    return [(name, float(score), meaning) for name, (score, meaning) in rows.items()]


def _number(score: float) -> str:
    return f"{score:.2f}" if abs(score) < inf else ("∞" if score > 0 else "-∞")
