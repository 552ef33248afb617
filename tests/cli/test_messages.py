"""Progress is live on a terminal, and lines elsewhere; text is shown and never obeyed."""

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import console
from tests.command import pair2vec
from tests.tiny_model import WORDS, save_tiny_model

from pair2vec.cli import messages
from pair2vec.cli.messages import (
    facts_table,
    json_text,
    print_table,
    print_text,
    say,
    show_count,
    visible,
)


def test_a_count_is_a_bar_on_a_terminal_and_lines_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messages._CountView, "seconds_between_lines", 0.0)
    for terminal, expected in {True: "500/98000", False: "500 of 98,000 questions"}.items():
        screen, file = console(terminal=terminal)
        with show_count("questions", screen) as report:
            report(500, 98_000)
        assert expected in file.getvalue()


HOSTILE = [
    *("\x1b]0;owned\x07", "\x1b[31mred", "\x9b2J", "\x7f\x08", "\u202egnp", "\u2066x"),
    *("[red]x[/red]", "[/]", "[link=http://x.org]y", ":smile:"),
]
"""As words: a terminal would obey some, the library that prints tables the others."""
OBEYED = {"Cc", "Cs", "Zl", "Zp"}
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def is_obeyed(character: str) -> bool:
    is_direction = unicodedata.bidirectional(character) in {
        *("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"),
    }
    return unicodedata.category(character) in OBEYED or is_direction


def assert_harmless(printed: str) -> None:
    obeyed = {character for character in COLOURS.sub("", printed) if is_obeyed(character)}
    assert obeyed <= {"\n"}, obeyed


@given(st.text() | st.sampled_from(HOSTILE))
def test_what_a_terminal_obeys_is_made_visible(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert not any(is_obeyed(character) for character in shown if character not in "\n\t")
    kept = [
        pair
        for pair in zip(text, shown, strict=True)
        if not is_obeyed(pair[0]) and pair[0] not in "\u061c\u200e\u200f"
    ]
    assert all(before == after for before, after in kept)


@given(st.text(st.characters(codec=None)) | st.sampled_from(HOSTILE))
def test_json_is_the_same_with_control_characters_escaped(text: str) -> None:
    printed = json_text({text: [text]})
    printed.encode()
    assert_harmless(printed)
    assert json.loads(printed) == {text: [text]}


@pytest.fixture(params=["", "1"], ids=["elsewhere", "terminal"])
def _screen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setenv("FORCE_COLOR", request.param)


@pytest.mark.usefixtures("_screen")
def test_every_way_to_print_shows_text_and_does_not_obey_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for word in HOSTILE:
        print_table(facts_table({word: word}))
        print_text(f"{word}\n{word}")
        say(f"{word}\n{word}")
        output, errors = (COLOURS.sub("", text) for text in capsys.readouterr())
        assert_harmless(output + errors)
        assert output.split()[-2:] == [visible(word)] * 2
        assert len(errors.splitlines()) == 1
        if word == visible(word):  # the library that prints tables drops some characters
            assert output.split()[:2] == [word] * 2
            assert errors == f"pair2vec: {word} {word}\n"


@pytest.mark.usefixtures("_screen")
def test_words_of_a_model_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    licence = {"licence": "".join(HOSTILE)}
    model = save_tiny_model(tmp_path / "m", [*WORDS, *HOSTILE], config=licence)
    for command in (
        ("nearest", "hot", "cold", "--top", "100"),
        ("fill", "X and Y", "--x=hot", "--top=100"),
    ):
        for options in ((), ("--json",)):
            done = pair2vec(*command, "--model", model, *options)
            assert done.returncode == 0, done.stderr
            assert_harmless(done.stdout)
    info = pair2vec("info", model)
    assert info.returncode == 0, info.stderr
    assert_harmless(info.stdout)
    assert "[red]x[/red][/]" in info.stdout
    assert ":smile:" in info.stdout
    unknown = pair2vec("neighbours", "".join(HOSTILE[:6]), "--model", model)
    assert unknown.returncode != 0
    assert_harmless(unknown.stderr)


@pytest.mark.usefixtures("_screen")
def test_words_of_a_corpus_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    text = tmp_path / "[red]\x1b[31m.txt"
    missing = pair2vec("prepare", text, "--out", tmp_path / "all")
    assert missing.returncode == 2
    assert "[red]␛[31m.txt: no such file" in missing.stderr
    text.write_text("hot cold " * 9 + " ".join(HOSTILE))
    for name, words in {"few": "2", "all": "100"}.items():
        done = pair2vec("prepare", text, "--out", tmp_path / name, "--vocab", words)
        assert done.returncode == 0, done.stderr
        assert_harmless(done.stdout)
        for options in (("--sentences", "3"), ("--json",)):
            done = pair2vec("info", tmp_path / name, *options)
            assert done.returncode == 0, done.stderr
            assert_harmless(done.stdout)
