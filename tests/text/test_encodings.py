"""Encodings: text that is not UTF-8 is refused with its name, and read where the name is given."""

import codecs
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.errors import InputError, UsageError
from pair2vec.text.encodings import canonical_encoding, to_utf8, why_not_utf8
from pair2vec.text.prepare import PrepareConfig, prepare

ENGLISH = "Hot is the opposite of cold. Paris is the capital of France.\n" * 3
FRENCH = "Le chat n'a pas mangé : déjà vu. Où est la fenêtre ?\nÀ bientôt, garçon.\n" * 3
RUSSIAN = "Москва, столица России. Горячий противоположен холодному.\n" * 3
CHINESE = "巴黎是法国的首都。热是冷的反义词，水是湿的。\n" * 20
JAPANESE = "パリはフランスの首都です。熱いは冷たいの反対です。\n" * 20


@pytest.mark.parametrize("text", ["", "a", ENGLISH, FRENCH, RUSSIAN, CHINESE, JAPANESE])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_utf8_is_accepted(text: str, mark: bytes) -> None:
    assert why_not_utf8(mark + text.encode()) is None


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200))
def test_any_text_in_utf8_is_accepted(text: str) -> None:
    assert why_not_utf8(text.encode()) is None


def test_utf8_with_a_little_damage_is_accepted() -> None:
    damaged = FRENCH.encode().replace(b"\xc3\xa9", b"\xe9", 1)
    assert why_not_utf8(damaged) is None
    # The sample ends inside a character.
    assert why_not_utf8(b"a" * 65_535 + "é and so on".encode()) is None


@pytest.mark.parametrize("text", ["hi", ENGLISH, FRENCH, RUSSIAN, CHINESE, JAPANESE])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_characters_without_a_mark_are_recognised(text: str, encoding: str) -> None:
    problem = why_not_utf8(text.encode(encoding))
    assert problem == (
        f"seems to be text in {encoding.upper()} without a mark: give --encoding {encoding}"
    )


@pytest.mark.parametrize(("encoding", "name"), [("utf-16", "UTF-16"), ("utf-32", "UTF-32")])
def test_a_mark_names_its_encoding(encoding: str, name: str) -> None:
    problem = why_not_utf8(ENGLISH.encode(encoding))
    assert problem is not None
    assert problem.startswith(f"is text in {name}: ")
    assert problem.endswith(f"--encoding {encoding}")


@pytest.mark.parametrize(
    ("content", "guess"),
    [
        (FRENCH.encode("latin-1"), "Latin-1: give --encoding latin-1"),
        (b"Caf\xe9 au lait.", "Latin-1: give --encoding latin-1"),
        (
            "It\u2019s what we call \u201cd\xe9j\xe0 vu\u201d.".encode("cp1252"),
            "Windows-1252: give --encoding cp1252",
        ),
        (RUSSIAN.encode("cp1251"), "a script that is not Latin"),
        (CHINESE.encode("gb18030"), "a script that is not Latin"),
        (JAPANESE.encode("shift_jis"), "a script that is not Latin"),
        (random.Random(1).randbytes(5_000), "binary data"),
        (random.Random(2).randbytes(200_000), "binary data"),
        (b"\x00\x01", "binary data"),
    ],
)
def test_other_bytes_are_refused_with_what_they_seem_to_be(content: bytes, guess: str) -> None:
    problem = why_not_utf8(content)
    assert problem is not None
    assert guess in problem


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((ENGLISH, name) for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii")),
        *((FRENCH, name) for name in ("latin1", "cp1252", "mac-roman", "utf-8")),
        *((RUSSIAN, name) for name in ("cp1251", "koi8-r")),
        *((CHINESE, name) for name in ("gb18030", "utf-16-le")),
        *((JAPANESE, name) for name in ("shift_jis", "euc-jp", "iso2022_jp")),
    ],
)
def test_text_in_its_encoding_gives_the_corpus_of_the_same_text_in_utf8(
    tmp_path: Path, text: str, encoding: str
) -> None:
    (tmp_path / "utf8.txt").write_bytes(text.encode())
    (tmp_path / "other.txt").write_bytes(text.encode(encoding))
    expected = prepare([str(tmp_path / "utf8.txt")], tmp_path / "expected")
    config = PrepareConfig(encoding=encoding)
    corpus = prepare([str(tmp_path / "other.txt")], tmp_path / "corpus", config)
    assert corpus.manifest.fingerprint == expected.manifest.fingerprint
    assert corpus.manifest.invalid_bytes == 0
    assert corpus.manifest.settings["encoding"] == canonical_encoding(encoding)
    assert "encoding" not in expected.manifest.settings


@given(st.text(max_size=50), st.integers(1, 7))
def test_blocks_are_translated_wherever_they_are_cut(text: str, size: int) -> None:
    text = text.encode("utf-16-le", "ignore").decode("utf-16-le")
    content = text.encode("utf-16-le")
    blocks = [content[start : start + size] for start in range(0, len(content), size)]
    assert b"".join(to_utf8(blocks, "utf-16-le")) == text.encode()


def test_what_cannot_be_decoded_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(
        "Good text.".encode("utf-16-le") + b"\x00\xd8" + "It ends.".encode("utf-16-le")
    )
    corpus = prepare([str(path)], tmp_path / "corpus", PrepareConfig(encoding="utf-16-le"))
    assert corpus.manifest.invalid_bytes == 1
    assert list(corpus.words()) == [["good", "text", "."], ["it", "ends", "."]]


def test_utf8_by_name_replaces_what_is_not(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(FRENCH.encode("latin-1"))
    with pytest.raises(InputError, match=r"text\.txt: is not UTF-8, and seems to be .* Latin-1"):
        prepare([str(tmp_path / "text.txt")], tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()
    corpus = prepare(
        [str(tmp_path / "text.txt")], tmp_path / "corpus", PrepareConfig(encoding="utf-8")
    )
    assert corpus.manifest.invalid_bytes == 24


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13", "", "a\0b", "é"])
def test_an_encoding_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no such encoding of text"):
        PrepareConfig(encoding=name)
