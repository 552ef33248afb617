"""Words that people ask about, for `pair2vec prepare --include`: what a vocabulary lacks of them.

    python benchmarks/everyday_words.py VECTORS [--first 80000] [--out words.txt] [--model NAME]
        [--also software_words.txt] [--text help.txt]

The most frequent words of a text are not those that a model is asked for: of an encyclopedia, half
of the ranks from 40,000 on are names and years. This lists the words of WordNet, and their forms,
among the first words of a file of word vectors that is sorted by frequency, as GloVe's are, and
prints how many of them a model lacks, by rank. Many words of software are frequent in
neither an encyclopedia nor WordNet: `software_words.txt` lists some, written down by hand, and from
the help texts of GNOME, LibreOffice and Debian those that a vocabulary of 62,000 words lacked. From
`--text`, such as that of `help_texts.py`, words are added that are a word of WordNet behind a
prefix (*unpin*, *deallocate*) and are in ten of its paragraphs.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pair2vec.model.folder import load_model
from pair2vec.model.resolve import find_model
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.morphology import base_forms

_SPELLING = re.compile(r"[a-z]+(-[a-z]+)*")
_STEP = 20_000
_PREFIXES = tuple("un de dis re non mis under over auto sub pre multi".split())
_SHORTEST_REST = 3
_PARAGRAPHS = 10


def main() -> None:
    """Write the list, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vectors", type=Path, help="text format, the most frequent word first")
    parser.add_argument("--first", type=int, default=80_000, help="ranks to look at")
    parser.add_argument("--out", type=Path, help="write the words here, one a line")
    parser.add_argument("--also", type=Path, help="other words to list, one a line")
    parser.add_argument("--text", type=Path, help="list its prefixed words, too")
    parser.add_argument("--model", default="wikipedia")
    arguments = parser.parse_args()
    wordnet, known = WordNet.open(), load_model(find_model(arguments.model)).vocabulary
    found = [
        (rank, word)
        for rank, word in enumerate(ranked_words(arguments.vectors, arguments.first))
        if len(word) > 1 and _SPELLING.fullmatch(word) and base_forms(wordnet, word)
    ]
    print(f"{'ranks':>17}{'of WordNet':>12}{'unknown':>9}")
    for start in range(0, arguments.first, _STEP):
        own = [word for rank, word in found if start <= rank < start + _STEP]
        unknown = [word for word in own if word not in known]
        share = len(unknown) / max(1, len(own))
        print(
            f"{start:>8,}–{start + _STEP:<8,}{len(own):>12,}{share:>9.1%}  {', '.join(unknown[:4])}"
        )
    if arguments.out:
        also = arguments.also.read_text().split() if arguments.also else []
        prefixed = prefixed_words(arguments.text, wordnet) if arguments.text else []
        words = dict.fromkeys([*(word for _, word in found), *also, *prefixed])
        arguments.out.write_text("".join(f"{word}\n" for word in words))


def ranked_words(path: Path, count: int) -> Iterator[str]:
    """The first words of a file of vectors."""
    with path.open(encoding="utf-8") as file:
        for number, line in zip(range(count + 1), file, strict=False):
            fields = line.split(" ")
            if number or len(fields) > 2:  # the first line may be a header
                yield fields[0]


def prefixed_words(path: Path, wordnet: WordNet) -> list[str]:
    """The words of a text that are one of WordNet's behind a prefix, the most frequent first."""
    counts: Counter[str] = Counter()
    with path.open(encoding="utf-8") as file:
        for line in file:
            counts.update(set(re.findall("[a-z]+", line.lower())))
    return [
        word
        for word, count in counts.most_common()
        if count >= _PARAGRAPHS and is_prefixed(word, wordnet)
    ]


def is_prefixed(word: str, wordnet: WordNet) -> bool:
    """Whether a word is a prefix and a form of a word of WordNet."""
    rests = [word.removeprefix(prefix) for prefix in _PREFIXES if word.startswith(prefix)]
    return any(len(rest) >= _SHORTEST_REST and base_forms(wordnet, rest) for rest in rests)


if __name__ == "__main__":
    main()
