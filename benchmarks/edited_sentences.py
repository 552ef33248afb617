"""Real sentences with one or two edits, to learn what edits do to their meaning.

A word is replaced by an opposite, a synonym or a word of another sentence, a negation is added, a
number is changed, two names are exchanged. What a question asks how to do, and how something is
said to be, is also said in frames of our own (`ACTION_FRAMES`, `STATE_FRAMES`), of which one,
*never …*, is the benchmark's, too. Opposites and synonyms are WordNet's, of pairs that the teacher
was not shown (`opposed_set.is_held_out`) and that the benchmark does not use.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from opposed_set import is_held_out, random_order
from pair2vec.experiments.evaluation.opposed import LabelledSentences
from pair2vec.relations.alignment import tokens_of
from pair2vec.relations.word_forms import is_form
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.relations import sense_antonyms, word_senses

_WORD = re.compile(r"[A-Za-z]+")
_NAME = re.compile(r"\b[A-Z][a-z]+\b")
_SYMMETRIC = re.compile(r",|\b(and|or|by)\b")
"""Names may be exchanged around these, and nothing is."""
_NUMBER = re.compile(r"\b\d{1,4}\b")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|will|would|should|must|do|does|did|has|have|had)\b(?! not|n't)",
    re.IGNORECASE,
)
_HOW_TO = re.compile(
    r"(?:How (?:do|can|could|should) (?:I|we|you|one)|What is the (?:best|easiest|right) way to"
    r"|Is it possible to) ([a-z]+ (?:[\w'-]+ ?){1,8})\?"
)
_STATE = re.compile(r"\b(?:is|are|was|were|very|too|so|seems?|looks?) ([a-z]{3,})\b")
Frames = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
"""Groups of frames: in one meaning, and in the opposite one."""
ACTION_FRAMES: Frames = (
    (("I plan to {}", "my plan is to {}"), ("I don't plan to {}", "I have no plan to {}")),
    (("we have to {} today", "today we must {}"), ("today we must not {}", "we mustn't {} today")),
    (
        ("you should {}", "it would be best to {}", "my advice is to {}"),
        ("you should not {}", "it would be best not to {}", "my advice is never to {}"),
    ),
    (
        ("we learned to {} last year", "last year we were taught to {}"),
        ("last year we never learned to {}", "we weren't taught to {} last year"),
    ),
    (
        ("she hopes to {}", "it is her hope that she will {}"),
        ("she hopes never to {}", "it is her hope that she won't {}"),
    ),
    (
        ("they want me to {}", "what they want is that I {}"),
        ("they do not want me to {}", "they want me never to {}"),
    ),
    (
        ("keep trying to {}", "go on trying to {}", "please continue trying to {}"),
        ("stop trying to {}", "please stop trying to {}", "quit trying to {}"),
    ),
    (
        ("I would sooner {}", "my preference is to {}"),
        ("I would sooner not {}", "my preference is not to {}"),
    ),
    (
        ("do you intend to {}?", "is it your intention to {}?"),
        ("do you intend not to {}?", "is it your intention not to {}?"),
    ),
    (
        ("why do people {}?", "what makes people {}?", "for what reason do people {}?"),
        ("why don't people {}?", "for what reason do people not {}?"),
    ),
    (
        ("everyone there can {}", "all the people there are able to {}"),
        ("nobody there can {}", "no one there is able to {}"),
    ),
    (
        ("the guide says that you can {}", "you can {}, the guide says"),
        ("the guide says that you cannot {}", "you can never {}, the guide says"),
    ),
    (
        ("which app lets me {}?", "is there an app with which I could {}?"),
        ("which app won't let me {}?", "is there an app with which I couldn't {}?"),
    ),
    (
        ("we often {} in summer", "in summer we frequently {}"),
        ("we hardly ever {} in summer", "in summer we rarely {}", "we seldom {} in summer"),
    ),
    (
        ("she remembered to {}", "she did remember to {}"),
        ("she forgot to {}", "she neglected to {}", "she has yet to {}"),
    ),
    (
        ("the team agreed to {}", "the team said that they would {}"),
        ("the team refused to {}", "the team declined to {}", "the team was unable to {}"),
    ),
    (
        ("look for ways to {}", "please look for ways to {}"),
        ("look for ways to avoid having to {}", "please avoid having to {}"),
    ),
    (("kindly {}", "{}, would you?", "I ask you to {}"), ("never {}", "I ask you not to {}")),
    (
        ("it was easy to {}", "it was not hard to {}", "to {} was no trouble"),
        ("it wasn't easy to {}", "it was hard to {}"),
    ),
)
"""What may be said of doing something."""
STATE_FRAMES: Frames = (
    (
        ("it is {}", "it's {}", "one finds it {}"),
        ("it is not {}", "it isn't {}", "it was never {}"),
    ),
    (("is it {}?", "do you find it {}?"), ("is it not at all {}?", "don't you find it {}?")),
    (("a {} one", "one that is {}"), ("one that is not {}", "one that isn't {}")),
    (
        ("was the result {}?", "would you call the result {}?"),
        ("was the result never {}?", "wouldn't you call the result {}?"),
    ),
    (
        ("the answer seems {}", "the answer appears to be {}"),
        ("the answer doesn't seem {}", "the answer does not appear to be {}"),
    ),
    (
        ("are they {} these days?", "these days, are they {}?"),
        ("are they no longer {} these days?", "these days, are they not {}?"),
    ),
    (
        ("I need something {}", "something {} is what I need"),
        ("I need something that isn't {}", "I need nothing {}"),
    ),
)
"""What may be said of being so, in a few words."""
_FRAMES_OF_PHRASE = 5
_LONGEST = 40
"""Words of a sentence."""
_SENSES = {"opposite": 2, "synonym": 1}
"""So many first senses of a word count."""


class Editor:
    """Edits sentences by WordNet."""

    def __init__(self, wordnet: WordNet, excluded: Collection[frozenset[str]]) -> None:
        """Without replacing one word of an `excluded` pair by the other."""
        self._wordnet, self._excluded = wordnet, excluded
        self._related = cache(self._find_related)

    def pairs(self, sentences: Sequence[str]) -> Iterator[LabelledSentences]:
        """Of each sentence that can be edited, one edit of each label."""
        for number, sentence in enumerate(sentences):
            if len(sentence.split()) > _LONGEST:
                continue
            other = sentences[(number + 1) % len(sentences)]
            for label, edits in (
                ("opposed", self._opposed(sentence)),
                ("same", self._same(sentence)),
                ("different", self._different(sentence, other)),
            ):
                found = [pair for pair in edits if pair[0] != pair[1]]
                if found:
                    a, b = found[random_order(label, sentence) % len(found)]
                    yield LabelledSentences(label, a, b)

    def framed_pairs(self, sentences: Sequence[str]) -> Iterator[LabelledSentences]:
        """Of what questions ask how to do, and of how things are said to be, in some frames."""
        actions = [match[1] for match in map(_HOW_TO.fullmatch, sentences) if match]
        yield from self._framed(actions, ACTION_FRAMES)
        states = {state for sentence in sentences for state in _STATE.findall(sentence)}
        with_opposites = [state for state in states if self._related(state, "opposite")]
        yield from self._framed(sorted(with_opposites, key=random_order), STATE_FRAMES)

    def _framed(self, phrases: Sequence[str], frames: Frames) -> Iterator[LabelledSentences]:
        """Of each phrase, in some groups of frames, a pair for each kind of edit."""
        for number, phrase in enumerate(phrases):
            other = phrases[(number + 1) % len(phrases)]
            topic = f"{phrase.rpartition(' ')[0]} {other.rpartition(' ')[2]}".strip()
            edits = {
                relation: list(self._replaced(phrase, relation))
                for relation in ("opposite", "synonym")
            }
            start = random_order(phrase)
            for n in range(start, start + _FRAMES_OF_PHRASE):
                yes, no = frames[n % len(frames)]
                first, second = yes[n % len(yes)], yes[(n + n // 2 % 2) % len(yes)]
                negated = no[n % len(no)]
                yield _in_frames("opposed", first, phrase, negated, phrase)
                yield _in_frames("same", first, phrase, yes[(n + 1) % len(yes)], phrase)
                yield _in_frames("different", first, phrase, second, (topic, other)[n % 2])
                for reversed_ in edits["opposite"][:1]:
                    yield _in_frames("opposed", first, phrase, second, reversed_)
                    yield _in_frames("same", first, phrase, negated, reversed_)
                for synonymous in edits["synonym"][:1]:
                    yield _in_frames("same", first, phrase, second, synonymous)
                    yield _in_frames("opposed", second, synonymous, negated, phrase)

    def _opposed(self, sentence: str) -> Iterator[tuple[str, str]]:
        negated = negate(sentence)
        if negated:
            yield sentence, negated
            for synonymous in self._replaced(sentence, "synonym"):
                yield synonymous, negated
        for reversed_ in self._replaced(sentence, "opposite"):
            yield sentence, reversed_
            yield sentence, f"{reversed_.rstrip('?.!')}, please"
            both = negate(reversed_)
            if negated and both:
                yield negated, both

    def _same(self, sentence: str) -> Iterator[tuple[str, str]]:
        for synonymous in self._replaced(sentence, "synonym"):
            yield sentence, synonymous
            yield f"Please: {sentence}", synonymous
        for reversed_ in self._replaced(sentence, "opposite"):
            both = negate(reversed_)
            if both:
                yield sentence, both
                yield both, sentence

    def _different(self, sentence: str, other: str) -> Iterator[tuple[str, str]]:
        content = [token.text for token in tokens_of(other) if token.is_content]
        words = [token.text for token in tokens_of(sentence) if token.is_content]
        if content and words:
            place = random_order(sentence, other)
            old, new = words[place % len(words)], content[place % len(content)]
            yield sentence, re.sub(rf"\b{re.escape(old)}\b", new, sentence, count=1)
        names = list(_NAME.finditer(sentence, 1))
        if len(names) > 1 and names[0][0] != names[-1][0]:
            first, last = names[0], names[-1]
            between = sentence[first.end() : last.start()]
            if not _SYMMETRIC.search(between):
                start, end = sentence[: first.start()], sentence[last.end() :]
                yield sentence, start + last[0] + between + first[0] + end
        for match in _NUMBER.finditer(sentence):
            changed = str(int(match[0]) + 1 + random_order(sentence) % 9)
            yield sentence, sentence[: match.start()] + changed + sentence[match.end() :]

    def _replaced(self, sentence: str, relation: str) -> Iterator[str]:
        """The sentence with a word replaced, in each possible way."""
        for match in _WORD.finditer(sentence):
            for other in self._related(match[0], relation):
                yield sentence[: match.start()] + other + sentence[match.end() :]

    def _find_related(self, word: str, relation: str) -> Sequence[str]:
        if not word.islower() or len(word) < 3:
            return ()
        found = self._opposites(word) if relation == "opposite" else self._synonyms(word)
        return sorted(
            other
            for other in set(found)
            if other.isalpha()
            and other.islower()
            and not is_form(word, other)
            and is_held_out(self._wordnet, word, other)
            and frozenset((word, other)) not in self._excluded
        )

    def _opposites(self, word: str) -> Iterable[str]:
        for lemma in word_senses(self._wordnet, word).lemmas:
            if lemma.spelling == word:
                for synset in self._wordnet.synset_ids(*lemma)[: _SENSES["opposite"]]:
                    antonyms = sense_antonyms(self._wordnet, lemma, synset)
                    yield from (antonym.spelling for antonym in antonyms)

    def _synonyms(self, word: str) -> Iterable[str]:
        for lemma in word_senses(self._wordnet, word).lemmas:
            if lemma.spelling == word:
                for synset in self._wordnet.synset_ids(*lemma)[: _SENSES["synonym"]]:
                    yield from self._wordnet.synset(synset).words


def _in_frames(
    label: str, frame: str, phrase: str, other_frame: str, other: str
) -> LabelledSentences:
    return LabelledSentences(label, frame.format(phrase), other_frame.format(other))


def negate(sentence: str) -> str | None:
    """The sentence with a negation after its first auxiliary; None if it has none."""
    match = _AUXILIARY.search(sentence)
    if match is None:
        return None
    is_contracted = random_order(sentence) % 2 and match[0].lower() not in {"can", "will"}
    negation = "n't" if is_contracted else " not"
    return sentence[: match.end()] + negation + sentence[match.end() :]
