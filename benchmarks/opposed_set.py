"""Make a benchmark of sentence pairs: do the two say opposite things?

    python benchmarks/opposed_set.py --out opposed.tsv [--wordnet FOLDER]

A TSV of reversals ("opposed"), paraphrases ("same") and pairs that merely differ ("different"), in
four forms: commands, questions, statements of preference, facts. A reversal replaces a word by its
opposite, or adds or removes a negation; in a third of them something that does not matter changes
as well. Sentences are WordNet's own examples of its senses, and frames written by hand with what
fills them (``opposed_frames.toml``): neither is in the text that our models are trained on.

Word pairs are held out from the teacher's training: it learns from WordNet's relations between two
words of the part "train" and is calibrated on two of "dev" (`pair2vec.teaching.labels`), so no
opposite or synonym that is replaced has both words in "train", nor both in "dev".

All candidates are enumerated and then sampled in the order of hashes: the file is the same on every
machine that has WordNet 3.0.
"""

import argparse
import csv
import hashlib
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, NamedTuple

from example_sentences import NOT, WORD, ExampleSentences, Replacement, with_article
from pair2vec.relations.word_forms import is_negated_form
from pair2vec.teaching.labels import PARTS, Part, parts_of_words
from pair2vec.wordnet.dictionary import WordNet

FRAMES = Path(__file__).with_name("opposed_frames.toml")
LABELS = ("opposed", "same", "different")
FORMS = ("command", "question", "preference", "fact")
COLUMNS = ("label", "kind", "form", "sentence1", "sentence2")

OPPOSITES, NEGATIONS, PARAPHRASES, DIFFERING = 320, 200, 520, 260
"""Pairs of each form."""
MOST_OF_A_PAIR = 12
"""Sentence pairs that replace the same two words."""
FEWEST_WORDS, MOST_WORDS = 3, 22
OPPOSITE, AFFIX, SYNONYM, SPELLING = "opposite", "affix", "synonym", "spelling"

_ALTERNATIVES = re.compile(r"\{([^{}]*\|[^{}]*)\}")
_SLOT = re.compile(r"\{([a-z-]+)(!?)\}")
_STATE = re.compile(r"(?P<subject>.*) (?P<verb>is|are|was|were|will be) (?P<rest>.*)")
_CONTRACTIONS = (
    *(("I am", "I'm"), ("I would", "I'd"), ("I have", "I've"), ("I will", "I'll")),
    *(("do not", "don't"), ("did not", "didn't"), ("does not", "doesn't"), ("is not", "isn't")),
    *(("are not", "aren't"), ("was not", "wasn't"), ("were not", "weren't"), ("cannot", "can't")),
    *(("should not", "shouldn't"), ("would not", "wouldn't"), ("could not", "couldn't")),
    *(("has not", "hasn't"), ("will not", "won't"), ("we would", "we'd"), ("let us", "let's")),
    *(("it is", "it's"), ("he is", "he's"), ("she is", "she's"), ("you are", "you're")),
    *(("they are", "they're"), ("we are", "we're"), ("that is", "that's"), ("what is", "what's")),
    *(("it will", "it'll"), ("we will", "we'll"), ("he will", "he'll"), ("she will", "she'll")),
)
_EXAMPLE_TOPICS = 12
"""Of the negated examples of WordNet: so many times as many as of any frame."""


class SentencePair(NamedTuple):
    """Two sentences, and how the one came from the other."""

    label: str
    kind: str
    form: str
    sentence1: str
    sentence2: str
    replaced: tuple[str, str] | None = None
    """A word of the one and the word in its place, as base forms; not written to the file."""


class Candidate(NamedTuple):
    """A pair that may be drawn, and its topic: as few as possible are drawn of one."""

    pair: SentencePair
    topic: str


class Filler(NamedTuple):
    """What fills a frame."""

    type: str
    """action, state, thing, or phrase."""
    text: str
    is_software: bool = False
    """An action that more frames fit."""


