"""RW21, Theorem 8: a bound on the determinant term that needs no release, and the proof line behind it.

Instances are rational: the target's Hessian is diagonal, ``diag(lambda_1, …, lambda_d)``, which is no restriction as the rest
of the Hessian is arbitrary. The printed product of ``1 -+ mu_j`` is then a rational number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from audits import Budget, Estimate
from mechanisms.balls import enclose

from ..boxes import box_evidence, prove_nonnegative
from ..cases import case, grid, mutant
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value

ID = "RW21-T8"
BOUND, GLM, LINE = f"{ID}#bound", f"{ID}#glm", f"{ID}.p"
Matrix = list[list[Fraction]]

#: Factor on the printed bound, by version.
FACTORS = {"printed": Fraction(1), "bound cut by 10 %": Fraction(9, 10)}
BOX = {"w": Axis(1e-3, 0.999), "s": Axis(0.0, 1.0, log=False)}


def determinant(M: Matrix) -> Fraction:
    """Return the determinant by fraction elimination."""
    rows, value = [list(row) for row in M], Fraction(1)
    for i in range(len(rows)):
        pivot = rows[i][i]  # never 0: all matrices here are definite
        value *= pivot
        for j in range(i + 1, len(rows)):
            factor = rows[j][i] / pivot
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return value


def mus(minus_gradient: Matrix, eigenvalues: Sequence[Fraction], sign: int) -> list[Fraction]:
    """Return every ``mu_j = lambda_j u_j^T (grad b -+ sum_{k<j} lambda_k u_k u_k^T)^{-1} u_j``, ``u_j = e_j``, ``-grad b`` given."""
    M = [[-value for value in row] for row in minus_gradient]
    out = []
    for j, value in enumerate(eigenvalues):
        minor = [[v for c, v in enumerate(row) if c != j] for r, row in enumerate(M) if r != j]
        out.append(value * (determinant(minor) if minor else Fraction(1)) / determinant(M))
        M[j][j] -= sign * value
    return out


def instance(case: Case) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """Return the ``mu_j``, the target's eigenvalues and ``lambda`` of a case."""
    dim, n, sign, lam = case.whole("dim"), case.whole("n"), case.whole("sign"), Fraction(case.text("lambda"))
    rng = np.random.Generator(np.random.PCG64DXSM([dim, n]))
    top = Fraction(case.text("largest"))  # largest eigenvalue over lambda
    scales = [Fraction(int(k), 8) for k in rng.integers(0, 9, dim)]
    scales[0] = Fraction(1)
    eigenvalues = [top * lam * scale for scale in scales]
    rows = [[Fraction(int(v), 8) for v in row] for row in rng.integers(-8, 9, (n, dim))]
    H = [[sum((r[i] * r[j] for r in rows), lam * (i == j)) for j in range(dim)] for i in range(dim)]
    if sign < 0:  # the target is one of the records
        for j, value in enumerate(eigenvalues):
            H[j][j] += value
    return mus(H, eigenvalues, sign), eigenvalues, lam


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    if case.part == GLM:
        return _box(case)
    values, eigenvalues, lam = instance(case)
    if case.part == LINE:
        return _line(case, values, [each / lam for each in eigenvalues])
    sign = case.whole("sign")
    product, bound = Fraction(1), Fraction(1)
    for mu, each in zip(values, eigenvalues, strict=True):
        product, bound = product * (1 - sign * mu), bound * (1 - each / lam)
    factor = FACTORS[version_name(case)]

    def gap() -> Any:
        return -_ball(factor) * _ball(bound).log() - abs(_ball(product).log())

    found = enclose(gap)
    claim = Claim("printed bound minus |log prod_j (1 -+ mu_j)|", 0.0, float("inf"), 0.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "rational arithmetic, logarithms in balls"))


def _ball(value: Fraction) -> Any:
    return arb(value.numerator) / arb(value.denominator)


def _box(case: Case) -> Evidence:
    """Prove the generalised linear bound on a box: ``f'' mu = s w`` (added) or ``s w/(1 + w)`` (removed), ``s`` in [0, 1]."""
    added, factor = case.whole("sign") > 0, _ball(FACTORS[version_name(case)])

    def gap(p: Mapping[str, Any]) -> Any:
        w, s = p["w"], p["s"]
        term = (1 + s * w).log() if added else -(1 - s * w / (1 + w)).log()
        return (-factor * (1 - w).log() - term) / w

    quantity = "bound minus determinant term, over w = f'' ||x||^2/lambda"
    return box_evidence(quantity, prove_nonnegative(gap, BOX, smooth=True), BOX)


