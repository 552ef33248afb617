"""Two classifiers compared: counts, decisive examples, charts and the page."""

import sys
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pytest
from tests.experiments.nli.relation_world import (
    FAMILIES,
    data,
    examples,
    input_paths,
    settings,
    write_inputs,
)

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.experiments.nli.classifier import Classifier, Predictions
from pair2vec.experiments.nli.comparison import (
    Comparison,
    DecisivePair,
    compare_classifiers,
    decisive_examples,
    mcnemar,
)
from pair2vec.experiments.nli.comparison_page import (
    CATEGORIES,
    COMPARISON_PAGE,
    EXAMPLES,
    ComparisonFigures,
    ComparisonProtocol,
    check_page_folder,
    comparison_page,
    write_page,
)
from pair2vec.experiments.nli.evaluate import Labeller, evaluate_nli
from pair2vec.experiments.nli.examples import LABELS, NliExample, NliSet
from pair2vec.experiments.nli.train import train_classifier

UNSEEN = examples(range(FAMILIES - 15, FAMILIES))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Classifier]:
    folder = tmp_path_factory.mktemp("compared")
    inputs = write_inputs(folder)
    return {
        pairs: train_classifier(
            folder / pairs, data(), input_paths(inputs, pairs), settings(), device="cpu"
        )
        for pairs in ("none", "pair2vec")
    }


@pytest.fixture(scope="module")
def comparison(trained: dict[str, Classifier]) -> Comparison:
    return compare_classifiers(trained["none"], trained["pair2vec"], UNSEEN)


@pytest.fixture
def protocol(trained: dict[str, Classifier]) -> ComparisonProtocol:
    return ComparisonProtocol(
        base="none",
        model="pair2vec",
        base_config=trained["none"].config,
        model_config=trained["pair2vec"].config,
        data="breaking_nli.jsonl",
        dropped=3,
        date="2026-01-02",
    )


def test_mcnemar_is_twice_the_smaller_tail_of_a_fair_coin() -> None:
    assert mcnemar(0, 30) == 2 / 2**30
    assert mcnemar(1, 9) == mcnemar(9, 1) == 2 * (1 + 10) / 1024
    tail = sum(comb(300, k) for k in range(121))
    assert mcnemar(120, 180) == pytest.approx(2 * tail / 2**300)
    assert mcnemar(0, 0) == mcnemar(7, 7) == 1.0
    # Beyond what floats hold.
    assert mcnemar(0, 8000) == 0.0
    assert mcnemar(4000, 4100) == pytest.approx(0.27, abs=0.01)


def predictions(*gold: float) -> Predictions:
    """Of examples whose label is entailment, by its probability."""
    rows = np.array([[p, 1 - p, 0] for p in gold], np.float32)
    return Predictions([LABELS[row.argmax()] for row in rows], rows)


def test_decisive_examples_are_the_best_of_each_category_first() -> None:
    categories = ["a", "a", "a", "b", "b", None, "a"]
    categorised = [NliExample(("x",), ("y",), "entailment", category) for category in categories]
    base = predictions(0.1, 0.2, 0.4, 0.3, 0.4, 0.45, 0.9)
    model = predictions(0.9, 0.9, 0.9, 0.7, 0.6, 0.55, 1.0)
    # The gains are .8 .7 .5 of a, .4 .2 of b and .1 of none; the last one both get right.
    assert decisive_examples(categorised, base, model) == [0, 3, 5, 1, 4, 2]
    assert decisive_examples(categorised, model, base) == []


def test_equally_decisive_examples_stay_in_order() -> None:
    equal = [NliExample(("x",), ("y",), "entailment", "a")] * 4
    assert decisive_examples(equal, predictions(*[0.2] * 4), predictions(*[0.7] * 4)) == [
        0,
        1,
        2,
        3,
    ]


def fixed(labels: list[str]) -> Labeller:
    return lambda _: labels