class Entry(NamedTuple):
    """Two words, and fillers with the one and with the other."""

    words: tuple[str, str]
    fillers: list[tuple[Filler, Filler]]
    forms: Sequence[str] = FORMS
    are_complementary: bool = False
    """Whether what is not the one is the other."""


def main() -> None:
    """Write the set, and print its counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--wordnet", type=Path, help="its folder, if it is not where it usually is")
    arguments = parser.parse_args()
    pairs = make_pairs(WordNet.open(arguments.wordnet))
    write_pairs(arguments.out, pairs)
    for label in LABELS:
        own = [pair for pair in pairs if pair.label == label]
        print(f"{len(own):,} {label}")
        for column in ("form", "kind"):
            counts = Counter(getattr(pair, column) for pair in own)
            print(f"  {', '.join(f'{name} {count}' for name, count in counts.most_common())}")
    opposites = {frozenset(pair.replaced or ()) for pair in pairs if pair.label == "opposed"}
    print(f"{len(opposites - {frozenset()})} distinct opposites")


def write_pairs(path: Path, pairs: Iterable[SentencePair]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE)
        writer.writerow(COLUMNS)
        writer.writerows(pair[: len(COLUMNS)] for pair in pairs)


def read_pairs(path: Path) -> list[SentencePair]:
    """As `write_pairs` wrote them, less the replaced words."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            SentencePair(row["label"], row["kind"], row["form"], row["sentence1"], row["sentence2"])
            for row in rows
        ]


def make_pairs(wordnet: WordNet) -> list[SentencePair]:
    """All pairs of the benchmark, in a fixed random order."""
    maker = SetMaker(wordnet, tomllib.loads(FRAMES.read_text(encoding="utf-8")))
    sampler = Sampler()
    for form in FORMS:
        sampler.draw(maker.opposites(form), OPPOSITES, by_kind=False)
        sampler.draw(maker.negations(form), NEGATIONS)
        sampler.draw(maker.paraphrases(form), PARAPHRASES)
        sampler.draw(maker.differing(form), DIFFERING)
    return sorted(sampler.drawn, key=lambda pair: random_order(pair.sentence1, pair.sentence2))


def is_held_out(wordnet: WordNet, x: str, y: str) -> bool:
    """Whether the teacher was neither shown the relation of two words nor calibrated on it."""
    first, second = part_of_word(wordnet, x), part_of_word(wordnet, y)
    return first != second or first == "test"


@cache
def part_of_word(wordnet: WordNet, word: str) -> Part:
    part: Part = PARTS[parts_of_words(wordnet, [word])[0]]
    return part


def random_order(*texts: str) -> int:
    """A number that is the same in every run; sorting by it shuffles."""
    key = "\x1f".join(texts).encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")


