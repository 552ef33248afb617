"""spaCy: the relations between the words of a text, as a pipeline component, and a matcher of them.

Importing this module, or naming ``pair2vec_relations`` where pair2vec is installed, registers the
component.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Self

from pair2vec.api import Pair2vec
from pair2vec.errors import UsageError
from pair2vec.integrations import ModelLike, missing_extra, open_model
from pair2vec.model.resolve import model_name
from pair2vec.relations.definitions import NONE
from pair2vec.relations.relate import UNCLEAR

try:
    import srsly
    from spacy.language import Language
    from spacy.matcher import Matcher
    from spacy.tokens import Doc, Span, Token
    from spacy.util import minibatch
    from spacy.vocab import Vocab
except ImportError as error:
    raise missing_extra("spacy", "spacy") from error

NAME = "pair2vec_relations"
"""Of the factory, and of the relations among the user data of a document."""

_FIELDS = {"RELATION", "PROBABILITY", "X", "Y"}


class TokenRelation(NamedTuple):
    """The relation of one token of a text to another: y is the x's antonym, hypernym, and so on."""

    x: Token
    y: Token
    relation: str
    probability: float


class RelationComponent:
    """Finds which of the content words of a sentence are in which relation, in one batch.

    Content words are known to the model, and neither stop words, numbers nor punctuation. Without
    sentences the document is one. A word that the model does not know counts as its lemma, if there
    is one.
    """

    def __init__(
        self,
        model: ModelLike = None,
        *,
        relations: Sequence[str] | None = None,
        probability: float = 0.5,
        window: int = 30,
        stop_words: bool = False,
        unrelated: float | None = None,
    ) -> None:
        """A component; `nlp.add_pipe` makes one.

        Args:
            model: What `pair2vec.load` opens, or an opened model.
            relations: The names of those to find; None is all of the model.
            probability: The least.
            window: The most tokens from x to y.
            stop_words: Take in spaCy's stop words, among them *up*, *down*, *full* and *empty*.
            unrelated: As in `Pair2vec.relate_many`.
        """
        self.model: Pair2vec = open_model(model)
        known = self.model.relations().names[:-1]
        for name in relations or ():
            if name not in known:
                raise UsageError(f"relation {name!r} is not one of {', '.join(known)}")
        if not 0 <= probability <= 1:
            raise UsageError(f"probability is {probability}; it must be between 0 and 1")
        if window < 1:
            raise UsageError(f"window is {window}; it must be 1 or more tokens")
        self.relations = None if relations is None else list(relations)
        self.probability, self.window = probability, window
        self.stop_words, self.unrelated = stop_words, unrelated

    def __call__(self, doc: Doc) -> Doc:
        (annotated,) = self.pipe([doc])
        return annotated

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Documents with their relations; the pairs of a batch are looked up together."""
        for docs in minibatch(stream, batch_size):
            batch = list(docs)
            self._annotate(batch)
            yield from batch

    def _annotate(self, docs: Sequence[Doc]) -> None:
        pairs = [list(self._pairs(doc)) for doc in docs]
        distinct = list(dict.fromkeys(pair.words for found in pairs for pair in found))
        answers = self.model.relate_many(distinct, unrelated=self.unrelated)
        wanted = set(self.relations or answers.relations) - {NONE, UNCLEAR}
        best = answers.probabilities.max(axis=1, initial=0)
        relation_of = {
            words: (name, round(probability, 6))
            for words, name, probability in zip(
                distinct, answers.names.tolist(), best.tolist(), strict=True
            )
            if name in wanted and probability >= self.probability
        }
        for doc, found in zip(docs, pairs, strict=True):
            # Lists of numbers and texts: what a document is serialised with.
            doc.user_data[NAME] = {
                "tokens": len(doc),
                "relations": [
                    [pair.x, pair.y, *relation_of[pair.words]]
                    for pair in found
                    if pair.words in relation_of
                ],
            }

    def _pairs(self, doc: Doc) -> "Iterator[_Pair]":
        """Both directions of each pair, by the order of the text."""
        for sentence in doc.sents if doc.has_annotation("SENT_START") else (doc,):
            content = [(token.i, word) for token in sentence if (word := self._content_word(token))]
            for (x, first), (y, second) in combinations(content, 2):
                if y - x <= self.window and first != second:
                    yield _Pair(x, y, (first, second))
                    yield _Pair(y, x, (second, first))

    def _content_word(self, token: Token) -> str | None:
        """The token as the model knows it; None if it is no content word, or not known."""
        if token.is_punct or token.is_space or token.like_num:
            return None
        if token.is_stop and not self.stop_words:
            return None
        spellings = (token.lower_, token.lemma_.lower())
        return next((word for word in spellings if word and word in self.model), None)

    def settings(self) -> dict[str, Any]:
        """What `to_disk` and `to_bytes` keep: the model's name or folder, not its arrays."""
        return {
            "model": model_name(self.model.saved.folder),
            "relations": self.relations,
            "probability": self.probability,
            "window": self.window,
            "stop_words": self.stop_words,
            "unrelated": self.unrelated,
        }

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        del exclude
        return bytes(srsly.json_dumps(self.settings()).encode())

    def from_bytes(self, content: bytes, *, exclude: Iterable[str] = ()) -> Self:
        del exclude
        self.__init__(**srsly.json_loads(content.decode()))  # type: ignore[misc]
        return self

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        Path(path).with_suffix(".json").write_bytes(self.to_bytes(exclude=exclude))

    def from_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> Self:
        return self.from_bytes(Path(path).with_suffix(".json").read_bytes(), exclude=exclude)


