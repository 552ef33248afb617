"""What each panel shows, and where its links lead."""

import re

import pytest
from tests.server.explorer.browser import Explorer, expect
from tests.server.explorer.running_server import RunningServer

from pair2vec.api import Pair2vec

NEIGHBOURS = {
    "matches": [
        {"word": "cold", "relation": "antonym", "probability": 0.9},
        {"word": "warm", "relation": "synonym", "probability": 0.7},
        {"word": "cool", "relation": "antonym", "probability": 0.4},
    ]
}


RELATION = {
    "relation": "antonym",
    "probability": 0.9,
    "definition": "y is the opposite of x",
    "others": [
        {"relation": "synonym", "probability": 0.06},
        {"relation": "none", "probability": 0.04},
        {"relation": "part", "probability": 0.001},
    ],
    "like": [{"x": "warm", "y": "cool", "score": 0.8}, {"x": "up", "y": "down", "score": 0.4}],
    "patterns": [{"pattern": "either X or Y ,", "score": 3.0}],
}

OPPOSITION = {
    "verdict": "opposed",
    "probability": 0.973,
    "probabilities": {"same": 0.02, "opposed": 0.973, "different": 0.007},
    "differences": [
        {"kind": "opposite", "a": "Hot", "b": "cold", "probability": 0.95},
        {"kind": "negation", "a": "", "b": "isn't", "probability": 0.5},
    ],
    "reason": "Hot / cold (opposite 95 %)",
}
SENTENCES = {"a": "Hot it is; hotter.", "b": "<b>It</b> isn’t cold (isn't)."}


def test_two_words_are_related_in_words(explorer: Explorer, server: RunningServer) -> None:
    server.offered = {"relate": RELATION, "neighbours": NEIGHBOURS}
    explorer.open("relate", x="hot", y="cold")
    expect(explorer.tab("Relate")).to_have_attribute("aria-selected", "true")
    sentence = explorer.panel.locator(".sentence")
    expect(sentence).to_have_text("antonym: cold is the opposite of hot")
    expect(sentence.locator("b")).to_have_text(["cold", "hot"])
    expect(explorer.message).to_have_text("hot and cold: antonym, 90 %")
    found = explorer.panel.locator(".results > .ranked")
    expect(found.locator(".text")).to_have_text(["antonym", "synonym", "none"])
    expect(found.locator(".number")).to_have_text(["0.90", "0.06", "0.04"])
    widths = found.locator(".bar").evaluate_all("bars => bars.map((bar) => bar.offsetWidth)")
    assert widths == sorted(widths, reverse=True)
    room = found.locator(".bar").first.evaluate("bar => bar.offsetWidth / 0.9")
    assert widths[1] / room == pytest.approx(0.06, abs=0.01)
    expect(explorer.panel.locator(".pairs .text")).to_have_text(["warm : cool", "up : down"])
    expect(explorer.panel.locator(".patterns .text")).to_have_text(["either hot or cold,"])


def test_what_relates_two_words_leads_on(explorer: Explorer, server: RunningServer) -> None:
    server.offered = {"relate": RELATION, "neighbours": NEIGHBOURS}
    explorer.open("relate", x="hot", y="cold")
    with explorer.page.expect_request(re.compile("relate.x=warm&y=cool")):
        explorer.panel.locator(".pairs a").first.click()
    expect(explorer.field("Word Y")).to_have_value("cool")
    with explorer.page.expect_request(re.compile("neighbours.*word=warm&relation=synonym")):
        explorer.links.nth(1).click()
    explorer.page.go_back()
    explorer.links.nth(2).click()
    expect(explorer.tab("Pair")).to_have_attribute("aria-selected", "true")
    explorer.page.go_back()
    explorer.panel.locator(".patterns a").first.click()
    expect(explorer.field("Pattern")).to_have_value("either X or Y ,")


