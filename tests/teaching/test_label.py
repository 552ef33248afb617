"""The label job: what its folder has, and that it can be stopped, resumed and used again."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.command import writing_process
from tests.teaching.small_world import FREQUENT, SIZE, families
from tests.teaching.tiny_language_model import save_language_model
from tests.teaching.world_inputs import CONFIG, WorldInputs
from tests.training.small_run import SIZE as MODEL_SIZE
from tests.training.small_run import run, small

from pair2vec.errors import InputError, UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.relations.definitions import read_definitions
from pair2vec.relations.regression import softmax
from pair2vec.teaching import label
from pair2vec.teaching.calibration import (
    LEAST_RELATED,
    Calibration,
    Calibrations,
    Cascade,
    calibrate,
)
from pair2vec.teaching.candidates import SOURCES
from pair2vec.teaching.finetune import FinetuneConfig, finetune
from pair2vec.teaching.label import _LEAST_RULED_OUT, LabelConfig, make_labels
from pair2vec.teaching.label_folder import Labels
from pair2vec.teaching.labels import PARTS, RelationNames, parts_of_words
from pair2vec.teaching.lexical_resources import LexicalFiles
from pair2vec.teaching.relation_task import PairAnchor, RelationTask, RelationTaskConfig
from pair2vec.teaching.teach import task_data
from pair2vec.teaching.teacher import LanguageModelTeacher
from pair2vec.teaching.vector_teacher import TaughtModelTeacher, VectorTeacherConfig, pair_features
from pair2vec.text.corpus import Corpus
from pair2vec.training.network import Network

CPU = torch.device("cpu")
PIECE = 900


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label, "_PIECE", PIECE)


@pytest.fixture(scope="module")
def labels(inputs: WorldInputs, tmp_path_factory: pytest.TempPathFactory) -> Labels:
    """Made without interruption."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label, "_PIECE", PIECE)
        folder = tmp_path_factory.mktemp("labels") / "labels"
        return make_labels(inputs.label_inputs(), folder, CONFIG, device=CPU)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_candidates_have_probabilities_of_the_relations(labels: Labels) -> None:
    candidates, taught = labels.candidates(), labels.taught()
    assert len(list(labels.folder.glob("labels-*.safetensors"))) > 2
    assert taught.probabilities.shape == (len(candidates.x), len(labels.relations.names))
    np.testing.assert_array_equal(taught.x, candidates.x)
    np.testing.assert_array_equal(taught.y, candidates.y)
    sums = taught.probabilities.astype(np.float32).sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=5e-3)
    assert labels.relations == RelationNames.of_definitions(read_definitions())


def test_random_pairs_are_labelled_as_unrelated_and_others_by_the_teachers(labels: Labels) -> None:
    is_random = labels.candidates().source == SOURCES.index("random")
    unrelated = labels.taught().probabilities[:, -1]
    assert (unrelated[is_random] == 1).all()
    assert np.mean(unrelated[~is_random] == 1) < 0.1


def test_the_facts_say_who_labelled_what(labels: Labels) -> None:
    facts = json.loads((labels.folder / "labels.json").read_text())
    assert facts == labels.facts
    assert facts["language_model"] == "tiny"
    assert facts["candidates"] == len(labels.candidates().x)
    assert facts["labelled"] == {part: len(labels.labelled(part).x) for part in PARTS}
    assert min(facts["labelled"].values()) > 20
    assert [*facts["weights"]] == ["language model", "vectors", "states"]
    for teacher, mean in facts["weights"].items():
        own = facts["weights_of_relations"][teacher]
        assert [*own] == facts["names"]
        assert np.mean([*own.values()]) == pytest.approx(mean, abs=1e-5)
        assert [own[facts["names"][i]] for i in facts["inverse"]] == [*own.values()]
    for part in ("dev", "test"):
        scores = facts["teachers"][part]
        assert set(scores) == {"language model", "vectors", "states", "quick", "all"}
        assert scores["all"]["pairs"] == facts["labelled"][part]


def test_two_jobs_give_the_same_labels(inputs: WorldInputs, labels: Labels, tmp_path: Path) -> None:
    torch.manual_seed(12345)  # of the process, which must not matter
    make_labels(inputs.label_inputs(), tmp_path / "again", CONFIG, device=CPU)
    assert contents(tmp_path / "again") == contents(labels.folder)


