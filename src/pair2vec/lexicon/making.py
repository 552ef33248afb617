"""A whole lexicon, made in portions that are kept: stopped at any moment, it goes on from there."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pair2vec.atomic import write_whole, writing
from pair2vec.errors import UsageError
from pair2vec.lexicon.entries import Entry
from pair2vec.lexicon.evidence import Evidence
from pair2vec.lexicon.exports import Format, exported
from pair2vec.lexicon.portions import LexiconConfig, LexiconPlaces, Made, make_portion, portions
from pair2vec.text.corpus import read_manifest
from pair2vec.text.engine import local_engine

_JOB = "job.json"
_TERMS_AT_ONCE = 50


def make_lexicon(
    places: LexiconPlaces,
    config: LexiconConfig,
    out: Path,
    kind: Format,
    *,
    workers: int = 1,
    overwrite: bool = False,
    report: Callable[[int, int], None] = lambda done, all_: None,
) -> list[Entry]:
    """Make a lexicon, or finish one that was begun, and write it to `out`.

    `report` is told how many terms of how many are done.

    Raises:
        UsageError: `out` is there already, or another lexicon was begun there.
    """
    if out.exists() and not overwrite:
        raise UsageError(f"{out}: is there already; --overwrite replaces it")
    folder = _claim(out, _job(places, config), overwrite=overwrite)
    done = {made.first: made for made in _parts(folder)}
    left = portions(places, config, list(done), _TERMS_AT_ONCE)
    with local_engine(workers) as ordered_map:
        for made in ordered_map(make_portion, left):
            _keep(folder, made)
            done[made.first] = made
            report(sum(part.last - part.first for part in done.values()), len(places.terms))
    whole = [entry for first in sorted(done) for entry in done[first].entries]
    with writing(out) as file:
        for line in exported(whole, kind):
            file.write(line.encode())
    shutil.rmtree(folder)
    return whole


def _job(places: LexiconPlaces, config: LexiconConfig) -> dict[str, Any]:
    """What a begun lexicon may go on with."""
    definitions = places.relations.read_bytes() if places.relations else b""
    return {
        "corpus": read_manifest(places.corpus).fingerprint,
        "model": os.fspath(places.model.resolve()),
        "relations": hashlib.sha256(definitions).hexdigest(),
        "terms": hashlib.sha256("\n".join(places.terms).encode()).hexdigest(),
        "settings": {**asdict(config), "relations": list(config.relations)},
    }


def _claim(out: Path, job: dict[str, Any], *, overwrite: bool) -> Path:
    """The folder beside `out` for portions of this very job."""
    folder = out.with_name(f"{out.name}.begun")
    path = folder / _JOB
    if path.exists() and json.loads(path.read_bytes()) != job:
        if not overwrite:
            raise UsageError(
                f"{folder}: was begun with another corpus, model, terms or settings; go on with "
                "the same ones, or --overwrite"
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(job, indent=2).encode())
    return folder


def _keep(folder: Path, made: Made) -> None:
    entries = [
        {**entry._asdict(), "evidence": [one._asdict() for one in entry.evidence]}
        for entry in made.entries
    ]
    content = json.dumps({"first": made.first, "last": made.last, "entries": entries})
    write_whole(folder / f"terms-{made.first:08d}.json", content.encode())


def _parts(folder: Path) -> Iterator[Made]:
    for path in sorted(folder.glob("terms-*.json")):
        saved = json.loads(path.read_bytes())
        entries = [
            Entry(**{**entry, "evidence": [Evidence(**one) for one in entry["evidence"]]})
            for entry in saved["entries"]
        ]
        yield Made(saved["first"], saved["last"], entries)
