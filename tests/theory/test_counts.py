"""Counts and tables by fast scans, against a slow, plain enumeration."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from tests.triples.enumerator import Triple, enumerate_triples, make_corpus

from pair2vec.cli.counts import contexts_table, pmi_table
from pair2vec.errors import InputError, UsageError
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import Pattern, context_text, parse_pattern
from pair2vec.text.vocabulary import BOUNDARY, WordPair, X, Y, look_up_pair
from pair2vec.theory.counts import count_pattern, total_triples
from pair2vec.theory.pmi import Counts, Negatives, mvpmi, pmi
from pair2vec.theory.tables import PairContexts, count_every_triple, find_pair_contexts

Context = tuple[int, ...]
TEXTS = st.lists(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=12).map(" ".join), min_size=1
).map("\n".join)
MILD = (
    "hot and cold .\nhot and cold .\nhot or cold , hot and dry .\nwet and cold .\nneither hot nor"
)


@contextmanager
def corpus_in_blocks(text: str, shard_ids: int, block: int) -> Iterator[Corpus]:
    """A corpus of several shards, read in blocks as short as a word."""
    with TemporaryDirectory() as folder, patch("pair2vec.theory.counts._BLOCK", block):
        yield make_corpus(Path(folder), text, shard_ids)


def matches(pattern: Pattern, context: Context) -> bool:
    left, _, *between, _, right = context
    return (
        tuple(between) == pattern.between
        and pattern.left in (None, left)
        and pattern.right in (None, right)
    )


def slow_counts(triples: Counter[Triple], pair: WordPair, pattern: Pattern | None) -> Counts:
    """The counts of a pair in a pattern; in any context, if there is none."""
    counts = dict.fromkeys(Counts._fields, 0)
    for (x, y, context), count in triples.items():
        is_equal = {"x": x == pair.x, "y": y == pair.y}
        is_equal["c"] = pattern is None or matches(pattern, context)
        for name in ("xyc", "xy", "xc", "yc", "x", "y", "c"):
            counts[name] += count * all(is_equal[part] for part in name)
        counts["total"] += count
    return Counts(**counts)


def as_pattern(context: Context) -> Pattern:
    left, _, *between, _, right = context
    return Pattern(left, tuple(between), right)


def entry(counts: Counts, number: int) -> Counts:
    return Counts(*(int(np.asarray(part)[number]) for part in counts))


@settings(max_examples=40)
@given(TEXTS, st.integers(4, 60), st.integers(1, 30), st.data())
def test_a_pattern_is_counted_as_the_enumerator_counts_it(
    text: str, shard_ids: int, block: int, data: st.DataObject
) -> None:
    with corpus_in_blocks(text, shard_ids, block) as corpus:
        triples = enumerate_triples(corpus)
        words = st.integers(BOUNDARY + 1, len(corpus.vocabulary) - 1)
        outer = st.one_of(st.none(), st.just(BOUNDARY), words)
        between = st.lists(words, max_size=4).map(tuple)
        pattern = data.draw(st.builds(Pattern, outer, between, outer))
        if triples:
            pattern = data.draw(
                st.one_of(
                    st.just(pattern),
                    # One that occurs, with or without its outer words.
                    st.sampled_from(sorted(triples)).map(lambda triple: as_pattern(triple[2])),
                    st.sampled_from(sorted(triples)).map(
                        lambda triple: as_pattern(triple[2])._replace(left=None)
                    ),
                )
            )
        pair = WordPair(data.draw(words), data.draw(words))
        assert count_pattern(corpus, pair, pattern) == slow_counts(triples, pair, pattern)


@settings(max_examples=25)
@given(TEXTS, st.integers(4, 60), st.integers(1, 30), st.data())
def test_all_contexts_of_a_pair_are_found_with_all_their_counts(
    text: str, shard_ids: int, block: int, data: st.DataObject
) -> None:
    with corpus_in_blocks(text, shard_ids, block) as corpus:
        triples = enumerate_triples(corpus)
        words = st.integers(BOUNDARY + 1, len(corpus.vocabulary) - 1)
        pair = WordPair(data.draw(words), data.draw(words))
        contexts = find_pair_contexts(corpus, pair)
        assert sorted(contexts.contexts) == sorted(c for x, y, c in triples if (x, y) == pair)
        for number, context in enumerate(contexts.contexts):
            expected = slow_counts(triples, pair, as_pattern(context))
            assert entry(contexts.counts, number) == expected


@settings(max_examples=25)
@given(TEXTS, st.integers(4, 60), st.integers(1, 30))
def test_the_table_of_a_corpus_has_every_triple_with_all_its_counts(
    text: str, shard_ids: int, block: int
) -> None:
    with corpus_in_blocks(text, shard_ids, block) as corpus:
        triples = enumerate_triples(corpus)
        table = count_every_triple(corpus)
        distinct = zip(table.x.tolist(), table.y.tolist(), map(table.context, table.c), strict=True)
        rows = {triple: entry(table.counts, number) for number, triple in enumerate(distinct)}
        assert {triple: counts.xyc for triple, counts in rows.items()} == triples
        assert len(table) == len(triples)
        assert total_triples(corpus) == triples.total()
        for x, y, context in list(rows)[:20]:
            expected = slow_counts(triples, WordPair(x, y), as_pattern(context))
            assert rows[x, y, context] == expected


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("mild"), MILD)


def count(corpus: Corpus, x: str, y: str, pattern: str) -> Counts:
    vocabulary = corpus.vocabulary
    return count_pattern(corpus, look_up_pair(x, y, vocabulary), parse_pattern(pattern, vocabulary))


def test_counts_of_a_text_that_can_be_counted_by_hand(corpus: Corpus) -> None:
    assert count(corpus, "hot", "cold", "X and Y").xyc == 2
    assert count(corpus, "hot", "cold", "X and Y").xc == 3
    assert count(corpus, "hot", "cold", "X and Y").yc == 3
    assert count(corpus, "hot", "cold", "X and Y").c == 4
    assert count(corpus, "hot", "cold", "X and Y").xy == 3
    assert count(corpus, "hot", "cold", ", X and Y").xc == 1
    assert count(corpus, "neither", "nor", "<s> X hot Y <s>").xyc == 1


def test_a_pattern_with_wildcards_counts_the_sum_over_its_contexts(corpus: Corpus) -> None:
    open_ended = count(corpus, "hot", "cold", "X and Y")
    everything = count_every_triple(corpus)
    contexts = {
        text
        for text in (
            context_text(everything.context(number), corpus.vocabulary)
            for number in range(len(everything.contexts))
        )
        if " X and Y " in text
    }
    closed = [count(corpus, "hot", "cold", text) for text in sorted(contexts)]
    assert len(closed) > 1
    for name in ("xyc", "xc", "yc", "c"):
        assert getattr(open_ended, name) == sum(getattr(counts, name) for counts in closed)
    assert all(
        counts._replace(xyc=0, xc=0, yc=0, c=0) == open_ended._replace(xyc=0, xc=0, yc=0, c=0)
        for counts in closed
    )


def test_contexts_are_ranked_by_count_or_score(corpus: Corpus) -> None:
    contexts = find_pair_contexts(corpus, look_up_pair("hot", "cold", corpus.vocabulary))
    first, second = contexts.ranked()
    assert (first.text, first.frequency) == ("<s> X and Y .", 2)
    assert (second.text, second.frequency) == ("<s> X or Y ,", 1)
    assert [row.text for row in contexts.ranked("mvpmi")] == [second.text, first.text]
    assert [row.text for row in contexts.ranked("pmi")] == [second.text, first.text]
    assert contexts.ranked(min_count=2) == [first]
    counts = count(corpus, "hot", "cold", first.text)
    assert (first.pmi, first.mvpmi) == (pmi(counts), mvpmi(counts))
    again = contexts.ranked(negatives=Negatives(1, 2, 3))[0]
    assert again.mvpmi == mvpmi(counts, k_x=1, k_y=2, k_c=3)


def test_of_equal_scores_the_more_frequent_comes_first(corpus: Corpus) -> None:
    own = np.arange(1, 60)
    same = np.full(len(own), own.sum())
    # Each context belongs to this pair alone, so that all have one score, but for rounding.
    counts = Counts(own, same, own, own, same, same, own, 7 * same)
    contexts = PairContexts(WordPair(4, 5), ((X, Y),) * len(own), counts, corpus.vocabulary)
    for by in ("mvpmi", "pmi"):
        ranked = contexts.ranked(by)
        assert [row.frequency for row in ranked] == own[::-1].tolist()


def test_a_pair_that_never_meets_has_no_contexts(corpus: Corpus) -> None:
    contexts = find_pair_contexts(corpus, look_up_pair("cold", "wet", corpus.vocabulary))
    assert len(contexts) == 0
    assert contexts.ranked("mvpmi") == []


def test_an_unknown_order_is_an_error(corpus: Corpus) -> None:
    contexts = find_pair_contexts(corpus, look_up_pair("hot", "cold", corpus.vocabulary))
    with pytest.raises(UsageError, match="one of count, pmi, mvpmi"):
        contexts.ranked("best")  # type: ignore[arg-type]


def test_a_large_corpus_is_not_counted_in_memory(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="triples are more than the 10 that"):
        count_every_triple(corpus, limit=10)


def shown(table: Table) -> str:
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_a_triple_is_shown_with_counts_and_measures(corpus: Corpus) -> None:
    text = shown(pmi_table("hot", "cold", "X and Y", count(corpus, "hot", "cold", "X and Y")))
    for expected in ("hot, cold in “X and Y”", "#(x,y,c)", "MVPMI", "PMI = SI3", "SI1", "SI4"):
        assert expected in text
    assert f"{pmi(count(corpus, 'hot', 'cold', 'X and Y')):.2f}" in text


def test_a_triple_never_seen_is_shown_as_infinite(corpus: Corpus) -> None:
    text = shown(pmi_table("wet", "hot", "X Y", count(corpus, "wet", "hot", "X Y")))
    assert text.count("-∞") == 4
    assert text.count(" ∞") == 1


def test_contexts_are_shown_ranked_and_brackets_survive(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, "[bold] hot [/] cold [red]\n" * 3 + "hot and cold")
    contexts = find_pair_contexts(corpus, look_up_pair("hot", "cold", corpus.vocabulary))
    text = shown(contexts_table("hot", "cold", contexts, limit=1))
    assert "] X [ / ] Y [" in text
    assert "X and Y" not in text
    assert "1 of 2 contexts" in text