def test_a_thesaurus_adds_candidates_and_teaches(inputs: WorldInputs, tmp_path: Path) -> None:
    """Here it lists a family under each of its members, which tells them from all other words."""
    networks = VectorTeacherConfig(epochs=30, hidden=16)
    config = replace(CONFIG, teacher=replace(CONFIG.teacher, vectors=networks))
    thesaurus = tmp_path / "thesaurus.txt"
    members = [[family.kind, *family.members] for family in families()]
    listed = zip(members, FREQUENT, strict=False)
    lines = [",".join([head, *own, word]) for own, word in listed for head in own]
    thesaurus.write_text("\n".join(lines))
    lexical = LexicalFiles(thesaurus)
    own = inputs.label_inputs()._replace(lexical=lexical)
    found = make_labels(own, tmp_path / "labels", config, device=CPU)
    without = make_labels(inputs.label_inputs(), tmp_path / "without", config, device=CPU)
    assert found.facts["lexical"] == ["thesaurus.txt"]
    source = found.candidates().source
    assert (source == SOURCES.index("lexical")).any()
    assert not (without.candidates().source == SOURCES.index("lexical")).any()
    before, after = (
        each.facts["teachers"]["test"]["vectors"]["macro_f1"] for each in (without, found)
    )
    assert after > before
    # Another thesaurus is another job.
    thesaurus.write_text("\n".join(lines[1:]))
    with pytest.raises(UsageError, match="already holds labels"):
        make_labels(own, tmp_path / "labels", config, device=CPU)


@pytest.fixture(scope="module")
def taught_model(
    inputs: WorldInputs, labels: Labels, tmp_path_factory: pytest.TempPathFactory
) -> SavedModel:
    """Taught by `labels`."""
    folder = tmp_path_factory.mktemp("taught")
    start = run(inputs.corpus, folder / "start", small(steps=2))
    config = RelationTaskConfig(batch=64, hidden=8)

    def make(network: Network, anchor: PairAnchor) -> RelationTask:
        data, size = task_data(config, labels), network.pair_words.shape[1]
        return RelationTask(config, inputs.corpus.vocabulary, data, size, CPU, anchor)

    settings = FinetuneConfig(steps=60, anchor=0)
    return finetune(start, inputs.corpus, folder / "model", settings, make, {}, device=CPU)


def test_a_taught_model_teaches_without_a_language_model(
    inputs: WorldInputs, taught_model: SavedModel, tmp_path: Path
) -> None:
    own = inputs.label_inputs()._replace(language_model=None, text_model=taught_model)
    config = replace(CONFIG, reader="vectors", most_read=300)
    made = make_labels(own, tmp_path / "labels", config, device=CPU)
    assert not (tmp_path / "labels" / "teacher.safetensors").exists()
    assert made.facts["language_model"] is None
    assert made.facts["taught_model"] == taught_model.config["name"]
    assert [*made.facts["weights"]] == ["vectors", "taught model"]
    # What the network on vectors did not read is as the taught model has it.
    candidates, taught = made.candidates(), made.taught()
    relations = made.relations
    vocabulary = inputs.corpus.vocabulary
    head = TaughtModelTeacher(taught_model, vocabulary, relations.names)
    dev, mixed = made.labelled("dev"), made.labelled("mixed")
    fitted = [np.concatenate(columns) for columns in zip(dev, mixed, strict=True)]
    quick = calibrate([head(*fitted[:2])], fitted[2], relations.inverse)
    expected = quick.probabilities(head(candidates.x, candidates.y))
    difference = np.abs(taught.probabilities - expected).max(axis=1)
    is_same: NDArray[np.bool_] = difference < 2e-3
    asked = candidates.source != SOURCES.index("random")
    assert 0.2 < np.mean(is_same[asked]) < 1


def test_a_network_on_vectors_alone_does_not_teach(inputs: WorldInputs, tmp_path: Path) -> None:
    config = replace(CONFIG, reader="vectors")
    with pytest.raises(UsageError, match="without a language model, a model that was taught"):
        make_labels(inputs.label_inputs(), tmp_path / "labels", config, device=CPU)


def test_a_model_taught_other_relations_does_not_teach(
    inputs: WorldInputs, taught_model: SavedModel
) -> None:
    with pytest.raises(UsageError, match="was taught the relations synonym, antonym"):
        TaughtModelTeacher(taught_model, inputs.corpus.vocabulary, ("antonym", "none"))


