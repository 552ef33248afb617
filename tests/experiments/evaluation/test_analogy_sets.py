"""Published analogies are read as published; questions are dropped for an unknown word alone."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.real_data import real_data

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.analogy_sets import (
    AnalogyEntry,
    AnalogyItem,
    AnalogyRelation,
    AnswerVocabulary,
    EncodedQuestion,
    Half,
    encode_relations,
    find_answer_vocabulary,
    read_analogies,
    select_half,
    select_relations,
)
from pair2vec.text.vocabulary import Vocabulary, WordCount

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
        AnalogyEntry("peru", ("lima",)),
        AnalogyEntry("france", ("paris",)),
        AnalogyEntry("japan", ("tokyo", "kyoto")),
    )
    assert relation.name == "E01 [country - capital]"
    assert relation.group == "encyclopedic"
    assert set(relation.questions) == {
        *(AnalogyItem(peru, france), AnalogyItem(peru, japan), AnalogyItem(france, peru)),
        *(AnalogyItem(france, japan), AnalogyItem(japan, peru), AnalogyItem(japan, france)),
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
    assert relation.questions[0] == AnalogyItem(
        AnalogyEntry("peru", ("lima",)), AnalogyEntry("france", ("paris",))
    )


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
    assert capitals.questions[1] == AnalogyItem(
        AnalogyEntry("Athens", ("Greece",)), AnalogyEntry("Bern", ("Switzerland",))
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


def relations() -> list[AnalogyRelation]:
    names = {"E01 [country - capital]": "encyclopedic", "I01 [noun - plural_reg]": "inflectional"}
    return [AnalogyRelation(name, group, ()) for name, group in names.items()]


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
    assert [relation.name[:3] for relation in select_relations(relations(), names)] == expected


def test_a_name_that_fits_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'E07' is neither a group \(encyclopedic, inflectional"):
        select_relations(relations(), ["e01", "E07"])


def test_a_half_is_every_second_relation_of_each_group_by_name() -> None:
    # Not in the order of their names, and the groups not one after the other.
    names = {"b": "g", "d": "g", "a": "g", "z": "h", "c": "g", "y": "h", "e": "g"}
    both = [AnalogyRelation(name, group, ()) for name, group in names.items()]
    assert [relation.name for relation in select_half(both, "choose")] == ["a", "c", "y", "e"]
    assert [relation.name for relation in select_half(both, "report")] == ["b", "d", "z"]
    assert select_half(both, None) == both


def test_halves_come_before_names() -> None:
    both = [AnalogyRelation(f"E0{number} [some]", "encyclopedic", ()) for number in (1, 2, 3)]
    assert [r.name for r in select_relations(select_half(both, "choose"), ["e03"])] == [
        "E03 [some]"
    ]
    with pytest.raises(UsageError, match=r"'E02' is neither .* name of any of the 2 relations"):
        select_relations(select_half(both, "choose"), ["E02"])


def test_a_half_that_is_none_or_empty_is_refused() -> None:
    with pytest.raises(UsageError, match="half is 'first'; it must be one of choose, report"):
        select_half(relations(), "first")  # type: ignore[arg-type]
    assert select_half(relations(), "choose") == relations()
    with pytest.raises(UsageError, match="no group has the two relations to be halved"):
        select_half(relations(), "report")


def check_halves(relations: list[AnalogyRelation], size: int) -> None:
    halves: tuple[Half, Half] = ("choose", "report")
    first, second = (
        {relation.name for relation in select_half(relations, half)} for half in halves
    )
    assert not first & second
    assert first | second == {relation.name for relation in relations}
    for half in halves:
        groups = Counter(relation.group for relation in select_half(relations, half))
        assert set(groups.values()) == {size}
        assert len(groups) == 4


def test_a_set_like_bats_is_split_evenly_and_wholly(tmp_path: Path) -> None:
    for number, letter in enumerate("IDEL", start=1):
        for relation in range(1, 11):
            write(tmp_path, f"{number}_group/{letter}{relation:02d} [some].txt", "a\tb\nc\td\n")
    relations = read_analogies(tmp_path)
    check_halves(relations, 5)
    assert [
        r.name[:3] for r in select_half(relations, "report")[:5]
    ] == "I02 I04 I06 I08 I10".split()


def published() -> list[AnalogyRelation]:
    return read_analogies(real_data("bats"))


def test_the_published_set_is_halved_five_and_five() -> None:
    check_halves(published(), 5)


def test_the_published_set_is_read_whole() -> None:
    relations = published()
    assert len(relations) == 40
    assert {len(relation.questions) for relation in relations} == {50 * 49}
    assert sum(relation.group == "lexicographic" for relation in relations) == 10


WORDS = "france paris japan tokyo kyoto peru lima".split()
VOCABULARY = Vocabulary([WordCount(word, 9) for word in WORDS])


def candidates(without: str = "", limit: int | None = None) -> AnswerVocabulary:
    vectors = np.random.default_rng(0).normal(size=(len(VOCABULARY), 3)).astype(np.float32)
    has_vector = np.array([word != without for word in VOCABULARY.words])
    has_vector[:4] = False
    return find_answer_vocabulary(VOCABULARY, vectors, has_vector, limit)


def encode(
    example: AnalogyEntry, query: AnalogyEntry, candidates: AnswerVocabulary
) -> list[EncodedQuestion]:
    relation = AnalogyRelation("capitals", "encyclopedic", (AnalogyItem(example, query),))
    (encoded,) = encode_relations([relation], candidates)
    assert (encoded.name, encoded.group, encoded.total) == ("capitals", "encyclopedic", 1)
    return encoded.questions


FRANCE = AnalogyEntry("france", ("paris",))
JAPAN = AnalogyEntry("japan", ("edo", "tokyo", "kyoto"))


def test_b_is_the_first_answer_that_is_known_and_any_known_answer_is_correct() -> None:
    assert encode(FRANCE, JAPAN, candidates()) == [EncodedQuestion(0, 1, 2, frozenset({3, 4}))]
    assert encode(JAPAN, FRANCE, candidates()) == [EncodedQuestion(2, 3, 0, frozenset({1}))]


@pytest.mark.parametrize("is_query", [True, False])
@pytest.mark.parametrize(
    "entry", [AnalogyEntry("spain", ("paris",)), AnalogyEntry("peru", ("cuzco", "callao"))]
)
def test_a_question_with_an_unknown_word_is_dropped(entry: AnalogyEntry, is_query: bool) -> None:
    pair = (FRANCE, entry) if is_query else (entry, FRANCE)
    assert encode(*pair, candidates()) == []


def test_a_word_without_a_vector_is_unknown_and_no_candidate() -> None:
    assert encode(FRANCE, JAPAN, candidates(without="france")) == []
    assert encode(FRANCE, JAPAN, candidates(without="tokyo")) == [
        EncodedQuestion(0, 1, 2, frozenset({3}))
    ]
    assert candidates(without="tokyo").ids.tolist() == [4, 5, 6, 8, 9, 10]


def test_words_beyond_the_limit_are_unknown() -> None:
    few = candidates(limit=4)
    assert [VOCABULARY.words[number] for number in few.ids] == WORDS[:4]
    assert encode(FRANCE, JAPAN, few) == [EncodedQuestion(0, 1, 2, frozenset({3}))]
    assert encode(FRANCE, JAPAN, candidates(limit=3)) == []


def test_words_are_spelled_as_the_tokeniser_spells_them() -> None:
    assert encode(
        AnalogyEntry("France", ("PARIS",)),
        AnalogyEntry("Japan", ("tokyo city", "Kyoto")),
        candidates(),
    )
    assert not encode(FRANCE, AnalogyEntry("japan", ("tokyo kyoto", "<pad>")), candidates())


def test_word_vectors_are_normalised() -> None:
    np.testing.assert_allclose(np.linalg.norm(candidates().vectors, axis=1), 1, rtol=1e-6)


def test_no_candidate_at_all_is_an_error() -> None:
    with pytest.raises(InputError, match="none of the model's words has a word vector"):
        find_answer_vocabulary(VOCABULARY, np.zeros((11, 3), np.float32), np.zeros(11, np.bool_))
