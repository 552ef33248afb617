"""Published sets of analogies are read as they are published, and a bad line is named."""

import os
from pathlib import Path

import pytest

from pair2vec.errors import InputError, UsageError
from pair2vec.evaluation.analogies import Entry, Question, Relation
from pair2vec.evaluation.analogy_sets import chosen, read_analogies

CAPITALS = "3_Encyclopedic_semantics/E01 [country - capital].txt"
PLURALS = "1_Inflectional_morphology/I01 [noun - plural_reg].txt"
GOOGLE = """: capital-world
Athens Greece Baghdad Iraq
Athens Greece Bern Switzerland

: gram1-adjective-to-adverb
amazing amazingly calm calmly
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_each_ordered_pair_of_two_entries_is_a_question(tmp_path: Path) -> None:
    write(tmp_path, CAPITALS, "peru\tlima\nfrance\tparis\njapan\ttokyo/kyoto\n")
    (relation,) = read_analogies(tmp_path)
    peru, france, japan = (
        Entry("peru", ("lima",)),
        Entry("france", ("paris",)),
        Entry("japan", ("tokyo", "kyoto")),
    )
    assert relation.name == "E01 [country - capital]"
    assert relation.group == "encyclopedic"
    assert set(relation.questions) == {
        *(Question(peru, france), Question(peru, japan), Question(france, peru)),
        *(Question(france, japan), Question(japan, peru), Question(japan, france)),
    }
    assert len(relation.questions) == 6


def test_a_folders_number_names_its_group(tmp_path: Path) -> None:
    for number, letter in enumerate("IDEL", start=1):
        write(tmp_path, f"{number}_some_group/{letter}01 [some].txt", "a\tb\nc\td\n")
    write(tmp_path, "metadata.json", "{}")
    groups = {relation.name[0]: relation.group for relation in read_analogies(tmp_path)}
    assert groups == {
        "I": "inflectional",
        "D": "derivational",
        "E": "encyclopedic",
        "L": "lexicographic",
    }


def test_oddities_of_the_published_files_are_read_over(tmp_path: Path) -> None:
    # Windows' ends of lines, slashes at the end, blank lines.
    write(tmp_path, CAPITALS, "peru\tlima\r\n\nfrance\tparis/\r\n")
    (relation,) = read_analogies(tmp_path)
    assert relation.questions[0] == Question(Entry("peru", ("lima",)), Entry("france", ("paris",)))


@pytest.mark.parametrize(
    "line", ["peru lima", "peru", "peru\t", "peru\t/", "\tlima", "peru\tlima\tpisco"]
)
def test_a_malformed_line_is_named_by_file_and_line(tmp_path: Path, line: str) -> None:
    path = write(tmp_path, CAPITALS, f"france\tparis\n{line}\n")
    with pytest.raises(InputError) as raised:
        read_analogies(tmp_path)
    assert str(raised.value).startswith(f"{path}, line 2: expected a word, a tab and its answers")


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, CAPITALS, "")
    path.write_bytes(b"peru\tl\xffma\n")
    with pytest.raises(InputError, match=r"country - capital\].txt: is not UTF-8 at byte 7"):
        read_analogies(tmp_path)


def test_a_folder_without_such_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "E01 [country - capital].txt", "peru\tlima\n")
    with pytest.raises(InputError, match="has no BATS files, such as"):
        read_analogies(tmp_path)
    with pytest.raises(UsageError, match="no such file or folder"):
        read_analogies(tmp_path / "nowhere")


def test_a_file_of_googles_has_sections_for_relations(tmp_path: Path) -> None:
    capitals, adverbs = read_analogies(write(tmp_path, "questions-words.txt", GOOGLE))
    assert (capitals.name, capitals.group) == ("capital-world", "semantic")
    assert (adverbs.name, adverbs.group) == ("gram1-adjective-to-adverb", "syntactic")
    assert capitals.questions[1] == Question(
        Entry("Athens", ("Greece",)), Entry("Bern", ("Switzerland",))
    )
    assert len(capitals.questions) == 2
    assert len(adverbs.questions) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (": capital\nathens greece bern\n", "line 2: expected four words"),
        ("athens greece bern switzerland\n", "line 1: a question before the first section"),
        ("", "has no questions"),
    ],
)
def test_a_malformed_file_of_googles_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=f"google.txt[:,] {message}"):
        read_analogies(write(tmp_path, "google.txt", text))


def relations() -> list[Relation]:
    names = {"E01 [country - capital]": "encyclopedic", "I01 [noun - plural_reg]": "inflectional"}
    return [Relation(name, group, ()) for name, group in names.items()]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ["E01", "I01"]),
        (["inflectional"], ["I01"]),
        (["e01"], ["E01"]),
        (["Plural"], ["I01"]),
        (["e01", "inflectional"], ["E01", "I01"]),
    ],
)
def test_relations_are_chosen_by_group_or_part_of_their_name(
    names: list[str], expected: list[str]
) -> None:
    assert [relation.name[:3] for relation in chosen(relations(), names)] == expected


def test_a_name_that_fits_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'E07' is neither a group \(encyclopedic, inflectional"):
        chosen(relations(), ["e01", "E07"])


def test_the_published_set_is_read_whole() -> None:
    folder = os.environ.get("PAIR2VEC_DATA")
    if not folder or not (Path(folder) / "bats").exists():
        pytest.skip("PAIR2VEC_DATA does not name a folder with bats")
    found = read_analogies(Path(folder) / "bats")
    assert len(found) == 40
    assert {len(relation.questions) for relation in found} == {50 * 49}
    assert sum(relation.group == "lexicographic" for relation in found) == 10
