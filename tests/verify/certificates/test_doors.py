"""``certify`` on a service and on a command, from the configuration to the folder: what refutes, what never does."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.calls import unrendered
from leaks import ANSWERING, MECHANISMS, seen, worlds
from oracles.external import fake_command, noisy_sum
from oracles.external.fake_server import FakeServer
from toys.deployments import ARTEFACT, DATA, claim, dp, section, write_rows
from toys.forgery import attest_again
from toys.forgery import certify as certified
from toys.processes import PATIENCE, start, until

import verify
from audits.external import open_door
from verify.certificates.folder.check_folder import check_folder
from verify.certificates.folder.output import parse_rows
from verify.cli import invoke
from verify.messages.errors import UserError

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
    assert row["words"] == "UNDECIDED (not tested)"
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
    assert claim_row()["words"] == "UNDECIDED (not tested)"
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


DATA_DOOR_FOLDER = section("[data]", file="data.csv", features=["a"], target="y", x_bound=1.0, y_bound=1.0)
BUDGET = section("[budget]", profile="quick", pairs=1, draws=60, max_draws=400)
COMMAND = [sys.executable, "-I", "-S", "fake_command.py", '{"scale": 9}']
LABEL = f"{Path(sys.executable).name} -I -S fake_command.py '{{\"scale\": 9}}'"
VIEWS = "def plain(output):\n    return output\n"


def lay_out(folder: Path, **mechanism: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "data.csv").write_text("a,y\n0.5,0.5\n-0.5,0.25\n", encoding="utf-8")
    (folder / "model.onnx").write_bytes(b"weights")
    (folder / "mine.py").write_text(VIEWS, encoding="utf-8")
    for module in (fake_command, noisy_sum):
        shutil.copy(str(module.__file__), folder)
    text = DATA_DOOR_FOLDER + section("[mechanism]", **mechanism) + ARTEFACT + BUDGET + dp(1.0)
    (folder / "d.toml").write_text(text, encoding="utf-8")
    return folder / "d.toml"


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("origin")
    assert certified(lay_out(folder, command=COMMAND, version="3.1", views=["mine.py:plain"]), folder / "out") == 3
    return folder


@pytest.fixture
def work_door_folder(origin: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(origin, tmp_path / "work"))


def subjects(folder: Path) -> dict[str, str]:
    listed = json.loads((folder / "attestation.json").read_bytes())["subject"]
    return {each["name"]: each["digest"]["sha256"] for each in listed}


def test_the_files_of_a_command_are_subjects_for_the_curator_alone(origin: Path) -> None:
    named = subjects(origin / "out" / "curator")
    assert list(named) == ["d.toml", sys.executable, "fake_command.py", LABEL, "mine.py", "model.onnx"]
    header = parse_rows((origin / "out" / "curator" / "audit.jsonl").read_bytes())[0]
    assert named[LABEL] == header["mechanism_digest"]
    assert list(subjects(origin / "out" / "release")) == ["audit.jsonl", "model.onnx"]


def test_the_pages_say_what_was_asked_and_no_place(origin: Path) -> None:
    page = (origin / "out" / "release" / "audit.html").read_text(encoding="utf-8")
    assert "(a command, version 3.1)" in page
    for path in (origin / "out" / "release").iterdir():
        content = path.read_bytes()
        assert str(origin).encode() not in content
        assert sys.executable.encode() not in content


def test_it_is_checked_at_another_place_without_the_files(work_door_folder: Path) -> None:
    (work_door_folder / "fake_command.py").unlink()
    for part in ("curator", "release"):
        assert check_folder(work_door_folder / "out" / part, render=False).wrong == []


def test_it_is_finished_until_a_file_of_the_command_is_another_one(work_door_folder: Path, capsys: Captured) -> None:
    again = (work_door_folder / "d.toml", work_door_folder / "out")
    assert certified(*again) == 3
    assert "finished before" in capsys.readouterr().out
    with (work_door_folder / "fake_command.py").open("a") as file:
        file.write("# another one\n")
    assert certified(*again) == 2
    assert "a finished certificate that differs in fake_command.py" in capsys.readouterr().err
    (work_door_folder / "fake_command.py").unlink()
    assert certified(*again) == 2
    assert f"a finished certificate that differs in {LABEL}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["fake_command.py", LABEL])
def test_a_careless_forger_of_a_digest_is_found_out(name: str, work_door_folder: Path) -> None:
    curator = work_door_folder / "out" / "curator"
    attested = (curator / "attestation.json").read_bytes()
    attest_again(curator, attested=attested.replace(subjects(curator)[name].encode(), b"0" * 64))
    assert "another mechanism than" in " ".join(check_folder(curator, render=False).wrong)


def test_a_token_is_sent_and_stands_nowhere(tmp_path: Path, capsys: Captured) -> None:
    with FakeServer(scale=9.0) as server:
        path = lay_out(tmp_path, url=f"{server.url}?token=s31337", version="2")
        assert certified(path, tmp_path / "out") == 3
        printed = capsys.readouterr()
        assert printed.err.splitlines()[0] == f"note: this file sends records to {server.url}; never run a stranger's"
        assert server.count > 0
    assert "31337" not in printed.out + printed.err
    holding = [each.name for each in (tmp_path / "out").rglob("*") if each.is_file() and b"31337" in each.read_bytes()]
    assert holding == ["configuration.toml"]
    assert list(subjects(tmp_path / "out" / "curator")) == ["d.toml", server.url, "model.onnx"]
    page = (tmp_path / "out" / "release" / "audit.html").read_text("utf-8")
    assert f"{server.url} (a service, version 2)" in page
    assert "Http" not in page  # a sentence that begins with a url


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again without a pause."""
    monkeypatch.setattr(open_door, "PAUSES", (0.0,))


