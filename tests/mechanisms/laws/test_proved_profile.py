"""Brackets proved from the data on: rational arithmetic beside them, and what rounding first would have missed."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from audits import exact_delta, exact_epsilon
from mechanisms import BOTH, Dataset, Direction, GaussianOutput, NeighbouringPair, PosteriorSampling
from mechanisms.catalogue import example_data, example_pair
from mechanisms.data.neighbours import UnsupportedRelation
from mechanisms.laws.gaussian_profile import gaussian_balls
from mechanisms.laws.profile_tools import DataProfile, proved_profile
from mechanisms.laws.quadratic_profile import quadratic_balls
from mechanisms.linear.ridge import PlainMap, RidgeMap
from mechanisms.linear.sufficient_statistics import SufficientStatistics

METRIC = np.array([[2.0, 0.5], [0.5, 1.0]])
MECHANISMS = {
    "posterior": PosteriorSampling(3.0, 1.0),
    "Gaussian": GaussianOutput(METRIC, 30.0, RidgeMap(1.0)),
    "SSP": SufficientStatistics(1.2, 0.9, lam=0.5),
}
#: The target, the others alike: leverages of nearly singular designs are where float64 loses digits.
THIN = Dataset(np.column_stack([np.full(6, 0.7), 0.7 + 1e-5 * np.arange(6)]), 0.1 * np.arange(6), 2.0, 1.0)


def ball(value: Fraction):
    return arb(fmpq(value.numerator, value.denominator))


def in_rationals(name: str, pair: NeighbouringPair, epsilon: float, direction: Direction) -> float:
    """Cramer's rule over the exact rationals that the floats of the data are, then 400 bits."""
    rest = pair.first if pair.relation.name == "ADD" else pair.second
    rows = [[Fraction(v) for v in row] for row in rest.X.tolist()]
    y = [Fraction(v) for v in rest.y.tolist()]
    x, target = [Fraction(v) for v in pair.x.tolist()], Fraction(pair.y)
    with ctx.workprec(400):
        if name == "SSP":
            gram = sum(x[i] ** 2 * x[j] ** 2 for i in range(2) for j in range(i, 2)) / Fraction(1.2) ** 2
            moment = sum(v * v for v in x) * target**2 / Fraction(0.9) ** 2
            return float(gaussian_balls(arb(epsilon), ball(gram + moment).sqrt())[0])
        lam = Fraction(1)
        a, b, d = (sum(r[i] * r[j] for r in rows) + lam * (i == j) for i, j in ((0, 0), (0, 1), (1, 1)))
        det = a * d - b * b

        def solve(v: list[Fraction]) -> list[Fraction]:
            return [(d * v[0] - b * v[1]) / det, (a * v[1] - b * v[0]) / det]

        theta = solve([sum(r[i] * t for r, t in zip(rows, y, strict=True)) for i in range(2)])
        white = solve(x)
        leverage, residual = x[0] * white[0] + x[1] * white[1], target - x[0] * theta[0] - x[1] * theta[1]
        if name == "posterior":
            towards = direction if pair.relation.name == "ADD" else direction.opposite
            return float(quadratic_balls(arb(epsilon), ball(leverage), arb(3.0).sqrt() * ball(residual), towards)[0])
        shift = [w * residual / (1 + leverage) for w in white]
        metric = [[Fraction(v) for v in row] for row in METRIC.tolist()]
        square = 30 * sum(shift[i] * metric[i][j] * shift[j] for i in range(2) for j in range(2))
        return float(gaussian_balls(arb(epsilon), ball(square).sqrt())[0])


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize("name", MECHANISMS)
def test_brackets_hold_the_rational_value(name: str, direction: Direction) -> None:
    thin = NeighbouringPair.add(THIN, [0.9, -0.9], -0.7)
    for pair in (example_pair(), NeighbouringPair.remove(example_data(), 7), thin):
        profile = proved_profile(MECHANISMS[name], pair)
        assert isinstance(profile, DataProfile)
        for epsilon in (0.05, 0.4):
            exact, bracket = in_rationals(name, pair, epsilon, direction), profile.delta_bracket(epsilon, direction)
            assert bracket.low <= exact <= bracket.high
            assert bracket.high - bracket.low <= 1e-12 * bracket.high + 1e-300


def test_brackets_from_rounded_numbers_can_miss_it() -> None:
    """Mutant: the profile's own brackets, from a leverage rounded to float64, exclude the value of thin designs.

    Which of them depends on the processor (the order of a BLAS sum), so there are many.
    """
    missed = 0
    for offset in range(5, 25):
        X = np.column_stack([np.full(6, 0.7), 0.7 + 1e-6 * offset * np.arange(6)])
        pair = NeighbouringPair.add(Dataset(X, 0.1 * np.arange(6), 2.0, 1.0), [0.9, -0.9], -0.7)
        exact = in_rationals("posterior", pair, 0.4, Direction.FORWARD)
        bracket = MECHANISMS["posterior"].profile(pair).delta_bracket(0.4, Direction.FORWARD)
        missed += not bracket.low <= exact <= bracket.high
    assert missed > 0


def test_other_numbers_are_those_of_the_profile() -> None:
    pair = example_pair()
    for mechanism in MECHANISMS.values():
        plain, proved = mechanism.profile(pair), proved_profile(mechanism, pair)
        for d in BOTH:
            assert proved.delta_at(0.3, d) == plain.delta_at(0.3, d)
            assert proved.log_delta_at(0.3, d) == plain.log_delta_at(0.3, d)
            assert proved.tail_at(0.3, d) == plain.tail_at(0.3, d)
            assert proved.epsilon_at(1e-3, d) == plain.epsilon_at(1e-3, d)
            assert proved.tail_bracket(0.3, d).mid == pytest.approx(plain.tail_at(0.3, d), rel=1e-9)
        assert exact_epsilon(proved, 1e-3).low <= exact_epsilon(plain, 1e-3).value * (1 + 1e-9)
        again = pickle.loads(pickle.dumps(proved))
        assert exact_delta(again, 0.3) == exact_delta(proved, 0.3)


def test_what_cannot_be_proved_from_the_data_keeps_its_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = example_pair()
    plain = GaussianOutput(np.eye(2), 1.0, PlainMap(lambda dataset: dataset.X.sum(axis=0)))
    assert not isinstance(proved_profile(plain, pair), DataProfile)
    replaced = NeighbouringPair.replace(example_data(), 0, [0.1, 0.1], 0.1)
    for name in ("SSP", "Gaussian"):
        assert isinstance(proved_profile(MECHANISMS[name], replaced), DataProfile)
    with pytest.raises(UnsupportedRelation):
        MECHANISMS["posterior"].delta_bracket(replaced, 0.1, Direction.FORWARD)
    monkeypatch.setattr("mechanisms.laws.profile_tools.MOST_ENTRIES", 10)
    assert not isinstance(proved_profile(MECHANISMS["SSP"], pair), DataProfile)
