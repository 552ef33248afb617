"""The mini-world: its text states some facts, implies others, and questions fit both."""

import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

from pair2vec.errors import UsageError
from pair2vec.experiments.miniworld.evaluate import (
    AnalogyQuestion,
    SlotQuestion,
    analogy_questions,
    slot_questions,
)
from pair2vec.experiments.miniworld.relations import (
    CLUES,
    DECOYS,
    DISTRACTORS,
    WORLD_RELATIONS,
    context_of,
    ordinary_words,
)
from pair2vec.experiments.miniworld.world import MiniWorld, WorldConfig

WORLD = MiniWorld.create()
TEXT = WORLD.text()
HELD_OUT = [fact for fact in WORLD.facts if fact.held_out]
SLOTS = slot_questions(WORLD)
ANALOGIES = analogy_questions(WORLD)
QUESTIONS: list[SlotQuestion | AnalogyQuestion] = [*SLOTS, *ANALOGIES]
LONGEST_DISTANCE = 5
SMALLEST = WorldConfig(
    regions=2, towns=2, dishes=1, kinds=2, members=2, opposites=2, wholes=2, parts=1,
    makers=2, products=1, people=1, companions=1, held_out=0.5,
)  # fmt: skip


@cache
def sentences() -> list[list[str]]:
    return [re.findall(r"\w+|[^\w\s]", line.lower()) for line in TEXT.splitlines() if line]


@cache
def sentences_with_both() -> Counter[frozenset[str]]:
    """How many sentences each two words of the lexicon share."""
    words = {*WORLD.lexicon.things, *WORLD.lexicon.adjectives}
    return Counter(frozenset(words.intersection(sentence)) for sentence in sentences())


@cache
def contexts() -> set[tuple[str, str, str]]:
    """Each context that joins two words of the lexicon, with those words."""
    words = {*WORLD.lexicon.things, *WORLD.lexicon.adjectives}
    joining = set()
    for tokens in sentences():
        left, right = (position for position, token in enumerate(tokens) if token in words)
        before, between, after = tokens[:left][-1:], tokens[left + 1 : right], tokens[right + 1]
        pattern = " ".join([*before, "X", *between, "Y", after])
        joining.add((pattern, tokens[left], tokens[right]))
    return joining


def says(phrasing: str, x: str, y: str) -> bool:
    """Whether the text says this of `x` and `y`; a context calls its left word X."""
    pattern = context_of(phrasing)
    if pattern.index("X") < pattern.index("Y"):
        return (pattern, x, y) in contexts()
    return (pattern.translate({ord("X"): "Y", ord("Y"): "X"}), y, x) in contexts()