def test_what_wordnet_has_above_no_word_to_learn_from_is_labelled_as_no_kind(
    labels: Labels, inputs: WorldInputs
) -> None:
    words = inputs.corpus.vocabulary.words
    kinds = {(member, own.kind) for own in families() for member in own.members}
    # Words of one synset are not ruled out: their synset is above itself.
    kinds |= {pair for own in families() for pair in permutations(own.synonyms, 2)}
    learnt = parts_of_words(inputs.wordnet, words) == PARTS.index("train")
    nouns = {word for own in families() for word in (own.kind, *own.members)}
    taught, names = labels.taught(), labels.relations.names
    column = names.index("hypernym")
    seen = 0
    for x, y, probability in zip(
        taught.x.tolist(), taught.y.tolist(), taught.probabilities[:, column].tolist(), strict=True
    ):
        if learnt[x] and learnt[y] and words[x] in nouns and words[y] in nouns:
            is_kind = (words[x], words[y]) in kinds
            assert is_kind or probability < _LEAST_RULED_OUT
            seen += not is_kind
    assert seen > 100


class Stopped(Exception):  # noqa: N818 - not an error
    pass


def stop_at(name: str, least: int) -> Callable[[str, int, int], None]:
    def report(what: str, done: int, total: int) -> None:
        del total
        if what == name and done >= least:
            raise Stopped

    return report


@pytest.mark.parametrize(
    ("name", "least", "kept"),
    [
        ("fine-tuning steps", 1, []),
        ("labelled pairs", 0, []),
        ("labelled pairs", PIECE, ["labels-000.safetensors"]),
        ("labelled pairs", 2 * PIECE, ["labels-000.safetensors", "labels-001.safetensors"]),
    ],
)
def test_a_job_that_was_stopped_resumes_after_its_last_file(
    name: str, least: int, kept: list[str], inputs: WorldInputs, labels: Labels, tmp_path: Path
) -> None:
    folder = tmp_path / "labels"
    with pytest.raises(Stopped):
        make_labels(inputs.label_inputs(), folder, CONFIG, device=CPU, report=stop_at(name, least))
    assert sorted(path.name for path in folder.glob("labels-*")) == kept
    assert not (folder / "labels.json").exists()
    times = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.safetensors")}
    with pytest.raises(UsageError, match="a job that was begun: --resume continues it"):
        make_labels(inputs.label_inputs(), folder, CONFIG, device=CPU)
    make_labels(inputs.label_inputs(), folder, CONFIG, device=CPU, resume=True)
    assert contents(folder) == contents(labels.folder)
    for file, time in times.items():
        assert (folder / file).stat().st_mtime_ns == time, file