class _Pair(NamedTuple):
    """Two tokens of a document by their index, and their words as the model knows them."""

    x: int
    y: int
    words: tuple[str, str]


@Language.factory(  # type: ignore[untyped-decorator]
    NAME,
    assigns=["doc._.relations", "span._.relations", "token._.relations"],
    default_config={
        "model": None,
        "relations": None,
        "probability": 0.5,
        "window": 30,
        "stop_words": False,
        "unrelated": None,
    },
)
def make_relation_component(  # noqa: PLR0913, PLR0917 - spaCy's two, and the settings
    nlp: Language,
    name: str,
    model: str | None,
    relations: list[str] | None,
    probability: float,
    window: int,
    stop_words: bool,
    unrelated: float | None,
) -> RelationComponent:
    del nlp, name
    return RelationComponent(
        model,
        relations=relations,
        probability=probability,
        window=window,
        stop_words=stop_words,
        unrelated=unrelated,
    )


class RelationMatcher:
    """Finds pairs of tokens by their relation, as spaCy's `DependencyMatcher` does by their syntax.

    A pattern has a RELATION, a name or a list of names, and may have the least PROBABILITY, and a
    token pattern of spaCy's `Matcher` for X and for Y::

        {"RELATION": "hypernym", "PROBABILITY": 0.8, "Y": {"LOWER": "instrument"}}
    """

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab
        self._patterns: dict[int, list[_Pattern]] = {}
        self._callbacks: dict[int, OnMatch | None] = {}

    def __len__(self) -> int:
        return len(self._patterns)

    def __contains__(self, key: str) -> bool:
        return self.vocab.strings[key] in self._patterns

    def add(
        self,
        key: str,
        patterns: Sequence[Mapping[str, Any]],
        *,
        on_match: "OnMatch | None" = None,
    ) -> None:
        """Add patterns under a name; a pair matches that fits one of them.

        Args:
            key: The name.
            patterns: One or more.
            on_match: Called for each match with the matcher, the document, the index of the match
                and all matches.
        """
        if isinstance(patterns, Mapping) or not patterns:
            raise UsageError(f"{key}: give a list of one or more patterns")
        checked = [_Pattern.checked(key, pattern, self.vocab) for pattern in patterns]
        number = self.vocab.strings.add(key)
        self._patterns.setdefault(number, []).extend(checked)
        self._callbacks[number] = on_match

    def remove(self, key: str) -> None:
        """Remove a name and its patterns."""
        if key not in self:
            raise UsageError(f"{key!r} is not one of the matcher's names")
        number = self.vocab.strings[key]
        del self._patterns[number], self._callbacks[number]

    def __call__(self, text: Doc | Span) -> list[tuple[int, list[int]]]:
        """The name of each match, as in spaCy a number, and the indices of x and y in `text`."""
        doc = text.doc if isinstance(text, Span) else text
        if NAME not in doc.user_data:
            raise UsageError(f"the text has no relations; add {NAME!r} to the pipeline first")
        found = relations_of(text)
        first = text.start if isinstance(text, Span) else 0
        matches = []
        for number, patterns in self._patterns.items():
            fits = [pattern.filter(text) for pattern in patterns]
            matches += [
                (number, [one.x.i - first, one.y.i - first])
                for one in found
                if any(is_match(one) for is_match in fits)
            ]
        for index, (number, _) in enumerate(matches):
            if callback := self._callbacks[number]:
                callback(self, doc, index, matches)
        return matches


