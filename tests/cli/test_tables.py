"""What is shown while something runs, on a terminal and elsewhere."""

import io

import pytest
from rich.console import Console

from pair2vec.cli import prepare as progress_module
from pair2vec.cli import train as training_view
from pair2vec.cli.prepare import show_prepare_progress
from pair2vec.cli.train import show_training
from pair2vec.text.prepare import PrepareProgress
from pair2vec.training.trainer import TrainingProgress

METRICS = {
    "loss": 1.25,
    "observed": 0.5,
    "typed_x": 0.25,
    "positives_above_half": 0.4,
    "rate": 0.01,
    "triples_per_second": 12_345.0,
}


def console(*, terminal: bool) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, force_terminal=terminal, width=150, color_system=None), file


def test_a_terminal_shows_bytes_tokens_speed_and_time_left() -> None:
    screen, file = console(terminal=True)
    with show_prepare_progress(screen) as report:
        report(PrepareProgress("read", 50_000_000, 100_000_000, 9_000_000))
        report(PrepareProgress("write", 3, 6, 4_000_000))
    shown = file.getvalue()
    assert "50.0/100.0 MB" in shown
    assert "9.0 M tokens" in shown
    assert "3/6" in shown
    assert ":" in shown  # the time left


def test_elsewhere_a_line_now_and_then_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "_SECONDS_BETWEEN_LINES", 0.0)
    screen, file = console(terminal=False)
    with show_prepare_progress(screen) as report:
        report(PrepareProgress("read", 50_000_000, 100_000_000, 9_000_000))
        report(PrepareProgress("read", 60_000_000, None, 9_500_000))
        report(PrepareProgress("write", 3, 6, 4_000_000))
    lines = file.getvalue().splitlines()
    assert lines[0].startswith("read: 50.0 of 100.0 MB, 9.0 M tokens, ")
    assert lines[1].startswith("read: 60.0 MB, 9.5 M tokens, ")
    assert lines[2].startswith("write: 3 of 6 pieces, 4.0 M tokens, ")


def test_a_terminal_shows_every_group_of_the_loss() -> None:
    screen, file = console(terminal=True)
    with show_training(screen) as report:
        report(TrainingProgress(100, 400, METRICS))
        report(TrainingProgress(100, 400, {"validation_loss": 1.5}))
    shown = file.getvalue()
    for part in (
        "100/400",
        "1.2500",
        "observed 0.500",
        "typed_x 0.250",
        "40.0%",
        "12,345",
        "1.5000",
    ):
        assert part in shown


def test_elsewhere_training_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_view, "_SECONDS_BETWEEN_LINES", 0.0)
    screen, file = console(terminal=False)
    with show_training(screen) as report:
        report(TrainingProgress(100, 400, METRICS))
        report(TrainingProgress(100, 400, {"validation_loss": 1.5}))
    first, second = file.getvalue().splitlines()
    assert first.startswith("step 100 of 400: loss 1.2500, 40% of positives above ½, rate 1.0e-02")
    assert second == "step 100 of 400: validation loss 1.5000"
