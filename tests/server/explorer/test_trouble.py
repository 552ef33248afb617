"""A server that is slow, busy, or not there."""

import re

from starlette.responses import JSONResponse
from tests.server.explorer.browser import Explorer, expect
from tests.server.explorer.running_server import RunningServer

from pair2vec.api import Pair2vec

ANSWERED = re.compile("words, best:")


def busy() -> JSONResponse:
    return JSONResponse({"error": "too many"}, 503, {"Retry-After": "1"})


def test_old_results_stay_while_a_slow_server_is_waited_for(
    explorer: Explorer, server: RunningServer
) -> None:
    explorer.open("fill", pattern="X or Y", x="hot")
    expect(explorer.message).to_have_text(ANSWERED)
    before = explorer.words.all_text_contents()
    server.held = lambda address: "x=cold" in address
    explorer.field("Word in it").fill("cold")
    expect(explorer.message).to_have_text("thinking…")
    assert explorer.words.all_text_contents() == before, "what was found stays until there is more"
    explorer.tab("Pair").click()  # nothing is frozen
    expect(explorer.field("Word X")).to_be_visible()
    explorer.page.go_back()
    server.release()
    expect(explorer.message).to_have_text(ANSWERED)


def test_an_answer_that_comes_late_does_not_replace_a_newer_one(
    explorer: Explorer, server: RunningServer, model: Pair2vec
) -> None:
    server.held = lambda address: "x=cold" in address
    explorer.open("fill", pattern="X or Y", x="cold")
    expect(explorer.message).to_have_text("thinking…")
    explorer.field("Word in it").fill("hot")
    found = [match.word for match in model.fill("X or Y", x="hot", search="shortlist")]
    late = [match.word for match in model.fill("X or Y", x="cold", search="shortlist")]
    assert found != late
    expect(explorer.words).to_have_text(found)
    server.release()
    explorer.page.wait_for_timeout(500)
    expect(explorer.words).to_have_text(found)
    expect(explorer.message).to_have_text(f"{len(found)} words, best: {found[0]}")


def test_a_busy_server_is_retried_after_a_while(explorer: Explorer, server: RunningServer) -> None:
    explorer.may_fail = "503"
    server.refusals = [busy()]
    explorer.open("fill", pattern="X or Y", x="hot")
    expect(explorer.message).to_have_text("The server is busy; retrying in 1 s (1 of 3).")
    expect(explorer.message).to_have_text(ANSWERED)


def test_a_server_that_stays_busy_is_retried_three_times(
    explorer: Explorer, server: RunningServer
) -> None:
    explorer.may_fail = "503"
    server.refusals = [busy() for _ in range(4)]
    explorer.open("fill", pattern="X or Y", x="hot")
    again = explorer.message.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    expect(explorer.message).to_contain_text("The server is busy.")
    assert sum("/api/fill" in address for address in server.requested) == 4
    again.click()
    expect(explorer.message).to_have_text(ANSWERED)


def test_a_timeout_can_be_retried(explorer: Explorer, server: RunningServer) -> None:
    explorer.may_fail = "504"
    server.refusals = [JSONResponse({"error": "it took too long; ask for less"}, 504)]
    explorer.open("fill", pattern="X or Y", x="hot")
    expect(explorer.message).to_contain_text("it took too long")
    explorer.message.get_by_role("button", name="Try again").click()
    expect(explorer.message).to_have_text(ANSWERED)


def test_a_stopped_server_is_reported_and_can_be_retried_when_it_is_back(
    explorer: Explorer, server: RunningServer
) -> None:
    explorer.may_fail = "ERR_"
    explorer.open("fill", pattern="X or Y", x="hot")
    expect(explorer.message).to_have_text(ANSWERED)
    server.stop()
    explorer.field("Word in it").fill("cold")
    expect(explorer.message).to_contain_text("The server does not answer. Is it running?")
    expect(explorer.links).to_have_count(0)
    again = explorer.message.get_by_role("button", name="Try again")
    again.click()
    expect(again).to_be_visible()
    server.start()
    again.click()
    expect(explorer.message).to_have_text(ANSWERED)
    expect(explorer.panel.locator(".sentence")).to_contain_text("cold or")


def test_the_endpoints_of_a_server_are_requested_until_it_answers(
    explorer: Explorer, server: RunningServer
) -> None:
    explorer.may_fail = "ERR_"
    server.offered = {"neighbours": {"matches": []}}
    explorer.page.route("**/api/**", lambda route: route.abort())
    explorer.open("fill", pattern="X or Y", x="hot")
    expect(explorer.message).to_contain_text("The server does not answer")
    expect(explorer.page.locator("#model")).to_be_empty()
    explorer.page.unroute("**/api/**")
    explorer.message.get_by_role("button", name="Try again").click()
    expect(explorer.page.locator("#model")).to_contain_text("tiny")
    expect(explorer.tab("Word")).to_be_visible()
