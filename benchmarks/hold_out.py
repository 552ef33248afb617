"""Hold out some articles of SQuAD's training set, to select the best checkpoint of a run.

    python benchmarks/hold_out.py TRAIN OUT [--every 36]

TRAIN is in SQuAD's format, compressed or not. OUT gets two files, compressed, named after it:
``rest.train-v2.0.aligned.json.xz``, and ``held_out.train-v2.0.aligned.json.xz`` with every n-th
article. SQuAD's test set is not public; selecting a checkpoint on the dev set that is reported
would overestimate.
"""

import argparse
import json
import lzma
from pathlib import Path
from typing import Any

from pair2vec.text.sources import Source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--every", type=int, default=36)
    arguments = parser.parse_args()
    with Source(str(arguments.train)) as source:
        content = json.loads(b"".join(source.blocks(map)))
    articles: list[dict[str, Any]] = content["data"]
    arguments.out.mkdir(parents=True, exist_ok=True)
    held_out = articles[:: arguments.every]
    rest = [article for number, article in enumerate(articles) if number % arguments.every]
    for name, part in (("rest", rest), ("held_out", held_out)):
        # What is wrong with a training set is known by its name.
        path = arguments.out / f"{name}.{arguments.train.name.partition('.json')[0]}.json.xz"
        path.write_bytes(lzma.compress(json.dumps({**content, "data": part}).encode()))
        questions = sum(len(p["qas"]) for article in part for p in article["paragraphs"])
        print(f"{path}: {len(part)} articles, {questions:,} questions")


if __name__ == "__main__":
    main()
