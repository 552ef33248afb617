"""MediaWiki XML dumps: recognised by content, split between pages, parsed page by page."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

_DUMP_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<mediawiki[\s>]", re.S
)
_REDIRECT = re.compile(r"\s*#redirect", re.IGNORECASE)

PAGE_END = b"</page>"
DUMP_END = b"</mediawiki>"


class Article(NamedTuple):
    """A page of the main namespace."""

    title: str
    wikitext: str


def is_dump(head: bytes) -> bool:
    """Whether content that begins with `head` is a MediaWiki XML dump."""
    return _DUMP_HEAD.match(head) is not None


class MalformedXmlError(ValueError):
    """Pages are not well-formed XML; `position` is the offending byte."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.position = position


def parse_articles(pages: bytes) -> Iterator[Article]:
    """The articles among whole ``<page>`` elements: namespace 0, redirects left out.

    Raises:
        MalformedXmlError: at once, before any article.
    """
    return _select_articles(_parse(pages))


def _select_articles(pages: ElementTree.Element) -> Iterator[Article]:
    for page in pages:
        text = page.findtext("./revision[last()]/text") or ""
        if (
            page.findtext("ns", "0") == "0"
            and page.find("redirect") is None
            and not _REDIRECT.match(text)
        ):
            yield Article(page.findtext("title", ""), text)


def _parse(pages: bytes) -> ElementTree.Element:
    start_tag = b"<mediawiki>"
    document = start_tag + pages + DUMP_END
    try:
        return ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        line, column = error.position
        before = document.split(b"\n", line - 1)[: line - 1]
        position = sum(len(row) + 1 for row in before) + column - len(start_tag)
        raise MalformedXmlError(error.msg.split(":")[0], position) from error
