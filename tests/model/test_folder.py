"""The model folder: saved and loaded, killed while saving, and what does not fit."""

import json
import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from tests.tiny_model import WORDS, as_older_version, reseal, save_tiny_model

from pair2vec.api import load
from pair2vec.errors import InputError, UsageError
from pair2vec.model import folder
from pair2vec.model.folder import (
    PatternCount,
    SavedModel,
    describe_model,
    load_model,
    save_model,
)
from pair2vec.model.tensors import PRECISIONS, Precision
from pair2vec.runtime.storage import write_file
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, WordCount
from pair2vec.version import __version__

VOCABULARY = Vocabulary([WordCount("the", 9), WordCount("été", 5), WordCount("'s", 2)])
CONFIG = {
    "created": "2020-02-02",
    "corpus": {"fingerprint": "f" * 64, "tokens": 16},
    "recipe": {"name": "tiny", "negatives": {"contexts": 2}},
    "metrics": {"loss": 0.5},
}


def tensors(seed: int = 0) -> dict[str, NDArray[np.float32]]:
    random = np.random.default_rng(seed)
    shapes = {
        "pair.words": (7, 4),
        "pair.layers.0.weight": (4, 12),
        "pair.layers.0.bias": (4,),
        "context.words": (7, 4),
        "context.attention": (1, 4),
        "temperature": (),
    }
    return {
        name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()
    }


def saved(path: Path, **kwargs: Any) -> SavedModel:
    save_model(path, tensors(), VOCABULARY, CONFIG, **kwargs)
    return load_model(path)


def rewrite_config(path: Path, **changes: object) -> None:
    config = json.loads((path / "config.json").read_bytes())
    (path / "config.json").write_text(json.dumps({**config, **changes}))


@pytest.mark.parametrize(
    ("precision", "tolerance"), [("float32", 0), ("float16", 2**-10), ("int8", 1 / 64)]
)
def test_a_model_survives_its_folder(
    tmp_path: Path, precision: Precision, tolerance: float
) -> None:
    model = saved(tmp_path / "new" / "model", precision=precision)
    assert model.names == tuple(tensors())
    for name, expected in tensors().items():
        actual = model.array(name)
        assert actual.dtype == np.float32
        assert actual.shape == expected.shape
        kept_as_is = expected.ndim != 2
        np.testing.assert_allclose(actual, expected, rtol=0, atol=0 if kept_as_is else tolerance)
    assert model.vocabulary.words == (*SPECIAL_TOKENS, "the", "été", "'s")
    assert model.vocabulary.counts.tolist() == [0, 0, 0, 0, 9, 5, 2]
    assert model.config.items() >= CONFIG.items()
    assert model.config["precision"] == precision


def test_the_config_says_what_the_files_hold(tmp_path: Path) -> None:
    config = saved(tmp_path).config
    assert config["format"] == 1
    assert config["version"] == __version__
    assert config["words"] == 3
    assert config["bytes"] == (tmp_path / "model.safetensors").stat().st_size
    assert config["tensors"]["pair.layers.0.weight"] == [4, 12]
    assert list(config["tensors"]) == list(tensors())


@pytest.mark.parametrize("precision", PRECISIONS)
def test_rows_equal_the_rows_of_the_whole_array(tmp_path: Path, precision: Precision) -> None:
    model = saved(tmp_path, precision=precision)
    ids = np.array([[5, 0], [6, 5]])
    rows = model.rows("context.words")
    assert rows.shape == (7, 4)
    np.testing.assert_array_equal(rows[ids], model.array("context.words")[ids])


