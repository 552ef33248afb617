"""Is a model any good: the rule of the verdict, and the figures it is made of."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.relations.question_words import question_words
from tests.tiny_model import WORDS, reseal, save_tiny_model, taught_model

from pair2vec.api import Pair2vec, load
from pair2vec.model.folder import load_model
from pair2vec.model.resolve import bundled_models
from pair2vec.model.tensors import tensor_bytes
from pair2vec.query.space import sampled_pairs
from pair2vec.relations import check
from pair2vec.relations.check import (
    game_questions,
    held_out_loss,
    known_pairs,
    pair_spread,
    vocabulary_coverage,
)
from pair2vec.relations.verdict import (
    CheckedRelation,
    Coverage,
    HeldOutLoss,
    NamedPairs,
    PairSpread,
    judge,
)
from pair2vec.text.vocabulary import Vocabulary, WordCount

LOSS = HeldOutLoss(loss=1.7, undecided=6.24, training=1.6)
SPREAD = PairSpread(mean_cosine=0.5, effective_rank=49.0, dimension=300)
COVERAGE = Coverage(62_000, of_text=0.98, common_words=800, common_known=800, english=True)
GERMAN = COVERAGE._replace(english=False)
NAMES = NamedPairs(pairs=60, right=0.85, unrelated=60, called_related=0.08)


def answered(
    right: float, by_pairs: float, by_words: float, pairs: int = 200
) -> list[CheckedRelation]:
    """Two relations, each with half of the pairs."""
    half = CheckedRelation("opposite", pairs // 2, pairs // 2, right, by_pairs, by_words, 0.001)
    return [half, half._replace(relation="part")]


GOOD = answered(0.8, 0.7, 0.8)
# The words are those of good vectors; pairs are answered as hot : cold by loud : soap.
LOUD_AS_SOAP = answered(0.5, 0.05, 0.8)


def test_a_model_that_answers_right_is_good() -> None:
    verdict, (analogies, names) = judge(LOSS, GOOD, NAMES, SPREAD, COVERAGE)
    assert verdict == "good"
    assert "of 200 analogies between common words it answers 80% right" in analogies
    assert names == "it names 85% of 60 relations right"


def test_a_model_whose_pair_vectors_say_nothing_is_poor_however_good_its_words_are() -> None:
    assert judge(LOSS, LOUD_AS_SOAP, None, SPREAD, COVERAGE)[0] == "poor"


@pytest.mark.parametrize("loss", [6.2, 5.9, 7.0, math.nan, math.inf])
def test_a_loss_of_a_model_that_knows_nothing_is_poor(loss: float) -> None:
    verdict, reasons = judge(LOSS._replace(loss=loss), GOOD, NAMES, SPREAD, GERMAN)
    assert verdict == "poor"
    assert "hardly below that of a model that knows nothing, 6.24" in reasons[0]


@pytest.mark.parametrize(
    "spread",
    [SPREAD._replace(mean_cosine=0.99), SPREAD._replace(effective_rank=1.0)],
)
def test_collapsed_pair_vectors_are_poor(spread: PairSpread) -> None:
    verdict, reasons = judge(LOSS, GOOD, NAMES, spread, COVERAGE)
    assert verdict == "poor"
    assert "have collapsed" in reasons[0]


def test_between_good_and_poor_a_model_is_usable() -> None:
    assert judge(LOSS, answered(0.4, 0.3, 0.4), None, SPREAD, COVERAGE)[0] == "usable"
    wrong_names = NAMES._replace(right=0.2)
    assert judge(LOSS, GOOD, wrong_names, SPREAD, COVERAGE)[0] == "usable"
    few = answered(1.0, 1.0, 1.0, pairs=20)
    verdict, reasons = judge(LOSS, few, None, SPREAD, COVERAGE)
    assert verdict == "usable"
    assert reasons[-1] == "it knows 20 of our pairs, too few to call it good"


@pytest.mark.parametrize("analogies", [[], answered(1.0, 1.0, 1.0, pairs=8), GOOD[:1]])
def test_of_too_few_questions_nothing_is_concluded(analogies: list[CheckedRelation]) -> None:
    verdict, reasons = judge(LOSS, analogies, None, SPREAD, COVERAGE)
    assert verdict == "can't tell"
    assert "its held-out loss is 1.70, 27% of that of a model that knows nothing" in reasons[1]


def test_a_model_of_another_language_is_not_called_bad_for_not_knowing_english() -> None:
    verdict, reasons = judge(LOSS, LOUD_AS_SOAP, None, SPREAD, GERMAN)
    assert verdict == "can't tell"
    assert reasons[0].startswith("its text is not English")
    assert judge(LOSS, GOOD, None, SPREAD, GERMAN)[0] == "good"
    assert "recorded no held-out loss" in judge(None, LOUD_AS_SOAP, None, SPREAD, GERMAN)[1][1]


@pytest.mark.parametrize(("contexts", "words", "typed"), [(2, 3, 1), (2, 0, 0), (1, 2, 2)])
def test_the_undecided_loss_is_that_of_scores_of_zero(
    contexts: int, words: int, typed: int
) -> None:
    torch = pytest.importorskip("torch")
    from pair2vec.training.objective import Scores, losses

    sides = torch.zeros(5, words), torch.zeros(5, words)
    total = losses(Scores(torch.zeros(5), torch.zeros(5, contexts), *sides), typed).total()
    negatives = {"contexts": contexts, "words": words, "typed": typed}
    config = {"recipe": {"negatives": negatives}, "metrics": {"validation_loss": 1.0}}
    loss = held_out_loss(config)
    assert loss is not None
    assert loss.undecided == pytest.approx(total.mean().item())


def test_the_loss_is_the_recorded_one_also_of_a_smaller_model() -> None:
    recipe = {"negatives": {"contexts": 2, "words": 3}}
    metrics = {"validation_loss": 1.5, "loss": 1.25}
    assert held_out_loss({"recipe": recipe, "metrics": metrics}) == (1.5, 9 * math.log(2), 1.25)
    shrunk = {"recipe": recipe, "metrics": {"bats": {}}, "shrunk": {"from_metrics": metrics}}
    assert held_out_loss(shrunk) == (1.5, 9 * math.log(2), 1.25)
    assert held_out_loss({"recipe": recipe}) is None
    assert held_out_loss({"metrics": metrics}) is None
    odd = {"metrics": {"validation_loss": "low"}, "recipe": {"negatives": 3}, "shrunk": "yes"}
    assert held_out_loss(odd) is None


def test_the_spread_is_that_of_all_pairs_of_vectors(tmp_path: Path) -> None:
    space = load(save_tiny_model(tmp_path / "model")).space
    vectors = space.pairs(*sampled_pairs(space.pairs.words)).astype(np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (unit @ unit.T)[~np.eye(len(unit), dtype=bool)]
    spread = pair_spread(space)
    assert spread.mean_cosine == pytest.approx(cosines.mean())
    assert 1 <= spread.effective_rank <= spread.dimension == 8


def test_a_network_that_ignores_its_words_has_collapsed(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model")
    tensors = load_file(folder / "model.safetensors")
    tensors["pair.others.0.weight"][:] = 0
    (folder / "model.safetensors").write_bytes(tensor_bytes(tensors))
    spread = pair_spread(load(reseal(folder)).space)
    assert spread.mean_cosine == pytest.approx(1.0)
    assert judge(LOSS, GOOD, None, spread, COVERAGE)[0] == "poor"


def vocabulary_of(text: str) -> Vocabulary:
    words = text.split()
    return Vocabulary([(word, words.count(word)) for word in dict.fromkeys(words)])


def test_english_is_known_by_its_function_words() -> None:
    english = vocabulary_of("the dog and the cat sat on that mat with the mouse from the house")
    german = vocabulary_of(
        "der hund und die katze in dem haus an der the strasse " * 9 + "the band"
    )
    assert vocabulary_coverage(english, {}).english
    assert vocabulary_coverage(german, {"corpus": {"tokens": 9, "text_tokens": 10}}).of_text == 0.9
    assert not vocabulary_coverage(vocabulary_of("der hund und die katze " * 9), {}).english
    assert vocabulary_coverage(english, {"corpus": "a fingerprint alone"}).of_text is None


def test_only_pairs_are_asked_whose_words_are_known() -> None:
    known = known_pairs(Vocabulary([("hot", 1), ("cool", 1), ("big", 1), ("paris", 1)]))
    assert {name: len(pairs) for name, pairs in known.items() if pairs} == {"opposite": 1}
    (pair,) = known["opposite"]
    assert pair == (4, (5,))  # cold, the other answer, is not known
    every = known_pairs(Vocabulary([(word, 1) for word in question_words()]))
    for pairs in every.values():
        assert len(pairs) >= 12
        assert len({pair.x for pair in pairs}) == len(pairs)
        assert all(pair.x not in pair.answers for pair in pairs)


@pytest.fixture(scope="module")
def fluent(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    """A model of random weights that knows all words of the questions."""
    folder = tmp_path_factory.mktemp("fluent") / "model"
    return load(save_tiny_model(folder, question_words()))


def questions(model: Pair2vec) -> Iterator[tuple[str, list[str], int]]:
    """Of each relation the first pair, its example first; the number of its questions."""
    words = model.vocabulary.words
    for name, pairs in known_pairs(model.vocabulary).items():
        pair, example = next(check._with_examples(pairs, 1))
        yield name, [words[n] for n in (example.x, example.answers[0], pair.x)], len(pairs)


def test_games_ask_in_words_of_the_model_what_has_one_right_answer() -> None:
    every = Vocabulary([WordCount(word, 1) for word in sorted(question_words())])
    analogies, groups = game_questions(every)
    assert {"opposite", "kind of", "country and capital"} < {each.name for each in analogies}
    assert "part" not in {each.name for each in analogies}, "cars and ships both have engines"
    for _, pairs in analogies:
        assert len({x for x, _ in pairs}) == len(pairs)
    members = {group.name: {*group.words} for group in groups}
    assert {"paris", "rome"} < members["capital"]
    assert {"dog", "salmon"} < members["animal"]
    assert min(map(len, members.values())) >= 3
    assert not any("turkey" in words for words in members.values()), "a country and an animal"
    few = Vocabulary([WordCount(word, 1) for word in ("hot", "cold", "dog", "animal", "paris")])
    analogies, groups = game_questions(few)
    assert [pairs for _, pairs in analogies if pairs] == [
        [("hot", ["cold"])],
        [("dog", ["animal"])],
    ]
    assert groups == []


def test_analogies_are_answered_as_the_query_answers_them(fluent: Pair2vec) -> None:
    ids = fluent.vocabulary.ids
    candidates = np.arange(len(ids))[4:]
    for name, (a, b, x), _ in questions(fluent):
        best = fluent.analogy(a, b, x, top=1)[0].word
        by_words = fluent.analogy(a, b, x, alpha=0, top=1)[0].word
        by_pairs = fluent.analogy(a, b, x, alpha=1, top=1)[0].word
        example = check.KnownPair(ids[a], (ids[b],))
        for position, word in enumerate((best, by_pairs, by_words)):
            pair = check.KnownPair(ids[x], (ids[word],))
            assert check._outcome(fluent.space, example, pair, candidates)[position], name


def test_a_model_of_random_weights_is_poor_at_chance(fluent: Pair2vec) -> None:
    found = fluent.check()
    assert [(r.relation, r.questions) for r in found.analogies] == [
        (name, count) for name, _, count in questions(fluent)
    ]
    assert found.right.right < 0.1
    assert found.right.chance == pytest.approx(1 / len(fluent.vocabulary), rel=1)
    # Of the words of its text it has no function words: it may be of any language.
    assert (found.verdict, found.coverage.english) == ("can't tell", False)
    english = found.coverage._replace(english=True)
    assert judge(found.loss, found.analogies, None, found.spread, english)[0] == "poor"


def test_no_example_shares_a_word_with_its_question(fluent: Pair2vec) -> None:
    for pairs in known_pairs(fluent.vocabulary).values():
        for pair, example in check._with_examples(pairs, 3):
            assert not {pair.x, *pair.answers} & {example.x, *example.answers}


@pytest.mark.parametrize("hidden", [0, 6])
def test_a_model_of_a_few_words_is_shown_and_not_judged(tmp_path: Path, hidden: int) -> None:
    folder = save_tiny_model(tmp_path / "model", hidden=hidden)
    found = load(folder).check()
    assert found.verdict == "can't tell"
    assert [(pair.x, pair.y) for pair in islice(found.pairs, 2)] == [
        ("hot", "cold"),
        ("paris", "france"),
    ]
    assert all((pair.relation is not None) == bool(hidden) for pair in found.pairs)
    expected = load(folder).nearest("hot", "cold", top=2)
    assert found.pairs[0].like == expected


def test_a_model_without_any_of_our_words_is_no_error(tmp_path: Path) -> None:
    found = load(save_tiny_model(tmp_path / "model", ["der", "hund", "und", "katze"])).check()
    assert (found.pairs, found.analogies, found.names) == ([], [], None)
    assert found.coverage.common_known == 0
    assert found.as_json()["verdict"] == "can't tell"


def advice(tmp_path: Path, **config: object) -> str:
    folder = save_tiny_model(tmp_path / "model", ["der", "und"], config=config)
    return " ".join(load(folder).check().advice)


def test_the_advice_follows_from_what_training_recorded(tmp_path: Path) -> None:
    recipe = {
        "name": "t",
        "pair": {"composition": "mlp", "layers": 2, "dimension": 8},
        "negatives": {"contexts": 2, "words": 3},
    }
    metrics = {"validation_loss": 6.2, "loss": 6.2}
    corpus = {"tokens": 30_000_000}
    begun = advice(tmp_path / "1", recipe=recipe, metrics=metrics, corpus=corpus, triples=10**6)
    assert "lower rate" in begun
    assert "more epochs" in begun
    assert "more text" not in begun
    learned = {"validation_loss": 3.0, "loss": 1.5}
    overfitted = advice(
        tmp_path / "2", recipe=recipe, metrics=learned, corpus=corpus, triples=10**6, vectors=None
    )
    assert "--vectors" in overfitted
    assert "more text" in overfitted
    assert "more epochs" not in overfitted


def test_everything_found_out_is_in_the_json(tmp_path: Path) -> None:
    found = load(taught_model(tmp_path / "model")).check()
    answer = found.as_json()
    assert answer.keys() == asdict(found).keys()
    assert answer["pairs"][0]["like"][0].keys() == {"x", "y", "score"}  # type: ignore[index]
    assert set(WORDS) >= {answer["pairs"][0]["x"]}  # type: ignore[index]


def shuffled_rows(source: Path, folder: Path) -> Path:
    """A model with the rows of its word table permuted."""
    folder.mkdir()
    for path in source.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    tensors = load_file(folder / "model.safetensors")
    rows = np.random.default_rng(0).permutation(len(tensors["pair.words"]))
    for name in ("pair.words", "pair.words.scale"):
        tensors[name] = np.ascontiguousarray(tensors[name][rows])
    (folder / "model.safetensors").write_bytes(tensor_bytes(tensors))
    return reseal(folder)


def test_the_bundled_model_is_good_and_poor_with_its_words_shuffled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "_FREQUENT_WORDS", 0)
    monkeypatch.setattr(check, "_SHOWN", 1)
    bundled = bundled_models()["wikipedia"]
    found = load(bundled).check()
    assert found.verdict == "good"
    assert found.loss is not None
    assert found.loss.share < 0.4
    assert found.pairs[0].relation is not None
    assert found.pairs[0].relation.name == "antonym"
    assert load(shuffled_rows(bundled, tmp_path / "model")).check().verdict == "poor"
    assert load_model(bundled).config["words"] == found.coverage.words
