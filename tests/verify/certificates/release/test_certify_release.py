"""What may leave the building: nothing about the private records or the curator's claims, and counted in the chain."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.calls import unrendered
from toys import deployments
from toys.deployments import DATA, DRAWN, QUICK, REPORT, SCALES, claim, dp, mechanism, pdp, section, write_rows
from toys.forgery import CONFIGURATION, attest_again, certify, lay_out, release_folder

import verify
from audits import Budget, StreamKey
from audits.black_box.black_box_audit import black_box_audit
from audits.black_box.black_box_results import BlackBoxClaim, BlackBoxOutcome
from mechanisms import Dataset, LogisticLoss, NeighbouringPair, ObjectivePerturbation, Relation, make_report
from mechanisms.releases import ReportScales
from reports import render_markdown
from reports.row import Audience
from verify.certificates import certificate as certificate_module
from verify.certificates.certificate import Certificate, decide, record_rows
from verify.certificates.certificate_pages import document
from verify.certificates.claims.finding import Deployment
from verify.certificates.config.config import Loaded, load, parse
from verify.certificates.folder.attestation import sha256
from verify.certificates.release import releases
from verify.certificates.release.published import my_loss
from verify.cli import invoke
from verify.messages.errors import UserError

Captured = pytest.CaptureFixture[str]

OBJECTIVE = deployments.CLIPPED + deployments.OBJECTIVE + DRAWN + REPORT + SCALES + QUICK
OBJECTIVE += dp(4.0, 1e-5) + claim("report-coverage", level=0.05) + pdp(1.0) + claim("ex-post", epsilon=0.02)
OBJECTIVE += claim("utility", metric="accuracy", at_least=0.5)
SSP = deployments.CLIPPED + deployments.SSP + DRAWN + QUICK + dp(1.0) + pdp(0.02) + claim("ex-post", epsilon=0.05)


def release_numbers(certificate: Certificate, loaded: Loaded) -> list[float]:
    """Return every number of the release record, in order: what a black-box audit of the whole pipeline watches."""
    numbers: list[float] = []

    def collect(value: Any) -> None:
        if isinstance(value, int | float):
            numbers.append(float(value))
        elif isinstance(value, dict):
            for each in value.values():
                collect(each)
        elif isinstance(value, list):
            for each in value:
                collect(each)

    for row in record_rows(certificate, Audience.RELEASE, loaded):
        collect({key: each for key, each in row.items() if key != "versions"})
    return numbers


def records(n: int) -> np.ndarray:
    index = np.arange(n)
    X = np.column_stack([0.5 * np.sin(index), 0.5 * np.cos(2.5 * index)])
    return np.column_stack([X, np.where(np.sin(1.7 * index) > 0, 1.0, -1.0)])


def run_release(folder: Path, rows: np.ndarray, text: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Any:
    """Return everything that the public sees: each file's bytes, standard output and error, the exit code."""
    folder.mkdir()
    write_rows(folder, rows)
    (folder / "deployment.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    code = invoke(["certify", "deployment.toml", "--audience", "release", "--out", "out"])
    printed = capsys.readouterr()
    files = {path.name: path.read_bytes() for path in sorted((folder / "out" / "release").iterdir())}
    return code, printed.out, printed.err, files


def constant_releases(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Replace the accounted releases by constants that come from no data."""
    config = parse(text)
    mechanism = config.mechanism.build(2)
    fixed = Dataset(records(5)[:, :2], records(5)[:, 2], 1.0, 1.0)
    output = mechanism.draw(fixed, 1, rng=np.random.default_rng(7))[0]

    def report_of(output: Any, dataset: Any, scales: ReportScales, **_: Any) -> Any:
        return make_report(output, fixed, scales, rng=np.random.default_rng(8))

    monkeypatch.setattr(releases, "draw_as_audited", lambda *_: output)
    monkeypatch.setattr(releases, "make_report", report_of)


def neighbours(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> list[Any]:
    constant_releases(monkeypatch, text)
    far = np.array([[0.9, -0.4, -1.0]])
    data = {"one": records(25), "two": records(26), "far": np.vstack([records(24), far])}
    return [run_release(tmp_path / name, rows, text, monkeypatch, capsys) for name, rows in data.items()]


@pytest.mark.parametrize("text", [SSP, pytest.param(OBJECTIVE, marks=pytest.mark.slow)], ids=["ssp", "objective"])
def test_neighbouring_private_data_give_the_same_bytes(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    first, *others = neighbours(tmp_path, text, monkeypatch, capsys)
    code, out, err, files = first
    assert code == 0
    assert err == ""
    assert "data.csv" not in out
    assert {"audit.jsonl", "audit.pdf", "audit.md", "junit.xml", "attestation.json"} <= set(files)
    for other in others:
        assert other == first
    everything = b"".join(files[name] for name in files if name != "audit.pdf").decode()
    for word in ('"n_records":2', "n_draws", "data.csv", "quantile_90", "per-instance (", "seconds"):
        assert word not in everything


@pytest.mark.quick
def test_a_planted_curators_number_is_seen_in_the_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    plant(monkeypatch)
    with unrendered():  # the record shows it
        first, second, far = neighbours(tmp_path, SSP, monkeypatch, capsys)
    assert first[3]["audit.jsonl"] != second[3]["audit.jsonl"]
    assert first[3]["audit.jsonl"] != far[3]["audit.jsonl"]


def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one number of the curator, the mean of the responses, slip into the header of the release record."""
    honest = certificate_module._header

    def leaking(certificate: Any, audience: Any, loaded: Any) -> Any:
        row = honest(certificate, audience, loaded)
        return row | {"mean_response": float(certificate.deployment.dataset.y.mean())}

    monkeypatch.setattr(certificate_module, "_header", leaking)


def test_the_curator_sees_what_the_public_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    constant_releases(monkeypatch, SSP)
    run_release(tmp_path / "one", records(25), SSP, monkeypatch, capsys)
    curator = (tmp_path / "one" / "out" / "curator" / "audit.jsonl").read_text()
    rows = [json.loads(line) for line in curator.splitlines()]
    assert rows[0]["exit_code"] == 1  # the per-instance claim is false, and only the curator is told
    assert rows[0]["data"]["n_records"] == 25
    assert {row["claim"] for row in rows if row["kind"] == "claim"} == {"dp", "pdp-records", "ex-post"}


@dataclass(frozen=True)
class Pipeline:
    """The whole of ``certify --audience release`` as a mechanism: its outputs are the numbers of the release record."""

    loaded: Loaded
    name: str = "certify --audience release, every number of it"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> np.ndarray:
        config = self.loaded.config
        mechanism = config.mechanism.build(dataset.dim)
        outputs = mechanism.draw(dataset, n_draws, rng=rng)
        rows = []
        for output in outputs:
            deployment = Deployment(config, dataset, mechanism, released=output, draws=8)
            rows.append(release_numbers(decide(deployment), self.loaded))
        return np.array(rows)


#: Runs of the pipeline that the black-box audit makes, half of them on each data set.
PIPELINE_RUNS = 300
LIGHT = SSP[: SSP.index('[[claims]]\ntype = "pdp"')]


@pytest.mark.slow
@pytest.mark.parametrize("leaks", [False, True])
def test_a_black_box_audit_of_the_pipelines_numbers(
    leaks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Null: the release record is (1, 1e-6)-DP, which is what it states; 300 runs, failure probability 1e-7.

    Mutant: the planted mean of the responses gives the record away, and the same audit of as many runs refutes the
    statement.
    """
    if leaks:
        plant(monkeypatch)
    (tmp_path / "deployment.toml").write_text(LIGHT)
    pipeline = Pipeline(load(tmp_path / "deployment.toml"))
    data = Dataset(records(20)[:, :2], records(20)[:, 2], 1.0, 1.0)
    pair = NeighbouringPair.add(data, [0.9, 0.1], 1.0)
    claim = BlackBoxClaim(1.0, 1e-6, (Relation.ADD,), source="its own cover")
    found = black_box_audit(pipeline, pair, claim, Budget(PIPELINE_RUNS, 1e-7, StreamKey(11, ("pipeline",))))
    assert found.n_draws == PIPELINE_RUNS
    assert (found.outcome is BlackBoxOutcome.REFUTED) is leaks
    if not leaks:
        assert found.epsilon.estimate.low <= 1.0


# --- releases: drawn once, written, reused ----------------------------------------------------------------------------


def prepared(folder: Path, text: str = OBJECTIVE, **more: Any) -> releases.Released:
    folder.mkdir(exist_ok=True)
    path = folder / "deployment.toml"
    path.write_text(text, encoding="utf-8")
    loaded = load(path)
    data = Dataset(records(12)[:, :2], records(12)[:, 2], 1.0, 1.0)
    return releases.prepare(loaded, loaded.config.mechanism.build(2), data, **more)


def test_a_release_is_drawn_once_and_reused(tmp_path: Path) -> None:
    first, second = prepared(tmp_path), prepared(tmp_path)
    np.testing.assert_array_equal(first.output, second.output)
    assert first.dependent == second.dependent
    assert (first.n_outputs, second.n_outputs) == (1, 1)
    assert first.mu_reports == second.mu_reports
    kept = tmp_path / "deployment.releases"
    assert sorted(path.name for path in kept.iterdir()) == [".lock", "output.json", "report.json", "spent.json"]
    assert kept.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept.iterdir())


def test_the_noise_of_a_release_comes_from_the_operating_system(tmp_path: Path) -> None:
    first, second = prepared(tmp_path / "a"), prepared(tmp_path / "b")
    assert (first.output != second.output).all()


def test_a_second_draw_adds_to_the_budget(tmp_path: Path) -> None:
    first = prepared(tmp_path)
    again = prepared(tmp_path, draw_again=True)
    assert (first.output != again.output).any()
    assert again.n_outputs == 2
    assert again.mu_report == pytest.approx(first.mu_report * np.sqrt(2))
    assert prepared(tmp_path).n_outputs == 2
    lost = tmp_path / "deployment.releases" / "report.json"
    lost.unlink()  # whoever has it may have used it: it is not drawn silently, and the next draw is the third
    with pytest.raises(UserError, match=r"deployment.releases/report.json must be there, for it was drawn, got no"):
        prepared(tmp_path)
    assert len(prepared(tmp_path, draw_again=True).mu_reports) == 3


def test_other_parameters_do_not_reuse_a_release_quietly(tmp_path: Path) -> None:
    prepared(tmp_path)
    with pytest.raises(UserError, match="--draw-again draws a second output and counts both"):
        prepared(tmp_path, OBJECTIVE.replace("sigma = 8.0", "sigma = 9.0"))
    with pytest.raises(UserError, match="--draw-again draws a second report"):
        prepared(tmp_path, OBJECTIVE.replace("sigma2 = 8.0", "sigma2 = 9.0"))
    with pytest.raises(UserError, match=r"report: lam must be at least 2\*sigma3\*tau"):
        prepared(tmp_path / "new", OBJECTIVE.replace("sigma3 = 0.25", "sigma3 = 2.5"))


def test_the_published_report_takes_raw_and_prepared_records(tmp_path: Path) -> None:
    from mechanisms.capabilities import Domain
    from verify.certificates.release.published import publishable

    text = OBJECTIVE.replace('rows = "clip"', 'rows = "clip"\nranges = { a = [0, 10], b = [-2, 2] }\nintercept = 1.0')
    config = parse(text.replace('target = "y"', 'target = "y"\nlabels = { yes = 1.0, no = -1.0 }'))
    mechanism = ObjectivePerturbation(LogisticLoss(), 8.0, 4.0)
    data = Dataset(np.column_stack([records(9)[:, :2], np.full(9, 0.5)]), records(9)[:, 2], 1.0, 1.0)
    theta = mechanism.draw(data, 1, rng=np.random.default_rng(1))[0]
    report = make_report(theta, data, ReportScales(LogisticLoss(), 8.0, 4.0, 0.01), rng=np.random.default_rng(2))
    published = publishable(report, config.data, Domain(3, 1.0, 1.0)).decode()
    assert "data.csv" not in published
    raw = my_loss(published, '{"a": 7.5, "b": -1, "y": "no"}')
    x = np.array([0.5, -0.5, 1.0]) / np.sqrt(3)
    prepared_record = json.dumps({"x": x.tolist(), "y": -1})
    assert raw.epsilon1_bar == pytest.approx(my_loss(published, prepared_record).epsilon1_bar, rel=1e-12)
    assert raw.epsilon1_bar == pytest.approx(report.evaluate(x, -1.0).epsilon1_bar, rel=1e-12)
    assert raw.failure_prob == 0.01


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
    rows = verify.certify("d.toml", audience="release").rows
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


@pytest.fixture
def origin(private_certificate: Path) -> Path:
    return private_certificate.parent


@pytest.fixture
def place(origin: Path) -> Path:
    """The release folder, put back afterwards by whoever takes it away."""
    return release_folder(origin / "d.toml")


def said(folder: Path, capsys: Captured) -> tuple[int, str]:
    capsys.readouterr()
    return invoke(["check", str(folder)]), capsys.readouterr().out


def test_an_output_that_the_release_folder_does_not_count_fails(origin: Path, place: Path, capsys: Captured) -> None:
    """Two runs at once each published an output once, for one draw in the list: one of them was not in it."""
    curator, spent = origin / "out" / "curator", place / "spent.json"
    honest = spent.read_bytes()
    entries = json.loads(honest)
    try:
        for changed in ([entries[0] | {"sha256": "0" * 64}, entries[1]], [entries[1]], [], entries[:1]):
            spent.write_text(json.dumps(changed))
            code, out = said(curator, capsys)
            assert (code, f"{spent} does not count" in out) == (1, True)
        for junk in ("{", '[{"what": "else"}]', "[5]", "[" * 100_000):
            spent.write_text(junk)
            code, out = said(curator, capsys)
            assert (code, "spent.json" in out) == (1, True)
        spent.write_text(json.dumps([*entries, entries[0]]))
        code, out = said(curator, capsys)
        assert (code, f"1 later draw in {place}" in out) == (0, True)
    finally:
        spent.write_bytes(honest)
    assert said(curator, capsys)[0] == 0


@pytest.mark.slow
def test_a_release_folder_that_is_not_there_is_a_note(origin: Path, place: Path, capsys: Captured) -> None:
    place.rename(origin / "moved")
    try:
        code, out = said(origin / "out" / "curator", capsys)
    finally:
        (origin / "moved").rename(place)
    assert (code, "the release folder is not at hand: its chain of draws was not compared" in out) == (0, True)


@pytest.mark.quick
def test_the_attestation_names_the_output_and_the_record_its_numbers(origin: Path, place: Path) -> None:
    attested = json.loads((origin / "out" / "curator" / "attestation.json").read_bytes())
    assert [each["name"] for each in attested["subject"]] == ["d.toml", "output.json", "model.onnx"]
    assert attested["subject"][1]["digest"]["sha256"] == sha256((place / "output.json").read_bytes())
    copied = json.loads((origin / "out" / "curator" / "releases.json").read_bytes())
    assert copied == json.loads((place / "spent.json").read_bytes())
    assert not (origin / "out" / "release" / "releases.json").exists()
    assert set(json.loads((origin / "out" / "release" / "run.json").read_bytes())) == {"schema_version", "date"}


@pytest.mark.slow
def test_a_second_draw_is_counted_in_its_own_certificate(tmp_path: Path, capsys: Captured) -> None:
    configuration = lay_out(tmp_path, CONFIGURATION.replace("epsilon = 4.0", "epsilon = 12.0"))
    assert certify(configuration, tmp_path / "one") == 0
    assert certify(configuration, tmp_path / "two", "--draw-again") == 0
    code, out = said(tmp_path / "two", capsys)
    assert (code, "later draw" in out) == (0, False)
    code, out = said(tmp_path / "one", capsys)
    assert (code, "2 later draws in" in out) == (0, True)
    for part in ("curator", "release"):  # the first record with the second output around it
        shutil.copy(tmp_path / "two" / part / "audit.jsonl", tmp_path / "one" / part / "audit.jsonl")
    assert said(tmp_path / "one", capsys)[0] == 1


@pytest.mark.slow
def test_a_second_draw_that_would_cost_more_than_the_claim_is_not_made(tmp_path: Path, capsys: Captured) -> None:
    configuration = lay_out(tmp_path)
    assert certify(configuration, tmp_path / "one") == 0
    assert certify(configuration, tmp_path / "two", "--draw-again") == 3
    code, out = said(tmp_path / "one", capsys)
    assert (code, "later draw" in out) == (0, False)


@pytest.mark.slow
def test_a_file_of_ones_own_is_released_without_a_chain(tmp_path: Path, capsys: Captured) -> None:
    text = CONFIGURATION.replace("draw = true", 'file = "theta.json"')
    text = text.replace("[report]\nrho = 0.01\nsigma2 = 8.0\nsigma3 = 0.25\n", "")
    configuration = lay_out(tmp_path, text)
    (tmp_path / "theta.json").write_text("[0.5, 0.25]")
    assert certify(configuration, tmp_path / "out") == 0
    assert said(tmp_path / "out", capsys)[0] == 0
    assert (tmp_path / "out" / "curator" / "releases.json").read_text() == "[]\n"
    (tmp_path / "theta.json").write_text("[0.5, 0.5]")
    code, out = said(tmp_path / "out" / "curator", capsys)
    assert (code, "release.file is not at hand as it was: its numbers were not compared" in out) == (0, True)
    folder, digest = tmp_path / "out" / "curator", sha256((tmp_path / "theta.json").read_bytes())
    attested = json.loads((folder / "attestation.json").read_bytes())
    attested["predicate"]["configuration"][-2]["digest"]["sha256"] = digest
    attest_again(folder, attested=json.dumps(attested).encode())
    code, out = said(folder, capsys)
    assert (code, "audit.jsonl holds other numbers than the output that was attested" in out) == (1, True)
