"""Prepare a small corpus and build a lexicon of its terms, with the bundled model.

Run it with `python examples/opposites_lexicon.py [FOLDER]`. The corpus and the lexicon are written
to FOLDER, or to a temporary folder that is deleted at the end.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).parent
TERMS = """hot cold cheap expensive increase decrease accept reject copper metal tin
silver portland oregon paris france berlin germany tokyo japan""".split()


def pair2vec(*arguments: str | Path) -> None:
    """Run a command of the command-line interface, without showing what it prints."""
    command = [sys.executable, "-m", "pair2vec", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def build(folder: Path) -> Path:
    """Write the corpus, the terms and the lexicon to a folder; return the lexicon's file."""
    terms, corpus, lexicon = folder / "terms.txt", folder / "corpus", folder / "lexicon.tsv"
    terms.write_text("\n".join(TERMS) + "\n")
    texts = [EXAMPLES / "opposites.txt", EXAMPLES / "world.xml"]
    pair2vec("prepare", *texts, "--out", corpus, "--overwrite")
    pair2vec("lexicon", corpus, "--words", terms, "--out", lexicon, "--overwrite", "--workers", "1")
    return lexicon


def main() -> None:
    """Print each entry of the lexicon: relation, probability and the first sentence."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with build(folder).open(newline="") as file:
            for entry in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                relation = f"{entry['x']} {entry['relation']} {entry['y']}"
                print(f"{relation:28} {float(entry['probability']):.2f}  {entry['evidence_1']}")


if __name__ == "__main__":
    main()
