"""The explorer page as a static site, with a model and the engine that answers in the browser.

A folder of

- ``index.html``: the page; written last, so that it never names what is not there;
- ``static-HASH/``: its scripts and styles, the engine among them;
- ``model-HASH/``: the model's files, and those of `engine_data`;
- ``service_worker.js``: keeps all of it for use offline;
- ``package.json`` and ``engine.js``: the same folder as an npm package, for programs.

A hash is of the content, so that browsers and caches may keep a file for ever. Or a single HTML
file with all of that inside, which also opens from a disk.
"""

import hashlib
import json
import re
import shutil
from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pair2vec.api import Pair2vec
from pair2vec.errors import UsageError
from pair2vec.model.folder import CARD_FILE, MODEL_FILES, PATTERNS_FILE
from pair2vec.runtime.jobs import exclusive_lock, sweep_partial_files
from pair2vec.runtime.storage import write_file
from pair2vec.server.engine_data import engine_files
from pair2vec.version import __version__

STATIC = Path(__file__).parent / "static"

PAGE = "index.html"
PACKAGE = "package.json"
_MARK = "pair2vec"
"""A key of our package.json; by it a site is known again."""
_SERVICE_WORKER = "service_worker.js"
_OF_SERVER = {"docs.html", "docs.js", PAGE, _SERVICE_WORKER}
"""Files of the page that are not in ``static-HASH/``."""
_GENERATOR = '<meta name="generator" content="pair2vec explorer">'
_HASH_DIGITS = 12
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"
)

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const|let) (\w+))", re.MULTILINE)


class Site(NamedTuple):
    """What a site is made of."""

    files: dict[str, bytes]
    """By path; the page is the last."""
    folders: tuple[str, ...]
    """Those that are named by their content."""


def write_site(model: Pair2vec, out: Path, *, overwrite: bool = False) -> int:
    """Write the site of a model to a folder; returns how many bytes it has.

    Files that are not of a site, such as a ``CNAME``, stay where an earlier site is replaced.

    Raises:
        UsageError: the folder holds something else, or a site that is not to be replaced.
    """
    _check_folder(out, overwrite=overwrite)
    site = make_site(model)
    out.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(out):
        _check_folder(out, overwrite=overwrite)
        sweep_partial_files(out)
        # First what tells our site from other folders, whatever becomes of this process.
        for name in sorted(site.files, key=lambda name: (name != PACKAGE, name == PAGE)):
            path = out / name
            path.parent.mkdir(exist_ok=True, parents=True)
            write_file(path, site.files[name])
        for old in out.iterdir():
            is_ours = re.fullmatch(rf"(static|model)-[0-9a-f]{{{_HASH_DIGITS}}}", old.name)
            if is_ours and old.is_dir() and old.name not in site.folders:
                shutil.rmtree(old)
    return sum(map(len, site.files.values()))


def write_single_page(model: Pair2vec, out: Path, *, overwrite: bool = False) -> int:
    """Write the page of a model, with all it needs inside, to one HTML file; returns its bytes.

    Raises:
        UsageError: there is a folder, another file, or such a page that is not to be replaced.
    """
    _check_page(out, overwrite=overwrite)
    content = single_page(model)
    out.parent.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(out):
        _check_page(out, overwrite=overwrite)
        write_file(out, content)
    return len(content)


def make_site(model: Pair2vec) -> Site:
    """The files of a model's site."""
    page, own = _page_files(), _model_files(model)
    folders = {"static": f"static-{_hash(page)}", "model": f"model-{_hash(own)}"}
    index = _index(f"{folders['model']}/").replace("static/", f"{folders['static']}/")
    index = index.replace(
        "<title>",
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<title>',
    )
    static = {f"{folders['static']}/{name}": content for name, content in page.items()}
    models = {f"{folders['model']}/{name}": content for name, content in own.items()}
    worker = {
        "version": _hash({PAGE: index.encode(), **page}),
        "files": ["./", *static],
        "caches": [f"{folders['model']}/"],
    }
    script = (STATIC / _SERVICE_WORKER).read_text()
    files = {
        **static,
        **models,
        "README.md": own[CARD_FILE],
        "engine.js": _package_entry(**folders).encode(),
        PACKAGE: _package(model, tuple(folders.values())),
        _SERVICE_WORKER: f"const SITE = {json.dumps(worker)};\n{script}".encode(),
        PAGE: index.encode(),
    }
    return Site(files, tuple(folders.values()))


def single_page(model: Pair2vec) -> bytes:
    """A page that needs no other file."""
    style = f"<style>\n{(STATIC / 'explorer.css').read_text()}</style>"
    icon = b64encode((STATIC / "favicon.svg").read_bytes()).decode()
    index = re.sub('<link rel="stylesheet"[^>]*>', lambda _: style, _index("inside"))
    index = index.replace("static/favicon.svg", f"data:image/svg+xml;base64,{icon}")
    script = f'<script type="module">\n{joined_modules("explorer.js")}</script>'
    engine = (
        f'<script type="text/plain" id="engine">\n{joined_modules("engine/worker.js")}</script>'
    )
    files = [
        f'<script type="text/plain" data-file="{escape(name)}">{b64encode(data).decode()}</script>'
        for name, data in _model_files(model).items()
        if name != CARD_FILE
    ]
    head, body = re.split(r'<script type="module"[^>]*></script>\n', index)
    # Behind the page: it is shown while the rest is read.
    inside = "\n".join([engine, *files, script])
    return f"{head}{body.replace('</body>', inside + chr(10) + '</body>')}".encode()


