"""The label job: labelled and candidate pairs, the teachers, and their labels in a folder.

A job that was stopped resumes after the last file that is there (`label_folder`); one that is
damaged is made again.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save
from safetensors.torch import load_file as load_torch
from safetensors.torch import save as save_torch

from pair2vec.arrays import FloatArray, Int64Array
from pair2vec.errors import InputError, UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.ranges import Count, OneOf, Seed, check_ranges
from pair2vec.relations.definitions import RelationDefinition, read_definitions
from pair2vec.relations.scores import relation_scores
from pair2vec.runtime.checksums import (
    UNSEALED,
    with_checksums,
    write_tensors,
)
from pair2vec.runtime.jobs import JobFolder, content_hash
from pair2vec.runtime.storage import write_file
from pair2vec.teaching.calibration import Calibrations, Cascade, Teach, calibrate
from pair2vec.teaching.candidates import (
    POS_ALIKE,
    SOURCES,
    CandidatesConfig,
    find_candidates,
)
from pair2vec.teaching.label_folder import (
    LABELS_FILE,
    MIXED,
    PAIRS_FILE,
    TEACHER_FILE,
    Labels,
    is_sealed,
    read_arrays,
    read_labelled,
    remove_labels,
)
from pair2vec.teaching.labels import (
    PARTS,
    LabelledPairs,
    LabelSource,
    RelationNames,
    parts_of_words,
)
from pair2vec.teaching.lexical_resources import LexicalFiles, LexicalLinks, find_links
from pair2vec.teaching.teacher import (
    LanguageModelTeacher,
    Report,
    TeacherConfig,
    keep_layers,
    load_language_model,
)
from pair2vec.teaching.vector_teacher import (
    Features,
    TaughtModelTeacher,
    VectorTeacher,
    VectorTeacherConfig,
    joined,
    pair_features,
    standardised,
    table_features,
)
from pair2vec.teaching.wordnet_pairs import Taxonomy, VocabularySenses
from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.training.batches import nearest_among, nearest_words
from pair2vec.triples.epoch import TriplesConfig, TripleStream
from pair2vec.word_vectors.formats import WordVectors
from pair2vec.wordnet.dictionary import DICTIONARY_FILES, WordNet
from pair2vec.wordnet.morphology import base_forms

_log = logging.getLogger(__name__)

LANGUAGE_MODEL, VECTORS, STATES, TAUGHT = "language model", "vectors", "states", "taught model"
"""The names of the teachers."""
_PIECE = 500_000
"""Candidates of a piece."""
_SAMPLE = 200_000
"""Candidates that tell how many are how probably related."""
_RANK_FACTORS = {"alike": 1, "wordnet": 4, "lexical": 4}
_OTHER_RANK_FACTOR = 12
"""Where not all candidates are read, the order is that of their rarer words' ranks times these:
people ask about frequent words, about words that something connects, and about opposites, which are
mostly verbs and adjectives, however rare in a text."""
_LEAST_RULED_OUT = 0.02
"""A kind that is less probable is not looked up in WordNet."""
_NEAR = 60
"""Nearest words that hard negatives are drawn from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelConfig:
    """What is labelled, and by whom."""

    candidates: CandidatesConfig = field(default_factory=CandidatesConfig)
    teacher: TeacherConfig = field(default_factory=TeacherConfig)
    reader: Annotated[str, OneOf((LANGUAGE_MODEL, VECTORS))] = LANGUAGE_MODEL
    """The teacher that takes long to read a pair. It may be the network on vectors where a model
    that was taught before already knows what a language model said."""
    most_read: Count = 10_000_000
    """Of the candidates, about so many are read by it: of those that the quick teachers find may be
    related, the ones of the most frequent words, WordNet's neighbourhoods up to rarer ones, and
    words of one part of speech up to the rarest. The others keep the quick teachers' labels."""
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_ranges(self)


class LabelInputs(NamedTuple):
    """What labels are made from."""

    corpus: Corpus
    triples: TriplesConfig
    """How co-occurring pairs are drawn."""
    tables: Sequence[WordVectors]
    """Vectors of the corpus' words: nearest words are candidates, and the teacher on vectors
    reads them."""
    wordnet: WordNet
    language_model: Path | None
    """None is the default one."""
    text_model: SavedModel | None
    """A model of text alone, whose pair vectors the teacher on vectors reads, too; or a taught one,
    whose relation head is a teacher."""
    lexical: LexicalFiles = LexicalFiles()
    """What a thesaurus and a dictionary link are candidates, and the teacher on vectors reads
    them."""


