"""Write the pairs of held-out words that `pair2vec eval relate` asks about.

    python benchmarks/held_out_pairs.py LABELS CORPUS --out wordnet_pairs.tsv.xz

LABELS is the folder of `pair2vec teach`, CORPUS that of its vocabulary. A line has the part (dev to
choose and calibrate by, test to report on), two words, the relation of the first to the second by
WordNet, and 1 if the pair was among the candidates that the teachers labelled.
"""

import argparse
import lzma
from pathlib import Path

import numpy as np

from pair2vec.teaching.label_folder import Labels
from pair2vec.text.corpus import open_corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("labels", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    labels, words = Labels.open(arguments.labels), open_corpus(arguments.corpus).vocabulary.words
    candidates = labels.candidates()
    keys = candidates.x * len(words) + candidates.y
    lines = ["part\tx\ty\trelation\tlabelled"]
    for part in ("dev", "test"):
        pairs = labels.labelled(part)
        is_labelled = np.isin(pairs.x * len(words) + pairs.y, keys)
        lines += [
            f"{part}\t{words[x]}\t{words[y]}\t{labels.relations.names[label]}\t{int(own)}"
            for x, y, label, own in zip(*pairs, is_labelled, strict=True)
        ]
    arguments.out.write_bytes(lzma.compress(("\n".join(lines) + "\n").encode()))
    print(f"{len(lines) - 1:,} pairs")


if __name__ == "__main__":
    main()