def joined_modules(entry: str) -> str:
    """A module of the page and all that it imports, as one script."""
    parts = (
        f"const {_variable(name)} = (() => {{\n{_as_function(name)}}})();\n"
        for name in _in_order(PurePosixPath(entry), set())
    )
    return "".join(parts)


def _as_function(name: PurePosixPath) -> str:
    """The body of a function that returns what a module exports."""
    source = (STATIC / name).read_text()
    exported = ", ".join(match[1] for match in _EXPORT.findall(source))
    source = _IMPORT.sub(
        lambda found: f"const {found[1]} = {_variable(_beside(name, found[2]))};", source
    )
    return f"{_EXPORT.sub(lambda found: found[1], source)}\nreturn {{ {exported} }};\n"


def _in_order(name: PurePosixPath, seen: set[PurePosixPath]) -> Iterator[PurePosixPath]:
    """A module behind all that it imports."""
    if name not in seen:
        seen.add(name)
        for _, other in _IMPORT.findall((STATIC / name).read_text()):
            yield from _in_order(_beside(name, other), seen)
        yield name


def _beside(name: PurePosixPath, other: str) -> PurePosixPath:
    """The path of what a module names."""
    path = (STATIC / name.parent / other).resolve().relative_to(STATIC.resolve())
    return PurePosixPath(path.as_posix())


def _variable(name: PurePosixPath) -> str:
    return re.sub(r"\W", "_", f"module_{name.with_suffix('')}")


def _index(folder: str) -> str:
    """The page, which says where its model is."""
    index = (STATIC / PAGE).read_text()
    index = index.replace('<html lang="en">', f'<html lang="en" data-model="{folder}">')
    return index.replace("<title>", f"{_GENERATOR}\n<title>")


def _page_files() -> dict[str, bytes]:
    paths = (path for path in sorted(STATIC.rglob("*")) if path.is_file())
    files = {path.relative_to(STATIC).as_posix(): path.read_bytes() for path in paths}
    return {name: content for name, content in files.items() if name not in _OF_SERVER}


def _model_files(model: Pair2vec) -> dict[str, bytes]:
    paths = {name: model.saved.folder / name for name in MODEL_FILES}
    files = {name: path.read_bytes() for name, path in paths.items() if path.exists()}
    # Without patterns, their file may be missing; the page asks for all.
    missing = {name: b"" for name in (PATTERNS_FILE, CARD_FILE) if name not in files}
    return {**files, **missing, **engine_files(model)}


def _hash(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name} {hashlib.sha256(files[name]).hexdigest()}\n".encode())
    return digest.hexdigest()[:_HASH_DIGITS]


def _package(model: Pair2vec, folders: tuple[str, ...]) -> bytes:
    name = re.sub(r"[^a-z0-9-]+", "-", model.saved.folder.resolve().name.lower()).strip("-")
    content = {
        "name": f"pair2vec-{name or 'model'}",
        "version": __version__,
        "description": "Which relation holds between two words: a pair2vec model and its engine",
        "type": "module",
        "exports": "./engine.js",
        "files": ["engine.js", *folders],
        "license": "SEE LICENSE IN README.md",
        "engines": {"node": ">=20"},
        _MARK: {"version": __version__, "folders": folders},
    }
    return f"{json.dumps(content, indent=2)}\n".encode()


def _package_entry(static: str, model: str) -> str:
    return (
        f'import {{ openModel }} from "./{static}/engine/index.js";\n\n'
        f'export * from "./{static}/engine/index.js";\n\n'
        "/** The model of this package. */\n"
        f'export const load = () => openModel(new URL("./{model}/", import.meta.url));\n'
    )


def _check_folder(out: Path, *, overwrite: bool) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file, not a folder; give another --out")
    others = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    others = [name for name in others if not name.startswith(".")]
    if not others:
        return
    if not _is_site(out):
        raise UsageError(
            f"{out}: is not an explorer site and not empty ({others[0]}); give another --out"
        )
    if (out / PAGE).exists() and not overwrite:
        raise UsageError(
            f"{out}: already holds an explorer site; give another --out, or --overwrite to "
            "replace it"
        )


def _is_site(out: Path) -> bool:
    try:
        return _MARK in json.loads((out / PACKAGE).read_bytes())
    except (OSError, ValueError, TypeError):
        return False


def _check_page(out: Path, *, overwrite: bool) -> None:
    if out.is_dir():
        raise UsageError(f"{out}: is a folder; --single-file writes a file such as {out}.html")
    if not out.exists():
        return
    with out.open("rb") as file:
        if _GENERATOR.encode() not in file.read(4096):
            raise UsageError(f"{out}: is another file; give another --out")
    if not overwrite:
        raise UsageError(
            f"{out}: already holds an explorer page; give another --out, or --overwrite to "
            "replace it"
        )
