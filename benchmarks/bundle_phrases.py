"""Add phrases to a published model: new rows behind its words, all else as it was.

    python benchmarks/bundle_phrases.py MODEL_FOLDER CONTINUED_FOLDER phrases.tsv

`CONTINUED_FOLDER` is what `pair2vec train --from MODEL` made of a text with the phrases, and
`phrases.tsv` has a phrase and its count in the whole text a line, as a vocabulary.tsv has. A phrase
gets 0.7 of the direction that was learned for it and 0.3 of the mean of its words, which a model
with n-grams composes (`add_ngrams.py`); one of them that it cannot compose is left out. Words keep
their ids and their values to the bit, so that what was measured on them stays true; phrases stand
behind them, the most frequent first.
"""

import argparse
from pathlib import Path

import numpy as np

from pair2vec.api import Pair2vec
from pair2vec.arrays import normalise, safe_norms
from pair2vec.model.folder import load_model, save_model
from pair2vec.text.vocabulary import SPECIAL_TOKENS, UnknownWordError, Vocabulary

LEARNED = np.float32(0.7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("continued", type=Path)
    parser.add_argument("phrases", type=Path)
    arguments = parser.parse_args()
    saved, continued = load_model(arguments.model), load_model(arguments.continued)
    lines = arguments.phrases.read_text(encoding="utf-8").splitlines()
    counts = {phrase: int(count) for phrase, count in (line.split("\t") for line in lines)}
    phrases = sorted(counts.keys() - saved.vocabulary.ids.keys(), key=lambda p: (-counts[p], p))
    model = Pair2vec(saved)
    found = {phrase: composed_id(model, phrase) for phrase in phrases}
    phrases = [phrase for phrase in phrases if found[phrase] is not None]
    parts = np.array([found[phrase] for phrase in phrases], np.intp)
    learned = continued.rows("pair.words")[[continued.vocabulary.ids[p] for p in phrases]]
    mixed = LEARNED * normalise(learned) + (1 - LEARNED) * model.space.unit_inputs(parts)
    before = {name: saved.array(name).copy() for name in saved.names}
    words = before["pair.words"]
    norm = safe_norms(words[len(SPECIAL_TOKENS) :]).mean()
    own = zip(saved.vocabulary.words, saved.vocabulary.counts.tolist(), strict=True)
    vocabulary = Vocabulary(
        [*list(own)[len(SPECIAL_TOKENS) :], *((phrase, counts[phrase]) for phrase in phrases)]
    )
    save_model(
        arguments.model,
        before | {"pair.words": np.concatenate([words, norm * normalise(mixed)])},
        vocabulary,
        saved.config | {"phrases": len(phrases)},
        patterns=saved.patterns(),
        precision=saved.config["precision"],
        overwrite=True,
    )
    after = load_model(arguments.model)
    for name, array in before.items():
        np.testing.assert_array_equal(after.array(name)[: len(array)], array, err_msg=name)
    print(f"{len(phrases):,} phrases, {after.config['bytes'] - saved.config['bytes']:+,} bytes")


def composed_id(model: Pair2vec, phrase: str) -> int | None:
    """The id of the mean of its words; None if one of them is not known."""
    try:
        return model.space.look_up(phrase)
    except UnknownWordError:
        return None


if __name__ == "__main__":
    main()
