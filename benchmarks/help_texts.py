"""The text of help and manual pages, for a corpus in the register of commands.

    python benchmarks/help_texts.py FOLDER... --out help.txt

Reads HTML and Mallard pages, such as those of Debian's packages gnome-user-docs,
libreoffice-help-en-us, linux-doc, python3-doc, postgresql-doc, debian-handbook and git-doc,
unpacked by `dpkg-deb --extract`. Of what there is in several languages, name the folders of
English. A page becomes its title and its paragraphs, a line each, and a blank line; listings are
left out, and so is a paragraph that an earlier page has.
"""

import argparse
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

PAGES = (".html", ".htm", ".xhtml", ".page")
IGNORED = frozenset("script style pre nav footer header svg".split())
"""What is no prose."""
INLINE = frozenset(
    "a b i u em strong span tt code kbd var abbr cite link".split()
    + "gui guiseq key keyseq app cmd file".split()
)
"""Within a paragraph; any other tag ends it."""
SHORTEST = 4
"""Words of a paragraph."""


class PageText(HTMLParser):
    """Collects the paragraphs of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self._words: list[str] = []
        self._ignored = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag in IGNORED:
            self._ignored += 1
        elif tag not in INLINE:
            self.flush()

    def handle_endtag(self, tag: str) -> None:
        if tag in IGNORED:
            self._ignored = max(0, self._ignored - 1)
        elif tag not in INLINE:
            self.flush()

    def handle_data(self, data: str) -> None:
        if not self._ignored:
            self._words.append(data)

    def flush(self) -> None:
        """End a paragraph."""
        words = "".join(self._words).split()
        self._words.clear()
        if len(words) >= SHORTEST:
            self.paragraphs.append(" ".join(words))


def main() -> None:
    """Write the text, and print how much of it there is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    pages = words = 0
    seen: set[str] = set()
    with arguments.out.open("w", encoding="utf-8") as out:
        for path in page_files(arguments.folders):
            new = [text for text in paragraphs(path) if text not in seen]
            seen.update(new)
            if new:
                out.write("\n".join(new) + "\n\n")
            pages += 1
            words += sum(len(text.split()) for text in new)
    print(f"{pages:,} pages, {words:,} words")


def page_files(folders: list[Path]) -> Iterator[Path]:
    """The pages below the folders, each once, in the order of their names."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in PAGES and path.is_file() and not path.is_symlink():
                yield path


def paragraphs(path: Path) -> list[str]:
    """The paragraphs of a page."""
    page = PageText()
    page.feed(path.read_text(encoding="utf-8", errors="replace"))
    page.close()
    page.flush()
    return page.paragraphs


if __name__ == "__main__":
    main()
