"""What a model of the small world is taught from, and settings that take seconds."""

from pathlib import Path
from typing import NamedTuple

from tests.teaching.small_world import SIZE, world_corpus, world_vectors, world_wordnet
from tests.teaching.tiny_language_model import save_language_model

from pair2vec.teaching.candidates import CandidatesConfig
from pair2vec.teaching.label import LabelConfig, LabelInputs
from pair2vec.teaching.teacher import TeacherConfig
from pair2vec.teaching.vector_teacher import VectorTeacherConfig
from pair2vec.text.corpus import Corpus
from pair2vec.triples.epoch import TriplesConfig
from pair2vec.word_vectors.formats import read_word_vectors
from pair2vec.wordnet.dictionary import WordNet

CONFIG = LabelConfig(
    candidates=CandidatesConfig(nearest=3, nearest_others=1, random=100),
    teacher=TeacherConfig(
        epochs=1,
        batch=128,
        rate=1e-3,
        vectors=VectorTeacherConfig(epochs=3, hidden=16),
        states=VectorTeacherConfig(epochs=3, hidden=16),
    ),
)
SETTINGS = [
    "--recipe=tiny",
    *(f"--set=model.pair.dimension={SIZE}", f"--set=model.context.dimension={SIZE}"),
    *("--set=model.context.hidden=4", "--set=model.training.batch=64"),
    *("--set=model.training.report_steps=20", "--set=model.training.checkpoint_steps=10"),
    *("--set=labels.candidates.nearest=3", "--set=labels.candidates.nearest_others=1"),
    *("--set=labels.candidates.random=100", "--set=labels.teacher.epochs=1"),
    *("--set=labels.teacher.vectors.epochs=3", "--set=labels.teacher.vectors.hidden=16"),
    *("--set=labels.teacher.states.epochs=3", "--set=labels.teacher.states.hidden=16"),
    *("--set=relations.batch=64", "--set=relations.hidden=8", "--device=cpu"),
]
"""Of the command."""


class WorldInputs(NamedTuple):
    corpus: Corpus
    vectors: Path
    wordnet: WordNet
    language_model: Path

    def label_inputs(self) -> LabelInputs:
        tables = [read_word_vectors(self.vectors, self.corpus.vocabulary)]
        return LabelInputs(
            self.corpus, TriplesConfig(), tables, self.wordnet, self.language_model, None
        )


def write_inputs(folder: Path) -> WorldInputs:
    corpus = world_corpus(folder / "world")
    return WorldInputs(
        corpus,
        world_vectors(folder / "words.vec", corpus.vocabulary),
        world_wordnet(folder / "wordnet"),
        save_language_model(folder / "tiny", corpus.vocabulary.words[4:200]),
    )