def test_an_unclear_relation_shows_what_it_may_be(
    explorer: Explorer, server: RunningServer
) -> None:
    unclear = {"relation": "unclear", "probability": 0.4, "definition": "nothing is probable"}
    others = [{"relation": "part", "probability": 0.4}, {"relation": "none", "probability": 0.3}]
    nothing: dict[str, list[object]] = {"like": [], "patterns": []}
    server.offered = {"relate": {**unclear, "others": others, **nothing}}
    explorer.open("relate", x="hot", y="cold")
    expect(explorer.panel.locator(".sentence")).to_have_text("unclear: nothing is probable")
    expect(explorer.words).to_have_text(["part", "none"])
    expect(explorer.message).to_have_text("hot and cold: unclear, 40 %")
    expect(explorer.panel.locator("h2")).to_have_count(0)


def test_words_are_related_while_one_types_them(explorer: Explorer, server: RunningServer) -> None:
    server.offered = {"relate": RELATION}
    explorer.open("relate", x="hot", y="cold")
    expect(explorer.message).to_contain_text("hot and cold")
    keys = explorer.page.keyboard
    keys.press("/")
    expect(explorer.field("Word X")).to_be_focused()
    keys.type("warm")
    keys.press("Tab")
    expect(explorer.field("Word Y")).to_be_focused()
    keys.press("Control+A")
    with explorer.page.expect_request(re.compile("relate.x=warm&y=cool$")):
        keys.type("cool")
        keys.press("Enter")
    expect(explorer.panel.locator(".sentence")).to_have_text(
        "antonym: cool is the opposite of warm"
    )


def test_the_first_panel_relates_where_the_server_can(
    explorer: Explorer, server: RunningServer
) -> None:
    server.offered = {"relate": RELATION}
    for address in ("", "nonsense", "relate"):
        explorer.open(address)
        expect(explorer.tab("Relate")).to_have_attribute("aria-selected", "true")
        expect(explorer.field("Word X")).to_have_value("cheap")
    explorer.may_fail = "404"  # the first example is of a larger model
    server.offered = {}
    explorer.open("relate", x="hot", y="cold")
    expect(explorer.tab("Fill")).to_have_attribute("aria-selected", "true")
    expect(explorer.page.locator("#tab-relate")).to_be_hidden()


def test_two_sentences_have_a_verdict_in_words_and_the_words_that_decide(
    explorer: Explorer, server: RunningServer
) -> None:
    server.offered = {"relate": RELATION, "opposed": OPPOSITION, "neighbours": NEIGHBOURS}
    explorer.open("opposed", **SENTENCES)
    expect(explorer.tab("Two sentences")).to_have_attribute("aria-selected", "true")
    sentence = explorer.panel.locator(".sentence")
    expect(sentence).to_have_text("opposed: they say opposite things, 97 %")
    expect(explorer.message).to_have_text("opposed: Hot / cold (opposite 95 %)")
    quotes = explorer.panel.locator("blockquote")
    expect(quotes).to_have_text([*SENTENCES.values()])
    expect(quotes.nth(0).locator("b.x")).to_have_text(["Hot"])
    expect(quotes.nth(1).locator("b.y")).to_have_text(["isn’t", "cold", "isn't"])
    expect(explorer.words).to_have_text(["Hot / cold opposite", "isn't negation"])
    expect(explorer.links.locator(".number")).to_have_text(["0.95", "0.50"])
    widths = explorer.links.locator(".bar").evaluate_all("bars => bars.map((b) => b.offsetWidth)")
    assert widths[1] / widths[0] == pytest.approx(0.5 / 0.95, abs=0.02)


def test_the_words_that_decide_lead_on_to_their_relation(
    explorer: Explorer, server: RunningServer
) -> None:
    server.offered = {"relate": RELATION, "opposed": OPPOSITION, "neighbours": NEIGHBOURS}
    explorer.open("opposed", **SENTENCES)
    with explorer.page.expect_request(re.compile("relate.x=Hot&y=cold")):
        explorer.links.first.click()
    expect(explorer.field("Word Y")).to_have_value("cold")
    explorer.page.go_back()
    expect(explorer.field("First sentence")).to_have_value(SENTENCES["a"])
    explorer.links.nth(1).click()
    expect(explorer.field("Word")).to_have_value("isn't")


