import re
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pair2vec.errors import InputError
from pair2vec.text.pieces import Piece, cut_into_pieces, encode_piece
from pair2vec.text.sentences import split_sentences

HEAD = (
    b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10">\n<siteinfo/>\n'
)


def page(title: str, text: str, namespace: int = 0, extra: str = "") -> bytes:
    return (
        f"<page><title>{title}</title><ns>{namespace}</ns>{extra}<id>1</id>"
        f"<revision><text xml:space='preserve'>{text}</text></revision></page>\n"
    ).encode()


def blocks(content: bytes, size: int) -> Iterator[bytes]:
    return (content[start : start + size] for start in range(0, len(content), size))


def pieces(content: bytes, size: int, block: int = 7) -> list[Piece]:
    return list(cut_into_pieces("test", blocks(content, block), size))


@given(
    st.text(st.sampled_from("ab.\n é字"), max_size=300),
    st.integers(8, 60),
    st.integers(1, 50),
    st.integers(1, 50),
)
def test_cuts_depend_on_the_content_alone_and_lose_nothing(
    text: str, size: int, block: int, other: int
) -> None:
    content = text.encode()
    cut = pieces(content, size, block)
    assert cut == pieces(content, size, other)
    assert b"".join(piece.content for piece in cut) == content
    assert all(len(piece.content) <= size for piece in cut)
    for piece in cut:
        piece.content.decode()  # no character is cut in two
        assert content[piece.offset :].startswith(piece.content)


@given(st.lists(st.sampled_from(["one two.", "three.", "", "é è.", " "]), max_size=60))
def test_pieces_have_the_sentences_and_documents_of_the_whole(lines: list[str]) -> None:
    text = "\n".join(lines)
    encoded = [encode_piece(piece) for piece in pieces(text.encode(), 40)]
    whole = [word for sentence in split_sentences(text) for word in sentence]
    words = [piece.words[n - 1] for piece in encoded for n in piece.ids.tolist() if n]
    assert words == whole
    documents = "\n".join(line.strip() for line in lines).split("\n\n")
    assert sum(piece.statistics.documents for piece in encoded) == sum(
        1 for document in documents if document.strip()
    )


@pytest.mark.parametrize(("words", "dtype"), [(65_535, "uint16"), (65_536, "uint32")])
def test_ids_take_two_bytes_where_they_fit(words: int, dtype: str) -> None:
    (piece,) = pieces(" ".join(f"w{n}" for n in range(words)).encode(), 10**6)
    encoded = encode_piece(piece)
    assert encoded.ids.dtype == dtype
    assert [n for n in encoded.ids.tolist() if n] == list(range(1, words + 1))


def test_a_dump_is_cut_between_pages() -> None:
    dump = HEAD + b"".join(page(f"T{n}", "word " * n) for n in range(50)) + b"</mediawiki>\n"
    cut = pieces(dump, 500)
    assert len(cut) > 10
    for piece in cut:
        assert piece.content.strip().startswith(b"<page>")
        assert piece.content.strip().endswith(b"</page>")
        assert dump[piece.offset :].startswith(piece.content)
    assert sum(encode_piece(piece).statistics.documents for piece in cut) == 50


def test_only_articles_are_read() -> None:
    dump = (
        HEAD
        + page("Article", "Kept [[link|text]].")
        + page("Talk:Article", "Talk.", namespace=1)
        + page("Old", "#REDIRECT [[Article]]", extra="<redirect title='Article'/>")
        + page("Older", "#redirect [[Article]]")
        + b"</mediawiki>"
    )
    (piece,) = pieces(dump, 10_000)
    encoded = encode_piece(piece)
    assert encoded.words == ["article", "kept", "text", "."]
    assert encoded.statistics.documents == 1


def without_ns(dump: bytes) -> bytes:
    return re.sub(rb"<ns>-?\d+</ns>", b"", dump)


def titles(dump: bytes) -> list[str]:
    encoded = [encode_piece(piece) for piece in pieces(dump, 300)]
    return [word for piece in encoded for word in piece.words if word.startswith("kept")]


SITEINFO = """<siteinfo><namespaces>
<namespace key="-1">Spezial</namespace><namespace key="0" />
<namespace key="1" case="first-letter">Diskussion</namespace>
<namespace case='first-letter' key='4'>Wikipedia &amp; mehr</namespace>
<namespace key="5">Benutzer_Diskussion</namespace>
</namespaces></siteinfo>"""


