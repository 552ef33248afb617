"""Pairs as arrows in a plane, and the games: what they ask, and what the model answers after."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.relations.question_words import question_words
from tests.server.explorer.browser import Explorer, expect
from tests.server.explorer.running_server import RunningServer

from pair2vec.api import Pair2vec
from pair2vec.server.endpoints import games_json
from pair2vec.text.vocabulary import Vocabulary, WordCount

MATERIAL: dict[str, Any] = games_json(
    Vocabulary([WordCount(word, 1) for word in sorted({*question_words()})])
)
RELATED = {"relation": "co-hyponym", "probability": 0.9, "others": []}
UNRELATED = {
    "relation": "none",
    "probability": 0.9,
    "others": [{"relation": "part", "probability": 0.1}],
}
QUESTIONS = """async ([material, count]) => {
  const { analogyQuestion, oddQuestion } = await import(new URL("static/games.js", location));
  const numbers = Array.from({ length: count }, (_, n) => n + 1);
  return [analogyQuestion, oddQuestion].map((make) => numbers.map((n) => make(material, n)));
}"""
BOXES = "names => names.map((name) => name.getBoundingClientRect().toJSON())"


def apart(box: dict[str, float], other: dict[str, float], start: str, size: str) -> float:
    first, second = sorted((box, other), key=lambda side: side[start])
    return second[start] - first[start] - first[size]


def offer(server: RunningServer, **more: object) -> None:
    matches = [
        {"word": word, "score": 0.9 - n / 10} for n, word in enumerate("aaa bbb ccc".split())
    ]
    server.offered = {
        "play": MATERIAL,
        "relate": RELATED,
        "neighbours": {"matches": []},
        "analogy": {"matches": matches},
        **more,
    }


def test_two_pairs_are_arrows_with_their_cosines(explorer: Explorer, model: Pair2vec) -> None:
    explorer.open("plane", a="hot", b="cold", x="france", y="paris")
    plane = model.plane([("hot", "cold"), ("france", "paris")])
    chart = explorer.panel.get_by_role("img", name="Arrows from hot to cold, france to paris")
    expect(chart.locator("text")).to_have_count(4)
    assert {*chart.locator("text").all_text_contents()} == {"hot", "cold", "france", "paris"}
    expect(chart.locator(".point")).to_have_count(2)
    cosines = [plane.arrows[0].pair_cosine, plane.arrows[0].offset_cosine]
    shown = [f"{cosine:.2f}".replace("-", "−") for cosine in cosines]
    expect(explorer.panel.locator("td")).to_have_text(shown * 2)
    expect(explorer.message).to_have_text(
        f"cosine of the pair vectors {shown[0]}, of the offsets {shown[1]}"
    )
    caption = explorer.panel.locator(".caption")
    expect(caption).to_contain_text(f"in common: {100 * plane.shares[0]:.0f} %")
    expect(caption).to_contain_text("the angle between them are true")


def test_arrows_are_drawn_to_one_scale(explorer: Explorer, model: Pair2vec) -> None:
    explorer.open("plane", a="hot", b="cold", x="france", y="paris")
    lines = explorer.panel.locator(".chart .edge")
    expect(lines).to_have_count(2)
    ends = "lines => lines.map((line) => line.getAttribute('d').match(/-?[\\d.]+/g).map(Number))"
    one, other = (np.subtract(d[2:], d[:2]) for d in lines.evaluate_all(ends))
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    arrows = model.plane([("hot", "cold"), ("france", "paris")]).arrows
    assert cosine == pytest.approx(arrows[0].offset_cosine, abs=0.01)
    true = [np.linalg.norm(np.subtract(arrow.end, arrow.start)) for arrow in arrows]
    drawn = np.linalg.norm(one) / np.linalg.norm(other)
    assert drawn == pytest.approx(true[0] / true[1], rel=0.01)


@pytest.mark.parametrize("width", [390, 1400])
def test_the_words_of_many_arrows_cover_none(explorer: Explorer, width: int) -> None:
    explorer.page.set_viewport_size({"width": width, "height": 800})
    more = "warm : cool, cold : hot, hot : warm, hot : cold, cool : cold, paris : tokyo"
    explorer.open("plane", a="hot", b="cold", x="france", y="paris", more=more)
    names = explorer.panel.locator(".chart text")
    expect(names).to_have_count(16)
    boxes = names.evaluate_all(BOXES)
    assert all(box["left"] >= 0 and box["right"] <= width for box in boxes)
    for box, other in combinations(boxes, 2):
        assert max(apart(box, other, "x", "width"), apart(box, other, "y", "height")) > -5
    expect(explorer.panel.locator(".caption")).to_contain_text("cannot be seen here")


def test_more_pairs_are_typed_with_colons_and_too_many_are_refused(explorer: Explorer) -> None:
    explorer.open("plane", a="hot", b="cold", x="france", y="paris")
    more = explorer.field("More pairs, as in italy : rome, spain : madrid")
    more.fill("warm : cool")
    expect(explorer.panel.locator("tbody tr")).to_have_count(3)
    more.fill("warm cool")
    expect(explorer.message).to_contain_text("with a colon in each")
    explorer.may_fail = "400"
    more.fill(", ".join(["warm : cool"] * 7))
    expect(explorer.message).to_contain_text("9 are too many; at most 8")


def test_an_analogy_and_similar_pairs_lead_on_to_their_plane(
    explorer: Explorer, model: Pair2vec
) -> None:
    explorer.open("analogy", a="france", b="paris", x="japan")
    best = explorer.words.first
    expect(best).to_be_visible()
    word = best.text_content() or ""
    explorer.panel.get_by_role("link", name="These pairs as arrows").click()
    expect(explorer.tab("Plane")).to_have_attribute("aria-selected", "true")
    rows = explorer.panel.locator("tbody th")
    expect(rows).to_have_text(["france : paris", f"japan : {word}"])
    explorer.open("pair", x="hot", y="cold")
    explorer.panel.get_by_role("link", name="These pairs as arrows").click()
    nearest = [f"{match.x} : {match.y}" for match in model.nearest("hot", "cold", top=4)]
    expect(rows).to_have_text(["hot : cold", *nearest])
    rows.first.get_by_role("link").click()
    expect(explorer.tab("Pair")).to_have_attribute("aria-selected", "true")


def test_a_plane_is_saved_with_its_places_and_as_a_picture(
    explorer: Explorer, model: Pair2vec, tmp_path: Path
) -> None:
    explorer.open("plane", a="hot", b="cold", x="france", y="paris")
    for kind in ("CSV", "SVG"):
        with explorer.page.expect_download() as download:
            explorer.panel.get_by_role("button", name=kind).click()
        download.value.save_as(tmp_path / kind)
    rows = [*csv.reader(io.StringIO((tmp_path / "CSV").read_text()))]
    arrow = model.plane([("hot", "cold"), ("france", "paris")]).arrows[0]
    assert ["up", "cold", str(arrow.end[1])] in rows
    assert ["cosine of pair vectors", "hot : cold", str(arrow.pair_cosine)] in rows
    text = next(ET.parse(tmp_path / "SVG").iter("{http://www.w3.org/2000/svg}text"))
    assert (text.get("paint-order") or "").startswith("stroke"), "letters are over their rim"


def test_every_question_of_the_games_has_one_right_answer(
    explorer: Explorer, server: RunningServer
) -> None:
    server.offered = None
    explorer.open("fill", pattern="X or Y", x="hot")
    overlapping = {"name": "european", "words": ["france", "spain", "rome"]}
    material = {**MATERIAL, "groups": [*MATERIAL["groups"], overlapping]}
    analogies, odd = explorer.page.evaluate(QUESTIONS, [material, 500])
    known = {
        (one["name"], x): answers for one in MATERIAL["analogies"] for x, answers in one["pairs"]
    }
    groups = {group["name"]: {*group["words"]} for group in material["groups"]}
    for asked in analogies:
        assert asked["b"] in known[asked["about"], asked["a"]]
        assert asked["right"] == known[asked["about"], asked["x"]]
        assert len({*asked["choices"]} & {*asked["right"]}) == 1
        assert len({*asked["choices"], asked["a"], asked["b"], asked["x"]}) == 7
    for asked in odd:
        others = {*asked["words"]} - {asked["odd"]}
        assert len(others) in (3, 4) and others <= groups[asked["group"]]
        assert asked["odd"] in groups[asked["other"]]
        assert groups[asked["other"]].isdisjoint(groups[asked["group"]])
    for questions in (analogies, odd):
        assert len({str(sorted(asked.items(), key=str)) for asked in questions}) > 450
    again, _ = explorer.page.evaluate(QUESTIONS, [material, 5])
    assert again == analogies[:5], "a link to a question shows the same one"


def test_an_analogy_is_completed_and_then_answered_by_the_model(
    explorer: Explorer, server: RunningServer
) -> None:
    offer(server)
    explorer.open("play", game="analogy", n="3")
    question, _ = explorer.page.evaluate(QUESTIONS, [MATERIAL, 3])
    asked = question[2]
    expect(explorer.panel.locator(".sentence")).to_have_text(
        f"{asked['a']} is to {asked['b']} as {asked['x']} is to …"
    )
    assert not [address for address in server.requested if "analogy" in address]
    right = next(word for word in asked["choices"] if word in asked["right"])
    explorer.panel.get_by_role("button", name=right).click()
    expect(explorer.panel.get_by_text("Right", exact=True)).to_be_visible()
    heading = explorer.panel.locator("h2")
    expect(heading).to_have_text("The model says aaa: not the answer that was meant")
    expect(explorer.words).to_have_text(["aaa", "bbb", "ccc"])
    expect(explorer.panel.get_by_text("You: 1 of 1 · the model: 0 of 1")).to_be_visible()
    expect(explorer.panel.locator(".choices button:enabled")).to_have_count(0)
    explorer.panel.get_by_role("link", name="Next question").click()
    expect(explorer.page).to_have_url(re.compile(r"#play\?game=analogy&n=4$"))
    expect(explorer.panel.locator(".choices button:enabled")).to_have_count(4)
    expect(explorer.panel.get_by_text("You: 1 of 1")).to_be_visible()


def test_the_odd_one_out_of_the_model_is_the_word_it_relates_least(
    explorer: Explorer, server: RunningServer
) -> None:
    offer(server)
    explorer.open("play", game="odd", n="2")
    _, questions = explorer.page.evaluate(QUESTIONS, [MATERIAL, 2])
    asked = questions[1]
    explorer.page.route(
        re.compile("api/relate"),
        lambda route: route.fulfill(
            json=UNRELATED if re.search(rf"[xy]={asked['odd']}\b", route.request.url) else RELATED
        ),
    )
    wrong = next(word for word in asked["words"] if word != asked["odd"])
    explorer.panel.get_by_role("button", name=wrong).click()
    expect(explorer.panel.get_by_text(f"No: {asked['odd']}")).to_be_visible()
    expect(explorer.panel.locator("h2")).to_have_text(f"The model says {asked['odd']}: right")
    expect(explorer.links.locator(".number").first).to_have_text("0.10")
    expect(explorer.panel.locator(".caption")).to_contain_text("co-hyponym, 90 %")
    expect(explorer.panel.get_by_text("You: 0 of 1 · the model: 1 of 1")).to_be_visible()
    expect(explorer.panel.locator(".wrong")).to_have_text(wrong)


def test_games_are_played_by_the_keyboard_alone(explorer: Explorer, server: RunningServer) -> None:
    offer(server)
    explorer.open("play", game="analogy", n="3")
    expect(explorer.panel.locator(".choices button")).to_have_count(4)
    explorer.panel.get_by_role("link", name="Odd one out").focus()
    keys = explorer.page.keyboard
    keys.press("Tab")
    keys.press("Tab")
    expect(explorer.panel.locator(".choices button").nth(1)).to_be_focused()
    keys.press("Enter")
    expect(explorer.panel.get_by_role("link", name="Next question")).to_be_focused()
    expect(explorer.panel.get_by_text("You:")).to_be_visible()
    keys.press("Enter")
    expect(explorer.page).to_have_url(re.compile("n=4$"))
    expect(explorer.panel.locator(".choices button").first).to_be_focused()


def test_a_model_that_knows_too_few_words_says_so(
    explorer: Explorer, server: RunningServer
) -> None:
    offer(server, play={"analogies": [], "groups": []})
    explorer.open("play", game="odd", n="1")
    expect(explorer.message).to_have_text("This model knows too few of the words that are asked.")


def test_a_model_that_does_not_answer_a_game_is_not_counted(
    explorer: Explorer, server: RunningServer
) -> None:
    explorer.may_fail = "500"
    offer(server)
    explorer.open("play", game="analogy", n="3")
    explorer.page.route(
        re.compile("api/analogy"), lambda route: route.fulfill(status=500, json={"error": "no"})
    )
    explorer.panel.locator(".choices button").first.click()
    expect(explorer.panel.get_by_text("The model did not answer.")).to_be_visible()
    expect(explorer.panel.get_by_text("You:")).to_have_count(0)