def test_the_same_seeds_give_the_same_text_in_another_process() -> None:
    module = "pair2vec.experiments.miniworld.world"
    code = f"from {module} import MiniWorld; print(MiniWorld.create(3).text(500, 4))"
    environment = {**os.environ, "PYTHONHASHSEED": "5"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout == MiniWorld.create(3).text(500, 4) + "\n"


def test_another_seed_gives_another_text() -> None:
    assert WORLD.text(500, seed=2) != WORLD.text(500, seed=1)
    assert MiniWorld.create(seed=1).text(500) != WORLD.text(500)
    assert MiniWorld.create(seed=1).lexicon.proper != WORLD.lexicon.proper


def test_a_line_is_a_sentence_and_a_blank_line_ends_a_document() -> None:
    lines = TEXT.removesuffix("\n").split("\n")
    written = [line for line in lines if line]
    assert len(written) == 60_000
    assert all(re.fullmatch(r"[A-Z][A-Za-z, ]+\.", line) for line in written)
    assert 2_000 < len(lines) - len(written) < 4_000


def test_every_word_of_the_lexicon_is_one_distinct_lower_case_token() -> None:
    words = [*WORLD.lexicon.things, *WORLD.lexicon.adjectives, *WORLD.lexicon.people]
    assert len(words) == len(set(words))
    assert not ordinary_words().intersection(words)
    assert all(re.fullmatch("[a-z]+", word) for word in words)


def test_the_vocabulary_is_small_and_every_word_is_frequent() -> None:
    counts = Counter(token for sentence in sentences() for token in sentence)
    assert 800 <= len(counts) <= 1_500
    assert min(counts.values()) >= 20
    things = sorted(counts[word] for word in WORLD.lexicon.things)
    assert things[-10] > 5 * things[10], "frequencies follow Zipf's law, if loosely"


def test_a_quarter_of_kinds_and_regions_is_held_out() -> None:
    assert {fact.relation for fact in HELD_OUT} == {"kind_of", "located_in"}
    for relation in ("kind_of", "located_in"):
        facts = WORLD.facts_of(relation)
        assert 0.2 <= sum(fact.held_out for fact in facts) / len(facts) <= 0.25


@pytest.mark.parametrize(
    "world",
    [WORLD, MiniWorld.create(1), MiniWorld.create(config=SMALLEST)],
    ids=["0", "1", "small"],
)
def test_a_held_out_pair_never_shares_a_sentence(world: MiniWorld) -> None:
    kept_apart = {fact.x: fact.y for fact in world.facts if fact.held_out}
    assert kept_apart
    for line in world.text().lower().splitlines():
        words = set(re.findall(r"\w+", line))
        assert not any(kept_apart.get(word) in words for word in words), line


def test_what_implies_a_held_out_fact_is_said_often_and_of_its_siblings_too() -> None:
    shared = sentences_with_both()
    for fact in HELD_OUT:
        siblings = {f.x for f in WORLD.facts_of(fact.relation) if f.y == fact.y}
        clues = [f for f in WORLD.facts if f.relation in CLUES and f.x == fact.x]
        assert sum(shared[frozenset((clue.x, clue.y))] for clue in clues) >= 20
        assert sum(shared[frozenset((fact.x, sibling))] for sibling in siblings - {fact.x}) >= 10
        features = {f.y for f in clues if f.relation in {"has_property", "serves"}}
        for sibling in siblings:
            assert sum(shared[frozenset((sibling, feature))] for feature in features) >= 5


def test_every_phrasing_is_within_reach_of_a_context() -> None:
    tables = {**WORLD_RELATIONS, **CLUES, **DECOYS, "distractors": DISTRACTORS}
    for relation, phrasings in tables.items():
        assert len(phrasings) >= 4
        order = set()
        for phrasing in phrasings:
            tokens = phrasing.split()
            assert tokens.count("X") == tokens.count("Y") == 1
            assert abs(tokens.index("X") - tokens.index("Y")) <= LONGEST_DISTANCE, phrasing
            order.add(tokens.index("X") < tokens.index("Y"))
        symmetric = {"opposite_of", "sibling_of", "neighbour_of"}
        assert order == {True, False} or relation in symmetric


def test_every_stated_fact_is_stated_in_several_phrasings() -> None:
    for fact in WORLD.facts:
        if fact.relation in WORLD_RELATIONS and not fact.held_out:
            phrasings = WORLD_RELATIONS[fact.relation]
            assert sum(says(phrasing, fact.x, fact.y) for phrasing in phrasings) >= 2, fact


def test_every_question_asks_with_a_context_that_occurs() -> None:
    occurring = {pattern for pattern, _, _ in contexts()}
    assert {question.pattern for question in SLOTS} < occurring
    assert len({question.pattern for question in SLOTS}) == len(WORLD_RELATIONS)


def test_a_pattern_is_the_phrasing_from_the_word_before_to_the_word_after() -> None:
    assert context_of("they moved to X in Y last year .") == "to X in Y last"
    assert context_of("X lies in Y .") == "X lies in Y ."
    assert context_of("this Y is called a X .") == "this Y is called a X ."


def test_there_is_one_slot_question_a_fact() -> None:
    questions = {(q.relation, q.x, answer, q.held_out) for q in SLOTS for answer in q.answers}
    assert questions == {fact for fact in WORLD.facts if fact.relation in WORLD_RELATIONS}


@pytest.mark.parametrize("question", [SLOTS[0], ANALOGIES[0]], ids=["slot", "analogy"])
def test_candidates_are_all_words_of_the_answers_type(
    question: SlotQuestion | AnalogyQuestion,
) -> None:
    regions = {fact.y for fact in WORLD.facts_of("located_in")}
    assert question.relation == "located_in"
    assert question.candidates == tuple(sorted(regions))
    assert question.answers < regions


def test_a_right_answer_is_a_candidate_and_the_word_asked_about_is_not() -> None:
    for question in QUESTIONS:
        assert question.answers <= set(question.candidates)
        assert question.x not in question.candidates


def test_an_analogy_shows_a_stated_pair_whose_second_word_is_no_answer() -> None:
    stated = {fact[:3] for fact in WORLD.facts if not fact.held_out}
    true = {fact[:3] for fact in WORLD.facts}
    assert 300 <= len(ANALOGIES) <= 500
    for question in ANALOGIES:
        assert (question.relation, question.a, question.b) in stated
        assert question.b not in question.answers
        for answer in question.answers:
            assert (question.relation, question.x, answer) in true
    assert {q.x for q in ANALOGIES if q.held_out} == {fact.x for fact in HELD_OUT}


def test_counting_what_occurs_together_answers_no_held_out_question() -> None:
    shared = sentences_with_both()

    def counted_right(question: SlotQuestion) -> bool:
        best = max(question.candidates, key=lambda y: shared[frozenset((question.x, y))])
        return best in question.answers

    assert not any(counted_right(question) for question in SLOTS if question.held_out)


def test_every_word_asked_about_occurs_with_a_wrong_candidate() -> None:
    shared = sentences_with_both()
    for question in SLOTS:
        wrong = set(question.candidates) - question.answers
        assert any(shared[frozenset((question.x, y))] for y in wrong)


def test_a_world_too_small_or_too_large_is_refused_with_its_limit() -> None:
    with pytest.raises(UsageError, match="kinds is 99; it must be from 2 to 12"):
        WorldConfig(kinds=99)
    with pytest.raises(UsageError, match="towns is 3; it must be above companions, which is 3"):
        WorldConfig(towns=3)


def test_the_smallest_world_has_a_text_and_questions() -> None:
    world = MiniWorld.create(config=SMALLEST)
    assert len([line for line in world.text(100).split("\n") if line]) == 100
    assert {question.relation for question in slot_questions(world)} == {*WORLD_RELATIONS}
    assert {question.relation for question in analogy_questions(world)} == {*WORLD_RELATIONS}
