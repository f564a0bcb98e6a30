"""The recipes of docs/doors.md are short; those that are said to be run here are run: as they stand, and wrong."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server

import numpy as np
import pytest
from fuzz.calls import unrendered

from mechanisms import Dataset
from verify.cli import invoke

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "doors.md").read_text("utf-8")
RECIPES = dict(re.findall(r"^### (.+?)\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL))
HTTP, SQL = "HTTP", "SQL in a database, with noise of one's own"
PATIENCE = 60.0
#: Standard library alone, and nothing of the user's site: it starts ten times a claim and more.
PYTHON = [sys.executable, "-I", "-S"]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


DEPLOYMENT = next(text for text in blocks(PAGE, "toml") if "[data]" in text)


def certify(folder: Path, mechanism: str) -> int:
    """Return the exit code for the page's configuration with another mechanism, on one pair and with few draws."""
    few = '[budget]\npairs = 1\ndraws = 400\nfailure_prob = 1e-6\nseed = 11\nprofile = "quick"'
    text = re.sub(r'\[budget\]\nprofile = "quick"', few, DEPLOYMENT)
    text = re.sub(r"\[mechanism\]\n.*?\n\n", lambda _: mechanism + "\n", text, flags=re.DOTALL)
    (folder / "deployment.toml").write_text(text, encoding="utf-8")
    (folder / "records.csv").write_text("x1,x2,y\n0.1,0.2,0.5\n0.3,-0.2,1.0\n0.0,0.4,0.25\n", encoding="utf-8")
    with unrendered():
        return invoke(["certify", str(folder / "deployment.toml"), "--out", str(folder / "out")])


@contextmanager
def service(code: str, folder: Path) -> Iterator[str]:
    """Run a service on a free port; its url."""
    with create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    (folder / "service.py").write_text(code.replace("8080", str(port)), encoding="utf-8")
    process = subprocess.Popen([*PYTHON, "service.py"], cwd=folder, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/release"
    try:
        wait_for(url, process)
        yield url
    finally:
        process.kill()
        process.wait(timeout=PATIENCE)


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until a service answers anything."""
    for _ in range(int(PATIENCE / 0.02)):
        assert process.poll() is None
        try:
            urllib.request.urlopen(url, timeout=PATIENCE).close()
        except urllib.error.HTTPError:  # it has no answer to GET, and says so
            return
        except OSError:
            process_waits(process)
    pytest.fail("the service does not answer")


def process_waits(process: subprocess.Popen[bytes]) -> None:
    """Wait a moment, or less if the process ends."""
    try:
        process.wait(0.02)
    except subprocess.TimeoutExpired:
        return


@pytest.mark.parametrize("recipe", [name for name in RECIPES if blocks(RECIPES[name], "toml") or name == HTTP])
def test_a_recipe_is_short_and_says_who_has_run_it(recipe: str) -> None:
    text = RECIPES[recipe]
    (code,) = [block for language in ("python", "r", "rust") for block in blocks(text, language)]
    assert 0 < sum(bool(line.strip()) for line in code.splitlines()) <= 15
    for block in blocks(text, "toml"):
        assert "mechanism" in tomllib.loads(block)
    by_hand = re.search(r"^Run by hand on \d{4}-\d\d-\d\d\b.*\bFAIL\b", text, re.MULTILINE | re.DOTALL)
    assert bool(by_hand) != ("Run by `tests/test_doors_document.py`" in text)


@pytest.mark.parametrize(("scale", "code"), [("0.5", 1), ("1.0", 3)])
def test_the_service_is_refuted_with_half_the_noise_and_not_with_all_of_it(
    scale: str, code: int, tmp_path: Path
) -> None:
    (recipe,) = blocks(RECIPES[HTTP], "python")
    assert recipe.count("1.0 *") == 1
    with service(recipe.replace("1.0 *", f"{scale} *"), tmp_path) as url:
        assert certify(tmp_path, f'[mechanism]\nurl = "{url}"\n') == code


@pytest.mark.parametrize(("scale", "code"), [("0.5", 1), ("1.0", 3)])
def test_the_query_is_refuted_with_half_the_noise_and_not_with_all_of_it(scale: str, code: int, tmp_path: Path) -> None:
    (recipe,), (section,) = blocks(RECIPES[SQL], "python"), blocks(RECIPES[SQL], "toml")
    assert recipe.count("laplace(1.0)") == 1
    (tmp_path / "release.py").write_text(recipe.replace("laplace(1.0)", f"laplace({scale})"), encoding="utf-8")
    assert section.count('"python3"') == 1
    command = ", ".join(f'"{word}"' for word in PYTHON)
    assert certify(tmp_path, section.replace('"python3"', command)) == code


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_the_adapters_of_libraries_draw(tmp_path: Path) -> None:
    (code,) = blocks(RECIPES["Python libraries, without a door"], "python")
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    made = runpy.run_path(str(tmp_path / "mine.py"))
    dataset = Dataset([[0.5, 0.5], [-0.5, 0.0], [0.0, 0.5]], [1.0, 0.0, 0.0], 1.0, 1.0)
    for name in ("total", "mean", "bayes", "line"):
        assert len(made[name]().draw(dataset, 3, rng=np.random.default_rng(1))) == 3
