"""The sum that begins a hidden layer of R: of a part of each pair, and of each of its two words.

Shapes: B batch, n and m words, W width.
"""

from torch import Tensor

from pair2vec.encoders.rows import has_triton


def added_up(of_pairs: Tensor, of_a: Tensor, of_b: Tensor, *, relu: bool) -> Tensor:
    """Parts of pairs (B, n, m, W), of the words (B, n, 1, W) and (B, 1, m, W); no gradient.

    On a GPU in one pass: the vectors of pairs are many, and to read and write them is what takes
    the time.
    """
    if has_triton(of_pairs) and of_pairs.numel():
        from pair2vec.encoders.pair_sums_kernel import kernel_added_up

        return kernel_added_up(of_pairs, of_a, of_b, relu)
    found = (of_pairs + of_a).add_(of_b)
    return found.relu_() if relu else found