def test_an_unsure_verdict_shows_the_reason_and_no_probability(
    explorer: Explorer, server: RunningServer
) -> None:
    reason = "most of the words are unknown to the model"
    unsure = {**OPPOSITION, "verdict": "unsure", "differences": [], "reason": reason}
    server.offered = {"relate": RELATION, "opposed": unsure}
    explorer.open("opposed", a="zzz (", b="qqq")
    sentence = explorer.panel.locator(".sentence")
    expect(sentence).to_have_text("unsure: nothing certain can be said")
    expect(explorer.message).to_have_text(f"unsure: {reason}")
    expect(explorer.panel.locator("blockquote")).to_have_text(["zzz (", "qqq"])
    expect(explorer.links).to_have_count(0)


def test_sentences_are_compared_by_the_keyboard_alone(
    explorer: Explorer, server: RunningServer
) -> None:
    server.offered = {"relate": RELATION, "opposed": OPPOSITION}
    explorer.open("relate", x="hot", y="cold")
    expect(explorer.tab("Two sentences")).to_be_visible()
    keys = explorer.page.keyboard
    explorer.tab("Relate").focus()
    keys.press("ArrowRight")
    expect(explorer.tab("Two sentences")).to_be_focused()
    expect(explorer.field("First sentence")).to_have_value("They arrive before noon.")
    keys.press("Tab")
    expect(explorer.field("First sentence")).to_be_focused()
    keys.press("Control+A")
    keys.type("Either on / off?")
    keys.press("Tab")
    keys.press("Control+A")
    with explorer.page.expect_request(re.compile(r"opposed.*a=Either\+on.*&b=It\+is\+off\.$")):
        keys.type("It is off.")
        keys.press("Enter")
    expect(explorer.page).to_have_url(re.compile(r"#opposed\?a=Either\+on.*&b=It\+is\+off\.$"))
    expect(explorer.panel.locator("blockquote").first).to_have_text("Either on / off?")


def test_one_sentence_alone_is_not_queried(explorer: Explorer, server: RunningServer) -> None:
    server.offered = {"relate": RELATION, "opposed": OPPOSITION}
    explorer.open("opposed", a="It is hot.")
    expect(explorer.message).to_have_text("Type two sentences.")
    assert not [address for address in server.requested if "/api/opposed" in address]


def test_there_is_no_panel_of_sentences_where_the_server_cannot_compare_them(
    explorer: Explorer,
) -> None:
    explorer.may_fail = "404"  # the first example is of a larger model
    explorer.open("opposed", **SENTENCES)
    expect(explorer.page.locator("#model")).to_contain_text("tiny")
    expect(explorer.tab("Fill")).to_have_attribute("aria-selected", "true")
    expect(explorer.page.locator("#tab-opposed")).to_be_hidden()


def test_fill_finds_words_while_one_types(explorer: Explorer, model: Pair2vec) -> None:
    explorer.open("fill", pattern="X or Y", x="hot")
    found = [match.word for match in model.fill("X or Y", x="hot", search="shortlist")]
    expect(explorer.words).to_have_text(found)
    expect(explorer.message).to_have_text(f"{len(found)} words, best: {found[0]}")
    explorer.field("Word in it").fill("cold")
    found = [match.word for match in model.fill("X or Y", x="cold", search="shortlist")]
    expect(explorer.words).to_have_text(found)
    expect(explorer.panel.locator(".sentence")).to_have_text(f"cold or {found[0]}")


def test_the_given_word_can_stand_in_slot_y(explorer: Explorer, model: Pair2vec) -> None:
    explorer.open("fill", pattern="X or Y", x="hot")
    explorer.panel.get_by_role("radio", name="Y").check()
    found = [match.word for match in model.fill("X or Y", y="hot", search="shortlist")]
    expect(explorer.words).to_have_text(found)
    expect(explorer.page).to_have_url(re.compile(r"#fill\?pattern=X\+or\+Y&y=hot$"))


def test_an_analogy_is_weighed_by_the_slider(explorer: Explorer, model: Pair2vec) -> None:
    explorer.open("analogy", a="france", b="paris", x="japan")
    question = ("france", "paris", "japan")
    found = [match.word for match in model.analogy(*question, alpha=0.5, search="shortlist")]
    expect(explorer.words).to_have_text(found)
    explorer.panel.get_by_role("slider").fill("1")
    other = [match.word for match in model.analogy(*question, alpha=1, search="shortlist")]
    assert other != found
    expect(explorer.words).to_have_text(other)
    expect(explorer.page).to_have_url(re.compile("&alpha=1$"))


