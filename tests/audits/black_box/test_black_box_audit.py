"""The black-box audit end to end: what it refutes, what it must not refute, and what its types can say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from audits import Budget, Estimate, StreamKey
from audits.black_box.black_box_audit import audit_claim, audit_epsilon, audit_gaussian_dp, black_box_audit
from audits.black_box.black_box_events import PointTradeOff, RankEvent
from audits.black_box.black_box_results import BlackBoxClaim, BlackBoxOutcome, ClaimTest, CurvePoints, LowerBound
from audits.black_box.black_box_samples import sample_sizes
from mechanisms import Dataset, Direction, GaussianProfile, NeighbouringPair, Relation, UnsupportedRelation
from verify.plugin.pytest_audit import Auditor

SIGMA = 3.730632  # analytic Gaussian mechanism at (1, 1e-5), sensitivity 1 (Balle and Wang 2018)


@dataclass(frozen=True)
class Shift:
    """Number of extra records plus noise in every coordinate; only ``draw`` and ``name``."""

    noise: str
    scale: float
    dim: int = 1
    grid: float = 0.0
    name: str = "shift"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator):
        size = (n_draws, self.dim)
        if self.noise == "geometric":
            p = 1 - math.exp(-1 / self.scale)
            noise = (rng.geometric(p, size) - rng.geometric(p, size)).astype(float)
        else:
            noise = self.scale * (rng.standard_normal(size) if self.noise == "gaussian" else rng.laplace(size=size))
        outputs = dataset.n_records - 1 + noise
        return np.round(outputs / self.grid) * self.grid if self.grid else outputs


PAIR = NeighbouringPair.add(Dataset(np.ones((1, 1)), np.zeros(1), 1.0, 1.0), [1.0], 0.0)
PURE = BlackBoxClaim(1.0, 0.0, (Relation.ADD, Relation.REMOVE))


def curve(epsilon: float) -> float:
    return GaussianProfile(1 / SIGMA).delta_at(epsilon)


def budget(n: int, name: str, failure_prob: float = 0.05) -> Budget:
    """``n`` draws per data set."""
    return Budget(2 * n, failure_prob, StreamKey(20240701, ("test black box", name)))


def most_allowed(runs: int, level: float) -> int:
    """Largest count of false alarms that has probability above 1e-7 when the rate is ``level`` at most."""
    return int(stats.binom.isf(1e-7, runs, level))


@pytest.mark.slow
def test_false_alarms_on_a_claim_that_holds_with_equality():
    """Null: Laplace noise of scale 1 is 1-DP with equality. 200 runs of 200 draws at level 0.05; exact bound 1e-7."""
    alarms = sum(
        audit_claim(Shift("laplace", 1.0), PAIR, PURE, budget(200, f"null {i}")).outcome is BlackBoxOutcome.REFUTED
        for i in range(200)
    )
    assert alarms <= most_allowed(200, 0.05)


@pytest.mark.quick
def test_lower_bounds_lie_above_the_truth_at_most_at_their_level():
    """Null: the event of the Laplace mechanism has exactly ratio e. 50 runs, level 0.1; exact bound 1e-7."""
    above = sum(
        audit_epsilon(Shift("laplace", 1.0), PAIR, budget(2500, f"cover {i}", 0.1), delta=0.0).estimate.low > 1.0
        for i in range(50)
    )
    assert above <= most_allowed(50, 0.1)


def test_choosing_and_certifying_on_the_same_draws_would_be_invalid():
    """Mutant: the best of 24 ranks in each direction, uncorrected, rejects the truth far more often than 0.05."""
    rng = np.random.default_rng(3)
    above = 0
    for _ in range(60):
        first, second = 1 + rng.laplace(size=400), rng.laplace(size=400)
        sides = [(np.sort(first), second), (np.sort(-second), -first)]
        events = [RankEvent(k, 400, int((q >= p[-k]).sum()), 400) for p, q in sides for k in range(8, 200, 8)]
        above += min(event.p_value(PointTradeOff(1.0, 0.0)) for event in events) <= 0.05
    assert above > most_allowed(60, 0.05)


def test_half_the_noise_is_found_with_200_draws_and_the_correct_mechanism_is_not_refuted():
    """The refutation has p far below 1e-7 for typical draws; seeds are fixed and were never chosen."""
    broken = audit_claim(Shift("laplace", 0.5), PAIR, PURE, budget(200, "half"))
    assert broken.outcome is BlackBoxOutcome.REFUTED
    assert broken.delta.low > broken.claimed_delta == 0.0
    assert broken.delta.high == 1.0
    correct = audit_claim(Shift("laplace", 1.0), PAIR, PURE, budget(200, "right", 1e-7))
    assert correct.outcome is BlackBoxOutcome.NOT_REFUTED


def test_the_whole_curve_finds_what_one_point_cannot():
    """Gaussian noise divided by 1.5 at 20,000 draws: delta(1) = 1.36e-3 is out of sight, the curve is broken by far."""
    claim = BlackBoxClaim(1.0, 1e-5, (Relation.ADD,), curve)
    result = black_box_audit(Shift("gaussian", SIGMA / 1.5), PAIR, claim, budget(20_000, "curve", 1e-3))
    assert result.curve is result.claim_test
    assert result.outcome is result.claim_test.outcome is BlackBoxOutcome.REFUTED
    assert result.claim_test.delta.low > result.claim_test.claimed_delta
    assert result.claim_test.line == "rank events"
    assert result.p_value <= 1e-3
    assert result.epsilon.estimate.low < 1.564  # the true epsilon at 1e-5
    assert result.epsilon.assumption == ""
    assert result.n_draws == 40_000
    point = black_box_audit(Shift("gaussian", SIGMA / 1.5), PAIR, replace(claim, curve=None), budget(20_000, "p", 1e-3))
    assert point.outcome is BlackBoxOutcome.NOT_REFUTED
    assert point.curve is None
    gaussian = audit_gaussian_dp(Shift("gaussian", SIGMA / 1.5), PAIR, budget(20_000, "curve", 1e-3), delta=1e-5)
    assert "Gaussian" in gaussian.assumption
    assert 1.0 < gaussian.estimate.low < 1.564
    right = audit_claim(Shift("gaussian", SIGMA), PAIR, claim, budget(20_000, "right curve", 1e-7))
    assert right.outcome is BlackBoxOutcome.NOT_REFUTED


def test_a_profile_serves_as_a_curve_in_each_direction():
    claim = BlackBoxClaim(1.0, 1e-5, (Relation.ADD,), GaussianProfile(1 / SIGMA))
    points, called = claim.points(), BlackBoxClaim(1.0, 1e-5, (Relation.ADD,), curve).points()
    assert isinstance(points, CurvePoints)
    np.testing.assert_allclose(points.forward, called.forward, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(points.backward, called.backward, rtol=1e-9, atol=1e-13)
    assert PURE.points().epsilons.tolist() == [1.0]


@pytest.mark.parametrize(
    ("mechanism", "truth", "at_least"),
    [
        (Shift("laplace", 1.0), 1.0, 0.9),
        (Shift("laplace", 0.5, grid=2.0**-20), 2.0, 1.7),
        (Shift("geometric", 0.5), 2.0, 1.7),  # atoms: P(S)/Q(S) = e^2 on every half-line above 0
        (Shift("laplace", 2.0, dim=2), 1.0, 0.8),  # both coordinates shift: the losses add up
    ],
)
def test_lower_bounds_come_close_to_the_truth(mechanism, truth, at_least):
    bound = audit_epsilon(mechanism, PAIR, budget(30_000, f"close {mechanism.noise} {mechanism.dim}", 0.01), delta=0.0)
    assert at_least < bound.estimate.low <= truth
    assert bound.estimate.high == math.inf
    assert bound.direction in Direction


def test_naive_floating_point_noise_is_found_through_its_bits_and_grid_noise_is_not():
    """1 + Laplace and 0 + Laplace lie on different grids of doubles; rounded to one grid they do not."""
    naive = black_box_audit(Shift("laplace", 1.0), PAIR, PURE, budget(20_000, "bits", 1e-3))
    assert naive.floating_point is not None
    assert naive.floating_point.estimate.low > 4.0
    assert naive.implementation_outcome is BlackBoxOutcome.REFUTED
    assert naive.outcome is BlackBoxOutcome.NOT_REFUTED  # the law on the real line keeps its promise
    snapped = black_box_audit(Shift("laplace", 1.0, grid=2.0**-10), PAIR, PURE, budget(20_000, "snapped", 1e-7))
    assert snapped.implementation_outcome is BlackBoxOutcome.NOT_REFUTED


def test_the_assumed_line_is_sharp_where_its_assumption_holds():
    bound = audit_gaussian_dp(Shift("gaussian", 1.0), PAIR, budget(50_000, "gdp", 0.01), delta=1e-5)
    assert 0.95 * 4.37718 < bound.estimate.low < 4.37718  # peers' exact epsilon at mu = 1, delta = 1e-5
    assert audit_gaussian_dp(Shift("laplace", 1.0), PAIR, budget(200, "gdp 0"), delta=0.0).estimate.low == 0.0


def test_equal_budgets_give_equal_results():
    one = audit_epsilon(Shift("gaussian", 1.0), PAIR, budget(3000, "same"), delta=1e-2)
    assert one == audit_epsilon(Shift("gaussian", 1.0), PAIR, budget(3000, "same"), delta=1e-2)
    assert one != audit_epsilon(Shift("gaussian", 1.0), PAIR, budget(3000, "other"), delta=1e-2)


@dataclass(frozen=True)
class Spread:
    """Normal noise around zero whose standard deviation doubles with a second record."""

    name: str = "spread"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator):
        return dataset.n_records * rng.standard_normal((n_draws, 1))


def test_both_directions_are_tried_and_events_need_not_be_half_lines_of_the_output():
    """P and Q are N(0, 1) and N(0, 4): p/q is at most 2, q/p is unbounded, in the tails on both sides."""
    forward = audit_epsilon(Spread(), PAIR, budget(20_000, "spread", 0.01), delta=1e-3)
    backward = audit_epsilon(Spread(), PAIR.swapped(), budget(20_000, "spread", 0.01), delta=1e-3)
    assert forward.direction is Direction.BACKWARD
    assert backward.direction is Direction.FORWARD
    assert forward.estimate.low > 1.5 > math.log(2)
    assert backward.estimate.low > 1.5
    assert "piecewise-linear" in forward.event


@dataclass(frozen=True)
class Bump:
    """A standard normal; with the extra record, one output in eight lies within 0.01 of a point."""

    name: str = "bump"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator):
        near = 0.4 + 0.01 * (2 * rng.random(n_draws) - 1)
        inside = (rng.random(n_draws) < 0.125) & (dataset.n_records > 1)
        return np.where(inside, near, rng.standard_normal(n_draws))[:, None]


def test_a_narrow_bump_of_the_density_is_found_wherever_it_lies():
    """The bump has 1/8 of one law and 0.0074 of the other: epsilon is above 2.8."""
    assert audit_epsilon(Bump(), PAIR, budget(40_000, "bump"), delta=0.0).estimate.low > 1.5


def test_the_types_cannot_support():
    assert {o.name for o in BlackBoxOutcome} == {"REFUTED", "NOT_REFUTED"}
    finite = Estimate(1.0, 0.5, 2.0, 0.05, 100, "x")
    with pytest.raises(ValueError, match="must be infinite for a lower bound"):
        LowerBound(finite, 0.0, Direction.FORWARD, "event")
    with pytest.raises(ValueError, match="must be 1 for a lower bound"):
        ClaimTest(1.0, 0.0, Estimate(0.1, 0.0, 0.2, 0.05, 100, "x"), 0.5, 0.05, Direction.FORWARD, "event")


def test_what_the_claim_does_not_cover_is_refused_by_name():
    claim = BlackBoxClaim(1.0, 0.0, (Relation.REPLACE,))
    for audit in (audit_claim, black_box_audit):
        with pytest.raises(UnsupportedRelation, match="relation must be REPLACE, got relation=ADD"):
            audit(Shift("laplace", 1.0), PAIR, claim, budget(200, "relation"))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: BlackBoxClaim(-1.0, 0.0, (Relation.ADD,)), "epsilon must be finite and at least 0, got epsilon=-1.0"),
        (lambda: BlackBoxClaim(math.nan, 0.0, (Relation.ADD,)), "epsilon must be finite"),
        (lambda: BlackBoxClaim(1.0, 1.5, (Relation.ADD,)), r"delta must be in \[0, 1\], got delta=1.5"),
        (lambda: BlackBoxClaim(1.0, 0.0, ()), "relations must be a non-empty tuple"),
        (lambda: BlackBoxClaim(1.0, 0.0, (Relation.ADD,), lambda e: 2.0).points(), "curve"),
        (lambda: audit_epsilon(Shift("laplace", 1.0), PAIR, budget(200, "nan"), delta=math.nan), "delta must be in"),
        (
            lambda: audit_epsilon(Shift("laplace", 1.0), PAIR, budget(40, "few"), delta=0.0),
            "n_draws must be at least 100",
        ),
    ],
)
def test_impossible_input_is_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(("n", "k"), [(50, 1), (200, 3), (2000, 1), (10**6, 1), (10**5, 4)])
def test_the_three_samples_are_disjoint_and_use_every_draw(n, k):
    train, choose, certify = sample_sizes(n, k)
    assert train + choose + certify == n
    assert min(train, certify) > 0
    assert certify >= n // 2


SIZES = (800, 8_000)  # preset events only; learned and chosen ones


@dataclass(frozen=True)
class Odd:
    """``outputs(extra, n, rng)`` for 0 or 1 extra record."""

    outputs: Callable[[int, int, np.random.Generator], np.ndarray]
    name: str = "odd"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator):
        return np.asarray(self.outputs(dataset.n_records - 1, n_draws, rng), dtype=np.float64).reshape(n_draws, -1)


def audit(outputs, n_draws, epsilon=1.0):
    claim = BlackBoxClaim(epsilon, 0.0, (Relation.ADD,))
    return black_box_audit(Odd(outputs), PAIR, claim, Budget(n_draws, 1e-6, StreamKey(2, ("odd",))))


LEAKS = {
    "no noise": lambda extra, n, rng: np.full(n, float(extra)),
    "hardly any noise": lambda extra, n, rng: rng.random(n) < (0.9995 if extra else 0.0005),
    "huge": lambda extra, n, rng: 1e308 * (rng.random(n) - 0.5 + extra),
    "infinite": lambda extra, n, rng: np.where(rng.random((n, 2)) < 0.4, np.inf if extra else -np.inf, 0.0),
}


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.parametrize("n_draws", SIZES)
def test_what_leaks_is_refuted(name, n_draws):
    assert audit(LEAKS[name], n_draws).outcome is BlackBoxOutcome.REFUTED


def test_one_atom_among_continuous_outputs_is_a_cell_to_test():
    """Half of the outputs on one data set are "no result", none on the other; all else has the same law."""

    def outputs(extra, n, rng):
        return np.where(rng.random(n) < 0.5 * extra, np.nan, rng.laplace(size=n))

    assert audit(outputs, 8_000).epsilon.estimate.low > 4.0


HARMLESS = {
    "constant": lambda extra, n, rng: np.zeros((n, 3)),
    "infinite at random": lambda extra, n, rng: np.where(rng.random((n, 3)) < 0.5, np.inf, -np.inf),
    "mostly infinite": lambda extra, n, rng: np.where(rng.random(n) < 0.6, np.inf, extra + rng.laplace(size=n)),
    "no result at random": lambda extra, n, rng: np.where(rng.random(n) < 0.1, np.nan, extra + rng.laplace(size=n)),
    "huge and alike": lambda extra, n, rng: 1e308 * (rng.random((n, 2)) - 0.5),
}


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("n_draws", SIZES)
def test_what_does_not_leak_is_not_refuted(name, n_draws):
    """Null: (1, 0) holds on the real line. Level 1e-6 a line, at most 8000 draws."""
    assert audit(HARMLESS[name], n_draws).outcome is BlackBoxOutcome.NOT_REFUTED


@pytest.mark.parametrize("n_draws", SIZES)
@pytest.mark.parametrize("outputs", [LEAKS["no noise"], lambda extra, n, rng: extra + rng.laplace(size=n)])
def test_an_epsilon_whose_exponential_overflows_is_a_claim_like_any_other(outputs, n_draws):
    result = audit(outputs, n_draws, epsilon=800.0)
    assert result.outcome is BlackBoxOutcome.NOT_REFUTED
    assert result.point.p_value == 1.0


def test_a_refutation_by_few_discrete_outputs_lies_above_the_claim_and_fails_a_user_s_test():
    """Barnard's test has no bound of its own: the lower end of delta is just above the claimed one."""

    def outputs(extra, n, rng):
        return rng.random(n) < (0.95 if extra else 0.05)

    for delta in (0.0, 0.1):
        claim = BlackBoxClaim(1.0, delta, (Relation.ADD,))
        test = audit_claim(Odd(outputs), PAIR, claim, Budget(700, 1e-6, StreamKey(2, ("few",))))
        assert test.outcome is BlackBoxOutcome.REFUTED
        assert test.delta.low > delta
    row = Auditor("a test", "", seed=1, n_draws=700, failure_prob=1e-6)(Odd(outputs), PAIR, (1.0, 0.0), expect="fail")
    assert row["outcome"] == "FAILS"
