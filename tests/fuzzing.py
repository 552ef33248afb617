"""Mutations of all that is read from elsewhere: model folders, corpora, checkpoints, requests.

*Damage* leaves the checksums as they were: it is refused with an error of ours, or changes no
answer. A *forgery* has right checksums, as what a stranger puts on the hub: it is refused, or gives
other answers. Whatever else happens is a finding.
"""

import copy
import io
import json
import random
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from rich.console import Console
from starlette.testclient import TestClient
from tests.tiny_model import save_tiny_model, taught_model

from pair2vec.api import Pair2vec, load
from pair2vec.cli.prepare import corpus_summary
from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.model.card import model_card
from pair2vec.runtime.checksums import file_checksum, with_checksums
from pair2vec.runtime.jobs import JobFolder
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import Resources
from pair2vec.text.corpus import CorpusWriter, open_corpus
from pair2vec.text.vocabulary import BOUNDARY, Vocabulary, WordCount
from pair2vec.training.checkpoint import (
    Checkpoint,
    check_begun,
    last_checkpoint,
    write_checkpoint,
)
from pair2vec.triples.epoch import TriplesConfig, TripleStream

Outcome = Literal["refused", "same", "other"]

_DEEP = "[" * 30 + "]" * 30
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2, 3, 7, 10**9, 2**63, 10**30, 0.5, -1e308, 1e308, 5e-324),
    *("", "x", "X", "Y", "²", "\x1b[31m\x00", "\ud800", "x" * 10_000, "hot", "X and Y", "mlp"),
    *([], {}, [[]], [1, 2], ["x"], {"": None}, {"a": {"b": []}}, json.loads(_DEEP)),
)
ODD_TEXTS = (
    *(b"", b"NaN", b"Infinity", b"1e999", b"-0", b"null", b"{}", b"[]", b'"', b"\\ud800", b"\xff"),
    *(b"\x00", b"\t", b"\n", b",", b":", "²".encode(), b"[" * 5_000, b"9" * 5_000, b"\xef\xbb\xbf"),
)


class Finding(Exception):  # noqa: N818 - what a fuzz test is after
    """Something other than a refusal or the same answer."""


