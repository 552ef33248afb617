"""The order of an epoch: shuffled batches of examples that are about equally long.

Shapes: E examples, k measures of how long one is.
"""

import numpy as np
from numpy.typing import NDArray

from pair2vec.supervised.widths import class_widths

Numbers = NDArray[np.int64]


def epoch_batches(
    sizes: Numbers, batch: int, *, seed: int, epoch: int, pool: int = 1000
) -> list[Numbers]:
    """The numbers of the examples of each batch: every example once.

    Examples are shuffled, sorted by size among `pool` batches of them, and cut; then batches are
    shuffled. So batches hold examples of about a size, but others each time. The order is a
    function of the seed and the epoch alone: a run can go on in the middle of it.

    Args:
        sizes: (E, k): the first measure counts most, as does the length of a premise.
        batch: Examples in a batch; the last may have fewer.
        seed: Of the run.
        epoch: Counted from 0.
        pool: Batches sorted together.
    """
    random = np.random.default_rng([seed, epoch])
    shuffled = random.permutation(len(sizes))
    batches: list[Numbers] = []
    for start in range(0, len(shuffled), pool * batch):
        numbers = shuffled[start : start + pool * batch]
        # Stable, so that examples of one size stay shuffled; the last key counts most.
        ordered = numbers[np.lexsort(sizes[numbers].T[::-1])]
        batches += np.split(ordered, range(batch, len(ordered), batch))
    return [batches[place] for place in random.permutation(len(batches))]


def batches_by_size(sizes: Numbers, batch: int) -> list[Numbers]:
    """All examples once, sorted by size: the way to go through them that takes least time."""
    ordered = np.lexsort(sizes.T[::-1])
    return np.split(ordered, range(batch, len(ordered), batch)) if len(ordered) else []


def classes_of_length(sizes: Numbers) -> Numbers:
    """Sizes (E, 2) of two texts: the first by the width of its class, the second by length.

    By length alone, hardly a batch of one length of the first text would be left, and all lengths
    of second ones were in it: of the pairs of words in a batch, two in three would be padding.
    """
    return np.stack([class_widths(sizes[:, 0]), sizes[:, 1]], axis=1)
