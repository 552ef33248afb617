"""The page of the bundled model, as a newcomer sees it: on any screen, by day and by night."""

import os
import re
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Literal

import pytest
from tests.server.explorer.browser import Explorer, expect
from tests.server.explorer.running_server import RunningServer

import pair2vec
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import Resources, games_json

RELATIONS = ("antonym", "synonym", "located in", "made of", "hypernym", "occupation of a person")
MATCHES = [
    {"word": word, "relation": RELATIONS[n % 6], "probability": 0.9 - n / 20}
    for n, word in enumerate("expensive low price plastic goods seller misunderstandings".split())
]
RELATION = {
    "relation": "co-hyponym",
    "probability": 0.9,
    "definition": "x and y are kinds of the same thing",
    "others": [{"relation": "none", "probability": 0.1}],
    "like": [{"x": "misunderstandings", "y": "disagreements", "score": 0.8}],
    "patterns": [{"pattern": "either X or Y ,", "score": 3.0}],
}
OPPOSITION = {
    "verdict": "different",
    "probability": 0.9,
    "differences": [
        {"kind": "co-hyponym", "a": "misunderstandings", "b": "disagreements", "probability": 0.8},
        {"kind": "negation", "a": "", "b": "not", "probability": 0.6},
    ],
    "reason": "misunderstandings / disagreements (co-hyponym 80 %)",
}
MORE = {
    "relate": RELATION,
    "opposed": OPPOSITION,
    "neighbours": {"matches": MATCHES},
    "evidence": {"sentences": ["Hot or cold it is."]},
    "play": games_json(pair2vec.load().vocabulary),
}
AXE = "PAIR2VEC_AXE"
"""Names a copy of axe.min.js, of the npm package axe-core."""

GOOD_ANSWERS = {
    "relate": {
        "cheap / expensive": "antonym",
        "wheel / car": "whole",
        "lisbon / portugal": "located-in",
        "mozart / composer": "occupation",
        "buy / purchase": "synonym",
    },
    "fill": {
        "in portland, Y.": "oregon",
        "monet, a famous Y,": "painter",
        "from dallas to Y.": "houston",
        "either accept or Y": "reject",
        "X such as iron,": "metals",
    },
    "analogy": {
        "france : paris = japan : ?": "tokyo",
        "man : woman = king : ?": "queen",
        "walk : walked = run : ?": "ran",
        "good : bad = hot : ?": "cold",
    },
    "pair": {
        "hot / cold": "warm : cool",
        "king / queen": "prince : princess",
        "france / paris": "russia : moscow",
        "monet / painter": "debussy : composer",
    },
}

GOOD_VERDICTS = {
    "They arrive before noon. / They arrive after noon.": "opposed",
    "Turn the lights on. / Turn the lights off.": "opposed",
    "The food is cheap. / The food is not expensive.": "same",
}

FAINT_TEXT = """() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const colour = element ? getComputedStyle(element).backgroundColor : "rgb(255, 255, 255)";
    return /^rgba\\(.*, 0\\)$/.test(colour) ? behind(element.parentElement) : colour;
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *:not(svg *)")) {
    const has_text = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const value = element.matches("input.text");
    if (!(has_text || value) || !element.checkVisibility()) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.push(`${element.tagName} ${element.textContent}: ${contrast}`);
  }
  return faint;
}"""
BOXES = "names => names.map((name) => name.getBoundingClientRect().toJSON())"
PAPER = "getComputedStyle(document.body).backgroundColor"
TOO_WIDE = """() => [...document.querySelectorAll("body *")]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 0.5)
  .map((one) => `${one.tagName} ${one.className} ${one.textContent}`)"""


PANELS = ("relate", "opposed", "fill", "analogy", "plane", "pair", "map", "word", "play")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def show(explorer: Explorer, panel: str) -> None:
    """A panel with all that it shows, once it is there; of a game, with the answers."""
    explorer.open(panel)
    expect(explorer.panel.get_by_role("button", name="Copy link")).to_be_visible()
    if panel == "play":
        explorer.panel.locator(".choices button").first.click()
        expect(explorer.panel.locator("h2")).to_be_visible()


@pytest.fixture(scope="module")
def running_server() -> Iterator[RunningServer]:
    made = RunningServer(lambda: make_app(Resources(pair2vec.load())))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def server(running_server: RunningServer) -> RunningServer:
    running_server.offered = MORE
    return running_server


def test_a_newcomer_sees_an_answer_and_what_gave_it(
    explorer: Explorer, server: RunningServer
) -> None:
    server.offered = None
    explorer.open()
    expect(explorer.field("Word X")).to_have_value("cheap")
    expect(explorer.field("Word Y")).to_have_value("expensive")
    sentence = explorer.panel.locator(".sentence")
    expect(sentence).to_have_text("antonym: expensive is the opposite of cheap")
    expect(explorer.message).to_have_text(re.compile(r"^cheap and expensive: antonym, \d\d %$"))
    facts = "Model: wikipedia · 66,500 words · licence cc-by-sa-4.0"
    expect(explorer.page.locator("#model")).to_have_text(facts)
    assert "#" not in explorer.page.url