@pytest.mark.parametrize(
    "name", ["pairs.safetensors", "teacher.safetensors", "labels-000.safetensors"]
)
def test_a_damaged_file_is_made_again_by_the_job_and_refused_where_labels_are_used(
    name: str,
    inputs: WorldInputs,
    labels: Labels,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = tmp_path / "labels"
    shutil.copytree(labels.folder, folder)
    content = bytearray((folder / name).read_bytes())
    content[-3] ^= 1
    (folder / name).write_bytes(content)
    if name != "teacher.safetensors":  # which is of no use any more
        with pytest.raises(InputError, match=f"{name}: is damaged; delete labels.json and"):
            Labels.open(folder).taught()
    (folder / "labels.json").unlink()
    make_labels(inputs.label_inputs(), folder, CONFIG, device=CPU, resume=True)
    assert f"{name}: is damaged: its checksum is not the recorded one; it is made" in caplog.text
    assert contents(folder) == contents(labels.folder)


def test_labels_are_made_by_one_process_at_a_time(inputs: WorldInputs, tmp_path: Path) -> None:
    with (
        writing_process(tmp_path),
        pytest.raises(UsageError, match="another pair2vec process is writing to it"),
    ):
        make_labels(inputs.label_inputs(), tmp_path, CONFIG, device=CPU, report=never)
    assert contents(tmp_path) == {}


def test_damaged_or_missing_labels_are_refused(labels: Labels, tmp_path: Path) -> None:
    folder = tmp_path / "labels"
    shutil.copytree(labels.folder, folder)
    (folder / "labels-000.safetensors").unlink()
    with pytest.raises(InputError, match="a piece of the labels is missing"):
        Labels.open(folder).taught()
    path = folder / "labels.json"
    path.write_text(path.read_text().replace('"language_model": "tiny"', '"language_model": "big"'))
    with pytest.raises(InputError, match=r"labels\.json: is damaged, or was edited by hand"):
        Labels.open(folder)
    path.write_text("{")
    with pytest.raises(InputError, match=r"labels\.json: is damaged; delete labels\.json"):
        Labels.open(folder)


def never(*update: object) -> None:
    raise AssertionError(update)


@pytest.mark.parametrize("resume", [True, False])
def test_complete_labels_are_used_again(
    resume: bool, inputs: WorldInputs, labels: Labels, tmp_path: Path
) -> None:
    shutil.copytree(labels.folder, tmp_path / "labels")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "labels").iterdir()}
    again = make_labels(
        inputs.label_inputs(), tmp_path / "labels", CONFIG, device=CPU, resume=resume, report=never
    )
    assert again.facts == labels.facts
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "labels").iterdir()} == before


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize(
    "config",
    [
        replace(CONFIG, seed=1),
        replace(CONFIG, teacher=replace(CONFIG.teacher, epochs=2)),
        replace(CONFIG, candidates=replace(CONFIG.candidates, random=101)),
    ],
    ids=["seed", "teacher", "candidates"],
)
def test_labels_of_another_config_are_neither_used_nor_replaced(
    config: LabelConfig, resume: bool, inputs: WorldInputs, labels: Labels
) -> None:
    before = contents(labels.folder)
    with pytest.raises(UsageError) as caught:
        make_labels(
            inputs.label_inputs(), labels.folder, config, device=CPU, resume=resume, report=never
        )
    message = "was begun with another config" if resume else "already holds labels"
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert contents(labels.folder) == before


def test_labels_of_another_language_model_are_not_used(
    inputs: WorldInputs, labels: Labels, tmp_path: Path
) -> None:
    words = inputs.corpus.vocabulary.words[4:200]
    other = inputs._replace(language_model=save_language_model(tmp_path / "tiny", words, seed=1))
    with pytest.raises(UsageError, match="was begun with another language_model"):
        make_labels(other.label_inputs(), labels.folder, CONFIG, device=CPU, resume=True)


def test_labels_are_replaced_where_that_is_asked(
    inputs: WorldInputs, labels: Labels, tmp_path: Path
) -> None:
    shutil.copytree(labels.folder, tmp_path / "labels")
    config = replace(CONFIG, candidates=replace(CONFIG.candidates, nearest=1, random=0))
    made = make_labels(
        inputs.label_inputs(), tmp_path / "labels", config, device=CPU, overwrite=True
    )
    assert made.facts["candidates"] == len(made.taught().x) < labels.facts["candidates"]


