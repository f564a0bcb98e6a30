"""The folder of a certificate about a command or a service: what it is about, by digest, and no secret."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from oracles.doors import fake_command, noisy_sum
from oracles.doors.fake_server import FakeServer
from toys.deployments import ARTEFACT, claim, dp, section
from toys.forgery import attest_again, certify

import verify
from audits.doors import open_door
from verify.certificates.folder.check_folder import check_folder
from verify.certificates.folder.output import parse_rows
from verify.cli import invoke
from verify.messages.errors import UserError

Captured = pytest.CaptureFixture[str]

DATA = section("[data]", file="data.csv", features=["a"], target="y", x_bound=1.0, y_bound=1.0)
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
    text = DATA + section("[mechanism]", **mechanism) + ARTEFACT + BUDGET + dp(1.0)
    (folder / "d.toml").write_text(text, encoding="utf-8")
    return folder / "d.toml"


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("origin")
    assert certify(lay_out(folder, command=COMMAND, version="3.1", views=["mine.py:plain"]), folder / "out") == 3
    return folder


@pytest.fixture
def work(origin: Path, tmp_path: Path) -> Path:
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


def test_it_is_checked_at_another_place_without_the_files(work: Path) -> None:
    (work / "fake_command.py").unlink()
    for part in ("curator", "release"):
        assert check_folder(work / "out" / part, render=False).wrong == []


def test_it_is_finished_until_a_file_of_the_command_is_another_one(work: Path, capsys: Captured) -> None:
    again = (work / "d.toml", work / "out")
    assert certify(*again) == 3
    assert "finished before" in capsys.readouterr().out
    with (work / "fake_command.py").open("a") as file:
        file.write("# another one\n")
    assert certify(*again) == 2
    assert "a finished certificate that differs in fake_command.py" in capsys.readouterr().err
    (work / "fake_command.py").unlink()
    assert certify(*again) == 2
    assert f"a finished certificate that differs in {LABEL}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["fake_command.py", LABEL])
def test_a_careless_forger_of_a_digest_is_found_out(name: str, work: Path) -> None:
    curator = work / "out" / "curator"
    attested = (curator / "attestation.json").read_bytes()
    attest_again(curator, attested=attested.replace(subjects(curator)[name].encode(), b"0" * 64))
    assert "another mechanism than" in " ".join(check_folder(curator, render=False).wrong)


def test_a_token_is_sent_and_stands_nowhere(tmp_path: Path, capsys: Captured) -> None:
    with FakeServer(scale=9.0) as server:
        path = lay_out(tmp_path, url=f"{server.url}?token=s31337", version="2")
        assert certify(path, tmp_path / "out") == 3
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
        assert made.words == {"dp": "UNDECIDED (examined)"} or made.words == {"dp": "UNDECIDED (not examined)"}
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
    assert "UNDECIDED (not examined)" in capsys.readouterr().out


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
            code = certify(path, folder / "out")
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
        assert verify.certify(path).words == {"utility": "UNDECIDED (not examined)"}
        path.write_text(text.replace("[mechanism]", "public = true\n[mechanism]"), encoding="utf-8")
        with pytest.raises(UserError, match=r"^draw must return numbers, got [A-Za-z]+$"):
            verify.certify(path)
