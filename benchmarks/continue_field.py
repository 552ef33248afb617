"""What a few megabytes of one field do to a published model: `pair2vec train --from`, measured.

    python benchmarks/continue_field.py CORPORA --work FOLDER [--megabytes 5] [--half reporting]
        [--bats FOLDER] [--set training.epochs=1]

The field is medicine. CORPORA is a folder of ``*.txt.xz`` in which an article is a title line,
paragraphs and a blank line; taken are, until there are so many megabytes, those whose title is one
capitalised word, perhaps with others in lower case, that ends as `TITLES` says. The bundled model
has read these articles. So new words are made: nouns of WordNet that are a multiple as frequent in
the slice as in the model's text are *removed* from the model, and the model without them goes on
with the slice. Beside it stand the model as it is, where these words learned from all of its text;
the model without them, where they are unknown; and the vectors that new words start from, before
the first step. Words of the slice that the bundled model never had are *new*.

Each term is of one half, by a hash: settings are chosen on one, figures reported on the other.
Relations: pairs of WordNet with a term, and as many unrelated ones; a pair with an unknown word
counts as unrelated. Slots: is one of the ten words that fill "X is a Y", "X and other Y" or "Y such
as X" best for a term X a hypernym of it (up to three edges above the first two senses)?
The rule for `continued.known`, by which known words learn the less the larger it is (1, 10 and
1,000,000, where only new words learn): the largest of which the mean of four figures of the
choosing half, macro-F1 and the share of slots of removed and of new terms, is within half a point
of the best. For other words, a known word that moves less is better in itself.
Wrong with the data: the vectors of removed words shaped those of others; R, C and the relation head
learned from them too, and some of the pairs were labelled by teachers.
"""

import argparse
import hashlib
import lzma
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

import machine
from pair2vec.api import Match, Pair2vec, load
from pair2vec.arrays import normalise
from pair2vec.experiments.evaluation.analogies import (
    AnalogyBenchmark,
    AnalogyConfig,
    evaluate_analogies,
)
from pair2vec.experiments.evaluation.analogy_sets import (
    AnswerVocabulary,
    read_analogies,
    select_half,
)
from pair2vec.experiments.evaluation.held_out_pairs import (
    ALL,
    read_held_out_pairs,
    score_held_out_pairs,
)
from pair2vec.model.folder import SavedModel, load_model, save_model
from pair2vec.model.resolve import find_model
from pair2vec.relations.definitions import NONE, read_definitions
from pair2vec.relations.scores import relation_scores
from pair2vec.teaching.labels import RelationNames
from pair2vec.teaching.wordnet_pairs import VocabularySenses
from pair2vec.text.corpus import Corpus, open_corpus
from pair2vec.text.prepare import PrepareConfig, prepare
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.training.continuation import continued_recipe
from pair2vec.training.train import train
from pair2vec.training.trainer import TrainingProgress
from pair2vec.wordnet.dictionary import HYPERNYM, INSTANCE_HYPERNYM, WordNet

TITLE = re.compile(r"[A-Z][a-z-]+(?: [a-z-]+)*\n")
TITLES = re.compile(
    r"(?:itis|osis|oses|oma|emia|ectomy|otomy|ostomy|plasty|pathy|algia|plegia|uria|pnea|cyte"
    r"|cardia|penia|trophy|iatrics|cology|cardiology|urology)$"
    r"|\b(?:disease|syndrome|disorder|infection|fever|cancer|tumou?r|artery|vein|nerve|muscle|bone"
    r"|gland|tissue|cell|organ|membrane|ligament|surgery|anatomy|an(?:a?)esthesia|medicine"
    r"|medication|vaccine|antibiotic|hormone|cartilage|tendon|joint|skull|brain|cortex|spinal"
    r"|kidney|liver|lung|heart|stomach|intestine|bladder|eye|ear|skin|blood|lymph|uterus|ovary"
    r"|testis|prostate|pregnancy|fracture|wound|injury|allergy|pain|ulcer|hernia)s?$"
)
HALVES = ("choosing", "reporting")
LEAST, MOST, RATIO = 8, 200, 20
"""Removed are words with so many occurrences in the slice, and so many times their share of the
model's text."""
LEAST_WEIGHT = 0.2
"""Of a relation, by the probabilities of both senses (`relation_weights`)."""
PATTERNS = (("X is a Y", "x"), ("X and other Y", "x"), ("X such as Y", "y"))
"""And the slot of the term."""
SLOT_WORDS = 5_000
"""Slots are filled from so many most frequent nouns."""
SLOT_TERMS = 60
BATS_WORDS = 20_000


