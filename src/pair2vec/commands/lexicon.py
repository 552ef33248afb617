"""The command that makes a lexicon."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pair2vec.commands.cores import one_thread_each
from pair2vec.commands.messages import messages, say
from pair2vec.commands.options import ModelOption, OverwriteOption
from pair2vec.commands.word_lists import lines_of
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.lexicon.checking import Checked
    from pair2vec.lexicon.entries import Entry
    from pair2vec.lexicon.terms import Terms
    from pair2vec.query import Pair2vec
    from pair2vec.text.corpus import Corpus


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
    from pair2vec.display.counting import shown_count
    from pair2vec.display.lexicon_summary import lexicon_summary
    from pair2vec.lexicon.exports import format_of
    from pair2vec.lexicon.making import make_lexicon
    from pair2vec.lexicon.occurrences import open_occurrences
    from pair2vec.lexicon.portions import LexiconConfig, LexiconPlaces
    from pair2vec.query import load
    from pair2vec.query.relation_definitions import read_definitions
    from pair2vec.text.corpus import open_corpus

    kind = format_of(out, file_format)
    wanted = _wanted(relation or [], [one.name for one in read_definitions(relations)])
    opened, asked = open_corpus(corpus), load(model)
    terms = _terms(opened, asked, words, keywords)
    with shown_count("tokens", messages) as report:
        open_occurrences(opened, report)
    config = LexiconConfig(
        relations=wanted,
        probability=probability,
        unrelated=unrelated,
        per_term=per_term,
        evidence=evidence,
        needs_evidence=needs_evidence,
    )
    places = LexiconPlaces(
        corpus=opened.folder,
        model=asked.saved.folder,
        relations=relations,
        terms=tuple(terms.words),
    )
    with shown_count("terms", messages) as report:
        entries = make_lexicon(
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


def _terms(corpus: "Corpus", model: "Pair2vec", words: Path | None, count: int) -> "Terms":
    from pair2vec.lexicon.terms import keywords, terms_of

    if words is None:
        return keywords(corpus, model.vocabulary, count)
    terms = terms_of(lines_of(words).values(), corpus.vocabulary, model.vocabulary)
    if terms.unknown:
        shown = ", ".join(terms.unknown[:5]) + (", …" if len(terms.unknown) > 5 else "")
        say(f"{words}: {len(terms.unknown):,} terms are left out as unknown: {shown}")
    return terms


def _checked(entries: "list[Entry]", wordnet: Path | None) -> "list[Checked] | None":
    """By WordNet, where it is installed; None where it is not."""
    from pair2vec.errors import InputError
    from pair2vec.lexicon.checking import check
    from pair2vec.wordnet.dictionary import WordNet

    try:
        return check(entries, WordNet.open(wordnet))
    except InputError:
        if wordnet is not None:
            raise
        return None
