"""From labelled examples to a classifier, and back from its folder."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.experiments.nli.relation_world import FAMILIES, data, examples, input_paths, settings
from tests.tiny_model import reseal

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.nli.classifier import Classifier, explain, load_classifier
from pair2vec.experiments.nli.examples import LABELS, NliExample, distinct_words
from pair2vec.experiments.nli.train import LabelledExamples, NliData, train_classifier
from pair2vec.experiments.tasks.inputs import InputPaths, PairsConfig, open_inputs
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.runtime.checksums import with_checksums
from pair2vec.training.train import Interrupted

UNSEEN = examples(range(FAMILIES - 15, FAMILIES), extra=3)


@pytest.fixture(scope="module")
def trained(inputs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Classifier:
    out = tmp_path_factory.mktemp("trained") / "pair2vec"
    return train_classifier(out, data(3), input_paths(inputs, "pair2vec"), settings())


@pytest.fixture(scope="module")
def folder(
    trained: Classifier, inputs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Of a second run with the same seed, data and settings."""
    out = tmp_path_factory.mktemp("trained") / "pair2vec"
    train_classifier(out, data(3), input_paths(inputs, "pair2vec"), settings())
    return out


def accuracy(classifier: Classifier, examples: list[NliExample]) -> float:
    labels = classifier.predict(examples).labels
    return float(np.mean([e.label == label for e, label in zip(examples, labels, strict=True)]))


def test_with_pair_vectors_it_generalises_to_unseen_words(trained: Classifier) -> None:
    assert accuracy(trained, UNSEEN) > 0.95