def make_labels(
    inputs: LabelInputs,
    folder: Path,
    config: LabelConfig,
    *,
    device: torch.device,
    resume: bool = False,
    overwrite: bool = False,
    report: Report = lambda *_: None,
) -> Labels:
    """Fine-tune the teachers and label candidate pairs, or continue to.

    Args:
        inputs: Corpus, vectors, WordNet and language model.
        folder: Where to write.
        config: Of candidates and teachers.
        device: Of the teachers.
        resume: Continue a job that was stopped.
        overwrite: Replace what is there.
        report: Called with the progress.
    """
    job = JobFolder(
        out=folder,
        state=folder,
        complete=folder / LABELS_FILE,
        product="labels",
        identity=_identity(inputs, config),
        clear=lambda: remove_labels(folder),
    )
    if (folder / LABELS_FILE).exists() and job.is_same() and not overwrite:
        return Labels.open(folder)
    with job.claim(resume=resume, overwrite=overwrite):
        definitions = read_definitions()
        vocabulary, files = inputs.corpus.vocabulary, inputs.lexical
        links = find_links(files, vocabulary, inputs.wordnet) if files.paths else None
        pairs = _pairs(inputs, links, folder, config, definitions, device)
        relations = RelationNames.of_definitions(definitions)
        _Labeller(inputs, links, folder, config, relations, device, report).run(pairs)
    return Labels.open(folder)


def _identity(inputs: LabelInputs, config: LabelConfig) -> dict[str, Any]:
    wordnet = inputs.wordnet.folder
    model = inputs.language_model
    if model is not None and not model.exists():
        raise InputError(f"{model}: no such language model; give a folder, or a GGUF file")
    files = [] if model is None else [model] if model.is_file() else sorted(model.iterdir())
    return {
        "config": asdict(config),
        "corpus": inputs.corpus.manifest.fingerprint,
        "vectors": [_array_hash(table.vectors) for table in inputs.tables],
        "wordnet": [content_hash(wordnet / name) for name in DICTIONARY_FILES],
        "language_model": [content_hash(path) for path in files if path.is_file()],
        "text_model": inputs.text_model.fingerprint if inputs.text_model else None,
        "lexical": {path.name: content_hash(path) for path in inputs.lexical.paths},
    }


def _array_hash(array: NDArray[np.float32]) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()


def _pairs(
    inputs: LabelInputs,
    links: LexicalLinks | None,
    folder: Path,
    config: LabelConfig,
    definitions: Sequence[RelationDefinition],
    device: torch.device,
) -> dict[str, NDArray[Any]]:
    """Labelled and candidate pairs, from their file if it is there."""
    path = folder / PAIRS_FILE
    if is_sealed(path):
        return read_arrays(path)
    vocabulary = inputs.corpus.vocabulary
    count = min(config.candidates.nearest, len(vocabulary) - len(SPECIAL_TOKENS) - 1)
    vectors = [torch.from_numpy(table.vectors).to(device) for table in inputs.tables]
    nearest = [nearest_words(own, count).numpy() for own in vectors]
    senses = VocabularySenses(inputs.wordnet, vocabulary.words)
    source = LabelSource(
        inputs.wordnet, vocabulary, senses, definitions, nearest[0][:, :_NEAR], seed=config.seed
    )
    arrays = {
        f"{part}.{name}": column
        for part in PARTS
        for name, column in source.pairs(part)._asdict().items()
    }
    # After the parts, which are the same with or without them.
    mixed = source.mixed_pairs()._asdict()
    arrays |= {f"{MIXED}.{name}": column for name, column in mixed.items()}
    asked = np.array([bool(base_forms(inputs.wordnet, word)) for word in vocabulary.words])
    alike = [
        nearest_among(own, senses.with_pos(pos), config.candidates.nearest_alike).numpy()
        for pos in POS_ALIKE
        for own in vectors
    ]
    candidates = find_candidates(
        config.candidates,
        vocabulary,
        senses,
        asked,
        nearest,
        alike,
        TripleStream(inputs.corpus, inputs.triples),
        [links.pairs()] if links else [],
    )
    arrays |= {f"candidates.{name}": column for name, column in vars(candidates).items()}
    write_tensors(path, save(arrays, metadata=UNSEALED))
    _log.info("%d candidate pairs", len(candidates.x))
    return arrays


