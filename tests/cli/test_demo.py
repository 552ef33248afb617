"""``pair2vec demo``: the first questions and answers a newcomer sees."""

from pathlib import Path

import pytest
from tests.tiny_model import save_tiny_model

from pair2vec.api import load
from pair2vec.cli.demo import _show_bundled_model, answered_questions
from pair2vec.model import resolve

WORDS = "in , . either or accept refuse france paris japan tokyo hot cold up down portland".split()


def test_questions_with_unknown_words_are_left_out(tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path / "model", WORDS))
    commands = [answered.command for answered in answered_questions(model)]
    assert commands == [
        'fill "in X , Y ." --x portland',
        'fill "either X or Y" --x accept',
        "analogy france paris japan",
        "nearest japan tokyo",
        "nearest hot cold",
    ]


def test_answers_are_those_of_the_command_named(tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path / "model", WORDS))
    by_command = {answered.command: answered.answers for answered in answered_questions(model)}
    expected = model.fill("either X or Y", x="accept", top=4)
    assert by_command['fill "either X or Y" --x accept'] == [match.word for match in expected]
    expected = model.analogy("france", "paris", "japan", top=4)
    assert by_command["analogy france paris japan"] == [match.word for match in expected]
    (first, *_) = model.nearest("hot", "cold")
    assert by_command["nearest hot cold"][0] == f"{first.x} : {first.y}"


def test_the_first_bundled_model_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(resolve, "BUNDLED", tmp_path)
    for name in ("one", "two"):
        save_tiny_model(tmp_path / name, WORDS)
    _show_bundled_model()
    text = capsys.readouterr().out
    assert "The bundled model “one”" in text
    assert "two" not in text
    assert "“in portland , … .”" in text
    assert "france is to paris as japan is to …" in text


def test_without_a_bundled_model_nothing_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(resolve, "BUNDLED", tmp_path)
    _show_bundled_model()
    assert not capsys.readouterr().out
