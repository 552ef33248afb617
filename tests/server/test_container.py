"""The Containerfile, built and run; skips where no engine can run containers."""

import os
import re
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
CONTAINERFILE = (ROOT / "Containerfile").read_text()
BUILD_SECONDS, READY_SECONDS = 600, 120


def default_base() -> str:
    found = re.search(r"^ARG BASE=(\S+)$", CONTAINERFILE, re.MULTILINE)
    assert found
    return found.group(1)


BASE = os.environ.get("PAIR2VEC_BASE_IMAGE", default_base())


def run(*command: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)


@pytest.fixture(scope="module")
def engine() -> str:
    """Podman or docker, if it runs containers from the base image."""
    reasons = []
    for name in filter(shutil.which, ("podman", "docker")):
        try:
            probe = run(name, "run", "--rm", BASE, "python", "--version", seconds=120)
        except subprocess.TimeoutExpired:
            reasons.append(f"{name} does not answer")
            continue
        if probe.returncode == 0:
            return name
        lines = probe.stderr.strip().splitlines() or ["it failed without a word"]
        reasons.append(
            next((line for line in lines if re.search("(?i)error|cannot", line)), lines[-1])
        )
    why = "; ".join(reasons) or "neither podman nor docker is installed"
    pytest.skip(f"the container is not tested: {why}")


@pytest.fixture(scope="module")
def image(engine: str) -> Iterator[str]:
    tag = f"pair2vec-test-{uuid.uuid4().hex[:8]}"
    build = run(
        *(engine, "build", "--build-arg", f"BASE={BASE}", "-f", "Containerfile", "-t", tag),
        str(ROOT),
        seconds=BUILD_SECONDS,
    )
    assert build.returncode == 0, build.stderr
    yield tag
    run(engine, "rmi", "--force", tag)


def test_the_image_answers_as_a_user_without_rights_and_stops_at_once(
    engine: str, image: str
) -> None:
    started = run(engine, "run", "--detach", "--read-only", "-p", "127.0.0.1::8017", image)
    assert started.returncode == 0, started.stderr
    container = started.stdout.strip()
    try:
        port = run(engine, "port", container, "8017").stdout.strip().rpartition(":")[2]
        address = f"http://127.0.0.1:{port}"
        wait_until_ready(address, engine, container)
        answer = httpx.get(f"{address}/api/relate", params={"x": "hot", "y": "cold", "top": 0})
        assert answer.json()["relation"] == "antonym"
        assert run(engine, "exec", container, "id", "-u").stdout.strip() == "65534"
        assert run(engine, "stop", "--time", "30", container).returncode == 0
        state = run(engine, "inspect", "--format", "{{.State.ExitCode}}", container)
        assert state.stdout.strip() in {"0", "143"}, "not killed: 137"
    finally:
        run(engine, "rm", "--force", container)


def wait_until_ready(address: str, engine: str, container: str) -> None:
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end:
        try:
            if httpx.get(f"{address}/ready").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    pytest.fail(f"it was not ready: {run(engine, 'logs', container).stderr}")


def test_what_is_copied_into_the_image_is_there() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", CONTAINERFILE, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert names == {"pyproject.toml", "README.md", "LICENSE", "src"}
    assert all((ROOT / name).exists() for name in names)
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == names
    assert '"serve"' in CONTAINERFILE.rpartition("ENTRYPOINT")[2]
    assert re.search(r"^USER (?!0|root)", CONTAINERFILE, re.MULTILINE)
