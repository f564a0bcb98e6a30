"""Cells: what each name on the mechanism axis stands for, and that a row is a pure function of its cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mechanisms import BOTH, ExactLaw, GaussianOutput, PosteriorSampling
from verify.engine.rows import dumps
from verify.engine.versions import difference, identity
from verify.papers.wang2019.thm_4_1 import out_of_sample
from verify.sweeps import cell as cells
from verify.sweeps.cell import TARGETS, Shared, decide_cell, pair_of
from verify.sweeps.mechanism_axis import RECIPES

SHARED = Shared(1, 400, 1e-7, {})


def cell(mechanism: str, **changes: Any) -> dict[str, Any]:
    loss = RECIPES[mechanism].losses[0]
    base = {"mechanism": mechanism, "loss": loss, "n": 12, "dim": 2, "conditioning": 10.0, "seed": 3}
    return base | {"target": "member", "delta": 1e-4, "epsilon": 0.7} | changes


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("mechanism", [name for name, recipe in RECIPES.items() if recipe.exact])
def test_exact_cells_agree_with_the_profile(mechanism: str, target: str) -> None:
    """The row's interval holds delta from the mechanism's own float64 profile (relative 1e-9: two evaluations)."""
    mine = cell(mechanism, target=target)
    row, pair = decide_cell(mine, SHARED), pair_of(mine, SHARED)
    assert row["error"] is None
    setup = RECIPES[mechanism].build("squared", pair, 0.7, 1e-4)
    if row["outcome"] == "OUT_OF_DOMAIN":
        assert setup.out_of_domain
    else:
        assert isinstance(setup.mechanism, PosteriorSampling | GaussianOutput) or mechanism.startswith("ssp")
        assert isinstance(setup.mechanism, ExactLaw)
        delta = max(setup.mechanism.profile(pair).delta_at(0.7, d) for d in BOTH)
        assert math.isclose(row["exact"]["value"], delta, rel_tol=1e-9)
        assert row["outcome"] == ("HOLDS" if delta < 1e-4 else "FAILS")
    assert (row["n_draws"], row["failure_prob"]) == (0, 0.0)


@pytest.mark.parametrize(("mechanism", "tail"), [("ops-per-instance", 1.0), ("ops-per-instance-corrected", 2.0)])
def test_per_instance_rule_meets_its_bound(mechanism: str, tail: float) -> None:
    """At the chosen gamma the bound is the target epsilon; a larger gamma exceeds it."""
    pair = pair_of(cell(mechanism, n=60), SHARED)
    chosen = RECIPES[mechanism].build("squared", pair, 0.7, 1e-4).mechanism
    assert isinstance(chosen, PosteriorSampling)
    for factor, compare in ((1.0, math.isclose), (1.01, lambda bound, epsilon: bound > epsilon)):
        leverage, scaled = PosteriorSampling(chosen.gamma * factor, chosen.lam).target(pair)
        bound = out_of_sample({"leverage": leverage, "residual": abs(scaled), "delta": 1e-4}, tail=tail)
        assert compare(bound, 0.7)


def test_exact_calibration_is_tight_and_the_printed_gaussian_rule_breaks() -> None:
    """W19-L2.4 as printed has gamma for its root: at a sensitivity below 1 the noise is too small."""
    tight = decide_cell(cell("gaussian-analytic"), SHARED)
    assert tight["outcome"] == "HOLDS"
    assert 0 < tight["margin"] < 1e-4
    assert decide_cell(cell("gaussian-printed", target="lonely", epsilon=0.5, conditioning=100.0), SHARED)[
        "outcome"
    ] == ("FAILS")


def test_sampled_cell_is_a_pure_function_and_spends_its_share() -> None:
    mine = cell("objective-perturbation-corrected", loss="logistic", delta=0.2)
    first, again = decide_cell(mine, SHARED), decide_cell(mine, SHARED)
    assert dumps(first) == dumps(again)
    assert first["error"] is None
    assert first["n_draws"] == 400
    assert first["sampled"]["failure_prob"] <= 0.5e-7 * (1 + 1e-9)
    other = decide_cell(mine, Shared(2, 400, 1e-7, {}))
    assert dumps(first) != dumps(other)


def test_combination_without_meaning_makes_no_claim() -> None:
    row = decide_cell(cell("ssp", loss="logistic"), SHARED)
    assert (row["outcome"], row["margin"], row["error"]) == ("OUT_OF_DOMAIN", "nan", None)
    assert row["detail"] == "the loss must be squared for ssp"


def test_exception_becomes_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ArithmeticError("two\nlines")

    monkeypatch.setattr(cells, "make_pair", broken)
    row = decide_cell(cell("ssp"), SHARED)
    assert row["error"] == {"type": "ArithmeticError", "message": "two lines"}
    assert (row["outcome"], row["reason"]) == ("UNDECIDED", "ERROR")


@pytest.mark.parametrize("labels", ["squared", "logistic"])
def test_data_of_a_cell_have_the_conditioning_and_lie_in_their_domain(labels: str) -> None:
    mechanism = "ssp" if labels == "squared" else "objective-perturbation"
    pairs = {t: pair_of(cell(mechanism, loss=labels, n=2000, target=t), SHARED) for t in TARGETS}
    X, y = pairs["member"].first.X, pairs["member"].first.y
    values = np.linalg.eigvalsh(X.T @ X)
    assert 5 < values[-1] / values[0] < 20  # 10 in the population, less what clipping takes
    assert set(y) == {-1.0, 1.0} or labels == "squared"
    assert {pair.first.digest for pair in pairs.values()} == {pairs["member"].first.digest}
    for name in ("lonely", "extreme"):
        assert math.isclose(float(np.linalg.norm(pairs[name].x)), 1.0)
    solved = np.linalg.solve(X.T @ X, np.column_stack([pairs["lonely"].x, pairs["extreme"].x]))
    leverages = [float(pairs[name].x @ solved[:, i]) for i, name in enumerate(("lonely", "extreme"))]
    assert np.allclose(leverages, [1 / values[0], 1 / values[-1]])


def test_identity_names_what_differs() -> None:
    ours = identity()
    assert difference(ours, identity()) == ""
    assert difference(ours, ours | {"sources": "0" * 64}).startswith("digest of our sources 0000")
    assert difference(ours, ours | {"platform": "Plan 9"}).startswith("platform Plan 9, here ")
    changed = ours["versions"] | {"numpy": "1.0"}
    assert difference(ours, ours | {"versions": changed}).startswith("version of numpy 1.0, here ")
    assert difference({}, {}) == ""