def test_without_pair_vectors_it_memorises_words_and_does_not_generalise(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    seen = LabelledExamples(examples(range(12)), {})
    longer = settings(
        *("training.epochs=60", "training.patience=0", "training.rate_factor=1.0"),
        *("training.rate=0.02", "esim.dropout=0.0", "esim.hidden=24"),
    )
    base = train_classifier(
        tmp_path / "base",
        NliData(seen, seen),
        input_paths(inputs, "none"),
        longer,
        more_words=distinct_words(UNSEEN),
    )
    assert accuracy(base, seen.examples) > 0.8
    assert accuracy(base, UNSEEN) < 0.6
    # The words of `more_words` are known, too.
    loaded = load_classifier(tmp_path / "base", distinct_words(UNSEEN))
    expected = loaded.predict(UNSEEN).probabilities
    np.testing.assert_allclose(base.predict(UNSEEN).probabilities, expected, atol=1e-6)


def test_differences_of_word_vectors_generalise_here_as_pair_vectors_do(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    classifier = train_classifier(
        tmp_path / "model", data(3), input_paths(inputs, "pair_distance"), settings()
    )
    assert accuracy(classifier, UNSEEN) > 0.95


WORDNET_EXAMPLES = [
    NliExample(("the", x), ("the", y), label)
    for (x, y), label in zip(
        [("dog", "animal"), ("dog", "wolf"), ("hot", "cold")], LABELS, strict=True
    )
]
"""Their words have no vectors: only WordNet distinguishes them."""


def test_wordnet_features_suffice_for_words_without_vectors(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    few = LabelledExamples(WORDNET_EXAMPLES * 12, {"few": 36})
    classifier = train_classifier(
        tmp_path / "wordnet",
        NliData(few, few),
        input_paths(inputs, "wordnet"),
        settings("training.epochs=30", "training.patience=0"),
    )
    assert classifier.predict(WORDNET_EXAMPLES).labels == list(LABELS)
    loaded = load_classifier(tmp_path / "wordnet", distinct_words(WORDNET_EXAMPLES))
    assert loaded.predict(WORDNET_EXAMPLES).labels == list(LABELS)


def test_pair_vectors_and_wordnet_concatenated_have_the_information_of_both(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    world = data(3)
    mixed = LabelledExamples([*world.train.examples, *WORDNET_EXAMPLES * 12], {"both": 171})
    out = tmp_path / "both"
    both = train_classifier(
        out,
        NliData(mixed, mixed),
        input_paths(inputs, "pair2vec+wordnet"),
        settings("training.epochs=30"),
        more_words=distinct_words(UNSEEN),
    )
    assert accuracy(both, UNSEEN) > 0.95
    assert both.predict(WORDNET_EXAMPLES).labels == list(LABELS)
    all_examples = [*UNSEEN, *WORDNET_EXAMPLES]
    loaded = load_classifier(out, distinct_words(all_examples))
    expected = both.predict(all_examples).probabilities
    np.testing.assert_allclose(loaded.predict(all_examples).probabilities, expected, atol=1e-6)
    assert both.config["pair_source"]["words"] == 244
    with pytest.raises(InputError, match="another content of --pair-model"):
        load_classifier(out, distinct_words(all_examples), moved={"pair_model": "wikipedia"})


def test_a_loaded_classifier_predicts_as_the_trained_one_did(
    trained: Classifier, folder: Path
) -> None:
    loaded = load_classifier(folder, distinct_words(UNSEEN))
    predicted, expected = loaded.predict(UNSEEN), trained.predict(UNSEEN)
    assert predicted.labels == expected.labels
    np.testing.assert_allclose(predicted.probabilities, expected.probabilities, atol=1e-6)
    np.testing.assert_allclose(predicted.probabilities.sum(axis=1), 1, atol=1e-6)


def test_predictions_come_in_the_order_of_the_examples(trained: Classifier) -> None:
    mixed = sorted(UNSEEN, key=lambda e: (len(e.premise) * 7 + len(e.hypothesis)) % 5)
    together = trained.predict(mixed).probabilities
    alone = [trained.predict([example]).probabilities[0] for example in mixed]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert trained.predict([]).labels == []


def test_a_folder_has_the_trained_weights_and_how_they_were_trained(
    folder: Path, inputs: dict[str, Path]
) -> None:
    config = json.loads((folder / "config.json").read_bytes())
    assert (config["kind"], config["format"]) == ("nli classifier", 1)
    assert config["labels"] == list(LABELS)
    assert config["inputs"]["pairs"] == "pair2vec"
    assert config["inputs"]["words"] == str(inputs["words.vec"].resolve())
    source = {"name": "pair_model", "recipe": "t", "corpus": "of a test", "words": 244}
    assert config["pair_source"] == source
    assert config["train"] == {"train.jsonl": 135}
    assert config["dev"] == {"dev.jsonl": 45}
    assert config["dev_score"] == 100.0
    stored = load_file(folder / "weights.safetensors")
    assert {name: list(w.shape) for name, w in stored.items()} == config["weights"]
    assert not any("relations" in name or "vectors" in name for name in stored)
    assert (folder / "training" / "metrics.jsonl").exists()


def damaged(folder: Path, out: Path, damage: Callable[[Path], object]) -> Path:
    out.mkdir()
    for name in ("config.json", "weights.safetensors"):
        (out / name).write_bytes((folder / name).read_bytes())
    damage(out)
    return out


def change(**changes: object) -> Callable[[Path], object]:
    """Another config with right checksums."""

    def damage(out: Path) -> None:
        config = {**json.loads((out / "config.json").read_bytes()), **changes}
        sealed = with_checksums("config.json", config, config["checksums"])
        (out / "config.json").write_text(json.dumps(sealed))

    return damage


def flip_bit(name: str) -> Callable[[Path], object]:
    def damage(out: Path) -> None:
        content = bytearray((out / name).read_bytes())
        # In a weight, or in a figure of the config.
        content[-5 if name == "weights.safetensors" else content.index(b"100.0") + 2] ^= 1
        (out / name).write_bytes(content)

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda out: (out / "config.json").unlink(),
            r"not a complete classifier \(no config.json\)",
        ),
        (lambda out: (out / "config.json").write_text("{"), "is not the config of an NLI class"),
        (lambda out: (out / "weights.safetensors").unlink(), "weights.safetensors: no such file"),
        (lambda out: (out / "weights.safetensors").write_bytes(b"12345678"), "is damaged"),
        (flip_bit("weights.safetensors"), "weights.safetensors: is damaged: its checksum is not"),
        (flip_bit("config.json"), "config.json: is damaged, or was edited by hand; train or copy"),
        (lambda out: (out / "config.json").write_text("[" * 99_999), "is not the config of an NLI"),
        (change(format=9), "format 9 is newer than this version reads"),
        (change(settings={"esim": {"hiden": 3}}), "does not say how .* esim.hidden"),
        (change(settings={"esim": {"hidden": 3}}), "have shape .* where its settings"),
        (change(input_hashes={"pair_model": "0"}), "another content of --pair-model"),
    ],
)
def test_a_damaged_folder_is_refused_in_a_line(
    damage: Callable[[Path], object], message: str, folder: Path, tmp_path: Path
) -> None:
    out = damaged(folder, tmp_path / "damaged", damage)
    with pytest.raises(InputError, match=message) as raised:
        load_classifier(out, ["the"])
    assert "\n" not in str(raised.value)


def test_inputs_that_have_moved_can_be_named(folder: Path, tmp_path: Path) -> None:
    config = json.loads((folder / "config.json").read_bytes())
    gone = {**config["inputs"], "words": "/nowhere/words.vec"}
    out = damaged(folder, tmp_path / "moved", change(inputs=gone))
    with pytest.raises(InputError, match=r"/nowhere/words.vec: no such file"):
        load_classifier(out, ["the"])
    moved = {"words": config["inputs"]["words"], "pair_model": None}
    loaded = load_classifier(out, distinct_words(UNSEEN), moved=moved)
    assert accuracy(loaded, UNSEEN) > 0.95


def test_another_pair_model_in_the_place_of_the_one_it_was_trained_with_is_refused(
    folder: Path, tmp_path: Path
) -> None:
    config = json.loads((folder / "config.json").read_bytes())
    swapped = tmp_path / "swapped"
    shutil.copytree(config["inputs"]["pair_model"], swapped)
    # As many words, of the same corpus and under the same name: only the content differs.
    reseal(swapped, lambda config: config["recipe"].update(negatives={"words": 0}))
    with pytest.raises(InputError, match="another content of --pair-model"):
        load_classifier(folder, ["the"], moved={"pair_model": str(swapped)})


def test_another_file_of_word_vectors_at_the_same_path_is_refused(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    words = tmp_path / "words.vec"
    shutil.copy(inputs["words.vec"], words)
    named = replace(input_paths(inputs, "none"), words=str(words))
    steps = iter(range(3))
    with pytest.raises(Interrupted):
        train_classifier(
            tmp_path / "out", data(3), named, settings(),
            should_stop=lambda: next(steps, None) is None,
        )  # fmt: skip
    text = words.read_text()
    words.write_text(text.replace("0.", "1.", 1))
    with pytest.raises(UsageError, match="was begun with another inputs"):
        train_classifier(tmp_path / "out", data(3), named, settings(), resume=True)


def test_the_same_seed_makes_the_same_classifier(folder: Path, trained: Classifier) -> None:
    stored = load_file(folder / "weights.safetensors")
    for name, weights in trained.network.named_parameters():
        if weights.requires_grad:
            assert torch.equal(stored[name], weights)


def test_an_interrupted_training_resumes_to_the_same_classifier(
    folder: Path, inputs: dict[str, Path], tmp_path: Path
) -> None:
    out, named = tmp_path / "model", input_paths(inputs, "pair2vec")
    for stop_after in (3, 20):
        steps = iter(range(stop_after))
        with pytest.raises(Interrupted):
            train_classifier(
                out, data(3), named, settings(), resume=True,
                should_stop=lambda steps=steps: next(steps, None) is None,  # type: ignore[misc]
            )  # fmt: skip
        assert not (out / "config.json").exists()
    with pytest.raises(UsageError, match="was begun with another data"):
        train_classifier(out, data(2), named, settings(), resume=True)
    with pytest.raises(UsageError, match="a job that was begun: --resume continues it"):
        train_classifier(out, data(3), named, settings())
    assert list((out / "training").glob("step-*"))
    train_classifier(out, data(3), named, settings(), resume=True)
    # Checkpoints have served.
    assert not list((out / "training").glob("step-*"))
    name = "weights.safetensors"
    assert (out / name).read_bytes() == (folder / name).read_bytes()


def test_what_is_complete_is_neither_trained_again_nor_overwritten_unasked(
    folder: Path, inputs: dict[str, Path], tmp_path: Path
) -> None:
    out = damaged(folder, tmp_path / "copy", lambda _: None)
    named = input_paths(inputs, "pair2vec")
    with pytest.raises(UsageError, match="already holds a classifier; give another --out"):
        train_classifier(out, data(3), named, settings())
    with pytest.raises(UsageError, match="already holds a classifier and nothing to resume"):
        train_classifier(out, data(3), named, settings(), resume=True)
    reports: list[object] = []
    again = train_classifier(folder, data(3), named, settings(), resume=True, report=reports.append)
    assert accuracy(again, UNSEEN) > 0.95
    assert not reports
    short = settings("training.epochs=1")
    replaced = train_classifier(out, data(3), named, short, overwrite=True)
    assert replaced.config["epochs"] == 1


def test_a_folder_of_something_else_is_left_alone(inputs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"is not a classifier and not empty \(mine.txt\)"):
        train_classifier(tmp_path, data(), input_paths(inputs, "none"), settings(), overwrite=True)
    with pytest.raises(UsageError, match="is a file, not a folder"):
        train_classifier(
            tmp_path / "mine.txt", data(), input_paths(inputs, "none"), settings(), overwrite=True
        )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_missing_inputs_show_before_anything_is_written(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    for named, message in [
        (InputPaths(words="/nowhere.vec"), "/nowhere.vec: no such file"),
        (
            replace(input_paths(inputs, "pair_distance"), pair_vectors=None),
            "that pair2vec was trained from: name their file as --pair-vectors",
        ),
        (
            replace(input_paths(inputs, "pair_distance"), pair_vectors=str(tmp_path)),
            "a folder; name the file of word vectors in it",
        ),
    ]:
        with pytest.raises((InputError, UsageError), match=message):
            train_classifier(tmp_path / "out", data(), named, settings())
    for pairs in ("antonyms", "pair2vec+antonyms", "pair2vec+pair2vec", "wordnet+", ""):
        message = rf"--pairs {re.escape(pairs)}: it must be one of pair2vec, wordnet"
        with pytest.raises(UsageError, match=message):
            input_paths(inputs, pairs)
    assert not (tmp_path / "out").exists()


def test_pair_vectors_are_whitened_on_request(inputs: dict[str, Path]) -> None:
    bundled = replace(input_paths(inputs, "pair2vec"), pair_model=None)
    plain, whitened = (
        open_inputs(bundled, data().words(), PairsConfig(whitening=whitening)).relations
        for whitening in (0, 0.5)
    )
    assert isinstance(plain, PairAttention)
    assert isinstance(whitened, PairAttention)
    weights = [dict(layer.pair.encoder.named_buffers()) for layer in (plain, whitened)]
    changed = [name for name, values in weights[0].items() if not values.equal(weights[1][name])]
    last = max(name.rpartition(".")[0] for name in weights[0])
    assert changed == [f"{last}.weight", f"{last}.bias"]


def test_differences_are_whitened_on_request(inputs: dict[str, Path]) -> None:
    named = input_paths(inputs, "pair_distance")
    plain, whitened = (
        open_inputs(named, data().words(), PairsConfig(whitening=whitening)).relations
        for whitening in (0, 0.5)
    )
    assert isinstance(plain, PairAttention)
    assert isinstance(whitened, PairAttention)
    assert not torch.allclose(plain.pair.words, whitened.pair.words)


def test_the_decisive_pair_comes_first(trained: Classifier, inputs: dict[str, Path]) -> None:
    for example in UNSEEN[:6]:
        explanation = explain(trained, example, top=3)
        assert explanation.label == example.label
        assert (explanation.attributions[0].premise, explanation.attributions[0].hypothesis) == (
            example.premise[1],
            example.hypothesis[1],
        )
        assert explanation.attributions[0].pairs > 0
        assert len(explanation.attributions) == 3
        assert explanation.probabilities[explanation.label] == max(
            explanation.probabilities.values()
        )
        assert sum(explanation.probabilities.values()) == pytest.approx(1)


def test_an_attribution_is_what_the_margin_loses_to_first_order(trained: Classifier) -> None:
    """Against the change that a little less of a pair's attention makes."""
    from pair2vec.experiments.nli.batches import EncodedExamples, NliBatches
    from pair2vec.experiments.nli.esim import Attention

    # Without repeated words, so that a word has one position.
    example = next(e for e in UNSEEN if len(e.premise) == 3)
    network = trained.network
    batches = NliBatches(EncodedExamples([example]), network.embedder, network.relations)
    batch = batches.batch(np.zeros(1, np.int64))
    explanation = explain(trained, example, top=100)
    label = LABELS.index(explanation.label)
    network.double()
    try:
        with torch.no_grad():
            encoded = network.encode(batch)
            full = Attention(*(part.double() for part in network.attend(batch, encoded)))

            def margin(for_words: Attention, for_pairs: Attention) -> float:
                scores = network.classify(batch, encoded, for_words, for_pairs)[0].double()
                return float(scores[label] - (scores.sum() - scores[label]) / 2)

            for pair in explanation.attributions[:2]:
                i = example.premise.index(pair.premise)
                j = example.hypothesis.index(pair.hypothesis)
                less = Attention(*(part.clone() for part in full))
                less.a_to_b[0, i, j] *= 0.98
                less.b_to_a[0, j, i] *= 0.98
                whole = margin(full, full)
                assert (whole - margin(full, less)) / 0.02 == pytest.approx(
                    pair.pairs, rel=0.1, abs=0.01
                )
                assert (whole - margin(less, full)) / 0.02 == pytest.approx(
                    pair.words, rel=0.1, abs=0.01
                )
    finally:
        network.float()
