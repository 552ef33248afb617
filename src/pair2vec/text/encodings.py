"""Encodings of text: what bytes seem to be that are not UTF-8, and how they become UTF-8."""

import codecs
import re
from collections.abc import Iterable, Iterator

from pair2vec.errors import UsageError

UTF8 = "utf-8"

SAMPLE_BYTES = 1 << 16
"""How much of a source is looked at: its beginning."""

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte-order marks; those of UTF-32 first, which begin with one of UTF-16."""
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_CUT_CHARACTER = re.compile(rb"[\xc2-\xf4][\x80-\xbf]{0,2}\Z")
_ASCII = bytes(range(0x80))
_CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\t\n\v\f\r\x1b"})
_WINDOWS_ONLY = bytes(range(0x80, 0xA0))
_BETWEEN_WORDS = " \t\n\r\u3000\u3001\u3002\uff0c"
_REPLACED = "pair2vec.replaced"


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    """One byte that no UTF-8 has: what reads the text then counts it as invalid."""
    if isinstance(error, UnicodeDecodeError):
        return "\udcff", error.end
    assert isinstance(error, UnicodeEncodeError)
    return b"\xff" * (error.end - error.start), error.end


codecs.register_error(_REPLACED, _replace)


def canonical_encoding(name: str) -> str:
    """The name by which Python knows an encoding of text.

    Raises:
        UsageError: there is none of that name.
    """
    try:
        found = codecs.lookup(name)
        b"a".decode(found.name, "replace")  # refuses codecs of bytes, such as hex
        return found.name
    except (LookupError, ValueError) as error:
        raise UsageError(
            f"encoding {name!r}: no such encoding of text; there are utf-8, utf-16, latin-1, "
            "cp1252, shift_jis and the others that Python lists"
        ) from error


def to_utf8(blocks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The same text in UTF-8, with the byte FF for each stretch that cannot be decoded."""
    decoder = codecs.getincrementaldecoder(encoding)(_REPLACED)
    for block in blocks:
        yield decoder.decode(block).encode(UTF8, _REPLACED)
    yield decoder.decode(b"", final=True).encode(UTF8, _REPLACED)


def byte_order_mark(head: bytes) -> str | None:
    """What a source is that begins with a mark of another encoding, and what to do."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return (
                f"is text in {encoding.upper()}: convert it to UTF-8, or prepare it with "
                f"--encoding {encoding}"
            )
    return None


def why_not_utf8(head: bytes) -> str | None:
    """What a source seems to be, and what to do, if its beginning is no text in UTF-8.

    Text in UTF-8 with some damage passes: what cannot be decoded is rarer than what can.
    """
    if marked := byte_order_mark(head):
        return marked
    sample = head[:SAMPLE_BYTES]
    if len(head) > SAMPLE_BYTES:
        sample = _CUT_CHARACTER.sub(b"", sample)
    characters = _MULTIBYTE.findall(sample)
    undecoded = len(sample.translate(None, _ASCII)) - sum(map(len, characters))
    is_utf8 = undecoded <= len(characters)
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    has_controls = 20 * controls > len(sample)
    if not is_utf8 or has_controls:
        for encoding in _WIDE:
            if _reads_as(sample, encoding):
                return (
                    f"seems to be text in {encoding.upper()} without a mark: "
                    f"give --encoding {encoding}"
                )
    if has_controls:
        return (
            f"seems to be binary data: {controls / len(sample):.0%} of its bytes are control "
            "characters; extract its text, or give its --encoding"
        )
    return None if is_utf8 else _single_byte_guess(sample)


def _reads_as(sample: bytes, encoding: str) -> bool:
    """Whether a sample decodes to characters that are visible, with words apart."""
    text = sample[: len(sample) // 4 * 4 or len(sample)].decode(encoding, "replace")
    visible = sum(map(str.isprintable, text)) + sum(map(text.count, "\t\n\r"))
    apart = sum(map(text.count, _BETWEEN_WORDS))
    ascii_only = sum(map(str.isascii, text))
    is_visible = bool(text) and visible - text.count("\ufffd") >= 0.97 * len(text)
    return is_visible and (100 * apart >= len(text) or 2 * ascii_only > len(text))


def _single_byte_guess(sample: bytes) -> str:
    foreign = len(sample.translate(None, _ASCII))
    if foreign > 0.4 * sum(map(bytes.isalnum, re.findall(rb"[\x00-\x7f]", sample))):
        return (
            "is not UTF-8, and seems to be text in a script that is not Latin: give its "
            "--encoding, as in cp1251, koi8-r, shift_jis, euc-kr, big5 or gb18030"
        )
    is_windows = len(sample.translate(None, _WINDOWS_ONLY)) < len(sample)
    name, encoding = ("Windows-1252", "cp1252") if is_windows else ("Latin-1", "latin-1")
    return (
        f"is not UTF-8, and seems to be text in {name}: give --encoding {encoding}; "
        "with utf-8, what cannot be decoded is replaced by white space"
    )
