"""The injection layer as a part of another model: words, precision, saving, errors, the docs."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.injection.small_layer import (
    SIZE,
    A,
    B,
    close,
    every_composition,
    make_layer,
    make_model,
    random_attention,
    watch_pairs,
)
from tests.tiny_model import save_tiny_model

from pair2vec.errors import UsageError
from pair2vec.injection import pair_attention
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.model.folder import load_model
from pair2vec.text.vocabulary import Vocabulary

DOC = Path(__file__).parents[2] / "docs" / "how-to" / "injection.md"


def test_words_are_spelled_as_in_a_corpus_and_padded_with_zeros(tmp_path: Path) -> None:
    layer = make_layer(tmp_path)
    number = layer.vocabulary.ids
    found = layer.ids([["HOT", "unheard", "Paris"], [], ["up/down", "", "<x>", ","]])
    assert found.dtype == torch.long
    assert found.tolist() == [
        [number["hot"], 0, number["paris"], 0],
        [0, 0, 0, 0],
        [0, 0, 0, number[","]],
    ]


def test_a_word_is_tokenised_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = make_layer(tmp_path)
    seen: list[str] = []

    def find_word(word: str, vocabulary: Vocabulary) -> int | None:
        seen.append(word)
        return vocabulary.ids.get(word)

    monkeypatch.setattr(pair_attention, "find_word", find_word)
    monkeypatch.setattr(pair_attention, "_MAX_CACHED_IDS", 3)
    hot = layer.vocabulary.ids["hot"]
    for _ in range(3):
        assert layer.ids([["hot", "unheard", "hot"]]).tolist() == [[hot, 0, hot]]
    assert seen == ["hot", "unheard"]
    # No more spellings are kept than the limit: then it begins anew.
    layer.ids([["up", "down"]])
    assert layer.ids([["hot"]]).tolist() == [[hot]]
    assert seen == ["hot", "unheard", "up", "down", "hot"]


def test_pair_vectors_are_frozen(tmp_path: Path) -> None:
    torch.manual_seed(5)
    layer = make_layer(tmp_path).train().requires_grad_()
    assert torch.initial_seed() == 5
    assert torch.equal(torch.rand(3), torch.rand(3, generator=torch.Generator().manual_seed(5)))
    assert list(layer.parameters()) == []
    a, b = layer.ids(A), layer.ids(B)
    layer(a, b, random_attention(a, b).requires_grad_()).sum().backward()
    assert not any(tensor.requires_grad for tensor in layer.buffers())


def test_a_state_has_the_pair_vectors_only_if_they_are_to_persist(tmp_path: Path) -> None:
    layer = make_layer(tmp_path)
    kept = PairAttention(load_model(tmp_path), persistent=True).eval()
    assert layer.state_dict() == {}
    assert len(kept.state_dict()) == 7
    layer.load_state_dict({})
    with pytest.raises(RuntimeError, match="Missing key"):
        kept.load_state_dict({})


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("persistent", [False, True])
def test_a_state_with_pair_vectors_makes_another_layer_the_same(
    persistent: bool, dtype: torch.dtype, tmp_path: Path
) -> None:
    layer = make_layer(tmp_path / "first", persistent=True).to(dtype)
    other = make_layer(tmp_path / "second", persistent=persistent).to(dtype)
    a, b = layer.ids(A), layer.ids(B)
    alpha = random_attention(a, b)
    for tensor in other.buffers():
        tensor.zero_()
    assert not torch.allclose(layer(a, b, alpha), other(a, b, alpha))
    # As a part of a model, which has a state of its own.
    states = [torch.nn.ModuleList([torch.nn.Linear(1, 1), one]) for one in (layer, other)]
    found = states[1].load_state_dict(states[0].state_dict())
    assert found == ([], [])
    assert torch.equal(layer(a, b, alpha), other(a, b, alpha))


def test_pair_vectors_of_another_model_are_not_loaded(tmp_path: Path) -> None:
    state = make_layer(tmp_path / "first", persistent=True).state_dict()
    layer = make_layer(tmp_path / "second")
    lacking = {name: tensor for name, tensor in state.items() if name != "pair.words"}
    with pytest.raises(RuntimeError, match="Unexpected key"):
        layer.load_state_dict(lacking)
    lacking = {name: tensor for name, tensor in state.items() if "bias" not in name}
    with pytest.raises(RuntimeError, match=r"Missing key.*pair\.encoder\.first\.bias"):
        layer.load_state_dict(lacking)
    with pytest.raises(RuntimeError, match=r"of shape \(9, 6\), but the layer's model has \(22, 6"):
        layer.load_state_dict({**state, "pair.words": torch.zeros(9, SIZE)})


@pytest.mark.parametrize(
    ("composition", "attention", "sharpness", "dtype", "backend"),
    [
        ("mlp", "kept", 1.0, torch.float32, "aot_eager"),
        ("mlp", "renormalised", 2.0, torch.bfloat16, "eager"),
        ("multiply", "kept", 1.0, torch.float16, "eager"),
        ("difference", "kept", 1.0, torch.float32, "eager"),
    ],
)
def test_a_compiled_layer_is_one_graph_with_the_same_results(
    composition: str,
    attention: str,
    sharpness: float,
    dtype: torch.dtype,
    backend: str,
    tmp_path: Path,
) -> None:
    options: dict[str, Any] = {"attention": attention, "sharpness": sharpness}
    layer = make_layer(tmp_path, composition=composition, **options).to(dtype)
    a, b = layer.ids(A), layer.ids(B)
    torch._dynamo.reset()
    compiled = torch.compile(layer.both, fullgraph=True, backend=backend)
    found = []
    for both in (layer.both, compiled):
        alpha = random_attention(a, b).to(dtype).requires_grad_()
        beta = random_attention(b, a, seed=1).to(dtype).requires_grad_()
        sides = both(a, b, alpha, beta)
        torch.autograd.backward([side.square().sum() for side in sides])
        found.append((*sides, alpha.grad, beta.grad))
    tolerance = {torch.float32: 1e-5, torch.float16: 0.01, torch.bfloat16: 0.1}[dtype]
    for plain, traced in zip(*found, strict=True):
        assert plain is not None and traced is not None
        assert plain.dtype == traced.dtype == dtype
        torch.testing.assert_close(traced, plain, rtol=tolerance, atol=tolerance)


def test_one_side_is_compiled_too(tmp_path: Path) -> None:
    layer = make_layer(tmp_path, keep_parts=True)
    a, b = layer.ids(A), layer.ids(B)
    alpha = random_attention(a, b)
    torch._dynamo.reset()
    compiled = torch.compile(layer, fullgraph=True, backend="eager")
    close(compiled(a, b, alpha), layer(a, b, alpha))


@every_composition
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_the_result_has_the_precision_of_the_attention(
    composition: str, layers: int, dtype: torch.dtype, tmp_path: Path
) -> None:
    layer = make_layer(tmp_path, composition=composition, layers=layers)
    a, b = layer.ids(A), layer.ids(B)
    alpha = random_attention(a, b)
    exact = layer(a, b, alpha)
    for one in (layer, deepcopy(layer).to(dtype)):
        weights = alpha.to(dtype).requires_grad_()
        found = one(a, b, weights)
        found.sum().backward()
        assert found.dtype == dtype
        assert weights.grad is not None and weights.grad.isfinite().all()
        torch.testing.assert_close(found.float(), exact, rtol=0, atol=0.03)


def test_the_gradient_repeats_the_autocast_of_the_forward_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = make_layer(tmp_path)
    dtypes: list[torch.dtype] = []
    watch_pairs(monkeypatch, lambda vectors: dtypes.append(vectors.dtype))
    a, b = layer.ids(A), layer.ids(B)
    with torch.autocast("cpu", torch.bfloat16):
        found = layer(a, b, random_attention(a, b).requires_grad_())
    found.sum().backward()
    assert dtypes == [torch.bfloat16] * 4  # directions, passes


def test_dropout_is_for_training_only(tmp_path: Path) -> None:
    layer = make_layer(tmp_path, dropout=0.5)
    a, b = layer.ids(A), layer.ids(B)
    alpha = random_attention(a, b)
    exact = layer(a, b, alpha)
    assert torch.equal(exact, layer(a, b, alpha))
    torch.manual_seed(0)
    dropped = layer.train()(a, b, alpha)
    kept = dropped != 0
    assert 0.3 < kept[exact != 0].float().mean() < 0.7
    close(dropped[kept], 2 * exact[kept])


def test_bad_settings_are_refused(tmp_path: Path) -> None:
    saved = load_model(make_model(tmp_path))
    with pytest.raises(UsageError, match="attention is 'lost'; it must be one of kept, renorm"):
        PairAttention(saved, attention="lost")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"dropout is 1\.0; it must be at least 0 and below 1"):
        PairAttention(saved, dropout=1.0)
    with pytest.raises(UsageError, match="pairs_at_once is -1"):
        PairAttention(saved, pairs_at_once=-1)


def test_a_gpu_takes_more_pairs_at_once_than_a_cpu() -> None:
    cpu, gpu = (pair_attention.pairs_at_once_on(torch.device(kind)) for kind in ("cpu", "cuda"))
    assert gpu > cpu > 0


def test_bad_input_is_one_clear_error(tmp_path: Path) -> None:
    layer = make_layer(tmp_path)
    a, b = layer.ids(A), layer.ids(B)
    alpha, beta = random_attention(a, b), random_attention(b, a)
    with pytest.raises(UsageError, match="id 22 is not one of the model's, which go from 0 to 21"):
        layer(a, b.clamp_min(22), alpha)
    with pytest.raises(UsageError, match="id -1 is not one"):
        layer(a - 1, b, alpha)
    with pytest.raises(
        UsageError, match=r"attention_ab .* \(3, 4, 5\) where .* \(3, 5\) and \(3, 4"
    ):
        layer(a, b, beta)
    with pytest.raises(UsageError, match=r"attention_ba .* words of b, words of a"):
        layer.both(a, b, alpha, alpha)
    with pytest.raises(UsageError, match="attention_ab"):
        layer(a, b[:1], alpha)
    with pytest.raises(UsageError, match="attention_ab is torch"):
        layer(a, b, alpha.long())
    with pytest.raises(UsageError, match=r"a_ids is torch.int64 of shape \(5,\)"):
        layer(a[0], b, alpha)
    with pytest.raises(UsageError, match="b_ids is torch"):
        layer(a, b.float(), alpha)
    with pytest.raises(UsageError, match="'hot cold' is a string; give a list of its words"):
        layer.ids(["hot cold"])
    with pytest.raises(
        UsageError, match=r"phrase of the model; .* ids\(\['hot cold'\.split\(\)\]\)"
    ):
        layer.ids([["hot cold"]])


def test_a_phrase_of_the_vocabulary_is_a_word(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model", ["new york", "new", "hot"])
    layer = PairAttention.load(folder)
    assert layer.ids([["New  York", "hot", "half-cold", " new "]]).tolist() == [[4, 6, 0, 5]]


def test_a_layer_loads_by_the_name_of_a_model(tmp_path: Path) -> None:
    layer = PairAttention.load(make_model(tmp_path), dropout=0.3, attention="renormalised")
    assert (layer.dropout.p, layer.attention, layer.dimension) == (0.3, "renormalised", 2 * SIZE)
    with pytest.raises(UsageError, match="no such folder, and no model of this name"):
        PairAttention.load("no-such-model")


def examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)


def test_the_documented_example_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny_model(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(examples()[0], str(DOC), "exec"), names)
    assert names["model"].compare.weight.grad.abs().sum() > 0
    assert names["model"].embedding.weight.grad.abs().sum() > 0


def test_the_documented_encoder_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    from tests.experiments.embedders.small_bert import write_bert

    save_tiny_model(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(examples()[1], str(DOC), "exec"), names)
    comparison = names["EncodedComparison"](str(write_bert(tmp_path / "bert")), classes=3)
    scores = comparison(["the hot cat", "cold"], ["up or cold", "hot, hot"])
    assert scores.shape == (2, 3)
    scores.sum().backward()
    assert comparison.compare.weight.grad[:, -comparison.pairs.dimension :].abs().sum() > 0


def test_documented_examples_are_short_and_whole() -> None:
    assert len(examples()) == 2
    for example in examples():
        compile(example, str(DOC), "exec")
        assert len(example.splitlines()) < 40