class Sampler:
    """Draws candidates: evenly over kinds and topics, none twice, no two words too often."""

    def __init__(self) -> None:
        self.drawn: list[SentencePair] = []
        self._seen: set[frozenset[str]] = set()
        self._replaced: Counter[frozenset[str]] = Counter()

    def draw(self, candidates: Iterable[Candidate], count: int, *, by_kind: bool = True) -> None:
        """Add `count` of the candidates, as many of each kind while there are any.

        Raises:
            ValueError: there are fewer that may be drawn.
        """
        queues: dict[str, list[tuple[int, SentencePair]]] = defaultdict(list)
        earlier: Counter[tuple[str, str]] = Counter()
        for pair, topic in sorted(candidates, key=lambda one: random_order(*one.pair[1:5])):
            kind = pair.kind if by_kind else ""
            times = earlier[kind, topic] + self._replaced[frozenset(pair.replaced or ())]
            queues[kind].append((times, pair))
            earlier[kind, topic] += 1
        # The first of each topic come first, then the second of each; what other forms had, later.
        waiting = [
            (pair for _, pair in sorted(queues[kind], key=lambda one: one[0]))
            for kind in sorted(queues)
        ]
        wanted = len(self.drawn) + count
        while waiting and len(self.drawn) < wanted:
            waiting = [
                queue for queue in waiting if len(self.drawn) == wanted or self._draw_next(queue)
            ]
        if len(self.drawn) < wanted:
            raise ValueError(f"{wanted - len(self.drawn)} pairs are missing; write more frames")

    def _draw_next(self, queue: Iterator[SentencePair]) -> bool:
        """Add the next pair that may be drawn; False if there is none."""
        pair = next(filter(self._may_be_drawn, queue), None)
        if pair is None:
            return False
        first, second = pair.sentence1, pair.sentence2
        self._seen.add(frozenset((first, second)))
        if pair.replaced:
            self._replaced[frozenset(pair.replaced)] += 1
        # The place must not tell which of the two was changed.
        if random_order(first, second) % 2:
            pair = pair._replace(sentence1=second, sentence2=first)
        self.drawn.append(pair)
        return True

    def _may_be_drawn(self, pair: SentencePair) -> bool:
        sentences = frozenset((pair.sentence1, pair.sentence2))
        if len(sentences) < 2 or sentences in self._seen:
            return False
        if pair.replaced and self._replaced[frozenset(pair.replaced)] == MOST_OF_A_PAIR:
            return False
        return all(FEWEST_WORDS <= len(text.split()) <= MOST_WORDS for text in sentences)


