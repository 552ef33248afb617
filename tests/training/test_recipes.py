"""Recipes, and settings as a user writes them."""

import json
import math
from dataclasses import asdict, replace
from inspect import signature
from pathlib import Path

import pytest

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.errors import UsageError
from pair2vec.experiments.nli.esim import EsimConfig
from pair2vec.experiments.tasks.inputs import PairsConfig
from pair2vec.experiments.tasks.task import SupervisedConfig
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.injection.pair_distance import pair_distance_attention
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.prepare import PrepareConfig
from pair2vec.training.batches import NegativesConfig
from pair2vec.training.recipes import (
    RECIPES,
    Recipe,
    fast,
    find_recipe,
    fitted,
    paper,
    recipe_from_json,
    resolve,
    tiny,
    with_settings,
)
from pair2vec.triples.epoch import TripleStream
from pair2vec.word_vectors.fasttext import SMALL_CORPUS


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_has_its_own_name(name: str) -> None:
    assert find_recipe(name) == RECIPES[name]()
    assert find_recipe(name).name == name


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_survives_json(name: str) -> None:
    recipe = find_recipe(name)
    assert recipe_from_json(asdict(recipe)) == recipe
    assert recipe_from_json(json.loads(json.dumps(asdict(recipe)))) == recipe


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_saved_before_there_was_a_step_mode_has_the_default(name: str) -> None:
    saved = asdict(find_recipe(name))
    del saved["training"]["step_mode"]
    expected = replace(find_recipe(name).training, step_mode="auto")
    assert recipe_from_json(saved) == replace(find_recipe(name), training=expected)


def test_a_changed_recipe_survives_json() -> None:
    recipe = replace(
        paper(), pair=PairConfig(dimension=7), context=ContextConfig(dimension=7, hidden=2)
    )
    assert recipe_from_json(json.loads(json.dumps(asdict(recipe)))) == recipe != paper()


PAPER: dict[str, dict[str, object]] = {
    "Representation: R is an MLP of four layers": {"pair.composition": "mlp", "pair.layers": 4},
    "Representation: x and y are normalised": {"pair.length": 1.0},
    "Typed sampling: the top 100 words by cosine similarity": {
        "negatives.typed": 1,
        "negatives.neighbours": 100,
    },
    "Data: pair probability with a threshold of 5e-7": {
        "triples.subsampling": "pair",
        "triples.threshold": 5e-7,
        "triples.min_pair_count": 0,
    },
    "Hyperparameters: 300 dimensions, initialised with word vectors": {
        "pair.dimension": 300,
        "context.dimension": 300,
        "training.start": "vectors",
    },
    "Hyperparameters: a BiLSTM with a hidden layer of 100": {"context.hidden": 100},
    "Hyperparameters: 2 negative contexts, 3 negative arguments": {
        "negatives.contexts": 2,
        "negatives.words": 3,
    },
    "Hyperparameters: SGD at 0.01": {"training.optimiser": "sgd", "training.rate": 0.01},
    "Hyperparameters: x 0.9 without a decrease for 300K steps": {
        "training.schedule": "plateau",
        "training.plateau_steps": 300_000,
        "training.plateau_factor": 0.9,
        "training.warmup_steps": 0,
    },
    "Hyperparameters: a batch of 600, 12 epochs": {
        "training.batch": 600,
        "training.epochs": 12,
        "training.steps": 0,
        "training.patience": 0,
    },
    "Global Objective: negative words by P(x, ., .) and P(., y, .), contexts by P(., ., c)": {
        "negatives.words_from": "triples",
        "negatives.context_exponent": 1.0,
    },
    "the released code: smoothing by 0.75, sums over the batch, gradients clipped at 10": {
        "negatives.exponent": 0.75,
        "training.loss": "sum",
        "training.clip": 10.0,
    },
}
"""Of the recipe `paper`, by where the paper says so."""


@pytest.mark.parametrize("place", PAPER)
def test_the_recipe_paper_is_the_papers(place: str) -> None:
    settings = asdict(paper())
    for name, value in PAPER[place].items():
        group, key = name.split(".")
        assert settings[group][key] == value, name


def test_fast_and_models_saved_before_draw_negative_words_from_the_corpus() -> None:
    for name in ("fast", "tiny"):
        assert find_recipe(name).negatives.words_from == "corpus"
        assert find_recipe(name).negatives.context_exponent == 1
    saved = asdict(paper())
    del saved["negatives"]["words_from"]
    assert recipe_from_json(saved).negatives.words_from == "corpus"


