"""The remedy's number: certified at it the claim passes, a little on the near side it does not; none where none is."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from toys.deployments import DATA, QUICK, claim, dp, mechanism, write_labelled

from verify.certificates.certify_call import Certification, certify
from verify.certificates.claims.remedy import Change, Remedy, nearest
from verify.certificates.claims.types import distance_of_divergence, distance_of_gaussian, odds_at

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