@pytest.mark.parametrize("panel", GOOD_ANSWERS)
def test_the_examples_are_answered_well(
    explorer: Explorer, server: RunningServer, panel: str
) -> None:
    server.offered = None
    explorer.open(panel)
    chips = explorer.panel.locator("form + .examples .chip")
    assert chips.all_text_contents() == [*GOOD_ANSWERS[panel]]
    for n, answer in enumerate(GOOD_ANSWERS[panel].values()):
        chips.nth(n).click()
        if panel == "relate":
            expect(explorer.words.first).to_have_text(answer)
        expect(explorer.words.get_by_text(answer, exact=True).first).to_be_visible()


def test_the_example_sentences_are_answered_well(explorer: Explorer, server: RunningServer) -> None:
    server.offered = None
    explorer.open("opposed")
    chips = explorer.panel.locator("form + .examples .chip")
    expect(chips).to_have_text([*GOOD_VERDICTS])
    for n, (sentences, verdict) in enumerate(GOOD_VERDICTS.items()):
        chips.nth(n).click()
        expect(explorer.panel.locator("blockquote")).to_have_text(sentences.split(" / "))
        expect(explorer.panel.locator(".sentence strong")).to_have_text(verdict)


@pytest.mark.parametrize(("width", "rows"), [(390, 2), (1400, 1)])
def test_all_tabs_are_in_few_rows_and_large_enough_to_press(
    explorer: Explorer, width: int, rows: int
) -> None:
    explorer.page.set_viewport_size({"width": width, "height": 800})
    for panel in ("relate", "opposed", "analogy"):
        explorer.open(panel)
        expect(explorer.tab("Two sentences")).to_be_visible()
        expect(explorer.tab("Play")).to_be_visible()
        boxes = explorer.page.get_by_role("tab").evaluate_all(BOXES)
        assert len({box["top"] for box in boxes}) == rows
        assert all(box["height"] >= 36 and box["width"] >= 36 for box in boxes)


def test_the_graph_covers_no_name_by_another(explorer: Explorer) -> None:
    for width in (320, 900):
        explorer.page.set_viewport_size({"width": width, "height": 700})
        explorer.open("word", word="cheap")
        names = explorer.panel.locator("svg.graph text")
        expect(names).to_have_count(len(MATCHES) + 1)
        boxes = names.evaluate_all(BOXES)
        for box, other in combinations(boxes, 2):
            assert max(apart(box, other, "x", "width"), apart(box, other, "y", "height")) > -2


def apart(box: dict[str, float], other: dict[str, float], start: str, size: str) -> float:
    """The gap between two boxes in one direction; below 0 where they overlap."""
    first, second = sorted((box, other), key=lambda side: side[start])
    return second[start] - first[start] - first[size]


@pytest.mark.parametrize("panel", PANELS)
def test_a_narrow_screen_shows_all_of_it_by_day_and_by_night(
    explorer: Explorer, panel: str
) -> None:
    explorer.page.set_viewport_size({"width": 320, "height": 640})
    show(explorer, panel)
    expect(explorer.message).to_have_class("message ")
    assert explorer.page.evaluate("document.documentElement.scrollWidth") == 320
    assert explorer.page.evaluate(TOO_WIDE) == []
    by_day = explorer.page.evaluate(PAPER)
    assert explorer.page.evaluate(FAINT_TEXT) == []
    explorer.page.emulate_media(color_scheme="dark")
    assert explorer.page.evaluate(PAPER) != by_day
    assert explorer.page.evaluate(FAINT_TEXT) == []


@pytest.mark.parametrize("panel", PANELS)
def test_axe_finds_nothing(explorer: Explorer, panel: str) -> None:
    script = os.environ.get(AXE)
    if not script:
        pytest.skip(f"{AXE} does not name axe.min.js: npm install axe-core")
    page = explorer.page
    show(explorer, panel)
    # As a function: the page allows no script from elsewhere.
    page.evaluate(f"() => {{ {Path(script).read_text()} }}")
    for width, scheme in product((390, 1400), SCHEMES):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("axe.run().then(({ violations }) => violations)")
        faults = [(one["id"], one["nodes"][0]["html"]) for one in found]
        assert faults == [], (width, scheme)


def test_nothing_moves_for_those_who_do_not_want_it(explorer: Explorer) -> None:
    explorer.open("fill")
    expect(explorer.links.first).to_be_visible()
    moving = "document.querySelector('#panel-fill .message').className = 'message thinking'"
    explorer.page.evaluate(moving)
    name = "message => getComputedStyle(message).animationName"
    assert explorer.message.evaluate(name) == "breathe"
    explorer.page.emulate_media(reduced_motion="reduce")
    assert explorer.message.evaluate(name) == "none"
    bar = "bar => getComputedStyle(bar).transitionDuration"
    assert explorer.panel.locator(".bar").first.evaluate(bar) == "0s"
