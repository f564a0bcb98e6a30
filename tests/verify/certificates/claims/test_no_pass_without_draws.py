"""A PASS of an imported mechanism without draws on both sides is impossible: by its type, and at every door."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from audits.examination.examined import Demand, DrawnPair, Enough
from audits.verdict import CheckRole, Decision, Ground, Ruling
from mechanisms import Dataset, NeighbouringPair
from verify import certify
from verify.certificates.claims.finding import Examined, Finding
from verify.certificates.config.own_code import Vouched
from verify.plugin.pytest_audit import AuditFailure, Auditor

MECHANISM = '''
import numpy as np
from mechanisms import GaussianProfile


class Stated:
    """Says the best of itself; what it draws is up to its children."""

    name = "stated"

    def log_density(self, outputs, dataset):
        return np.zeros(len(outputs))

    def privacy_loss(self, outputs, pair):
        return np.zeros(len(outputs))

    def profile(self, pair):
        return GaussianProfile(1e-3)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(1e-3)


class Raises(Stated):
    def draw(self, dataset, n_draws, *, rng):
        raise ValueError("no")


class Singular(Stated):
    def draw(self, dataset, n_draws, *, rng):
        raise np.linalg.LinAlgError("singular")


class Writes(Stated):
    def draw(self, dataset, n_draws, *, rng):
        dataset.X.setflags(write=False)
        dataset.X[:] = 0.0
        return rng.standard_normal((n_draws, 1))


class Nothing(Stated):
    def draw(self, dataset, n_draws, *, rng):
        return []
'''
CONFIGURATION = """
[data]
file = "data.csv"
features = ["a"]
target = "y"
x_bound = 1.0
y_bound = 1.0

[mechanism]
import = "mine.py:{name}"
vouched_by = {{ who = "its author", proof = "10.1000/182" }}
{claims}
[budget]
profile = "quick"
pairs = 2
draws = 500
"""
CLAIMS = {
    "point": 'type = "dp"\nepsilon = 1.0\ndelta = 1e-6',
    "replaced": 'type = "dp"\nepsilon = 1.0\ndelta = 1e-6\nrelation = "replace"',
    "group": 'type = "dp"\nepsilon = 1.0\ndelta = 1e-6\ngroup = 2',
    "gaussian": 'type = "dp"\nprofile = "gaussian-dp"\nmu = 1.0',
    "zcdp": 'type = "dp"\nprofile = "zcdp"\nrho = 0.5',
    "renyi": 'type = "dp"\nprofile = "renyi"\nalpha = 2.0\nepsilon = 0.5',
    "table": 'type = "dp"\nprofile = "table"\npoints = [[0.5, 1e-3], [1.0, 1e-6]]',
    "records": 'type = "pdp"\nepsilon = 1.0\ndelta = 1e-6\nscope = "records"',
    "everyone": 'type = "pdp"\nepsilon = 1.0\ndelta = 1e-6\nscope = "everyone"',
    "target": 'type = "pdp"\nepsilon = 1.0\ndelta = 1e-6\nscope = "target"\nx = [0.5]\ny = 0.5',
}
ENOUGH = Enough(Demand(1, 10), (DrawnPair("a", 10, 10),), 0.5)
VOUCHED = Vouched("its author", "10.1000/182")


@pytest.mark.parametrize("name", ["Raises", "Singular", "Writes", pytest.param("Nothing", marks=pytest.mark.slow)])
def test_no_claim_passes_where_nothing_could_be_drawn(name: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MECHANISM, encoding="utf-8")
    np.savetxt(tmp_path / "data.csv", [[0.1, 0.2], [0.3, -0.4], [-0.5, 0.6]], delimiter=",", header="a,y", comments="")
    claims = "".join(f'\n[[claims]]\nname = "{key}"\n{text}\n' for key, text in CLAIMS.items())
    (tmp_path / "c.toml").write_text(CONFIGURATION.format(name=name, claims=claims), encoding="utf-8")
    found = certify(tmp_path / "c.toml")
    assert set(found.words) == set(CLAIMS)
    assert set(found.words.values()) <= {"UNDECIDED (not examined)", "UNDECIDED (examined)", "FAIL"}
    if name in ("Raises", "Singular"):
        assert set(found.words.values()) == {"UNDECIDED (not examined)"}
    for row in found.rows:
        if row["kind"] == "claim" and row["verdict"] == "UNDECIDED":
            assert row["reason"], "what was not examined is said"


def test_the_fixture_does_not_hold_where_nothing_could_be_drawn() -> None:
    space: dict[str, type] = {}
    exec(MECHANISM, space)  # the module that certify loads by path
    pair = NeighbouringPair.remove(Dataset(np.ones((2, 1)), np.ones(2), 1.0, 1.0, public=True), 0)
    for name in ("Raises", "Singular"):
        for expect in ("holds", "not refuted"):
            auditor = Auditor("test", "", 1, 20_000, 1e-4)
            with pytest.raises(AuditFailure, match=r"undecided|fails"):
                auditor(space[name](), pair, (1.0, 1e-6), expect=expect, vouched_by={"who": "me", "proof": "10.1000/1"})


def test_a_ruling_cannot_be_a_pass_without_its_grounds() -> None:
    assert Ruling(Decision.PASS, Ground.VOUCHED, "x", enough=ENOUGH).words == "PASS (vouched)"
    for decision, ground, enough in (
        (Decision.PASS, Ground.VOUCHED, None),
        (Decision.PASS, Ground.EXAMINED, None),
        (Decision.PASS, Ground.NONE, None),
        (Decision.PASS, Ground.PROVED, ENOUGH),
        (Decision.UNDECIDED, Ground.VOUCHED, ENOUGH),
        (Decision.FAIL, Ground.VOUCHED, ENOUGH),
    ):
        with pytest.raises(ValueError, match="PASS"):
            Ruling(decision, ground, "x", enough=enough)


@pytest.mark.parametrize("kind", ["dp", "pdp", "ex-post"])
def test_a_finding_about_an_imported_mechanism_never_rests_on_nothing(kind: str) -> None:
    """Whatever is left out - the examination, its draws, the word - it is no PASS."""
    from audits import Estimate
    from verify.certificates.claims.finding import Check
    from verify.kernel.statement import Claim, Evidence

    holds = Evidence(Claim("delta", 0.0, 1.0, 1.0), Estimate.proved(0.0, 0.0, "stated"))
    check = Check("stated worst case", CheckRole.DECIDES, holds, False)

    def finding(examined: Examined | None, word: Vouched | None) -> Finding:
        return Finding("c", kind, "s", "all", False, (check,), imported=True, examined=examined, vouched=word)

    assert finding(Examined(ENOUGH, "", {}), VOUCHED).verdict.words == "PASS (vouched)"
    assert finding(Examined(ENOUGH, "", {}), None).verdict.words == "UNDECIDED (examined)"
    assert finding(Examined(None, "", {}), VOUCHED).verdict.words == "UNDECIDED (not examined)"
    assert finding(Examined(None, "too few", {}), VOUCHED).verdict.words == "UNDECIDED (not examined)"
    assert finding(None, VOUCHED).verdict.words == "UNDECIDED (not examined)"
