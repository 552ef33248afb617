"""The tensors of a batch, wherever in it they are: changed, moved or listed all together."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

Tree = TypeVar("Tree")
"""A tensor, or a dataclass or dict of such trees."""


def mapped(tree: Tree, change: Callable[[Tensor], Tensor]) -> Tree:
    """The same with every tensor changed."""
    found: Any = tree
    if isinstance(found, Tensor):
        found = change(found)
    elif is_dataclass(found) and not isinstance(found, type):
        parts = {field.name: getattr(found, field.name) for field in fields(found)}
        found = replace(found, **mapped(parts, change))
    elif isinstance(found, dict):
        found = {name: mapped(part, change) for name, part in found.items()}
    else:
        raise TypeError(f"a batch has no place for {type(tree).__name__}")
    result: Tree = found
    return result


def moved(batch: Tree, device: torch.device) -> Tree:
    """On this device."""
    return mapped(batch, lambda tensor: tensor.to(device))


def tensors_of(tree: object) -> list[Tensor]:
    """All of them, in an order that is the same for all trees of a kind."""
    found: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    mapped(tree, keep)
    return found
