"""Roget's thesaurus as knowledge of the teachers: words under one head, and under opposed heads.

Roget put opposites beside each other: *716. Attack* is followed by *717. Defense*, and the verbs of
both are mostly antonyms of each other. Nearly every second pair of successive heads is opposed;
which ones are, is told by how many of their words differ by an affix of opposites alone.

Reads the text of 1911, as Project Gutenberg publishes it: a head begins with its number and title,
its nouns, verbs, adjectives and adverbs are marked, in paragraphs of groups between semicolons.

Shapes: N base forms, M places of a word, B pairs, F features.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pair2vec.arrays import Int64Array
from pair2vec.errors import InputError
from pair2vec.teaching.vector_teacher import Features

_HEAD = re.compile(r"^ *(?=\d{1,4}[a-z]?\. [^-]{0,160}?-- ?[A-Z])", re.MULTILINE)
_TITLE = re.compile(r"(\d+)([a-z]?)\. (.*?)--", re.DOTALL)
_POS = re.compile(r"(?:^|(?<=--)) *(N|V|Adj|Adv|Phr|Int|Prep|Pron)\b\.?", re.MULTILINE)
_POS_READ = ("N", "V", "Adj", "Adv")
_REFERENCE = re.compile(r"&c\b *(?:(?:adj|adv|n|v)\.)?(?: *\([^()]*\))?(?: *\d+[a-z]?)?")
_NOTE = re.compile(r"\{[^{}]*\}|\([^()]*\)")
_LABELLED = re.compile(r"[^,;.]*\[[^\[\]]*\]")
"""A phrase and its label: most are of another language."""
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")

_MOST_PLACES = 8
"""Of a word, those in the first groups of their heads; one in eight has more."""


class Place(NamedTuple):
    """Where a word stands."""

    head: int
    """Its number times 100, plus one for *a*, two for *b*."""
    pos: int
    paragraph: int
    group: int
    """Paragraphs and groups are numbered through the book."""
    order: int
    """Of the group among those of its head and part of speech: the first ones say it best."""


_NUMBERING = 100
_MOST_BEHIND = 3
"""Heads *a* and *b* of a number stand between it and the next."""


def read_roget(path: Path) -> Iterator[tuple[str, Place]]:
    """The single words of the thesaurus, each with its place.

    Raises:
        InputError: it has no heads.
    """
    text = html.unescape(html.unescape(path.read_text(encoding="utf-8", errors="replace")))
    paragraphs = groups = 0
    starts = [match.start() for match in _HEAD.finditer(text)]
    if not starts:
        raise InputError(f"{path}: no heads of Roget's thesaurus; give Project Gutenberg's text")
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        entry = text[start:end].strip()
        title = _TITLE.match(entry)
        if title is None:
            continue
        head = int(title[1]) * _NUMBERING + (ord(title[2]) - ord("a") + 1 if title[2] else 0)
        for pos, block in _blocks(entry):
            before = groups + 1
            for paragraph in re.split(r"\n {3,}(?=\S)", block):
                paragraphs += 1
                for group in _plain(paragraph).split(";"):
                    groups += 1
                    for word in map(_single_word, group.split(",")):
                        if word:
                            place = Place(head, pos, paragraphs, groups, groups - before)
                            yield word, place


def _blocks(entry: str) -> Iterator[tuple[int, str]]:
    """The parts of speech that are read, each with its text."""
    marks = list(_POS.finditer(entry))
    ends = [*(mark.start() for mark in marks[1:]), len(entry)]
    for mark, end in zip(marks, ends, strict=True):
        if mark[1] in _POS_READ:
            # Two empty lines end a head; a title of the next section may follow.
            yield _POS_READ.index(mark[1]), entry[mark.end() : end].split("\n\n\n")[0]


def _plain(paragraph: str) -> str:
    joined = " ".join(paragraph.split())
    return _LABELLED.sub("", _NOTE.sub(" ", _REFERENCE.sub(" ", joined)))


def _single_word(phrase: str) -> str | None:
    words = phrase.strip(" .!?").lower()
    return words if _WORD.fullmatch(words) else None


@dataclass(frozen=True)
class Places:
    """Where the base forms of a vocabulary stand."""

    of_forms: Int64Array
    """The head's index, and as in `Place` the part of speech, paragraph, group and order of each of
    a form's places, (N, M, 5); -1 where there are fewer."""
    opposition: Int64Array
    """Of each head and those behind it, by how many of their words opposites by affix they are, (H,
    D); -1 where the heads are not successive, as no head is with itself."""

    def pairs(self) -> Int64Array:
        """Forms of one group, and of opposed heads and one part of speech, (2, P)."""
        rows, columns = np.nonzero(self.of_forms[:, :, 0] >= 0)
        places = self.of_forms[rows, columns]
        found = list(_within(rows, places[:, 3]))
        by_head: dict[tuple[int, int], Int64Array] = {
            (head, pos): rows[(places[:, 0] == head) & (places[:, 1] == pos)]
            for head, pos in np.unique(places[:, :2], axis=0).tolist()
        }
        for (head, pos), own in by_head.items():
            for behind in np.flatnonzero(self.opposition[head] >= 0).tolist():
                other = by_head.get((head + behind, pos))
                if other is not None:
                    grid = np.meshgrid(own, other, indexing="ij")
                    found.append(np.stack([axis.ravel() for axis in grid]))
        return np.concatenate([np.zeros((2, 0), np.int64), *found], axis=1)

    def features(self, base: Tensor) -> Features:
        """Of a pair (B, F): how near each other the words stand, and whether in opposed heads.

        Args:
            base: The number of each word's base form, (V,), on the device of the features.
        """
        table = torch.from_numpy(self.of_forms).to(base.device, torch.int32)
        opposition = torch.from_numpy(self.opposition).to(base.device, torch.int32)
        count = (table[:, :, 0] >= 0).sum(dim=1).float().log1p()

        def features(x: Tensor, y: Tensor) -> Tensor:
            a, b = base[x], base[y]
            shared = x.new_zeros(len(x), _PLACE_FEATURES, dtype=torch.float32)
            # Most pairs have a word that the thesaurus lacks.
            rows = ((count[a] > 0) & (count[b] > 0)).nonzero().flatten()
            shared[rows] = _place_features(table[a[rows]], table[b[rows]], opposition)
            return torch.cat([shared, count[a][:, None], count[b][:, None]], dim=1)

        return features