@pytest.mark.parametrize("siteinfo", ["", SITEINFO])
def test_pages_without_a_namespace_are_told_by_their_titles(siteinfo: str) -> None:
    articles = ["kept1", "2001: kept2", "Kept3: the film", "kept4:", ":kept5"]
    other = ["Talk:kept6", "User talk:kept7", "template:kept8", "WIKIPEDIA:kept9", "Image:kept10"]
    own = ["Diskussion:kept11", "Wikipedia &amp; mehr:kept12", "benutzer diskussion:kept13"]
    every = [*articles, *other, *own]
    dump = f"<mediawiki>{siteinfo}".encode() + b"".join(page(title, "Text.") for title in every)
    expected = [f"kept{n}" for n in range(1, 6)]
    if not siteinfo:
        expected += ["kept11", "kept12", "kept13"]
    assert titles(without_ns(dump) + b"</mediawiki>") == expected
    # With <ns>, titles do not matter.
    assert len(titles(dump + b"</mediawiki>")) == len(every)


def test_a_dump_cut_short_keeps_its_whole_pages_where_that_is_accepted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    whole = HEAD + b"".join(page(f"T{n}", f"word{n} " * 9) for n in range(20)) + b"</mediawiki>"
    for end in range(len(HEAD), len(whole) - 1, 7):
        content = whole[:end]
        with pytest.raises(InputError, match=r"the dump is cut short.*--truncated ok"):
            pieces(content, 500)
        cut = list(cut_into_pieces("test", blocks(content, 64), 500, truncated_ok=True))
        encoded = [encode_piece(piece) for piece in cut]
        assert sum(piece.statistics.documents for piece in encoded) == content.count(b"</page>")
    assert "the dump is cut short" in caplog.text
    assert list(cut_into_pieces("test", blocks(whole, 64), 500, truncated_ok=True)) == pieces(
        whole, 500
    )


@given(st.text(st.sampled_from("a \r\n"), max_size=60), st.integers(1, 9), st.integers(8, 20))
@example("aa\r\r aaaa", 1, 8)  # cut before the first word of a document
@example("aaaa    \naa", 1, 8)  # cut before the end of a line
@example("aaaaaaa        \n        \naa", 1, 8)  # a piece of white space alone
def test_every_kind_of_line_end_is_one(text: str, block: int, size: int) -> None:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    documents = [part for part in re.split(r"\n\s*\n", plain) if part.strip()]
    cut = pieces(text.encode(), size, block)
    assert sum(encode_piece(piece).statistics.documents for piece in cut) == len(documents)
    assert b"".join(piece.content for piece in cut).replace(b"\r\n", b"\n") == plain.encode()


def test_malformed_xml_is_an_error_with_its_position() -> None:
    broken = b"<page><title>Bad</titel></page>\n"
    good = page("Good", "line\nline")
    dump = HEAD + good + broken + b"</mediawiki>"
    (piece,) = pieces(dump, 10_000)
    with pytest.raises(InputError, match=r"malformed XML near byte [0-9,]+") as caught:
        encode_piece(piece)
    position = int(str(caught.value).split("byte ")[1].split(" ")[0].replace(",", ""))
    assert abs(position - dump.index(b"</titel>")) < 20


def test_a_dump_without_its_end_is_cut_short() -> None:
    with pytest.raises(InputError, match="the dump is cut short"):
        pieces(HEAD + page("A", "text") + b"<page><title>", 10_000)


def test_a_dump_without_pages_is_not_buffered_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pair2vec.text.pieces.LARGEST_PAGE", 1 << 20)
    endless = (b"<mediawiki>" if number == 0 else b" " * 65536 for number in range(10**9))
    with pytest.raises(InputError, match="no </page> within 1 MB"):
        list(cut_into_pieces("dump", endless, 8 << 20))


def test_invalid_utf8_in_a_dump_is_replaced_and_counted() -> None:
    dump = HEAD + page("A", "Good text.") + page("B", "Caf? life.").replace(b"?", b"\xe9")
    (piece,) = pieces(dump + b"</mediawiki>", 10_000)
    encoded = encode_piece(piece)
    assert encoded.statistics.invalid_bytes == 1
    assert encoded.words == ["a", "good", "text", ".", "b", "caf", "life"]


def test_invalid_utf8_in_a_text_is_replaced_and_counted() -> None:
    (piece,) = pieces("good \ufffd ".encode() + b"b\xff\xfed caf\xe9 end.", 10_000)
    encoded = encode_piece(piece)
    assert encoded.statistics.invalid_bytes == 3
    assert encoded.words == ["good", "b", "d", "caf", "end", "."]
