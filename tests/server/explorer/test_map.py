"""The map: a word and those around it, to walk by mouse and by keys; what results are saved as."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from tests.server.explorer.browser import Explorer, expect
from tests.server.explorer.running_server import RunningServer

RELATIONS = ("antonym", "hyponym", "hypernym", "synonym", "part", "located-in")
MATCHES = [
    {"word": word, "relation": RELATIONS[n % 6], "probability": 0.9 - n / 20}
    for n, word in enumerate("cold warm cool up, down misunderstandings france".split())
]
MANY = [{"word": f"river{n}", "relation": "hyponym", "probability": 0.9} for n in range(59)]
ONE_MORE = {"word": "stream", "relation": "synonym", "probability": 0.5}


def offer(server: RunningServer, matches: list[dict[str, object]] | None = None) -> None:
    found = {"matches": MATCHES if matches is None else matches}
    server.offered = {"relate": {}, "neighbours": found}


def apart(box: dict[str, float], other: dict[str, float], start: str, size: str) -> float:
    first, second = sorted((box, other), key=lambda side: side[start])
    return second[start] - first[start] - first[size]


@pytest.mark.parametrize("width", [390, 1400])
def test_it_shows_each_word_and_covers_none(
    explorer: Explorer, server: RunningServer, width: int
) -> None:
    offer(server)
    explorer.page.set_viewport_size({"width": width, "height": 800})
    explorer.open("map", word="hot")
    names = explorer.panel.locator("svg.graph text")
    expect(names).to_have_count(len(MATCHES) + 1)
    expect(explorer.message).to_have_text("hot: 7 words around it")
    boxes = names.evaluate_all("names => names.map((n) => n.getBoundingClientRect().toJSON())")
    assert all(box["left"] >= 0 and box["right"] <= width for box in boxes)
    for box, other in combinations(boxes, 2):
        assert max(apart(box, other, "x", "width"), apart(box, other, "y", "height")) > -2
    shown = explorer.panel.locator("svg .relation")
    expect(shown).to_have_count(len(MATCHES) if width > 700 else 0)


def test_an_arrow_points_both_ways_or_at_the_kind_the_whole_and_the_place(
    explorer: Explorer, server: RunningServer
) -> None:
    offer(server)
    explorer.open("map", word="hot")
    # antonym and synonym twice, of which there are two and one, the others once.
    expect(explorer.panel.locator("svg .point")).to_have_count(2 * 2 + 2 + 1 + 1 + 1 + 1)
    near = """points => points.map((p) => {
        const [x, y] = p.getAttribute("transform").match(/-?[\\d.]+/g).map(Number);
        return Math.hypot(x, y) < 60;
    })"""
    for match, is_inwards in ((MATCHES[1], True), (MATCHES[2], False)):
        offer(server, [match])
        explorer.open("map", word="hot")
        points = explorer.panel.locator("svg .point")
        expect(points).to_have_count(1)
        assert points.evaluate_all(near) == [is_inwards]


def test_one_relation_does_not_crowd_out_the_others(
    explorer: Explorer, server: RunningServer
) -> None:
    offer(server, [*MANY, ONE_MORE])
    explorer.open("map", word="hot")
    expect(explorer.panel.locator("svg a")).to_have_count(16)
    expect(explorer.panel.locator("svg a").filter(has_text="stream")).to_have_count(1)


def test_one_walks_by_the_mouse_and_back_by_the_way(
    explorer: Explorer, server: RunningServer
) -> None:
    offer(server)
    explorer.open("map", word="hot")
    explorer.panel.locator("svg a").filter(has_text="cool").click()
    expect(explorer.field("Word")).to_have_value("cool")
    explorer.panel.locator("svg a").filter(has_text="france").click()
    expect(explorer.panel.locator(".results .chip")).to_have_text(["hot", "cool"])
    state = parse_qs(urlparse(explorer.page.url).fragment.partition("?")[2])
    assert state == {"word": ["france"], "trail": ["hot cool"]}
    explorer.panel.locator(".results .chip").first.click()
    expect(explorer.field("Word")).to_have_value("hot")
    expect(explorer.panel.locator(".results .chip")).to_have_count(0)


def test_one_walks_by_keys_alone(explorer: Explorer, server: RunningServer) -> None:
    offer(server)
    explorer.open("map", word="hot")
    links = explorer.panel.locator("svg a")
    expect(links).to_have_count(len(MATCHES))
    links.first.focus()
    name = "document.activeElement.getAttribute('aria-label')"
    first = explorer.page.evaluate(name)
    keys = explorer.page.keyboard
    keys.press("ArrowDown")
    second = explorer.page.evaluate(name)
    keys.press("ArrowLeft")
    third = explorer.page.evaluate(name)
    assert len({first, second, third}) == 3
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    keys.press("ArrowRight")
    assert explorer.page.evaluate(name) == first
    keys.press("Enter")
    expect(explorer.field("Word")).to_have_value(first.split()[0])
    expect(links.first).to_be_focused()


def test_a_word_without_any_is_said_so(explorer: Explorer, server: RunningServer) -> None:
    offer(server, [])
    explorer.open("map", word="hot")
    expect(explorer.message).to_have_text("hot is related to no other word")


def test_the_map_has_no_sentences_without_a_corpus(
    explorer: Explorer, server: RunningServer
) -> None:
    offer(server)
    explorer.open("map", word="hot")
    expect(explorer.panel.get_by_role("button", name="Copy link")).to_be_visible()
    expect(explorer.panel.locator("select, .hit")).to_have_count(0)


def test_an_arrow_shows_the_sentences_of_its_words(
    explorer: Explorer, server: RunningServer
) -> None:
    offer(server)
    sentences = ["Hot, not <i>warm</i>, it is."]
    server.offered |= {"evidence": {"sentences": sentences}}  # type: ignore[operator]
    with explorer.page.expect_request(re.compile("evidence.x=hot&y=cold")):
        explorer.open("map", word="hot")
    chosen = explorer.panel.get_by_label("Sentences with hot and")
    expect(chosen).to_have_value("cold")
    expect(explorer.panel.locator("blockquote")).to_have_text(sentences)
    expect(explorer.panel.locator("svg .chosen")).to_have_count(1)
    arrow = explorer.panel.locator("svg .hit").filter(has_text="Sentences with hot and warm")
    with explorer.page.expect_request(re.compile("evidence.x=hot&y=warm")):
        arrow.evaluate("""arrow => {
          const { x, y } = arrow.getPointAtLength(0.7 * arrow.getTotalLength());
          const at = new DOMPoint(x, y).matrixTransform(arrow.getScreenCTM());
          document.elementFromPoint(at.x, at.y).dispatchEvent(new MouseEvent("click"));
        }""")
    expect(chosen).to_have_value("warm")
    expect(explorer.panel.locator("blockquote b")).to_have_text(["Hot", "warm"])
    assert explorer.page.url.endswith("#map?word=hot"), "an arrow does not walk"


def test_sentences_are_chosen_by_the_keyboard(explorer: Explorer, server: RunningServer) -> None:
    offer(server)
    server.offered |= {"evidence": {"sentences": []}}  # type: ignore[operator]
    explorer.open("map", word="hot")
    chosen = explorer.panel.get_by_label("Sentences with hot and")
    chosen.focus()
    other = chosen.locator("option").nth(1).get_attribute("value")
    with explorer.page.expect_request(re.compile(f"evidence.x=hot&y={other}")):
        explorer.page.keyboard.press("ArrowDown")
    expect(explorer.panel.get_by_text("No sentence of the corpus has both words.")).to_be_visible()


def test_results_are_saved_as_a_table_and_as_a_picture(
    explorer: Explorer, server: RunningServer, tmp_path: Path
) -> None:
    offer(server)
    explorer.open("map", word="hot")
    for kind in ("CSV", "SVG"):
        with explorer.page.expect_download() as download:
            explorer.panel.get_by_role("button", name=kind).click()
        assert download.value.suggested_filename == f"map.{kind.lower()}"
        download.value.save_as(tmp_path / kind)
    header, *rows = csv.reader(io.StringIO((tmp_path / "CSV").read_text()))
    assert header == ["of", "entry", "score"]
    expected = sorted([one["relation"], one["word"], str(one["probability"])] for one in MATCHES)
    assert sorted(rows) == expected
    picture = ET.parse(tmp_path / "SVG").getroot()
    assert picture.tag.endswith("svg") and picture.get("width")
    words = {(text.text or "").strip() for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"hot", "cold", "france"} <= words


def test_the_address_of_results_is_copied(explorer: Explorer, server: RunningServer) -> None:
    explorer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    explorer.open("fill", pattern="X or Y", x="hot")
    copy = explorer.panel.get_by_role("button", name="Copy link")
    copy.click()
    expect(explorer.panel.get_by_role("button", name="Copied")).to_be_visible()
    copied = explorer.page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("#fill?pattern=X+or+Y&x=hot")
    with explorer.page.expect_download() as download:
        explorer.panel.get_by_role("button", name="CSV").click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text())))
    assert len(rows) == 1 + explorer.links.count()
    assert re.fullmatch(r"-?\d+\.\d{3,}", rows[1][2])