def test_a_pair_has_patterns_in_both_directions_and_pairs_like_it(
    explorer: Explorer, model: Pair2vec
) -> None:
    explorer.open("pair", x="hot", y="cold")
    nearest = [f"{match.x} : {match.y}" for match in model.nearest("hot", "cold")]
    expect(explorer.panel.locator(".pairs .ranked .text")).to_have_text(nearest)
    for name, (x, y) in {
        "hot then cold": ("hot", "cold"),
        "cold then hot": ("cold", "hot"),
    }.items():
        part = explorer.panel.locator(".part").filter(has_text=name)
        found = [match.pattern for match in model.explain(x, y)]
        spelled = [pattern.replace("X", x).replace("Y", y) for pattern in found]
        expect(part.locator(".ranked .text")).to_have_text(spelled)


def test_a_model_without_patterns_still_shows_the_nearest_pairs(
    explorer: Explorer, server: RunningServer
) -> None:
    directions = {"forward": ("hot", "cold"), "backward": ("cold", "hot")}
    server.offered = {
        "pair": {name: {"x": x, "y": y, "patterns": None} for name, (x, y) in directions.items()}
    }
    explorer.open("pair", x="hot", y="cold")
    expect(explorer.panel.get_by_text("This model has no patterns.")).to_have_count(2)
    expect(explorer.panel.locator(".pairs .ranked .text").first).to_be_visible()
    expect(explorer.message).to_contain_text("hot and cold; nearest pair:")


def test_what_is_found_leads_on(explorer: Explorer, model: Pair2vec) -> None:
    explorer.open("fill", pattern="X or Y", x="hot")
    best = model.fill("X or Y", x="hot", search="shortlist")[0].word
    explorer.links.first.click()
    expect(explorer.field("Word X")).to_have_value("hot")
    expect(explorer.field("Word Y")).to_have_value(best)
    expect(explorer.panel).to_be_focused()
    explorer.panel.locator(".pairs .ranked a").first.click()
    nearest = model.nearest("hot", best)[0]
    expect(explorer.field("Word X")).to_have_value(nearest.x)
    expect(explorer.field("Word Y")).to_have_value(nearest.y)
    pattern = model.explain(nearest.x, nearest.y)[0].pattern
    explorer.panel.locator(".patterns .ranked a").first.click()
    expect(explorer.field("Pattern")).to_have_value(pattern)
    expect(explorer.field("Word in it")).to_have_value(nearest.x)


def test_there_is_no_word_panel_where_the_server_knows_no_neighbours(explorer: Explorer) -> None:
    explorer.may_fail = "404"  # the first example is of a larger model
    explorer.open("word", word="hot")
    expect(explorer.page.locator("#model")).to_contain_text("tiny")
    expect(explorer.tab("Fill")).to_have_attribute("aria-selected", "true")
    expect(explorer.page.locator("#tab-word")).to_be_hidden()


def test_a_word_has_its_neighbours_as_a_graph_and_as_a_list(
    explorer: Explorer, server: RunningServer
) -> None:
    server.offered = {"neighbours": NEIGHBOURS}
    explorer.open("word", word="hot")
    expect(explorer.tab("Word")).to_be_visible()
    expect(explorer.words).to_have_text(["cold antonym", "warm synonym", "cool antonym"])
    expect(explorer.message).to_have_text("3 words, most probable: cold (antonym)")
    graph = explorer.panel.locator("svg.graph")
    expect(graph.locator("text.middle")).to_have_text("hot")
    assert sorted(graph.locator("a text").all_text_contents()) == ["cold", "cool", "warm"]
    edges = graph.locator(".edge")
    colours = edges.evaluate_all("edges => edges.map(edge => getComputedStyle(edge).stroke)")
    assert len(colours) == 3 and len(set(colours)) == 2
    expect(explorer.panel.locator(".legend a")).to_have_text(["antonym", "synonym"])


