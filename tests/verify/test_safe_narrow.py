"""A loss that bends within a hair's breadth under much noise: decided in a moment, in the right direction."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from toys.deployments import QUICK, dp, mechanism, section

from mechanisms import BOTH, Direction, LogisticLoss, PoissonLoss, PseudoHuberLoss, SmoothedHingeLoss
from mechanisms.losses import GlmLoss
from mechanisms.perturbed_solver import SolverError
from verify.cli import invoke
from verify.deployment import claims_dp, pair_audits
from verify.deployment.counterexamples import worst_pair
from verify.deployment.one_record import OneRecord, slopes_of
from verify.deployment.universal import Domain

NARROW = SmoothedHingeLoss(0.01)
LOSSES: tuple[GlmLoss, ...] = (LogisticLoss(), NARROW, PseudoHuberLoss(0.1), PoissonLoss())


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@given(low=st.floats(-30, 30), width=st.floats(0, 60), share=st.floats(0, 1))
def test_slopes_over_a_range_are_those_of_its_ends_and_of_the_bend(
    loss: GlmLoss, low: float, width: float, share: float
) -> None:
    with ctx.workprec(128):
        slopes = slopes_of(loss, arb(1))
        ends = arb(low), arb(low) + arb(width)
        (first_low, first_high), (second_low, second_high) = slopes.over(*ends)
        inside = arb((ends[0] + (ends[1] - ends[0]) * share).mid())
        inside = inside.max(ends[0]).min(ends[1])
        assert not (slopes.first(inside) < first_low)
        assert not (slopes.first(inside) > first_high)
        assert not (slopes.second(inside) < second_low)
        assert not (slopes.second(inside) > second_high)
        at, y = np.asarray(float(inside)), np.asarray(1.0)
        assert float(slopes.first(arb(float(at)))) == pytest.approx(float(loss.first(at, y)), rel=1e-9, abs=1e-12)
        assert float(slopes.second(arb(float(at)))) == pytest.approx(float(loss.second(at, y)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize("x_norm", [1.0, 1e3, 1e9])
def test_the_poisson_loss_of_long_records_is_enclosed_at_once(x_norm: float, direction: Direction) -> None:
    """On the way here a record of norm 1e9 took minutes: e^u spans more than a ball's radius can."""
    found = OneRecord(PoissonLoss(), 8.0, 4.0, x_norm, 3.0).delta(1.0, direction, scale=1e-6)
    assert found.high - found.low < 1e-9
    assert (found.low > 0.999) == (x_norm > 1)


def literal(record: OneRecord, epsilon: float, direction: Direction) -> float:
    """The integral of the positive part, in pieces around the bend."""
    s, lam, sigma, width = record.x_norm, record.lam, record.sigma, NARROW.width
    y = np.asarray(record.y)

    def gain(t: float) -> float:
        pull, bent = s * float(record.loss.first(s * t, y)), s * s * float(record.loss.second(s * t, y))
        without = math.exp(-0.5 * (lam * t / sigma) ** 2) * lam / sigma
        with_record = math.exp(-0.5 * ((lam * t + pull) / sigma) ** 2) * (lam + bent) / sigma
        drawn, other = (without, with_record) if direction is Direction.FORWARD else (with_record, without)
        return max(0.0, drawn - math.exp(epsilon) * other) / math.sqrt(2 * math.pi)

    far = 12 * sigma / lam
    ends = [-far, *(record.y + k * width for k in range(-40, 41)), far]
    return sum(quad(gain, a, b, epsabs=1e-12)[0] for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize("direction", BOTH)
def test_a_narrow_hinge_is_enclosed_and_guessed(direction: Direction) -> None:
    """On 39dc713 the enclosure took minutes, and the guess was 0 where the truth is .0497."""
    record = OneRecord(NARROW, 8.0, 0.001, 1.0, 1.0)
    found, truth = record.delta(1.0, direction, scale=1e-6), literal(record, 1.0, direction)
    assert found.low - 1e-9 <= truth <= found.high + 1e-9
    assert record.delta_float(1.0, direction) == pytest.approx(truth, rel=1e-3, abs=1e-9)


def test_the_worst_pair_of_a_narrow_hinge_is_the_worse_direction() -> None:
    from mechanisms import ObjectivePerturbation

    worst = worst_pair(ObjectivePerturbation(NARROW, 8.0, 0.001), Domain(3, 1.0, 1.0), 1.0, 1e-6)
    assert worst is not None
    assert worst.direction is Direction.BACKWARD
    assert worst.delta.low == pytest.approx(0.0497181, rel=1e-5)


@pytest.mark.parametrize(("sigma", "code"), [(11.0, 0), (2.75, 1)])
def test_draws_that_cannot_be_made_are_no_evidence_and_no_exit(
    sigma: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What decides is proved: a solver that gives up takes away what only accompanies it."""

    def stop(*_: object, **__: object) -> None:
        raise SolverError("residual must be within reach of float64, got residual=1e-08")

    monkeypatch.setattr(pair_audits, "pair_evidence", stop)
    for name in ("sampled_delta", "audit_tails", "record_figures"):
        monkeypatch.setattr(claims_dp, name, stop)
    mine = mechanism("objective-perturbation", loss="logistic", sigma=sigma, lam=0.5)
    (tmp_path / "d.toml").write_text(section("[data]", source="fair") + mine + dp(1.0) + QUICK)
    assert invoke(["certify", str(tmp_path / "d.toml"), "--out", str(tmp_path / "out")]) == code
    assert capsys.readouterr().err == ""
    assert invoke(["check", str(tmp_path / "out")]) == 0
    record = (tmp_path / "out" / "release" / "audit.jsonl").read_text()
    assert "within reach of float64" in record or "NO_FINITE_TEST" in record
