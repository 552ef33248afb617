"""Sums of pair vectors under attention, without all pair vectors in memory at a time.

Shapes: B batch, n and m words of the sequences a and b, N distinct words of both, D dimension,
W width: D, on a GPU padded to a multiple of 64.

Pair vectors are computed tile by tile, and recomputed for the gradient. R is frozen, so only the
attention weights have gradients: dα_ij = ⟨dr_i, r_ij⟩.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import Function, once_differentiable
from torch.nn import functional

from pair2vec.encoders.pair import PairEncoder, WordParts
from pair2vec.injection.frozen_pair import PreparedPair

FORWARD, BACKWARD = range(2)
"""R(a_i, b_j) and R(b_j, a_i)."""


class Tile(NamedTuple):
    """Some pairs of a batch in one direction."""

    batch: slice
    a: slice
    b: slice
    direction: int


class TileVectors(NamedTuple):
    """R of the pairs of a tile, not yet normalised."""

    vectors: Tensor
    """(batch, a, b, W)"""
    scales: Tensor
    """(batch, a, b): 1 / ‖R‖. Weights are multiplied by it instead of the vectors, which are W
    times as many numbers."""


class PairTiles:
    """The pairs of two sequences, as rows of word parts; iterating computes their vectors."""

    def __init__(self, pair: PreparedPair, a: Tensor, b: Tensor, pairs_at_once: int) -> None:
        """Take rows `a` (B, n) and `b` (B, m) of the parts; nothing is computed yet."""
        self._encoder, self._parts = pair.encoder, pair.parts
        self._a, self._b = a, b
        self._pairs_at_once = pairs_at_once
        self.dimension, self.width = pair.dimension, pair.parts.as_x[0].shape[1]
        # The backward pass runs outside the autocast of the forward pass, but must repeat it.
        device_type = a.device.type
        dtype = torch.get_autocast_dtype(device_type)
        self._autocast = device_type, dtype, torch.is_autocast_enabled(device_type)

    def __iter__(self) -> Iterator[tuple[Tile, TileVectors]]:
        device_type, dtype, enabled = self._autocast
        for slices in tiles(len(self._a), self._a.shape[1], self._b.shape[1], self._pairs_at_once):
            both = self._both_ways(*slices)
            for direction in (FORWARD, BACKWARD):
                # Entered anew for each: what uses the vectors chooses its own precision.
                with torch.autocast(device_type, dtype, enabled):
                    vectors = unit_scales(next(both))
                yield Tile(*slices, direction), vectors

    def _both_ways(self, batch: slice, a: slice, b: slice) -> Iterator[Tensor]:
        # Broadcast: a word of a is one row for all words of b until they meet in the encoder.
        sides = self._a[batch, a, None], self._b[batch, None, b]
        return self._encoder.both_ways(*(self._parts.rows(side) for side in sides))


def unit_scales(vectors: Tensor) -> TileVectors:
    """Vectors (..., W) and what normalises them."""
    if vectors.dtype == torch.float16:
        # The encoders' epsilon is zero in float16, and a word less itself is 0 / 0.
        vectors = vectors.nan_to_num_()
    precision = torch.promote_types(vectors.dtype, torch.float32)
    norms = torch.linalg.vector_norm(vectors, dim=-1, dtype=precision)
    smallest = max(1e-8, torch.finfo(vectors.dtype).tiny)
    return TileVectors(vectors, 1 / norms.clamp_min(smallest))


def tiles(batch: int, n: int, m: int, pairs_at_once: int) -> Iterator[tuple[slice, slice, slice]]:
    """All pairs, at most so many at a time: of several rows if possible, else of a part of one."""
    width = min(m, pairs_at_once) or 1
    height = min(n, pairs_at_once // width) or 1
    depth = pairs_at_once // (width * height)
    for k in range(0, batch, depth):
        for i in range(0, n, height):
            for j in range(0, m, width):
                yield slice(k, k + depth), slice(i, i + height), slice(j, j + width)


def pool_pairs(pairs: PairTiles, weights: Tensor) -> Tensor:
    """r_i = Σ_j w_ij r_ij (`eq:wordpair_attn`) by weights (B, n, m): (B, n, 2D)."""
    pooled: Tensor = _Pooled.apply(pairs, weights, None)[0]  # type: ignore[no-untyped-call]
    return pooled


def pool_both_sides(pairs: PairTiles, alpha: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    """The sums of a by its weights (B, n, m), and those of b by its own (B, m, n)."""
    pooled: tuple[Tensor, Tensor]
    pooled = _Pooled.apply(pairs, alpha, beta.mT)  # type: ignore[no-untyped-call]
    return pooled


def pool_in_one(
    encoder: PairEncoder, a: WordParts, b: WordParts, alpha: Tensor, beta: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """The sums of `pool_both_sides`, in operations that torch.compile traces into one graph.

    No tiles: the vectors of all pairs are in memory, and are kept for the gradient.

    Args:
        encoder: R.
        a: Parts of the words of a, (B, n, D) each.
        b: Parts of those of b, (B, m, D).
        alpha: (B, n, m)
        beta: (B, m, n), or None for the sums of a alone.
    """
    sides = (
        WordParts(*(tuple(part.unsqueeze(2) for part in parts) for parts in a)),
        WordParts(*(tuple(part.unsqueeze(1) for part in parts) for parts in b)),
    )
    sums_a, sums_b = [], []
    for vectors in encoder.both_ways(*sides):
        found, scales = unit_scales(vectors)
        weights = (alpha * scales).to(found.dtype)
        sums_a.append(torch.einsum("kij,kijd->kid", weights, found))
        if beta is not None:
            weights = (beta.mT * scales).to(found.dtype)
            sums_b.append(torch.einsum("kij,kijd->kjd", weights, found))
    side_a = torch.cat(sums_a, dim=-1).to(alpha.dtype)
    if beta is None:
        return side_a, None
    return side_a, torch.cat(sums_b[::-1], dim=-1).to(beta.dtype)


class _Pooled(Function):
    """Weights (B, n, m) of one or both sides to sums over the other side.

    Both come from the same vectors: b's pairs are a's with the directions swapped.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch has no type for it
        pairs: PairTiles,
        alpha: Tensor,
        beta: Tensor | None,
    ) -> tuple[Tensor, Tensor | None]:
        ctx.pairs, ctx.shape = pairs, alpha.shape
        batch, n, m = alpha.shape
        sum_a = _precise_zeros(alpha, (batch, n, 2, pairs.width))
        sum_b = _precise_zeros(alpha, (batch, m if beta is not None else 0, 2, pairs.width))
        for (k, i, j, direction), (vectors, scales) in pairs:
            weights = (alpha[k, i, j] * scales).to(vectors.dtype)
            sum_a[k, i, direction] += torch.einsum("kij,kijd->kid", weights, vectors)
            if beta is not None:
                weights = (beta[k, i, j] * scales).to(vectors.dtype)
                sum_b[k, j, 1 - direction] += torch.einsum("kij,kijd->kjd", weights, vectors)
        first, second = (total[..., : pairs.dimension].flatten(2) for total in (sum_a, sum_b))
        return first.to(alpha.dtype), None if beta is None else second.to(beta.dtype)

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any,  # noqa: ANN401
        d_sum_a: Tensor,
        d_sum_b: Tensor | None,
    ) -> tuple[None, Tensor | None, Tensor | None]:
        pairs: PairTiles = ctx.pairs
        _, wants_a, wants_b = ctx.needs_input_grad
        d_a, d_b = (_precise_zeros(d_sum_a, ctx.shape) for _ in range(2))
        halves_a = _by_direction(d_sum_a, pairs.width)
        halves_b = _by_direction(d_sum_b, pairs.width) if d_sum_b is not None else halves_a
        for (k, i, j, direction), (vectors, scales) in pairs:
            if wants_a:
                half = halves_a[k, i, direction].to(vectors.dtype)
                d_a[k, i, j] += scales * torch.einsum("kid,kijd->kij", half, vectors)
            if wants_b:
                half = halves_b[k, j, 1 - direction].to(vectors.dtype)
                d_b[k, i, j] += scales * torch.einsum("kjd,kijd->kij", half, vectors)
        return None, d_a if wants_a else None, d_b if wants_b else None


def _by_direction(sums: Tensor, width: int) -> Tensor:
    """(B, n, 2D) as (B, n, 2, W)."""
    halves = torch.unflatten(sums, 2, (2, -1))
    return functional.pad(halves, (0, width - halves.shape[-1]))


def _precise_zeros(like: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Accumulators for many tiles: float32 or better."""
    precision = torch.promote_types(like.dtype, torch.float32)
    return torch.zeros(shape, dtype=precision, device=like.device)
