"""Every triple of a small corpus by a slow, plain enumeration, to compare fast searches with."""

from collections import Counter
from pathlib import Path

from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import PrepareConfig, prepare
from pair2vec.text.vocabulary import BOUNDARY, X, Y

Triple = tuple[int, int, tuple[int, ...]]


def make_corpus(folder: Path, text: str, shard_ids: int = 2**31) -> Corpus:
    (folder / "text.txt").write_text(text)
    config = PrepareConfig(vocabulary=50, shard_ids=shard_ids)
    return prepare([str(folder / "text.txt")], folder / "corpus", config)


def enumerate_triples(corpus: Corpus) -> Counter[Triple]:
    """Every pair at distance 1 to 5 within a sentence, with its context."""
    triples: Counter[Triple] = Counter()
    for shard in corpus.shards:
        for number in range(len(shard.sentences) - 1):
            words = [BOUNDARY, *shard.sentence(number).tolist(), BOUNDARY]
            for first in range(1, len(words) - 1):
                for second in range(first + 1, min(first + 6, len(words) - 1)):
                    context = words[first - 1 : second + 2]
                    context[1], context[-2] = X, Y
                    triples[words[first], words[second], tuple(context)] += 1
    return triples
