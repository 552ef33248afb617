"""The files of the page: few bytes, nothing from elsewhere, nothing that its headers forbid."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pair2vec.server.app import STATIC

FILES = [path for path in sorted(STATIC.rglob("*")) if path.is_file()]
MODULES = [path for path in FILES if path.suffix == ".js"]
ENGINE = [path for path in FILES if path.parent.name == "engine"]
SVG = "http://www.w3.org/2000/svg"


def named(path: Path) -> str:
    return str(path.relative_to(STATIC))


PAGES = ("index.html", "docs.html")


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed((STATIC / name).read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, attribute: str) -> list[str]:
        return [value for _, has in self.tags if (value := has.get(attribute)) is not None]


def test_all_of_them_together_are_small() -> None:
    assert {"index.html", "explorer.css", "explorer.js", "favicon.svg"} <= {*map(named, FILES)}
    own, engine = {*FILES} - {*ENGINE}, {*ENGINE}
    for files, most_bytes, most_lines in ((own, 108_000, 180), (engine, 163_000, 350)):
        assert sum(path.stat().st_size for path in files) < most_bytes
        lines = [len(path.read_text().splitlines()) for path in files & {*MODULES}]
        assert max(lines) <= most_lines


@pytest.mark.parametrize("path", FILES, ids=named)
def test_none_names_another_host(path: Path) -> None:
    assert not re.search(r"(https?:)?//\w+\.\w", path.read_text().replace(SVG, ""))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_script_or_style_inside(name: str) -> None:
    page = Page(name)
    assert not [tag for tag, _ in page.tags if tag == "style"]
    assert all(has.get("src") for tag, has in page.tags if tag == "script")
    names = {name for _, has in page.tags for name in has}
    assert not [name for name in names if name == "style" or name.startswith("on")]
    addresses = page.all("href") + page.all("src")
    assert not [address for address in addresses if address.startswith(("javascript:", "data:"))]


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_no_module_makes_markup_or_code_of_text(path: Path) -> None:
    forbidden = r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|new Function)\b"
    assert not re.search(forbidden, path.read_text())


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_what_a_module_imports_is_there(path: Path) -> None:
    imported = re.findall(r'from "([^"]+)"', path.read_text())
    assert all((path.parent / name).is_file() for name in imported)


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_names_is_there(name: str) -> None:
    page = Page(name)
    ids = page.all("id")
    assert len(ids) == len({*ids})
    assert {*page.all("for"), *page.all("aria-controls"), *page.all("aria-labelledby")} <= {*ids}
    files = [name for name in page.all("href") + page.all("src") if name.startswith("static/")]
    assert files and all((STATIC.parent / name).is_file() for name in files)