def mutated(content: bytes, draw: random.Random) -> bytes:
    """Damaged as disks, copies and editors do: bits, blocks, cuts, repeats, odd text."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        data, size = bytearray(content), len(content)
        start = draw.randrange(size + 1)
        length = min(size - start, draw.choice((1, 1, 2, 8, 64, 512, 4096)))
        match draw.randrange(8):
            case 0 if start < size:
                data[start] ^= 1 << draw.randrange(8)
            case 1:
                data[start : start + length] = bytes(length)
            case 2:
                data[start : start + length] = draw.randbytes(length)
            case 3:
                del data[start:]
            case 4:
                del data[start : start + length]
            case 5:
                data[start:start] = draw.randbytes(length)
            case 6:  # a part of it once more, there or over what is there
                other = draw.randrange(size + 1)
                end = start + (length if draw.random() < 0.5 else 0)
                data[start:end] = data[other : other + length]
            case _:
                data[start : start + draw.choice((0, 1, length))] = draw.choice(ODD_TEXTS)
        content = bytes(data)
    return content


def changed_json(value: Any, draw: random.Random) -> Any:
    """Some values of a JSON object replaced, removed or moved."""
    root = [copy.deepcopy(value)]
    for _ in range(draw.choice((1, 1, 2, 3))):
        places = list(_places(root))
        container, key = draw.choice(places)
        if container is not root and draw.random() < 0.2:
            del container[key]
        elif draw.random() < 0.2:
            other, other_key = draw.choice(places)
            container[key] = copy.deepcopy(other[other_key])
        else:
            container[key] = copy.deepcopy(draw.choice(ODD_VALUES))
    return root[0]


def _places(container: Any) -> Iterator[tuple[Any, Any]]:
    """Each container and key within JSON."""
    for key in container if isinstance(container, dict) else range(len(container)):
        yield container, key
        if isinstance(container[key], dict | list):
            yield from _places(container[key])


class Fuzzed(ABC):
    """Something that is read, and what reading it is expected to give."""

    @abstractmethod
    def __init__(self, folder: Path) -> None:
        """Make it in a folder that does not exist yet."""

    @abstractmethod
    def run(self, draw: random.Random) -> Outcome:
        """Change it, read it, and change it back; raises what is a finding."""

    def close(self) -> None:  # noqa: B027 - most need none
        """Free what it holds."""


class FuzzedFolder(Fuzzed):
    """A folder of files, one of which is written last and has checksums of the others."""

    sealed = ""
    """The file with checksums, which a forgery has right; none if it cannot be forged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.make()
        self._files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        self.expected = [self.answer()]
        """What may be answered."""

    @abstractmethod
    def make(self) -> None:
        """Write it."""

    @abstractmethod
    def answer(self) -> object:
        """Read it, and tell all that depends on its content."""

    def run(self, draw: random.Random) -> Outcome:
        is_forged = bool(self.sealed) and draw.random() < 0.4
        touched = self._forge(draw) if is_forged else self._damage(draw)
        try:
            # Huge values overflow; that is a warning, and no damage.
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                answer = self.answer()
            if answer in self.expected:
                return "same"
            if not is_forged:
                raise Finding(f"{touched} is damaged, and the answer is another one")
            return "other"
        except Pair2vecError as error:
            if "\n" in str(error):
                raise Finding(f"several lines: {error}") from error
            return "refused"
        finally:
            for path in touched:
                self._write(path, self._files[path])

    def _write(self, path: Path, content: bytes) -> None:
        # As another file: what is still mapped of the old one stays as it is.
        path.unlink(missing_ok=True)
        path.write_bytes(content)

    def _damage(self, draw: random.Random) -> list[Path]:
        path = draw.choice(list(self._files))
        if draw.random() < 0.02:
            path.unlink()
        else:
            self._write(path, mutated(self._files[path], draw))
        return [path]

    def _forge(self, draw: random.Random) -> list[Path]:
        last, path = self.folder / self.sealed, draw.choice(list(self._files))
        facts = json.loads(self._files[last])
        if path == last:
            facts = changed_json(facts, draw)
        elif path.suffix == ".safetensors" and draw.random() < 0.7:
            self._write(path, self._with_other_header(self._files[path], draw))
        else:
            self._write(path, mutated(self._files[path], draw))
        if isinstance(facts, dict):
            names = [
                other.name
                for other in self._files
                if other not in {last, self.folder / "README.md"}
            ]
            checksums = {name: file_checksum(self.folder / name) for name in names}
            facts = with_checksums(last.name, facts, checksums)
        self._write(last, json.dumps(facts).encode())
        return [path, last]

    @staticmethod
    def _with_other_header(content: bytes, draw: random.Random) -> bytes:
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.dumps(changed_json(json.loads(content[8:end]), draw)).encode()
        return len(header).to_bytes(8, "little") + header + content[end:]


FACTS = {
    "name": "fuzzed",
    "created": "2026-11-18",
    "corpus": {
        "fingerprint": "0" * 64,
        "documents": 3,
        "sentences": 500,
        "tokens": 9_000,
        "sources": ["text.txt", {"name": "more.txt"}],
    },
    "triples": 12_345,
    "metrics": {"bats": {"all": {"pair2vec": 56.3}}, "loss": 1.5},
    "teaching": {
        "language_model": "tiny",
        "candidates": 1_000,
        "weights": [0.5, 0.25],
        "labelled": {"train": 10, "dev": 2},
    },
    "shrunk": {"from_words": 100, "from_precision": "float32", "from_metrics": {"loss": 1.0}},
    "licence": "cc-by-sa-4.0",
    "notes": ["One.", "Two."],
}
"""All that a card tells of a model."""