OnMatch = Callable[[RelationMatcher, Doc, int, list[tuple[int, list[int]]]], object]


class _Pattern(NamedTuple):
    relations: frozenset[str]
    probability: float
    x: Matcher | None
    y: Matcher | None

    @classmethod
    def checked(cls, key: str, pattern: Mapping[str, Any], vocab: Vocab) -> "_Pattern":
        if unknown := set(pattern) - _FIELDS:
            known = ", ".join(sorted(_FIELDS))
            raise UsageError(f"{key}: {min(unknown)} is not one of {known}")
        names = pattern.get("RELATION", ())
        relations = frozenset([names] if isinstance(names, str) else names)
        if not relations:
            raise UsageError(f"{key}: a pattern has no RELATION; give a name or a list of names")
        sides = []
        for side in ("X", "Y"):
            token = pattern.get(side)
            if token is not None and "OP" in token:
                raise UsageError(f"{key}: {side} is one token; it cannot have OP")
            matcher = None if token is None else Matcher(vocab, validate=True)
            if matcher is not None:
                matcher.add(side, [[token]])
            sides.append(matcher)
        return cls(relations, float(pattern.get("PROBABILITY", 0)), *sides)

    def filter(self, text: Doc | Span) -> Callable[[TokenRelation], bool]:
        """Whether a relation of a text fits."""
        first = text.start if isinstance(text, Span) else 0
        x, y = (
            None if side is None else {first + start for _, start, _ in side(text)}
            for side in (self.x, self.y)
        )
        return lambda one: (
            one.relation in self.relations
            and one.probability >= self.probability
            and (x is None or one.x.i in x)
            and (y is None or one.y.i in y)
        )


def relations_of(text: Doc | Span | Token) -> list[TokenRelation]:
    """The relations between the tokens of a text, in both directions; of a token, where it is x.

    Raises:
        UsageError: tokens were merged or split since they were found.
    """
    doc = text if isinstance(text, Doc) else text.doc
    stored = doc.user_data.get(NAME)
    if stored is None:
        return []
    if stored["tokens"] != len(doc):
        raise UsageError(
            f"the text had {stored['tokens']} tokens when its relations were found, and has "
            f"{len(doc)}; have {NAME!r} behind what merges or splits tokens"
        )
    if isinstance(text, Token):
        xs, ys = range(text.i, text.i + 1), range(len(doc))
    else:
        xs = ys = range(text.start, text.end) if isinstance(text, Span) else range(len(doc))
    return [
        TokenRelation(doc[x], doc[y], relation, probability)
        for x, y, relation, probability in stored["relations"]
        if x in xs and y in ys
    ]


def _in_order(text: Doc | Span) -> list[TokenRelation]:
    return [one for one in relations_of(text) if one.x.i < one.y.i]


for _kind, _getter in ((Doc, _in_order), (Span, _in_order), (Token, relations_of)):
    _kind.set_extension("relations", getter=_getter, force=True)
