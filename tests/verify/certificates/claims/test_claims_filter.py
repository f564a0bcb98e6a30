"""Claims about filters: proved for ours, refuted by a worst pair, and anybody's filter on the games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toys.deployments import DATA, QUICK, imported, mechanism, section, write_labelled

from verify.certificates.certify_call import Certification, certify
from verify.certificates.claims.types import BY_TYPE, FilterClaim
from verify.certificates.config.config import json_schema, parse
from verify.cli import invoke
from verify.messages.errors import UserError

TRAINING = {
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
        text = DATA + mechanism("filtered-dp-sgd", **TRAINING, filter="renyi", order=8, budget=0.5)
        with pytest.raises(UserError) as told:
            parse(text + section("[[claims]]", type="filter", delta=1e-6, **wrong))
        assert words in str(told.value)
    forms = json_schema()["$defs"]["FilterClaim"]["oneOf"]
    assert [form["required"] for form in forms] == [["kind", "order", "budget"], ["kind", "mu"]]
    assert list(BY_TYPE)[2] == "filter"


def claimed(**values: Any) -> str:
    return section("[[claims]]", type="filter", **values)


def decided(folder: Path, text: str) -> Certification:
    write_labelled(folder)
    (folder / "mine.py").write_text(FILTERS, encoding="utf-8")
    (folder / "deployment.toml").write_text(DATA + text + QUICK, encoding="utf-8")
    return certify(folder / "deployment.toml", audience="curator")


def rows(found: Certification, kind: str) -> list[dict[str, Any]]:
    return [row for row in found.rows if row["kind"] == kind]


def test_ours_is_proved_and_too_small_a_claim_is_refuted(tmp_path: Path) -> None:
    """A filter as strict as claimed; a lower order; a mu that follows from nothing; a budget that a record exceeds."""
    text = mechanism("filtered-dp-sgd", **TRAINING, filter="renyi", order=8, budget=0.5)
    for values in (RENYI, RENYI | {"order": 4}, {"kind": "gaussian", "mu": 0.5, "delta": 1e-6}):
        text += claimed(**values)
    found = decided(tmp_path, text + claimed(**RENYI | {"budget": 0.001}))
    assert list(found.words.values()) == ["PASS (proved)", "PASS (proved)", "UNDECIDED", "FAIL"]
    refuting = next(row for row in rows(found, "check") if row["outcome"] == "FAILS")
    assert refuting["about"]["quantity"] == "largest Renyi divergence of order 8 over all neighbours"
    assert "whose clipped gradient is at least" in refuting["found"]["pair"]


def test_training_without_a_filter_is_decided_by_its_worst_case(tmp_path: Path) -> None:
    """A full batch in closed form: mu = sqrt(n_steps) clip/sigma, reached by a record that is always clipped."""
    full = TRAINING | {"loss": "squared", "rate": 1.0, "clip": 0.2, "n_steps": 16, "sigma": 2.0, "radius": 0.5}
    text = mechanism("dp-sgd", **full) + claimed(kind="gaussian", mu=0.401, delta=1e-6)
    text += claimed(kind="gaussian", mu=0.399, delta=1e-6) + claimed(kind="renyi", order=3, budget=0.241, delta=1e-6)
    found = decided(tmp_path, text + claimed(kind="renyi", order=3, budget=0.239, delta=1e-6))
    assert list(found.words.values()) == ["PASS (proved)", "FAIL", "PASS (proved)", "FAIL"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("Late", "FAIL"), ("Right", "UNDECIDED (examined)"), ("Raises", "UNDECIDED (not examined)"),
     ("Inside", "FAIL"), ("Without", "UNDECIDED (not examined)")],
)  # fmt: skip
def test_anybodys_filter_is_never_passed(tmp_path: Path, name: str, words: str) -> None:
    found = decided(tmp_path, imported(f"mine.py:{name}") + claimed(**RENYI))
    assert found.words == {"filter": words}
    (finding,) = rows(found, "claim")
    if words == "FAIL":
        assert "Refuted by an analyst who does this: ask RR(" in finding["advice"]
        assert "RR(b) is randomised response with odds b" in finding["advice"]
        assert len(finding["examination"]["games"]) == 2
    if name == "Raises":
        assert finding["reason"] == "filter.admits must answer, got KeyError: 'budget'"


def test_a_budget_that_no_game_can_spend_is_undecided(tmp_path: Path) -> None:
    found = decided(tmp_path, imported("mine.py:Right") + claimed(**RENYI | {"budget": 1e-17}))
    assert found.words == {"filter": "UNDECIDED (not examined)"}
    assert rows(found, "claim")[0]["reason"].startswith("no game can be played")


def test_a_mu_whose_square_is_no_number_is_refused(tmp_path: Path) -> None:
    text = mechanism("filtered-dp-sgd", **TRAINING, filter="renyi", order=8, budget=0.5)
    text += section("[[claims]]", type="filter", kind="gaussian", mu=1e300, delta=1e-5)
    with pytest.raises(UserError, match=r"mu must be between 1e-12 and 1e\+12"):
        decided(tmp_path, text)


def test_a_filter_that_draws_nothing_is_asked_nothing_else(tmp_path: Path) -> None:
    told = "claims.type must be filter for a filter that draws nothing, got claims.type=dp"
    with pytest.raises(UserError, match=told):
        decided(tmp_path, imported("mine.py:Right") + section("[[claims]]", type="dp", epsilon=1.0, delta=1e-6))
    with pytest.raises(UserError, match="methods start, spend and admits, got none named admits"):
        decided(tmp_path, imported("mine.py:Lacking") + claimed(**RENYI))
    with pytest.raises(UserError, match="release must be absent for a filter that draws nothing"):
        decided(tmp_path, imported("mine.py:Right") + claimed(**RENYI) + section("[release]", draw=True))


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
    text = mechanism("filtered-dp-sgd", **TRAINING | {"n_steps": 400}, filter="renyi", order=8, budget=0.2)
    text += claimed(**RENYI | {"budget": 0.2}) + section("[[claims]]", type="dp", epsilon=1.9, delta=1e-5)
    found = decided(tmp_path, text)
    assert list(found.words.values()) == ["PASS (proved)"] * 2
    assert {row["notes"]["rests on"] for row in rows(found, "check") if row["notes"].get("rests on")} == {
        "Feldman and Zrnic (2021): docs/derivations/filters.md"
    }
    text = mechanism("filtered-dp-sgd", **TRAINING, filter="renyi", order=8, budget=0.5)
    text += claimed(**RENYI | {"budget": 0.45}) + section("[[claims]]", type="dp", epsilon=3.0, delta=1e-5)
    found = decided(tmp_path, text)
    assert list(found.words.values()) == ["PASS (proved)"] * 2
    told = {row["notes"]["rests on"] for row in rows(found, "check") if row["notes"].get("rests on")}
    assert len(told) == 1
    assert "docs/derivations/dp_sgd.md" in told.pop()


def test_a_budget_that_promises_nothing_is_no_pass(tmp_path: Path) -> None:
    text = mechanism("filtered-dp-sgd", **TRAINING, filter="renyi", order=8, budget=0.5)
    found = decided(tmp_path, text + claimed(**RENYI | {"budget": 1e300}))
    assert list(found.words.values()) == ["UNDECIDED"]
    whole = TRAINING | {"rate": 1.0}
    text = mechanism("filtered-dp-sgd", **whole, filter="renyi", order=8, budget=0.5)
    found = decided(tmp_path, text + section("[[claims]]", type="dp", profile="renyi", alpha=8.0, epsilon=0.51))
    assert list(found.words.values()) == ["PASS (proved)"]
