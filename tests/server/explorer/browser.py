"""A real browser at the explorer page: Debian's chromium, driven by playwright.

Without either, the tests that import this skip.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest

try:
    from playwright.sync_api import Browser, Dialog, Locator, Page, expect, sync_playwright
except ImportError:
    pytest.skip(
        "the explorer page is not tested in a browser: pip install playwright "
        "(the browser itself is Debian's chromium)",
        allow_module_level=True,
    )

__all__ = ["Browser", "Dialog", "Explorer", "Locator", "expect", "launched"]

_PATIENCE_MS = 20_000
expect.set_options(timeout=_PATIENCE_MS)
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser without a window; skips where there is none."""
    executable = next(filter(None, map(shutil.which, _NAMES)), None)
    if not executable:
        pytest.skip("the explorer page is not tested in a browser: apt-get install chromium")
    with sync_playwright() as driver:
        # Its sandbox does not work for root, as whom containers run; it opens our page alone.
        browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


class Explorer:
    """The page as its users see it; errors are collected."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self._address = page, address
        self.may_fail = ""
        """A regular expression for failed requests that the test provokes."""
        self._faults: list[str] = []
        page.set_default_timeout(_PATIENCE_MS)
        page.on("pageerror", lambda error: self._faults.append(str(error)))
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("request", lambda request: self._note_request(request.url))

    def _note(self, level: str, text: str) -> None:
        if level in ("error", "warning"):
            self._faults.append(text)

    def _note_request(self, url: str) -> None:
        if not url.startswith((self._address, "blob:", "data:")):  # the last two are of the page
            self._faults.append(f"requested another host: {url}")

    def faults(self) -> list[str]:
        """Errors, violations of the Content-Security-Policy, and requests to other hosts."""
        may_fail = re.compile(f"Failed to load resource: .*({self.may_fail})")
        return [fault for fault in self._faults if not (self.may_fail and may_fail.search(fault))]

    def open(self, panel: str = "", **state: str) -> None:
        """By its address, as one that somebody shared."""
        fragment = f"#{panel}?{urlencode(state)}" if panel else ""
        self.page.goto("about:blank")  # or a change of the hash alone would not load it anew
        self.page.goto(self._address + fragment)

    @property
    def panel(self) -> Locator:
        return self.page.locator("[role=tabpanel]:not([hidden])")

    @property
    def message(self) -> Locator:
        return self.panel.locator(".message")

    @property
    def links(self) -> Locator:
        """What was found."""
        return self.panel.locator(".ranked a:first-child")

    @property
    def words(self) -> Locator:
        """The same, without scores."""
        return self.links.locator(".text")

    def field(self, label: str) -> Locator:
        return self.panel.get_by_label(label, exact=True)

    def tab(self, name: str) -> Locator:
        return self.page.get_by_role("tab", name=name)