#: The proof line: the rational number that each version says is at least 0, for one j.
LINES: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "printed": lambda mu, ratio: min(-ratio - mu, ratio),
    "corrected": lambda mu, ratio: min(mu + ratio, -mu),
    "lower end cut by 10 %": lambda mu, ratio: min(mu + Fraction(9, 10) * ratio, -mu),
}


def _line(case: Case, values: Sequence[Fraction], ratios: Sequence[Fraction]) -> Evidence:
    least = float(min(LINES[version_name(case)](mu, ratio) for mu, ratio in zip(values, ratios, strict=True)))
    claim = Claim("least slack of the line over j", 0.0, float("inf"), 0.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(least, least, "rational arithmetic"))


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    axes: dict[str, tuple[Value, ...]] = {
        "dim": (1, 2, 4),
        "n": (0, 1, 8),
        "sign": (1, -1),
        "lambda": ("1/1000", "500"),
        "largest": ("1/1000", "1/2", "999/1000"),
    }
    tiny: dict[str, Value] = {"dim": 1, "n": 1, "sign": 1, "lambda": "1", "largest": "1/4"}
    return (
        *grid(BOUND, printed, axes, regime="rational instances; target inside and outside", quick_every=19),
        mutant(
            BOUND, "bound cut by 10 %", {"dim": 1, "n": 0, "sign": 1, "lambda": "1", "largest": "1/1000"}, severity=0.1
        ),
        case(GLM, printed, {"sign": 1}, regime="proved on the box", quick=True),
        case(GLM, printed, {"sign": -1}, regime="proved on the box", quick=False),
        mutant(GLM, "bound cut by 10 %", {"sign": 1}, severity=0.1),
        case(LINE, printed, tiny, role=Role.COUNTEREXAMPLE, regime="one record beside the target"),
        case(LINE, printed, tiny | {"sign": -1, "n": 0}, role=Role.COUNTEREXAMPLE, regime="the target alone"),
        case(LINE, corrected, tiny, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(LINE, corrected, axes, regime="rational instances; target inside and outside", quick_every=19),
        mutant(LINE, "lower end cut by 10 %", tiny | {"n": 0}, severity=0.1),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="theorem",
    title="A bound on the determinant term that needs no release",
    locator="Theorem 8 and its proof in supplement E.1",
    domain=(
        "Convex loss and regulariser with continuous second derivatives, lambda > 0, one record added or removed, and every "
        "eigenvalue of its Hessian below lambda: the theorem does not say so, but its right side exists only there. Decided "
        "for dimension 1 to 4, 0 to 8 further records, the linear case on a box"
    ),
    summary=(
        "The theorem is true. sum_j log(1 + lambda_j/lambda) is a bound too, smaller and finite for every lambda. The "
        "proof line has the inequality between mu_j and -lambda_j/lambda the wrong way round."
    ),
    parts=(
        Part(
            BOUND,
            "general losses",
            Formula(
                "abs(-log product_(j=1)^d (1 minus.plus mu_j)) <= -sum_(j=1)^d log(1 - lambda_j/lambda)",
                "|-log prod_j (1 -+ mu_j)| <= -sum_j log(1 - lambda_j/lambda)",
            ),
        ),
        Part(
            GLM,
            "generalised linear losses",
            Formula(
                "abs(-log(1 plus.minus f'' mu(x))) <= -log(1 - f''(x^T hat(theta)^P; y) norm(x)_2^2/lambda)",
                "|-log(1 +- f'' mu(x))| <= -log(1 - f'' ||x||^2/lambda)",
            ),
        ),
        Part(
            LINE,
            "proof line: size of the mu_j",
            printed=Formula("mu_j (x) <= -lambda_j/lambda <= 0", "mu_j(x) <= -lambda_j/lambda <= 0"),
            corrected=Formula("-lambda_j/lambda <= mu_j (x) <= 0", "-lambda_j/lambda <= mu_j(x) <= 0"),
            what_went_wrong=(
                "Inverting H <= -lambda I turns the order round, so that mu_j is at least -lambda_j/lambda; the rest of the "
                "proof uses this correct direction."
            ),
            derivation="docs/derivations/redberg_wang2021.md, Theorem 8",
        ),
    ),
    cases=_cases(),
    check=check,
)