def test_a_dry_run_asks_for_a_few_draws(tmp_path: Path, capsys: Captured, at_once: None) -> None:
    with FakeServer(scale=9.0) as server:
        path = lay_out(tmp_path, url=server.url, batch=20)
        assert invoke(["certify", str(path), "--dry-run"]) == 0
        printed = capsys.readouterr().out
        assert "examination of 1 pairs, 60 draws of each data set\n" in printed
        assert printed.splitlines()[-1].startswith("about ")
        assert sorted(request["n_draws"] for request in server.requests) == [1, 1, 20]
        assert invoke(["certify", str(path), "--dry-run", "--audience", "release"]) == 0
        assert server.count == 3
    assert invoke(["certify", str(path), "--dry-run"]) == 2
    assert "error: mechanism must answer, got: " in capsys.readouterr().err
    assert not (tmp_path / "d.draws").exists()


def test_a_notebook_asks_a_service_and_leaves_nothing_open(tmp_path: Path) -> None:
    with FakeServer(scale=9.0) as server:
        made = verify.certify(lay_out(tmp_path, url=server.url))
        assert made.words == {"dp": "UNDECIDED (no violation found)"} or made.words == {"dp": "UNDECIDED (not tested)"}
        assert made.rows[0]["mechanism"] == server.url
        assert {request["n_draws"] for request in server.requests} <= set(range(1, 101))
        assert 1 < server.most_open <= 4
        asked = server.count
        assert verify.certify(tmp_path / "d.toml", jobs=3).rows == made.rows  # it answers as before, in one process
        assert (server.count, server.most_open <= 4) == (2 * asked, True)


def test_nobody_answers(tmp_path: Path, capsys: Captured, at_once: None) -> None:
    with FakeServer() as server:
        pass
    path = lay_out(tmp_path, url=server.url)
    assert invoke(["certify", str(path), "--out", str(tmp_path / "out")]) == 3
    assert "UNDECIDED (not tested)" in capsys.readouterr().out


def test_what_is_published_does_not_say_that_nobody_answers_for_the_private_records(
    tmp_path: Path, capsys: Captured, at_once: None
) -> None:
    """A response of the file is poison, or one of no data set: the curator's reasons differ, what is published not."""
    published, curators = [], []
    with FakeServer(scale=9.0, fault="503") as server:
        for poison in (0.125, 0.0625):
            server.change(poison=poison)
            folder = tmp_path / str(poison)
            path = lay_out(folder, url=server.url)
            (folder / "data.csv").write_text("a,y\n0.5,0.125\n-0.5,0.25\n", encoding="utf-8")
            text = path.read_text(encoding="utf-8").replace("max_draws = 400\n", "")
            path.write_text(text + dp(2.0), encoding="utf-8")
            code = certified(path, folder / "out")
            printed = capsys.readouterr()
            published.append((code, printed.out.replace(str(folder), ""), printed.err))
            published[-1] += ((folder / "out" / "release" / "audit.jsonl").read_bytes().partition(b"\n")[2],)
            rows = parse_rows((folder / "out" / "curator" / "audit.jsonl").read_bytes())
            curators.append(["HTTP 503" in row["reason"] for row in rows if row["kind"] == "claim"])
    assert published[0] == published[1]
    assert curators == [[True, True], [False, False]]


@pytest.mark.parametrize("fault", ["error", "text", "500"])
def test_what_are_no_numbers_leaves_a_claim_about_them_open(fault: str, tmp_path: Path) -> None:
    """Of a claim on private records, whatever the service answers there stays inside the claim."""
    with FakeServer(poison=0.5, fault=fault) as server:
        path = lay_out(tmp_path, url=server.url)
        useful = claim("utility", metric="mean squared error", at_most=0.5)
        text = path.read_text(encoding="utf-8").replace(dp(1.0), useful)
        path.write_text(text, encoding="utf-8")
        assert verify.certify(path).words == {"utility": "UNDECIDED (not tested)"}
        path.write_text(text.replace("[mechanism]", "public = true\n[mechanism]"), encoding="utf-8")
        with pytest.raises(UserError, match=r"^draw must return numbers, got [A-Za-z]+$"):
            verify.certify(path)