class Pairs(NamedTuple):
    """Pairs of words with WordNet's relations."""

    words: list[tuple[str, str]]
    labels: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--megabytes", type=float, default=5.0)
    parser.add_argument("--half", choices=HALVES, default="reporting")
    parser.add_argument("--bats", type=Path)
    parser.add_argument("--set", action="append", default=[], dest="assignments")
    parser.add_argument("--name", default="continued", help="of the new model, in the work folder")
    arguments = parser.parse_args()
    work: Path = arguments.work
    work.mkdir(parents=True, exist_ok=True)
    corpus = field_corpus(arguments.corpora, work, arguments.megabytes)
    bundled, wordnet = load_model(find_model("wikipedia")), WordNet.open()
    removed, new = field_terms(bundled.vocabulary, corpus, wordnet)
    reduced = without_words(bundled, removed, work / "without")
    settings = arguments.assignments
    started = go_on(reduced, corpus, work / "started", ["training.rate=0", "training.steps=1"])
    continued = go_on(reduced, corpus, work / arguments.name, settings)
    print(machine.describe())
    manifest = corpus.manifest
    print(f"{manifest.documents} articles, {manifest.tokens:,} tokens; settings: {settings}")
    print(f"{len(removed)} terms removed, {len(new)} nouns that the model never had")
    print_drift(reduced, continued, corpus)
    models = {
        "bundled": load(bundled.folder),
        "without the terms": load(reduced.folder),
        "start vectors": load(started.folder),
        "continued": load(continued.folder),
    }
    senses = VocabularySenses(wordnet, continued.vocabulary.words)
    for name, terms in (("removed", removed), ("new", new)):
        own = {term for term in terms if half_of(term) == arguments.half}
        pairs = wordnet_pairs(senses, continued.vocabulary, own)
        print(f"\n{name} terms, the {arguments.half} half: {len(own)}, {len(pairs.words)} pairs")
        for label, model in models.items():
            print(f"  {label:20}{relation_figures(model, pairs)}; {slots(model, own, wordnet)}")
    print("\nall of the model's other words")
    for label in ("without the terms", "continued"):
        print(f"  {label:20}{other_pairs(models[label])}")
    if arguments.bats:
        whole = go_on(bundled, corpus, work / f"{arguments.name}-whole", settings)
        words = bundled.vocabulary.words[len(SPECIAL_TOKENS) :][:BATS_WORDS]
        print(
            f"\nBATS, among the bundled model's first {BATS_WORDS:,} words with their new vectors"
        )
        for label, saved in (("bundled", bundled), ("gone on from it", whole)):
            print(f"  {label:20}{bats_figures(load(saved.folder), words, arguments.bats)}")


def field_corpus(corpora: Path, work: Path, megabytes: float) -> Corpus:
    """The corpus of the articles of the field, made once."""
    folder, text = work / "corpus", work / "slice.txt"
    if not (folder / "manifest.json").exists():
        with text.open("w", encoding="utf-8") as out:
            for path in sorted(corpora.glob("*.txt.xz")):
                with lzma.open(path, "rt", encoding="utf-8") as lines:
                    copy_articles(lines, out, round(megabytes * 1e6))
        prepare([str(text)], folder, PrepareConfig(), workers=1)
    return open_corpus(folder)


def copy_articles(lines: Iterable[str], out: TextIO, most: int) -> None:
    """Those whose titles are of the field, until the file has `most` bytes."""
    is_title, is_taken = True, False
    for line in lines:
        if is_title:
            whole = line.strip().lower()
            is_taken = bool(TITLE.fullmatch(line) and TITLES.search(whole)) and out.tell() < most
        if is_taken:
            out.write(line)
        is_title = not line.strip()


