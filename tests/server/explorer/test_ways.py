"""Addresses to share and return to, and the page by keyboard."""

import re

from tests.server.explorer.browser import Browser, Dialog, Explorer, expect
from tests.server.explorer.running_server import RunningServer

from pair2vec.api import Pair2vec
from pair2vec.server.access import ServerConfig
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import Resources


def test_an_address_restores_the_query(explorer: Explorer, model: Pair2vec) -> None:
    explorer.open("fill", pattern="X and Y", y="hot")
    explorer.field("Word in it").fill("cool")
    expect(explorer.page).to_have_url(re.compile("y=cool$"))
    address = explorer.page.url
    explorer.page.goto("about:blank")
    explorer.page.goto(address)
    found = [match.word for match in model.fill("X and Y", y="cool", search="shortlist")]
    expect(explorer.words).to_have_text(found)
    expect(explorer.field("Pattern")).to_have_value("X and Y")
    assert explorer.panel.get_by_role("radio", name="Y").is_checked()


def test_one_can_go_back_and_forward(explorer: Explorer) -> None:
    explorer.open("pair", x="hot", y="cold")
    explorer.panel.locator(".chip").filter(has_text="france / paris").click()
    expect(explorer.field("Word X")).to_have_value("france")
    explorer.field("Word Y").fill("toky")
    explorer.may_fail = "404"
    explorer.field("Word Y").fill("tokyo")
    expect(explorer.panel.locator("h2").first).to_have_text("france then tokyo")
    explorer.tab("Analogy").click()
    expect(explorer.field("First")).to_have_value("france")
    for word in ("tokyo", "paris", "cold"):
        explorer.page.go_back()
        expect(explorer.field("Word Y")).to_have_value(word)
    expect(explorer.panel.locator("h2").first).to_have_text("hot then cold")
    explorer.page.go_forward()
    expect(explorer.panel.locator("h2").first).to_have_text("france then paris")


def test_an_address_typed_by_hand_can_be_left(explorer: Explorer) -> None:
    explorer.open("pair", x="hot", y="cold")
    explorer.page.evaluate("location.hash = '#fill?pattern=X or Y&x=hot'")
    expect(explorer.message).to_contain_text("words, best:")
    explorer.page.go_back()
    expect(explorer.field("Word Y")).to_have_value("cold")


def test_an_unknown_address_shows_the_first_panel(explorer: Explorer) -> None:
    explorer.may_fail = "404"  # the first example is of a larger model
    explorer.open("nonsense", of="old")
    expect(explorer.tab("Fill")).to_have_attribute("aria-selected", "true")
    expect(explorer.field("Word in it")).to_have_value("portland")


def test_everything_can_be_done_by_the_keyboard(explorer: Explorer, model: Pair2vec) -> None:
    explorer.may_fail = "404"  # while a word is half typed
    explorer.open("fill", pattern="X or Y", x="hot")
    keys = explorer.page.keyboard
    keys.press("Tab")
    expect(explorer.tab("Fill")).to_be_focused()
    for _ in range(3):
        keys.press("ArrowRight")
    expect(explorer.tab("Pair")).to_be_focused()
    keys.press("Tab")
    expect(explorer.field("Word X")).to_be_focused()
    keys.press("Control+A")
    keys.type("warm")
    keys.press("Tab")
    keys.press("Control+A")
    keys.type("cool")
    keys.press("Enter")
    expect(explorer.panel.locator("h2").first).to_have_text("warm then cool")
    pattern = model.explain("warm", "cool")[0].pattern
    explorer.links.first.focus()
    assert explorer.links.first.evaluate("link => getComputedStyle(link).outlineStyle") == "solid"
    keys.press("Enter")
    expect(explorer.field("Pattern")).to_have_value(pattern)


def test_the_panel_of_a_tab_is_there_before_the_next_key(explorer: Explorer) -> None:
    explorer.may_fail = "404"
    explorer.open("fill", pattern="X or Y", x="hot")
    expect(explorer.message).to_contain_text("words, best:")
    seen = explorer.tab("Fill").evaluate(
        """tab => {
          tab.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
          return document.querySelector("[role=tabpanel]:not([hidden])").id;
        }"""
    )
    assert seen == "panel-analogy"
    explorer.page.go_back()
    expect(explorer.field("Word in it")).to_have_value("hot")


def test_the_tabs_are_one_stop_with_arrows_home_and_end(explorer: Explorer) -> None:
    explorer.may_fail = "404"
    explorer.open("pair", x="hot", y="cold")
    keys = explorer.page.keyboard
    explorer.tab("Pair").focus()
    for key, name in [
        ("ArrowRight", "Fill"),
        ("ArrowLeft", "Pair"),
        ("Home", "Fill"),
        ("End", "Pair"),
    ]:
        keys.press(key)
        expect(explorer.tab(name)).to_be_focused()
        expect(explorer.tab(name)).to_have_attribute("aria-selected", "true")
        expect(explorer.page.locator("[role=tab][tabindex='0']")).to_have_count(1)


def test_a_slash_leads_to_the_first_field_and_is_a_letter_in_it(explorer: Explorer) -> None:
    explorer.open("fill", pattern="X or Y", x="hot")
    explorer.page.keyboard.press("/")
    expect(explorer.field("Pattern")).to_be_focused()
    explorer.page.keyboard.press("End")
    explorer.may_fail = "40[04]"
    explorer.page.keyboard.type(" /")
    expect(explorer.field("Pattern")).to_have_value("X or Y /")


def test_the_summary_is_announced_to_screen_readers(explorer: Explorer) -> None:
    explorer.open("fill", pattern="X or Y", x="hot")
    status = explorer.panel.get_by_role("status")
    expect(status).to_have_attribute("aria-live", "polite")
    expect(status).to_contain_text("words, best:")


def test_the_api_page_shows_every_path_and_leads_to_its_schemas(
    explorer: Explorer, server: RunningServer
) -> None:
    server.offered = None
    page = explorer.page
    explorer.open("fill", pattern="X or Y", x="hot")
    page.get_by_role("link", name="the API").click()
    expect(page.get_by_role("heading", name="pair2vec API")).to_be_visible()
    section = page.locator("section", has=page.locator("h2", has_text="/api/analogy"))
    expect(section.locator("h2")).to_have_text("/api/analogy GET, POST")
    expect(section.locator("tr", has_text="offset")).to_contain_text("0 to 900; default 0")
    section.get_by_role("link", name="AnalogyQuestions").click()
    opened = page.locator("details#AnalogyQuestions")
    expect(opened.locator("pre")).to_contain_text('"$ref": "AnalogyQuestion"')
    expect(page.locator("section")).to_have_count(11)
    expect(page.get_by_role("link", name="the explorer")).to_be_visible()


def test_a_server_with_a_key_is_asked_with_it(browser: Browser, model: Pair2vec) -> None:
    config = ServerConfig(api_key="secret")
    server = RunningServer(lambda: make_app(Resources(model), config))
    server.offered = None
    server.start()
    context = browser.new_context()
    explorer = Explorer(context.new_page(), server.address)
    explorer.may_fail = "401"
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept("wrong" if len(asked) == 1 else "secret")

    explorer.page.on("dialog", answer)
    explorer.open("fill", pattern="X or Y", x="hot")
    expect(explorer.message).to_have_text(re.compile("words, best:"))
    explorer.page.reload()
    expect(explorer.message).to_have_text(re.compile("words, best:"))
    assert asked == ["This server wants an API key:"] * 2, "the first was wrong, the second is kept"
    assert explorer.faults() == []
    context.close()
    server.stop()