def is_mapped(array: object) -> bool:
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return isinstance(array, mmap.mmap)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_arrays_lie_in_the_mapped_file_until_touched(tmp_path: Path, precision: Precision) -> None:
    model = saved(tmp_path, precision=precision)
    assert all(is_mapped(array) for array in model._stored.values())
    assert is_mapped(model.array("pair.words")) == (precision == "float32")
    assert not model.array("temperature").flags.writeable


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_safetensors_library_reads_the_same(tmp_path: Path, precision: Precision) -> None:
    model = saved(tmp_path, precision=precision)
    stored = load_file(tmp_path / "model.safetensors")
    assert stored["counts"].tolist() == VOCABULARY.counts.tolist()
    assert stored["counts"].dtype == np.int64
    for name in model.names:
        array = stored[name].astype(np.float32)
        if f"{name}.scale" in stored:
            array *= stored[f"{name}.scale"][:, np.newaxis]
        np.testing.assert_array_equal(model.array(name), array)


def test_int8_is_about_a_quarter_of_float32(tmp_path: Path) -> None:
    large = {"table": np.ones((1000, 100), np.float32)}
    sizes = {}
    for precision in PRECISIONS:
        save_model(tmp_path / precision, large, VOCABULARY, {}, precision=precision)
        sizes[precision] = (tmp_path / precision / "model.safetensors").stat().st_size
    assert sizes["float16"] < sizes["float32"] * 0.51
    assert sizes["int8"] < sizes["float32"] * 0.27


def test_a_loaded_model_can_be_saved_again_in_its_own_folder(tmp_path: Path) -> None:
    model = saved(tmp_path)
    arrays = {name: model.array(name) for name in model.names}
    save_model(tmp_path, arrays, model.vocabulary, model.config, precision="int8", overwrite=True)
    again = load_model(tmp_path)
    assert again.config["precision"] == "int8"
    assert again.config["bytes"] < model.config["bytes"]
    np.testing.assert_allclose(
        again.array("pair.words"), tensors()["pair.words"], rtol=0, atol=1 / 64
    )
    # The file of before is gone by name, but what was mapped of it is as it was.
    np.testing.assert_array_equal(model.array("pair.words"), tensors()["pair.words"])


def test_words_with_odd_spaces_survive(tmp_path: Path) -> None:
    odd = Vocabulary([WordCount("a\rb", 2), WordCount("c\u2028d", 1), WordCount("\x85", 1)])
    save_model(tmp_path, {}, odd, {})
    assert load_model(tmp_path).vocabulary.words == odd.words


# What is half-written is never taken for a model.


class Killed(BaseException):
    pass


