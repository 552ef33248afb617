"""A WordNet of a few words, written as the files of a real synset."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pair2vec.wordnet.dictionary import POS_FILES, WordNet

LICENCE = "  1 This is no part of the dictionary.  \n  2 WordNet, in small.  \n"


class Link(NamedTuple):
    """A pointer to the synset of a name; the numbers are those of words, 0 for the whole."""

    symbol: str
    to: str
    source: int = 0
    target: int = 0


class Meaning(NamedTuple):
    """A synset with a name of its own."""

    name: str
    type: str
    words: tuple[str, ...]
    links: tuple[Link, ...] = ()
    file: int = 3
    """Of the lexicographer."""

    @property
    def pos(self) -> str:
        return "a" if self.type == "s" else self.type


def meaning(name: str, kind: str, words: str, *links: Link, file: int = 3) -> Meaning:
    return Meaning(name, kind, tuple(words.split()), links, file)


SMALL = (
    meaning("entity", "n", "entity"),
    meaning("animal", "n", "animal beast", Link("@", "entity")),
    meaning("carnivore", "n", "carnivore", Link("@", "animal")),
    meaning("canid", "n", "canid", Link("@", "carnivore")),
    meaning("dog", "n", "dog domestic_dog Canis_familiaris", Link("@", "canid")),
    meaning("wolf", "n", "wolf", Link("@", "canid")),
    meaning("feline", "n", "feline", Link("@", "carnivore")),
    meaning("cat", "n", "cat", Link("@", "feline")),
    meaning("chap", "n", "chap dog", Link("@", "entity")),
    meaning("city", "n", "city", Link("@", "entity")),
    meaning("capital", "n", "capital", Link("@", "city")),
    meaning("Paris", "n", "Paris", Link("@i", "capital")),
    meaning("wine", "n", "wine", Link("@", "entity")),
    meaning("red wine", "n", "red_wine", Link("@", "wine")),
    meaning("law officer", "n", "attorney_general", Link("@", "entity")),
    meaning("attorney", "n", "attorney", Link("@", "entity")),
    meaning("custom", "n", "custom", Link("@", "entity")),
    meaning("duty", "n", "duty", Link("@", "entity")),
    meaning("toll", "n", "customs_duty", Link("@", "duty")),
    meaning("boxful", "n", "boxful box", Link("@", "entity")),
    meaning("glass", "n", "glass", Link("@", "entity")),
    meaning("saw", "n", "saw", Link("@", "entity")),
    meaning("see", "v", "see"),
    meaning("saw wood", "v", "saw"),
    meaning("hope", "v", "hope"),
    meaning("hop", "v", "hop"),
    meaning("look", "v", "look"),
    meaning("look up", "v", "look_up"),
    meaning("look around", "v", "look_and_see"),
    meaning("send", "v", "send"),
    meaning("pack", "v", "pack"),
    meaning("dismiss", "v", "send_packing"),
    meaning("hot", "a", "hot warm(p)", Link("!", "cold", 1, 1), Link("&", "scorching")),
    meaning("cold", "a", "cold(a) chilly", Link("!", "hot", 1, 1), Link("&", "icy")),
    meaning("scorching", "s", "scorching", Link("&", "hot")),
    meaning("icy", "s", "icy", Link("&", "cold")),
    meaning("fast", "r", "fast quickly"),
)
EXCEPTIONS = {"v": {"saw": "see", "sent": "send"}, "n": {"wolves": "wolf", "men": "man"}}


def write_wordnet(
    folder: Path,
    meanings: Iterable[Meaning] = SMALL,
    exceptions: Mapping[str, Mapping[str, str]] = EXCEPTIONS,
) -> Path:
    """All twelve files, each synset at the offset that its line and its pointers name."""
    folder.mkdir(parents=True, exist_ok=True)
    meanings = list(meanings)
    offsets = _offsets(meanings)
    for pos, suffix in POS_FILES.items():
        own = [synset for synset in meanings if synset.pos == pos]
        data = [_data_line(synset, meanings, offsets) for synset in own]
        (folder / f"data.{suffix}").write_text(LICENCE + "".join(data))
        (folder / f"index.{suffix}").write_text(LICENCE + "".join(_index_lines(own, offsets)))
        irregular = sorted(exceptions.get(pos, {}).items())
        (folder / f"{suffix}.exc").write_text("".join(f"{f} {base}\n" for f, base in irregular))
    return folder


def small_wordnet(folder: Path, meanings: Iterable[Meaning] = SMALL) -> WordNet:
    return WordNet.open(write_wordnet(folder, meanings))


def _offsets(meanings: list[Meaning]) -> dict[str, int]:
    """A line is as long with any offsets as with the right ones."""
    zeros = {synset.name: 0 for synset in meanings}
    ends = dict.fromkeys(POS_FILES, len(LICENCE))
    offsets = {}
    for synset in meanings:
        offsets[synset.name] = ends[synset.pos]
        ends[synset.pos] += len(_data_line(synset, meanings, zeros))
    return offsets


def _data_line(synset: Meaning, meanings: list[Meaning], offsets: Mapping[str, int]) -> str:
    pos_of = {other.name: other.pos for other in meanings}
    words = "".join(f" {word} 0" for word in synset.words)
    links = "".join(
        f" {symbol} {offsets[to]:08d} {pos_of[to]} {source:02x}{target:02x}"
        for symbol, to, source, target in synset.links
    )
    frames = " 01 + 02 00" if synset.type == "v" else ""
    head = (
        f"{offsets[synset.name]:08d} {synset.file:02d} {synset.type} {len(synset.words):02x}{words}"
    )
    return f'{head} {len(synset.links):03d}{links}{frames} | said of {synset.name}; "a | b"  \n'


def _index_lines(own: list[Meaning], offsets: Mapping[str, int]) -> list[str]:
    senses: defaultdict[str, list[Meaning]] = defaultdict(list)
    for synset in own:
        for word in synset.words:
            senses[word.partition("(")[0].lower()].append(synset)
    lines = []
    for lemma, meanings in sorted(senses.items()):
        symbols = sorted({link.symbol for synset in meanings for link in synset.links})
        counts = f"{len(meanings)} {len(symbols)}{''.join(f' {s}' for s in symbols)}"
        own_offsets = "".join(f" {offsets[synset.name]:08d}" for synset in meanings)
        lines.append(f"{lemma} {meanings[0].pos} {counts} {len(meanings)} 0{own_offsets}  \n")
    return lines
