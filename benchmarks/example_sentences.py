"""WordNet's example sentences with words of theirs replaced, and the grammar that this takes.

A gloss of WordNet has quoted examples of its sense. So the sense of a word of the synset in such an
example is known, and with it the antonyms and synonyms that fit there.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pair2vec.wordnet.dictionary import POS_FILES, Synset, SynsetId, WordNet
from pair2vec.wordnet.morphology import Lemma, morphy
from pair2vec.wordnet.relations import sense_antonyms

WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9'-]*")
NOT = {
    **{verb: f"{verb}n't" for verb in ("is", "are", "was", "were", "could", "should", "would")},
    "will": "won't",
    "can": "can't",
}
"""Verbs and their contracted negations."""

_PLAIN = re.compile(r"[A-Za-z0-9 ,'$-]+[.?!]?")
_AN = re.compile(r"(?!use|euro|one|uni(?![mn]))(?:[aeiou]|honest|honou?r|hour)", re.IGNORECASE)
_PREFERENCE = re.compile(r"(I|we) (really )?(like|love|prefer|hate|dislike|want|enjoy)\b")
_SUBJECTS = frozenset("i you he she it we they this that these those the his her my our".split())
_FINITE = frozenset(
    "is are was were has have had will would can could did does do should must may it's he's "
    "she's i'm there's that's isn't wasn't don't didn't can't won't".split()
)
_BEFORE_PARTICIPLE = frozenset("have has had having be is are was were been being got".split())
_SCOPE = frozenset(
    "who which that when if because as than what how so but and or not no never nothing nobody "
    "none neither all every each many both some any most few only always usually often certain "
    "very rather too quite still already even also just there almost more".split()
)
"""With one of these, it is not clear what a negation after the verb negates."""
_DOUBLED = frozenset("permit admit forbid begin commit forget transmit defer quit".split())
"""Longer verbs whose last consonant is doubled: *permitted*."""
_LONGEST_NEGATED = 11
"""Words of a sentence."""


class Example(NamedTuple):
    """An example sentence, and a word in it whose sense is known."""

    sentence: str
    word: str
    """As in the sentence, in lower case."""
    lemma: Lemma
    synset: Synset

    @property
    def form(self) -> str:
        """A question, a statement of preference, a command, or a fact."""
        if self.sentence.endswith("?"):
            return "question"
        if _PREFERENCE.match(self.sentence):
            return "preference"
        is_bare = self.lemma.pos == "v" and self.sentence.lower().startswith(f"{self.word} ")
        return "command" if is_bare and self.word == self.lemma.spelling else "fact"


class Replacement(NamedTuple):
    """An example, and the same with a word replaced."""

    example: Example
    changed: str
    words: tuple[str, str]
    """The two words as base forms."""
    forms: tuple[str, str]
    """The two words as in the sentences."""


class ExampleSentences:
    """The examples of a WordNet."""

    def __init__(self, wordnet: WordNet, irregular: Mapping[str, Sequence[str]]) -> None:
        """Read all glosses; `irregular` has the past and the participle of irregular verbs."""
        self.grammar = Grammar(irregular)
        self._wordnet = wordnet
        self._of_sentence: dict[str, list[Example]] = defaultdict(list)
        for example in read_examples(wordnet):
            self._of_sentence[example.sentence].append(example)

    def opposites(self, chosen: Sequence[tuple[str, str]]) -> Iterator[Replacement]:
        """Of each word and sentence, the sentence with its word replaced by this antonym.

        Raises:
            ValueError: it is no example of this WordNet, or the word is no antonym in it.
        """
        for other, sentence in chosen:
            yield self._replacement(other, sentence, are_opposites=True)

    def synonyms(self, chosen: Sequence[tuple[str, str]]) -> Iterator[Replacement]:
        """The same with synonyms."""
        for other, sentence in chosen:
            yield self._replacement(other, sentence, are_opposites=False)

    def _replacement(self, other: str, sentence: str, *, are_opposites: bool) -> Replacement:
        for example in self._of_sentence.get(sentence, ()):
            synset = example.synset
            if are_opposites:
                antonyms = sense_antonyms(self._wordnet, example.lemma, synset.id)
                fitting = {lemma.spelling for lemma in antonyms}
            else:
                fitting = {word.lower() for word in synset.words} - {example.lemma.spelling}
            if other in fitting:
                inflected = self.grammar.inflected_alike(example, other)
                changed = self.grammar.replaced(example, inflected)
                words = (example.lemma.spelling, other)
                return Replacement(example, changed, words, (example.word, inflected))
        raise ValueError(f"{sentence!r} with {other!r} is not of this WordNet; take WordNet 3.0")

    def clauses(self) -> Iterator[str]:
        """Examples that are whole sentences."""
        for sentence in self._of_sentence:
            words = [word.lower() for word in WORD.findall(sentence)]
            if words[0] in _SUBJECTS and any(word in _FINITE for word in words[1:]):
                yield sentence

    def negated(self) -> Iterator[tuple[str, str]]:
        """Simple sentences, and the same with a negation; every other one is contracted."""
        is_contracted = False
        for sentence in self.clauses():
            words = [word.lower() for word in WORD.findall(sentence)]
            verbs = [word for word in words if word in _FINITE]
            if len(words) > _LONGEST_NEGATED or _SCOPE.intersection(words):
                continue
            if len(verbs) == 1 and verbs[0] in NOT and not sentence.endswith("?"):
                (verb,) = verbs
                is_contracted = not is_contracted
                full = "cannot" if verb == "can" else f"{verb} not"
                negated = NOT[verb] if is_contracted else full
                yield sentence, re.sub(rf"\b{verb}\b", negated, sentence, count=1)


def read_examples(wordnet: WordNet) -> Iterator[Example]:
    """The quoted examples of all glosses, once for each word of the synset that is in them."""
    for pos, suffix in POS_FILES.items():
        lines = (wordnet.folder / f"data.{suffix}").read_text(encoding="utf-8").splitlines()
        for line in lines:
            if line.startswith(" "):  # the licence
                continue
            gloss = line.partition("|")[2]
            sentences = [text.strip(" ;.") for text in re.findall(r'"([^"]+)"', gloss)]
            plain = [sentence for sentence in sentences if _PLAIN.fullmatch(sentence)]
            if plain:
                synset = wordnet.synset(SynsetId(pos, int(line[:8])))
                for sentence in plain:
                    yield from _examples_of(wordnet, synset, sentence)


def _examples_of(wordnet: WordNet, synset: Synset, sentence: str) -> Iterator[Example]:
    words = [word.lower() for word in WORD.findall(sentence)]
    own = {word.lower() for word in synset.words}
    for word in dict.fromkeys(words):
        bases = [base for base in morphy(wordnet, word, synset.id.pos) if base in own]
        # Only nouns and verbs are inflected alike.
        if bases and words.count(word) == 1 and (bases[0] == word or synset.id.pos in "nv"):
            yield Example(sentence, word, Lemma(bases[0], synset.id.pos), synset)


class Grammar:
    """Inflects verbs, and words that take the place of others."""

    def __init__(self, irregular: Mapping[str, Sequence[str]]) -> None:
        self._irregular = irregular

    def verb_forms(self, verb: str) -> dict[str, str]:
        """Third person (s), past, participle (pp) and -ing."""
        is_short = re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprtvz]", verb.removeprefix("un"))
        doubled = verb + verb[-1] if is_short or verb in _DOUBLED else verb
        if re.search(r"[^aeiou]y$", verb):
            third, past = f"{verb[:-1]}ies", f"{verb[:-1]}ied"
        else:
            third = f"{verb}es" if re.search(r"(s|x|z|ch|sh|o)$", verb) else f"{verb}s"
            past = f"{verb}d" if verb.endswith("e") else f"{doubled}ed"
        ing = f"{verb[:-1]}ing" if re.search(r"[^eoy]e$", verb) else f"{doubled}ing"
        past, participle = self._irregular.get(verb, (past, past))
        return {"s": third, "past": past, "pp": participle, "ing": ing}

    def inflected_alike(self, example: Example, other: str) -> str:
        """A word in the form of an example's word."""
        word, (base, pos) = example.word, example.lemma
        if word == base:
            return other
        if pos == "n":
            return self.verb_forms(other)["s"]  # as regular plurals are spelled
        own, others = self.verb_forms(base), self.verb_forms(other)
        names = [name for name, form in own.items() if form == word]
        if names == ["past", "pp"]:
            before = example.sentence.lower().partition(word)[0].split()[-3:]
            return others["pp" if _BEFORE_PARTICIPLE.intersection(before) else "past"]
        return others[names[0]]

    def replaced(self, example: Example, inflected: str) -> str:
        """An example with another word in the place of its own."""
        match = re.search(rf"\b{example.word}\b", example.sentence, re.IGNORECASE)
        assert match
        new = inflected.capitalize() if match.group()[0].isupper() else inflected
        changed = example.sentence[: match.start()] + new + example.sentence[match.end() :]
        return with_article(changed, new)


def with_article(text: str, word: str) -> str:
    """A text with *a* or *an* before a word as its sound wants it."""
    ending = "n" if _AN.match(word) else ""
    return re.sub(rf"\b([Aa])n?(?= {re.escape(word)}\b)", rf"\g<1>{ending}", text)
