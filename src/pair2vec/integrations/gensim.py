"""gensim: the word vectors of a model as `KeyedVectors`."""

from typing import Any

from pair2vec.integrations import ModelLike, missing_extra, open_model
from pair2vec.text.vocabulary import SPECIAL_TOKENS

try:
    from gensim.models import KeyedVectors
except ImportError as error:
    raise missing_extra("gensim", "gensim") from error


def keyed_vectors(model: ModelLike = None, *, normalised: bool = True) -> Any:  # noqa: ANN401 - gensim has no types
    """The words of a model, the most frequent first, each with its ``count``.

    A phrase has "_" in place of its blanks, as word vectors in text files have.

    Args:
        model: An opened model, or what `pair2vec.load` opens.
        normalised: Each vector with unit norm; otherwise as R takes them in.
    """
    opened = open_model(model)
    first = len(SPECIAL_TOKENS)
    vectors = opened.unit_words if normalised else opened.space.pairs.all_inputs
    keyed = KeyedVectors(vectors.shape[1])
    words = [word.replace(" ", "_") for word in opened.vocabulary.words[first:]]
    keyed.add_vectors(words, vectors[first:].copy())
    for word, count in zip(words, opened.vocabulary.counts[first:].tolist(), strict=True):
        keyed.set_vecattr(word, "count", count)
    return keyed
