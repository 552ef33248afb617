"""Where sentences end: rule 2 of `sentences`, told from a chunk and the one after it."""

import re
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from pair2vec.text.chunks import Chunks

# Followed by a name, so never the end of a sentence.
_TITLES = """Mr Mrs Ms Mx Dr Prof St Ste Mt Ft Rev Fr Sr Msgr Hon Gen Col Lt Maj Capt Cpt Sgt Cpl
    Cmdr Cdr Adm Gov Sen Rep Pres Supt Amb Mme Mlle vs cf viz ca approx resp e.g i.e""".split()
# Followed by a number when they are abbreviations: "No. 5", but "He said no. Five left."
_NUMBERED = """No Nos Nr no nos nr p pp Vol vol Vols vols Fig fig Figs figs Eq eq Ch ch Sec sec Art
    art Op op Pt pt Ed ed c Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec""".split()
# After an initial or an acronym a capital proves nothing; these words do.
_STARTERS = """The This That These Those There Then They He She It We You I His Her Its Their Our My
    In On At By For From After Before During When While Where Since As If Although However But And
    Some Many Most Both Each One Two Other Another According Under With Until Also An""".split()

_END_MARKS = frozenset(".!?…")
_CLOSERS = "\"')]»"
_OPENERS = r"""["'(\[«]"""

_BREAKS = np.array(
    [  # before: no start, a digit, a starter, another start
        [False, False, False, False],  # after no end
        [False, False, True, False],  # after an initial or an acronym
        [False, False, True, True],  # after the abbreviation of what is numbered
        [False, True, True, True],  # after another end
    ]
)
"""Whether a sentence ends between two chunks: a row for the first, a column for the second."""


def _ends_one_of(words: Iterable[str]) -> str:
    """What follows the point of one of `words`: a look-behind a length, as Python wants them."""
    by_length: dict[int, list[str]] = {}
    for word in words:
        by_length.setdefault(len(word), []).append(re.escape(word))
    return "|".join(rf"(?<=\b(?:{'|'.join(group)})\.)" for group in by_length.values())


# Matched behind the point. The number of the group is the row of _BREAKS.
_ABBREVIATION = re.compile(
    rf"""
    (?<! \w{{7}}\. )                            # none is that long
    (?: {_ends_one_of(_TITLES)}
      | (?<= \b[^\W\d_]\. ) (?: (\Z) | )        # an initial, or the end of an acronym
      | (?: {_ends_one_of(_NUMBERED)} ) (\Z)
    )
    """,
    re.VERBOSE,
)
_ANOTHER_END = 3
# The number of the group is the column of _BREAKS.
_START = re.compile(rf"(\d) | ((?:{'|'.join(_STARTERS)})\b) | {_OPENERS}* ([^\W_])", re.VERBOSE)


def sentence_ends(chunks: Chunks) -> Iterator[NDArray[np.bool_]]:
    """For each block of chunks, behind which of them a sentence ends inside a line."""
    blocks, distinct = chunks
    end_kinds = np.fromiter(map(_end_kind, distinct), np.uint8, len(distinct))
    for numbers in blocks:
        places = np.flatnonzero(end_kinds[numbers])
        following, which = np.unique(numbers[places + 1], return_inverse=True)
        start_kinds = np.array([_start_kind(distinct[n]) for n in following.tolist()], np.uint8)
        ends = np.zeros(len(numbers), np.bool_)
        ends[places] = _BREAKS[end_kinds[numbers[places]], start_kinds[which]]
        yield ends


def _end_kind(chunk: str) -> int:
    """The row of `_BREAKS` for `chunk`."""
    stem = chunk.rstrip(_CLOSERS)
    if stem[-1:] not in _END_MARKS:
        return 0
    abbreviation = _ABBREVIATION.match(chunk, len(stem))
    return (abbreviation.lastindex or 0) if abbreviation else _ANOTHER_END


def _start_kind(chunk: str) -> int:
    """The column of `_BREAKS` for `chunk`."""
    start = _START.match(chunk)
    if start is None or start.group(start.lastindex or 0).islower():
        return 0
    return start.lastindex or 0
