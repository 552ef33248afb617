"""Measure the explorer page without a server: its size, its first answer, and each question.

Wants Debian's chromium and the package playwright. Writes the site of the bundled model to a
temporary folder, serves it from this machine, and opens it in a browser that has seen nothing yet:

    python benchmarks/browser.py [--model MODEL]

What goes over the wire is counted as it is and as gzip would send it. The first answer is that of
the first panel, from the start of the navigation on, with all that it shows. Times are medians, and
the longest, of questions about random pairs of the built-in relations, in the page, each asked when
the one before it is answered; before each kind one question is not counted, which computes what is
computed once. What that takes for unknown words is shown by itself.
"""

import argparse
import gzip
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from playwright.sync_api import Browser, expect, sync_playwright

import machine
import pair2vec
from pair2vec.server.static_site import make_site, write_site
from pair2vec.text.vocabulary import UnknownWordError

FIRST_WORDS = "antonym"
TIMED = """async ([name, questions]) => {
  const folder = document.documentElement.dataset.model;
  const { ask } = await import(new URL("engine_client.js", document.querySelector("script").src));
  const seconds = [];
  for (const question of questions) {
    const start = performance.now();
    const { error } = await ask(folder, name, question);
    if (error) throw new Error(error.error);
    seconds.push((performance.now() - start) / 1000);
  }
  return seconds;
}"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of nothing but files."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


def questions(
    model: pair2vec.Pair2vec, pairs: list[tuple[str, str]], count: int
) -> dict[str, list[dict[str, object]]]:
    """By what is measured: the name of the endpoint comes first."""
    drawn = random.Random(0).choices(pairs, k=count)
    composed = []
    for word in (f"re{x}ish" for x, _ in drawn):
        with suppress(UnknownWordError):  # not every word can be
            model.relate(word, "hot", top=0)
            composed.append(word)
    return {
        "relate, the relation alone": [{"x": x, "y": y, "top": 0} for x, y in drawn],
        "relate": [{"x": x, "y": y} for x, y in drawn],
        "opposed": [{"a": f"It is {x}.", "b": f"It is not {y}."} for x, y in drawn],
        "fill": [{"pattern": "X or Y", "x": x} for x, _ in drawn],
        "fill, exact": [{"pattern": "X or Y", "x": x, "search": "exact"} for x, _ in drawn[:5]],
        "analogy": [{"a": x, "b": y, "x": drawn[0][0]} for x, y in drawn],
        "pair": [{"x": x, "y": y} for x, y in drawn],
        "nearest": [{"x": x, "y": y} for x, y in drawn[:10]],
        "neighbours": [{"word": x} for x, _ in drawn[:10]],
        "words, of similar spelling": [{"start": f"{x}q"} for x, _ in drawn],
        "relate, an unknown word": [{"x": word, "y": "hot", "top": 0} for word in composed],
    }


def first_answers(browser: Browser, address: str, repeats: int) -> list[float]:
    """Seconds from the start of the navigation to the first panel's answer."""
    seconds = []
    for _ in range(repeats):
        page = browser.new_context().new_page()
        start = time.perf_counter()
        page.goto(address)
        expect(page.locator("#panel-relate .message")).to_contain_text(FIRST_WORDS, timeout=60_000)
        seconds.append(time.perf_counter() - start)
        page.context.close()
    return seconds


def show(what: str, seconds: list[float]) -> None:
    median, most = statistics.median(seconds), max(seconds)
    print(f"{what:32} {1000 * median:8.0f} ms   {1000 * most:8.0f} ms   ({len(seconds)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=40, help="Of each kind, at most.")
    parser.add_argument("--repeats", type=int, default=5, help="Of the first answer.")
    parser.add_argument("--model", help="By default the bundled one.")
    options = parser.parse_args()
    print(machine.describe())
    model = pair2vec.load(options.model)
    files = make_site(model).files
    sizes = [sum(map(len, files.values())), sum(len(gzip.compress(one)) for one in files.values())]
    print(f"{sizes[0] / 1e6:.1f} MB over the wire, {sizes[1] / 1e6:.1f} MB with gzip")
    known = [pair for one in model.relations().definitions for pair in one.examples]
    pairs = [(x, y) for x, y in known if x in model and y in model]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        write_site(model, Path(folder) / "site")
        chromium = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served(Path(folder)) as address:
            print(f"{'Chromium ' + browser.version:32} {'median':>11}   {'longest':>11}")
            show("first answer", first_answers(browser, f"{address}site/", options.repeats))
            page = browser.new_page()
            page.goto(f"{address}site/")
            answer = page.locator("#panel-relate .message")
            expect(answer).to_contain_text(FIRST_WORDS, timeout=60_000)
            for what, asked in questions(model, pairs, options.questions).items():
                name = what.partition(",")[0]
                first = page.evaluate(TIMED, [name, asked[:1]])
                if "unknown" in what:
                    show(f"{what}, first", first)
                show(what, page.evaluate(TIMED, [name, asked]))
        browser.close()


if __name__ == "__main__":
    main()
