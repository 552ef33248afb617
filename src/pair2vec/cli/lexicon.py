"""What a lexicon has: entries by relation, and how many of a sample WordNet confirms."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import messages, one_thread_each, say
from pair2vec.cli.options import ModelOption, OverwriteOption
from pair2vec.cli.questions import lines_of
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.api import Pair2vec
    from pair2vec.lexicon.candidates import Terms
    from pair2vec.lexicon.export import LexiconEntry
    from pair2vec.lexicon.wordnet_check import WordNetAgreement
    from pair2vec.text.corpus import Corpus


def lexicon_summary(
    entries: Sequence[LexiconEntry], checked: Sequence[WordNetAgreement] | None, out: Path
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


def _note(checked: Sequence[WordNetAgreement] | None) -> str:
    if checked is None:
        return "WordNet is not here to estimate the precision by (--wordnet FOLDER)."
    return (
        "“In WordNet”: entries of a sample whose two words it has; “confirmed”: of these, the "
        "share in which it says the same. What it does not say may be true all the same."
    )


# == The command that makes a lexicon.


def lexicon(  # noqa: PLR0913, PLR0917 - the options of a command
    corpus: Annotated[Path, typer.Argument(help="A corpus folder.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The file to write.", show_default=False)],
    words: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The terms, one a line; - is standard input.",
            show_default="keywords of the corpus",
        ),
    ] = None,
    keywords: Annotated[
        int, typer.Option(min=2, help="Without --words: so many keywords of the corpus.")
    ] = 1_000,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format", help="tsv, jsonl, ttl (SKOS) or solr.", show_default="by the name of --out"
        ),
    ] = None,
    relation: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this one; repeatable.", show_default="all"),
    ] = None,
    relations: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Relations of your own, as TOML (docs/relations.md)."),
    ] = None,
    probability: Annotated[float, typer.Option(min=0, max=1, help="The least of an entry.")] = 0.65,
    unrelated: Annotated[
        float,
        typer.Option(min=0.01, max=0.99, help="The share of candidates without any relation."),
    ] = 0.9,
    per_term: Annotated[int, typer.Option(min=1, help="The most entries of a term.")] = 20,
    evidence: Annotated[int, typer.Option(min=0, max=3, help="Sentences of an entry.")] = 3,
    needs_evidence: Annotated[
        bool, typer.Option("--needs-evidence", help="Leave out entries without a sentence.")
    ] = False,
    wordnet: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="WordNet, to estimate the precision by."),
    ] = None,
    model: ModelOption = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes.", show_default="one a core")
    ] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Make a lexicon of a corpus: which terms are related, how, and where it says so.

    Stopped or killed, the same command goes on from what is done.
    """
    one_thread_each()
    from pair2vec.api import load
    from pair2vec.cli.messages import show_count
    from pair2vec.lexicon.build import LexiconConfig, LexiconInputs, build_lexicon
    from pair2vec.lexicon.export import format_of
    from pair2vec.lexicon.inverted_index import open_index
    from pair2vec.relations.definitions import read_definitions
    from pair2vec.text.corpus import open_corpus

    kind = format_of(out, file_format)
    wanted = _wanted(relation or [], [one.name for one in read_definitions(relations)])
    opened, asked = open_corpus(corpus), load(model)
    terms = _terms(opened, asked, words, keywords)
    with show_count("tokens", messages) as report:
        open_index(opened, report)
    config = LexiconConfig(
        relations=wanted,
        probability=probability,
        unrelated=unrelated,
        per_term=per_term,
        evidence=evidence,
        needs_evidence=needs_evidence,
    )
    places = LexiconInputs(
        corpus=opened.folder,
        model=asked.saved.folder,
        relations=relations,
        terms=tuple(terms.words),
    )
    with show_count("terms", messages) as report:
        entries = build_lexicon(
            places,
            config,
            out,
            kind,
            workers=workers or len(os.sched_getaffinity(0)),
            overwrite=overwrite,
            report=report,
        )
    console = Console(highlight=False)
    console.print(lexicon_summary(entries, _checked(entries, wordnet), out))


def _wanted(typed: list[str], known: list[str]) -> tuple[str, ...]:
    """Relations by name, if they are known."""
    for name in typed:
        if name not in known:
            raise UsageError(f"--relation {name}: it must be one of {', '.join(known)}")
    return tuple(typed)


def _terms(corpus: Corpus, model: Pair2vec, words: Path | None, count: int) -> Terms:
    from pair2vec.lexicon.candidates import keywords, terms_of

    if words is None:
        return keywords(corpus, model.vocabulary, count)
    terms = terms_of(lines_of(words).values(), corpus.vocabulary, model.vocabulary)
    if terms.unknown:
        shown = ", ".join(terms.unknown[:5]) + (", …" if len(terms.unknown) > 5 else "")
        say(f"{words}: {len(terms.unknown):,} terms are left out as unknown: {shown}")
    return terms


def _checked(entries: list[LexiconEntry], wordnet: Path | None) -> list[WordNetAgreement] | None:
    """By WordNet, where it is installed; None where it is not."""
    from pair2vec.errors import InputError
    from pair2vec.lexicon.wordnet_check import check_against_wordnet
    from pair2vec.wordnet.dictionary import WordNet

    try:
        return check_against_wordnet(entries, WordNet.open(wordnet))
    except InputError:
        if wordnet is not None:
            raise
        return None
