"""Training on several ranks: the same run as on one, whatever their number, and on any later one.

A run on W ranks has the batches of a run on one; each rank takes its part of them. What differs is
the negatives: every rank draws its own, and the contexts it takes for negative ones are those of
its own part.
"""

import shutil
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from tests.training.rank_processes import (
    digest_after_training,
    first_batch,
    in_ranks,
    train_in,
    train_on,
    validation_loss,
)
from tests.training.small_run import SMALL, assert_identical, metrics_of, small

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.model.folder import load_model
from pair2vec.text.corpus import Corpus, CorpusWriter
from pair2vec.training import trainer as trainer_module
from pair2vec.training.batches import negatives_seed
from pair2vec.training.checkpoint import last_checkpoint
from pair2vec.training.distributed import SINGLE_PROCESS, ProcessGroup, SingleProcess
from pair2vec.training.recipes import Recipe, with_settings
from pair2vec.version import __version__

WITHOUT_NEGATIVES = with_settings(SMALL, {"negatives": {"words": 0, "contexts": 0}})
ROUNDING = 1e-5
"""Of losses: float32, summed in another order, over forty steps."""
DRAWS = 0.01
"""Of losses: other negatives, in means over ten steps of 128 triples each. (Another seed, which is
also another start, is seven to twenty per cent off in the first ten.)"""


def losses_of(out: Path) -> list[float]:
    return [line.get("loss", line.get("validation_loss", np.nan)) for line in metrics_of(out)]


