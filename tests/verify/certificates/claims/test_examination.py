"""Mechanisms of the user's own: no PASS without draws on both sides, draws as examined, bets on one pair."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toys.deployments import DATA, QUICK, claim, dp, imported, section, write_labelled, write_uniform

from audits.examination.examined import Demand, DrawnPair, Enough
from audits.verdict import CheckRole, Decision, Ground, Ruling
from mechanisms import Dataset, GaussianProfile, NeighbouringPair
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from verify import certify
from verify.certificates.certificate import FINDINGS, read_deployment
from verify.certificates.claims.finding import Examined, Finding
from verify.certificates.config.config import load, parse
from verify.certificates.config.mechanism_source import Imported
from verify.certificates.config.own_code import Vouched
from verify.certificates.release.releases import audited_block, draw_as_audited
from verify.cli import invoke
from verify.messages.errors import UserError
from verify.plugin.pytest_audit import AuditFailure, Auditor

MINE = """
import math
import numpy as np
from scipy.special import ndtr
class Own:
    def __init__(self, mu):
        self.mu = mu
    def delta_at(self, epsilon):
        return {delta}
class Mine:
    name = "mine"
    def draw(self, dataset, n_draws, *, rng):
        return dataset.X.T @ dataset.y + 8.0 * rng.standard_normal((n_draws, dataset.dim))
    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - dataset.X.T @ dataset.y) / 8.0).sum(axis=1)
    def worst_profile(self, x_bound, y_bound):
        return Own(x_bound * y_bound / 8.0)
