"""What a curator claims about the private records is not published: no name, no number, not how many there are.

A curator may tune a threshold, or whether to make a claim at all, on what she saw of the records. Two configurations
that differ in private claims alone give the same release; what is declared public is published, never its verdict.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from toys.deployments import DATA, QUICK, dp, mechanism, section, write_rows

from reports import render_markdown
from verify import certify
from verify.certificates.certificate_pages import document
from verify.certificates.config.config import parse
from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
DP = dp(1.0)
PRIVATE = """
[[claims]]
type = "pdp"
name = "clinic records"
scope = "records"
epsilon = 0.0625
delta = 1.5e-7
{public}
[[claims]]
type = "ex-post"
name = "no one above"
epsilon = 0.140625
{public}
[[claims]]
type = "utility"
name = "good enough"
metric = "mean squared error"
at_most = 0.790527
{public}
"""
#: Every word and number of the claims above, as a record would print it.
SECRETS = ("clinic records", "0.0625", "1.5e-07", "1.5e-7", "no one above", "0.140625", "good enough", "0.790527")


def base(sigma: float = 8.0) -> str:
    """Return everything but the claims."""
    ssp = mechanism("ssp", sigma_gram=sigma, sigma_moment=sigma, lam=1.0)
    return DATA + ssp + section("[release]", file="theta.json") + QUICK


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    index = np.arange(12)
    rows = np.column_stack([0.5 * np.sin(index), 0.5 * np.cos(2.5 * index), np.sin(1.7 * index)])
    write_rows(tmp_path, rows)
    (tmp_path / "theta.json").write_text("[0.5, 0.25, 1.0, 0.1, 0.2]")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    return tmp_path


def seen(work: Path, claims: str, capsys: Captured, *more: str, sigma: float = 8.0) -> tuple[object, ...]:
    """Return all that the public sees of a certificate: exit code, both streams, and the files of the release."""
    (work / "d.toml").write_text(base(sigma) + claims, encoding="utf-8")
    code = invoke(["certify", "d.toml", "--audience", "release", "--out", "out", "--overwrite", *more])
    printed = capsys.readouterr()
    folder = work / "out" / "release"
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.is_dir() else {}
    return code, printed.out, printed.err, files


def test_private_claims_leave_no_trace_in_what_is_published(work: Path, capsys: Captured) -> None:
    """The release is the same with and without private claims; the curator's record keeps every one of them."""
    without = seen(work, DP, capsys)
    assert seen(work, PRIVATE.format(public="") + DP, capsys) == without
    text = (work / "out" / "curator" / "audit.jsonl").read_text(encoding="utf-8")
    named = [claim["name"] for claim in json.loads(text.splitlines()[0])["configuration"]["claims"]]
    assert named == ["clinic records", "no one above", "good enough", "dp"]
    assert all(word in text for word in ("0.0625", "0.140625", "0.790527"))
    _, out, err, files = without
    assert isinstance(files, dict)
    everything = b"\n".join([str(out).encode(), str(err).encode(), *files.values()])
    assert [word for word in SECRETS if word.encode() in everything] == []
    assert "the private records themselves is the curator's" in files["audit.md"].decode()


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_any_private_claims_leave_no_trace(more: tuple[str, ...], work: Path, capsys: Captured) -> None:
    """The same whichever they are, in whatever order, and for a dry run."""
    without = seen(work, DP, capsys, *more)
    private = PRIVATE.format(public="")
    for claims in (DP + private, DP + private.replace("0.140625", "0.5"), DP + private + private, private + DP):
        assert seen(work, claims, capsys, *more) == without
    assert seen(work, DP + DP.replace("1.0", "2.0"), capsys, *more) != without  # a claim about everyone is public


@pytest.mark.quick
def test_what_is_declared_public_is_published_without_its_verdict(work: Path) -> None:
    (work / "d.toml").write_text(base() + DP + PRIVATE.format(public="public = true"), encoding="utf-8")
    rows = certify("d.toml", audience="release").rows
    assert rows[0]["not_shown"] == ["clinic records", "good enough", "no one above"]
    assert [claim["type"] for claim in rows[0]["configuration"]["claims"]] == ["dp", "pdp", "ex-post", "utility"]
    assert [row["claim"] for row in rows if row["kind"] == "claim"] == ["dp"]
    page = render_markdown(document(rows, digest="", date="", record=b""))
    assert "Declared public are the claims, not their verdicts: clinic records, good enough, no one above" in page
    for words in ("at the released output no record's", "is per-instance (", "have mean squared error"):
        assert words not in page + json.dumps(rows)


def test_a_private_claim_takes_no_public_claims_name() -> None:
    """Whatever private claims are called, public ones keep their names, and no two claims share one."""
    private = '[[claims]]\ntype = "pdp"\nname = "{}"\nscope = "records"\nepsilon = 1.0\ndelta = 1e-6\n'
    claims = private.format("dp") + DP + private.format("dp-2") + DP + private.format("dp-2")
    found = parse(base() + claims).claims
    assert [claim.name for claim in found] == ["dp-3", "dp", "dp-2-2", "dp-2", "dp-2-3"]
    assert [claim.name for claim in found if claim.is_public] == ["dp", "dp-2"]


def test_the_failure_probability_is_spent_once() -> None:
    """Public claims share one half, the others the other half; on public data all share the whole."""
    from mechanisms import Dataset
    from verify.certificates.claims.finding import Deployment

    config = parse(base() + DP + DP + PRIVATE.format(public=""))
    data = Dataset(np.zeros((2, 2)), np.zeros(2), 1.0, 1.0)
    deployment = Deployment(config, data, config.mechanism.build(2))
    shares = [deployment.budget(str(claim.name), "all").failure_prob for claim in config.claims]
    assert shares == pytest.approx([2.5e-5, 2.5e-5, *[5e-5 / 3] * 3])
    assert sum(shares) <= config.budget.failure_prob * (1 + 1e-12)
    alone = parse(base() + DP + DP)
    same = Deployment(alone, data, alone.mechanism.build(2)).budget("dp", "all")
    assert same.failure_prob == shares[0]


@pytest.mark.parametrize("sigma", [0.25, pytest.param(8.0, marks=pytest.mark.slow)])
def test_the_terminal_tells_the_way_out_of_a_fail(sigma: float, work: Path, capsys: Captured) -> None:
    code, out, _, _ = seen(work, DP, capsys, sigma=sigma)
    lines = str(out).splitlines()
    assert lines[0].startswith("dp  ")
    advice = "The least sigma_gram and sigma_moment that this suite can prove, moved together, are "
    assert code == (1 if sigma == 0.25 else 0)
    assert lines[1].strip().startswith(advice) is (code == 1)