def kill_before_write(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The save dies where it would write its file `number`, leaving a part of it behind."""
    written = 0

    def write(path: Path, data: bytes) -> None:
        nonlocal written
        if written == number:
            path.with_name(f"{path.name}.1.partial").write_bytes(data[: len(data) // 2])
            raise Killed
        written += 1
        write_file(path, data)

    monkeypatch.setattr(folder, "write_file", write)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("is_there_before", [False, True])
def test_a_killed_save_is_no_model_and_the_next_save_heals_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, is_there_before: bool
) -> None:
    if is_there_before:
        saved(tmp_path)
    with monkeypatch.context() as patch:
        kill_before_write(patch, number)
        with pytest.raises(Killed):
            save_model(tmp_path, tensors(seed=1), VOCABULARY, {}, overwrite=True)
    with pytest.raises(InputError, match=r"not a complete model \(no config\.json\)"):
        load_model(tmp_path)
    save_model(tmp_path, tensors(seed=2), VOCABULARY, {})
    actual = load_model(tmp_path).array("pair.words")
    np.testing.assert_array_equal(actual, tensors(seed=2)["pair.words"])
    assert {path.name for path in tmp_path.iterdir()} == set(folder.MODEL_FILES)


def test_the_config_is_written_last_and_removed_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path)
    steps: list[str] = []
    unlink = Path.unlink

    def logged_unlink(path: Path, missing_ok: bool = False) -> None:
        if not path.name.endswith(".partial"):
            steps.append(f"- {path.name}")
        unlink(path, missing_ok=missing_ok)

    def logged_write(path: Path, data: bytes) -> None:
        steps.append(f"+ {path.name}")
        write_file(path, data)

    monkeypatch.setattr(Path, "unlink", logged_unlink)
    monkeypatch.setattr(folder, "write_file", logged_write)
    saved(tmp_path, overwrite=True)
    assert steps[0] == "- config.json"
    assert steps[-1] == "+ config.json"
    written = {"model.safetensors", "vocabulary.txt", "patterns.tsv", "README.md"}
    assert set(steps[1:-1]) == {f"+ {name}" for name in written}


# What may not be saved, and where.


def listing(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def test_a_model_is_replaced_only_when_asked(tmp_path: Path) -> None:
    saved(tmp_path)
    before = listing(tmp_path)
    with pytest.raises(UsageError, match="already holds a model"):
        saved(tmp_path)
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    "foreign",
    [
        {"notes.txt": "mine"},
        {"README.md": "# my project"},
        {"README.md": "# my project", "model.safetensors": "mine"},
        {"config.json": '{"model_type": "bert"}', "model.safetensors": "mine"},
        {"config.json": "not json"},
    ],
)
def test_a_folder_of_something_else_is_left_as_it_is(
    tmp_path: Path, foreign: dict[str, str]
) -> None:
    for name, text in foreign.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match="is not a model and not empty"):
        saved(tmp_path, overwrite=True)
    assert listing(tmp_path) == {name: text.encode() for name, text in foreign.items()}


def test_another_librarys_model_is_left_as_it_is(tmp_path: Path) -> None:
    save_file({"a": np.ones(3, np.float32)}, tmp_path / "model.safetensors")
    before = listing(tmp_path)
    with pytest.raises(UsageError, match="is not a model and not empty"):
        saved(tmp_path, overwrite=True)
    assert listing(tmp_path) == before


def test_files_beside_a_model_outlive_it(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    saved(tmp_path, overwrite=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_file_is_no_place_for_a_model(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is a file, not a folder"):
        saved(tmp_path / "file", overwrite=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tensors": {"pair.words": np.ones((6, 4), np.float32)}}, r"vocabulary has 7 ids"),
        ({"tensors": {"counts": np.ones(7, np.float32)}}, "'counts': comes from the vocabulary"),
        ({"tensors": {"a": np.full((2, 2), 1e6, np.float32)}}, "the most float16 holds"),
        ({"config": {"recipe": Path("x")}}, "config: is not JSON"),
        ({"config": {"metrics": {"loss": float("nan")}}}, "config: is not JSON"),
        ({"vocabulary": Vocabulary([WordCount("a\nb", 1)])}, r"word 'a\\nb'"),
    ],
)
def test_what_cannot_be_saved_is_refused_before_the_old_model_is_touched(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    saved(tmp_path)
    before = listing(tmp_path)
    arguments = {"tensors": {}, "vocabulary": VOCABULARY, "config": {}, **change}
    with pytest.raises(UsageError, match=message):
        save_model(tmp_path, **arguments, precision="float16", overwrite=True)
    assert listing(tmp_path) == before


# What cannot be loaded, each in one line.


def assert_refused(path: Path, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        load_model(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_no_folder_and_a_file_are_no_model(tmp_path: Path) -> None:
    assert_refused(tmp_path / "nowhere", "no such folder")
    (tmp_path / "file").touch()
    assert_refused(tmp_path / "file", "is a file; a model is a folder")


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    rewrite_config(tmp_path, format=2)
    assert_refused(tmp_path, r"format 2 is newer than this version reads \(1\); upgrade")


@pytest.mark.parametrize(
    "text", ["not json", "[]", "{}", '{"format": 1, "precision": "int8", "tensors": []}']
)
def test_a_config_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    saved(tmp_path)
    (tmp_path / "config.json").write_text(text)
    assert_refused(tmp_path, "is not the config of a pair2vec model")


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.txt"])
def test_a_file_that_is_gone_is_named(tmp_path: Path, name: str) -> None:
    saved(tmp_path)
    (tmp_path / name).unlink()
    assert_refused(tmp_path, f"{name}: no such file")


def test_tensors_cut_short_are_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    assert_refused(tmp_path, "bytes where its header says")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("<pad> <x> <y> <s> the été", "has 6 words where model.safetensors has 7"),
        ("<pad> <x> <y> <s> the été 's more", "has 8 words where model.safetensors has 7"),
        ("<s> <x> <y> <pad> the été 's", "does not begin with <pad> <x> <y> <s>"),
        ("<pad> <x> <y> <s> the été the", "has a word twice"),
        ("<pad> <x> <y> <s> the \udcff 's", "is not UTF-8"),
    ],
)
def test_a_vocabulary_that_does_not_fit_is_refused(
    tmp_path: Path, words: str, message: str
) -> None:
    saved(tmp_path)
    lines = "".join(f"{word}\n" for word in words.split())
    (tmp_path / "vocabulary.txt").write_bytes(lines.encode(errors="surrogateescape"))
    assert_refused(tmp_path, message)


def test_tensors_of_another_model_are_refused(tmp_path: Path) -> None:
    saved(tmp_path, precision="int8")
    path = tmp_path / "model.safetensors"
    stored = load_file(path)
    for name, message in {
        "temperature": "has no tensor 'temperature'",
        "counts": "has no tensor 'counts'",
        "pair.words.scale": r"no scale for each row of 'pair\.words'",
    }.items():
        save_file({key: array for key, array in stored.items() if key != name}, path)
        assert_refused(tmp_path, message)
    save_file({**stored, "temperature": np.ones(2, np.float32)}, path)
    assert_refused(tmp_path, r"'temperature' has shape \[2\] where config\.json says \[\]")


def test_a_tensor_the_model_lacks_is_named_with_those_it_has(tmp_path: Path) -> None:
    model = saved(tmp_path)
    for ask in (model.array, model.rows):
        with pytest.raises(InputError, match=r"no tensor 'nope', only pair\.words, pair\.layers"):
            ask("nope")
    with pytest.raises(InputError, match="no tensor 'counts'"):
        model.array("counts")


def test_a_fingerprint_is_of_what_answers_depend_on(tmp_path: Path) -> None:
    model = load_model(save_tiny_model(tmp_path / "model"))
    same = load_model(save_tiny_model(tmp_path / "same", config={"name": "another", "metrics": {}}))
    assert same.fingerprint == model.fingerprint
    recipe = {**model.config["recipe"], "name": "bivariate"}
    others = {
        "numbers": save_tiny_model(tmp_path / "numbers", seed=1),
        "words": save_tiny_model(tmp_path / "words", [*WORDS[:-1], "rome"]),
        "patterns": save_tiny_model(tmp_path / "patterns", patterns=[]),
        "recipe": save_tiny_model(tmp_path / "recipe", config={"recipe": recipe}),
    }
    prints = {load_model(folder).fingerprint for folder in others.values()}
    assert len({model.fingerprint, *prints}) == 1 + len(others)


def test_patterns_survive_the_folder_and_may_be_none(tmp_path: Path) -> None:
    patterns = [PatternCount("neither X nor Y ,", 7), PatternCount("<s> X été Y <s>", 2)]
    kept = save_tiny_model(tmp_path / "with", patterns=patterns)
    assert load_model(kept).patterns() == patterns
    bare = save_tiny_model(tmp_path / "without", patterns=[])
    assert load_model(bare).patterns() == []
    (bare / "patterns.tsv").unlink()
    assert load_model(bare).patterns() == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"X and Y\t1\nX or Y\n", r"patterns\.tsv, line 2: expected a pattern, a tab"),
        ("X and Y\t1\nX or Y\t²\n".encode(), r"patterns\.tsv, line 2: expected a pattern, a tab"),
        (b"X and Y\t" + b"1" * 5_000 + b"\n", r"patterns\.tsv, line 1: expected a pattern"),
        (b"X \xff Y\t1\n", r"patterns\.tsv: is not UTF-8"),
    ],
)
def test_patterns_that_cannot_be_read_are_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    folder = save_tiny_model(tmp_path / "model")
    (folder / "patterns.tsv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_model(reseal(folder)).patterns()


# Damage: files that can be read, but are not those that were written.


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.txt", "patterns.tsv"])
def test_a_flipped_bit_in_any_file_is_refused(
    tmp_path: Path, name: str, precision: Precision
) -> None:
    path = save_tiny_model(tmp_path / "model", precision=precision) / name
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    assert_refused(tmp_path / "model", f"{name}: is damaged: its checksum is not the recorded one")


def test_patterns_cut_at_the_end_of_a_line_are_refused(tmp_path: Path) -> None:
    path = save_tiny_model(tmp_path / "model") / "patterns.tsv"
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    assert_refused(tmp_path / "model", r"patterns\.tsv: is damaged")
    path.unlink()
    assert_refused(tmp_path / "model", r"patterns\.tsv: no such file")


def test_another_value_in_the_config_is_refused_and_another_layout_is_not(tmp_path: Path) -> None:
    path = save_tiny_model(tmp_path / "model") / "config.json"
    text = path.read_text()
    path.write_text(json.dumps(json.loads(text), sort_keys=True))
    load_model(tmp_path / "model")
    path.write_text(text.replace('"sentences": 500', '"sentences": 501'))
    assert_refused(
        tmp_path / "model", r"config\.json: is damaged, or was edited by hand; 'pair2vec"
    )
    path.write_text(text.replace('"checksums"', '"checksumz"'))
    assert_refused(tmp_path / "model", r"config\.json: has lost its checksums")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_table_with_a_value_that_is_no_number_is_refused(
    tmp_path: Path, value: float, precision: Precision
) -> None:
    path = save_tiny_model(tmp_path / "model", precision=precision) / "model.safetensors"
    stored = load_file(path)
    name = "pair.words.scale" if precision == "int8" else "pair.words"
    stored[name][-1] = value
    save_file(stored, path, metadata={"library": "pair2vec"})
    assert_refused(reseal(tmp_path / "model"), rf"tensor '{name}' has values that are not finite")
    assert_refused(as_older_version(tmp_path / "model"), "has values that are not finite")


def test_a_model_of_a_version_without_checksums_is_read_and_gets_them_when_described(
    tmp_path: Path,
) -> None:
    words = load_model(save_tiny_model(tmp_path / "model")).array("pair.words").copy()
    older = load_model(as_older_version(tmp_path / "model"))
    np.testing.assert_array_equal(older.array("pair.words"), words)
    tensors_before = (tmp_path / "model" / "model.safetensors").read_bytes()
    describe_model(tmp_path / "model", {"licence": "mit"})
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == tensors_before
    described = load_model(tmp_path / "model")
    assert described.fingerprint == older.fingerprint
    assert set(described.config["checksums"]) == set(folder.MODEL_FILES) - {"README.md"}


# What a stranger may write: all checksums are right, and the sizes are not.


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (
            "recipe.pair.layers",
            10**9,
            r"recipe\.pair\.layers is 1000000000 where the tensors have 2",
        ),
        ("recipe.pair.layers", 1, "where the tensors have 2"),
        ("recipe.pair.layers", True, "is True where the tensors have 2"),
        ("recipe.pair.dimension", 10**12, r"recipe\.pair\.dimension is 1000000000000 where"),
        ("recipe.context", {"dimension": 9, "hidden": 4}, r"recipe\.context\.dimension is 9 where"),
        ("recipe.context", {"hidden": 10**9}, r"recipe\.context\.hidden is 1000000000 where"),
        ("tensors", {"pair.words": [22, 8], "context.bias": [32, 10**9]}, "has shape"),
        ("metrics", nested(60), "is not the config of a pair2vec model, or damaged"),
        ("corpus", {"sentences": -1}, "is not the config"),
        ("corpus", {"sentences": "many"}, "is not the config"),
        ("tensors", {"pair.words": "22, 8"}, "is not the config"),
        ("name", "\ud800", "is not the config"),
    ],
)
def test_what_a_config_says_is_compared_with_the_tensors(
    tmp_path: Path, keys: str, value: object, message: str
) -> None:
    def change(config: dict[str, Any]) -> None:
        *outer, last = keys.split(".")
        for key in outer:
            config = config[key]
        config[last] = value

    assert_refused(reseal(save_tiny_model(tmp_path / "model"), change), message)


def test_a_deeply_nested_config_is_refused(tmp_path: Path) -> None:
    path = save_tiny_model(tmp_path / "model") / "config.json"
    path.write_text("[" * 200_000)
    assert_refused(tmp_path / "model", "is not the config of a pair2vec model, or damaged")
    path.write_text('{"a": 1, "a": 2}')
    assert_refused(tmp_path / "model", "is not the config of a pair2vec model, or damaged")


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        (
            "pair.words",
            (21, 8),
            r"'pair\.words' has shape \[21, 8\] where the vocabulary has 22 ids",
        ),
        (
            "pair.first.weight",
            (8, 25),
            r"'pair\.first\.weight' has shape \[8, 25\], which does not",
        ),
        (
            "pair.others.0.bias",
            (7,),
            r"'pair\.others\.0\.bias' has shape \[7\], which does not fit",
        ),
        ("context.state_weight", (2, 4, 15), r"'context\.state_weight' has shape"),
        ("context.bias", (8, 4), r"'context\.bias' has shape"),
        ("context.words", (0, 8), "has a size of 0"),
        ("pair.words", (22, 10_001), "has a size of 10,001; it must be between 1 and 10,000"),
    ],
)
def test_tensors_that_do_not_fit_each_other_are_refused(
    tmp_path: Path, name: str, shape: tuple[int, ...], message: str
) -> None:
    path = save_tiny_model(tmp_path / "model") / "model.safetensors"
    stored = {**load_file(path), name: np.zeros(shape, np.float32)}
    if shape[-1] > 10_000:
        stored = {name: stored[name], "counts": stored["counts"]}
    save_file(stored, path)

    def change(config: dict[str, Any]) -> None:
        config["tensors"] = {
            name: list(array.shape) for name, array in stored.items() if name != "counts"
        }

    assert_refused(reseal(tmp_path / "model", change), message)


@pytest.mark.parametrize(
    "counts", [np.full(22, -1), np.zeros(22, np.int32), np.zeros((22, 1), np.int64)]
)
def test_counts_that_no_words_have_are_refused(tmp_path: Path, counts: NDArray[Any]) -> None:
    path = save_tiny_model(tmp_path / "model") / "model.safetensors"
    save_file({**load_file(path), "counts": counts}, path)
    assert_refused(reseal(tmp_path / "model"), "'counts' has values that no word has")


@pytest.mark.parametrize(
    "recipe", [None, "fast", {}, {"pair": {"composition": ["mlp"], "layers": 2}}]
)
def test_a_model_without_a_recipe_cannot_be_asked(tmp_path: Path, recipe: object) -> None:
    model = save_tiny_model(tmp_path / "model")
    reseal(model, lambda config: config.update(recipe=recipe))
    with pytest.raises(
        InputError, match="its config has no 'recipe' with the composition of pairs"
    ):
        load(model)


def test_words_that_never_occur_have_patterns_all_the_same(tmp_path: Path) -> None:
    model = save_tiny_model(tmp_path / "model", config={"corpus": {}})
    stored = load_file(model / "model.safetensors")
    stored["counts"][:] = 0
    save_file(stored, model / "model.safetensors")
    scores = load(reseal(model)).fill("X and Y", x="hot", top=3)
    assert all(np.isfinite(match.score) for match in scores)