def test_other_files_of_the_folder_are_left_alone(inputs: WorldInputs, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    (tmp_path / "mine.txt").write_text("mine")
    for overwrite in (False, True):
        make_labels(inputs.label_inputs(), tmp_path, CONFIG, device=CPU, overwrite=overwrite)
        assert (tmp_path / "mine.txt").read_text() == "mine"
        assert (tmp_path / "notes" / "mine.txt").read_text() == "mine"


def test_features_of_a_pair_are_both_words_and_r_both_ways(
    inputs: WorldInputs, corpus: Corpus, tmp_path: Path
) -> None:
    text_model = run(corpus, tmp_path / "model", small(steps=1))
    tables, vocabulary = inputs.label_inputs().tables, inputs.corpus.vocabulary
    features = pair_features(tables, text_model, vocabulary, CPU)
    # All words of the world but the full stop are unknown to the model.
    ids = inputs.corpus.vocabulary.ids
    dot, noun, other = (torch.tensor([ids[w]]) for w in (".", *inputs.corpus.vocabulary.words[5:7]))
    unknown = features(noun, other)
    assert unknown.shape == (1, 3 * SIZE + 2 * MODEL_SIZE)
    x, y, product = unknown[:, : 3 * SIZE].reshape(3, SIZE)
    torch.testing.assert_close(product, x * y)
    assert x.norm().item() == pytest.approx(1, abs=1e-5)
    assert not unknown[:, 3 * SIZE :].any()
    assert not features(dot, noun)[:, 3 * SIZE :].any()
    known = features(dot, dot)[:, 3 * SIZE :]
    assert known.norm().item() == pytest.approx(2**0.5, abs=1e-4)
    assert pair_features(tables, None, vocabulary, CPU)(noun, other).shape == (1, 3 * SIZE)


def test_a_language_model_that_is_not_there_is_named_before_anything_is_written(
    inputs: WorldInputs, tmp_path: Path
) -> None:
    nowhere = inputs._replace(language_model=tmp_path / "nowhere").label_inputs()
    with pytest.raises(InputError, match="nowhere: no such language model; give a folder"):
        make_labels(nowhere, tmp_path / "labels", CONFIG, device=CPU)
    assert not (tmp_path / "labels").exists()


def test_the_language_model_reads_the_pairs_that_are_most_probably_related(
    monkeypatch: pytest.MonkeyPatch, inputs: WorldInputs, labels: Labels, tmp_path: Path
) -> None:
    candidates = labels.candidates()
    asked = int((candidates.source != SOURCES.index("random")).sum())
    read: list[int] = []
    plain = LanguageModelTeacher.log_probabilities

    def counted(self: LanguageModelTeacher, x: NDArray[np.int64], *rest: Any) -> Any:
        read.append(len(x))
        return plain(self, x, *rest)

    monkeypatch.setattr(LanguageModelTeacher, "log_probabilities", counted)
    teacher = replace(CONFIG.teacher, swap_above=1 - 1e-9)
    config = replace(CONFIG, most_read=asked // 5, teacher=teacher)
    made = make_labels(inputs.label_inputs(), tmp_path / "labels", config, device=CPU)
    held_out = 3 * sum(len(made.labelled(part).x) for part in ("dev", "test"))
    assert sum(read) < held_out + 0.3 * asked
    related = 1 - made.taught().probabilities[:, -1].astype(np.float32)
    assert related.max() > 0.5


def _weights(relations: int, *weights: float) -> NDArray[np.float32]:
    """The same for all relations."""
    return np.tile(np.array(weights, np.float32)[:, None], relations)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, 1.0])
def test_a_cascade_reads_its_share_of_what_may_be_related_the_lowest_ranks_first(
    share: float,
) -> None:
    random = np.random.default_rng(0)
    x, y = random.integers(0, 1000, (2, 400))
    rank_of = random.permutation(1000 * 1000).reshape(1000, 1000)
    ranks, none = rank_of[x, y], np.zeros(len(x), np.bool_)
    tables = np.log(random.dirichlet(np.ones(4), (2, 1000, 1000)).astype(np.float32))
    scores: NDArray[np.float32] = tables[0]
    others: NDArray[np.float32] = tables[1]
    read: list[NDArray[np.int64]] = []

    def language_model(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float32]:
        read.append(rank_of[a, b])
        return scores[b, a]

    cascade = Cascade(
        language_model,
        [lambda a, b: scores[a, b], lambda a, b: others[a, b]],
        Calibrations(
            Calibration(_weights(4, 1.0, 0.0, 0.5), 0.0), Calibration(_weights(4, 0.7, 0.3), 0.0)
        ),
    )
    cascade.read_at_most(x, y, ranks, share)
    found = cascade(x, y, ranks, none)
    expected = softmax(0.7 * scores[x, y] + 0.3 * others[x, y])
    with_model = softmax(scores[y, x] + 0.5 * others[x, y])
    assert len(read[0]) == pytest.approx(share * len(x), abs=2)
    may_be = (1 - expected[:, -1] >= LEAST_RELATED) | (share == 1)
    is_read = may_be & (ranks <= read[0].max(initial=-1))
    assert is_read.sum() == len(read[0])
    expected[is_read] = with_model[is_read]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_cascade_reads_pairs_that_are_marked_however_they_look() -> None:
    x = y = np.arange(4)
    read: list[int] = []

    def language_model(a: NDArray[np.int64], _: NDArray[np.int64]) -> NDArray[np.float32]:
        read.extend(a.tolist())
        return np.zeros((len(a), 2), np.float32)

    unrelated = np.log(np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]], np.float32))
    plain = Calibration(_weights(2, 1.0), 0.0)
    cascade = Cascade(
        language_model,
        [lambda a, _: unrelated[a]],
        Calibrations(Calibration(_weights(2, 1.0, 0.0), 0.0), plain),
    )
    cascade.least_related = 0.5
    for always in ([False] * 4, [False, False, True, False]):
        cascade(x, y, x, np.array(always))
    assert read == [0, 0, 2]
