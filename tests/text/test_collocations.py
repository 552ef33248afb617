"""Collocations: their measure, their count in bounded memory, and what a corpus makes of them."""

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.errors import UsageError
from pair2vec.text.collocations import (
    BoundedCounts,
    PhraseConfig,
    find_collocations,
    may_end_collocation,
    npmi,
)
from pair2vec.text.corpus import open_corpus
from pair2vec.text.phrases import join_tokens, phrases_in
from pair2vec.text.pieces import Piece, PieceFile, encode_piece
from pair2vec.text.prepare import PrepareConfig, PrepareProgress, prepare
from pair2vec.text.sentences import split_sentences
from pair2vec.text.vocabulary import IncludedWords

FOUND = PhraseConfig(threshold=0.4, min_count=5)


def sample_text() -> str:
    """Sentences of random words, with *new york city*, *climate change* and others among them."""
    draw = random.Random(1)
    words = [f"w{number}x" for number in range(40)]
    phrases = ["New York City", "New York", "climate change", "of the", "rare bird of", "12 300"]
    lines = []
    for number in range(600):
        parts = draw.choices(words, k=6)
        parts.insert(draw.randrange(6), phrases[number % len(phrases)])
        lines.append(" ".join(parts) + ".")
        if number % 50 == 0:
            lines += ["Change of climate, york new.", ""]
    return "\n".join(lines)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "sample.txt"
    path.write_text(sample_text())
    return path


def config(
    phrases: PhraseConfig | None = FOUND,
    vocabulary: int = 60,
    min_count: int = 1,
    include: IncludedWords | None = None,
) -> PrepareConfig:
    return PrepareConfig(
        vocabulary=vocabulary,
        min_count=min_count,
        include=include,
        phrases=phrases,
        piece_bytes=4000,
    )


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def plain_npmi(sentences: list[list[str]], x: str, y: str) -> float:
    tokens = [token for sentence in sentences for token in sentence]
    bigrams = Counter(pair for sentence in sentences for pair in pairwise(sentence))
    joint = bigrams[x, y] / len(tokens)
    by_chance = tokens.count(x) / len(tokens) * tokens.count(y) / len(tokens)
    return math.log(joint / by_chance) / -math.log(joint)


