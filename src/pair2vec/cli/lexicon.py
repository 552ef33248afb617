"""``pair2vec lexicon``: which terms of a corpus are related, how, and where the text says so."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import (
    print_table,
    say,
    show_count,
    use_one_thread_each,
)
from pair2vec.cli.options import (
    CorpusArgument,
    ModelOption,
    OverwriteOption,
    RelationsOption,
    WorkersOption,
    check_choice,
)
from pair2vec.cli.query_io import read_lines
from pair2vec.cli.signals import terminated_like_ctrl_c
from pair2vec.errors import InputError

if TYPE_CHECKING:
    from pair2vec.api import Pair2vec
    from pair2vec.lexicon.build import WordNetAgreement
    from pair2vec.lexicon.candidates import Terms
    from pair2vec.lexicon.thesaurus import LexiconEntry
    from pair2vec.text.corpus import Corpus


_TermsOption = Annotated[
    Path | None,
    typer.Option(
        "--words",
        metavar="FILE",
        help="The terms, one a line; - is standard input.",
        show_default="keywords of the corpus",
    ),
]


def lexicon(  # noqa: PLR0913, PLR0917 - the options of a command
    corpus: CorpusArgument,
    out: Annotated[Path, typer.Option(help="The file to write.", show_default=False)],
    words: _TermsOption = None,
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
    relations: RelationsOption = None,
    probability: Annotated[
        float, typer.Option(min=0, max=1, help="The lowest probability of an entry.")
    ] = 0.8,
    unrelated: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=0.99,
            help="The share of candidates without any relation.",
            show_default="as the model's relation head is calibrated; 0.9 for fitted relations",
        ),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A lexicon in TSV of these terms with marks in its columns accept and reject: "
            "they are applied, and the probabilities of the others corrected by them.",
        ),
    ] = None,
    per_term: Annotated[int, typer.Option(min=1, help="The most entries of a term.")] = 20,
    evidence: Annotated[int, typer.Option(min=0, max=3, help="Sentences of an entry.")] = 3,
    needs_evidence: Annotated[
        bool, typer.Option("--needs-evidence", help="Leave out entries without a sentence.")
    ] = False,
    wordnet: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="WordNet, to estimate the precision by."),
    ] = None,
    base_uri: Annotated[
        str, typer.Option(metavar="URI", help="SKOS: what all addresses begin with.")
    ] = "urn:pair2vec:lexicon#",
    merge_synonyms: Annotated[
        bool,
        typer.Option(
            "--merge-synonyms/--match-synonyms",
            help="SKOS: synonyms are labels of one concept, or concepts that are exactMatch.",
        ),
    ] = True,
    exact_match: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="SKOS: the lowest probability of synonyms to merge or exactMatch; others are "
            "related or closeMatch.",
        ),
    ] = 0.9,
    language: Annotated[
        str, typer.Option(metavar="TAG", help="SKOS: the language of labels and sentences.")
    ] = "en",
    model: ModelOption = None,
    workers: WorkersOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Build a lexicon of a corpus: which terms are related, how, and where it says so.

    Stopped or killed, the same command resumes from what is done.
    """
    use_one_thread_each()
    from pair2vec.api import load
    from pair2vec.lexicon.build import LexiconConfig, LexiconInputs, build_lexicon
    from pair2vec.lexicon.export import ExportConfig, lexicon_format
    from pair2vec.lexicon.inverted_index import open_index
    from pair2vec.lexicon.review import read_review
    from pair2vec.text.corpus import open_corpus

    export = ExportConfig(
        file_format=lexicon_format(out, file_format),
        base_uri=base_uri,
        merges_synonyms=merge_synonyms,
        exact_match=exact_match,
        language=language,
    )
    config = LexiconConfig(
        relations=tuple(relation or ()),
        probability=probability,
        unrelated=unrelated,
        per_term=per_term,
        evidence=evidence,
        needs_evidence=needs_evidence,
    )
    opened, loaded = open_corpus(corpus), load(model)
    names = loaded.relations(relations).names[:-1]
    for name in relation or []:
        check_choice("--relation", name, names)
    terms = _find_terms(opened, loaded, words, keywords)
    with show_count("tokens") as report, terminated_like_ctrl_c():
        open_index(opened, report)
    inputs = LexiconInputs(
        corpus=opened.folder,
        model=loaded.saved.folder,
        relations=relations,
        terms=tuple(terms.words),
        review=review,
    )
    if review is not None:
        read_review(review)  # What is wrong with it is said before the work begins.
    with show_count("terms") as report, terminated_like_ctrl_c():
        entries = build_lexicon(
            inputs,
            config,
            out,
            export,
            workers=workers or len(os.sched_getaffinity(0)),
            overwrite=overwrite,
            report=report,
        )
    print_table(lexicon_summary(entries, _agreement(entries, wordnet), out))


def _find_terms(corpus: Corpus, model: Pair2vec, words: Path | None, count: int) -> Terms:
    from pair2vec.lexicon.candidates import find_terms, keywords

    if words is None:
        return keywords(corpus, model.vocabulary, count)
    terms = find_terms(read_lines(words).values(), corpus.vocabulary, model.vocabulary)
    if terms.unknown:
        shown = ", ".join(terms.unknown[:5]) + (", …" if len(terms.unknown) > 5 else "")
        say(f"{words}: {len(terms.unknown):,} terms are left out as unknown: {shown}")
    return terms


def _agreement(entries: list[LexiconEntry], wordnet: Path | None) -> list[WordNetAgreement] | None:
    """None where WordNet is not installed."""
    from pair2vec.lexicon.build import check_against_wordnet
    from pair2vec.wordnet.dictionary import WordNet

    try:
        return check_against_wordnet(entries, WordNet.open(wordnet))
    except InputError:
        if wordnet is not None:
            raise
        return None


def lexicon_summary(
    entries: Sequence[LexiconEntry], agreement: Sequence[WordNetAgreement] | None, out: Path
) -> RenderableType:
    """Entries by relation, and the share that WordNet confirms."""
    by_relation = {row.relation: row for row in agreement or ()}
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("relation")
    for name in ("entries", "with evidence", "in WordNet", "confirmed"):
        table.add_column(name, justify="right")
    counts = Counter(entry.relation for entry in entries)
    with_evidence = Counter(entry.relation for entry in entries if entry.evidence)
    for relation, count in counts.most_common():
        row = by_relation.get(relation)
        confirmed = [f"{row.entries:,}", f"{row.confirmed / row.entries:.0%}"] if row else ["", ""]
        table.add_row(relation, f"{count:,}", f"{with_evidence[relation]:,}", *confirmed)
    note = (
        "WordNet is not here to estimate the precision by (--wordnet FOLDER)."
        if agreement is None
        else "“In WordNet”: entries of a sample with both words in WordNet; “confirmed”: the share "
        "of these that it has, too. An entry that it does not have may still be true."
    )
    return Group(Text(f"{out}: {len(entries):,} entries"), table, Text(note))
