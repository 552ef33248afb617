"""The most frequent phrases of a corpus, and sentences that have them.

    python benchmarks/phrase_sentences.py CORPUS --out FOLDER [--phrases 4500] [--sentences 60]

For adding phrases to a published model on a small machine. Writes `phrases.tsv` (phrase and count,
the most frequent first), `sentences.txt` (at most so many sentences a phrase, drawn at random, as
the corpus stores them) and `words.txt` (the words of `--model` and the phrases, for `prepare
--include`). A phrase is taken if its tokens are words and a found collocation may begin and end as
it does.
"""

import argparse
from pathlib import Path

import numpy as np

from pair2vec.model.folder import load_model
from pair2vec.model.resolve import find_model
from pair2vec.text.collocations import may_end_collocation
from pair2vec.text.corpus import Corpus, open_corpus
from pair2vec.text.phrases import phrases_in
from pair2vec.text.vocabulary import SPECIAL_TOKENS

SHORTEST, LONGEST = 4, 60
"""Words of a sentence."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--phrases", type=int, default=4_500)
    parser.add_argument("--sentences", type=int, default=60)
    parser.add_argument("--model", help="the bundled one by default")
    arguments = parser.parse_args()
    corpus = open_corpus(arguments.corpus)
    vocabulary = corpus.vocabulary
    counts = {phrase: int(vocabulary.counts[vocabulary.ids[phrase]]) for phrase in usable(corpus)}
    phrases = sorted(counts, key=lambda phrase: (-counts[phrase], phrase))[: arguments.phrases]
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = [f"{phrase}\t{counts[phrase]}\n" for phrase in phrases]
    (arguments.out / "phrases.tsv").write_text("".join(lines), encoding="utf-8")
    words = load_model(find_model(arguments.model)).vocabulary.words[len(SPECIAL_TOKENS) :]
    text = "".join(f"{word}\n" for word in dict.fromkeys([*words, *phrases]))
    (arguments.out / "words.txt").write_text(text, encoding="utf-8")
    written = write_sentences(corpus, phrases, arguments.sentences, arguments.out / "sentences.txt")
    print(f"{len(phrases):,} phrases, the last {counts[phrases[-1]]} times; {written:,} sentences")


def usable(corpus: Corpus) -> list[str]:
    """The phrases of a corpus that are made of words."""
    return [
        phrase
        for phrase in phrases_in(corpus.vocabulary.words)
        if all(map(may_end_collocation, (phrase.split()[0], phrase.split()[-1])))
        and all(token.isalpha() or set("'-.") & set(token) for token in phrase.split())
    ]


def write_sentences(corpus: Corpus, phrases: list[str], most: int, path: Path) -> int:
    """Write sentences with the phrases, in the order of the text; returns how many."""
    words, ids = corpus.vocabulary.words, corpus.vocabulary.ids
    left = np.zeros(len(words), np.int64)
    left[[ids[phrase] for phrase in phrases]] = most
    random, written = np.random.default_rng(0), 0
    with path.open("w", encoding="utf-8") as file:
        for shard in corpus.shards:
            starts = np.asarray(shard.sentences).astype(np.int64)
            positions = np.flatnonzero(left[np.asarray(shard.tokens)] > 0)
            sentences = np.searchsorted(starts, positions, side="right") - 1
            taken = set()
            for n in random.permutation(len(positions)).tolist():
                word = int(shard.tokens[positions[n]])
                if left[word]:
                    left[word] -= 1
                    taken.add(int(sentences[n]))
            for number in sorted(taken):
                tokens = shard.tokens[starts[number] : starts[number + 1] - 1].tolist()
                if SHORTEST <= len(tokens) <= LONGEST:
                    file.write(" ".join(words[token] for token in tokens) + "\n")
                    written += 1
    return written


if __name__ == "__main__":
    main()
