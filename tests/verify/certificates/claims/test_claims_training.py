"""Claims about DP-SGD and about filters: proved for ours, refuted by a worst pair, and anybody's tried by games."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toys.deployments import DATA, QUICK, claim, dp, imported, mechanism, pdp, section, write_labelled

from audits.verdict import Decision
from mechanisms import DPSGD, GaussianProfile
from verify.calibration.series.training_series import stated_epsilon
from verify.certificates.certificate import FINDINGS, read_deployment
from verify.certificates.certify_call import Certification, certify
from verify.certificates.claims import claims_dp
from verify.certificates.claims.types import BY_TYPE, FilterClaim
from verify.certificates.config.config import json_schema, load, parse
from verify.cli import invoke
from verify.messages.errors import UserError

#: Every gradient of a record at the edge of the domain is clipped in the ball: the bound is attained there.
TRAINING: dict[str, Any] = {
    "loss": "squared",
    "n_steps": 10,
    "rate": 0.1,
    "sigma": 0.5,
    "clip": 0.25,
    "step_size": 0.5,
    "normaliser": 2.5,
    "radius": 0.6,
}
LOGISTIC = TRAINING | {"loss": "logistic", "clip": 1.0, "sigma": 1.0}


def decided(folder: Path, claims: str, *, audience: str = "curator", more: str = "", **changed: Any) -> Certification:
    write_labelled(folder)
    parameters = {name: value for name, value in (TRAINING | changed).items() if value is not None}
    text = DATA + mechanism("dp-sgd", **parameters) + claims + more + QUICK + "draws = 50\n"
    (folder / "d.toml").write_text(text, encoding="utf-8")
    return certify(folder / "d.toml", audience=audience)  # type: ignore[arg-type]


def rows(found: Certification, kind: str) -> list[dict[str, Any]]:
    return [row for row in found.rows if row["kind"] == kind]


def test_a_claim_just_above_the_worst_case_passes_and_just_below_it_fails(tmp_path: Path) -> None:
    found = decided(tmp_path, dp(1.0, 1e-5))
    check = next(row for row in rows(found, "check") if row["check"].startswith("worst case"))
    low, high = (check["exact"][end] for end in ("low", "high"))
    assert high * 0.99 < low < high
    assert decided(tmp_path, dp(1.0, high * 1.001)).words == {"dp": "PASS (proved)"}
    assert decided(tmp_path, dp(1.0, low * 0.999)).words == {"dp": "FAIL"}


@pytest.mark.parametrize("released", [{}, {"normaliser": None, "count_sigma": 2.0}])
def test_what_would_pass_passes(tmp_path: Path, released: dict[str, Any]) -> None:
    failed = decided(tmp_path, dp(1.0, 1e-5), rate=1.0, **released)
    assert failed.words == {"dp": "FAIL"}
    remedy = rows(failed, "claim")[0]["remedy"]
    assert [each["where"] for each in remedy] == ["mechanism", "claim"]
    better = {each["name"]: each["value"] for each in remedy[0]["changes"]}
    assert set(better) == {"sigma"} | ({"count_sigma"} if released else set())
    assert decided(tmp_path, dp(1.0, 1e-5), rate=1.0, **released | better).words == {"dp": "PASS (proved)"}


def test_the_last_iterate_is_covered_by_what_holds_for_the_transcript(tmp_path: Path) -> None:
    assert decided(tmp_path, dp(1.5, 1e-5), observer="final").words == {"dp": "PASS (proved)"}


def test_a_released_number_of_records_counts(tmp_path: Path) -> None:
    released = {"normaliser": None, "count_sigma": 3.0}
    both = [decided(tmp_path, dp(1.6, 1e-5), **changed) for changed in ({}, released)]
    assert [found.words for found in both] == [{"dp": "PASS (proved)"}] * 2
    without, counted = (rows(found, "check")[0]["exact"] for found in both)
    assert counted["low"] > 3 * without["high"]


CURVES = {
    "replaced": (claim("dp", epsilon=3.0, delta=1e-5, relation="replace"), "PASS (proved)"),
    "group": (claim("dp", epsilon=4.0, delta=1e-4, group=2), "PASS (proved)"),
    "table": (claim("dp", profile="table", points=[[1.5, 1e-5], [2.0, 1e-6]]), "PASS (proved)"),
    "renyi": (claim("dp", profile="renyi", alpha=4.0, epsilon=0.2), "PASS (proved)"),
    "renyi, too small": (claim("dp", profile="renyi", alpha=4.0, epsilon=1e-3), "UNDECIDED"),
    "concentrated": (claim("dp", profile="zcdp", rho=1.0), "UNDECIDED"),
}


@pytest.mark.parametrize("name", CURVES)
def test_relations_groups_and_curves(tmp_path: Path, name: str) -> None:
    claims, verdict = CURVES[name]
    found = decided(tmp_path, claims)
    assert list(found.words.values()) == [verdict]
    if name == "concentrated":
        assert "no finite test" in rows(found, "claim")[0]["reason"]


def test_an_open_claim_says_between_what_it_lies(tmp_path: Path) -> None:
    found = decided(tmp_path, dp(0.5, 1e-5), **LOGISTIC)
    assert found.words == {"dp": "UNDECIDED"}
    reason = rows(found, "claim")[0]["reason"]
    assert "what is known is at most " in reason
    assert reason.endswith("and at most 1e-5 is claimed: neither proved nor refuted")
    assert "budget" not in reason


@pytest.mark.quick
def test_full_batches_pass_a_whole_gaussian_curve(tmp_path: Path) -> None:
    curve = claim("dp", profile="gaussian-dp", mu=1.6)
    assert decided(tmp_path, curve, rate=1.0).words == {"dp": "PASS (proved)"}  # 0.25/0.5 sqrt(10) = 1.58
    assert decided(tmp_path, claim("dp", profile="gaussian-dp", mu=1.5), rate=1.0).words == {"dp": "FAIL"}


def test_the_records_of_the_data_may_claim_less_than_everybody(tmp_path: Path) -> None:
    everyone = claim("pdp", scope="everyone", epsilon=0.9, delta=1e-5)
    target = claim("pdp", scope="target", x=[0.1, 0.1], y=1.0, epsilon=0.3, delta=1e-5)
    found = decided(tmp_path, everyone + target + pdp(0.9, 1e-5), **LOGISTIC)
    passed = "PASS (proved)"
    assert found.words == {"pdp-everyone": "UNDECIDED", "pdp-target": passed, "pdp-records": passed}
    assert any("records-pdp-records" in row["figure"]["name"] for row in rows(found, "figure"))


def test_nothing_about_the_records_is_in_the_release(tmp_path: Path) -> None:
    found = decided(tmp_path, dp(3.0, 1e-5) + pdp(0.9, 1e-5), audience="release", **LOGISTIC)
    assert found.words == {"dp": "PASS (proved)"}
    assert not any("pdp" in str(row.get("claim", "")) for row in found.rows)


def test_two_outputs_cost_more_than_one(tmp_path: Path) -> None:
    write_labelled(tmp_path)
    (tmp_path / "d.toml").write_text(DATA + mechanism("dp-sgd", **TRAINING) + dp(2.5, 1e-5) + QUICK, encoding="utf-8")
    deployment, _ = read_deployment(load(tmp_path / "d.toml"), jobs=1)
    bounds = []
    for n_outputs in (1, 2):
        claim = deployment.config.claims[0]
        found = FINDINGS[type(claim)](replace(deployment, n_outputs=n_outputs), claim)
        assert found.verdict.decision is Decision.PASS
        assert found.checks[0].evidence.exact is not None
        bounds.append(found.checks[0].evidence.exact.high)
    assert bounds[0] < bounds[1] / 10


def test_a_second_output_counts_for_the_records_too(tmp_path: Path) -> None:
    write_labelled(tmp_path)
    epsilon = 1.001 * GaussianProfile(0.25 / 0.5 * math.sqrt(10)).epsilon_at(1e-5)
    both = 1.001 * GaussianProfile(0.25 / 0.5 * math.sqrt(20)).epsilon_at(1e-5)
    scopes: list[dict[str, Any]] = [
        {"scope": "records"},
        {"scope": "everyone"},
        {"scope": "target", "x": [1.0, 0.0], "y": 1.0},
    ]
    claims = "".join(claim("pdp", **scope, epsilon=e, delta=1e-5, name=f"{scope['scope']} {name}")
                     for scope in scopes for e, name in ((epsilon, "one"), (both, "two")))  # fmt: skip
    text = DATA + mechanism("dp-sgd", **(TRAINING | {"rate": 1.0})) + claims + QUICK + "draws = 50\n"
    (tmp_path / "d.toml").write_text(text, encoding="utf-8")
    deployment, _ = read_deployment(load(tmp_path / "d.toml"), jobs=1)
    for each in deployment.config.claims:
        assert FINDINGS[type(each)](deployment, each).verdict.decision is Decision.PASS
        found = FINDINGS[type(each)](replace(deployment, n_outputs=2), each)
        assert found.sentence.startswith("2 outputs of DP-SGD")
        assert found.verdict.decision is (Decision.PASS if str(each.name).endswith("two") else Decision.UNDECIDED)


def test_what_does_not_apply_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_labelled(tmp_path)
    report = "[release]\ndraw = true\n[report]\nrho = 0.01\n"
    (tmp_path / "d.toml").write_text(DATA + mechanism("dp-sgd", **TRAINING) + dp(1.5) + report, encoding="utf-8")
    assert invoke(["certify", str(tmp_path / "d.toml"), "--out", str(tmp_path / "out")]) == 2
    assert "report" in capsys.readouterr().err


def test_labels_that_are_none_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = np.arange(9)
    table = np.column_stack([0.1 * index, 0.05 * index, 0.1 * index])
    np.savetxt(tmp_path / "data.csv", table, delimiter=",", header="a,b,y", comments="")
    (tmp_path / "d.toml").write_text(DATA + mechanism("dp-sgd", **LOGISTIC) + dp(1.5), encoding="utf-8")
    assert invoke(["certify", str(tmp_path / "d.toml"), "--out", str(tmp_path / "out")]) == 2
    assert "data.target" in capsys.readouterr().err


def test_the_example_of_the_page_passes_with_the_number_that_the_page_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims_dp, "least_noise", lambda *_: "")  # ten more compositions, which others search
    page = (Path(__file__).parents[4] / "docs" / "dp_sgd.md").read_text(encoding="utf-8")
    (tmp_path / "d.toml").write_text(page.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    found = certify(tmp_path / "d.toml", audience="release")
    assert found.words == {"dp": "PASS (proved)"}
    bound = rows(found, "check")[0]["exact"]["high"]
    assert f"delta at epsilon 1 is at most {bound:.1e}".replace("e-0", "e-") in page


SUMS = {"loss": "squared", "n_steps": 5, "rate": 0.5, "sigma": 4.0, "clip": 2.0, "step_size": 1.0, "normaliser": 10.0}
MODELS = SUMS | {"sigma": 16.0, "observer": "final"}
BROKEN, RIGHT = "mechanisms.broken.broken_training", "mechanisms.training.dp_sgd"

#: Two records and a third one: named in the configuration, since the number of records is what a normaliser reads.
PAIR = '[[pairs]]\nname = "few"\nX = [[1.0, 0.0], [0.0, 1.0]]\ny = [4.0, -4.0]\ntarget_x = [0.6, 0.8]\ntarget_y = 4.0\n'


@pytest.mark.parametrize(
    ("module", "name", "parameters", "code"),
    [(BROKEN, "HalfNoise", SUMS, 1), (RIGHT, "DPSGD", MODELS, 3), (BROKEN, "OwnBatch", MODELS, 1)],
)
def test_planted_errors_fail_and_the_right_training_does_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    module: str,
    name: str,
    parameters: dict[str, Any],
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    index = np.arange(8)
    rows = np.column_stack([0.6 * np.sin(index), 0.6 * np.cos(2 * index), 3.5 * np.sin(3 * index)])
    np.savetxt("data.csv", rows, delimiter=",", header="a,b,y", comments="")
    given = ", ".join(f"{key} = {json.dumps(value)}" for key, value in parameters.items())
    Path("deployment.toml").write_text(
        '[data]\nfile = "data.csv"\nfeatures = ["a", "b"]\ntarget = "y"\nx_bound = 1.0\ny_bound = 4.0\npublic = true\n'
        f'[mechanism]\nimport = "{module}:{name}"\nparameters = {{ {given} }}\n'
        f'[[claims]]\ntype = "dp"\nepsilon = {stated_epsilon(DPSGD(**parameters), 0.01)}\ndelta = 0.01\n'
        f'relation = "add-remove"\n{PAIR}[budget]\njobs = 1\npairs = 1\ndraws = 5000\n',
        encoding="utf-8",
    )
    assert invoke(["certify", "deployment.toml", "--out", "out"]) == code
    told = capsys.readouterr().out.splitlines()[0]
    assert told.split()[1] == ("FAIL" if code == 1 else "UNDECIDED")
    if name == "OwnBatch":
        assert "few" in told


TRAINING_FILTER = {
    "loss": "logistic", "n_steps": 50, "rate": 0.05, "sigma": 1.5, "clip": 1.0, "step_size": 0.5, "normaliser": 300.0,
    "radius": 2.0,
}  # fmt: skip
RENYI = {"kind": "renyi", "order": 8, "budget": 0.5, "delta": 1e-6}
FILTERS = """
class Right:
    def start(self):
        return 0.0
    def spend(self, spent, cost):
        return spent + cost
    def admits(self, spent):
        return spent <= 0.5

