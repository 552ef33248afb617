"""Frequent contexts against a plain count of every triple."""

from collections import Counter
from pathlib import Path

from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import context_text
from pair2vec.text.prepare import prepare
from pair2vec.text.vocabulary import BOUNDARY, X, Y
from pair2vec.training.publish import frequent_contexts
from pair2vec.triples.epoch import TriplesConfig, TripleStream

EVERYTHING = TriplesConfig(subsampling="none", held_out=0.0)


def counted(corpus: Corpus) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for shard in corpus.shards:
        for number in range(len(shard.sentences) - 1):
            words = [BOUNDARY, *shard.sentence(number).tolist(), BOUNDARY]
            for first in range(1, len(words) - 1):
                for second in range(first + 1, min(first + 6, len(words) - 1)):
                    between = words[first + 1 : second]
                    found[words[first - 1], X, *between, Y, words[second + 1]] += 1
    return found


def make_corpus(folder: Path) -> Corpus:
    sentences = ["neither hot nor cold", "hot and cold", "up and down", "neither up nor down"]
    (folder / "text.txt").write_text("\n".join(sentences * 256))
    return prepare([str(folder / "text.txt")], folder / "corpus")


def test_the_most_frequent_contexts_come_first_with_their_counts(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    expected = counted(corpus)
    found = frequent_contexts(TripleStream(corpus, EVERYTHING), most=6)
    assert len(found) == 6
    assert [entry.frequency for entry in found] == sorted(
        (e.frequency for e in found), reverse=True
    )
    texts = {context_text(entry.context, corpus.vocabulary): entry.frequency for entry in found}
    assert "neither X nor Y <s>" in texts
    # An epoch's last few triples, too few for a batch, are left out.
    for entry in found:
        assert expected[entry.context] * 0.97 <= entry.frequency <= expected[entry.context]
    rarest = sorted(expected.values())[-6]
    assert all(expected[entry.context] >= rarest for entry in found)


def test_a_sample_is_enough_and_contexts_seen_once_are_left_out(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    sampled = frequent_contexts(TripleStream(corpus, EVERYTHING), most=99, sample=500)
    everything = frequent_contexts(TripleStream(corpus, EVERYTHING), most=99)
    assert sum(entry.frequency for entry in sampled) < sum(entry.frequency for entry in everything)
    assert min(entry.frequency for entry in sampled) > 1