"""
RIGHT = "ndtr(self.mu / 2 - epsilon / self.mu) - math.exp(epsilon) * ndtr(-self.mu / 2 - epsilon / self.mu)"
VOUCHED = """[mechanism]
import = "mine.py:Mine"
vouched_by = { who = "we", proof = "https://doi.org/10.1561/0400000042" }
"""


def found(folder: Path, delta: str, asked: str, pairs: int = 2) -> Finding:
    write_labelled(folder)
    (folder / "mine.py").write_text(MINE.replace("{delta}", delta), encoding="utf-8")
    (folder / "d.toml").write_text(
        DATA + VOUCHED + asked + QUICK + f"pairs = {pairs}\ndraws = 2000\n", encoding="utf-8"
    )
    deployment = read_deployment(load(folder / "d.toml"), jobs=1)[0]
    claim = deployment.config.claims[0]
    return FINDINGS[type(claim)](deployment, claim)


def test_a_tight_claim_passes_on_delta_at_alone(tmp_path: Path) -> None:
    """The claimed delta is the stated one to all digits."""
    tight = GaussianProfile(1 / 8).delta_at(0.1)
    verdict = found(tmp_path, RIGHT, dp(0.1, delta=tight), pairs=8).verdict
    assert (verdict.decision, verdict.ground) == (Decision.PASS, Ground.ATTESTED), verdict.why


def test_a_claim_below_it_stays_open_and_the_numbers_are_told_apart(tmp_path: Path) -> None:
    below = GaussianProfile(1 / 8).delta_at(0.1) * (1 - 1e-6)
    verdict = found(tmp_path, RIGHT, dp(0.1, delta=below), pairs=8).verdict
    assert verdict.decision is Decision.UNDECIDED
    assert "at most 0.01577811, and at most 0.01577809 is claimed" in verdict.why


@pytest.mark.parametrize(("delta", "got"), [("-0.1", "got -0.1"), ("math.nan", "got nan"), ("1 / 0", "it raised")])
def test_what_is_no_number_is_said_in_the_reason(tmp_path: Path, delta: str, got: str) -> None:
    verdict = found(tmp_path, delta, dp(1.0)).verdict
    assert verdict.decision is Decision.UNDECIDED
    assert "delta_at(0) of what worst_profile returns must be a number in [0, 1], " + got in verdict.why


@pytest.mark.quick
def test_a_curve_that_single_epsilons_do_not_tell(tmp_path: Path) -> None:
    verdict = found(tmp_path, RIGHT, claim("dp", profile="gaussian-dp", mu=0.2)).verdict
    assert verdict.decision is Decision.UNDECIDED
    assert "delta at single epsilons does not tell" in verdict.why


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
ONE_FEATURE = section("[data]", file="data.csv", features=["a"], target="y", x_bound=1.0, y_bound=1.0)
WORD = 'vouched_by = { who = "its author", proof = "10.1000/182" }\n'
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
VOUCHED_NO_PASS_WITHOUT_DRAWS = Vouched("its author", "10.1000/182")


@pytest.mark.parametrize("name", ["Raises", "Singular", "Writes", pytest.param("Nothing", marks=pytest.mark.slow)])
def test_no_claim_passes_where_nothing_could_be_drawn(name: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MECHANISM, encoding="utf-8")
    np.savetxt(tmp_path / "data.csv", [[0.1, 0.2], [0.3, -0.4], [-0.5, 0.6]], delimiter=",", header="a,y", comments="")
    claims = "".join(f'\n[[claims]]\nname = "{key}"\n{text}\n' for key, text in CLAIMS.items())
    text = (
        ONE_FEATURE
        + imported(f"mine.py:{name}")
        + WORD
        + claims
        + section("[budget]", profile="quick", pairs=2, draws=500)
    )
    (tmp_path / "c.toml").write_text(text, encoding="utf-8")
    found = certify(tmp_path / "c.toml")
    assert set(found.words) == set(CLAIMS)
    assert set(found.words.values()) <= {"UNDECIDED (not tested)", "UNDECIDED (no violation found)", "FAIL"}
    if name in ("Raises", "Singular"):
        assert set(found.words.values()) == {"UNDECIDED (not tested)"}
    for row in found.rows:
        if row["kind"] == "claim" and row["verdict"] == "UNDECIDED":
            assert row["reason"], "what was not examined is said"


def test_the_fixture_does_not_hold_where_nothing_could_be_drawn() -> None:
    space: dict[str, type] = {}
    exec(MECHANISM, space)  # the module that certify loads by path
    pair = NeighbouringPair.remove(Dataset(np.ones((2, 1)), np.ones(2), 1.0, 1.0, public=True), 0)
    for name in ("Raises", "Singular"):
        for expect in ("pass", "no violation"):
            auditor = Auditor("test", "", 1, 20_000, 1e-4)
            with pytest.raises(AuditFailure, match=r"undecided|fails"):
                auditor(space[name](), pair, (1.0, 1e-6), expect=expect, vouched_by={"who": "me", "proof": "10.1000/1"})


def test_a_ruling_cannot_be_a_pass_without_its_grounds() -> None:
    assert Ruling(Decision.PASS, Ground.ATTESTED, "x", enough=ENOUGH).words == "PASS (attested)"
    for decision, ground, enough in (
        (Decision.PASS, Ground.ATTESTED, None),
        (Decision.PASS, Ground.NO_VIOLATION, None),
        (Decision.PASS, Ground.NONE, None),
        (Decision.PASS, Ground.PROVED, ENOUGH),
        (Decision.UNDECIDED, Ground.ATTESTED, ENOUGH),
        (Decision.FAIL, Ground.ATTESTED, ENOUGH),
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

    assert finding(Examined(ENOUGH, "", {}), VOUCHED_NO_PASS_WITHOUT_DRAWS).verdict.words == "PASS (attested)"
    assert finding(Examined(ENOUGH, "", {}), None).verdict.words == "UNDECIDED (no violation found)"
    assert finding(Examined(None, "", {}), VOUCHED_NO_PASS_WITHOUT_DRAWS).verdict.words == "UNDECIDED (not tested)"
    assert (
        finding(Examined(None, "too few", {}), VOUCHED_NO_PASS_WITHOUT_DRAWS).verdict.words == "UNDECIDED (not tested)"
    )
    assert finding(None, VOUCHED_NO_PASS_WITHOUT_DRAWS).verdict.words == "UNDECIDED (not tested)"


Captured = pytest.CaptureFixture[str]
DATASET = Dataset(np.full((4, 2), 0.3), np.full(4, 0.5), 1.0, 1.0)
TOML = DATA + imported("mine.py:Mine") + dp(1.0) + QUICK
CODE = """
class Mine:
    name = "mine"
    def draw(self, dataset, n_draws, *, rng):
        return rng.normal(size=(n_draws, 1))