class SetMaker:
    """Enumerates the candidates of each form."""

    def __init__(self, wordnet: WordNet, written: Mapping[str, Any]) -> None:
        """Take the frames, alternatives and classes that are `written`, and WordNet's examples."""
        self._wordnet, self._written = wordnet, written
        self._examples = ExampleSentences(wordnet, written["irregular"])
        self._slots: dict[Filler, dict[str, str]] = {}
        chosen = written["examples"]
        self._opposite_examples = self._held_out(self._examples.opposites(chosen["opposites"]))
        self._synonym_examples = self._held_out(self._examples.synonyms(chosen["synonyms"]))
        phrases = self._held_out(self._examples.opposites(chosen["phrases"]))
        self._written_opposites = [self._entry(row) for row in written["opposites"]]
        self._synonyms = [self._entry(row) for row in written["synonyms"]]
        self._opposites = [
            *self._written_opposites,
            *(_action_entry(one) for one in self._opposite_examples if _is_command(one)),
            *(_phrase_entry(one) for one in phrases),
        ]

    def _entry(self, row: Mapping[str, Any]) -> Entry:
        x, y = row["words"]
        self._check_held_out(x, y)
        fillers = [
            _two_fillers(type_, text, (x, y), is_software=row.get("software", False))
            for type_ in ("action", "state", "thing")
            for text in row.get(f"{type_}s", ())
        ]
        return Entry((x, y), fillers, row.get("forms", FORMS), row.get("either", False))

    def _held_out(self, replacements: Iterable[Replacement]) -> list[Replacement]:
        found = list(replacements)
        for replacement in found:
            self._check_held_out(*replacement.words)
            self._check_held_out(*replacement.forms)
        return found

    def _check_held_out(self, x: str, y: str) -> None:
        if not is_held_out(self._wordnet, x, y):
            part = part_of_word(self._wordnet, x)
            raise ValueError(f"{FRAMES.name}: {x} and {y} are both of the part {part!r}")

    def _groups(self, form: str, filler: Filler) -> list[list[str]]:
        """The frames that a filler fits, in groups of one meaning."""
        frames: Mapping[str, list[list[str]]] = self._written["frames"][form]
        types = [filler.type, "software"] if filler.is_software else [filler.type]
        names = self._slots_of(filler).keys()
        groups = (group for type_ in types for group in frames.get(type_, ()))
        return [group for group in groups if _slot_names(*group) <= names]

    def _fill(self, frame: str, filler: Filler) -> str:
        return frame.format_map(self._slots_of(filler))

    def _slots_of(self, filler: Filler) -> dict[str, str]:
        """What a filler puts into each slot of a frame that it fits."""
        if filler not in self._slots:
            slots = {"thing": filler.text}
            if filler.type == "action":
                verb, _, rest = filler.text.partition(" ")
                forms = {"base": verb, **self._examples.grammar.verb_forms(verb)}
                slots = {name: f"{form} {rest}".strip() for name, form in forms.items()}
            elif filler.type == "state":
                slots = _state_slots(filler.text)
            self._slots[filler] = slots
        return self._slots[filler]

    def opposites(self, form: str) -> Iterator[Candidate]:
        """Reversals by a word and its opposite; in a third, another frame of one meaning too."""
        for entry in self._opposites:
            yield from self._replaced(form, entry, "opposed", _kind_of_opposites(entry.words))
        for example, changed, words, _ in self._opposite_examples:
            if example.form == form:
                if random_order(changed) % 3 == 0:
                    changed = _contracted(changed) or changed
                kind = _kind_of_opposites(words)
                pair = SentencePair("opposed", kind, form, example.sentence, changed, words)
                yield Candidate(pair, " ".join(sorted(words)))

    def _replaced(self, form: str, entry: Entry, label: str, kind: str) -> Iterator[Candidate]:
        if form not in entry.forms:
            return
        for x, y in entry.fillers:
            for group in self._groups(form, x):
                first, second = _two_frames(group, x.text, share=3)
                name = kind if label == "opposed" or first == second else f"{kind} and frame"
                sentences = self._fill(first, x), self._fill(second, y)
                pair = SentencePair(label, name, form, *sentences, entry.words)
                yield Candidate(pair, " ".join(sorted(entry.words)))

    def negations(self, form: str) -> Iterator[Candidate]:
        """Reversals by a negation; in a third, another frame of one meaning too."""
        rows = [row for row in self._written["negation"] if row["form"] == form]
        for filler in self._fillers(form):
            slots = self._slots_of(filler)
            for row in rows:
                for yes, no in row["frames"]:
                    if not _slot_names(*yes, *no) <= slots.keys():
                        continue
                    first, second = yes[0], no[0]
                    if random_order(filler.text, first) % 3 == 0:
                        first, second = yes[-1], no[1 % len(no)]
                    sentences = first.format_map(slots), second.format_map(slots)
                    pair = SentencePair("opposed", row["kind"], form, *sentences)
                    yield Candidate(pair, yes[0])
        yield from self._alternatives("opposed", form)
        if form == "fact":
            for sentence, negated in self._examples.negated():
                topic = f"example {random_order(sentence) % _EXAMPLE_TOPICS}"
                yield Candidate(SentencePair("opposed", "not", form, sentence, negated), topic)

    def _fillers(self, form: str) -> list[Filler]:
        """All that is said with words written by hand."""
        return [
            filler
            for entry in (*self._written_opposites, *self._synonyms)
            if form in entry.forms
            for fillers in entry.fillers
            for filler in fillers
        ]

    def _alternatives(self, label: str, form: str) -> Iterator[Candidate]:
        for row in self._written["alternatives"]:
            if (row["label"], row["form"]) != (label, form):
                continue
            for sentence in row["sentences"]:
                match = _ALTERNATIVES.search(sentence)
                assert match, sentence
                start, end = sentence[: match.start()], sentence[match.end() :]
                for x, y in combinations(match[1].split("|"), 2):
                    replaced = None
                    if row["kind"] == SPELLING:
                        self._check_held_out(x, y)
                        replaced = (x, y)
                    sentences = (start + x + end, start + y + end)
                    pair = SentencePair(label, row["kind"], form, *sentences, replaced)
                    yield Candidate(pair, sentence)

    def paraphrases(self, form: str) -> Iterator[Candidate]:
        """Two frames of one meaning, synonyms, double negation, contraction and the like."""
        yield from self._alternatives("same", form)
        yield from self._double_negations(form)
        for entry in self._synonyms:
            yield from self._replaced(form, entry, "same", SYNONYM)
        for example, changed, words, _ in self._synonym_examples:
            if example.form == form:
                pair = SentencePair("same", SYNONYM, form, example.sentence, changed, words)
                yield Candidate(pair, " ".join(sorted(words)))
        if form == "fact":
            for sentence in self._examples.clauses():
                if contracted := _contracted(sentence):
                    pair = SentencePair("same", "contraction", form, sentence, contracted)
                    yield Candidate(pair, sentence)
        for filler in self._fillers(form):
            for group in self._groups(form, filler):
                for first, second in combinations(group, 2):
                    kind = _kind_of_change(first, second)
                    sentences = self._fill(first, filler), self._fill(second, filler)
                    yield Candidate(SentencePair("same", kind, form, *sentences), first)

    def _double_negations(self, form: str) -> Iterator[Candidate]:
        """*not open* for *closed*."""
        for entry in self._written_opposites:
            if not entry.are_complementary:
                continue
            for fillers in entry.fillers:
                if fillers[0].type != "state":
                    continue
                for group in self._groups(form, fillers[0]):
                    if "{question}?" in group:  # *isn't it open?* asks whether it is open
                        continue
                    first, second = _two_frames(group, fillers[0].text, share=4)
                    side = random_order(first, fillers[0].text) % 2
                    negated = re.sub(r"\{(state|now|question)\}", r"{not \1}", second)
                    sentences = (
                        self._fill(first, fillers[side]),
                        self._fill(negated, fillers[1 - side]),
                    )
                    pair = SentencePair("same", "double negation", form, *sentences, entry.words)
                    yield Candidate(pair, " ".join(entry.words))

    def differing(self, form: str) -> Iterator[Candidate]:
        """Another word of one class, another topic, more information, roles swapped."""
        yield from self._class_members(form)
        yield from self._topics(form)
        for sentence in self._written["roles"][form]:
            for a, b in permutations(self._written["classes"]["name"], 2):
                sentences = sentence.format(A=a, B=b), sentence.format(A=b, B=a)
                yield Candidate(SentencePair("different", "roles", form, *sentences), sentence)
        for filler in self._fillers(form):
            if filler.type != "action":
                continue
            for group in self._groups(form, filler)[:3]:
                for more in self._written["additions"][form]:
                    sentence = self._fill(group[0], filler)
                    longer = re.sub(r"(\??)$", rf" {more}\1", sentence, count=1)
                    pair = SentencePair("different", "information", form, sentence, longer)
                    yield Candidate(pair, f"{group[0]} {more}")

    def _class_members(self, form: str) -> Iterator[Candidate]:
        classes: Mapping[str, list[str]] = self._written["classes"]
        for kind, sentences in self._written["differing"][form].items():
            for sentence in sentences:
                (varied,) = (name for name, fixed in _SLOT.findall(sentence) if not fixed)
                for x, y in combinations(classes[varied], 2):
                    order = random_order(sentence, x, y)
                    text = sentence
                    for name, fixed in _SLOT.findall(sentence):
                        if fixed:
                            word = classes[name][order % len(classes[name])]
                            text = text.replace(f"{{{name}!}}", word)
                    first, second = (
                        with_article(text.replace(f"{{{varied}}}", word), word) for word in (x, y)
                    )
                    yield Candidate(SentencePair("different", kind, form, first, second), sentence)

    def _topics(self, form: str) -> Iterator[Candidate]:
        """The same word said of something else; something else in the same frame."""
        own = [entry for entry in self._written_opposites if form in entry.forms]
        for number, entry in enumerate(own):
            for (x, _), (y, _) in combinations(entry.fillers, 2):
                yield from self._in_one_frame("object", form, x, y)
            other = own[random_order(form, *entry.words) % len(own)]
            if abs(own.index(other) - number) > 1:
                for (x, _), (y, _) in zip(entry.fillers, other.fillers, strict=False):
                    yield from self._in_one_frame("topic", form, x, y)

    def _in_one_frame(self, kind: str, form: str, x: Filler, y: Filler) -> Iterator[Candidate]:
        others = self._groups(form, y)
        for group in (group for group in self._groups(form, x) if group in others):
            frame = group[random_order(x.text, y.text) % len(group)]
            sentences = self._fill(frame, x), self._fill(frame, y)
            yield Candidate(SentencePair("different", kind, form, *sentences), group[0])