_PLACE_FEATURES = 11


def _place_features(first: Tensor, second: Tensor, opposition: Tensor) -> Tensor:
    """Of the places of two forms, (B, M, 5) each: what any two of them share, (B, F)."""
    head_a, pos_a, paragraph_a, group_a, order_a = first[:, :, None].unbind(dim=-1)
    head_b, pos_b, paragraph_b, group_b, order_b = second[:, None].unbind(dim=-1)
    there = (head_a >= 0) & (head_b >= 0)
    same_pos, distance = pos_a == pos_b, (head_a - head_b).abs()
    earlier = torch.minimum(head_a, head_b).clamp(min=0)
    most = opposition.shape[1]
    opposed = opposition[earlier, distance.clamp(max=most - 1)]
    opposed = torch.where(there & (distance < most), opposed, -1)
    same_head, opposed_pos = there & (distance == 0), (opposed >= 0) & same_pos
    core = 1 / (1 + order_a.clamp(min=0) + order_b.clamp(min=0)).float()
    same_paragraph = there & (paragraph_a == paragraph_b)
    values = [
        there & (group_a == group_b),
        same_paragraph,
        same_head & same_pos,
        same_head,
        opposed >= 0,
        opposed_pos,
        (opposed + 1).float().log1p() * same_pos,
        core * (same_head & same_pos),
        core * opposed_pos,
    ]
    best = [value.flatten(1).amax(dim=1).float() for value in values]
    sums = [value.flatten(1).sum(dim=1).float().log1p() for value in (same_paragraph, opposed_pos)]
    return torch.stack([*best, *sums], dim=1)


def _within(rows: Int64Array, groups: Int64Array) -> Iterator[Int64Array]:
    """The pairs of forms of each group, (2, P)."""
    order = np.argsort(groups, kind="stable")
    bounds = np.flatnonzero(np.diff(groups[order])) + 1
    for own in np.split(rows[order], bounds):
        yield own[np.stack(np.triu_indices(len(own), 1))]


def find_places(
    path: Path, number: Callable[[str], int], count: int, opposites: Iterable[tuple[int, int]]
) -> Places:
    """The places of base forms.

    Args:
        path: Of the thesaurus.
        number: Of a word's base form, -1 for one that no word of the vocabulary has.
        count: Of the base forms.
        opposites: Base forms that differ by an affix of opposites.
    """
    found: dict[int, list[Place]] = {}
    for word, place in read_roget(path):
        form = number(word)
        if form >= 0:
            found.setdefault(form, []).append(place)
    heads = sorted({place.head for own in found.values() for place in own})
    index = {head: n for n, head in enumerate(heads)}
    of_forms = np.full((count, _MOST_PLACES, len(Place._fields)), -1, np.int64)
    for form, own in found.items():
        rows = list(dict.fromkeys(place._replace(head=index[place.head]) for place in own))
        rows = sorted(rows, key=lambda place: place.order)[:_MOST_PLACES]
        of_forms[form, : len(rows)] = rows
    return Places(of_forms, _opposition(heads, of_forms, opposites))


def _opposition(
    heads: Sequence[int], of_forms: Int64Array, opposites: Iterable[tuple[int, int]]
) -> Int64Array:
    numbers = np.array(heads, np.int64) // _NUMBERING
    opposition = np.full((len(heads), _MOST_BEHIND + 1), -1, np.int64)
    for behind in range(1, _MOST_BEHIND + 1):
        successive = np.flatnonzero(numbers[behind:] - numbers[:-behind] <= 1)
        opposition[successive, behind] = 0
    for one, other in opposites:
        own, others = (
            {(int(p[0]), int(p[1])) for p in of_forms[form] if p[0] >= 0} for form in (one, other)
        )
        for head, pos in own:
            for second, _ in (place for place in others if place[1] == pos):
                first, behind = min(head, second), abs(head - second)
                if behind <= _MOST_BEHIND and opposition[first, behind] >= 0:
                    opposition[first, behind] += 1
    return opposition
