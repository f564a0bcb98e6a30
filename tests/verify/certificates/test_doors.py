"""``certify`` on a service and on a command, from the configuration to the record: what refutes, what never does, and
that a run which was stopped, however, goes on with the draws that it has.

The mechanism is the sum of the responses, each within 1, with Laplace noise; scale 1 is right for epsilon 1 under
add-remove, scale 2 under replace.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.calls import unrendered
from leaks import ANSWERING, MECHANISMS, seen, worlds
from oracles.doors.fake_server import FakeServer
from toys.deployments import DATA, claim, section, write_rows
from toys.processes import PATIENCE, start, until

from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
RELATIONS = ("add-remove", "replace")
#: Enough noise for epsilon = 1.
RIGHT = {"add-remove": 1.0, "replace": 2.0}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with four records in it, which is the working directory; pages are not drawn."""
    write_rows(tmp_path, np.array([[0.1, 0.2, 0.5], [0.3, -0.2, -0.5], [0.0, 0.4, 0.25], [0.2, 0.2, -0.25]]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    with unrendered():
        yield tmp_path


#: Starts in 30 ms. It exits where it is told to and the data hold poison, and writes down what it is asked.
SCRIPT = """
import json, random, sys
scale, poison, log = float(sys.argv[1]), float(sys.argv[2]), open("asked.log", "a")
for line in sys.stdin:
    request = json.loads(line)
    print(line, end="", file=log, flush=True)
    if poison in request["y"]:
        sys.exit(3)
    rng = random.Random(request["seed"])
    for _ in range(request["n_draws"]):
        print(sum(request["y"]) + scale * (rng.expovariate(1) - rng.expovariate(1)))
    sys.stdout.flush()
"""


def command(scale: float = 1.0, poison: float = math.nan) -> dict[str, Any]:
    """Return the section of a release script in this folder."""
    Path("release.py").write_text(SCRIPT, encoding="utf-8")
    return {"command": [sys.executable, "-I", "-S", "release.py", str(scale), str(poison)]}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


def deployment(door: dict[str, Any], relation: str = "add-remove", *, epsilon: float = 1.0, **budget: Any) -> str:
    """Return a configuration with one claim about a door."""
    asked = {"profile": "quick", "pairs": 1, "draws": 300, "failure_prob": 1e-4, "seed": 3} | budget
    return (
        DATA + section("[mechanism]", **door) + claim("dp", epsilon=epsilon, delta=1e-6, relation=relation)
    ) + section("[budget]", **asked)


def certify(text: str, *arguments: str, out: str = "out") -> int:
    Path("d.toml").write_text(text, encoding="utf-8")
    return invoke(["certify", "d.toml", "--out", out, *arguments])


def record(out: str = "out") -> bytes:
    return Path(out, "curator", "audit.jsonl").read_bytes()


def claim_row(out: str = "out") -> dict[str, Any]:
    rows = [json.loads(line) for line in record(out).splitlines()]
    return next(row for row in rows if row["kind"] == "claim")


def kept_its_contract() -> bool:
    return "VIOLATED" not in {each["outcome"] for each in claim_row()["examination"]["contract"]}


def asked(server: FakeServer) -> Counter[str]:
    """How often each request was asked."""
    return Counter(json.dumps(request, sort_keys=True) for request in server.requests)


# --- noise ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_half_the_noise_of_a_service_is_refuted(relation: str, work: Path, server: FakeServer) -> None:
    server.change(scale=RIGHT[relation] / 2)
    assert certify(deployment({"url": server.url}, relation, failure_prob=0.01, draws=700)) == 1
    assert claim_row()["verdict"] == "FAIL"
    assert not Path("d.draws").exists()


@pytest.mark.parametrize("relation", RELATIONS)
def test_half_the_noise_of_a_command_is_refuted(relation: str, work: Path) -> None:
    assert certify(deployment(command(RIGHT[relation] / 2), relation, failure_prob=0.01, draws=500)) == 1
    assert claim_row()["verdict"] == "FAIL"
    assert not Path("d.draws").exists()


@pytest.mark.parametrize("relation", RELATIONS)
def test_enough_noise_of_a_service_is_never_refuted(relation: str, work: Path, server: FakeServer) -> None:
    """Three seeds: one of them is refuted with probability 3e-4 at most."""
    server.change(scale=RIGHT[relation])
    for seed in range(3):
        assert certify(deployment({"url": server.url}, relation, seed=seed), "--overwrite") == 3
        assert kept_its_contract()


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_enough_noise_of_a_command_is_not_refuted(work: Path, relation: str) -> None:
    """But with probability 1e-4 at most."""
    assert certify(deployment(command(RIGHT[relation]), relation, draws=150)) == 3
    assert kept_its_contract()


# --- stopped and gone on ----------------------------------------------------------------------------------------------


def killed(work: Path, server: FakeServer, text: str, after: int) -> None:
    """Certify in a process of its own, which gets SIGKILL when the service was asked so often."""
    Path("d.toml").write_text(text, encoding="utf-8")
    process = start(["d.toml", "--out", "out"], log=work / "log", command="certify")
    until(lambda: server.count >= after, process)
    process.kill()
    process.wait(timeout=PATIENCE)
    assert not Path("out", "curator", "audit.jsonl").exists()


def test_a_killed_audit_of_a_service_goes_on_and_asks_nothing_twice(
    work: Path, server: FakeServer, capsys: Captured
) -> None:
    text = deployment({"url": server.url, "concurrency": 3})
    assert certify(text, out="whole") == 3
    whole = asked(server)
    server.requests.clear()
    process = start(["d.toml", "--out", "out"], log=work / "log", command="certify")
    until(lambda: server.count >= whole.total() // 2, process)
    process.kill()
    process.wait(timeout=PATIENCE)
    assert Path("d.draws").stat().st_mode & 0o077 == 0
    capsys.readouterr()
    assert certify(text) == 3
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("going on")]
    assert re.fullmatch(r"going on with [\d,]+ draws \(d\.draws; delete it to begin afresh\)", line)
    assert record() == record("whole")
    assert (asked(server) - whole).total() <= 3  # those that were under way when it was killed
    assert not whole - asked(server)
    assert not list(work.glob("d.draws*"))


@pytest.mark.slow
def test_a_killed_audit_of_a_command_goes_on_and_asks_nothing_twice(work: Path) -> None:
    text, log = deployment(command(), draws=100), work / "asked.log"
    assert certify(text, out="whole") == 3
    whole = log.read_text().splitlines()
    log.unlink()
    process = start(["d.toml", "--out", "out"], log=work / "log", command="certify")
    until(lambda: log.exists() and len(log.read_text().splitlines()) > len(whole) // 2, process)
    process.kill()
    process.wait(timeout=PATIENCE)
    assert certify(text) == 3
    assert record() == record("whole")
    assert 0 <= len(log.read_text().splitlines()) - len(whole) <= 1


def test_an_audit_without_seeds_goes_on_with_its_draws_and_takes_none_twice(work: Path, server: FakeServer) -> None:
    """Stopped four times by a service that gives no answer to a request in ten."""
    door = {"url": server.url, "reproducible": False}
    assert certify(deployment(door), out="whole") == 3
    n_whole = server.count
    server.requests.clear()
    server.change(fault="hang", poison=math.inf, rate=0.1)
    for _ in range(4):
        assert certify(deployment(door | {"timeout": 0.2}), "--overwrite") == 3
    n_before = server.count
    server.change(fault="")
    assert certify(deployment(door), "--overwrite") == 3
    assert not Path("d.draws").exists()
    assert n_before < n_whole <= server.count <= n_whole + 4 * 4
    assert not any("seed" in request for request in server.requests)
    assert kept_its_contract()


# --- what is an output ------------------------------------------------------------------------------------------------

#: A record that nobody else is, and a pair of data sets that differ in it.
POISON = 0.875
PAIR = section("[[pairs]]", name="poison", X=[[0.1, 0.1]], y=[0.5], target_x=[0.2, 0.2], target_y=POISON)


@pytest.mark.parametrize("fault", ["error", "text", "500", "hang"])
def test_what_a_service_does_instead_of_answering_is_an_output(fault: str, work: Path, server: FakeServer) -> None:
    """It does it on one of two neighbouring data sets; much noise hides all else."""
    server.change(scale=50.0, poison=POISON, fault=fault)
    door = {"url": server.url, "concurrency": 32, "timeout": 0.3, "timeouts": "output"}
    assert certify(deployment(door, epsilon=0.5, draws=60) + PAIR) == 1
    assert "poison" in claim_row()["reason"]


def test_an_exit_of_a_command_is_an_output(work: Path) -> None:
    """Of a shell script that releases nothing but noughts."""
    (work / "noughts.sh").write_text(NOUGHTS, encoding="utf-8")
    door = {"command": ["sh", "noughts.sh"], "concurrency": 2}
    assert certify(deployment(door, epsilon=0.5, draws=60) + PAIR) == 1
    assert "poison" in claim_row()["reason"]


NOUGHTS = f"""
while read -r request; do
    case $request in *{POISON}*) exit 3;; esac
    left=${{request##*n_draws\\": }}
    left=${{left%%[!0-9]*}}
    while [ "$left" -gt 0 ]; do echo 0; left=$((left - 1)); done
done
"""


# --- nobody answers ---------------------------------------------------------------------------------------------------


def test_a_timeout_ends_the_audit_as_not_examined_and_the_next_run_goes_on(
    work: Path, server: FakeServer, capsys: Captured
) -> None:
    text = deployment({"url": server.url})
    assert certify(text, out="whole") == 3
    whole = asked(server)
    server.requests.clear()
    server.change(fault="hang", poison=math.inf, rate=0.03)
    assert certify(deployment({"url": server.url, "timeout": 0.2})) == 3
    row = claim_row()
    assert row["words"] == "UNDECIDED (not examined)"
    assert "got no answer in 0.2 s (mechanism.timeout" in row["reason"]
    assert "the draws so far stay in d.draws" in capsys.readouterr().err
    server.change(fault="")
    assert certify(text, "--overwrite") == 3
    assert "going on with " in capsys.readouterr().err
    assert record() == record("whole")
    assert (asked(server) - whole).total() <= 4
    assert not Path("d.draws").exists()


def test_a_service_that_is_down_is_one_clear_line(work: Path, capsys: Captured) -> None:
    with FakeServer() as gone:
        url = gone.url
    assert certify(deployment({"url": url})) == 3
    printed = capsys.readouterr()
    assert "the service does not accept connections (Connection refused)" in printed.out
    assert claim_row()["words"] == "UNDECIDED (not examined)"
    assert not Path("d.draws").exists()
    assert "Traceback" not in printed.out + printed.err


# --- private records --------------------------------------------------------------------------------------------------


def test_what_everyone_sees_does_not_depend_on_the_records(work: Path, server: FakeServer) -> None:
    text = MECHANISMS["command"].replace(section("", command=ANSWERING).strip(), f'url = "{server.url}"')
    base, other = (seen(work / "w", text, worlds()[each]) for each in ("base", "singular"))
    assert base.code == 3
    assert server.url in base.err
    assert base.differences(other) == []
    assert "d.draws" not in base.files
