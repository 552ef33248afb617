"""The patterns that a model folder keeps."""

from pathlib import Path

import pytest
from tests.tiny_model import save_tiny_model

from pair2vec.errors import InputError
from pair2vec.model.folder import PatternCount, load_model


def test_patterns_survive_the_folder_and_may_be_none(tmp_path: Path) -> None:
    patterns = [PatternCount("neither X nor Y ,", 7), PatternCount("<s> X été Y <s>", 2)]
    kept = save_tiny_model(tmp_path / "with", patterns=patterns)
    assert load_model(kept).patterns() == patterns
    bare = save_tiny_model(tmp_path / "without", patterns=[])
    assert load_model(bare).patterns() == []
    (bare / "patterns.tsv").unlink()
    assert load_model(bare).patterns() == []


def test_a_broken_line_of_the_patterns_is_named(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model")
    (folder / "patterns.tsv").write_text("X and Y\t1\nX or Y\n")
    with pytest.raises(InputError, match=r"patterns\.tsv, line 2: expected a pattern, a tab"):
        load_model(folder).patterns()