class FuzzedModel(FuzzedFolder):
    """A model with a relation head and all that may be known of it."""

    sealed = "config.json"

    def make(self) -> None:
        save_tiny_model(self.folder, config=FACTS, hidden=6)

    def answer(self) -> object:
        model = load(self.folder)
        facts = model.info()
        del facts["size on disk"]  # which a longer card changes
        card = model_card(model.saved.config)
        return repr([card, facts, model.saved.fingerprint, model.patterns, *_answers(model)])


def _answers(model: Pair2vec) -> list[object]:
    """To questions of all kinds."""
    return [
        model.pair("hot", "cold").tolist(),
        model.fill("X and Y", x="hot", top=4),
        model.fill("X or Y", y="down", prior=0.5, top=4),
        model.analogy("hot", "cold", "up", top=4),
        model.nearest("france", "paris", top=4),
        model.explain("up", "down", top=4),
        model.score("hot", "cold", "neither X nor Y"),
        model.relate("hot", "cold"),
        model.neighbours("hot", "antonym", top=4),
    ]


class FuzzedCorpus(FuzzedFolder):
    """A corpus of two shards."""

    sealed = "manifest.json"

    def make(self) -> None:
        draw = random.Random(0)
        words = [WordCount(word, 20 - rank) for rank, word in enumerate("abcdefghij")]
        vocabulary = Vocabulary(words)
        self.folder.mkdir(parents=True, exist_ok=True)
        with closing(CorpusWriter(self.folder, vocabulary, shard_ids=400)) as writer:
            for _ in range(80):
                ids = draw.choices(range(4, len(vocabulary)), k=draw.randint(1, 9))
                writer.append(np.array([*ids, BOUNDARY], np.uint32))
            writer.finish(
                version="0",
                documents=3,
                text_tokens=writer.tokens + 5,
                invalid_bytes=0,
                words=len(words),
                dropped=[["rare", 2]],
                settings={"vocabulary": 10},
                sources=[{"name": "text.txt", "bytes": 9, "sha256": "00"}],
            )

    def answer(self) -> object:
        corpus = open_corpus(self.folder)
        facts = {
            name: value for name, value in asdict(corpus.manifest).items() if name != "checksums"
        }
        Console(file=io.StringIO()).print(corpus_summary(self.folder, corpus.manifest))
        stream = TripleStream(corpus, TriplesConfig(threshold=1.0))
        triples = [batch.x.tolist() for batch, _ in islice(stream.batches(32), 2)]
        return facts, list(corpus.words()), corpus.vocabulary.counts.tolist(), triples


class FuzzedCheckpoints(FuzzedFolder):
    """The last two checkpoints of a run, and its job file."""

    def _job(self) -> JobFolder:
        return JobFolder(
            out=self.folder,
            state=self.folder,
            complete=self.folder / "config.json",
            product="a model",
            identity={"recipe": {"name": "tiny", "rate": 0.5}, "corpus": "0" * 64},
            clear=lambda: None,
        )

    def make(self) -> None:
        with self._job().claim(resume=False, overwrite=False):
            for step in (5, 10):
                tensors = {
                    "network.weight": torch.arange(600.0) * step,
                    "generator": torch.Generator().manual_seed(step).get_state(),
                }
                state = {"place": [0, step], "best": float("inf"), "rate": 0.1}
                write_checkpoint(self.folder, Checkpoint(step, tensors, state))

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        newest = sorted(folder.glob("step-*"))[-1]
        newest.write_bytes(b"damaged")
        # The one before is as good, and it is said that it is taken.
        self.expected.append(self.answer())
        newest.write_bytes(self._files[newest])

    def answer(self) -> object:
        check_begun(self.folder)
        if changed := self._job().changed_inputs():
            raise UsageError(f"begun with another {changed}")
        found = last_checkpoint(self.folder)
        assert found is not None
        tensors = {name: tensor.tolist() for name, tensor in sorted(found.tensors.items())}
        return found.step, tensors, found.state