def _is_command(replacement: Replacement) -> bool:
    return replacement.example.form == "command"


def _action_entry(replacement: Replacement) -> Entry:
    texts = (replacement.example.sentence, replacement.changed)
    x, y = (Filler("action", text[0].lower() + text[1:].rstrip("!")) for text in texts)
    return Entry(replacement.words, [(x, y)], ("command", "question"))


def _phrase_entry(replacement: Replacement) -> Entry:
    texts = (replacement.example.sentence, replacement.changed)
    x, y = (Filler("phrase", text) for text in texts)
    return Entry(replacement.words, [(x, y)], ("question", "fact"))


def _kind_of_opposites(words: tuple[str, str]) -> str:
    return AFFIX if is_negated_form(*words) else OPPOSITE


def _two_fillers(
    type_: str, text: str, words: tuple[str, str], *, is_software: bool
) -> tuple[Filler, Filler]:
    """A text with each of two words in its place: first in an action, last in a state."""
    if "{}" not in text:
        if type_ == "thing":
            text = re.sub(r"^(an? )?", r"\1{} ", text, count=1)
        else:
            text = f"{{}} {text}" if type_ == "action" else f"{text} {{}}"
    first, second = (with_article(text.replace("{}", word), word) for word in words)
    is_software = is_software and type_ == "action"
    return Filler(type_, first, is_software), Filler(type_, second, is_software)


