"""Records from a public domain follow the law that they state: columns, intercept, ball, responses and labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from verify.certificates.config.config import DataSection
from verify.choice.synthetic_records import ball_records, prepared_records


def section(**more: Any) -> DataSection:
    base = {"file": "none.csv", "features": ["a", "kind"], "target": "y", "x_bound": 1.0, "y_bound": 3.0}
    return DataSection.model_validate(base | {"categories": {"kind": ["u", "v", "w"]}} | more)


def test_columns_are_drawn_as_they_are_stated_and_prepared() -> None:
    given = section(ranges={"a": (10.0, 20.0)}, intercept=1.0, log="log", response_scale=7.0)
    data = prepared_records(given, 3000, loss="squared", rng=np.random.default_rng(1))
    root = math.sqrt(5)  # a, three levels, the intercept
    assert data.X[:, 4] == pytest.approx(np.full(3000, 1 / root))
    assert np.abs(data.X[:, 0]).max() <= 1 / root
    # uniform: variance a third of the square, and 6 standard errors (kurtosis 9/5)
    assert data.X[:, 0].var() * 5 == pytest.approx(1 / 3, abs=6 * math.sqrt(4 / 45 / 3000))
    levels = data.X[:, 1:4] * root
    assert levels.sum(axis=1) == pytest.approx(np.ones(3000))
    for level in levels.T:  # null: a third of 3,000 draws, refused at 1e-6
        assert binomtest(int(level.sum().round()), 3000, 1 / 3).pvalue > 1e-6
    assert np.abs(data.y).max() <= 3


def test_without_ranges_rows_fill_the_ball_beside_the_intercept() -> None:
    given = section(x_bound=2.0, intercept=1.0)
    data = prepared_records(given, 500, loss="squared", rng=np.random.default_rng(2))
    assert data.X[:, -1].tolist() == [1.0] * 500
    longest = float(np.linalg.norm(data.X[:, :-1], axis=1).max())
    assert 0.97 * math.sqrt(3) < longest <= math.sqrt(3)
    assert any("intercept as it is" in step for step in data.steps)


def test_half_of_a_response_is_noise() -> None:
    data = ball_records(20_000, 3, 1.0, 6.0, loss="squared", rng=np.random.default_rng(3))
    fitted = data.X @ np.linalg.lstsq(data.X, data.y, rcond=None)[0]
    # a third of the bound is one standard deviation: 0.27 % is clipped, which takes next to nothing
    assert data.y.std() == pytest.approx(2.0, rel=0.03)
    assert fitted.var() / data.y.var() == pytest.approx(0.5, abs=0.03)


def test_labels_follow_the_logistic_model() -> None:
    data = ball_records(20_000, 2, 1.0, 1.0, loss="logistic", rng=np.random.default_rng(4))
    theta = np.linalg.lstsq(data.X, data.y, rcond=None)[0]
    scores = data.X @ theta
    scores /= scores.std()
    for low, high in ((-2.0, -1.0), (-0.5, 0.5), (1.0, 2.0)):
        inside = (scores > low) & (scores < high)
        expected = float((1 / (1 + np.exp(-2 * scores[inside]))).mean())
        # the fitted direction is off by about 1 %; 6 standard errors beside
        spread = 6 * math.sqrt(0.25 / int(inside.sum())) + 0.02
        assert float((data.y[inside] > 0).mean()) == pytest.approx(expected, abs=spread)
