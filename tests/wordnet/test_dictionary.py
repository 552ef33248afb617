"""WordNet's files: where they are found, what is read from them, and errors that name the line."""

from pathlib import Path

import pytest
from tests.wordnet.real_wordnet import real_wordnet
from tests.wordnet.small_wordnet import meaning, small_wordnet, write_wordnet

from pair2vec.errors import InputError
from pair2vec.wordnet import dictionary
from pair2vec.wordnet.dictionary import ANTONYM, HYPERNYM, SIMILAR, SynsetId, WordNet


def words_of(wordnet: WordNet, lemma: str, pos: str) -> list[tuple[str, ...]]:
    return [wordnet.synset(synset_id).words for synset_id in wordnet.synset_ids(lemma, pos)]


def line_of(path: Path, start: str) -> int:
    lines = path.read_text().split("\n")
    return next(number for number, line in enumerate(lines, start=1) if start in line)


def test_a_lemma_has_its_synsets_in_the_order_of_the_index(tmp_path: Path) -> None:
    wordnet = small_wordnet(tmp_path)
    assert words_of(wordnet, "dog", "n") == [
        ("dog", "domestic_dog", "Canis_familiaris"),
        ("chap", "dog"),
    ]
    assert words_of(wordnet, "canis_familiaris", "n") == [
        ("dog", "domestic_dog", "Canis_familiaris")
    ]
    assert wordnet.has_lemma("dog", "n") and not wordnet.has_lemma("dog", "v")
    assert wordnet.synset_ids("dog", "v") == () == wordnet.synset_ids("unheard", "n")
    # The numbers of the licence's lines are no lemmas.
    assert not wordnet.has_lemma("1", "n") and not wordnet.has_lemma("", "n")


def test_pointers_lead_to_synsets_and_antonyms_to_words(tmp_path: Path) -> None:
    wordnet = small_wordnet(tmp_path)
    (synset_id,) = wordnet.synset_ids("wolf", "n")
    (canid,) = wordnet.synset(synset_id).targets(HYPERNYM)
    assert wordnet.synset(canid).words == ("canid",)
    (hot,) = (wordnet.synset(synset_id) for synset_id in wordnet.synset_ids("hot", "a"))
    antonym, similar = hot.pointers
    assert (antonym.symbol, antonym.source_word, antonym.target_word) == (ANTONYM, 1, 1)
    assert wordnet.synset(antonym.target).words == ("cold", "chilly")
    assert (similar.symbol, similar.source_word, similar.target_word) == (SIMILAR, 0, 0)
    assert similar.target.pos == "a"
    assert wordnet.synset(similar.target).targets(SIMILAR, ANTONYM) == [hot.id]
    assert hot.words == ("hot", "warm")


def test_word_numbers_of_pointers_are_hexadecimal(tmp_path: Path) -> None:
    folder = write_wordnet(tmp_path)
    path = folder / "data.adj"
    path.write_text(path.read_text().replace(" a 0101", " a 1f0a"))
    wordnet = WordNet.open(folder)
    (synset_id,) = wordnet.synset_ids("hot", "a")
    assert wordnet.synset(synset_id).pointers[0][2:] == (31, 10)


def test_a_folder_of_the_files_or_the_one_around_it_is_wordnet(tmp_path: Path) -> None:
    write_wordnet(tmp_path / "WordNet-3.0" / "dict")
    for folder in (tmp_path / "WordNet-3.0", str(tmp_path / "WordNet-3.0" / "dict")):
        assert WordNet.open(folder).folder == tmp_path / "WordNet-3.0" / "dict"


def test_wordnet_is_in_the_folder_of_the_environment_variable_else_in_a_default_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    default, other = write_wordnet(tmp_path / "default"), write_wordnet(tmp_path / "other" / "dict")
    monkeypatch.setattr(dictionary, "DEFAULT_FOLDERS", (tmp_path / "nowhere", default))
    monkeypatch.delenv("WORDNET", raising=False)
    assert WordNet.open().folder == default
    monkeypatch.setenv("WORDNET", str(other.parent))
    assert WordNet.open().folder == other
    assert WordNet.open(default).folder == default
    # A named folder is never replaced by a default one.
    monkeypatch.setenv("WORDNET", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="nowhere: no such folder; to have WordNet, get it with"):
        WordNet.open()