"""


def fixed() -> np.random.Generator:
    return np.random.default_rng(5)


@dataclass
class Numbered:
    """Each row of a call holds its own place and how many rows were asked for."""

    name: str = "numbered"

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
        dataset.X[:] = 0.0  # a copy, as in the examination
        return np.column_stack([np.arange(n_draws), np.full(n_draws, n_draws)])


@pytest.mark.parametrize(
    ("budget", "block"),
    [
        ("", 3_840),  # 4,000 less 40 draws on fresh objects, 40 single ones on a used one and 8 calls for ten
        ("draws = 200", 100),
        ("draws = 200\nmax_draws = 320000", 100),
        ("pairs = 8\ndraws = 200\nmax_draws = 3200", 100),
        ("draws = 1", 1),
        ("draws = 200000", 1 << 14),
    ],
)
def test_the_block_is_the_examinations_largest_call(budget: str, block: int) -> None:
    assert audited_block(parse(TOML + budget)) == block


def test_a_release_is_a_uniformly_chosen_row_of_such_a_call() -> None:
    """Null: every place is as likely; 400 releases of blocks of 5, chi-squared below its 1e-9 quantile."""
    rng = np.random.default_rng(1)
    places = []
    for _ in range(400):
        place, asked = draw_as_audited(Imported(Numbered()), DATASET, 5, lambda: rng)
        assert asked == 5
        places.append(int(place))
    counts = np.bincount(places, minlength=5)
    assert ((counts - 80) ** 2 / 80).sum() < 48.0
    assert DATASET.X.min() == 0.3


def test_raw_when_one_is_asked_for_is_not_released_raw() -> None:
    """Mutant of the examination: the raw sum where one draw is asked for; and in the first row of every call."""

    class Raw:
        name = "raw"

        def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
            rows = 1_000.0 + rng.normal(size=(n_draws, 1))
            rows[0] = dataset.y.sum()
            return rows

    assert draw_as_audited(Imported(Raw()), DATASET, 1_000, fixed)[0] > 900
    assert draw_as_audited(Imported(Raw()), DATASET, 1, fixed)[0] == 2.0


def test_a_reference_mechanism_is_drawn_once() -> None:
    ours = SufficientStatistics(8.0, 8.0, 1.0)
    np.testing.assert_array_equal(
        draw_as_audited(ours, DATASET, 1, fixed), ours.draw(DATASET, 1, rng=np.random.default_rng(5))[0]
    )


@pytest.mark.parametrize("returned", ["raise", "text", "nan"])
def test_what_cannot_be_released_is_one_line_that_quotes_nothing(returned: str) -> None:
    class Odd:
        name = "odd"

        def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
            if returned == "raise":
                raise ValueError("record 31337")
            return [["31337x"]] * n_draws if returned == "text" else np.full((n_draws, 1), np.nan)

    with pytest.raises(UserError, match=r"release\.draw must be false for a mechanism that gives no") as stop:
        draw_as_audited(Imported(Odd()), DATASET, 7, fixed)
    assert "31337" not in str(stop.value)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_uniform(tmp_path, 9)
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_fewer_records_than_the_public_least_are_refused_without_their_number(work: Path, capsys: Captured) -> None:
    (work / "d.toml").write_text(TOML.replace("y_bound = 1.0", "y_bound = 1.0\nn_min = 10"))
    assert invoke(["certify", "d.toml"]) == 2
    assert capsys.readouterr().err.endswith("data.n_min must be at most the number of records, got a larger one\n")


def test_a_dry_run_of_a_slow_mechanism_draws_little(work: Path, capsys: Captured) -> None:
    """Ten draws of 10 ms each stand for 2 x 40 x (1 + 5) of them."""
    code = "import time\n" + CODE.replace("        return", "        time.sleep(0.01 * n_draws)\n        return")
    (work / "mine.py").write_text(code, encoding="utf-8")
    (work / "d.toml").write_text(TOML + "pairs = 1\ndraws = 40\n")
    assert invoke(["certify", "d.toml", "--dry-run"]) == 0
    first, *shares, last = capsys.readouterr().out.splitlines()
    assert shares  # of the failure probability
    assert first.split(maxsplit=1) == ["dp", "examination of 1 pairs, 40 draws of each data set"]
    assert 4 <= int(last.split()[1]) <= 12
    assert not (work / "pdp-verify-out").exists()


SPARING = QUICK + "sequential = true\n"
CODE_SPARING = """
class Mine:
    def draw(self, dataset, n_draws, *, rng):
        return float(dataset.y.sum()) + SCALE * rng.laplace(size=n_draws)