def test_each_ablation_changes_one_thing_of_the_paper() -> None:
    expected: dict[str, dict[str, object]] = {
        "paper_2_layers": {"pair": PairConfig(layers=2)},
        # Words of length 300^¼, so that x∘y starts with a norm of 1, not of 0.06.
        "paper_multiply": {"pair": PairConfig(composition="multiply", length=300**0.25)},
        "paper_bivariate": {
            "negatives": NegativesConfig(words=0, typed=0, words_from="triples"),
        },
    }
    for name, changes in expected.items():
        assert find_recipe(name) == replace(paper(), name=name, **changes)  # type: ignore[arg-type]


def test_corpus_and_end_tasks_have_the_papers_settings() -> None:
    # Data: the 100K most frequent words, pairs within a window of 5.
    assert signature(PrepareConfig).parameters["vocabulary"].default == 100_000
    assert list(DISTANCES) == [1, 2, 3, 4, 5]
    # Hyperparameters: "We use 0.15 dropout on our pretrained pair embeddings."
    for source in (PairAttention, PairAttention.load, pair_distance_attention):
        assert signature(source).parameters["dropout"].default == 0.15
    assert (PairsConfig().dropout, PairsConfig().sharpness, PairsConfig().whitening) == (0.15, 1, 0)
    # "AllenNLP's implementations with default hyperparameters": ESIM's.
    assert (EsimConfig().hidden, EsimConfig().dropout) == (300, 0.5)
    nli = SupervisedConfig()
    assert (nli.optimiser, nli.rate, nli.batch, nli.epochs) == ("adam", 4e-4, 32, 75)
    assert (nli.rate_factor, nli.rate_patience, nli.patience, nli.clip) == (0.5, 0, 5, 10.0)


def test_without_any_settings_the_recipe_is_fast() -> None:
    assert resolve(None, None, []) == fast()
    assert resolve("paper", None, []) == paper()


def test_assignments_are_read_as_their_type() -> None:
    recipe = resolve(
        "paper",
        None,
        [
            "training.batch=64",
            "training.rate = 1e-3",
            "training.clip=5",
            "training.optimiser=adam",
            'training.schedule="constant"',
            "name=mine",
        ],
    )
    training = replace(
        paper().training, batch=64, rate=0.001, clip=5.0, optimiser="adam", schedule="constant"
    )
    assert recipe == replace(paper(), name="mine", training=training)
    assert isinstance(recipe.training.clip, float)


def test_a_later_assignment_prevails() -> None:
    assert resolve("paper", None, ["training.seed=1", "training.seed=2"]).training.seed == 2


def test_a_file_may_name_the_recipe_and_change_it(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        'recipe = "paper"\nname = "mine"\n\n'
        "[pair]\ndimension = 8\n\n[context]\ndimension = 8\n\n[training]\nrate = 1\n"
    )
    recipe = resolve(None, path, [])
    assert (recipe.name, recipe.pair.dimension, recipe.pair.layers) == ("mine", 8, 4)
    assert recipe.training == replace(paper().training, rate=1.0)