@pytest.fixture(scope="module")
def alone(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one rank makes."""
    out = tmp_path_factory.mktemp("alone") / "model"
    assert train_on(1, corpus.folder, out, small())
    return out


@pytest.fixture(scope="module")
def together(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two ranks make."""
    out = tmp_path_factory.mktemp("together") / "model"
    assert train_on(2, corpus.folder, out, small())
    return out


def test_without_negatives_the_loss_is_that_of_one_rank_but_for_rounding(
    corpus: Corpus, tmp_path: Path
) -> None:
    for count in (1, 2, 3):
        assert train_on(count, corpus.folder, tmp_path / f"{count}", WITHOUT_NEGATIVES)
    expected = losses_of(tmp_path / "1")
    assert len(expected) == 8
    assert expected[0] > 2 * expected[-2]
    # Three ranks have parts of different sizes: 128 is no multiple of 3.
    for count in (2, 3):
        assert losses_of(tmp_path / f"{count}") == pytest.approx(expected, rel=ROUNDING)


def test_with_negatives_the_loss_is_that_of_one_rank_but_for_their_draws(
    alone: Path, together: Path
) -> None:
    expected, actual = losses_of(alone), losses_of(together)
    assert actual != expected
    assert actual == pytest.approx(expected, rel=DRAWS)
    assert expected[0] > (1 + 4 * DRAWS) * expected[-2]


def test_only_one_rank_writes_metrics_and_checkpoints(corpus: Corpus, together: Path) -> None:
    assert [line["step"] for line in metrics_of(together)] == [10, 10, 20, 20, 30, 30, 40, 40]
    names = sorted(path.name for path in (together / "training").iterdir() if path.is_file())
    assert names == ["job.json", "metrics.jsonl"] + [
        f"step-{step:09d}.safetensors" for step in (30, 40)
    ]
    model = load_model(together)
    assert model.config["triples"] == 40 * 128
    assert model.config["recipe"] == asdict(small())


def test_weights_are_equal_on_all_ranks_to_the_bit(corpus: Corpus, tmp_path: Path) -> None:
    digests = in_ranks(digest_after_training, corpus.folder, tmp_path, small(), count=3)
    assert len(digests) == 3
    assert len(set(digests)) == 1
    # Only the first has anything to write.
    assert [path.name for path in tmp_path.iterdir()] == ["rank-0"]


def test_ranks_share_a_batch_and_draw_negatives_of_their_own(
    corpus: Corpus, tmp_path: Path
) -> None:
    arguments = (corpus.folder, tmp_path, small())
    whole = first_batch(SINGLE_PROCESS, *arguments)
    first, second = in_ranks(first_batch, *arguments)
    assert len(first.pairs) == len(second.pairs) == 64
    assert sorted(first.pairs + second.pairs) == sorted(whole.pairs)
    assert first.negatives != second.negatives


def test_validation_gives_one_number_on_any_number_of_ranks(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = with_settings(SMALL, {"triples": {"threshold": 1e-6, "held_out": 0.5}})
    arguments = (corpus.folder, tmp_path, recipe)
    expected = validation_loss(SINGLE_PROCESS, *arguments)
    assert expected is not None
    assert in_ranks(validation_loss, *arguments) == [expected] * 2
    assert in_ranks(validation_loss, *arguments, count=3) == [expected] * 3
    # Several batches, so that there is something to share.
    monkeypatch.setattr(trainer_module, "VALIDATION_BATCH", 10**9)
    assert validation_loss(SINGLE_PROCESS, *arguments) != expected


def test_a_run_stopped_and_resumed_on_as_many_ranks_is_the_same_to_the_bit(
    corpus: Corpus, together: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    assert not train_on(2, corpus.folder, out, small(), stop_after=17)
    checkpoint = last_checkpoint(out / "training")
    assert checkpoint is not None
    assert checkpoint.step == 17
    assert train_on(2, corpus.folder, out, small(), resume=True)
    assert_identical(load_model(out), load_model(together))


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_a_run_resumes_on_another_number_of_ranks(
    corpus: Corpus, alone: Path, tmp_path: Path, first: int, second: int
) -> None:
    out = tmp_path / "model"
    assert not train_on(first, corpus.folder, out, small(), stop_after=20)
    assert train_on(second, corpus.folder, out, small(), resume=True)
    assert [line["step"] for line in metrics_of(out)] == [10, 10, 20, 20, 30, 30, 40, 40]
    assert losses_of(out) == pytest.approx(losses_of(alone), rel=DRAWS)


def test_without_negatives_changing_the_number_of_ranks_changes_nothing_but_rounding(
    corpus: Corpus, tmp_path: Path
) -> None:
    """So every triple is seen as often as if the number had not changed."""
    out = tmp_path / "changed"
    assert not train_on(2, corpus.folder, out, WITHOUT_NEGATIVES, stop_after=25)
    assert train_on(1, corpus.folder, out, WITHOUT_NEGATIVES, resume=True)
    assert train_on(1, corpus.folder, tmp_path / "same", WITHOUT_NEGATIVES)
    assert losses_of(out) == pytest.approx(losses_of(tmp_path / "same"), rel=ROUNDING)


def test_after_a_restart_a_run_resumes_without_the_option(
    corpus: Corpus, alone: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    assert not train_on(1, corpus.folder, out, small(), stop_after=25)
    assert train_in(SingleProcess(restarted=True), corpus.folder, out, small(), {})
    assert_identical(load_model(out), load_model(alone))


def in_shards(corpus: Corpus, folder: Path) -> Path:
    """The same corpus in shards of 1,000 ids."""
    folder.mkdir()
    facts = {name: getattr(corpus.manifest, name) for name in ("documents", "text_tokens", "words")}
    with closing(CorpusWriter(folder, corpus.vocabulary, 1_000)) as writer:
        writer.append(np.asarray(corpus.tokens[1:]))
        writer.finish(
            version=__version__, invalid_bytes=0, dropped=[], settings={}, sources=[], **facts
        )
    return folder


def test_a_corpus_of_many_shards_trains_on_any_number_of_ranks(
    corpus: Corpus, tmp_path: Path
) -> None:
    folder = in_shards(corpus, tmp_path / "corpus")
    assert len(list(folder.glob("tokens*.bin"))) > 20
    for count in (1, 3):
        assert train_on(count, folder, tmp_path / f"{count}", WITHOUT_NEGATIVES)
    assert losses_of(tmp_path / "3") == pytest.approx(losses_of(tmp_path / "1"), rel=ROUNDING)


def train_apart(ranks: ProcessGroup, folder: Path, out: Path, recipe: Recipe, resume: bool) -> str:
    """Each into a folder of its own; returns the message of the error."""
    with pytest.raises(UsageError) as raised:
        train_in(ranks, folder, out / f"{ranks.rank}", recipe, {"resume": resume})
    return str(raised.value)


def test_ranks_with_different_checkpoints_say_so(corpus: Corpus, tmp_path: Path) -> None:
    assert not train_on(1, corpus.folder, tmp_path / "0", small(), stop_after=3)
    shutil.copytree(tmp_path / "0", tmp_path / "1")
    next((tmp_path / "1" / "training").glob("step-*.safetensors")).unlink()
    for rank, message in enumerate(in_ranks(train_apart, corpus.folder, tmp_path, small(), True)):
        assert message == (
            f"{tmp_path / str(rank) / 'training'}: not all ranks find the same checkpoint there; "
            "train into a folder that all of them share"
        )


def begin_apart(ranks: ProcessGroup, folder: Path, out: Path, recipe: Recipe) -> str:
    with pytest.raises(Pair2vecError) as raised:
        train_in(ranks, folder, out / f"{ranks.rank}", recipe, {})
    return str(raised.value)


def test_a_rank_that_does_not_see_the_folder_of_rank_zero_says_so(
    corpus: Corpus, tmp_path: Path
) -> None:
    first_message, second_message = in_ranks(begin_apart, corpus.folder, tmp_path, small())
    assert first_message.startswith("rank 0 of 2 lost another rank; ")
    assert second_message == (
        f"{tmp_path / '1'}: rank 1 does not find there what rank 0 wrote; "
        "train into a folder that all ranks share"
    )


class Many(SingleProcess):
    world_size = 129


def test_a_batch_has_a_triple_for_every_rank(corpus: Corpus, tmp_path: Path) -> None:
    message = "training.batch is 128, which 129 ranks cannot share; raise it, or train on fewer"
    with pytest.raises(UsageError, match=message):
        digest_after_training(Many(), corpus.folder, tmp_path, small())


def test_no_two_steps_or_ranks_share_a_seed_of_negatives() -> None:
    seeds = [
        negatives_seed(seed, step, rank) for seed in (0, 1) for step in range(50) for rank in (0, 1)
    ]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**64 for seed in seeds)
