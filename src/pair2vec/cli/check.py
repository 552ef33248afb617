"""``pair2vec check``: is a model any good? Also the verdict that training ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table

from pair2vec.cli.messages import facts_table, print_result, print_table, say
from pair2vec.cli.options import argument
from pair2vec.cli.query_io import open_model
from pair2vec.errors import Pair2vecError
from pair2vec.rendering import percent

if TYPE_CHECKING:
    from pair2vec.model.folder import SavedModel
    from pair2vec.relations.verdict import CheckedPair, CheckedRelation, ModelCheck

_UNRECORDED = "not recorded"


def check(
    model: Annotated[
        str | None,
        argument(
            help="The model: a folder, a bundled model, or owner/name on the hub.",
            show_default="the bundled model",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object (docs/reference/json.md).")
    ] = False,
) -> None:
    """Ask a model about common words: is it any good, and what to do if it is not?

    Takes some ten seconds, and needs nothing but the model (docs/how-to/check.md).
    """
    found = open_model(model).check()
    print_result(found.as_json(), check_report(found), as_json=as_json)


def print_verdict(saved: SavedModel, *, quiet: bool = False) -> None:
    """The verdict on a model that was just trained, in a few lines."""
    from pair2vec.api import Pair2vec

    if quiet:
        return
    try:
        found = Pair2vec(saved).check()
    except Pair2vecError as error:
        # The model is there and complete, whatever is wrong with its answers.
        say(f"no verdict: {error}")
    else:
        print_table(verdict_table(found))


def verdict_table(found: ModelCheck) -> Table:
    """The verdict, the reasons for it, and what to do next."""
    return facts_table(
        {
            "verdict": found.verdict,
            "because": "\n".join(found.reasons),
            "next": "\n".join(found.advice),
        }
    )


def check_report(found: ModelCheck) -> RenderableType:
    """All that was found out; the verdict comes last, where it is read first."""
    facts, pairs = facts_table(_facts(found)), _pairs_table(found.pairs)
    tables = [facts, pairs] if found.pairs else [facts]
    if found.analogies:
        tables.append(_analogies_table([*found.analogies, found.right]))
    return Group(*tables, verdict_table(found))


def _facts(found: ModelCheck) -> dict[str, str]:
    loss, spread, coverage = found.loss, found.spread, found.coverage
    facts = {"model": found.model, "held-out loss": _UNRECORDED}
    if loss:
        facts["held-out loss"] = (
            f"{loss.loss:.3f}, {percent(loss.share)} of that of a model that knows nothing, "
            f"{loss.undecided:.3f}"
        )
    facts["pair vectors"] = (
        f"random pairs: mean cosine {spread.mean_cosine:.2f}, effective rank "
        f"{spread.effective_rank:.1f} of {spread.dimension}"
    )
    starts = {None: _UNRECORDED, True: "given", False: "none: it began with random ones"}
    facts["initial word vectors"] = starts[found.starts_from_vectors]
    of_text = _UNRECORDED if coverage.of_text is None else f"{coverage.of_text:.1%}"
    facts["words"] = f"{coverage.words:,}; share of its text: {of_text}"
    facts["common English words"] = (
        f"{coverage.common_known} of {coverage.common_words}"
        f"{'' if coverage.english else '; its text is not English'}"
    )
    if found.names:
        names = found.names
        facts["relations named"] = (
            f"{percent(names.right)} of {names.pairs} right; of {names.unrelated} unrelated pairs "
            f"{percent(names.called_related)} called related"
        )
    return facts


def _pairs_table(pairs: list[CheckedPair]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("pair")
    is_named = any(pair.relation for pair in pairs)
    if is_named:
        table.add_column("relation")
    table.add_column("the nearest pairs")
    for pair in pairs:
        name = pair.relation
        named = [f"{name.name}, {percent(name.probability)}" if name else ""] if is_named else []
        like = ", ".join(f"{match.x} : {match.y}" for match in pair.like)
        table.add_row(f"{pair.x} : {pair.y}", *named, like)
    return table


def _analogies_table(analogies: list[CheckedRelation]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        caption="Share of analogies right; by words: 3CosAdd",
        caption_justify="left",
    )
    table.add_column("analogies")
    for name in ("questions", "right", "by pairs", "by words", "chance"):
        table.add_column(name, justify="right")
    for relation in analogies:
        shares = (relation.right, relation.by_pairs, relation.by_words)
        if relation is analogies[-1]:
            table.add_section()
        table.add_row(
            relation.relation,
            f"{relation.questions}",
            *map(percent, shares),
            f"{relation.chance:.1%}",
        )
    return table
