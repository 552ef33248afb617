"""The pictures of the explorer page in the documentation: ``python docs/screenshot.py [NAME ...]``.

Of the bundled model. Wants Debian's chromium and the packages playwright and pillow.
"""

import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, expect, sync_playwright

HERE = Path(__file__).parent
COLOURS = 96
MOST_BYTES = 100_000


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What is on one."""

    address: str = ""
    width: int = 740
    height: int = 1500
    """At most; a shorter panel ends before."""
    sharpness: float = 2
    scheme: Literal["light", "dark"] = "light"
    pressed: str = ""
    """A button."""


PICTURES = {
    "explorer": Picture(width=860, height=960),
    "explorer-map": Picture(address="#map?word=accept"),
    "explorer-plane": Picture(address="#plane?a=man&b=woman&x=king&y=queen&more=hot+:+cold"),
    "explorer-play": Picture(address="#play?game=odd&n=31", pressed="portugal"),
    "explorer-dark": Picture(address="#relate?x=wheel&y=car", width=390, height=844, scheme="dark"),
}


@contextmanager
def served(corpus: Path) -> Iterator[str]:
    """The address of a server of the bundled model, with the corpus of the examples."""
    program = [sys.executable, "-m", "pair2vec"]
    texts = (HERE.parent / "examples" / name for name in ("opposites.txt", "world.xml"))
    subprocess.run([*program, "prepare", *texts, "--out", corpus], check=True)
    command = [*program, "serve", "--port", "0", "--corpus", corpus]
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


def take(browser: Browser, server: str, name: str, picture: Picture) -> None:
    """Write the picture of what an address shows, once it is answered."""
    page = browser.new_page(
        viewport={"width": picture.width, "height": picture.height},
        device_scale_factor=picture.sharpness,
        reduced_motion="reduce",
        color_scheme=picture.scheme,
    )
    page.goto(f"{server}/{picture.address}")
    panel = page.locator("[role=tabpanel]:not([hidden])")
    expect(panel.get_by_role("button", name="Copy link")).to_be_visible(timeout=60_000)
    expect(page.locator("#model")).not_to_be_empty()
    if picture.pressed:
        panel.get_by_role("button", name=picture.pressed).click()
        expect(panel.locator("h2")).to_be_visible()
        page.evaluate("document.activeElement.blur()")
    path = HERE / f"{name}.png"
    ends = panel.evaluate("panel => panel.getBoundingClientRect().bottom + scrollY + 16")
    height = min(ends, picture.height)
    shot = page.screenshot(clip={"x": 0, "y": 0, "width": picture.width, "height": height})
    few = Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    page.close()
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{path}: has {path.stat().st_size:,} bytes; at most {MOST_BYTES:,}")


if __name__ == "__main__":
    with (
        TemporaryDirectory() as folder,
        served(Path(folder) / "corpus") as address,
        sync_playwright() as driver,
    ):
        chromium = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for wanted in sys.argv[1:] or PICTURES:
            take(chromium, address, wanted, PICTURES[wanted])
        chromium.close()
