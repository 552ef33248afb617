"""Sources of relations: none at all, and several side by side against each of them alone."""

from copy import deepcopy
from pathlib import Path

import pytest
import torch
from tests.injection.small_layer import A, B, close, make_layer, random_attention
from tests.wordnet.small_wordnet import small_wordnet

from pair2vec.errors import UsageError
from pair2vec.injection.sources import ConcatenatedSources, EmptySource, RelationSource
from pair2vec.injection.wordnet_attention import WordNetAttention

WORDS = [word for sentence in A + B for word in sentence]


def make_sources(folder: Path) -> list[RelationSource]:
    wordnet = WordNetAttention(small_wordnet(folder / "wordnet"), WORDS)
    return [make_layer(folder / "model", dropout=0.0), wordnet, EmptySource()]


def test_both_sides_and_gradients_are_those_of_the_sources(tmp_path: Path) -> None:
    sources = make_sources(tmp_path)
    joined = ConcatenatedSources(sources, WORDS)
    source: RelationSource = joined
    assert source.dimension == 12 + 5 + 0
    a, b = source.ids(A), source.ids(B)
    alpha = random_attention(a, b).requires_grad_()
    beta = random_attention(b, a, seed=1).requires_grad_()
    found = source.both(a, b, alpha, beta)
    alone = [one.both(one.ids(A), one.ids(B), alpha, beta) for one in sources]
    for side in range(2):
        close(found[side], torch.cat([one[side] for one in alone], dim=-1))
        assert found[side][..., :12].any() and found[side][..., 12:].any()
    close(source(a, b, alpha), found.a)
    sums = [
        torch.stack([side.square().sum() for one in some for side in one]).sum()
        for some in ([found], alone)
    ]
    gradients = [torch.autograd.grad(one, [alpha, beta]) for one in sums]
    for one, other in zip(*gradients, strict=True):
        close(one, other)


def test_a_word_that_one_source_knows_is_not_lost_for_it(tmp_path: Path) -> None:
    pairs, wordnet, _ = make_sources(tmp_path)
    joined = ConcatenatedSources([pairs, wordnet], [*WORDS, "HOT", "Paris", "nobody"])
    spelled = [["hot", "HOT", "Paris", "nobody", "unlisted"]]
    ids = joined.ids(spelled)
    own = joined.own_ids[ids]
    assert own[..., 0].tolist()[0][:4] == pairs.ids(spelled).tolist()[0][:4]
    assert own[..., 1].tolist()[0][0] == wordnet.ids(spelled).tolist()[0][0] > 0
    assert ids[0, 0] == ids[0, 1] != ids[0, 2]
    # What no source knows, or the module was not made for, is as padding.
    assert ids[0, 3:].tolist() == [0, 0]


def test_ids_are_on_the_device_of_the_module_and_a_copy_is_independent(tmp_path: Path) -> None:
    joined = ConcatenatedSources(make_sources(tmp_path), WORDS)
    a, b = joined.ids(A), joined.ids(B)
    alpha = random_attention(a, b)
    copied = deepcopy(joined).double()
    close(copied(a, b, alpha.double()).float(), joined(a, b, alpha))
    assert joined(a, b, alpha).dtype == torch.float32
    assert [*joined.parameters()] == []
    assert deepcopy(joined).to("meta").ids(A).device.type == "meta"


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    joined = ConcatenatedSources(make_sources(tmp_path), WORDS)
    a, b = joined.ids(A), joined.ids(B)
    alpha = random_attention(a, b)
    with pytest.raises(UsageError, match=r"attention_ab is torch.float32 of shape"):
        joined(a, b, alpha.mT)
    with pytest.raises(UsageError, match="is not one of the model's"):
        joined(a + 1000, b, alpha)
    with pytest.raises(UsageError, match="'hot cold' is a string"):
        joined.ids(["hot cold"])
    with pytest.raises(UsageError, match="sources is empty"):
        ConcatenatedSources([], WORDS)
    empty = ConcatenatedSources([EmptySource(), EmptySource()], [])
    nothing = empty.ids([["hot"]])
    assert empty(nothing, nothing, torch.ones(1, 1, 1)).shape == (1, 1, 0)


def test_an_empty_source_has_no_features() -> None:
    layer = EmptySource()
    source: RelationSource = layer
    assert source.dimension == 0
    a, b = source.ids([["a", "b"], ["c"]]), source.ids([["d"], []])
    assert a.tolist() == [[0, 0], [0, 0]] and b.tolist() == [[0], [0]]
    assert a.dtype == torch.long
    alpha = torch.rand(2, 2, 1, dtype=torch.float64)
    found = source.both(a, b, alpha, alpha.mT)
    assert (found.a.shape, found.b.shape) == ((2, 2, 0), (2, 1, 0))
    assert found.a.dtype == found.b.dtype == torch.float64
    assert source(a, b, alpha).shape == (2, 2, 0)
    assert layer.state_dict() == {} and list(layer.parameters()) == []


def test_ids_are_on_the_device_of_the_module() -> None:
    assert EmptySource().to("meta").ids([["a"]]).device.type == "meta"


def test_an_empty_source_refuses_wrong_shapes_too() -> None:
    layer = EmptySource()
    ids = layer.ids([["a", "b"]])
    fits, wrong = torch.rand(1, 2, 2), torch.rand(1, 2, 3)
    for attentions in ((wrong, fits), (fits, wrong)):
        with pytest.raises(UsageError, match=r"attention_(ab|ba) is"):
            layer.both(ids, ids, *attentions)
    with pytest.raises(UsageError, match="a_ids is"):
        layer.both(ids[0], ids, fits, fits)
    with pytest.raises(UsageError, match="'a b' is a string"):
        layer.ids(["a b"])
