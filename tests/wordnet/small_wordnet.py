"""A WordNet of a few words, written as the files of a real one."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pair2vec.wordnet.dictionary import WordNet

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
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

    @property
    def part(self) -> str:
        return "a" if self.type == "s" else self.type


def meaning(name: str, kind: str, words: str, *links: Link) -> Meaning:
    return Meaning(name, kind, tuple(words.split()), links)


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
    for part, ending in FILES.items():
        own = [one for one in meanings if one.part == part]
        data = [_data_line(one, meanings, offsets) for one in own]
        (folder / f"data.{ending}").write_text(LICENCE + "".join(data))
        (folder / f"index.{ending}").write_text(LICENCE + "".join(_index_lines(own, offsets)))
        irregular = sorted(exceptions.get(part, {}).items())
        (folder / f"{ending}.exc").write_text("".join(f"{f} {base}\n" for f, base in irregular))
    return folder


def small_wordnet(folder: Path, meanings: Iterable[Meaning] = SMALL) -> WordNet:
    return WordNet.open(write_wordnet(folder, meanings))


def _offsets(meanings: list[Meaning]) -> dict[str, int]:
    """A line is as long with any offsets as with the right ones."""
    nowhere = {one.name: 0 for one in meanings}
    ends = dict.fromkeys(FILES, len(LICENCE))
    found = {}
    for one in meanings:
        found[one.name] = ends[one.part]
        ends[one.part] += len(_data_line(one, meanings, nowhere))
    return found


def _data_line(one: Meaning, meanings: list[Meaning], offsets: Mapping[str, int]) -> str:
    part_of = {other.name: other.part for other in meanings}
    words = "".join(f" {word} 0" for word in one.words)
    links = "".join(
        f" {symbol} {offsets[to]:08d} {part_of[to]} {source:02x}{target:02x}"
        for symbol, to, source, target in one.links
    )
    frames = " 01 + 02 00" if one.type == "v" else ""
    head = f"{offsets[one.name]:08d} 03 {one.type} {len(one.words):02x}{words}"
    return f'{head} {len(one.links):03d}{links}{frames} | said of {one.name}; "a | b"  \n'


def _index_lines(own: list[Meaning], offsets: Mapping[str, int]) -> list[str]:
    senses: defaultdict[str, list[Meaning]] = defaultdict(list)
    for one in own:
        for word in one.words:
            senses[word.partition("(")[0].lower()].append(one)
    lines = []
    for lemma, meanings in sorted(senses.items()):
        symbols = sorted({link.symbol for one in meanings for link in one.links})
        counts = f"{len(meanings)} {len(symbols)}{''.join(f' {s}' for s in symbols)}"
        places = "".join(f" {offsets[one.name]:08d}" for one in meanings)
        lines.append(f"{lemma} {meanings[0].part} {counts} {len(meanings)} 0{places}  \n")
    return lines
