"""Write a list of phrases for `prepare --phrase-list`: WordNet's lemmas and Wikipedia's titles.

    python benchmarks/phrase_titles.py --out phrases.txt [--text FILE...]

The lemmas are all of WordNet that have several words. A title is a line of a text with a blank
line before it, as in $PAIR2VEC_DATA/corpora; what is in parentheses is no part of it. Both are in
lower case, of two to four tokens, and as a collocation that `prepare --phrases` finds: neither end
is a function word, punctuation or a number alone, nor is there punctuation within.
"""

import argparse
import lzma
import os
import re
from collections.abc import Iterator
from pathlib import Path

from pair2vec.text.collocations import may_end_collocation
from pair2vec.text.phrases import spell_phrase
from pair2vec.wordnet.dictionary import find_dictionary

MOST_TOKENS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data = Path(os.environ.get("PAIR2VEC_DATA", ""))
    parser.add_argument("--text", nargs="*", type=Path, default=sorted(data.glob("corpora/*.xz")))
    parser.add_argument("--wordnet", help="its folder, where it is not found by itself")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    lemmas = phrases(wordnet_lemmas(find_dictionary(arguments.wordnet)))
    print(f"WordNet: {len(lemmas):,} phrases")
    every = set(lemmas)
    for text in arguments.text:
        found = phrases(titles(text))
        print(f"{text.name}: {len(found):,} titles, {len(found - every):,} of them new")
        every |= found
    arguments.out.write_text("".join(f"{phrase}\n" for phrase in sorted(every)))
    print(f"{arguments.out}: {len(every):,} phrases")


def wordnet_lemmas(folder: Path) -> Iterator[str]:
    """Those of several words."""
    for path in sorted(folder.glob("index.*")):
        if path.suffix in {".noun", ".verb", ".adj", ".adv"}:
            for line in path.read_text().split("\n"):
                lemma = line.partition(" ")[0]
                if "_" in lemma:
                    yield lemma


def titles(path: Path) -> Iterator[str]:
    """The first line of each article, without what is in parentheses."""
    is_first = True
    with lzma.open(path, "rt") if path.suffix == ".xz" else path.open() as file:
        for line in file:
            if is_first and line.strip():
                yield re.sub(r"\(.*?\)", "", line).strip()
            is_first = not line.strip()


def phrases(lines: Iterator[str]) -> set[str]:
    return {phrase for phrase in map(spell_phrase, lines) if phrase and is_wanted(phrase)}


def is_wanted(phrase: str) -> bool:
    tokens = phrase.split(" ")
    return (
        len(tokens) <= MOST_TOKENS
        and all(map(may_end_collocation, (tokens[0], tokens[-1])))
        and all(any(map(str.isalnum, token)) for token in tokens)
    )


if __name__ == "__main__":
    main()