def _two_frames(group: Sequence[str], text: str, share: int) -> tuple[str, str]:
    """One frame of a group twice; in one of `share` cases, two different ones."""
    order = random_order(group[0], text)
    number = order // share % len(group)
    return group[number], group[(number + (order % share == 0)) % len(group)]


@cache
def _slot_names(*frames: str) -> frozenset[str]:
    return frozenset(name for frame in frames for name in re.findall(r"\{([^{}]+)\}", frame))


@cache
def _kind_of_change(first: str, second: str) -> str:
    """What makes two frames of one meaning differ."""
    if _contracted(first) == second or _contracted(second) == first:
        return "contraction"
    x, y = (WORD.findall(frame) for frame in (first, second))
    if {*x} ^ {*y} <= {"please", "could", "can", "would", "you"} and "please" in {*x, *y}:
        return "polite"
    return "fronted" if sorted(x) == sorted(y) else "frame"


def _contracted(sentence: str) -> str | None:
    """With one contraction more, or None if there is nothing to contract."""
    for long, short in _CONTRACTIONS:
        # Not before "not", nor at the end: *yes, it is*.
        changed = re.sub(rf"\b{long}\b(?! not)(?=.* \S)", short, sentence, count=1)
        if changed != sentence:
            return changed
    return None


def _state_slots(text: str) -> dict[str, str]:
    """A state and its question, both negated; of a present one also still so and no longer so."""
    match = _STATE.fullmatch(text)
    assert match, text
    subject, verb, rest = match.groups()
    first, _, be = verb.partition(" ")
    rest = f"{be} {rest}".strip()
    negated = NOT[first]
    slots = {
        "state": f"{subject} {first} {rest}",
        "question": f"{first} {subject} {rest}",
        "not state": f"{subject} {negated} {rest}",
        "not question": f"{negated} {subject} {rest}",
    }
    if verb in ("is", "are"):
        slots |= {"now": slots["state"], "not now": slots["not state"]}
        for adverb in ("still", "no longer"):
            slots[f"now {adverb}"] = f"{subject} {verb} {adverb} {rest}"
            slots[f"question {adverb}"] = f"{verb} {subject} {adverb} {rest}"
    return slots


if __name__ == "__main__":
    main()