def test_assignments_prevail_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[training]\nbatch = 7\nseed = 8\n")
    recipe = resolve("paper", path, ["training.batch=9"])
    assert (recipe.training.batch, recipe.training.seed) == (9, 8)


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    with pytest.raises(UsageError, match=r"settings\.toml: no such file"):
        resolve("paper", path, [])
    for broken in ("training batch 7", f"x = {'[' * 9_999}", f"x = {'9' * 9_999}"):
        path.write_text(broken)
        with pytest.raises(UsageError, match=r"settings\.toml: not TOML"):
            resolve("paper", path, [])
    path.write_bytes("# schön".encode("latin-1"))
    with pytest.raises(UsageError, match=r"settings\.toml: not UTF-8 \(byte 0xf6 at 5\)"):
        resolve("paper", path, [])


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("training.bach=4", r"no setting training\.bach; did you mean training\.batch\?"),
        ("trainin.batch=4", r"no setting trainin; did you mean training\?"),
        ("zzzz=4", "no setting zzzz; there are name, triples, pair, context, negatives, training"),
        ("training.batch=many", r"training\.batch is 'many'; it must be a whole number, as in 600"),
        ("training.batch=1.5", r"training\.batch is 1\.5; it must be a whole number"),
        ("training.batch=true", r"training\.batch is True; it must be a whole number"),
        ("training.rate=fast", r"training\.rate is 'fast'; it must be a number, as in 0\.01"),
        ("training.rate=true", r"training\.rate is True; it must be a number"),
        ("training.optimiser=3", r"training\.optimiser is 3; it must be a word, as in 'sgd'"),
        ("training.batch.size=3", r"training\.batch is \{'size': 3\}; it must be a whole number"),
        ("context=4", "context is a group of settings: dimension, hidden"),
        ("training.batch", r"--set training\.batch: expected KEY=VALUE, as in training\.batch=4"),
        ("training.optimiser=lion", r"training\.optimiser is 'lion'; .* sgd, adagrad, adam"),
        ("training.schedule=cosine", r"training\.schedule is 'cosine'; .*plateau, linear, constan"),
        ("training.loss=max", r"training\.loss is 'max'; it must be one of sum, mean"),
        ("training.step_mode=fast", r"training\.step_mode is 'fast'; .* auto, plain, cuda_graph"),
        (f"training.batch={'9' * 9_999}", r"training\.batch is '9+'; it must be a whole number"),
        (f"training.batch={'[' * 9_999}", r"training\.batch is '\[+'; it must be a whole number"),
        (f"training.batch=0x{'f' * 9_999}", r"training\.batch has more than 18 digits"),
        (f"training.rate={'9' * 400}", r"training\.rate has more than 18 digits"),
        ("training.seed=-1", r"training\.seed is -1; it must be from 0 to 4,294,967,295"),
        ("training.threads=-3", r"training\.threads is -3; it must be from 0 to 1,024"),
        ("training.rate=-1", r"training\.rate is -1\.0; it must be from 0 to 10"),
        ("training.rate=nan", r"training\.rate is nan; it must be from 0 to 10"),
        ("training.clip=inf", r"training\.clip is inf; it must be from 0 to 1,000,000,000"),
        ("training.batch=0", r"training\.batch is 0; it must be from 1 to 10,000,000"),
        ("negatives.typed=5", r"negatives\.typed is 5; it must be from 0 to words, which is 3"),
    ],
)
def test_a_wrong_setting_is_refused_with_a_valid_one(assignment: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        resolve("paper", None, [assignment])


def test_for_an_unknown_recipe_the_nearest_one_is_named() -> None:
    with pytest.raises(UsageError, match="no recipe 'papr'; did you mean paper"):
        find_recipe("papr")
    with pytest.raises(UsageError, match="there are fast, paper,"):
        find_recipe("zzz")


def test_settings_leave_the_recipe_they_change_alone() -> None:
    recipe = paper()
    changed = with_settings(recipe, {"negatives": {"words": 0, "typed": 0}})
    assert changed.negatives == replace(recipe.negatives, words=0, typed=0)
    assert recipe == paper()


def test_pair_and_context_must_have_one_dimension() -> None:
    with pytest.raises(UsageError, match=r"pair\.dimension is 7 and context\.dimension 300"):
        Recipe(name="odd", pair=PairConfig(dimension=7))


def test_a_small_corpus_is_fitted_a_small_network_and_enough_steps(corpus: Corpus) -> None:
    recipe = fitted(corpus)
    assert recipe.name == "fitted"
    assert recipe.pair.dimension == recipe.context.dimension == 100
    assert recipe.context.hidden == 50
    per_epoch = TripleStream(corpus, recipe.triples).expected_triples()
    # In a vocabulary as small, subsampling by `fast` would leave next to nothing.
    assert recipe.triples.threshold > fast().triples.threshold
    assert per_epoch >= corpus.manifest.tokens / 2
    training = recipe.training
    steps = training.epochs * per_epoch // training.batch
    assert training.epochs == 10
    assert steps >= 10 * training.validation_steps >= 100
    assert training.warmup_steps < steps / 5
    assert fitted(corpus, dimension=50).pair == replace(
        recipe.pair, dimension=50, length=math.sqrt(50)
    )


def test_a_large_corpus_is_fitted_the_recipe_fast(corpus: Corpus) -> None:
    manifest = replace(corpus.manifest, tokens=SMALL_CORPUS)
    assert fitted(replace(corpus, manifest=manifest)) == replace(fast(), name="fitted")


def test_a_recipe_is_fitted_only_where_none_is_named(tmp_path: Path) -> None:
    def unnamed() -> Recipe:
        return replace(fast(), name="fitted")

    assert resolve(None, None, ["training.seed=3"], unnamed).name == "fitted"
    assert resolve("tiny", None, [], unnamed) == tiny()
    path = tmp_path / "settings.toml"
    path.write_text('recipe = "paper"')
    assert resolve(None, path, [], unnamed) == paper()
    assert resolve("tiny", path, [], unnamed) == tiny()