def test_accuracies_are_those_of_each_classifier_alone(
    trained: dict[str, Classifier], comparison: Comparison
) -> None:
    for pairs, side in (("none", 0), ("pair2vec", 1)):
        labels = trained[pairs].predict(UNSEEN).labels
        alone = evaluate_nli({"a": NliSet(UNSEEN)}, fixed(labels))["a"]
        assert comparison.overall[side] == alone.overall
        assert {name: gain[side] for name, gain in comparison.categories.items()} == dict(
            alone.categories
        )
    gains = [gain.points for gain in comparison.categories.values()]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > gains[-1]
    assert [name for name, _ in comparison.rows] == ["all", *comparison.categories]


def test_examples_that_only_one_gets_right_are_counted(
    trained: dict[str, Classifier],
) -> None:
    # Half of the labels are wrong, so that each classifier is sometimes the only one right.
    turned = [e._replace(label=LABELS[number % 3]) for number, e in enumerate(UNSEEN[1:])]
    mixed = [*UNSEEN, *turned]
    labels = [trained[pairs].predict(mixed).labels for pairs in ("none", "pair2vec")]
    right = [(e.label == a, e.label == b) for e, a, b in zip(mixed, *labels, strict=True)]
    compared = compare_classifiers(trained["none"], trained["pair2vec"], mixed, shown=2)
    assert compared.only_base == right.count((True, False)) > 0
    assert compared.only_model == right.count((False, True)) > compared.only_base
    assert compared.p_value == mcnemar(compared.only_base, compared.only_model)
    assert len(compared.examples) == 2


def test_examples_are_explained_by_the_decisive_pair(comparison: Comparison) -> None:
    assert comparison.pathway == "pairs"
    assert len(comparison.examples) == 10
    assert len({decisive.example.category for decisive in comparison.examples[:2]}) == 2
    for decisive in comparison.examples:
        assert decisive.model.label == decisive.example.label != decisive.base.label
        assert (
            decisive.model.probabilities[decisive.model.label]
            > decisive.base.probabilities[decisive.model.label]
        )
        first = decisive.pairs[0]
        assert (first.premise, first.hypothesis) == (
            decisive.example.premise[1],
            decisive.example.hypothesis[1],
        )
        assert first.attribution > 0
        assert all(pair.attribution for pair in decisive.pairs)


def test_a_model_without_pairs_is_explained_through_words(trained: dict[str, Classifier]) -> None:
    labels = trained["none"].predict(UNSEEN).labels
    # Labels that the model without pairs alone gets right.
    turned = [e._replace(label=label) for e, label in zip(UNSEEN, labels, strict=True)]
    compared = compare_classifiers(trained["pair2vec"], trained["none"], turned)
    assert compared.pathway == "words"
    assert len(compared.examples) == 10
    assert any(one.pairs for one in compared.examples)


def test_no_examples_are_an_error(trained: dict[str, Classifier]) -> None:
    with pytest.raises(UsageError, match="no examples to compare"):
        compare_classifiers(trained["none"], trained["pair2vec"], [])


def test_the_page_has_accuracies_examples_and_protocol_without_folders(
    comparison: Comparison, protocol: ComparisonProtocol, trained: dict[str, Classifier]
) -> None:
    page = comparison_page(comparison, protocol)
    overall = comparison.overall
    assert "| category | n | none | pair2vec | gain |" in page
    assert f"| all | 45 | {overall.base.accuracy:.2f} (" in page
    assert f"| {overall.points:+.2f} |" in page
    assert f"is right on {comparison.only_base} examples" in page
    assert f"probability {comparison.p_value:.2g} (McNemar's exact test" in page
    assert "![Accuracy by category](categories.png)" in page
    assert page.index("](examples.png)") < page.index("### 1. ") < page.index("### 10. ")
    best = comparison.examples[0].pairs[0]
    assert f"decisive pairs: *{best.premise}* – *{best.hypothesis}* {best.attribution:+.3f}" in page
    assert "through the relation vector of the pair of words" in page
    assert "- pair2vec: esim, pairs pair2vec, words words.vec, seed 0, trained on 135 of" in page
    assert r"- examples: breaking\_nli.jsonl; 3 without a gold label left out" in page
    assert "- date: 2026-01-02" in page
    assert str(Path(trained["none"].config["inputs"]["words"]).parent) not in page


