"""Values of a data set's JSON: whether they are text, and how a message names them."""

import reprlib

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 40


def is_text(value: object) -> bool:
    """Whether a value is a string of characters; half a surrogate pair is none."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def short_repr(value: object) -> str:
    """A value in a message of one line, however long or nested it is."""
    return _SHORT.repr(value)