def test_without_wordnet_the_error_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORDNET", raising=False)
    monkeypatch.setattr(dictionary, "DEFAULT_FOLDERS", (tmp_path,))
    with pytest.raises(InputError, match="WordNet is not on this machine; get it with 'apt-get"):
        WordNet.open()
    folder = write_wordnet(tmp_path / "dict")
    (folder / "verb.exc").unlink()
    with pytest.raises(InputError, match=r"not WordNet, it has no verb\.exc; get it with"):
        WordNet.open(tmp_path)


@pytest.mark.parametrize(
    ("found", "instead", "problem"),
    [
        (" n 01 wolf 0 001 @ ", " n 01 wolf 0 002 @ ", "ends before its last word or pointer"),
        (" n 01 wolf 0", " n 00 wolf 0", "ends before its last word or pointer"),
        (" n 01 wolf 0", " n zz wolf 0", "invalid literal"),
        (" n 01 wolf 0", " v 01 wolf 0", "expected a synset of type 'n', got 'v'"),
        (" n 01 wolf 0", " q 01 wolf 0", "'q' is no type of synset"),
        (" 03 n 01 wolf 0", "x03 n 01 wolf 0", "expected the synset of offset 0000"),
        (" wolf 0 001 @", " wolf 0 001 \xff", "codec can't decode"),
    ],
)
def test_a_damaged_synset_is_named_with_its_line(
    found: str, instead: str, problem: str, tmp_path: Path
) -> None:
    path = write_wordnet(tmp_path) / "data.noun"
    number = line_of(path, " wolf 0")
    content = path.read_bytes()
    assert content.count(found.encode()) == 1
    path.write_bytes(content.replace(found.encode(), instead.encode("latin-1")))
    wordnet = WordNet.open(tmp_path)
    (synset_id,) = wordnet.synset_ids("wolf", "n")
    with pytest.raises(InputError, match=rf"data\.noun, line {number}: .*{problem}.*; get WordNet"):
        wordnet.synset(synset_id)
    # Other synsets are still read.
    assert words_of(wordnet, "canid", "n") == [("canid",)]


def test_a_file_cut_off_is_found_damaged_where_it_ends(tmp_path: Path) -> None:
    path = write_wordnet(tmp_path) / "data.adv"
    path.write_bytes(path.read_bytes()[:-3])
    wordnet = WordNet.open(tmp_path)
    (synset_id,) = wordnet.synset_ids("fast", "r")
    with pytest.raises(InputError, match=r"data\.adv, line 3: expected the synset of offset 0000"):
        wordnet.synset(synset_id)
    with pytest.raises(InputError, match=r"data\.adv, line 3: expected the synset of offset 01"):
        wordnet.synset(SynsetId("r", 10**6))


@pytest.mark.parametrize(
    ("instead", "problem"),
    [
        ("wolf n 2 1 @ 1 0", "expected 2 offsets after 1 symbols"),
        ("wolf n 0 2 @ 1 0", "expected 0 offsets"),
        ("wolf n x 1 @ 1 0", "invalid literal"),
        ("wolf n 1 1 @ 1 0 x", "expected 1 offsets"),
    ],
)
def test_a_damaged_line_of_the_index_is_named(instead: str, problem: str, tmp_path: Path) -> None:
    path = write_wordnet(tmp_path) / "index.noun"
    number = line_of(path, "wolf n")
    path.write_text(path.read_text().replace("wolf n 1 1 @ 1 0", instead))
    wordnet = WordNet.open(tmp_path)
    with pytest.raises(InputError, match=rf"index\.noun, line {number}: {problem}"):
        wordnet.synset_ids("wolf", "n")
    assert len(wordnet.synset_ids("canid", "n")) == 1
    path.write_text("wolf")
    with pytest.raises(InputError, match=r"index\.noun, line 1: expected a lemma"):
        WordNet.open(tmp_path).synset_ids("wolf", "n")


