"""Going on from a published model: its words and the new ones, what learns, and resuming."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.training.small_run import after, assert_identical, run, small

from pair2vec.arrays import normalise
from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.model.folder import SavedModel, load_model, save_model
from pair2vec.model.shrink import shrink_model
from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import prepare
from pair2vec.text.vocabulary import Vocabulary, WordCount
from pair2vec.training.continuation import continue_from, continued_recipe, merged_vocabulary
from pair2vec.training.publish import published_arrays
from pair2vec.training.recipes import ContinuedConfig, ContinuedRecipe, pair_distance, with_settings
from pair2vec.training.train import Interrupted
from pair2vec.word_vectors.formats import write_vec

HEAD = {"relation.hidden.bias": np.arange(3, dtype=np.float32)}
FACTS = {"licence": "cc0-1.0", "notes": ["of a world"], "relations": {"names": ["none"]}}
TABLES = {"pair.words", "context.words"}


@pytest.fixture(scope="module")
def start(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    """A taught model of the world, whose words have vectors of their use."""
    folder = tmp_path_factory.mktemp("start")
    model = run(corpus, folder / "text", small(steps=300, epochs=100))
    tensors = {name: model.array(name) for name in model.names} | HEAD
    patterns = model.patterns()
    config = {**model.config, **FACTS}
    save_model(folder / "model", tensors, model.vocabulary, config, patterns=patterns)
    return load_model(folder / "model")


@pytest.fixture(scope="module")
def renamed(start: SavedModel) -> dict[str, str]:
    """Words that the other text spells in a way that the model does not know."""
    return {word: f"{word}q" for word in start.vocabulary.words[30:33]}


@pytest.fixture(scope="module")
def text(renamed: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("other")
    words = re.split(r"(\W+)", MiniWorld.create(0).text(800))
    spelled = "".join(renamed.get(word.lower(), word) for word in words)
    (folder / "text.txt").write_text(f"{spelled}\nseldom seldom")
    return prepare([str(folder / "text.txt")], folder / "corpus")


def recipe(model: SavedModel, **training: Any) -> ContinuedRecipe:
    short = {"batch": 64, "epochs": 9, "steps": 20, "warmup_steps": 2, "report_steps": 5}
    return with_settings(continued_recipe(model), {"training": {**short, **training}})


def test_the_words_of_the_model_are_kept_and_frequent_new_ones_added(
    start: SavedModel, text: Corpus, renamed: dict[str, str], tmp_path: Path
) -> None:
    before = (text.folder / "manifest.json").read_bytes(), {*text.folder.glob("*.bin")}
    model = run(text, tmp_path / "model", recipe(start), start=start)
    assert before == ((text.folder / "manifest.json").read_bytes(), {*text.folder.glob("*.bin")})
    assert {*model.vocabulary.words} == {*start.vocabulary.words, *renamed.values()}
    assert "seldom" in text.vocabulary
    assert (np.diff(model.vocabulary.counts[4:]) <= 0).all()
    for word in model.vocabulary.words[4:]:
        read = [v.counts[v.ids[word]] for v in (start.vocabulary, text.vocabulary) if word in v]
        assert model.vocabulary.counts[model.vocabulary.ids[word]] == sum(read)


def test_what_the_model_says_of_its_words_stays(
    start: SavedModel, text: Corpus, renamed: dict[str, str], tmp_path: Path
) -> None:
    """Encoders, head, patterns, facts and the vectors of words go along."""
    model = run(text, tmp_path / "model", recipe(start), start=start)
    for name in {*start.names} - TABLES:
        np.testing.assert_allclose(model.array(name), start.array(name), rtol=1e-6)
    assert np.array_equal(model.array("relation.hidden.bias"), HEAD["relation.hidden.bias"])
    assert model.patterns() == start.patterns()
    for fact in (*FACTS, "recipe", "corpus", "triples"):
        assert model.config[fact] == start.config[fact]
    assert model.config["metrics"].keys() >= {"validation_loss"}
    continued = model.config["continued"]
    assert (continued["model"], continued["new_words"]) == (start.config["name"], len(renamed))
    assert continued["fingerprint"] == start.fingerprint
    assert continued["corpus"]["fingerprint"] == text.manifest.fingerprint
    assert "continued from" in (model.folder / "README.md").read_text()
    old, new = (normalise(m.array("pair.words")) for m in (start, model))
    ids, others = start.vocabulary.ids, model.vocabulary.ids
    for word in start.vocabulary.words[4:]:
        np.testing.assert_allclose(new[others[word]], old[ids[word]], atol=1e-5)
    again = run(text, tmp_path / "again", recipe(model), start=model)
    assert again.config["continued"]["before"] == continued


def test_words_of_the_model_learn_if_asked_to_unless_they_do_not_occur(
    start: SavedModel, text: Corpus, renamed: dict[str, str], tmp_path: Path
) -> None:
    moving = replace(recipe(start), continued=ContinuedConfig(known=1.0))
    model = run(text, tmp_path / "model", moving, start=start)
    old, new = (normalise(m.array("pair.words")) for m in (start, model))
    ids, others = start.vocabulary.ids, model.vocabulary.ids
    common = start.vocabulary.words[4]
    assert np.abs(new[others[common]] - old[ids[common]]).max() > 1e-3
    for word in renamed:
        assert np.array_equal(new[others[word]], old[ids[word]])


def test_a_new_word_starts_where_words_in_the_same_contexts_are(
    start: SavedModel, text: Corpus, renamed: dict[str, str]
) -> None:
    begun = continue_from(start, text, ContinuedConfig())
    table, ids = normalise(begun.trained.network.pair_words.numpy()), begun.vocabulary.ids
    ranks = []
    for word, new in renamed.items():
        cosines = table[4:] @ table[ids[new]]
        ranks.append(int((cosines > cosines[ids[word] - 4]).sum()))
    # The word itself comes first: then the best rank of another is 1.
    assert np.median(ranks) <= len(table) // 10


def test_a_word_learns_the_slower_the_better_the_model_knows_it(
    start: SavedModel, text: Corpus, renamed: dict[str, str]
) -> None:
    begun = continue_from(start, text, ContinuedConfig(known=2.0))
    shares, ids = begun.trained.shares["pair_words"][:, 0], begun.vocabulary.ids
    word = start.vocabulary.words[5]
    new = text.vocabulary.counts[text.vocabulary.ids[word]]
    known = start.vocabulary.counts[start.vocabulary.ids[word]]
    assert shares[ids[word]] == pytest.approx(new / (new + 2 * known))
    assert all(shares[ids[word]] == 1 for word in renamed.values())
    assert all(shares[ids[word]] == 0 for word in renamed)
    alike = continue_from(start, text, ContinuedConfig(known=0.0)).trained.shares["pair_words"]
    assert alike[ids[word]] == 1
    assert not any(p.requires_grad for p in begun.trained.network.parameters())


def test_the_encoders_learn_where_they_are_asked_to(
    start: SavedModel, text: Corpus, tmp_path: Path
) -> None:
    learning = with_settings(recipe(start), {"continued": {"encoders": 0.1}})
    model = run(text, tmp_path / "model", learning, start=start)
    for name in ("pair.first.weight", "context.value.weight"):
        change = np.abs(model.array(name) - start.array(name)).max()
        assert 1e-5 < change < 0.1 * 20 * 1e-3


def test_words_are_carried_over_from_vectors_that_are_given(
    start: SavedModel, text: Corpus, renamed: dict[str, str], tmp_path: Path
) -> None:
    truth = normalise(start.array("pair.words")[4:])
    rows = [renamed.get(word, word) for word in start.vocabulary.words[4:]]
    write_vec(tmp_path / "w.vec", rows, truth[:, ::-1])
    begun = continue_from(start, text, ContinuedConfig(), [tmp_path / "w.vec"])
    table, ids = normalise(begun.trained.network.pair_words.numpy()), begun.vocabulary.ids
    for word, new in renamed.items():
        assert table[ids[new]] @ truth[start.vocabulary.ids[word] - 4] > 0.9


def test_a_small_model_gets_context_rows_for_words_as_frequent_as_its_own(
    start: SavedModel, text: Corpus, tmp_path: Path
) -> None:
    shrink_model(start, tmp_path / "small", context_words=40)
    small_model = load_model(tmp_path / "small")
    model = run(text, tmp_path / "model", recipe(small_model), start=small_model)
    rows = len(model.array("context.words"))
    assert 44 <= rows < len(model.vocabulary)
    least = small_model.vocabulary.counts[43]
    counts = model.vocabulary.counts
    assert (counts[4:rows] >= least).all()
    assert (counts[rows:] < least).all()
    assert {*small_model.vocabulary.words[:44]} <= {*model.vocabulary.words[:rows]}
    begun = continue_from(small_model, text, ContinuedConfig())
    contexts = published_arrays(begun.trained.network)["context.words"]
    # A word without a row gets one of the usual norm, and learns at the full rate.
    missing = next(word for word in small_model.vocabulary.words[44:] if word in text.vocabulary)
    row = begun.vocabulary.ids[missing]
    assert np.linalg.norm(contexts[row]) > 0.3 * np.linalg.norm(contexts[4:20], axis=1).mean()
    assert begun.trained.shares["context_words"][row] == 1


def test_a_continued_run_resumes_to_the_same_model(
    start: SavedModel, text: Corpus, tmp_path: Path
) -> None:
    whole = run(text, tmp_path / "whole", recipe(start), start=start)
    with pytest.raises(Interrupted):
        run(text, tmp_path / "parts", recipe(start), start=start, should_stop=after(7))
    with pytest.raises(UsageError, match="was begun --from a model; give it again"):
        run(text, tmp_path / "parts", recipe(start), resume=True)
    other = with_settings(recipe(start), {"continued": {"min_count": 9}})
    with pytest.raises(UsageError, match="was begun with another recipe"):
        run(text, tmp_path / "parts", other, start=start, resume=True)
    with pytest.raises(UsageError, match="was begun with another from"):
        run(text, tmp_path / "parts", recipe(start), start=whole, resume=True)
    resumed = run(text, tmp_path / "parts", recipe(start), start=start, resume=True)
    assert_identical_but_for_triples(resumed, whole)


def assert_identical_but_for_triples(actual: SavedModel, expected: SavedModel) -> None:
    assert_identical(actual, expected)
    assert actual.config["continued"] == expected.config["continued"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pair": {"dimension": 8}, "context": {"dimension": 8}}, "pair.dimension=8 where the mod"),
        ({"context": {"hidden": 4}}, "context.hidden=4 where the model"),
        ({"training": {"epochs": 0}}, "trains nothing"),
        ({"training": {"step_mode": "cuda_graph"}}, "needs training.step_mode=plain"),
    ],
)
def test_recipes_that_do_not_fit_the_model_are_refused(
    start: SavedModel, text: Corpus, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    wrong = with_settings(recipe(start), settings)
    with pytest.raises(UsageError, match=message):
        run(text, tmp_path / "model", wrong, start=start)
    assert not (tmp_path / "model").exists()


def test_a_model_does_not_go_on_into_its_own_folder(start: SavedModel, text: Corpus) -> None:
    with pytest.raises(UsageError, match="is the model to go on from"):
        run(text, start.folder, recipe(start), start=start, overwrite=True)


def test_differences_of_words_do_not_go_on(
    corpus: Corpus, vectors: Path, text: Corpus, tmp_path: Path
) -> None:
    size = {"dimension": 16}
    distances = with_settings(pair_distance(), {"pair": size, "context": size})
    model = run(corpus, tmp_path / "distance", distances, vectors=vectors)
    with pytest.raises(UsageError, match="differences of word vectors"):
        run(text, tmp_path / "model", recipe(model), start=model)


def test_a_model_without_a_recipe_is_refused(start: SavedModel, tmp_path: Path) -> None:
    tensors = {name: start.array(name) for name in start.names}
    save_model(tmp_path / "model", tensors, start.vocabulary, {"recipe": {}})
    with pytest.raises(InputError, match="has no recipe to make a network of"):
        continued_recipe(load_model(tmp_path / "model"))


def test_settings_of_going_on_are_a_group_of_the_recipe(start: SavedModel) -> None:
    changed = continued_recipe(start, assignments=["continued.min_count=3", "training.epochs=1"])
    assert (changed.continued.min_count, changed.training.epochs) == (3, 1)
    assert changed.pair == small().pair
    with pytest.raises(UsageError, match=r"no setting continued\.count; did you mean"):
        continued_recipe(start, assignments=["continued.count=3"])


def test_words_of_both_vocabularies_are_sorted_by_both_counts() -> None:
    model = Vocabulary([WordCount("the", 9), WordCount("hot", 5), WordCount("cold", 5)])
    corpus = Vocabulary([WordCount("ulna", 7), WordCount("cold", 1), WordCount("rare", 1)])
    merged = merged_vocabulary(model, corpus, min_count=2)
    assert merged.words[4:] == ("the", "ulna", "cold", "hot")
    assert merged.counts[4:].tolist() == [9, 7, 6, 5]
