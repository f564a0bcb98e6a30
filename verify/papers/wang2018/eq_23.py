"""W18, (23): a bound on the length of the ridge estimate, decided through one singular value.

With ``v = s/sqrt(lambda)`` the norm of ``(X^T X + lambda I)^-1 X^T`` is ``v/(1 + v^2)/sqrt(lambda)``, at most half of ``1/sqrt(lambda)``
(docs/derivations/wang2018_appendix_ef.md, section 3).
"""

from collections.abc import Callable
from fractions import Fraction

from flint import arb, fmpq, fmpq_mat

from mechanisms.numerics.balls import Ball

from ...kernel.box_search import Axis
from ...methods.boxes import on_box
from ...methods.rational import at_most, column, generator, identity, quadratic, scalar
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, statement


def _on_the_box(ratio: Callable[[Ball], Ball], edge: Callable[[], Ball]) -> Evidence:
    """Prove ``ratio(v) <= edge`` for the norm of the smoother, rescaled."""
    return on_box("bound minus norm, rescaled", lambda p: edge() - ratio(p["v"]), {"v": Axis(1e-9, 1e9)})


def _root(case: Case, *, share: Fraction = Fraction(1)) -> Evidence:
    """Decide ``share`` of the first member on the box, or on a data set (B = Y = 1)."""
    if not case.params:
        return _on_the_box(lambda v: 1 / (1 / v + v), lambda: 1 / arb(2).sqrt() * share.numerator / share.denominator)
    square, n, ridge = _ridge_estimate(case)
    return at_most("|theta*|^2", square, share**2 * n / (2 * ridge))


def _linear(case: Case, *, share: Fraction = Fraction(1)) -> Evidence:
    """Decide ``share`` of the second member on the box, or on a data set."""
    if not case.params:
        return _on_the_box(lambda v: 1 / (1 + v * v), lambda: arb(1) * share.numerator / share.denominator)
    square, n, ridge = _ridge_estimate(case)
    return at_most("|theta*|^2", square, share**2 * n**2 / ridge**2)


def _lipschitz(case: Case, *, with_one: bool = True) -> Evidence:
    """(|theta*| + 1)^2 <= (sqrt(n/(2 lambda)) + 1)^2 iff |theta*|^2 <= n/(2 lambda).

    Without the 1 on the right the left side, at least |theta*|^2 + 1, is compared with n/(2 lambda).
    """
    square, n, ridge = _ridge_estimate(case)
    return at_most("square of L(lambda)", square + (0 if with_one else 1), n / (2 * ridge))


def _ridge_estimate(case: Case) -> tuple[Fraction, Fraction, Fraction]:
    """Return ``|theta*_lambda|^2``, n and lambda of a data set within the bounds 1."""
    n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
    ridge = Fraction(case.number("lam"))
    if seed == 0:  # all rows and responses at the bound, one direction
        X, y = fmpq_mat(n, dim, [int(j == 0) for _ in range(n) for j in range(dim)]), column(*[1] * n)
    else:
        rng = generator(n, dim, seed)
        rows = rng.integers(-50, 51, (n, dim))
        X = fmpq_mat(n, dim, [fmpq(int(v), max(1, int((r @ r) ** 0.5) + 1)) for r in rows for v in r])
        y = column(*[fmpq(int(v), 50) for v in rng.integers(-50, 51, n)])
    theta = (X.transpose() * X + identity(dim, scalar(ridge))).inv() * (X.transpose() * y)
    return quadratic(theta, identity(dim)), Fraction(n), ridge


BOX = At("proved on the box")
DATA = over(
    "data sets",
    {"n": (1, 2, 9), "dim": (1, 3), "seed": (0, 1, 2), "lam": (2.0**-20, 0.5, 1.0, 9.0, 2.0**20)},
    quick_every=7,
)
EVEN = {"n": 1, "dim": 1, "seed": 0, "lam": 1.0}
NORM = "norm(theta_lambda^*) <= norm((X^T X + lambda I)^(-1) X^T)_2 sqrt(n) norm(cal(Y)) <= "

STATEMENT = statement(
    "W18-E23",
    domain="Any data within the bounds, n >= 1, lambda > 0. Proved on the box s/sqrt(lambda) in [1e-9, 1e9]; data sets with n <= 9, d <= 3",
    summary="True. The first member of the minimum is loose by sqrt(2): sqrt(n) Y/(2 sqrt(lambda)) is enough and attained; the second is sharp "
    "as lambda grows. L(lambda) uses the first member only.",
    displays={
        "#root": Display(
            "first member of the minimum",
            Form(NORM + "(sqrt(n) norm(cal(Y)))/sqrt(2 lambda)", _root, [BOX, *DATA]),
            mutants={
                "root cut by 30 % (sharp: 1/sqrt(2))": Mutant(_root, [{}, EVEN], severity=0.01, share=Fraction(7, 10))
            },
        ),
        "#linear": Display(
            "second member of the minimum",
            Form(NORM + "(n norm(cal(X)) norm(cal(Y)))/lambda", _linear, [BOX, *DATA]),
            mutants={
                "linear bound cut by 5 %": Mutant(
                    _linear, EVEN | {"lam": 1024.0}, severity=0.05, share=Fraction(19, 20)
                )
            },
        ),
        "#Lipschitz": Display(
            "local Lipschitz constant",
            Form(
                "norm(cal(X))^2 norm(theta_lambda^*) + norm(cal(X)) norm(cal(Y)) <= L(lambda) := norm(cal(X)) norm(cal(Y))"
                " ((sqrt(n) norm(cal(X)))/sqrt(2 lambda) + 1)",
                _lipschitz,
                DATA,
            ),
            mutants={"Lipschitz constant without its 1": Mutant(_lipschitz, EVEN | {"lam": 16.0}, with_one=False)},
        ),
    },
)