def test_other_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (write_wordnet(tmp_path) / "noun.exc").write_text("wolves wolf\nmen\n")
    with pytest.raises(InputError, match=r"noun\.exc, line 2: expected a form and its base forms"):
        WordNet.open(tmp_path).irregular_bases("wolves", "n")
    (tmp_path / "verb.exc").write_bytes(b"saw see\nwas \xff\n")
    with pytest.raises(InputError, match=r"verb\.exc, line 2: is not text"):
        WordNet.open(tmp_path).irregular_bases("saw", "v")
    wordnet = WordNet.open(tmp_path)
    (tmp_path / "data.adj").unlink()
    with pytest.raises(InputError, match=r"data\.adj: cannot be read: No such file"):
        wordnet.synset(SynsetId("a", 0))


def test_every_lemma_of_the_real_wordnet_is_in_its_synsets() -> None:
    wordnet = real_wordnet()
    assert len(wordnet.synset_ids("dog", "n")) == 7
    for pos, suffix in (("v", "verb"), ("r", "adv")):
        lines = (wordnet.folder / f"index.{suffix}").read_text().splitlines()
        lemmas = [line.split()[0] for line in lines if not line.startswith(" ")]
        assert len(lemmas) > 4000
        for lemma in lemmas:
            for words in words_of(wordnet, lemma, pos):
                assert lemma in {word.lower() for word in words}


def test_senses_are_counted_by_their_number_and_part_of_speech(tmp_path: Path) -> None:
    folder = write_wordnet(tmp_path)
    (folder / "cntlist.rev").write_text(
        "dog%1:03:00:: 1 42\nsaw%1:03:00:: 1 3\nsaw%2:30:00:: 1 7\nicy%5:00:00:cold:00 1 2\n"
        "dog%1:03:09:: 9 1\nunheard%1:03:00:: 1 5\n"
    )
    wordnet = WordNet.open(folder)
    assert wordnet.sense_counts("dog", "n") == (42, 0)
    assert (wordnet.sense_counts("saw", "n"), wordnet.sense_counts("saw", "v")) == ((3,), (7,))
    assert wordnet.sense_counts("icy", "a") == (2,)
    assert wordnet.sense_counts("dog", "v") == () == wordnet.sense_counts("unheard", "n")


def test_a_wordnet_without_counts_has_senses_that_were_never_counted(tmp_path: Path) -> None:
    assert small_wordnet(tmp_path).sense_counts("dog", "n") == (0, 0)
    (tmp_path / "cntlist.rev").write_text("")
    assert WordNet.open(tmp_path).sense_counts("dog", "n") == (0, 0)


@pytest.mark.parametrize(
    "line", ["", "dog", "dog%1:03:00:: 1", "dog%1:03:00:: 1 x", "dog%9:03:00:: 1 2", "dog 1 2"]
)
def test_a_damaged_line_of_counts_is_named(line: str, tmp_path: Path) -> None:
    folder = write_wordnet(tmp_path)
    (folder / "cntlist.rev").write_text(f"cat%1:03:00:: 1 2\n{line}\nwolf%1:03:00:: 1 2\n")
    with pytest.raises(InputError, match=r"cntlist\.rev, line 2: expected a sense key, .*a count;"):
        WordNet.open(folder).sense_counts("dog", "n")


def test_a_synset_has_the_number_of_its_lexicographer_file(tmp_path: Path) -> None:
    places = [meaning("Paris", "n", "Paris", file=15), meaning("glass", "n", "glass", file=6)]
    wordnet = small_wordnet(tmp_path, places)
    (paris,), (glass,) = wordnet.synset_ids("paris", "n"), wordnet.synset_ids("glass", "n")
    assert wordnet.synset(paris).lexicographer_file == dictionary.LOCATION
    assert wordnet.synset(glass).lexicographer_file == 6


def test_the_real_wordnet_counts_and_files_its_senses() -> None:
    wordnet = real_wordnet()
    einstein = wordnet.synset(wordnet.synset_ids("albert_einstein", "n")[0])
    france = wordnet.synset(wordnet.synset_ids("france", "n")[0])
    assert einstein.lexicographer_file == dictionary.PERSON
    assert france.lexicographer_file == dictionary.LOCATION
    if (wordnet.folder / dictionary.COUNTS_FILE).exists():
        counts = wordnet.sense_counts("dog", "n")
        assert len(counts) == 7
        assert counts[0] > 10 * max(counts[1:])
