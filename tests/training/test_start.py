"""What training starts from: word vectors, and the words near each other by them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.training.small_run import SIZE, after, assert_identical, given_vectors, run, small

from pair2vec.api import load
from pair2vec.arrays import normalise
from pair2vec.errors import UsageError
from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.text.corpus import Corpus, open_corpus
from pair2vec.text.patterns import parse_pattern
from pair2vec.text.prepare import PrepareConfig, prepare
from pair2vec.text.vocabulary import IncludedWords, look_up_pair
from pair2vec.theory.counts import count_pattern
from pair2vec.theory.pmi import mvpmi, pmi
from pair2vec.training import train as train_module
from pair2vec.training.recipes import pair_distance, with_settings
from pair2vec.training.train import Interrupted
from pair2vec.training.trainer import TrainingProgress
from pair2vec.word_vectors.formats import write_vec


def test_pair_distance_publishes_the_given_vectors_without_training(
    corpus: Corpus, vectors: Path, tmp_path: Path
) -> None:
    reports: list[TrainingProgress] = []
    size = {"dimension": SIZE}
    recipe = with_settings(pair_distance(), {"pair": size, "context": size})
    own = open_corpus(shutil.copytree(corpus.folder, tmp_path / "corpus"))
    model = run(own, tmp_path / "model", recipe, vectors=vectors, report=reports.append)
    assert np.array_equal(model.array("pair.words")[4:], given_vectors(corpus))
    assert model.config["triples"] == 0
    assert not reports


def test_word_tables_are_initialised_from_vectors(
    corpus: Corpus, vectors: Path, tmp_path: Path
) -> None:
    recipe = small(steps=1, rate=0.0)
    model = run(corpus, tmp_path / "model", recipe, vectors=vectors)
    for name in ("pair.words", "context.words"):
        assert np.array_equal(model.array(name)[4:], given_vectors(corpus))


def test_words_without_a_vector_get_one_carried_over(
    corpus: Corpus, vectors: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words, truth = corpus.vocabulary.words[4:], normalise(given_vectors(corpus))
    unknown = words[5]
    few, more = tmp_path / "few.vec.gz", tmp_path / "more.txt.xz"
    write_vec(few, [word for word in words if word != unknown], np.delete(truth, 5, axis=0))
    write_vec(more, words, truth @ np.linalg.qr(np.random.default_rng(1).normal(size=(16, 16)))[0])
    with caplog.at_level("INFO"):
        recipe = small(steps=1, rate=0.0)
        model = run(corpus, tmp_path / "model", recipe, vectors=few, more_vectors=more)
    np.testing.assert_allclose(model.array("pair.words")[4:], truth, atol=0.01)
    rare = int((corpus.vocabulary.counts[4:] < 20).sum())
    assert f"{rare + 1} words have vectors carried over" in caplog.text


def test_a_training_is_identified_by_the_vectors_carried_over(
    corpus: Corpus, vectors: Path, tmp_path: Path
) -> None:
    out, more = tmp_path / "model", tmp_path / "more.vec"
    write_vec(more, corpus.vocabulary.words[4:], given_vectors(corpus)[::-1])
    with pytest.raises(Interrupted):
        run(corpus, out, small(), vectors=vectors, more_vectors=more, should_stop=after(1))
    for other in (None, vectors):
        with pytest.raises(UsageError, match="was begun with another more_vectors"):
            run(corpus, out, small(), vectors=vectors, more_vectors=other, resume=True)
    run(corpus, out, small(), vectors=vectors, more_vectors=more, resume=True)
    with pytest.raises(Interrupted):
        run(corpus, tmp_path / "plain", small(), vectors=vectors, should_stop=after(1))
    identity = json.loads((tmp_path / "plain/training/job.json").read_text())
    assert list(identity) == ["recipe", "corpus", "vectors", "checksums"]


def test_more_vectors_need_vectors(corpus: Corpus, vectors: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="need --vectors to be mapped to"):
        run(corpus, tmp_path / "model", small(), more_vectors=vectors)
    assert not (tmp_path / "model").exists()


def test_words_that_never_occur_are_trained_around(tmp_path: Path) -> None:
    """They are drawn neither as words nor as negatives, and keep the vectors they start from."""
    (tmp_path / "text.txt").write_text(MiniWorld.create(0).text(1000))
    include = IncludedWords(words=frozenset({"unseen", "untold"}), min_count=0)
    config = PrepareConfig(include=include)
    corpus = prepare([str(tmp_path / "text.txt")], tmp_path / "corpus", config)
    assert corpus.vocabulary.counts[-2:].tolist() == [0, 0]
    write_vec(tmp_path / "words.vec", corpus.vocabulary.words[4:], given_vectors(corpus))
    negatives = {"typed": 1, "neighbours": 1000}
    recipe = with_settings(small(optimiser="adagrad"), {"negatives": negatives})
    model = run(corpus, tmp_path / "model", recipe, vectors=tmp_path / "words.vec")
    assert np.isfinite(model.config["metrics"]["loss"])
    assert np.array_equal(model.array("pair.words")[-2:], given_vectors(corpus)[-2:])
    opened = load(tmp_path / "model")
    assert opened.vocabulary.counts[-2:].tolist() == [0, 0]
    assert np.isfinite(opened.pair("unseen", "untold")).all()
    assert len(opened.fill("X and Y", x="unseen", prior=1.0, top=len(opened.vocabulary))) > 2
    counts = count_pattern(
        corpus,
        look_up_pair("unseen", "untold", corpus.vocabulary),
        parse_pattern("X and Y", corpus.vocabulary),
    )
    assert (counts.xyc, counts.x, counts.y) == (0, 0, 0)
    assert pmi(counts) == mvpmi(counts) == -np.inf


def test_from_a_random_start_vectors_still_define_the_neighbours(
    corpus: Corpus, vectors: Path, tmp_path: Path
) -> None:
    recipe = with_settings(
        small(steps=1, rate=0.0, start="random", report_steps=1), {"negatives": {"typed": 1}}
    )
    own = open_corpus(shutil.copytree(corpus.folder, tmp_path / "corpus"))
    model = run(own, tmp_path / "model", recipe, vectors=vectors)
    random = run(corpus, tmp_path / "random", small(steps=1, rate=0.0))
    assert np.array_equal(model.array("pair.words"), random.array("pair.words"))
    line = json.loads((tmp_path / "model/training/metrics.jsonl").read_text().splitlines()[0])
    assert line["typed_x"] > 0


def test_neighbours_are_computed_once_and_cached_beside_the_corpus(
    corpus: Corpus, vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = open_corpus(shutil.copytree(corpus.folder, tmp_path / "corpus"))
    recipe = with_settings(small(steps=5), {"negatives": {"typed": 1, "neighbours": 7}})
    first = run(own, tmp_path / "first", recipe, vectors=vectors)
    (path,) = own.folder.glob("neighbours-*.npy")
    assert np.load(path).shape == (len(corpus.vocabulary), 7)
    monkeypatch.setattr(train_module, "nearest_words", None)
    second = run(own, tmp_path / "second", recipe, vectors=vectors)
    assert_identical(second, first)
    assert (own.folder / path.name).exists()


def test_damaged_neighbours_are_computed_again(
    corpus: Corpus, vectors: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = open_corpus(shutil.copytree(corpus.folder, tmp_path / "corpus"))
    recipe = with_settings(small(steps=5), {"negatives": {"typed": 1, "neighbours": 7}})
    first = run(own, tmp_path / "first", recipe, vectors=vectors)
    (path,) = own.folder.glob("neighbours-*.npy")
    content = path.read_bytes()
    path.write_bytes(content[:-8] + bytes(8))
    assert_identical(run(own, tmp_path / "second", recipe, vectors=vectors), first)
    assert f"{path}: is damaged; it is computed again" in caplog.text
    assert path.read_bytes() == content


def test_typed_negatives_need_vectors(
    corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recipe = with_settings(small(steps=10), {"negatives": {"typed": 1}})
    reports: list[TrainingProgress] = []
    run(corpus, tmp_path / "model", recipe, report=reports.append)
    assert "without --vectors there are no neighbours" in caplog.text
    assert reports[0].metrics["typed_x"] == 0
    assert reports[0].metrics["other_x"] > 1
    assert not list(corpus.folder.glob("neighbours-*"))


def test_typed_negatives_have_a_loss_of_their_own(
    corpus: Corpus, vectors: Path, tmp_path: Path
) -> None:
    own = open_corpus(shutil.copytree(corpus.folder, tmp_path / "corpus"))
    recipe = with_settings(small(steps=10), {"negatives": {"typed": 1}})
    reports: list[TrainingProgress] = []
    run(own, tmp_path / "model", recipe, vectors=vectors, report=reports.append)
    assert reports[0].metrics["typed_x"] > 0.1
    assert reports[0].metrics["other_x"] > reports[0].metrics["typed_x"]


def test_vectors_of_another_dimension_are_refused_with_the_way_out(
    corpus: Corpus, tmp_path: Path
) -> None:
    path = tmp_path / "narrow.vec"
    write_vec(path, corpus.vocabulary.words[4:9], np.ones((5, 8)))
    way_out = "8 dimensions where the recipe has 16; --set pair.dimension=8 --set context.dimension"
    with pytest.raises(UsageError, match=way_out):
        run(corpus, tmp_path / "model", small(), vectors=path)


def test_a_missing_file_of_vectors_is_named_before_anything_is_written(
    corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"missing\.vec: no such file or folder"):
        run(corpus, tmp_path / "model", small(), vectors=tmp_path / "missing.vec")
    assert not (tmp_path / "model").exists()