def half_of(term: str) -> str:
    return HALVES[hashlib.sha256(term.encode()).digest()[0] % 2]


def field_terms(known: Vocabulary, corpus: Corpus, wordnet: WordNet) -> tuple[list[str], list[str]]:
    """The words to remove from the model, and the new ones: nouns of WordNet."""
    ours, special = corpus.vocabulary, len(SPECIAL_TOKENS)
    share = RATIO * ours.counts.sum() / known.counts.sum()
    removed, new = [], []
    for word, count in zip(ours.words[special:], ours.counts[special:].tolist(), strict=True):
        if count < 5 or not word.isalpha() or not wordnet.synset_ids(word, "n"):
            continue
        if word not in known:
            new.append(word)
        elif LEAST <= count <= MOST and count > share * known.counts[known.ids[word]]:
            removed.append(word)
    return removed, new


def without_words(model: SavedModel, words: Sequence[str], folder: Path) -> SavedModel:
    """The model as if these words were not in it."""
    if not (folder / "config.json").exists():
        out = {model.vocabulary.ids[word] for word in words}
        kept = [n for n in range(len(model.vocabulary)) if n not in out]
        tensors = {}
        for name in model.names:
            table = model.array(name)
            rows = [n for n in kept if n < len(table)]
            tensors[name] = table[rows] if name.endswith(".words") else table
        counts, spelled = model.vocabulary.counts.tolist(), model.vocabulary.words
        entries = [(spelled[n], counts[n]) for n in kept[len(SPECIAL_TOKENS) :]]
        patterns = [p for p in model.patterns() if not {*p.pattern.split()} & {*words}]
        vocabulary = Vocabulary(entries)
        save_model(folder, tensors, vocabulary, model.config, patterns=patterns, precision="int8")
    return load_model(folder)


def go_on(model: SavedModel, corpus: Corpus, out: Path, settings: Sequence[str]) -> SavedModel:
    """The model gone on from with the corpus, made once."""
    if (out / "config.json").exists():
        return load_model(out)
    recipe = continued_recipe(model, assignments=["training.threads=1", *settings])

    def report(progress: TrainingProgress) -> None:
        print(f"  step {progress.step} of {progress.total_steps}", flush=True)

    is_begun = (out / "training" / "job.json").exists()
    return train(corpus, out, recipe, start=model, device="cpu", resume=is_begun, report=report)


def print_drift(before: SavedModel, after: SavedModel, corpus: Corpus) -> None:
    """How far the rows of the model's words moved, by the share of their occurrences."""
    words = before.vocabulary.words[len(SPECIAL_TOKENS) :]
    rows = [after.vocabulary.ids[word] for word in words]
    old = normalise(before.array("pair.words")[len(SPECIAL_TOKENS) :])
    cosines = np.sum(old * normalise(after.array("pair.words")[rows]), axis=1)
    ids, counts = corpus.vocabulary.ids, corpus.vocabulary.counts
    new = np.array([counts[ids[word]] if word in ids else 0 for word in words])
    share = new / np.maximum(1, new + before.vocabulary.counts[len(SPECIAL_TOKENS) :])
    for low, high in ((0, 0.01), (0.01, 0.1), (0.1, 1)):
        own = cosines[(share > low) & (share <= high)]
        if len(own):
            print(
                f"{len(own):,} words with {low:.0%} to {high:.0%} of their occurrences here: "
                f"cosine with their old rows {own.mean():.3f}, the lowest {own.min():.3f}"
            )


def wordnet_pairs(senses: VocabularySenses, vocabulary: Vocabulary, terms: set[str]) -> Pairs:
    """Pairs in one relation with a term in them, and as many unrelated ones of their words."""
    names, _ = RelationNames.of_definitions(read_definitions())
    weights = senses.relation_weights(names, len(vocabulary))
    words, labels = [], []
    related = set()
    for x, y, row in zip(weights.x.tolist(), weights.y.tolist(), weights.weights, strict=True):
        pair = (vocabulary.words[x], vocabulary.words[y])
        if terms & {*pair}:
            related.add(frozenset(pair))
            if np.count_nonzero(row) == 1 and row.max() >= LEAST_WEIGHT:
                words.append(pair)
                labels.append(names[int(row.argmax())])
    random = np.random.default_rng(0)
    for x, _ in list(words):
        y = words[int(random.integers(len(words)))][1]
        if x != y and frozenset((x, y)) not in related and terms & {x, y}:
            words.append((x, y))
            labels.append(NONE)
    return Pairs(words, labels)


