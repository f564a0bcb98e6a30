"""The remedy's number, numbers at the edge of what a mechanism allows, and draws that float64 cannot make."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toys.deployments import DATA, QUICK, claim, dp, mechanism, section, write_labelled

from audits.verdict import Decision
from mechanisms.objective.perturbed_solver import SolverError
from verify.certificates.certify_call import Certification, certify
from verify.certificates.claims import claims_dp, pairs
from verify.certificates.claims.remedy import Change, Remedy, nearest
from verify.certificates.claims.types import distance_of_divergence, distance_of_gaussian, odds_at
from verify.cli import invoke

PUBLIC = DATA + "n_public = 100\n"
SUBSAMPLE = {"n_blocks": 4, "radius": 1.0}
#: Data, mechanism and its parameters, and the parameters that the remedy moves.
FAILING: dict[str, tuple[str, str, dict[str, Any], tuple[str, ...]]] = {
    "objective": (DATA, "objective-perturbation", {"loss": "logistic", "sigma": 2.75, "lam": 0.5}, ("sigma",)),
    "narrow ridge": (DATA, "objective-perturbation", {"loss": "logistic", "sigma": 8.0, "lam": 0.1}, ("lam",)),
    "gaussian": (PUBLIC, "gaussian-output", {"sigma": 0.5, "lam": 1.0}, ("sigma",)),
    "temperature": (PUBLIC, "posterior-sampling", {"gamma": 10.0, "lam": 100.0}, ("gamma",)),
    "ridge": (PUBLIC, "posterior-sampling", {"gamma": 1.0, "lam": 4.0}, ("lam",)),
    "ssp": (DATA, "ssp", {"sigma_gram": 2.0, "sigma_moment": 3.0}, ("sigma_gram", "sigma_moment")),
    "adassp": (DATA, "adassp", {"epsilon": 2.0, "delta": 1e-6}, ("epsilon",)),
    "adaops 2018": (DATA, "adaops-2018", {"epsilon": 2.0, "delta": 1e-6}, ("epsilon",)),
    "adaops, another delta": (DATA, "adaops-2018", {"epsilon": 0.5, "delta": 1e-4}, ("delta",)),
    "adaops 2019": (DATA, "adaops-2019", {"epsilon": 2.0, "delta": 1e-6, "kappa": 1.0, "n_public": 100}, ("epsilon",)),
    "subsample": (DATA, "subsample-aggregate", SUBSAMPLE | {"epsilon": 2.0}, ("epsilon",)),
}
#: Those that take a second or two.
LONG = ("narrow ridge", "ridge", "adaops 2019")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_labelled(tmp_path)
    return tmp_path


def decided(folder: Path, text: str) -> Certification:
    (folder / "d.toml").write_text(text + QUICK + "draws = 50\n", encoding="utf-8")
    return certify(folder / "d.toml", audience="release")


def claim_row(certified: Certification) -> dict[str, Any]:
    return next(row for row in certified.rows if row["kind"] == "claim")


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.slow) if each in LONG else each for each in FAILING]
)
def test_certified_at_the_remedy_it_passes_and_a_little_nearer_it_does_not(folder: Path, name: str) -> None:
    data, kind, parameters, moved = FAILING[name]
    row = claim_row(decided(folder, data + mechanism(kind, **parameters) + dp(1.0)))
    assert row["verdict"] in ("FAIL", "UNDECIDED")
    first = row["remedy"][0]
    assert (first["where"], tuple(each["name"] for each in first["changes"])) == ("mechanism", moved)
    assert [each["now"] for each in first["changes"]] == [parameters[name] for name in moved]
    values = {each["name"]: each["value"] for each in first["changes"]}
    assert decided(folder, data + mechanism(kind, **parameters | values) + dp(1.0)).words == {"dp": "PASS (proved)"}
    nearer = {key: value * (0.985 if value > parameters[key] else 1.015) for key, value in values.items()}
    assert decided(folder, data + mechanism(kind, **parameters | nearer) + dp(1.0)).words != {"dp": "PASS (proved)"}


def test_the_number_is_that_of_the_bound_that_decides_and_not_the_theorems_own(folder: Path) -> None:
    objective = mechanism("objective-perturbation", loss="logistic", sigma=2.75, lam=0.5)
    certified = decided(folder, DATA + objective + dp(1.0))
    row = claim_row(certified)
    assert row["remedy"] == [
        {"where": "mechanism", "changes": [{"name": "sigma", "now": 2.75, "value": 5.35}]},
        {"where": "claim", "changes": [{"name": "epsilon", "now": 1.0, "value": 1.8}]},
    ]
    assert row["advice"] == (
        "The least sigma that this suite can prove is 5.35 (now 2.75); the true one may lie below. "
        "At the present noise, the least epsilon that this suite can prove is 1.8 (claimed: 1)."
    )
    check = next(row for row in certified.rows if row["kind"] == "check")
    assert check["notes"]["least sigma of the statement"] == pytest.approx(10.9576, abs=1e-4)
    assert decided(folder, DATA + objective + dp(1.8)).words == {"dp": "PASS (proved)"}
    assert decided(folder, DATA + objective + dp(1.79)).words != {"dp": "PASS (proved)"}


@pytest.mark.parametrize("form", [{"mu": 0.1, "profile": "gaussian-dp"}, {"relation": "replace"}, {"group": 3}])
def test_other_forms_of_the_claim_have_their_number_too(folder: Path, form: dict[str, Any]) -> None:
    made = claim("dp", **({} if "mu" in form else {"epsilon": 1.0, "delta": 1e-6}) | form)
    ssp = {"sigma_gram": 2.0, "sigma_moment": 2.0}
    mended = {each["name"]: each["value"] for each in _first(folder, mechanism("ssp", **ssp) + made)}
    assert decided(folder, DATA + mechanism("ssp", **ssp | mended) + made).words == {"dp": "PASS (proved)"}


@pytest.mark.parametrize(
    ("form", "enough", "too_little"), [({"relation": "replace"}, 8.97, 8.95), ({"group": 3}, 17.93, 17.92)]
)
def test_replaced_and_several_records_go_by_what_says_most(
    folder: Path, form: dict[str, Any], enough: float, too_little: float
) -> None:
    """Both statistics of a replaced record, and normal laws three times as far apart: not steps of half an epsilon."""
    made = claim("dp", **{"epsilon": 1.0, "delta": 1e-6} | form)
    for sigma, passes in ((enough, True), (too_little, False)):
        row = claim_row(decided(folder, DATA + mechanism("ssp", sigma_gram=sigma, sigma_moment=sigma) + made))
        assert (row["verdict"] == "PASS") is passes


def _first(folder: Path, text: str) -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = claim_row(decided(folder, DATA + text))["remedy"][0]["changes"]
    return changes


@pytest.mark.parametrize(
    "text",
    [
        mechanism("posterior-sampling", gamma=1.0, lam=10.0) + dp(1.0),  # nothing is proved without n_public
        mechanism("adaops-2018", epsilon=2.0, delta=1e-6, form="printed") + dp(1.0),
        mechanism("ssp", sigma_gram=2.0, sigma_moment=2.0) + dp(1.0, 0.0),  # no noise gives pure privacy
        'chosen_from_data = ["lam"]\n' + mechanism("ssp", sigma_gram=2.0, sigma_moment=2.0) + dp(1.0),
    ],
)
def test_where_no_number_is_proved_there_is_none_and_words_say_what_would_help(folder: Path, text: str) -> None:
    row = claim_row(decided(folder, DATA + text))
    assert row["verdict"] != "PASS"
    assert row["remedy"] == []
    assert not re.search(r"that this suite can prove", row["advice"])
    assert row["advice"]


@pytest.mark.quick
def test_a_claim_that_passes_has_no_remedy(folder: Path) -> None:
    row = claim_row(decided(folder, DATA + mechanism("ssp", sigma_gram=8.0, sigma_moment=8.0) + dp(1.0)))
    assert (row["verdict"], row["remedy"], row["advice"]) == ("PASS", [], "")


def test_a_bound_that_is_not_monotone_gives_no_number() -> None:
    assert nearest({"s": 1.0}, {"s": 1}, lambda values: values["s"] >= 12.345) == {"s": 12.4}
    # proved from 12.345 on, and on an island before it
    assert nearest({"s": 1.0}, {"s": 1}, lambda v: v["s"] >= 12.345 or 1.4 < v["s"] < 1.6) is None
    # proved at one number that no rounding keeps
    assert nearest({"s": 1.0}, {"s": 1}, lambda v: v["s"] >= 2.4951 and v["s"] != 2.5) is None
    assert nearest({"s": 1.0}, {"s": 1}, lambda _: False) is None


def test_several_parameters_move_together_each_to_its_own_side() -> None:
    found = nearest({"a": 1.0, "b": 8.0}, {"a": 1, "b": -1}, lambda v: v["a"] >= 2.995 and v["b"] <= 2.7)
    assert found == {"a": 3.0, "b": 2.67}
    same = Remedy("mechanism", (Change("a", 1.0, 3.0), Change("b", 2.0, 6.0))).words
    assert same.startswith("The least a and b that this suite can prove, moved together, are 3 and 6 (now 1 and 2);")
    words = Remedy("mechanism", (Change("a", 1.0, 3.0), Change("b", 8.0, 2.67))).words
    assert words.startswith("The nearest a and b that this suite can prove, moved together, are 3 and 2.67 (now 1 and ")


def test_what_epsilon_means_is_computed() -> None:
    odds = odds_at(1.0, 1e-6, "whether it is there")
    assert odds.factor == math.e
    assert odds.guess == pytest.approx((math.e + 1e-6) / (1 + math.e), rel=1e-12)
    assert odds_at(1e4, 0.5, "").guess == 1.0
    # two normal laws one apart: the best guess at even odds is right with Phi(1/2)
    assert 0.5 + 0.5 * distance_of_gaussian(1.0) == pytest.approx(0.691462461, abs=1e-9)
    assert distance_of_gaussian(1.0) < distance_of_divergence(0.5)  # KL of the same two laws is 1/2


def test_the_record_says_what_each_form_of_a_claim_means(folder: Path) -> None:
    ssp = mechanism("ssp", sigma_gram=50.0, sigma_moment=50.0)
    forms = dp(1.0) + claim("dp", name="curve", profile="gaussian-dp", mu=1.0)
    forms += claim("dp", name="pair", epsilon=0.0, delta=0.1, relation="replace")
    rows = {row["claim"]: row["odds"] for row in decided(folder, DATA + ssp + forms).rows if row["kind"] == "claim"}
    assert rows["dp"] == {"about": "whether a record is there", "factor": math.e, "delta": 1e-6} | {
        "guess": odds_at(1.0, 1e-6, "").guess
    }
    assert (rows["curve"]["factor"], rows["curve"]["guess"]) == (None, pytest.approx(0.691462461, abs=1e-9))
    assert rows["pair"]["about"] == "which of two possible values a record has"
    assert rows["pair"]["guess"] == pytest.approx(0.55)


Captured = pytest.CaptureFixture[str]
DP = 'type = "dp"\nepsilon = 1.0\ndelta = 1e-6\n'
RECORDS = 'type = "pdp"\nscope = "records"\nepsilon = 50.0\ndelta = 0.5\n'
RIDGE = {"gaussian-output": "sigma = 1.0\n", "posterior-sampling": "gamma = 1.0\n"}


def write(
    folder: Path, mechanism: str, claim: str, *, more: str = "", data: str = "public = true", rank: int = 2
) -> Path:
    """Write a configuration with twelve records, of which ``rank`` columns are not all zero."""
    rng = np.random.default_rng(7)
    X = rng.uniform(-0.6, 0.6, (12, 2)) * (np.arange(2) < rank)
    np.savez(folder / "d.npz", X=X, y=np.tile([1.0, -1.0], 6))
    bounds = "" if "x_bound" in data else "x_bound = 1.0\n"
    text = f'[data]\nfile = "d.npz"\nfeatures = ["0", "1"]\ntarget = "y"\n{bounds}y_bound = 1.0\n{data}\n'
    text += f'[mechanism]\n{mechanism}\n{more}\n[[claims]]\n{claim}[budget]\nprofile = "quick"\njobs = 1\n'
    (folder / "c.toml").write_text(text)
    return folder / "c.toml"


def refused(path: Path, capsys: Captured) -> str:
    """Return the one line with which a configuration is refused; nothing is left behind."""
    before = {each.name for each in path.parent.iterdir()}
    assert invoke(["certify", str(path), "--out", str(path.parent / "out")]) == 2
    printed = capsys.readouterr()
    assert {each.name for each in path.parent.iterdir()} - before <= {"out"}
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("error: ")
    return printed.err


@pytest.mark.parametrize("rank", [2, 1])
@pytest.mark.parametrize("draw", ["", "[release]\ndraw = true\n"])
@pytest.mark.parametrize(
    ("claim", "data"), [(DP, "public = true"), (DP, "public = false"), (RECORDS, "public = false")]
)
@pytest.mark.parametrize("name", list(RIDGE))
def test_no_ridge_is_refused_where_data_sets_without_an_estimate_count(
    name: str, claim: str, data: str, draw: str, rank: int, tmp_path: Path, capsys: Captured
) -> None:
    """On private data, and over all data sets; the line does not depend on the records, and nothing was drawn."""
    path = write(tmp_path, f'name = "{name}"\n{RIDGE[name]}lam = 0.0', claim, more=draw, data=data, rank=rank)
    assert f"mechanism.lam must be greater than 0 for {name} on private data and for claims over" in refused(
        path, capsys
    )
    assert not (tmp_path / "c.releases").exists()


@pytest.mark.parametrize("name", list(RIDGE))
def test_no_ridge_works_on_public_records_that_carry_it(name: str, tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path, f'name = "{name}"\n{RIDGE[name]}lam = 0.0', RECORDS)
    assert certify(path).decision is Decision.PASS
    path = write(tmp_path, f'name = "{name}"\n{RIDGE[name]}lam = 0.0', RECORDS, rank=1)
    assert f"mechanism.lam must be greater for {name}, got mechanism.lam=0; X^T X + lam I is singular" in refused(
        path, capsys
    )


def test_records_without_one_of_them_must_carry_it_too(tmp_path: Path, capsys: Captured) -> None:
    """The second column is that of one record alone."""
    path = write(tmp_path, 'name = "gaussian-output"\nsigma = 1.0\nlam = 0.0', RECORDS)
    X = np.zeros((5, 2))
    X[:, 0], X[3, 1] = 0.5, 0.5
    np.savez(tmp_path / "d.npz", X=X, y=np.ones(5))
    assert "or without one of them" in refused(path, capsys)


@pytest.mark.parametrize("name", list(RIDGE))
def test_a_ridge_below_working_precision_is_refused_by_public_numbers_alone(
    name: str, tmp_path: Path, capsys: Captured
) -> None:
    lines = set()
    for rank in (1, 2):
        mechanism = f'name = "{name}"\n{RIDGE[name]}lam = 1e-12'
        path = write(tmp_path, mechanism, RECORDS, data="public = false\nx_bound = 1e3", rank=rank)
        lines.add(refused(path, capsys))
    assert len(lines) == 1
    assert "mechanism.lam must be at least 8 * dim * 2.2e-16 * records * x_bound^2" in lines.pop()


SGD = 'name = "noisy-sgd"\nn_steps = 2\nsigma = 10.0\nstep_size = 0.1\nclip = 1.0\nradius = 1.0\n'


@pytest.mark.parametrize(
    ("mechanism", "data", "message"),
    [
        (
            SGD + "n_public = 11",
            "",
            "mechanism.n_public must be at least the number of records, got mechanism.n_public=11",
        ),
        (
            'name = "adaops-2019"\nepsilon = 1.0\ndelta = 1e-6\nkappa = 0.1\nn_public = 11',
            "",
            "mechanism.n_public must be at least the number of records, got mechanism.n_public=11",
        ),
        (
            'name = "adaops-2019"\nepsilon = 1.0\ndelta = 1e-6\nkappa = 9.0\nn_public = 20',
            "",
            "mechanism.kappa must be below 0.411796 at this budget, got mechanism.kappa=9",
        ),
        (SGD + "n_public = 0", "", "mechanism.n_public must be at least 1"),
        (SGD.replace("= 2\n", "= 1000000000\n") + "n_public = 20", "", "mechanism.n_steps must be at most 1000000"),
        (SGD.replace("10.0", "1e300") + "n_public = 20", "", "mechanism.sigma must be between 1e-12 and 1e+12"),
        ('name = "adaops-2018"\nepsilon = 1.0\ndelta = 1e-6', "x_bound = 1e-300", "data.x_bound must be between 1e-12"),
        ('name = "ssp"\nsigma_gram = 1e-300\nsigma_moment = 1.0', "", "mechanism.sigma_gram must be between 1e-12 and"),
        ('name = "adassp"\nepsilon = 1e300\ndelta = 1e-6', "", "mechanism.epsilon must be between 1e-12 and 1e+12"),
        ('name = "adassp"\nepsilon = 1.0\ndelta = 1e-320', "", "mechanism.delta must be at least 1e-100"),
        (
            'name = "objective-perturbation"\nloss = "logistic"\nsigma = 10.0\nlam = 1e-9',
            "",
            "mechanism.lam must be at least sigma / 1e+07, got mechanism.lam=1e-09",
        ),
        (
            'name = "subsample-aggregate"\nn_blocks = 1000000000\nepsilon = 1.0\nradius = 1.0',
            "",
            "mechanism.n_blocks must be at most 1000000",
        ),
    ],
)
def test_numbers_out_of_reach_are_refused_by_name(
    mechanism: str, data: str, message: str, tmp_path: Path, capsys: Captured
) -> None:
    path = write(tmp_path, mechanism, DP, data=f"public = true\n{data}", more="[release]\ndraw = true\n")
    assert message in refused(path, capsys)
    assert not (tmp_path / "c.releases").exists()


@pytest.mark.parametrize(("sigma", "code"), [(11.0, 0), (2.75, 1)])
def test_draws_that_cannot_be_made_are_no_evidence_and_no_exit(
    sigma: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What decides is proved: a solver that gives up takes away what only accompanies it."""

    def stop(*_: object, **__: object) -> None:
        raise SolverError("residual must be within reach of float64, got residual=1e-08")

    monkeypatch.setattr(pairs, "pair_evidence", stop)
    for name in ("sampled_delta", "audit_tails", "record_figures"):
        monkeypatch.setattr(claims_dp, name, stop)
    mine = mechanism("objective-perturbation", loss="logistic", sigma=sigma, lam=0.5)
    (tmp_path / "d.toml").write_text(section("[data]", source="fair") + mine + dp(1.0) + QUICK)
    assert invoke(["certify", str(tmp_path / "d.toml"), "--out", str(tmp_path / "out")]) == code
    assert capsys.readouterr().err == ""
    assert invoke(["check", str(tmp_path / "out")]) == 0
    record = (tmp_path / "out" / "release" / "audit.jsonl").read_text()
    assert "within reach of float64" in record or "NO_FINITE_TEST" in record