def test_words_of_examples_are_never_markup(
    comparison: Comparison, protocol: ComparisonProtocol
) -> None:
    odd = NliExample(("a", "|", "*", "<b>"), ("$", "x_y", "$"), "neutral", "a_\nb")
    one = comparison.examples[0]._replace(example=odd, pairs=[])
    changed = replace(comparison, examples=[one])
    page = comparison_page(changed, protocol)
    assert r"“a \| \* \<b\>” → “\$ x\_y \$”: neutral" in page
    assert r"### 1. a\_ b" in page
    assert "decisive pairs: none; no pair has a relation vector" in page
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    # A formula that is none, "$ ^ $", would not be drawn.
    formula = odd._replace(premise=("$", "^", "$"), category="$^$")
    # Nor would bars beside a word as wide as the picture.
    pairs = [DecisivePair("$^$", "long" * 100, 1.0)]
    strange = replace(changed, examples=[one._replace(example=formula, pairs=pairs)])
    figures = ComparisonFigures("$^$", "b")
    assert figures.examples(strange).startswith(b"\x89PNG")
    gains = {"$^$": comparison.overall}
    assert figures.categories(replace(changed, categories=gains)).startswith(b"\x89PNG")


def test_a_page_without_decisive_examples_says_so(
    comparison: Comparison, protocol: ComparisonProtocol
) -> None:
    page = comparison_page(replace(comparison, examples=[], categories={}), protocol)
    assert "There is none that pair2vec gets right and none wrong." in page
    assert EXAMPLES not in page
    tiny = comparison_page(replace(comparison, only_base=0, only_model=8000), protocol)
    assert "probability below 1e-300" in tiny


def test_pictures_are_drawn_of_any_number_of_examples(comparison: Comparison) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    figures = ComparisonFigures("none", "pair2vec")
    for count in (1, 10):
        part = replace(comparison, examples=comparison.examples[:count])
        assert figures.examples(part).startswith(b"\x89PNG")
    assert figures.categories(comparison).startswith(b"\x89PNG")
    assert figures.categories(comparison) == figures.categories(comparison)


def test_a_missing_matplotlib_is_one_line_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Pair2vecError, match=r"needs matplotlib: pip install 'pair2vec\[plot\]'"):
        ComparisonFigures("a", "b")


def test_a_page_replaces_an_earlier_one_and_nothing_else(
    comparison: Comparison, protocol: ComparisonProtocol, tmp_path: Path
) -> None:
    out = tmp_path / "new" / "page"
    check_page_folder(out)
    text = comparison_page(comparison, protocol)
    assert write_page(out, text, {CATEGORIES: b"1", EXAMPLES: b"2"}) == out / COMPARISON_PAGE
    check_page_folder(out)
    write_page(out, text, {CATEGORIES: b"3"})
    assert sorted(path.name for path in out.iterdir()) == [CATEGORIES, COMPARISON_PAGE]
    assert (out / CATEGORIES).read_bytes() == b"3"
    # What a killed process leaves is written over too.
    (out / COMPARISON_PAGE).rename(out / f"{COMPARISON_PAGE}.12.partial")
    check_page_folder(out)
    (out / COMPARISON_PAGE).write_text("# My own page\n")
    with pytest.raises(UsageError, match=r"is not a comparison and not empty \(index\.md\)"):
        check_page_folder(out)
    with pytest.raises(UsageError, match="is a file, not a folder"):
        check_page_folder(out / COMPARISON_PAGE)
