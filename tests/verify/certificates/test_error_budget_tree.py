"""The parts of the failure probability add up, whatever is certified; the record says what each was spent on."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from toys.deployments import (
    DATA,
    DRAWN,
    MOMENT,
    OBJECTIVE,
    QUICK,
    REPORT,
    SCALES,
    SSP,
    claim,
    dp,
    imported,
    mechanism,
    pdp,
    section,
    write_labelled,
)

from reports.row import Audience
from verify.certificates.certificate import Certificate
from verify.certificates.certify_call import Certification, certify
from verify.cli import invoke

TRAINING = mechanism(
    "dp-sgd",
    loss="squared",
    n_steps=10,
    rate=0.1,
    sigma=0.5,
    clip=0.25,
    step_size=0.5,
    normaliser=2.5,
    radius=0.6,
)
FILTERED = TRAINING.replace('"dp-sgd"', '"filtered-dp-sgd"') + 'filter = "renyi"\norder = 8\nbudget = 0.5\n'
STATED = MOMENT.replace(
    "def make",
    """    def log_density(self, outputs, dataset):
        squares = ((outputs - dataset.X.T @ dataset.y) ** 2).sum(axis=1)
        return -squares / 128 - dataset.dim * np.log(8 * np.sqrt(2 * np.pi))
def make""",
)
SMALL = section("[budget]", profile="quick", jobs=1, pairs=2, draws=400)
ONE, THREE = dp(1.0), dp(1.0) + dp(2.0) + pdp(1.0)
SEVEN = THREE + dp(3.0) + pdp(2.0) + dp(4.0) + pdp(3.0)
COVERAGE = claim("report-coverage", level=0.2)
CASES = {
    "one claim": SSP + ONE + QUICK,
    "three claims": SSP + THREE + QUICK,
    "seven claims": SSP + SEVEN + QUICK,
    "imported": imported("mine.py:make") + THREE + SMALL,
    "dp-sgd": TRAINING + THREE + QUICK + "draws = 50\n",
    "filter": FILTERED
    + section("[[claims]]", type="filter", kind="renyi", order=8, budget=0.5, delta=1e-6)
    + dp(4.0)
    + QUICK,
    "report": OBJECTIVE + DRAWN + REPORT + SCALES + COVERAGE + dp(4.0, 1e-5) + QUICK,
}


def certified(folder: Path, text: str, *, public: bool, audience: str) -> Certification:
    write_labelled(folder)
    (folder / "mine.py").write_text(STATED, encoding="utf-8")
    data = DATA + ("public = true\n" if public else "")
    (folder / "d.toml").write_text(data + text, encoding="utf-8")
    return certify(folder / "d.toml", audience=audience)


def check_tree(certificate: Certificate) -> None:
    """Every part's parts add up to it at most, all leaves and all claims to the whole."""
    parts = {part.place: part for part in certificate.deployment.ledger.tree()}
    whole, private = certificate.deployment.config.budget.failure_prob, certificate.deployment.private
    for part in parts.values():
        assert math.fsum(parts[*part.place, name].alpha for name in part.parts) <= part.alpha * (1 + 1e-12)
    assert math.fsum(part.alpha for part in parts.values() if not part.parts) <= whole * (1 + 1e-12)
    kinds = {claim.is_public or not private for claim in certificate.deployment.config.claims}
    claims = math.fsum(part.alpha for part in parts.values() if len(part.place) == 1)
    assert claims == pytest.approx(whole * (len(kinds) / 2 if private else 1), rel=1e-12)


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == "dp-sgd" else n for n in CASES])
def test_the_parts_add_up(name: str, public: bool, tmp_path: Path) -> None:
    found = certified(tmp_path, CASES[name], public=public, audience="release" if public else "curator")
    check_tree(found.certificate)
    row = found.rows[-1]
    assert row["kind"] == "budget"
    assert math.fsum(leaf["alpha"] for leaf in row["leaves"]) <= row["failure_prob"] * (1 + 1e-12)
    sampled = [row for row in found.rows if row["kind"] == "check" and row["sampled"]]
    assert any(leaf["spent"] for leaf in row["leaves"]) == bool(sampled)
    shown = {part.place[0] for part in found.certificate.spending(Audience.RELEASE) if part.place}
    assert shown == {finding.name for finding in found.certificate.visible(Audience.RELEASE)}
    if not public:
        assert not any(part.private for part in found.certificate.spending(Audience.RELEASE))


def test_a_dry_run_prints_the_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certified(tmp_path, SSP + ONE + pdp(1.0) + QUICK, public=False, audience="curator")
    capsys.readouterr()
    for audience, shown in (("curator", True), ("release", False)):
        assert invoke(["certify", str(tmp_path / "d.toml"), "--dry-run", "--audience", audience]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert any(line.startswith("failure probability") for line in lines)
        assert any("pdp-records" in line for line in lines) == shown
