"""What a thesaurus and a dictionary say of words: their formats, links, and features of pairs."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.wordnet.small_wordnet import Link, meaning, write_wordnet

from pair2vec.errors import InputError
from pair2vec.teaching.lexical_resources import (
    LINK_KINDS,
    LexicalFiles,
    LexicalLinks,
    find_links,
    parse_entry,
    read_dictionary,
    read_thesaurus,
)
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, WordCount
from pair2vec.wordnet.dictionary import WordNet

CPU = torch.device("cpu")
HOT = r"""Hot \Hot\, a. [Compar. {Hotter}; superl. {Hottest}.] [OE. hot,
   hat, AS. h[=a]t; akin to OS. h[=e]t.]
   1. Having much sensible heat; very warm; -- opposed to cold, and
      exceeding warm in degree; as, a stove. "A pasty." --Shak.
      [1913 Webster]

            There was mouthing in hot haste.      --Byron.
      [1913 Webster]

   2. Acrid; biting.
      [1913 Webster]

   3. Recently stolen.
      [WordNet 1.5]

   4. Newly made.
      [1913 Webster + WordNet 1.5]

   {Hot bed} (Iron Manuf.), an iron platform in a rolling mill.
      [1913 Webster]

   Syn: Burning; fiery; very eager; to glow.
        [1913 Webster]
