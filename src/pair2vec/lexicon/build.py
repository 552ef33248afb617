"""Build a lexicon: for each term its candidates, their relations, and the sentences that show them.

Any number of processes build parts of it, each of which opens corpus and model once. Parts are kept
in a job folder beside the output, so that a build that was stopped resumes.
"""

import hashlib
import json
import logging
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, IntArray
from pair2vec.errors import UsageError
from pair2vec.lexicon.calibration import CandidateCalibration
from pair2vec.lexicon.candidates import CandidatePairs, Terms, find_terms
from pair2vec.lexicon.evidence import EvidenceScorer, find_evidence
from pair2vec.lexicon.export import ExportConfig, export_lexicon
from pair2vec.lexicon.inverted_index import InvertedIndex, open_index
from pair2vec.lexicon.review import Judgement, Review, read_review
from pair2vec.lexicon.thesaurus import LexiconEntry
from pair2vec.model.folder import load_model
from pair2vec.relations.definitions import NONE
from pair2vec.runtime.checksums import read_checksums, strict_json, with_checksums
from pair2vec.runtime.jobs import RUN_AGAIN, JobFolder, empty_folder
from pair2vec.runtime.storage import write_file, writing
from pair2vec.text.corpus import open_corpus, read_manifest
from pair2vec.text.engines import process_map
from pair2vec.text.vocabulary import WordPair
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.relations import sense_relations, word_senses

_log = logging.getLogger(__name__)

_TERMS_PER_TASK = 50

