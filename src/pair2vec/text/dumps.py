"""MediaWiki XML dumps: how one is recognised, its namespaces, and the articles among its pages."""

import html
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple
from xml.etree import ElementTree

PAGE_START = b"<page>"
PAGE_END = b"</page>"
DUMP_END = b"</mediawiki>"

_DUMP_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<mediawiki[\s>]", re.S
)
_REDIRECT = re.compile(r"\s*#redirect", re.IGNORECASE)
_NAMESPACE = re.compile(rb"<namespace\b[^<>]*>([^<]+)</namespace\s*>")
_SUBJECTS = "user project wikipedia file image mediawiki template help category portal".split()
_USUAL_NAMESPACES = frozenset(
    ["talk", "media", "special", *_SUBJECTS, *(f"{subject} talk" for subject in _SUBJECTS)]
)
"""Those of English, which every wiki knows beside its own, and Wikipedia's."""


class MalformedXmlError(ValueError):
    """Pages are not well-formed XML; `position` is the offending byte."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.position = position


def is_dump(head: bytes) -> bool:
    """Whether content that begins with `head` is a MediaWiki XML dump."""
    return _DUMP_HEAD.match(head) is not None


def namespaces(head: bytes) -> frozenset[str]:
    """The names that titles of pages other than articles begin with.

    Those of the ``<siteinfo>`` in what precedes the first page, and those that are always there.
    """
    own = (html.unescape(name.decode(errors="replace")) for name in _NAMESPACE.findall(head))
    return _USUAL_NAMESPACES.union(map(_folded, own))


def _folded(namespace: str) -> str:
    return namespace.replace("_", " ").strip().casefold()


class Article(NamedTuple):
    """A page of the main namespace."""

    title: str
    wikitext: str


def parse_articles(pages: bytes, other_namespaces: Collection[str] = ()) -> Iterator[Article]:
    """The articles among whole ``<page>`` elements: namespace 0, redirects left out.

    Before version 0.6 of the export format pages have no ``<ns>``: then the title tells, by the
    names of `namespaces`.

    Raises:
        MalformedXmlError: at once, before any article.
    """
    return _select_articles(_parse(pages), other_namespaces)


def _select_articles(
    pages: ElementTree.Element, other_namespaces: Collection[str]
) -> Iterator[Article]:
    for page in pages:
        text = page.findtext("./revision[last()]/text") or ""
        title = page.findtext("title", "")
        if (
            _is_in_main_namespace(page.findtext("ns"), title, other_namespaces)
            and page.find("redirect") is None
            and not _REDIRECT.match(text)
        ):
            yield Article(title, text)


def _is_in_main_namespace(
    number: str | None, title: str, other_namespaces: Collection[str]
) -> bool:
    if number is not None:
        return number == "0"
    namespace, colon, _ = title.partition(":")
    return not colon or _folded(namespace) not in other_namespaces


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