class Late(Right):
    def start(self):
        return 0.0, 0.0
    def spend(self, spent, cost):
        return spent[0] + spent[1], cost
    def admits(self, spent):
        return spent[0] <= 0.5

class Raises(Right):
    def admits(self, spent):
        raise KeyError("budget")

class Lacking:
    def start(self):
        return 0.0
    def spend(self, spent, cost):
        return spent + cost

class Inside:
    filter = Late()
    def draw(self, dataset, n_draws, *, rng):
        return rng.standard_normal((n_draws, 1))

class Without(Inside):
    filter = None
"""


def test_the_claim_says_what_follows_and_refuses_half_a_form() -> None:
    made = FilterClaim.model_validate({"type": "filter"} | RENYI)
    assert made.words == "(8, 0.5)-Renyi differentially private, and so (2.04305, 1e-6)-differentially private"
    assert made.odds.factor == pytest.approx(7.714, abs=0.01)
    gaussian = FilterClaim.model_validate({"type": "filter", "kind": "gaussian", "mu": 0.5, "delta": 1e-6})
    assert gaussian.words.startswith("0.5-Gaussian differentially private, and so (2.2")
    for wrong, words in (
        (
            {"kind": "renyi", "order": 8},
            'claims[0].budget must be given for kind = "renyi", got claims[0].budget=nothing',
        ),
        ({"kind": "gaussian", "mu": 0.5, "order": 8}, 'claims[0].order must be absent for kind = "gaussian"'),
        ({"kind": "natural", "mu": 0.5}, "kind must be"),
        ({"kind": "renyi", "order": 1, "budget": 1.0}, "order must be"),
    ):
        text = DATA + mechanism("filtered-dp-sgd", **TRAINING_FILTER, filter="renyi", order=8, budget=0.5)
        with pytest.raises(UserError) as told:
            parse(text + section("[[claims]]", type="filter", delta=1e-6, **wrong))
        assert words in str(told.value)
    forms = json_schema()["$defs"]["FilterClaim"]["oneOf"]
    assert [form["required"] for form in forms] == [["kind", "order", "budget"], ["kind", "mu"]]
    assert list(BY_TYPE)[2] == "filter"


def claimed(**values: Any) -> str:
    return section("[[claims]]", type="filter", **values)


def decided_filter(folder: Path, text: str) -> Certification:
    write_labelled(folder)
    (folder / "mine.py").write_text(FILTERS, encoding="utf-8")
    (folder / "deployment.toml").write_text(DATA + text + QUICK, encoding="utf-8")
    return certify(folder / "deployment.toml", audience="curator")


def test_ours_is_proved_and_too_small_a_claim_is_refuted(tmp_path: Path) -> None:
    """A filter as strict as claimed; a lower order; a mu that follows from nothing; a budget that a record exceeds."""
    text = mechanism("filtered-dp-sgd", **TRAINING_FILTER, filter="renyi", order=8, budget=0.5)
    for values in (RENYI, RENYI | {"order": 4}, {"kind": "gaussian", "mu": 0.5, "delta": 1e-6}):
        text += claimed(**values)
    found = decided_filter(tmp_path, text + claimed(**RENYI | {"budget": 0.001}))
    assert list(found.words.values()) == ["PASS (proved)", "PASS (proved)", "UNDECIDED", "FAIL"]
    refuting = next(row for row in rows(found, "check") if row["outcome"] == "FAILS")
    assert refuting["about"]["quantity"] == "largest Renyi divergence of order 8 over all neighbours"
    assert "whose clipped gradient is at least" in refuting["found"]["pair"]


def test_training_without_a_filter_is_decided_by_its_worst_case(tmp_path: Path) -> None:
    """A full batch in closed form: mu = sqrt(n_steps) clip/sigma, reached by a record that is always clipped."""
    full = TRAINING_FILTER | {"loss": "squared", "rate": 1.0, "clip": 0.2, "n_steps": 16, "sigma": 2.0, "radius": 0.5}
    text = mechanism("dp-sgd", **full) + claimed(kind="gaussian", mu=0.401, delta=1e-6)
    text += claimed(kind="gaussian", mu=0.399, delta=1e-6) + claimed(kind="renyi", order=3, budget=0.241, delta=1e-6)
    found = decided_filter(tmp_path, text + claimed(kind="renyi", order=3, budget=0.239, delta=1e-6))
    assert list(found.words.values()) == ["PASS (proved)", "FAIL", "PASS (proved)", "FAIL"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("Late", "FAIL"), ("Right", "UNDECIDED (no violation found)"), ("Raises", "UNDECIDED (not tested)"),
     ("Inside", "FAIL"), ("Without", "UNDECIDED (not tested)")],
)  # fmt: skip
def test_anybodys_filter_is_never_passed(tmp_path: Path, name: str, words: str) -> None:
    found = decided_filter(tmp_path, imported(f"mine.py:{name}") + claimed(**RENYI))
    assert found.words == {"filter": words}
    (finding,) = rows(found, "claim")
    if words == "FAIL":
        assert "Refuted by an analyst who does this: ask RR(" in finding["advice"]
        assert "RR(b) is randomised response with odds b" in finding["advice"]
        assert len(finding["examination"]["games"]) == 2
    if name == "Raises":
        assert finding["reason"] == "filter.admits must answer, got KeyError: 'budget'"


def test_a_budget_that_no_game_can_spend_is_undecided(tmp_path: Path) -> None:
    found = decided_filter(tmp_path, imported("mine.py:Right") + claimed(**RENYI | {"budget": 1e-17}))
    assert found.words == {"filter": "UNDECIDED (not tested)"}
    assert rows(found, "claim")[0]["reason"].startswith("no game can be played")


def test_a_mu_whose_square_is_no_number_is_refused(tmp_path: Path) -> None:
    text = mechanism("filtered-dp-sgd", **TRAINING_FILTER, filter="renyi", order=8, budget=0.5)
    text += section("[[claims]]", type="filter", kind="gaussian", mu=1e300, delta=1e-5)
    with pytest.raises(UserError, match=r"mu must be between 1e-12 and 1e\+12"):
        decided_filter(tmp_path, text)


def test_a_filter_that_draws_nothing_is_asked_nothing_else(tmp_path: Path) -> None:
    told = "claims.type must be filter for a filter that draws nothing, got claims.type=dp"
    with pytest.raises(UserError, match=told):
        decided_filter(tmp_path, imported("mine.py:Right") + section("[[claims]]", type="dp", epsilon=1.0, delta=1e-6))
    with pytest.raises(UserError, match="methods start, spend and admits, got none named admits"):
        decided_filter(tmp_path, imported("mine.py:Lacking") + claimed(**RENYI))
    with pytest.raises(UserError, match="release must be absent for a filter that draws nothing"):
        decided_filter(tmp_path, imported("mine.py:Right") + claimed(**RENYI) + section("[release]", draw=True))


def test_the_page_names_the_games(tmp_path: Path) -> None:
    write_labelled(tmp_path)
    (tmp_path / "mine.py").write_text(FILTERS, encoding="utf-8")
    (tmp_path / "d.toml").write_text(DATA + imported("mine.py:Late") + claimed(**RENYI) + QUICK, encoding="utf-8")
    assert invoke(["certify", str(tmp_path / "d.toml"), "--out", str(tmp_path / "out")]) == 1
    page = (tmp_path / "out" / "curator" / "audit.md").read_text("utf-8")
    assert "2 adaptive games on finite answers, every analyst" in page
    assert "the worst analyst: ask RR(" in page


def test_a_pass_names_the_statement_whose_number_decides(tmp_path: Path) -> None:
    """The training's own composition at a budget that the filter alone does not prove; the filter's at its own."""
    text = mechanism("filtered-dp-sgd", **TRAINING_FILTER | {"n_steps": 400}, filter="renyi", order=8, budget=0.2)
    text += claimed(**RENYI | {"budget": 0.2}) + section("[[claims]]", type="dp", epsilon=1.9, delta=1e-5)
    found = decided_filter(tmp_path, text)
    assert list(found.words.values()) == ["PASS (proved)"] * 2
    assert {row["notes"]["rests on"] for row in rows(found, "check") if row["notes"].get("rests on")} == {
        "Feldman and Zrnic (2021): docs/derivations/filters.md"
    }
    text = mechanism("filtered-dp-sgd", **TRAINING_FILTER, filter="renyi", order=8, budget=0.5)
    text += claimed(**RENYI | {"budget": 0.45}) + section("[[claims]]", type="dp", epsilon=3.0, delta=1e-5)
    found = decided_filter(tmp_path, text)
    assert list(found.words.values()) == ["PASS (proved)"] * 2
    told = {row["notes"]["rests on"] for row in rows(found, "check") if row["notes"].get("rests on")}
    assert len(told) == 1
    assert "docs/derivations/dp_sgd.md" in told.pop()


def test_a_budget_that_promises_nothing_is_no_pass(tmp_path: Path) -> None:
    text = mechanism("filtered-dp-sgd", **TRAINING_FILTER, filter="renyi", order=8, budget=0.5)
    found = decided_filter(tmp_path, text + claimed(**RENYI | {"budget": 1e300}))
    assert list(found.words.values()) == ["UNDECIDED"]
    whole = TRAINING_FILTER | {"rate": 1.0}
    text = mechanism("filtered-dp-sgd", **whole, filter="renyi", order=8, budget=0.5)
    found = decided_filter(tmp_path, text + section("[[claims]]", type="dp", profile="renyi", alpha=8.0, epsilon=0.51))
    assert list(found.words.values()) == ["PASS (proved)"]
