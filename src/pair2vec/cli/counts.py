"""``pair2vec pmi`` and ``pair2vec contexts``: counts and association measures of a corpus."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import print_table, print_text, say
from pair2vec.cli.options import (
    CorpusArgument,
    ResultsOption,
    TopOption,
    WordArgument,
    argument,
    check_choice,
)

if TYPE_CHECKING:
    from pair2vec.theory.pmi import Counts
    from pair2vec.theory.tables import ContextOrder, PairContexts


def pmi_command(
    corpus: CorpusArgument,
    x: WordArgument,
    y: WordArgument,
    pattern: Annotated[str, argument(help="As in 'neither X nor Y'.")],
    results: ResultsOption = None,
) -> None:
    """Count a pair in a pattern, and measure their association."""
    from pair2vec.text.corpus import open_corpus
    from pair2vec.text.patterns import parse_pattern
    from pair2vec.text.vocabulary import look_up_pair
    from pair2vec.theory.counts import count_pattern

    opened = open_corpus(corpus)
    pair = look_up_pair(x, y, opened.vocabulary)
    counts = count_pattern(opened, pair, parse_pattern(pattern, opened.vocabulary))
    if results is not None:
        from pair2vec.experiments.evaluation.results import result_of_triple, write_result

        result = result_of_triple((x, y), pattern, counts, opened.manifest)
        say(f"wrote {write_result(results, result)}")
    print_table(pmi_table(x, y, pattern, counts))


def contexts(
    corpus: CorpusArgument,
    x: WordArgument,
    y: WordArgument,
    by: Annotated[str, typer.Option(help="count, pmi or mvpmi.")] = "count",
    top: TopOption = 20,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer contexts.")] = 1,
) -> None:
    """List the contexts that two words share, counted and scored."""
    from pair2vec.text.corpus import open_corpus
    from pair2vec.text.vocabulary import look_up_pair
    from pair2vec.theory.tables import ContextOrder, find_pair_contexts

    order: ContextOrder = check_choice("--by", by, get_args(ContextOrder))
    opened = open_corpus(corpus)
    shared = find_pair_contexts(opened, look_up_pair(x, y, opened.vocabulary))
    if not len(shared):
        print_text(f"{x} and {y}, in this order, never occur within five words of each other.")
        return
    print_table(contexts_table(x, y, shared, order, top, min_count))


def pmi_table(x: str, y: str, pattern: str, counts: Counts) -> Table:
    """The counts of one triple, and every association measure of them."""
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
    for name, score, meaning in _measures(counts):
        table.add_row(name, _number(score), meaning)
    return table


def contexts_table(
    x: str,
    y: str,
    contexts: PairContexts,
    by: ContextOrder = "count",
    limit: int = 20,
    min_count: int = 1,
) -> Table:
    """At most `limit` contexts of a pair, the best by `by` first."""
    ranked = contexts.ranked(by, min_count=min_count)
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


def _measures(counts: Counts) -> list[tuple[str, float, str]]:
    from pair2vec.theory.pmi import PAPER_NEGATIVES, mvpmi, pmi, si1, si2, si4

    negatives = PAPER_NEGATIVES
    k = f"k_x={negatives.k_x}, k_y={negatives.k_y}, k_c={negatives.k_c}"
    rows = {
        "MVPMI": (
            mvpmi(counts, *negatives),
            f"the optimum of the multivariate objective ({k})",
        ),
        "PMI = SI3": (pmi(counts), "pair and context, against pair and context by chance"),
        "SI1": (si1(counts), "below 0: the three attract beyond what each two of them do"),
        "SI2": (si2(counts), "x, y and c, against all three by chance"),
        "SI4": (si4(counts), "x and y within this context, against both there by chance"),
    }
    return [(name, float(score), meaning) for name, (score, meaning) in rows.items()]


def _number(score: float) -> str:
    return f"{score:.2f}" if abs(score) < inf else ("∞" if score > 0 else "-∞")
