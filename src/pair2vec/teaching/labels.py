"""Labelled pairs to teach relations with, and the words held out from them.

Positives come from WordNet's relations, and for the relations that WordNet lacks from the examples
of the built-in definitions. Pairs of no relation are mostly hard negatives: near words that WordNet
does not connect within two steps, and pairs whose second words are exchanged.

Words are held out, not pairs: which part a word belongs to is a hash of its base form, the same for
everyone, and a pair is labelled only if both words are of the same part. The exception are pairs of
a word to learn from and one to choose on, which help to calibrate the teachers: of two words to
choose on there are hardly any antonyms.

Shapes: P pairs, V vocabulary.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.relations.definitions import NONE, RelationDefinition
from pair2vec.relations.word_forms import is_form
from pair2vec.teaching.wordnet_pairs import VocabularySenses, inflections
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.wordnet.dictionary import SynsetId, WordNet
from pair2vec.wordnet.morphology import base_forms

Part = Literal["train", "dev", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
"""To learn from; to choose and calibrate on; to report on."""
_SHARES = (62, 13, 25)
"""Of the words in each part, in percent."""

LACKING = ("located-in", "made-of", "occupation")
"""Relations of which WordNet has few pairs: those of the definitions' examples are added."""

_LEAST_WEIGHT = 0.03
"""Of a relation between two words: below it, only senses that are rarely meant are related."""
_LEAST_MARGIN = 2.0
"""The best relation's weight is at least so many times that of any other."""
_MOST = {"hypernym": 45_000, "co-hyponym": 35_000}
"""WordNet has so many of these that a sample will do; the inverse counts as the same relation."""
_MOST_HELD_OUT = {"hypernym": 2.0, "co-hyponym": 1.25}
"""The same of the held-out parts, as multiples of their synonyms: people ask about opposites and
synonyms more often than WordNet has them."""
_MOST_INDIRECT = 3_000
"""Antonyms by way of a similar adjective."""
_LEAST_INDIRECT = 0.15
"""Their least weight: below it are pairs such as *hot* and *soft*."""
_LEAST_OF_SYNSETS = 0.005
"""The same of words of two synsets with antonyms, in any sense: below it are *set* and *rise*."""
_SHORTEST_UNDONE = 3
"""Letters of a verb that *un-* undoes."""
_NONE_SHARES = {"near": 0.3, "exchanged": 0.3, "random": 0.4}
_NONE_PER_POSITIVE = 1.0
_ALIKE_POS = ("v", "a")
_ALIKE_SHARE = 0.06
"""Pairs of two verbs, and of two adjectives, in no relation, each per training pair and for
training alone: nearly all that WordNet relates of them are opposites, synonyms or hypernyms, and
without these pairs *happy* and *hungry* are taken for opposites."""
_INFLECTED_SHARE = 0.3
"""Pairs of inflected forms per pair of lemmas, for training alone."""
_AMBIGUOUS_EDGES = 3
"""Near words with a common hypernym at most so far above both are no negatives: whether *tuba* and
*xylophone* are kinds of one thing depends on the eye of the beholder."""
_FUNCTION_WORDS = 150
"""The most frequent words, of no relation that one would ask for."""


class LabelledPairs(NamedTuple):
    """Pairs of ids x < y, and the relation of x to y."""

    x: Int64Array
    y: Int64Array
    label: Int64Array
    """The index of the relation's name."""

    def both_ways(self, inverse: Sequence[int]) -> "LabelledPairs":
        """These and the swapped pairs, which are in the inverse relations."""
        swapped = np.array(inverse, np.int64)[self.label]
        return LabelledPairs(
            np.concatenate([self.x, self.y]),
            np.concatenate([self.y, self.x]),
            np.concatenate([self.label, swapped]),
        )


