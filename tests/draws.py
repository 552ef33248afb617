"""Whether random words come as often as they should."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor


def assert_drawn_as_often_as(shares: NDArray[np.float64], drawn: Tensor) -> None:
    """Within five standard deviations, and never what has no share."""
    found = np.bincount(drawn.flatten().numpy(), minlength=len(shares)) / drawn.numel()
    assert not found[shares == 0].any()
    error = 5 * np.sqrt(shares * (1 - shares) / drawn.numel())
    assert (np.abs(found - shares) <= error).all()
