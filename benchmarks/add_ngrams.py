"""Fit the n-grams of a published model anew, and save it with them in its place.

    python benchmarks/add_ngrams.py MODEL_FOLDER

All other arrays keep their values to the bit, in any precision, and the config what it says. It is
for a model whose words were changed after it was published, or that is older than n-grams;
`pair2vec shrink` makes a new folder with them.
"""

import argparse
from pathlib import Path

import numpy as np

from pair2vec.model.folder import load_model, save_model
from pair2vec.model.subwords import fit_subwords


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    saved = load_model(folder)
    before = {name: saved.array(name).copy() for name in saved.names}
    subwords = fit_subwords(saved.vocabulary, before["pair.words"])
    new = subwords.tensors()
    save_model(
        folder,
        before | new,
        saved.vocabulary,
        saved.config | subwords.facts(),
        patterns=saved.patterns(),
        precision=saved.config["precision"],
        overwrite=True,
    )
    after = load_model(folder)
    for name, array in before.items():
        if name not in new:
            np.testing.assert_array_equal(after.array(name), array, err_msg=name)
    print(
        f"{after.config['bytes'] - saved.config['bytes']:+,} bytes; the other arrays are the same"
    )


if __name__ == "__main__":
    main()