def test_the_legend_leads_to_one_relation_and_the_graph_to_other_words(
    explorer: Explorer, server: RunningServer
) -> None:
    server.offered = {"neighbours": NEIGHBOURS}
    explorer.open("word", word="hot")
    with explorer.page.expect_request(re.compile("neighbours.*relation=antonym")):
        explorer.panel.locator(".legend").get_by_text("antonym").click()
    expect(explorer.panel.locator(".legend").get_by_text("all relations")).to_be_visible()
    explorer.panel.locator("svg.graph a").filter(has_text="warm").click()
    expect(explorer.field("Word")).to_have_value("warm")
    explorer.panel.get_by_label("Words related to cool").click()
    expect(explorer.field("Word")).to_have_value("cool")


def test_sentences_are_shown_as_text_whatever_is_in_them(
    explorer: Explorer, server: RunningServer
) -> None:
    sentences = ["Hot or cold, <img src=x onerror=alert(1)> it is.", "A cold day."]
    server.offered = {"evidence": {"sentences": sentences}, "neighbours": NEIGHBOURS}
    explorer.open("pair", x="hot", y="cold")
    expect(explorer.panel.locator("blockquote")).to_have_text(sentences)
    expect(explorer.panel.locator("blockquote b")).to_have_text(["Hot", "cold", "cold"])
    explorer.panel.locator(".sentences .chip").first.click()
    expect(explorer.field("Word")).to_have_value("hot")


def test_a_corpus_that_lacks_a_word_of_the_pair_takes_nothing_away(
    explorer: Explorer, server: RunningServer
) -> None:
    explorer.may_fail = "404"
    server.offered = {"evidence": None}  # which the server itself does not answer
    explorer.open("pair", x="hot", y="cold")
    expect(explorer.panel.get_by_text("No sentence of the corpus has both words.")).to_be_visible()
    expect(explorer.panel.locator(".pairs .ranked .text").first).to_be_visible()


def test_completions_are_suggested(explorer: Explorer) -> None:
    explorer.may_fail = "404"  # while a word is half typed
    explorer.open("pair", x="hot", y="cold")
    field = explorer.field("Word Y")
    field.fill("")
    field.press_sequentially("co")
    options = explorer.panel.get_by_role("option")
    expect(options).to_have_text(["cold", "cool"])
    field.press("ArrowDown")
    field.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    expect(options).to_have_count(0)
    expect(field).to_have_value("cool")
    expect(explorer.panel.locator("h2").first).to_have_text("hot then cool")
    field.fill("wa")
    explorer.panel.get_by_role("option", name="warm").click()
    expect(explorer.panel.locator("h2").first).to_have_text("hot then warm")


def test_an_unknown_word_is_replaced_by_a_suggestion(explorer: Explorer) -> None:
    explorer.may_fail = "404"
    explorer.open("pair", x="hoot", y="Colld")
    expect(explorer.message).to_contain_text("The model does not know “hoot”. Did you mean")
    explorer.message.get_by_role("button", name="hot").click()
    expect(explorer.message).to_contain_text("“colld”")
    expect(explorer.links).to_have_count(0)
    explorer.message.get_by_role("button", name="cold").click()
    expect(explorer.panel.locator("h2").first).to_have_text("hot then cold")
    expect(explorer.field("Word Y")).to_be_focused()


def test_an_unknown_word_of_a_pattern_is_replaced_in_its_place(explorer: Explorer) -> None:
    explorer.may_fail = "404"
    explorer.open("fill", pattern="eithr X or Y", x="hot")
    explorer.message.get_by_role("button", name="either", exact=True).click()
    expect(explorer.field("Pattern")).to_have_value("either X or Y")
    expect(explorer.message).to_contain_text("words, best:")


def test_a_refused_query_shows_the_reason(explorer: Explorer) -> None:
    explorer.may_fail = "400"
    explorer.open("fill", pattern="X or", x="hot")
    expect(explorer.message).to_contain_text("no Y that stands alone")
    expect(explorer.message.get_by_role("button")).to_have_count(0)


def test_an_incomplete_form_is_not_queried(explorer: Explorer, server: RunningServer) -> None:
    explorer.open("fill", pattern="X or Y")
    expect(explorer.message).to_contain_text("Type a pattern")
    assert not [address for address in server.requested if "fill" in address]
