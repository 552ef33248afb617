"""The base model's source of relations has none, and is in nobody's way."""

import pytest
import torch

from pair2vec.errors import UsageError
from pair2vec.injection.sources import EmptySource, RelationSource


def test_nothing_is_said_of_any_word() -> None:
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


def test_ids_are_where_the_module_is() -> None:
    assert EmptySource().to("meta").ids([["a"]]).device.type == "meta"


def test_the_base_model_is_told_of_wrong_shapes_too() -> None:
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