QUESTIONS: dict[str, dict[str, Any]] = {
    "fill": {"pattern": "X or Y", "x": "hot", "search": "exact", "prior": 0.5, "top": 3},
    "pair": {"x": "hot", "y": "cold", "vector": True, "direction": "both"},
    "analogy": {"a": "france", "b": "paris", "x": "hot", "alpha": 0.5, "direction": "forward"},
    "nearest": {"x": "hot", "y": "cold", "top": 2},
    "score": {"x": "hot", "y": "cold", "pattern": "neither X nor Y"},
    "words": {"start": "c"},
    "relate": {"x": "hot", "y": "cold", "top": 2},
    "neighbours": {"word": "hot", "relation": "antonym"},
}
_PATHS = ("/", "/health", "/metrics", "/api", "/api/model", "/openapi.json", "/static/", "/../api")


class FuzzedServer(Fuzzed):
    """The application of a server, asked without a network."""

    def __init__(self, folder: Path) -> None:
        self._client = TestClient(
            make_app(Resources(load(taught_model(folder)))), base_url="http://127.0.0.1"
        )
        self._client.__enter__()
        self._expected = {name: self._ask(name) for name in QUESTIONS}

    def close(self) -> None:
        self._client.__exit__(None, None, None)

    def _ask(self, name: str) -> object:
        response = self._client.post(f"/api/{name}", json=QUESTIONS[name])
        assert response.status_code == 200, response.text
        return response.json()

    def run(self, draw: random.Random) -> Outcome:
        name = draw.choice(list(QUESTIONS))
        if draw.random() < 0.1:  # what others were asked before has left no trace
            if self._ask(name) != self._expected[name]:
                raise Finding(f"{name} is answered in another way")
            return "same"
        response = self._client.send(self._request(name, draw))
        if response.status_code >= 500 and response.status_code not in {503, 504}:
            raise Finding(f"{response.status_code}: {response.request.url}")
        if response.content and "json" in response.headers.get("content-type", ""):
            response.json()
        return "other" if response.is_success else "refused"

    def _request(self, name: str, draw: random.Random) -> Any:
        question = changed_json(QUESTIONS[name], draw)
        match draw.randrange(6):
            case 0 | 1:
                body = json.dumps(question).encode()
            case 2:
                questions = [question, QUESTIONS[name], draw.choice(ODD_VALUES)]
                body = json.dumps({"questions": questions}).encode()
            case 3:
                body = mutated(json.dumps(QUESTIONS[name]).encode(), draw)
            case 4:
                query = mutated(
                    "&".join(f"{k}={v}" for k, v in QUESTIONS[name].items()).encode(), draw
                )
                return self._client.build_request("GET", f"/api/{name}?{_quoted(query[:20_000])}")
            case _:
                path = mutated(draw.choice((f"/api/{name}", *_PATHS)).encode(), draw)[:5_000]
                method = draw.choice(("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"))
                return self._client.build_request(method, "/" + _quoted(path).lstrip("/"))
        headers = {"content-type": draw.choice(("application/json", "text/plain", ""))}
        return self._client.build_request("POST", f"/api/{name}", content=body, headers=headers)


def _quoted(text: bytes) -> str:
    """Bytes as they may be in an address; those that are plain as they are."""
    return "".join(
        chr(byte) if byte < 128 and re.match(r"[\w/&=.-]", chr(byte)) else f"%{byte:02X}"
        for byte in text
    )


KINDS: dict[str, type[Fuzzed]] = {
    "model folder": FuzzedModel,
    "corpus": FuzzedCorpus,
    "checkpoint": FuzzedCheckpoints,
    "request": FuzzedServer,
}