def relation_figures(model: Pair2vec, pairs: Pairs) -> str:
    """Macro-F1 over eight classes, and the share of pairs whose words the model knows."""
    if not pairs.words:
        return "no pairs"
    names, inverse = RelationNames.of_definitions(read_definitions())
    batch = model.relate_many(pairs.words, unknown="zero")
    table = np.zeros((len(pairs.words), len(names)), np.float32)
    own = model.relations().names
    table[:, [names.index(name) for name in own]] = batch.probabilities
    table[~batch.known, names.index(NONE)] = 1
    labels = np.array([names.index(label) for label in pairs.labels])
    scores = relation_scores(table, labels, names, inverse)
    by_class = ", ".join(f"{name} {f1:.0f}" for name, f1 in scores.f1.items())
    return f"macro-F1 {scores.macro_f1:.1f} ({by_class}), known {batch.known.mean():.0%}"


def slots(model: Pair2vec, terms: set[str], wordnet: WordNet) -> str:
    """Of how many questions one of the first ten answers is a hypernym of the term."""
    nouns = [
        word
        for word in model.vocabulary.words[len(SPECIAL_TOKENS) :]
        if word.isalpha() and wordnet.synset_ids(word, "n")
    ][:SLOT_WORDS]
    asked = right = 0
    for term in sorted(terms, key=lambda word: hashlib.sha256(word.encode()).digest()):
        above = hypernyms(wordnet, term) & {*nouns}
        if not above or asked == SLOT_TERMS * len(PATTERNS):
            continue
        asked += len(PATTERNS)
        if term in model.vocabulary:
            right += sum(
                any(match.word in above for match in answers(model, pattern, slot, term, nouns))
                for pattern, slot in PATTERNS
            )
    return f"slots {right} of {asked}"


def answers(
    model: Pair2vec, pattern: str, slot: str, term: str, among: Sequence[str]
) -> list[Match]:
    if slot == "x":
        return model.fill(pattern, x=term, among=among)
    return model.fill(pattern, y=term, among=among)


def hypernyms(wordnet: WordNet, term: str) -> set[str]:
    level, found = set(wordnet.synset_ids(term, "n")[:2]), set()
    for _ in range(3):
        level = {
            above
            for synset in level
            for above in wordnet.synset(synset).targets(HYPERNYM, INSTANCE_HYPERNYM)
        }
        found |= {word for synset in level for word in wordnet.synset(synset).words}
    return found - {term}


def other_pairs(model: Pair2vec) -> str:
    """WordNet's held-out pairs of common words."""
    held_out = score_held_out_pairs(model, {"head": model.relations()}, read_held_out_pairs())
    return f"WordNet's held-out pairs: macro-F1 {held_out.rows['head'][ALL].macro_f1:.2f}"


def bats_figures(model: Pair2vec, words: Sequence[str], bats: Path) -> str:
    """BATS of the half to choose by, among some words: by eval's defaults, and at α = 0.5."""
    ids = np.array([model.vocabulary.ids[word] for word in words])
    candidates = AnswerVocabulary(
        ids=ids,
        vectors=normalise(model.unit_words[ids]),
        indices={word: number for number, word in enumerate(words)},
    )
    relations = select_half(read_analogies(bats), "choose")
    benchmark = AnalogyBenchmark(
        relations=relations,
        candidates=candidates,
        data=str(bats),
        half="choose",
        vectors="of the model",
    )
    found = evaluate_analogies(model.saved, benchmark, AnalogyConfig())
    at_half = found.protocol.alphas.index(0.5)
    return ", ".join(
        f"{name} {group.scores['heldout_alpha']:.1f} ({group.by_alpha[at_half]:.1f} at α = 0.5)"
        for name, group in found.accuracies.groups.items()
    )


if __name__ == "__main__":
    main()