"""
WARM = "Warm \\Warm\\, a.\n   Not hot; the reverse of {cool}.\n   [1913 Webster]\n"
ENTRIES = {"Hot": HOT, "warm": WARM, "in short": "In short, briefly.\n   [1913 Webster]\n"}
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
WORDS = [*(f"the{n}" for n in range(120)), *"hot cold warm cool acrid fiery hots stone".split()]


def number(value: int) -> str:
    digits = BASE64[value % 64]
    return number(value // 64) + digits if value >= 64 else digits


def write_dictionary(folder: Path, suffix: str = ".dict") -> Path:
    """The index of a dictionary of dictd."""
    start, lines, text = 0, [], b""
    for headword, entry in ENTRIES.items():
        own = entry.encode()
        lines.append(f"{headword}\t{number(start)}\t{number(len(own))}\n")
        start, text = start + len(own), text + own
    index = folder / "small.index"
    index.write_text("".join(lines))
    index.with_suffix(suffix).write_bytes(gzip.compress(text) if suffix == ".dict.dz" else text)
    return index


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary([WordCount(word, len(WORDS) - n) for n, word in enumerate(WORDS)])


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary) -> LexicalLinks:
    folder = tmp_path_factory.mktemp("lexical")
    thesaurus = folder / "thesaurus.txt"
    thesaurus.write_text("hot,Fiery,red hot,unknown\ncold,cool\nstone\n")
    meanings = [
        meaning("hot", "a", "hot", Link("!", "cold", 1, 1)),
        meaning("cold", "a", "cold", Link("!", "hot", 1, 1)),
        meaning("hot_n", "n", "hot"),
    ]
    wordnet = WordNet.open(write_wordnet(folder / "wordnet", meanings, {}))
    files = LexicalFiles(thesaurus, write_dictionary(folder))
    return find_links(files, vocabulary, wordnet)


def strength(links: LexicalLinks, vocabulary: Vocabulary, x: str, y: str, kind: str) -> float:
    key = links.base[vocabulary.ids[x]] * len(links.first) + links.base[vocabulary.ids[y]]
    row = np.flatnonzero(links.keys == key)
    return float(links.values[row, LINK_KINDS.index(kind)].sum())


def test_an_entry_has_its_definitions_synonyms_and_opposites() -> None:
    entry = parse_entry(HOT)
    assert entry.senses == [
        "having much sensible heat very warm".split(),
        ["acrid", "biting"],
    ]
    assert entry.synonyms == ["burning", "fiery", "glow"]
    assert entry.opposites == ["cold"]
    assert parse_entry(WARM).opposites == ["cool"]


def test_what_a_dictionary_took_from_wordnet_is_not_read() -> None:
    words = {word for sense in parse_entry(HOT).senses for word in sense}
    assert words.isdisjoint({"recently", "stolen", "newly", "made"})


@pytest.mark.parametrize("suffix", [".dict", ".dict.dz"])
def test_a_dictionary_is_read_plain_or_compressed(tmp_path: Path, suffix: str) -> None:
    entries = dict(read_dictionary(write_dictionary(tmp_path, suffix)))
    assert entries == {"hot": parse_entry(HOT), "warm": parse_entry(WARM)}


def test_a_thesaurus_lists_words_under_a_head(tmp_path: Path) -> None:
    path = tmp_path / "thesaurus.txt"
    path.write_text("Hot, Red Hot,fiery\n\nstone\n")
    assert list(read_thesaurus(path)) == [["hot", "red hot", "fiery"]]


def test_damaged_files_are_named_in_one_line(tmp_path: Path) -> None:
    index = write_dictionary(tmp_path, ".dict.dz")
    packed = index.with_suffix(".dict.dz")
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"small\.dict\.dz: is damaged"):
        list(read_dictionary(index))
    packed.unlink()
    with pytest.raises(InputError, match=r"it belongs to small\.index"):
        list(read_dictionary(index))
    with pytest.raises(InputError, match="no such index"):
        list(read_dictionary(tmp_path / "other.index"))
    write_dictionary(tmp_path)
    index.write_text("hot\tA\n")
    with pytest.raises(InputError, match="is no index of dictd"):
        list(read_dictionary(index))
    index.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is no index of dictd"):
        list(read_dictionary(index))
    index.write_text("hot\tA\t!\n")
    with pytest.raises(InputError, match="is no index of dictd"):
        list(read_dictionary(index))
    index.write_text(f"hot\tA\t{number(10**6)}\n")
    with pytest.raises(InputError, match=r"is too short for small\.index"):
        list(read_dictionary(index))
    thesaurus = tmp_path / "thesaurus.txt"
    thesaurus.write_bytes(b"hot,\xff\n")
    with pytest.raises(InputError, match="no text in UTF-8"):
        list(read_thesaurus(thesaurus))


def test_links_lead_from_heads_to_what_is_said_of_them(
    links: LexicalLinks, vocabulary: Vocabulary
) -> None:
    def of(x: str, y: str, kind: str) -> float:
        return strength(links, vocabulary, x, y, kind)

    assert of("hot", "fiery", "listed") == of("hot", "fiery", "synonym") == 1
    assert of("fiery", "hot", "listed") == 0
    assert of("hot", "cold", "opposed") == of("warm", "cool", "opposed") == 1
    # One over the position in a definition: *acrid* is the first of its own.
    assert of("hot", "acrid", "defined") == 1
    assert 0 < of("hot", "warm", "defined") < 1
    # Forms have the links of their base form.
    assert of("hots", "fiery", "listed") == 1


def test_linked_pairs_are_candidates_by_the_most_frequent_form(
    links: LexicalLinks, vocabulary: Vocabulary
) -> None:
    pairs = {tuple(vocabulary.words[n] for n in pair) for pair in links.pairs().T.tolist()}
    assert {("hot", "fiery"), ("cold", "cool"), ("hot", "cold"), ("hot", "acrid")} <= pairs
    # That *warm* is one of many words of a definition is no candidate.
    assert ("hot", "warm") not in pairs


def test_features_of_the_swapped_pair_have_its_links_swapped(
    links: LexicalLinks, vocabulary: Vocabulary
) -> None:
    size = len(vocabulary)
    vectors = np.random.default_rng(0).standard_normal((size, 8)).astype(np.float32)
    features = links.features(vectors, CPU)
    ids = torch.arange(len(SPECIAL_TOKENS), size)
    x, y = ids, ids.flip(0)
    forward, backward = features(x, y), features(y, x)
    count = len(LINK_KINDS) + 1
    assert torch.equal(forward[:, :count], backward[:, count : 2 * count])
    hot, fiery = (torch.tensor([vocabulary.ids[word]]) for word in ("hot", "fiery"))
    assert features(hot, fiery)[0, :4].tolist() == [1, 0, 1, 0]
    assert features(fiery, hot)[0, :4].tolist() == [0, 0, 0, 0]
    assert torch.isfinite(forward).all()


def test_files_without_a_known_word_give_features_without_links(
    tmp_path: Path, vocabulary: Vocabulary
) -> None:
    thesaurus = tmp_path / "thesaurus.txt"
    thesaurus.write_text("unknown,other\n")
    meanings = [meaning("hot", "a", "hot")]
    wordnet = WordNet.open(write_wordnet(tmp_path / "wordnet", meanings, {}))
    links = find_links(LexicalFiles(thesaurus), vocabulary, wordnet)
    assert links.pairs().shape == (2, 0)
    features = links.features(np.ones((len(vocabulary), 3), np.float32), CPU)
    found = features(torch.tensor([130]), torch.tensor([131]))
    assert torch.isfinite(found).all()
    assert not found[0, : 2 * (len(LINK_KINDS) + 1)].any()
