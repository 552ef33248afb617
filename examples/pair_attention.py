"""Train a small attention classifier without and with pair vectors; needs torch.

Run it with `python examples/pair_attention.py`. The task is a toy: 'it is X' contradicts 'it is Y'
(opposites), or entails it (a kind of). No content word of the test occurs in training, and the word
embeddings are random: without pair vectors the classifier can only guess.
"""

import torch
from torch import Tensor, nn

from pair2vec.injection import EmptySource, PairAttention

OPPOSITES = """hot-cold dry-wet big-small rich-poor open-closed old-young fast-slow strong-weak
cheap-expensive high-low early-late heavy-light soft-hard""".split()
KINDS = """dog-animal copper-metal rose-flower oak-tree apple-fruit red-colour guitar-instrument
car-vehicle salmon-fish eagle-bird doctor-profession tennis-sport chair-furniture""".split()


class Classifier(nn.Module):
    """Aligns the words of two sentences and classifies the pair of sentences."""

    def __init__(self, words: int, pairs: PairAttention | EmptySource, size: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, size).requires_grad_(False)
        self.pairs = pairs
        self.compare = nn.Linear(2 * size + pairs.dimension, size)
        self.classify = nn.Linear(size, 2)

    def forward(self, a_ids: Tensor, b_ids: Tensor) -> Tensor:
        """Logits of 'entails' and 'contradicts': (batch, 2)."""
        a, b = 0.1 * self.embedding(a_ids), 0.1 * self.embedding(b_ids)
        alpha, beta = (a @ b.mT).softmax(-1), (b @ a.mT).softmax(-1)
        r_a, _ = self.pairs.both(a_ids, b_ids, alpha, beta)
        compared = self.compare(torch.cat([a, alpha @ b, r_a], -1)).relu()
        logits: Tensor = self.classify(compared.amax(1))
        return logits


def main() -> None:
    """Print the accuracy on unseen words, without and with pair vectors."""
    pairs = PairAttention.load(whitening=0.5)
    words = [pair.split("-") for pair in OPPOSITES + KINDS]
    a_ids, b_ids = (pairs.ids([["it", "is", pair[side]] for pair in words]) for side in (0, 1))
    labels = torch.tensor([1] * len(OPPOSITES) + [0] * len(KINDS))
    test = torch.arange(len(labels)) % 2 == 0
    for source in (EmptySource(), pairs):
        torch.manual_seed(0)
        model = Classifier(len(pairs.vocabulary), source)
        optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(40):
            optimiser.zero_grad()
            logits = model(a_ids[~test], b_ids[~test])
            torch.autograd.backward(nn.functional.cross_entropy(logits, labels[~test]))
            optimiser.step()
        right = model.eval()(a_ids[test], b_ids[test]).argmax(-1) == labels[test]
        print(f"{type(source).__name__}: {int(right.sum())} of {len(right)} right")


if __name__ == "__main__":
    main()
