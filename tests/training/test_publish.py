"""Frequent contexts against a plain count of every triple."""

from collections import Counter
from pathlib import Path

from tests.triples.enumerator import enumerate_triples, make_corpus

from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import context_text
from pair2vec.training.publish import frequent_contexts
from pair2vec.triples.epoch import TriplesConfig, TripleStream

EVERYTHING = TriplesConfig(subsampling="none", held_out=0.0)


def count_contexts(corpus: Corpus) -> Counter[tuple[int, ...]]:
    contexts: Counter[tuple[int, ...]] = Counter()
    for (_, _, context), count in enumerate_triples(corpus).items():
        contexts[context] += count
    return contexts


def small_corpus(folder: Path) -> Corpus:
    sentences = ["neither hot nor cold", "hot and cold", "up and down", "neither up nor down"]
    return make_corpus(folder, "\n".join(sentences * 256))


def test_the_most_frequent_contexts_come_first_with_their_counts(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    expected = count_contexts(corpus)
    frequent = frequent_contexts(TripleStream(corpus, EVERYTHING), most=6)
    assert len(frequent) == 6
    assert [entry.frequency for entry in frequent] == sorted(
        (e.frequency for e in frequent), reverse=True
    )
    texts = {context_text(entry.context, corpus.vocabulary): entry.frequency for entry in frequent}
    assert "neither X nor Y <s>" in texts
    # An epoch's last few triples, too few for a batch, are left out.
    for entry in frequent:
        assert expected[entry.context] * 0.97 <= entry.frequency <= expected[entry.context]
    rarest = sorted(expected.values())[-6]
    assert all(expected[entry.context] >= rarest for entry in frequent)


def test_a_sample_is_enough_and_contexts_seen_once_are_left_out(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    sampled = frequent_contexts(TripleStream(corpus, EVERYTHING), most=99, sample=500)
    everything = frequent_contexts(TripleStream(corpus, EVERYTHING), most=99)
    assert sum(entry.frequency for entry in sampled) < sum(entry.frequency for entry in everything)
    assert min(entry.frequency for entry in sampled) > 1