def make():
    return Mine()
"""


def written(folder: Path, scale: float, budget: str, public: bool = True) -> Path:
    write_uniform(folder)
    (folder / "mine.py").write_text(CODE_SPARING.replace("SCALE", str(scale)), encoding="utf-8")
    text = DATA + ("public = true\n" if public else "") + imported("mine.py:make") + dp(1.0) + budget
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return folder / "mine.toml"


def rows(folder: Path):
    record = next(folder.glob("out/*/audit.jsonl"))
    lines = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    return {kind: [row for row in lines if row.get("kind") == kind] for kind in ("claim", "check", "figure")}


@pytest.mark.parametrize("public", [True, False])
def test_a_false_claim_fails_with_few_draws_and_says_on_what(tmp_path, public, capsys):
    config = written(tmp_path, 0.25, SPARING + "max_draws = 1200\n", public)
    assert invoke(["certify", str(config), "--out", str(tmp_path / "out")]) == 1
    found = rows(tmp_path)
    (claim,), (check,) = found["claim"], found["check"]
    assert claim["verdict"] == "FAIL"
    assert check["check"] == "sparing audit"
    for text in (claim["says"], capsys.readouterr().out, next(tmp_path.glob("out/*/audit.md")).read_text("utf-8")):
        assert "Claimed epsilon 1" in text
        assert re.search(r"the true one is at least 1\.\d+ \(confidence ", text)
        assert "Seen on: " in text
        assert re.search(r"data set: .*output.*: [\d,]+ of [\d,]+ against [\d,]+ of [\d,]+", text)
    assert "draws on: " not in claim["advice"]
    text = json.dumps(check)
    assert "data set: " in text
    assert " against " in text
    assert "draws in all" in text


def test_a_claim_that_is_not_refuted_is_not_examined_whatever(tmp_path):
    config = written(tmp_path, 1.0, SPARING + "max_draws = 150\n")
    assert invoke(["certify", str(config), "--out", str(tmp_path / "out"), "--allow-undecided"]) == 3
    (claim,) = rows(tmp_path)["claim"]
    assert claim["verdict"] == "UNDECIDED"
    assert "150 draws on one pair of data sets do not refute it" in claim["reason"]
    assert "budget.sequential" in claim["reason"]


def test_it_needs_a_cap(tmp_path):
    for budget, got in ((SPARING, "nothing"), (SPARING + "max_draws = 99\n", "99")):
        with pytest.raises(UserError, match=f"budget.max_draws must be at least 100 .*{got}"):
            parse(written(tmp_path, 1.0, budget).read_text("utf-8"))
