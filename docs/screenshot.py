"""The picture of the explorer page in the README: ``python docs/screenshot.py``.

Wants Debian's chromium and the package playwright. Another view is named by its address, as in
``python docs/screenshot.py '#pair?x=hot&y=cold'``.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

PICTURE = Path(__file__).parent / "explorer.png"
SIZE = {"width": 860, "height": 640}
SHARPNESS = 2


@contextmanager
def served() -> Iterator[str]:
    """The address of a server of the bundled model."""
    command = [sys.executable, "-m", "pair2vec", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        line = process.stderr.readline()
        address = re.search(r"http://\S+", line)
        try:
            if not address:
                raise SystemExit(f"the server did not start: {line}")
            yield address.group()
        finally:
            process.terminate()


def take(address: str) -> None:
    """Write the picture of what an address shows, once it is answered."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(
            viewport=SIZE,  # type: ignore[arg-type]
            device_scale_factor=SHARPNESS,
            reduced_motion="reduce",
        )
        page.goto(address)
        answered = page.locator("[role=tabpanel]:not([hidden]) .message:not(.thinking)")
        expect(answered).not_to_be_empty()
        expect(page.locator("#model")).not_to_be_empty()
        page.screenshot(path=PICTURE, full_page=True)
        browser.close()


if __name__ == "__main__":
    with served() as server:
        take(f"{server}/{''.join(sys.argv[1:2])}")