def test_collocations_have_a_high_npmi_by_a_plain_computation() -> None:
    sentences = list(split_sentences(sample_text()))
    content = sample_text().encode()
    middle = content.index(b"\n", len(content) // 2)
    parts = (content[:middle], content[middle:])
    encoded = [encode_piece(Piece("test", 0, part, is_dump=False)).to_bytes() for part in parts]

    def over_pieces(function: Callable[[PieceFile], object]) -> Iterator[object]:
        return map(function, encoded)

    words = sorted({w for s in sentences for w in s if may_end_collocation(w)})
    for phrases in ([], ["new york"]):
        joined = [join_tokens(sentence, set(phrases)) for sentence in sentences]
        counts = Counter(pair for sentence in joined for pair in pairwise(sentence))
        expected = {
            f"{x} {y}"
            for (x, y), count in counts.items()
            if count >= FOUND.min_count
            and {x, y} <= {*words, *phrases}
            and plain_npmi(joined, x, y) >= FOUND.threshold
        }
        found = find_collocations(FOUND, words, phrases, over_pieces)  # type: ignore[arg-type]
        assert set(found) == expected
        assert ("new york city" if phrases else "new york") in expected


def test_npmi_is_one_for_words_that_never_part_and_zero_by_chance() -> None:
    scores = npmi(np.array([5, 1, 10]), np.array([5, 10, 10]), np.array([5, 10, 10]), 100)
    assert scores.tolist() == pytest.approx([1, 0, 1])
    assert npmi(np.array([7]), np.array([7]), np.array([7]), 7).tolist() == [1]


@pytest.mark.parametrize("word", ["york", "o'brien", "20th", "u.s.", "über"])
def test_content_words_may_end_a_collocation(word: str) -> None:
    assert may_end_collocation(word)


@pytest.mark.parametrize("word", ["of", "most", "don't", "it's", "'s", "1990", "1,000.5", "-", ","])
def test_function_words_numbers_and_punctuation_may_not(word: str) -> None:
    assert not may_end_collocation(word)


@given(st.lists(st.lists(st.integers(0, 30), max_size=20), max_size=12), st.integers(1, 9))
def test_counts_are_exact_until_there_are_too_many(pieces: list[list[int]], least: int) -> None:
    counts = BoundedCounts(limit=31)
    for piece in pieces:
        counts.add(*np.unique(np.array(piece, np.int64), return_counts=True))
    expected = Counter(key for piece in pieces for key in piece)
    keys, found = counts.at_least(least)
    assert dict(zip(keys.tolist(), found.tolist(), strict=True)) == {
        key: count for key, count in expected.items() if count >= least
    }


def test_counts_beyond_the_limit_drop_the_rarest() -> None:
    counts = BoundedCounts(limit=100)
    for start in range(0, 10_000, 50):
        keys = np.union1d(np.arange(start, start + 50), [3, 77])
        counts.add(keys, np.where(np.isin(keys, [3, 77]), 5, 1))
        assert len(counts._keys) <= 100
    keys, found = counts.at_least(900)
    assert keys.tolist() == [3, 77]
    assert (found >= 990).all()


def test_found_phrases_are_words_of_the_corpus(text: Path, tmp_path: Path) -> None:
    corpus = prepare([str(text)], tmp_path / "corpus", config())
    found = phrases_in(corpus.vocabulary.words)
    assert {"new york", "new york city", "climate change", "rare bird"} <= set(found)
    assert not {"of the", "12 300", "bird of"} & set(found)
    sentences = [join_tokens(s, set(found)) for s in split_sentences(text.read_text())]
    counts = Counter(token for sentence in sentences for token in sentence)
    kept = set(corpus.vocabulary.words)
    known = [[word for word in sentence if word in kept] for sentence in sentences]
    assert list(corpus.words()) == [sentence for sentence in known if sentence]
    assert {w: c for w, c in counts.items() if w in kept} == dict(
        zip(corpus.vocabulary.words[4:], corpus.vocabulary.counts[4:].tolist(), strict=True)
    )
    manifest = corpus.manifest
    assert manifest.text_tokens == sum(counts.values())
    assert manifest.tokens == corpus.vocabulary.counts.sum()
    assert manifest.phrases == len(found)


def test_a_phrase_beyond_the_vocabulary_falls_apart_into_its_words(
    text: Path, tmp_path: Path
) -> None:
    listed = PhraseConfig(find=False, listed=frozenset({"york new", "change of climate"}))
    corpus = prepare([str(text)], tmp_path / "corpus", config(listed, vocabulary=6))
    plain = prepare([str(text)], tmp_path / "plain", config(None, vocabulary=6))
    assert corpus.vocabulary.words == plain.vocabulary.words
    assert (tmp_path / "corpus/tokens.bin").read_bytes() == (
        tmp_path / "plain/tokens.bin"
    ).read_bytes()


def test_listed_phrases_are_joined_that_occur_often_enough(text: Path, tmp_path: Path) -> None:
    listed = frozenset({"of the", "change of climate", "york new", "no such phrase", "new york"})
    only = PhraseConfig(find=False, listed=listed)
    corpus = prepare([str(text)], tmp_path / "corpus", config(only, min_count=13))
    assert set(phrases_in(corpus.vocabulary.words)) == {"of the", "new york"}
    corpus = prepare([str(text)], tmp_path / "rare", config(only, min_count=12))
    assert "change of climate" in corpus.vocabulary
    both = PhraseConfig(threshold=0.4, min_count=5, listed=listed)
    corpus = prepare([str(text)], tmp_path / "both", config(both, min_count=2))
    assert {"of the", "new york city", "climate change"} <= set(corpus.vocabulary.words)


def test_included_phrases_are_joined_however_rare(text: Path, tmp_path: Path) -> None:
    text.write_text(text.read_text() + "\nThe zebra crossing was new.\n")
    include = IncludedWords(words=frozenset({"zebra crossing", "w1x"}))
    corpus = prepare([str(text)], tmp_path / "corpus", config(None, min_count=20, include=include))
    assert "zebra crossing" in corpus.vocabulary
    assert phrases_in(corpus.vocabulary.words) == ["zebra crossing"]


def test_the_corpus_is_the_same_for_any_number_of_workers(text: Path, tmp_path: Path) -> None:
    both = config(PhraseConfig(threshold=0.4, min_count=5, listed=frozenset({"of the"})))
    for workers in (1, 3):
        prepare([str(text)], tmp_path / str(workers), both, workers=workers)
    assert files_of(tmp_path / "1") == files_of(tmp_path / "3")


def test_a_job_stopped_while_it_joins_resumes(text: Path, tmp_path: Path) -> None:
    reports: list[PrepareProgress] = []

    def stop(progress: PrepareProgress) -> None:
        reports.append(progress)
        if progress.stage == "join" and progress.done == 3:
            raise KeyboardInterrupt

    out = tmp_path / "corpus"
    with pytest.raises(KeyboardInterrupt):
        prepare([str(text)], out, config(), report=stop)
    with pytest.raises(UsageError, match="was begun with another settings"):
        prepare([str(text)], out, config(PhraseConfig(threshold=0.41, min_count=5)))
    resumed: list[PrepareProgress] = []
    prepare([str(text)], out, config(), report=resumed.append)
    assert all(report.tokens == 0 for report in resumed if report.stage == "read")
    prepare([str(text)], tmp_path / "at once", config())
    assert files_of(out) == files_of(tmp_path / "at once")


def test_the_manifest_says_how_phrases_were_chosen(text: Path, tmp_path: Path) -> None:
    corpus = prepare([str(text)], tmp_path / "corpus", config())
    expected = {"measure": "npmi", "threshold": 0.4, "min_count": 5}
    assert corpus.manifest.settings["phrases"] == expected
    listed = PhraseConfig(find=False, listed=frozenset({"new york"})).settings()
    assert listed.keys() == {"listed", "sha256"}
    # A corpus without phrases is written as it was before there were any.
    prepare([str(text)], tmp_path / "plain", config(None))
    saved = json.loads((tmp_path / "plain/manifest.json").read_text())
    assert "phrases" not in saved
    assert "phrases" not in saved["settings"]
    assert open_corpus(tmp_path / "plain").manifest.phrases == 0


@pytest.mark.parametrize(
    ("option", "problem"), [({"threshold": 0}, "NPMI"), ({"min_count": 0}, "1 is")]
)
def test_settings_out_of_range_are_refused(option: dict[str, float], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        PhraseConfig(**option)  # type: ignore[arg-type]
