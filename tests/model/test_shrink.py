"""A smaller model answers as the larger one, of what it kept."""

from pathlib import Path

import numpy as np
import pytest
from tests.command import assert_fails, pair2vec
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec
from pair2vec.errors import UsageError
from pair2vec.model.folder import PatternCount, describe_model, load_model
from pair2vec.model.shrink import shrink_model
from pair2vec.text.vocabulary import SPECIAL_TOKENS, UnknownWordError

WORDS = "the , . and or of hot cold up down cheap dear france paris".split()
PATTERNS = (PatternCount("X and Y", 9), PatternCount("X cheap Y", 5), PatternCount("X france Y", 1))


@pytest.fixture
def whole(tmp_path: Path) -> Pair2vec:
    return Pair2vec(load_model(save_tiny_model(tmp_path / "whole", WORDS, patterns=PATTERNS)))


def shrunk(whole: Pair2vec, folder: Path, words: int, context_words: int) -> Pair2vec:
    shrink_model(whole.saved, folder, words=words, context_words=context_words, precision="float32")
    return Pair2vec(load_model(folder))


def test_what_is_kept_is_the_same(whole: Pair2vec, tmp_path: Path) -> None:
    small = shrunk(whole, tmp_path / "small", words=12, context_words=11)
    assert small.vocabulary.words[4:] == tuple(WORDS[:12])
    np.testing.assert_array_equal(small.vocabulary.counts, whole.vocabulary.counts[: 12 + 4])
    np.testing.assert_array_equal(small.pair("hot", "cold"), whole.pair("hot", "cold"))
    pattern = "the X cheap Y ."
    assert small.score("hot", "dear", pattern) == whole.score("hot", "dear", pattern)
    with pytest.raises(UnknownWordError):
        small.pair("hot", "paris")


def test_patterns_are_of_the_words_kept_for_them(whole: Pair2vec, tmp_path: Path) -> None:
    small = shrunk(whole, tmp_path / "small", words=12, context_words=6)
    assert small.patterns == ["X and Y"]
    assert small.explain("hot", "cold")[0].pattern == "X and Y"
    with pytest.raises(UsageError, match=r"'cheap' is too rare for a pattern; .* the 6 most"):
        small.score("hot", "cold", "X cheap Y")
    assert len(small.fill("the X and Y", x="hot", top=99, all_words=True)) == 11


def test_the_most_similar_word_stands_for_one_that_is_too_rare_for_patterns(
    whole: Pair2vec, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    small = shrunk(whole, tmp_path / "small", words=12, context_words=6)
    unit, ids = small.unit_words, small.vocabulary.ids
    known = small.vocabulary.words[len(SPECIAL_TOKENS) : len(SPECIAL_TOKENS) + 6]
    similar = max(known, key=lambda word: float(unit[ids[word]] @ unit[ids["cheap"]]))
    asked = small.nearest_question("X cheap Y", x="hot")
    assert asked[:3] == (f"X {similar} Y", "hot", None)
    assert asked.reason == "'cheap' is too rare for a pattern"
    assert small.fill("X cheap Y", x="hot") == small.fill(f"X {similar} Y", x="hot")
    assert caplog.messages == [
        f"pattern 'X cheap Y': asked as “X {similar} Y” with X = hot: {asked.reason}"
    ]
    with pytest.raises(UsageError, match=f"there; '{similar}' is like it"):
        small.score("hot", "cold", "X cheap Y")
    both = small.nearest_question("the cheap and X is Y", x="hot")
    assert both[1:3] == (None, "hot")
    assert both.reason.startswith("a context has one word left of X")
    assert both.reason.endswith("; 'cheap' is too rare for a pattern")


def test_the_config_says_what_it_was_shrunk_from(whole: Pair2vec, tmp_path: Path) -> None:
    describe_model(whole.saved.folder, {"metrics": {"loss": 1.5}})
    saved = load_model(whole.saved.folder)
    shrink_model(saved, tmp_path / "small", words=12, context_words=6)
    config = load_model(tmp_path / "small").config
    assert config["precision"] == "int8"
    assert config["metrics"] == {}
    assert config["shrunk"] == {
        "from_words": 14,
        "from_precision": "float32",
        "from_metrics": {"loss": 1.5},
        "words": 12,
        "context_words": 6,
    }


def test_a_model_does_not_grow(whole: Pair2vec, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="words is 15 and context words 14; the model has 14"):
        shrink_model(whole.saved, tmp_path / "small", words=15)
    with pytest.raises(UsageError, match="words is 5 and context words 6"):
        shrink_model(whole.saved, tmp_path / "small", words=5, context_words=6)


def test_a_small_model_can_be_made_smaller_still(whole: Pair2vec, tmp_path: Path) -> None:
    small = shrunk(whole, tmp_path / "small", words=12, context_words=6)
    shrink_model(small.saved, tmp_path / "smaller", words=10)
    config = load_model(tmp_path / "smaller").config
    assert (config["words"], config["shrunk"]["context_words"]) == (10, 6)
    with pytest.raises(UsageError, match="context words 7; the model has 12 and 6"):
        shrink_model(small.saved, tmp_path / "wrong", words=10, context_words=7)


def test_the_command_shrinks_lists_and_refuses(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "whole", WORDS)
    small = tmp_path / "small"
    done = pair2vec("shrink", folder, "--out", small, "--words=12", "--context-words=6")
    assert done.returncode == 0, done.stderr
    assert "int8" in done.stdout
    assert load_model(small).config["words"] == 12
    assert_fails(pair2vec("shrink", folder, "--out", small), 2, "already holds a model")
    wrong = pair2vec("shrink", folder, "--out", tmp_path / "x", "--precision=int4")
    assert_fails(wrong, 2, "--precision int4: it must be one of float32, float16, int8")
    assert pair2vec("models").returncode == 0
