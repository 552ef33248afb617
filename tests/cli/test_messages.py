"""Progress is live on a terminal, and lines elsewhere."""

import pytest
from tests.cli.conftest import console

from pair2vec.cli import messages
from pair2vec.cli.messages import show_count


def test_a_count_is_a_bar_on_a_terminal_and_lines_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messages._CountView, "seconds_between_lines", 0.0)
    for terminal, expected in {True: "500/98000", False: "500 of 98,000 questions"}.items():
        screen, file = console(terminal=terminal)
        with show_count("questions", screen) as report:
            report(500, 98_000)
        assert expected in file.getvalue()
