"""What is said of a run that diverged: when, on which triples, and what to do."""

from torch import Tensor

from pair2vec.text.patterns import context_text
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.training.network import Batch

_EXAMPLES = 3


def divergence(
    step: int, batch: Batch, losses: Tensor, vocabulary: Vocabulary, good_step: int | None
) -> str:
    """A message to a user.

    Args:
        step: The one that went wrong.
        batch: What it learnt from.
        losses: Of the triples of the batch.
        vocabulary: Of the corpus.
        good_step: That of the last checkpoint, if there is one.
    """
    broken = (~losses.isfinite()).nonzero().flatten().tolist()
    examples = ", ".join(_triple_text(batch, row, vocabulary) for row in broken[:_EXAMPLES])
    return (
        f"the loss or its gradient is not a number at step {step}"
        + (f" for {len(broken)} triples: {examples}; " if broken else "; ")
        + ("" if good_step is None else f"the last good checkpoint is of step {good_step}; ")
        + "train anew with a lower training.rate and --overwrite"
    )


def _triple_text(batch: Batch, row: int, vocabulary: Vocabulary) -> str:
    x, y = (vocabulary.words[int(words[row])] for words in (batch.x, batch.y))
    return f"({x}, {y}, {context_text(_context_of(batch, row), vocabulary)!r})"


def _context_of(batch: Batch, row: int) -> list[int]:
    """The context of a triple of a batch, as ids."""
    for group in batch.contexts:
        if row < len(group):
            ids: list[int] = group[row].tolist()
            return ids
        row -= len(group)
    raise IndexError(row)
