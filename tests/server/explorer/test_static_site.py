"""The page without a server, in a browser: from a file server, offline, and as a single file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from tests.server.explorer.engine_questions import (
    UNKNOWN_WORDS,
    difference,
    make_questions,
    python_answer,
)
from tests.tiny_model import ALL_ANSWERS, taught_model

import pair2vec
from pair2vec.api import load
from pair2vec.server.endpoints import ENDPOINTS, RELATION_ENDPOINTS, Resources
from pair2vec.server.static_site import write_single_page, write_site

if TYPE_CHECKING:
    from tests.server.explorer.browser import Browser, Explorer

THOUSAND = 1_000
SITES = "sites"
"""A site is below other folders, as on GitHub Pages."""


class FileHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


class FileServer(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Of a browser that is closed while it reads."""


@contextmanager
def file_server(folder: Path) -> Iterator[str]:
    """The address of a server of nothing but files."""
    server = FileServer(("127.0.0.1", 0), partial(FileHandler, directory=folder))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[Explorer]:
    """The page in a browser that has seen nothing yet; it must end without faults."""
    from tests.server.explorer.browser import Explorer

    context = browser.new_context()
    made = Explorer(context.new_page(), address)
    yield made
    context.close()
    assert made.faults() == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the sites."""
    made = tmp_path_factory.mktemp("server")
    model = load(taught_model(made / "tiny", seed=ALL_ANSWERS, composes=True))
    (made / "files" / SITES).mkdir(parents=True)
    write_site(model, made / "files" / SITES / "tiny")
    write_single_page(model, made / "tiny.html")
    return made


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    with file_server(folder / "files") as address:
        yield f"{address}{SITES}/tiny/"


QUESTIONS = {
    "relate": {"x": "hot", "y": "cold"},
    "opposed": {"a": "It is hot.", "b": "It is not hot."},
    "fill": {"pattern": "X or Y", "x": "hot"},
    "analogy": {"a": "hot", "b": "cold", "x": "up"},
    "pair": {"x": "hot", "y": "cold"},
    "plane": {"a": "hot", "b": "cold", "x": "up", "y": "down"},
    "map": {"word": "hot"},
    "word": {"word": "hot"},
    "play": {"game": "odd", "n": "1"},
}


def assert_every_panel_answers(explorer: Explorer) -> None:
    from tests.server.explorer.browser import expect

    for panel, state in QUESTIONS.items():
        explorer.open(panel, **state)
        expect(explorer.message).to_have_text(re.compile(r"\w"))
        expect(explorer.message).not_to_have_class(re.compile("failed|thinking"))
        expect(explorer.panel.locator(".results > *").first).to_be_visible()


def test_every_panel_answers_without_a_server(browser: Browser, site: str) -> None:
    with opened(browser, site) as explorer:
        assert_every_panel_answers(explorer)


def test_a_pair_says_that_there_are_no_sentences(browser: Browser, site: str) -> None:
    from tests.server.explorer.browser import expect

    with opened(browser, site) as explorer:
        explorer.open("pair", x="hot", y="cold")
        expect(explorer.panel.locator(".sentences p").first).to_have_text(
            "There is no corpus here to take sentences from."
        )


def test_an_unknown_word_has_suggestions_and_typing_completions(
    browser: Browser, site: str
) -> None:
    from tests.server.explorer.browser import expect

    with opened(browser, site) as explorer:
        explorer.open("relate", x="clod", y="up")
        expect(explorer.message).to_contain_text("does not know “clod”")
        explorer.message.get_by_role("button", name="cold").click()
        expect(explorer.message).to_contain_text("cold and up")
        explorer.open("relate", x="cheaper", y="up")
        note = explorer.panel.locator(".composed")
        expect(note).to_contain_text("“cheaper” is not in the vocabulary: its vector is composed")
        note.get_by_role("button", name="cheap").click()
        expect(explorer.message).to_contain_text("cheap and up")
        expect(note).to_have_count(0)
        explorer.field("Word X").fill("")
        explorer.field("Word X").press_sequentially("fra")
        expect(explorer.panel.get_by_role("option")).to_have_text(["france"])


def test_it_answers_offline_after_the_first_visit(browser: Browser, folder: Path) -> None:
    from tests.server.explorer.browser import expect

    context = browser.new_context()
    page = context.new_page()
    with file_server(folder / "files") as address:
        page.goto(f"{address}{SITES}/tiny/#relate?x=hot&y=cold")
        message = page.locator("#panel-relate .message")
        expect(message).to_contain_text("hot and cold")
        page.evaluate("navigator.serviceWorker.ready")
        names = page.evaluate("caches.keys()")
        assert len(names) == 2
        assert all(name.startswith(f"pair2vec /{SITES}/tiny/") for name in names)
    page.goto("about:blank")
    page.goto(f"{address}{SITES}/tiny/#relate?x=up&y=down")
    expect(message).to_contain_text("up and down")
    context.close()


def test_a_new_site_clears_what_was_kept_of_the_old_one(browser: Browser, tmp_path: Path) -> None:
    from tests.server.explorer.browser import expect

    model = load(taught_model(tmp_path / "one"))
    write_site(model, tmp_path / "files" / "site")
    context = browser.new_context()
    with file_server(tmp_path / "files") as address:
        page = context.new_page()
        page.goto(f"{address}site/")
        page.evaluate("navigator.serviceWorker.ready")
        before = {*page.evaluate("caches.keys()")}
        write_site(
            load(taught_model(tmp_path / "two", seed=3)),
            tmp_path / "files" / "site",
            overwrite=True,
        )
        page.goto(f"{address}site/#fill?pattern=X+or+Y&x=hot")
        expect(page.locator("#panel-fill .ranked").first).to_be_visible()
        page.evaluate("navigator.serviceWorker.getRegistration().then((one) => one.update())")
        page.wait_for_function(
            "async (before) => (await caches.keys()).every((name) => !before.includes(name))",
            arg=sorted(before),
        )
    context.close()


def test_a_single_file_answers_from_a_disk(browser: Browser, folder: Path) -> None:
    page = folder / "tiny.html"
    with opened(browser, page.as_uri()) as explorer:
        assert_every_panel_answers(explorer)


def test_a_model_that_does_not_come_is_reported(browser: Browser, tmp_path: Path) -> None:
    from tests.server.explorer.browser import expect

    write_site(load(taught_model(tmp_path / "tiny")), tmp_path / "files")
    (vocabulary,) = tmp_path.glob("files/model-*/vocabulary.txt")
    missing = vocabulary.rename(tmp_path / "vocabulary.txt")
    with file_server(tmp_path / "files") as address, opened(browser, address) as explorer:
        explorer.may_fail = "404"
        explorer.open("relate", x="hot", y="cold")
        expect(explorer.message).to_contain_text("The model could not be loaded")
        missing.rename(vocabulary)
        explorer.message.get_by_role("button", name="Try again").click()
        expect(explorer.message).to_contain_text("hot and cold")


ASK_ALL = """async (questions) => {
  const folder = document.documentElement.dataset.model;
  const script = new URL("engine_client.js", document.querySelector("script").src);
  const { ask } = await import(script);
  window.answers = Promise.all(questions.map(([name, given]) => ask(folder, name, given)));
}"""


def test_the_bundled_model_answers_a_thousand_questions_as_python_does(
    browser: Browser, tmp_path: Path
) -> None:
    model = pair2vec.load()
    write_site(model, tmp_path / "site")
    definitions = model.relations().definitions
    pairs = [
        pair for each in definitions for pair in each.examples if {*pair} <= {*model.vocabulary.ids}
    ]
    more = THOUSAND - len(UNKNOWN_WORDS)
    questions = [*UNKNOWN_WORDS, *make_questions(model.vocabulary.words[4:], pairs, more)]
    endpoints = {endpoint.name: endpoint for endpoint in (*ENDPOINTS, *RELATION_ENDPOINTS)}
    with file_server(tmp_path) as address:
        page = browser.new_context().new_page()
        page.goto(f"{address}site/#words")
        # Both answer at the same time.
        page.evaluate(ASK_ALL, questions)
        resources = Resources(model)
        expected = [python_answer(resources, endpoints, question) for question in questions]
        found: list[dict[str, Any]] = page.evaluate("() => window.answers")
        page.context.close()
    answers = [one.get("answer") or one["error"] for one in found]
    both = zip(questions, expected, answers, strict=True)
    faults = [(question, fault) for question, *pair in both if (fault := difference(*pair))]
    assert not faults
    composed = [word["source"] for answer in answers for word in answer.get("composed", ())]
    assert composed.count("spelling") > 40
    assert composed.count("words") > 5
    assert sum("word" in answer for answer in answers) > 20
