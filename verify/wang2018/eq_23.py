"""W18, (23): a bound on the length of the ridge estimate, decided through one singular value.

With ``v = s/sqrt(lambda)`` the norm of ``(X^T X + lambda I)^-1 X^T`` is ``v/(1 + v^2)/sqrt(lambda)``, at most half of ``1/sqrt(lambda)``
(docs/derivations/wang2018_appendix_ef.md, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import arb, fmpq, fmpq_mat

from audits import Budget
from mechanisms.balls import Ball

from ..boxes import box_evidence, prove_nonnegative
from ..cases import case, grid, mutant
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from ..wang2019.rational import at_most, column, generator, identity, quadratic

ID = "W18-E23"
ROOT, LINEAR, LIPSCHITZ = f"{ID}#root", f"{ID}#linear", f"{ID}#Lipschitz"

#: Share of the bound that is left: the root may lose a factor sqrt(2), the linear one nothing.
SHARES = {
    "printed": Fraction(1),
    "root cut by 30 % (sharp: 1/sqrt(2))": Fraction(7, 10),
    "linear bound cut by 5 %": Fraction(19, 20),
    "Lipschitz constant without its 1": Fraction(1),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the box in v, or a data set in rational arithmetic (B = Y = 1)."""
    version, share = version_name(case), SHARES[version_name(case)]
    if "n" not in case.params:
        box = {"v": Axis(1e-9, 1e9)}

        def slack(p: Mapping[str, Any]) -> Ball:
            v = p["v"]
            ratio = 1 / (1 / v + v) if case.part == ROOT else 1 / (1 + v * v)
            edge = 1 / arb(2).sqrt() if case.part == ROOT else arb(1)
            return edge * share.numerator / share.denominator - ratio

        return box_evidence("bound minus norm, rescaled", prove_nonnegative(slack, box), box)
    X, y, lam = _data(case)
    n = Fraction(X.nrows())
    theta = (X.transpose() * X + identity(X.ncols(), lam)).inv() * (X.transpose() * y)
    square, ridge = quadratic(theta, identity(X.ncols())), Fraction(int(lam.p), int(lam.q))
    if case.part == ROOT:
        return at_most("|theta*|^2", square, share**2 * n / (2 * ridge))
    if case.part == LINEAR:
        return at_most("|theta*|^2", square, share**2 * n**2 / ridge**2)
    # (|theta*| + 1)^2 <= (sqrt(n/(2 lambda)) + 1)^2 iff |theta*|^2 <= n/(2 lambda); the mutant lacks the 1
    bound = n / (2 * ridge)
    if version == "Lipschitz constant without its 1":
        square = square + 1  # (|theta*| + 1)^2 is at least |theta*|^2 + 1
    return at_most("square of L(lambda)", square, bound)


def _data(case: Case) -> tuple[Any, Any, fmpq]:
    n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
    lam = fmpq(*case.number("lam").as_integer_ratio())
    if seed == 0:  # all rows and responses at the bound, one direction
        return fmpq_mat(n, dim, [int(j == 0) for _ in range(n) for j in range(dim)]), column(*[1] * n), lam
    rng = generator(n, dim, seed)
    rows = rng.integers(-50, 51, (n, dim))
    X = fmpq_mat(n, dim, [fmpq(int(v), max(1, int((r @ r) ** 0.5) + 1)) for r in rows for v in r])
    return X, column(*[fmpq(int(v), 50) for v in rng.integers(-50, 51, n)]), lam


def _cases() -> tuple[Case, ...]:
    printed = Standing.PRINTED
    axes: dict[str, tuple[Value, ...]] = {
        "n": (1, 2, 9), "dim": (1, 3), "seed": (0, 1, 2), "lam": (2.0**-20, 0.5, 1.0, 9.0, 2.0**20),
    }  # fmt: skip
    even: dict[str, Value] = {"n": 1, "dim": 1, "seed": 0, "lam": 1.0}
    return (
        case(ROOT, printed, {}, regime="proved on the box"),
        *grid(ROOT, printed, axes, regime="data sets", quick_every=7),
        mutant(ROOT, "root cut by 30 % (sharp: 1/sqrt(2))", {}, severity=0.01),
        mutant(ROOT, "root cut by 30 % (sharp: 1/sqrt(2))", even, severity=0.01),
        case(LINEAR, printed, {}, regime="proved on the box"),
        *grid(LINEAR, printed, axes, regime="data sets", quick_every=7),
        mutant(LINEAR, "linear bound cut by 5 %", even | {"lam": 1024.0}, severity=0.05),
        *grid(LIPSCHITZ, printed, axes, regime="data sets", quick_every=7),
        mutant(LIPSCHITZ, "Lipschitz constant without its 1", even | {"lam": 16.0}),
    )


_NORM = "norm(theta_lambda^*) <= norm((X^T X + lambda I)^(-1) X^T)_2 sqrt(n) norm(cal(Y)) <= "
_PLAIN = "||theta*_lambda|| <= ||(X'X + lambda I)^-1 X'|| sqrt(n) Y <= "

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Length of the ridge estimate",
    locator="Equation 23 and L(lambda) after it, appendix F",
    domain="Any data within the bounds, n >= 1, lambda > 0. Proved on the box s/sqrt(lambda) in [1e-9, 1e9]; data sets with n <= 9, d <= 3",
    summary=(
        "True. The first member of the minimum is loose by sqrt(2): sqrt(n) Y/(2 sqrt(lambda)) is enough and attained; the second is sharp "
        "as lambda grows. L(lambda) uses the first member only."
    ),
    parts=(
        Part(
            ROOT,
            "first member of the minimum",
            Formula(_NORM + "(sqrt(n) norm(cal(Y)))/sqrt(2 lambda)", _PLAIN + "sqrt(n) Y/sqrt(2 lambda)"),
        ),
        Part(
            LINEAR,
            "second member of the minimum",
            Formula(_NORM + "(n norm(cal(X)) norm(cal(Y)))/lambda", _PLAIN + "n B Y/lambda"),
        ),
        Part(
            LIPSCHITZ,
            "local Lipschitz constant",
            Formula(
                "norm(cal(X))^2 norm(theta_lambda^*) + norm(cal(X)) norm(cal(Y)) <= L(lambda) := norm(cal(X)) norm(cal(Y))"
                " ((sqrt(n) norm(cal(X)))/sqrt(2 lambda) + 1)",
                "B^2 ||theta*_lambda|| + B Y <= L(lambda) := B Y (sqrt(n) B/sqrt(2 lambda) + 1)",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