class RelationNames(NamedTuple):
    """The relations that are taught."""

    names: tuple[str, ...]
    """"none" last."""
    inverse: tuple[int, ...]
    """Of each relation the index of the one that holds from y to x."""

    @classmethod
    def of_definitions(cls, definitions: Sequence[RelationDefinition]) -> "RelationNames":
        names = (*(definition.name for definition in definitions), NONE)
        inverse = {}
        for one in definitions:
            swapped = {(y, x) for x, y in one.all_examples}
            inverse[one.name] = next(
                (other.name for other in definitions if set(other.all_examples) == swapped), None
            )
        missing = [name for name, other in inverse.items() if other is None]
        if missing:
            raise ValueError(f"relation {missing[0]!r} has no inverse; define one")
        inverse[NONE] = NONE
        return cls(names, tuple(names.index(str(inverse[name])) for name in names))


def part_of(base: str) -> Part:
    """The part that a word and its forms belong to, by its base form."""
    digest = hashlib.blake2b(base.encode(), digest_size=8).digest()
    place = int.from_bytes(digest, "big") % sum(_SHARES)
    return next(part for part, end in zip(PARTS, np.cumsum(_SHARES), strict=True) if place < end)


def shortest_base_form(wordnet: WordNet, word: str) -> str:
    """The shortest of a word's base forms in WordNet and itself; of equally long ones the first."""
    forms = {word, *(lemma.spelling for lemma in base_forms(wordnet, word))}
    return min(forms, key=lambda form: (len(form), form))


def parts_of_words(wordnet: WordNet, words: Sequence[str]) -> NDArray[np.int8]:
    """The index of the part of each word, (V,): that of its shortest base form in WordNet."""
    parts = (PARTS.index(part_of(shortest_base_form(wordnet, word))) for word in words)
    return np.fromiter(parts, np.int8, len(words))


