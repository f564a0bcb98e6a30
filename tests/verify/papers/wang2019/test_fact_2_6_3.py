"""W19, Fact 2.6 (3): processing by hand-made functions of random laws."""

from __future__ import annotations

import pytest
from oracles.formula_cases import exact_value

from verify.methods.finite_mechanisms import random_law
from verify.papers.wang2019.fact_2_6_3 import STATEMENT

PARAMS = {"outputs": 4, "seed": 1, "exp(epsilon)": 1.5}


def test_identity_and_constant() -> None:
    assert exact_value(STATEMENT, "", "printed", PARAMS | {"function": "identity"}) == 1.0
    assert exact_value(STATEMENT, "", "printed", PARAMS | {"function": "constant"}) == 0.0
    cut = exact_value(STATEMENT, "", "delta cut by 5 %", PARAMS | {"function": "identity"})
    assert cut == pytest.approx(1 / 0.95)


def test_a_function_that_sees_the_data() -> None:
    """Constant without the target, the identity with it: (1, 0, 0, 0) against q."""
    p, q = ([float(v) for v in random_law(4, 1, k)] for k in (1, 2))
    before = max(sum(max(0.0, a - 1.5 * b) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p)))
    after = max(max(0.0, 1 - 1.5 * q[0]), max(0.0, q[0] - 1.5) + sum(q[1:]))
    found = exact_value(STATEMENT, "", "a function that sees the data", PARAMS | {"function": "constant"})
    assert found == pytest.approx(after / before)