FITTED_UNRELATED = 0.9
"""The default of `LexiconConfig.unrelated` where relations are fitted to examples.

They are calibrated for a list in which half of the pairs are related, and most candidates are not.
"""
LEAST_UNCORRECTED = 0.5
"""A relation that a head finds less probable is no entry, unless less is asked for."""
SAMPLE_SIZE = 2_000
WORDNET_NAMES = {
    "synonym": "synonymy",
    "antonym": "antonymy",
    "hypernym": "hypernymy",
    "hyponym": "hyponymy",
    "co-hyponym": "co_hyponymy",
}
"""Our relations, and their names in `sense_relations`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LexiconConfig:
    """What makes two terms an entry."""

    relations: tuple[str, ...] = ()
    """Which are wanted; none means all."""
    probability: float = 0.8
    """The least of an entry."""
    unrelated: float | None = None
    """The share of candidates that have none of the relations.

    None is that of the calibration for the relation head of a model, else `FITTED_UNRELATED`.
    """
    per_term: int = 20
    """The most entries of a term, the likeliest."""
    evidence: int = 3
    """The most sentences of an entry."""
    needs_evidence: bool = False
    """Whether an entry without a sentence is left out."""

    def __post_init__(self) -> None:
        if self.needs_evidence and not self.evidence:
            raise UsageError("--needs-evidence leaves nothing with --evidence 0; give 1 or more")


@dataclass(frozen=True, kw_only=True, slots=True)
class LexiconInputs:
    """What a lexicon is built from: paths and terms, small enough to send to other processes."""

    corpus: Path
    model: Path
    relations: Path | None
    terms: tuple[str, ...]
    review: Path | None = None
    """An earlier lexicon of the same terms in which a person marked entries."""


class LexiconTask(NamedTuple):
    """A part of the work: a range of the terms."""

    inputs: LexiconInputs
    config: LexiconConfig
    first: int
    last: int


class LexiconPart(NamedTuple):
    """A part of the lexicon."""

    first: int
    last: int
    entries: list[LexiconEntry]


def build_lexicon(
    inputs: LexiconInputs,
    config: LexiconConfig,
    out: Path,
    export: ExportConfig,
    *,
    workers: int = 1,
    overwrite: bool = False,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[LexiconEntry]:
    """Build a lexicon, or resume one that was begun, and write it to `out`.

    `report` is called with how many terms of how many are done.

    Raises:
        UsageError: `out` is there already, or another lexicon was begun there.
    """
    if out.exists() and not overwrite:
        raise UsageError(f"{out}: exists already; --overwrite replaces it")
    state = out.with_name(f"{out.name}.begun")
    job = _job_folder(inputs, config, out, state)
    # A lexicon that is to be replaced may still be finished from what was begun.
    with job.claim(resume=not overwrite or job.is_same(), overwrite=overwrite):
        parts = {part.first: part for part in _read_parts(state)}
        tasks = lexicon_tasks(inputs, config, list(parts), _TERMS_PER_TASK)
        with process_map(min(workers, len(tasks)) or 1) as ordered_map:
            for part in ordered_map(build_part, tasks):
                _write_part(state, part)
                parts[part.first] = part
                report(sum(p.last - p.first for p in parts.values()), len(inputs.terms))
        entries = [entry for first in sorted(parts) for entry in parts[first].entries]
        vocabulary = open_corpus(inputs.corpus).vocabulary
        known = (word for word in inputs.terms if word in vocabulary.ids)
        frequency = {word: int(vocabulary.counts[vocabulary.ids[word]]) for word in known}
        with writing(out) as file:
            for line in export_lexicon(entries, export, frequency):
                file.write(line.encode())
        shutil.rmtree(state)
    return entries


def _job_folder(inputs: LexiconInputs, config: LexiconConfig, out: Path, state: Path) -> JobFolder:
    definitions = inputs.relations.read_bytes() if inputs.relations else b""
    return JobFolder(
        out=out,
        state=state,
        complete=out,
        product="a lexicon",
        identity={
            "corpus": read_manifest(inputs.corpus).fingerprint,
            "model": load_model(inputs.model).fingerprint,
            "relations": hashlib.sha256(definitions).hexdigest(),
            "terms": hashlib.sha256("\n".join(inputs.terms).encode()).hexdigest(),
            **(
                {"review": hashlib.sha256(inputs.review.read_bytes()).hexdigest()}
                if inputs.review
                else {}
            ),
            "settings": asdict(config),
        },
        clear=lambda: empty_folder(state),
        resumed_by=RUN_AGAIN,
    )


def lexicon_tasks(
    inputs: LexiconInputs, config: LexiconConfig, done: Sequence[int], size: int
) -> list[LexiconTask]:
    """The work that is left; `done` are the first terms of what is there already."""
    starts = range(0, len(inputs.terms), size)
    return [
        LexiconTask(inputs, config, start, min(start + size, len(inputs.terms)))
        for start in starts
        if start not in done
    ]


def _write_part(folder: Path, part: LexiconPart) -> None:
    entries = [entry.to_json() for entry in part.entries]
    path = folder / f"terms-{part.first:08d}.json"
    content = {"first": part.first, "last": part.last, "entries": entries}
    sealed = with_checksums(path.name, json.loads(json.dumps(content)), {})
    write_file(path, json.dumps(sealed).encode())


def _read_parts(folder: Path) -> Iterator[LexiconPart]:
    """Those that are done; a damaged one is left out, to be made again."""
    for path in sorted(folder.glob("terms-*.json")):
        try:
            saved = strict_json(path.read_bytes())
            read_checksums(path, saved, "it is made again")
            entries = [LexiconEntry.from_json(entry) for entry in saved["entries"]]
            yield LexiconPart(saved["first"], saved["last"], entries)
        except (ValueError, KeyError, TypeError) as error:
            _log.warning("%s: is damaged; its terms are looked up again", path)
            _log.debug("%s", error)


def build_part(task: LexiconTask) -> LexiconPart:
    """The entries of its terms, in the order of the terms, the likeliest first."""
    worker = _open_worker(task.inputs, task.config.unrelated)
    entries = worker.entries(range(task.first, task.last), task.config)
    return LexiconPart(task.first, task.last, entries)


class Predictions(NamedTuple):
    """Of N pairs of terms."""

    relations: IntArray
    """Indices of their names, (N,)."""
    probabilities: FloatArray
    """(N,)."""
    accepted: NDArray[np.bool_]
    """Whether a person accepted the relation, (N,)."""


@cache
def _open_worker(inputs: LexiconInputs, unrelated: float | None) -> "LexiconWorker":
    return LexiconWorker(inputs, unrelated)


class LexiconWorker:
    """The opened corpus, model and relations of one process."""

    def __init__(self, inputs: LexiconInputs, unrelated: float | None) -> None:
        self._model: Pair2vec = load(inputs.model)
        self._index: InvertedIndex = open_index(open_corpus(inputs.corpus))
        vocabulary = self._index.corpus.vocabulary
        self._terms: Terms = find_terms(inputs.terms, vocabulary, self._model.vocabulary)
        self._candidates = CandidatePairs(self._index, self._terms, self._model.unit_words)
        self._relations = self._model.relations(inputs.relations)
        is_calibrated = inputs.relations is None and self._model.saved.has_head
        if unrelated is None and not is_calibrated:
            unrelated = FITTED_UNRELATED
        self._unrelated = unrelated
        self._calibration = (
            CandidateCalibration(self._model, self._relations, self._unrelated)
            if is_calibrated
            else None
        )
        self._scorer = EvidenceScorer(self._model, self._relations.definitions, vocabulary)
        self._term_of = {word: term for term, word in enumerate(self._terms.words)}
        self._review = self._learn(read_review(inputs.review) if inputs.review else [])

    def _learn(self, judgements: list[Judgement]) -> Review:
        """Of what was judged, the entries between terms of this lexicon, in its relations."""
        names = self._relations.names[:-1]
        known = [
            judgement
            for judgement in judgements
            if {judgement.x, judgement.y} <= self._term_of.keys() and judgement.relation in names
        ]

        def probability(judged: Sequence[Judgement]) -> FloatArray:
            terms = [(self._term_of[pair.x], self._term_of[pair.y]) for pair in judged]
            x, y = self._terms.in_model[np.array(terms, np.intp).reshape(-1, 2)].T
            columns = np.array([names.index(judgement.relation) for judgement in judged], np.intp)
            found = self._relations.probabilities(x, y, self._unrelated)
            return self._corrected(x, y, columns, found[np.arange(len(judged)), columns])

        def inverse(name: str) -> str:
            return self._relations.definition(name).inverse

        return Review(known, names, inverse, probability)

    def _corrected(
        self, x: IntArray, y: IntArray, relations: IntArray, probabilities: FloatArray
    ) -> FloatArray:
        """Probabilities (N,) of relations of ids in the model, as far as they can be corrected."""
        if self._calibration is None:
            return probabilities
        return self._calibration.corrected(x, y, relations, probabilities)

    def entries(self, terms: range, config: LexiconConfig) -> list[LexiconEntry]:
        """Those of a range of terms, in this order, the likeliest of a term first."""
        words = self._terms.words
        partners = [
            np.union1d(
                found, [self._term_of[y] for y in self._review.accepted_partners(words[x])]
            ).astype(np.intp)
            for x, found in zip(terms, self._candidates.partners(terms), strict=True)
        ]
        second = np.concatenate(partners)
        if not len(second):
            return []
        ends = np.cumsum([len(others) for others in partners])
        first = np.repeat(np.array(terms, np.intp), np.diff(ends, prepend=0))
        predicted = self._predict(first, second, config)
        columns = zip(*(np.split(column, ends[:-1]) for column in predicted), strict=True)
        return [
            entry
            for term, others, of_term in zip(terms, partners, columns, strict=True)
            for entry in self._entries_of(term, others, Predictions(*of_term), config)
        ]

    def _predict(self, first: IntArray, second: IntArray, config: LexiconConfig) -> Predictions:
        """The likeliest relation of pairs of terms, or the accepted one."""
        x, y = self._terms.in_model[first], self._terms.in_model[second]
        probabilities = self._relations.probabilities(x, y, self._unrelated)
        relations = probabilities.argmax(axis=1)
        accepted = np.zeros(len(x), np.bool_)
        words, names = self._terms.words, self._relations.names
        for row, (term, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            if name := self._review.accepted(words[term], words[other]):
                relations[row], accepted[row] = names.index(name), True
        highest = probabilities[np.arange(len(x)), relations]
        # What is improbable by itself is not worth the time that the correction takes.
        least = min(LEAST_UNCORRECTED, config.probability)
        worth = np.flatnonzero((relations < len(names) - 1) & ((highest >= least) | accepted))
        likely = np.zeros_like(highest)
        likely[worth] = self._corrected(x[worth], y[worth], relations[worth], highest[worth])
        return Predictions(relations, self._review.corrected(likely, relations), accepted)

    def _entries_of(
        self, term: int, partners: IntArray, predicted: Predictions, config: LexiconConfig
    ) -> list[LexiconEntry]:
        """Of one term, by the predictions of its pairs."""
        names, words = np.array(self._relations.names), self._terms.words
        relations, highest, accepted = predicted
        x, others = words[term], [words[partner] for partner in partners.tolist()]
        wanted = (names[relations] != NONE) & (highest >= config.probability) | accepted
        wanted &= [
            not self._review.is_rejected(x, str(name), y)
            for name, y in zip(names[relations], others, strict=True)
        ]
        if config.relations:
            wanted &= np.isin(names[relations], config.relations)
        order = np.lexsort((-highest, ~accepted)).tolist()
        candidates = (
            self._entry(
                term, int(partners[row]), str(names[relations[row]]), float(highest[row]), config
            )._replace(accepted=bool(accepted[row]))
            for row in order
            if wanted[row]
        )
        kept = (
            entry
            for entry in candidates
            if entry.evidence or entry.accepted or not config.needs_evidence
        )
        return list(islice(kept, config.per_term))

    def _entry(
        self, term: int, other: int, relation: str, probability: float, config: LexiconConfig
    ) -> LexiconEntry:
        ids, words = self._terms.in_corpus, self._terms.words
        pair = WordPair(int(ids[term]), int(ids[other]))
        scorer = (
            self._scorer.for_relation(relation)
            if self._scorer.has_relation(relation)
            else self._scorer.for_pair(words[term], words[other])
        )
        evidence = find_evidence(self._index, pair, scorer, top=config.evidence)
        return LexiconEntry(words[term], relation, words[other], probability, evidence)


class WordNetAgreement(NamedTuple):
    relation: str
    entries: int
    """In the sample, with both words in WordNet."""
    confirmed: int


def check_against_wordnet(
    entries: Sequence[LexiconEntry], wordnet: WordNet, seed: int = 0
) -> list[WordNetAgreement]:
    """The share of a random sample that WordNet confirms, by relation: a lower bound of precision.

    Only relations that WordNet has, between words that it has; an entry that it does not confirm
    may still be true.
    """
    candidates = [entry for entry in entries if entry.relation in WORDNET_NAMES]
    sample = random.Random(seed).sample(candidates, min(SAMPLE_SIZE, len(candidates)))
    checked: dict[str, list[bool]] = {name: [] for name in WORDNET_NAMES}
    for entry in sample:
        x, y = (word_senses(wordnet, word) for word in (entry.x, entry.y))
        if x and y:
            strength = getattr(sense_relations(x, y), WORDNET_NAMES[entry.relation])
            checked[entry.relation].append(strength > 0)
    return [
        WordNetAgreement(name, len(confirmed), sum(confirmed))
        for name, confirmed in checked.items()
        if confirmed
    ]