class _Labeller:
    """The teachers at work."""

    def __init__(
        self,
        inputs: LabelInputs,
        links: LexicalLinks | None,
        folder: Path,
        config: LabelConfig,
        relations: RelationNames,
        device: torch.device,
        report: Report,
    ) -> None:
        self._inputs, self._links, self._folder = inputs, links, folder
        self._whole_config, self._config = config, config.teacher
        self._relations, self._device, self._report = relations, device, report
        self._random = np.random.default_rng(config.seed)
        model = inputs.text_model
        self._taught = model if model and model.has_head else None
        if self._whole_config.reader == VECTORS and not self._taught:
            raise UsageError(
                "labels.reader=vectors: without a language model, a model that was taught before "
                "has to be named; --from wikipedia, say"
            )
        wordnet, words = inputs.wordnet, inputs.corpus.vocabulary.words
        learnt = parts_of_words(wordnet, words) == PARTS.index("train")
        self._taxonomy = Taxonomy(VocabularySenses(wordnet, words), learnt)

    def run(self, pairs: dict[str, NDArray[Any]]) -> None:
        """Train the teachers, label the pieces that are missing, and write what was measured."""
        x, y = pairs["candidates.x"], pairs["candidates.y"]
        train = read_labelled(pairs, "train").both_ways(self._relations.inverse)
        name, read, quick = self._teachers(train)
        reader = self._whole_config.reader
        calibrations, facts = self._measure({reader: read, **quick}, pairs)
        source = pairs["candidates.source"]
        is_random = source == SOURCES.index("random")
        # Few, and what vectors know least of: opposites by affix are seldom found near each other.
        is_affix = source == SOURCES.index("affix")
        factors = np.array([_RANK_FACTORS.get(name, _OTHER_RANK_FACTOR) for name in SOURCES])
        ranks = np.maximum(x, y) * factors[source]
        labeller = Cascade(read, list(quick.values()), calibrations)
        share = self._whole_config.most_read / max(1, int((~is_random).sum()))
        sample = self._random.permutation(np.flatnonzero(~is_random))[:_SAMPLE]
        labeller.read_at_most(x[sample], y[sample], ranks[sample], share)
        if share < 1:
            _log.info("the %s reads pairs up to rank %d", reader, labeller.last)
        starts = range(0, len(x), _PIECE)
        for number, start in enumerate(starts):
            path = self._folder / f"labels-{number:03d}.safetensors"
            self._report("labelled pairs", start, len(x))
            if not is_sealed(path):
                probabilities = self._none(len(x[start : start + _PIECE]))
                asked = np.flatnonzero(~is_random[start : start + _PIECE])
                own = start + asked
                found = labeller(x[own], y[own], ranks[own], is_affix[own])
                probabilities[asked] = self._as_wordnet_has_it(found, x[own], y[own])
                arrays = {"probabilities": probabilities}
                write_tensors(path, save(arrays, metadata=UNSEALED))
        self._report("labelled pairs", len(x), len(x))
        facts |= {
            "config": asdict(self._whole_config),
            "names": list(self._relations.names),
            "inverse": list(self._relations.inverse),
            "language_model": name,
            "taught_model": self._taught.config.get("name") if self._taught else None,
            "lexical": self._inputs.lexical.names,
            "candidates": len(x),
            "labelled": {part: len(pairs[f"{part}.x"]) for part in PARTS},
        }
        sealed = with_checksums(LABELS_FILE, json.loads(json.dumps(facts)), {})
        write_file(self._folder / LABELS_FILE, json.dumps(sealed, indent=2).encode())

    def _teachers(self, train: LabelledPairs) -> tuple[str | None, Teach, dict[str, Teach]]:
        """The language model's name, if it is asked; the one that reads pairs; the quick ones."""
        config, vocabulary = self._config, self._inputs.corpus.vocabulary
        tables, model, taught = self._inputs.tables, self._inputs.text_model, self._taught
        features = [pair_features(tables, None if taught else model, vocabulary, self._device)]
        if self._links:
            features.append(self._links.features(tables[0].vectors, self._device))
        vectors = self._vector_teacher(train, joined(features), config.vectors)
        quick: dict[str, Teach] = {}
        if taught:
            quick[TAUGHT] = TaughtModelTeacher(taught, vocabulary, self._relations.names)
        if self._whole_config.reader == VECTORS:
            return None, vectors, quick
        name, language_model = self._language_model(train)
        quick[VECTORS] = vectors
        if not taught:
            states = table_features(
                [standardised(language_model.word_states(config, self._device))]
            )
            quick[STATES] = self._vector_teacher(train, states, config.states)
        return name, lambda x, y: self._both_ways(language_model, x, y), quick

    def _as_wordnet_has_it(
        self, probabilities: FloatArray, x: Int64Array, y: Int64Array
    ) -> FloatArray:
        """Without kinds that are none: of words to learn from, WordNet has nearly all there are.

        Teachers take *car* / *motorcycle*, two kinds of one thing, for one a kind of the other.
        """
        hypernym, hyponym = map(self._relations.names.index, ("hypernym", "hyponym"))
        likely = probabilities[:, [hypernym, hyponym]].max(axis=1) >= _LEAST_RULED_OUT
        rows = np.flatnonzero(likely)
        for column, one, other in ((hypernym, x, y), (hyponym, y, x)):
            ruled_out = rows[self._taxonomy.is_no_kind(one[rows], other[rows])]
            probabilities[ruled_out, column] = 0
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def _none(self, count: int) -> NDArray[np.float16]:
        """The probabilities of random pairs, which are related in one case of hundreds.

        No teacher is asked: those that know mostly near words find relations where there are none.
        """
        probabilities = np.zeros((count, len(self._relations.names)), np.float16)
        probabilities[:, -1] = 1
        return probabilities

    def _language_model(self, train: LabelledPairs) -> tuple[str, LanguageModelTeacher]:
        model = load_language_model(self._inputs.language_model)
        keep_layers(model, self._config.layers)
        words = self._inputs.corpus.vocabulary.words
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._config.seed)
            teacher = LanguageModelTeacher(
                model, words, len(self._relations.names), self._config.prompt
            )
        path = self._folder / TEACHER_FILE
        if is_sealed(path):
            teacher.load_state_dict(load_torch(path))
        else:
            teacher.fine_tune(train, self._config, self._device, self._report)
            state = {
                name: t.detach().cpu().contiguous() for name, t in teacher.state_dict().items()
            }
            write_tensors(path, save_torch(state, metadata=UNSEALED))
        teacher.prepare_to_label(self._config, self._device)
        return model.name, teacher

    def _vector_teacher(
        self, train: LabelledPairs, features: Features, config: VectorTeacherConfig
    ) -> Teach:
        """Not kept: it is trained in minutes even without a GPU. The mean over both orders."""
        one = torch.full((1,), len(SPECIAL_TOKENS), device=self._device)
        width = features(one, one).shape[1]
        teacher = VectorTeacher(features, width, len(self._relations.names), config)
        teacher.fit(train, self._device)
        inverse = list(self._relations.inverse)

        def teach(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float32]:
            swapped = teacher.log_probabilities(y, x, self._device)[:, inverse]
            mean: NDArray[np.float32] = teacher.log_probabilities(x, y, self._device) + swapped
            return mean * np.float32(0.5)

        return teach

    def _measure(
        self, teachers: Mapping[str, Teach], pairs: dict[str, NDArray[Any]]
    ) -> tuple[Calibrations, dict[str, Any]]:
        """How the teachers are combined, fitted on pairs with a dev word, and their scores.

        Args:
            teachers: By name, the one that reads pairs first.
            pairs: Labelled ones.
        """
        _, *quick = teachers
        found = {}
        for part in ("dev", MIXED, "test"):
            labelled = read_labelled(pairs, part)
            tables = {name: teach(labelled.x, labelled.y) for name, teach in teachers.items()}
            found[part] = (tables, labelled.label)
        fitted = [found["dev"], found[MIXED]]
        labels = np.concatenate([label for _, label in fitted])
        together = {
            name: np.concatenate([tables[name] for tables, _ in fitted]) for name in teachers
        }
        inverse = self._relations.inverse
        calibrations = Calibrations(
            calibrate(list(together.values()), labels, inverse),
            calibrate([together[name] for name in quick], labels, inverse),
        )
        scores = {}
        for part in ("dev", "test"):
            tables, label = found[part]
            shown = {name: np.exp(table) for name, table in tables.items()}
            shown["quick"] = calibrations.quick.probabilities(*(tables[name] for name in quick))
            shown["all"] = calibrations.all.probabilities(*tables.values())
            scores[part] = {
                name: relation_scores(table, label, *self._relations)._asdict()
                for name, table in shown.items()
            }
        for name, own in scores["dev"].items():
            _log.info("%s: macro-F1 %.1f on words held out", name, own["macro_f1"])
        weights = calibrations.all.weights
        facts = {
            "weights": dict(zip(teachers, weights.mean(axis=1).tolist(), strict=True)),
            "weights_of_relations": {
                teacher: dict(zip(self._relations.names, own, strict=True))
                for teacher, own in zip(teachers, weights.tolist(), strict=True)
            },
            "none": calibrations.all.none,
            "teachers": scores,
        }
        return calibrations, facts

    def _both_ways(
        self, teacher: LanguageModelTeacher, x: NDArray[np.int64], y: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Log-probabilities; of pairs that may be related, the mean over both orders."""
        found = teacher.log_probabilities(x, y, self._config, self._device)
        related = np.flatnonzero(found[:, -1] < np.log1p(-self._config.swap_above))
        swapped = teacher.log_probabilities(y[related], x[related], self._config, self._device)
        found[related] = (found[related] + swapped[:, list(self._relations.inverse)]) / 2
        return found
