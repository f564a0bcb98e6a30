"""RW21, Theorem 8: a bound on the determinant term that needs no release, and the proof line behind it.

Instances are rational: the target's Hessian is diagonal, ``diag(lambda_1, …, lambda_d)``, which is no restriction as the rest
of the Hessian is arbitrary. The printed product of ``1 -+ mu_j`` is then a rational number.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from audits import Estimate
from mechanisms.numerics.balls import Ball

from ...kernel.box_search import Axis
from ...methods.boxes import on_box
from ...methods.enclosed import enclosed
from ...methods.rational import fraction, generator, identity, matrix, scalar
from ..kit import At, Case, Claim, Display, Evidence, Form, Mutant, Observer, over, refuting, smallest, statement

BOX = {"w": Axis(1e-3, 0.999), "s": Axis(0.0, 1.0, log=False)}


def instance(case: Case) -> tuple[list[Fraction], list[Fraction]]:
    """Return the ``mu_j`` and the target's eigenvalues over ``lambda`` of a case.

    ``mu_j = lambda_j u_j^T (grad b -+ sum_{k<j} lambda_k u_k u_k^T)^{-1} u_j`` with ``u_j = e_j``.
    """
    dim, n, sign, lam = case.whole("dim"), case.whole("n"), case.whole("sign"), Fraction(case.text("lambda"))
    rng = generator(dim, n)
    scales = [Fraction(1), *(Fraction(int(k), 8) for k in rng.integers(0, 9, dim)[1:])]
    eigenvalues = [Fraction(case.text("largest")) * lam * scale for scale in scales]  # the largest is over lambda
    rows = matrix(n, dim, rng.integers(-8, 9, n * dim), scale=8)
    M = -(rows.transpose() * rows + identity(dim, scalar(lam)))  # grad b
    if sign < 0:  # the target is one of the records
        for j, eigenvalue in enumerate(eigenvalues):
            M[j, j] -= scalar(eigenvalue)
    values = []
    for j, eigenvalue in enumerate(eigenvalues):
        values.append(eigenvalue * fraction(M.inv()[j, j]))
        M[j, j] -= sign * scalar(eigenvalue)
    return values, [eigenvalue / lam for eigenvalue in eigenvalues]


def _bound(case: Case, *, factor: Fraction = Fraction(1)) -> Evidence:
    """Compare the determinant term with ``factor`` times the bound."""
    (values, ratios), sign = instance(case), case.whole("sign")
    product, bound = Fraction(1), Fraction(1)
    for mu, ratio in zip(values, ratios, strict=True):
        product, bound = product * (1 - sign * mu), bound * (1 - ratio)

    def gap() -> Ball:
        return -_ball(factor) * _ball(bound).log() - abs(_ball(product).log())

    words, method = "printed bound minus |log prod_j (1 -+ mu_j)|", "rational arithmetic, logarithms in balls"
    return enclosed(words, gap, 0.0, float("inf"), 0.0, method=method)


def _ball(value: Fraction) -> Ball:
    return arb(value.numerator) / arb(value.denominator)


def _linear(case: Case, *, factor: Fraction = Fraction(1)) -> Evidence:
    """Prove the generalised linear bound on a box: ``f'' mu = s w`` (added) or ``s w/(1 + w)`` (removed), ``s`` in [0, 1]."""
    added, share = case.whole("sign") > 0, _ball(factor)

    def gap(p: Mapping[str, Any]) -> Ball:
        w, s = p["w"], p["s"]
        term = (1 + s * w).log() if added else -(1 - s * w / (1 + w)).log()
        return (-share * (1 - w).log() - term) / w

    return on_box("bound minus determinant term, over w = f'' ||x||^2/lambda", gap, BOX, smooth=True)


def _line(case: Case, *, slack: Callable[[Fraction, Fraction], Fraction]) -> Evidence:
    """Find the least ``slack(mu_j, lambda_j/lambda)`` over j, which the version says is at least 0."""
    least = float(min(slack(mu, ratio) for mu, ratio in zip(*instance(case), strict=True)))
    claim = Claim("least slack of the line over j", 0.0, float("inf"), 0.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(least, least, "rational arithmetic"))


AXES = {
    "dim": (1, 2, 4), "n": (0, 1, 8), "sign": (1, -1), "lambda": ("1/1000", "500"),
    "largest": ("1/1000", "1/2", "999/1000"),
}  # fmt: skip
RATIONAL = over("rational instances; target inside and outside", AXES, quick_every=19)
TINY = {"dim": 1, "n": 1, "sign": 1, "lambda": "1", "largest": "1/4"}
CUT = Fraction(9, 10)

STATEMENT = statement(
    "RW21-T8",
    derivation="docs/derivations/redberg_wang2021.md, Theorem 8",
    domain="Convex loss and regulariser with continuous second derivatives, lambda > 0, one record added or removed, and every "
    "eigenvalue of its Hessian below lambda: the theorem does not say so, but its right side exists only there. Decided "
    "for dimension 1 to 4, 0 to 8 further records, the linear case on a box",
    summary="The theorem is true. sum_j log(1 + lambda_j/lambda) is a bound too, smaller and finite for every lambda. The "
    "proof line has the inequality between mu_j and -lambda_j/lambda the wrong way round.",
    displays={
        "#bound": Display(
            "general losses",
            Form(
                "abs(-log product_(j=1)^d (1 minus.plus mu_j)) <= -sum_(j=1)^d log(1 - lambda_j/lambda)",
                _bound,
                RATIONAL,
            ),
            mutants={
                "bound cut by 10 %": Mutant(_bound, TINY | {"n": 0, "largest": "1/1000"}, severity=0.1, factor=CUT)
            },
        ),
        "#glm": Display(
            "generalised linear losses",
            Form(
                "abs(-log(1 plus.minus f'' mu(x))) <= -log(1 - f''(x^T hat(theta)^P; y) norm(x)_2^2/lambda)",
                _linear,
                [At("proved on the box", {"sign": 1}), At("proved on the box", {"sign": -1}, quick=False)],
            ),
            mutants={"bound cut by 10 %": Mutant(_linear, {"sign": 1}, severity=0.1, factor=CUT)},
        ),
        ".p": Display(
            printed=Form(
                "mu_j (x) <= -lambda_j/lambda <= 0",
                partial(_line, slack=lambda mu, ratio: min(-ratio - mu, ratio)),
                [
                    smallest("one record beside the target", TINY),
                    smallest("the target alone", TINY | {"sign": -1, "n": 0}),
                ],
            ),
            corrected=Form(
                "-lambda_j/lambda <= mu_j (x) <= 0",
                partial(_line, slack=lambda mu, ratio: min(mu + ratio, -mu)),
                [refuting(TINY), *RATIONAL],
            ),
            wrong="Inverting H <= -lambda I turns the order round, so that mu_j is at least -lambda_j/lambda; the rest of the "
            "proof uses this correct direction.",
            mutants={
                "lower end cut by 10 %": Mutant(
                    _line, TINY | {"n": 0}, severity=0.1, slack=lambda mu, ratio: min(mu + CUT * ratio, -mu)
                )
            },
        ),
    },
)