class LabelSource:
    """Draws labelled pairs for the words of a vocabulary."""

    def __init__(
        self,
        wordnet: WordNet,
        vocabulary: Vocabulary,
        senses: VocabularySenses,
        definitions: Sequence[RelationDefinition],
        near: NDArray[np.int32],
        *,
        seed: int = 0,
    ) -> None:
        """Find the relations of a vocabulary's words.

        Args:
            wordnet: With the relations.
            vocabulary: Whose words to relate.
            senses: Of these words.
            definitions: Of the relations that are taught.
            near: The ids of each word's nearest words, (V, n), for hard negatives.
            seed: Of all samples.
        """
        self.relations = RelationNames.of_definitions(definitions)
        self._definitions = definitions
        self._vocabulary = vocabulary
        self._near = near
        self._size = len(vocabulary)
        self._random = np.random.default_rng(seed)
        self._senses = senses
        self._ancestors: dict[int, frozenset[SynsetId]] = {}
        self.parts = parts_of_words(wordnet, vocabulary.words)
        self._inflections = inflections(wordnet, vocabulary.words)
        self._known = np.zeros(self._size, np.bool_)
        self._known[[n for n in senses.synsets if n >= len(SPECIAL_TOKENS) + _FUNCTION_WORDS]] = 1
        self._connected = _pair_keys(senses, self._size)
        self._positives = self._label(senses)
        self._indirect = self._indirect_antonyms(senses)

    def pairs(self, part: Part) -> LabelledPairs:
        """The positives of a part with their negatives, shuffled."""
        positives = self._of_part(self._positives, part)
        if part != "train":
            positives = self._as_asked(positives)
        else:
            indirect = self._of_part(self._indirect, part)
            columns = zip(positives, indirect, strict=True)
            positives = LabelledPairs(*(np.concatenate(column) for column in columns))
            # A form may be of another part: *openings* is one of *opening*, and that one of *open*.
            positives = self._of_part(self._with_inflected(positives), part)
        own = self._words_of(part)
        negatives = self._negatives(positives, own, own)
        if part == "train":
            negatives += self._unrelated_alike(round(_ALIKE_SHARE * len(positives.x)))
        return self._shuffled([positives, *negatives])

    def mixed_pairs(self) -> LabelledPairs:
        """The same of a word to choose on and one to learn from; in no training pair."""
        learn, choose = (PARTS.index(part) for part in ("train", "dev"))
        one, other = (self.parts[ids] for ids in self._positives[:2])
        forward = (one == choose) & (other == learn)
        backward = (one == learn) & (other == choose)
        x, y, label = self._positives
        inverse = np.array(self.relations.inverse)
        positives = LabelledPairs(
            np.concatenate([x[forward], y[backward]]),
            np.concatenate([y[forward], x[backward]]),
            np.concatenate([label[forward], inverse[label[backward]]]),
        )
        positives = self._as_asked(positives)
        words = self._words_of("dev"), self._words_of("train")
        return self._shuffled([positives, *self._negatives(positives, *words)])

    def _words_of(self, part: Part) -> Int64Array:
        words: Int64Array = np.flatnonzero(self._known & (self.parts == PARTS.index(part)))
        return words

    def _as_asked(self, positives: LabelledPairs) -> LabelledPairs:
        """Without some of the relations that WordNet has most of."""
        synonyms = int((positives.label == self.relations.names.index("synonym")).sum())
        most = {name: round(times * synonyms) for name, times in _MOST_HELD_OUT.items()}
        sampled = self._sampled(positives.label, most)
        return LabelledPairs(*(column[sampled] for column in positives))

    def _shuffled(self, parts: Sequence[LabelledPairs]) -> LabelledPairs:
        """All of them, each pair once, as x < y."""
        x, y, label = (np.concatenate(column) for column in zip(*parts, strict=True))
        first, second = np.minimum(x, y), np.maximum(x, y)
        label = np.where(x < y, label, np.array(self.relations.inverse)[label])
        # A pair may be drawn twice: the positives come first and are kept.
        _, kept = np.unique(first * self._size + second, return_index=True)
        order = self._random.permutation(kept)
        return LabelledPairs(first[order], second[order], label[order])

    def _label(self, senses: VocabularySenses) -> LabelledPairs:
        """The pairs with one clear relation."""
        names = self.relations.names
        found = senses.relation_weights(names, self._size)
        ordered = np.sort(found.weights, axis=1)
        is_clear = ordered[:, -1] >= np.maximum(_LEAST_WEIGHT, _LEAST_MARGIN * ordered[:, -2])
        x, y, label = found.x[is_clear], found.y[is_clear], found.weights[is_clear].argmax(axis=1)
        words = self._vocabulary.words
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        kept = np.array([not is_form(words[a], words[b]) for a, b in pairs], np.bool_)
        kept &= self._known[x] & self._known[y]
        rows = np.flatnonzero(kept)
        kept[rows] = self._sampled(label[rows], _MOST)
        examples = self._examples()
        return LabelledPairs(
            np.concatenate([examples.x, x[kept]]),
            np.concatenate([examples.y, y[kept]]),
            np.concatenate([examples.label, label[kept]]),
        )

    def _sampled(self, label: Int64Array, most: Mapping[str, int]) -> NDArray[np.bool_]:
        """Which pairs to keep of relations that have more than `most`; an inverse counts in."""
        kept = np.ones(len(label), np.bool_)
        for name, count in most.items():
            relation = self.relations.names.index(name)
            own = np.flatnonzero(np.isin(label, [relation, self.relations.inverse[relation]]))
            kept[self._random.permutation(own)[count:]] = False
        return kept

    def _indirect_antonyms(self, senses: VocabularySenses) -> LabelledPairs:
        """For training alone: there are few direct ones, and most are adjectives of one spelling.

        Of two verbs, only 31 antonyms are left in the usual senses of words to learn from: people
        ask about *start* and *stop*, which have many senses, and about *block* and *unblock*,
        which WordNet lacks.
        """
        similar = self._heaviest(senses.indirect_antonyms(), _LEAST_INDIRECT)
        of_synsets = self._heaviest(senses.antonyms_of_synsets(), _LEAST_OF_SYNSETS)
        similar = self._random.permutation(similar)[:_MOST_INDIRECT]
        rows = np.concatenate([of_synsets, self._undone(senses), similar])
        label = np.full(len(rows), self.relations.names.index("antonym"), np.int64)
        return LabelledPairs(rows[:, 0], rows[:, 1], label)

    def _heaviest(self, found: Iterable[tuple[int, int, float]], least: float) -> Int64Array:
        """The pairs with a total weight of at least `least`, (P, 2)."""
        totals: defaultdict[tuple[int, int], float] = defaultdict(float)
        for x, y, weight in found:
            totals[min(x, y), max(x, y)] += weight
        kept = [pair for pair, weight in totals.items() if weight >= least]
        rows = np.array(kept, np.int64).reshape(-1, 2)
        known: Int64Array = rows[self._known[rows].all(axis=1) & (rows[:, 0] != rows[:, 1])]
        return known

    def _undone(self, senses: VocabularySenses) -> Int64Array:
        """Verbs and what undoes them by its spelling, *check* and *uncheck*, (P, 2)."""
        words, ids = self._vocabulary.words, self._vocabulary.ids
        verbs = [verb for verb in senses.with_pos("v") if len(words[verb]) >= _SHORTEST_UNDONE]
        rows = [(verb, ids[f"un{words[verb]}"]) for verb in verbs if f"un{words[verb]}" in ids]
        return np.array(rows, np.int64).reshape(-1, 2)

    def _examples(self) -> LabelledPairs:
        """The examples of the relations that WordNet lacks."""
        ids, names = self._vocabulary.ids, self.relations.names
        rows = [
            (ids[x], ids[y], names.index(definition.name))
            for definition in self._definitions
            if definition.name in LACKING
            for x, y in definition.examples
            if x in ids and y in ids
        ]
        return LabelledPairs(*np.array(rows, np.int64).reshape(-1, 3).T)

    def _of_part(self, pairs: LabelledPairs, part: Part) -> LabelledPairs:
        number = PARTS.index(part)
        own = (self.parts[pairs.x] == number) & (self.parts[pairs.y] == number)
        return LabelledPairs(*(column[own] for column in pairs))

    def _with_inflected(self, pairs: LabelledPairs) -> LabelledPairs:
        """With pairs of the same inflection: of *buy* and *sell* also *buying* and *selling*."""
        forms: dict[str, dict[str, int]] = {}
        for word, (lemma, inflection) in self._inflections.items():
            forms.setdefault(lemma, {})[inflection] = word
        words = self._vocabulary.words
        rows = [
            (word, forms[words[y]][inflection], label)
            for x, y, label in zip(*(column.tolist() for column in pairs), strict=True)
            if words[x] in forms and words[y] in forms
            for inflection, word in forms[words[x]].items()
            if inflection in forms[words[y]]
        ]
        self._random.shuffle(rows)
        inflected = np.array(rows[: round(_INFLECTED_SHARE * len(pairs.x))], np.int64)
        columns = zip(pairs, inflected.reshape(-1, 3).T, strict=True)
        return LabelledPairs(*(np.concatenate(column) for column in columns))

    def _negatives(
        self, positives: LabelledPairs, first: Int64Array, second: Int64Array
    ) -> list[LabelledPairs]:
        """Near words, words of two positives, and random words; none that WordNet connects.

        Args:
            positives: How many, and what to exchange.
            first: The words that x may be.
            second: Those that y may be.
        """
        count = _NONE_PER_POSITIVE * len(positives.x)
        wanted = {kind: round(share * count) for kind, share in _NONE_SHARES.items()}
        if not len(first) or not len(second):
            return []
        drawn = []
        near_x = self._random.choice(first, 12 * wanted["near"])
        near_y = self._near[near_x, self._random.integers(0, self._near.shape[1], len(near_x))]
        clear = self._have_no_common_ancestor(near_x, near_y)
        drawn.append((near_x[clear], near_y[clear].astype(np.int64), wanted["near"]))
        rows = self._random.integers(0, max(1, len(positives.x)), 2 * wanted["exchanged"])
        others = self._same_label(positives, rows)
        drawn.append((positives.x[rows], positives.y[others], wanted["exchanged"]))
        size = 2 * wanted["random"]
        random = self._random.choice(first, size), self._random.choice(second, size)
        drawn.append((*random, wanted["random"]))
        allowed = np.zeros((2, self._size), np.bool_)
        allowed[0, first] = allowed[1, second] = True
        return [self._unrelated(x, y, count, allowed) for x, y, count in drawn]

    def _unrelated_alike(self, count: int) -> list[LabelledPairs]:
        """So many pairs of training words of each of `_ALIKE_POS`, that WordNet does not connect.

        Half of the more frequent words, as people ask for them.
        """
        # By a generator of its own: the held-out pairs are the same with or without these.
        random = np.random.default_rng(0)
        allowed = np.zeros((2, self._size), np.bool_)
        allowed[:, self._words_of("train")] = True
        pairs = []
        for pos in _ALIKE_POS:
            words = np.array(self._senses.with_pos(pos), np.int64)
            words = words[allowed[0, words]]
            if len(words):
                # The square of a share: half of the draws are among the first quarter of the ranks.
                ranks = (len(words) * random.random((2, 2 * count)) ** 2).astype(np.int64)
                x, y = words[ranks]
                pairs.append(self._unrelated(x, y, count, allowed))
        return pairs

    def _have_no_common_ancestor(self, x: Int64Array, y: NDArray[np.int32]) -> NDArray[np.bool_]:
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        return np.array([self._above(a).isdisjoint(self._above(b)) for a, b in pairs], np.bool_)

    def _above(self, word: int) -> frozenset[SynsetId]:
        if word not in self._ancestors:
            self._ancestors[word] = self._senses.ancestors(word, _AMBIGUOUS_EDGES)
        return self._ancestors[word]

    def _same_label(self, positives: LabelledPairs, rows: Int64Array) -> Int64Array:
        """For each row a random one with the same label."""
        order = np.argsort(positives.label, kind="stable")
        labels = positives.label[order]
        starts = np.searchsorted(labels, positives.label[rows], "left")
        counts = np.searchsorted(labels, positives.label[rows], "right") - starts
        chosen: Int64Array = order[starts + (self._random.random(len(rows)) * counts).astype(int)]
        return chosen

    def _unrelated(
        self, x: Int64Array, y: Int64Array, count: int, allowed: NDArray[np.bool_]
    ) -> LabelledPairs:
        """The first `count` of the pairs of `allowed` words, (2, V), that are not connected."""
        keys = np.minimum(x, y) * self._size + np.maximum(x, y)
        places = np.searchsorted(self._connected, keys).clip(max=max(0, len(self._connected) - 1))
        is_connected = self._connected[places] == keys if len(self._connected) else False
        words = self._vocabulary.words
        kept = np.flatnonzero(allowed[0, x] & allowed[1, y] & (x != y) & ~is_connected)
        pairs = [
            n for n in kept[: 2 * count].tolist() if not is_form(words[int(x[n])], words[int(y[n])])
        ][:count]
        none = np.full(len(pairs), len(self.relations.names) - 1, np.int64)
        return LabelledPairs(x[pairs], y[pairs], none)


def _pair_keys(senses: VocabularySenses, size: int) -> Int64Array:
    """x·V + y, x < y, of all words that WordNet connects within two steps, sorted."""
    keys = [
        np.minimum(word, near) * size + np.maximum(word, near)
        for word, near in ((w, np.array(n, np.int64)) for w, n in senses.neighbourhoods(2))
        if len(near)
    ]
    return np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
