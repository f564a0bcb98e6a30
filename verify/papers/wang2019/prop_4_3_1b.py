"""W19, Proposition 4.3(1): the largest residual of ridge regression over bounded data.

``||theta_hat|| <= max_s s/(s^2 + lambda) ||y||`` over singular values ``s <= sqrt(n)``, attained by equal rows, so that the
supremum is known in closed form (docs/derivations/wang2019_section_4.md, Proposition 4.3(1)).
"""

from collections.abc import Callable

import numpy as np
from flint import arb

from audits import Budget, Estimate
from mechanisms.numerics.balls import Ball

from ...kernel.declare import Decide, Display, Form, Mutant, over, refuting, search, smallest, statement
from ...methods.enclosed import enclosed
from ..kit import Case, Claim, Evidence, Observer, Role


def supremum(n: int, lam: Ball) -> Ball:
    """Return ``1 + sqrt(n) max_s s/(s^2 + lambda)``; for lambda > n the best s is out of reach."""
    return half(n, lam) if lam <= n else 1 + n / (n + lam)


def half(n: int, lam: Ball) -> Ball:
    """Return ``1 + sqrt(n/lambda)/2``, as printed in the appendix."""
    return 1 + (n / lam).sqrt() / 2


def attained(n: int, lam: Ball) -> Ball:
    """Return ``1 + ||theta_hat||`` for n equal rows of length ``min(1, sqrt(lambda/n))`` and responses 1."""
    length = (lam / n).sqrt() if lam <= n else arb(1)
    moment, gram = n * length, n * length * length  # X'y and X'X along the common row
    return 1 + moment / (gram + lam)


def _search(case: Case, budget: Budget) -> Evidence:
    """Look for a larger residual: random designs and responses at the edge of the domain, polished by power steps."""
    n, lam, dim = case.whole("n"), case.number("lambda"), 2
    rng, best = budget.key.child("search").rng(), 0.0
    for _ in range(300):
        X = rng.standard_normal((n, dim)) * rng.choice([0.1, 1.0, 10.0])
        X *= np.minimum(1.0, rng.random() / np.linalg.norm(X, axis=1))[:, None]
        for _ in range(8):  # the best responses for a design are signs, the best target is along theta_hat
            signs = np.where(X @ rng.standard_normal(dim) >= 0, 1.0, -1.0)
            theta = np.linalg.solve(X.T @ X + lam * np.eye(dim), X.T @ signs)
            best = max(best, 1.0 + float(np.linalg.norm(theta)))
    share = best / float(supremum(n, arb(lam)))
    claim = Claim("largest residual found over the stated supremum", 0.0, 1.0 + 1e-9, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate(share, share, share, 0.0, 0, "largest of a search"))


def _stated(published: Callable[[int, Ball], Ball]) -> Decide:
    """Return the check of a published supremum: against the residual of an explicit worst design, or by a search."""

    def check(case: Case, budget: Budget) -> Evidence:
        if case.role is Role.ADVERSARIAL:
            return _search(case, budget)
        n, lam = case.whole("n"), case.number("lambda")
        return enclosed(
            "residual approached by n equal rows over the printed supremum",
            lambda: attained(n, arb(lam)) / published(n, arb(lam)),
            1.0 - 1e-12,
            1.0 + 1e-12,
            1.0,
            method="closed form, ball arithmetic",
            conditioned_on="n and lambda public",
        )

    return check


ONE, LARGE = {"n": 1, "lambda": 1.0}, {"n": 1, "lambda": 4.0}
AXES = {"n": (1, 10, 10_000), "lambda": (1e-3, 1.0, 9.0, 50.0, 1e6)}
LEFT = "sup_((X, bold(y)), (x, y)) abs(y - x^T hat(theta)) = "


def _corrected(first: dict[str, float]) -> Form:
    """Return the supremum itself, decided at the case that refutes a printed one, on a grid, and by searches."""
    grid = over("n and lambda", AXES, quick_every=4)
    return Form(
        LEFT + 'cases(1 + sqrt(n)/(2 sqrt(lambda_n)) quad "if" lambda_n <= n, 1 + n/(n + lambda_n) quad "otherwise")',
        _stated(supremum),
        [
            refuting(first),
            *(at for at in grid if at.params != first),
            *(
                search(p, regime="random designs", quick=False)
                for p in ({"n": 3, "lambda": 2.0}, {"n": 2, "lambda": 9.0})
            ),
        ],
    )


SCALED = Mutant(_stated(lambda n, lam: supremum(n, lam) * 105 / 100), ONE, severity=0.05)

STATEMENT = statement(
    "W19-P4.3.1b",
    domain="||x|| <= 1, |y| < 1, n records, ridge lambda_n > 0; a supremum over data and target. Exact for every n and lambda",
    summary="Too large by up to a factor 2: harmless for the privacy bounds built on it, but not an equality.",
    derivation="docs/derivations/wang2019_section_4.md, Proposition 4.3(1)",
    displays={
        "#main": Display(
            "as stated",
            printed=Form(
                LEFT + "1 + n^(1\\/2) lambda_n^(-1\\/2)",
                _stated(lambda n, lam: 1 + (n / lam).sqrt()),
                [smallest("x = 1, y -> 1, target (1, -1): 3/2 against 2", ONE)],
            ),
            corrected=_corrected(ONE),
            wrong="The largest s/(s^2 + lambda) is 1/(2 sqrt(lambda)), not 1/sqrt(lambda).",
            mutants={"scaled by 1.05": SCALED, "half without the cap": Mutant(_stated(half), LARGE)},
        ),
        ".p": Display(
            printed=Form(
                LEFT + "1 + sqrt(n)/(2 sqrt(lambda_n))",
                _stated(half),
                [smallest("n = 1, lambda = 4: 6/5 against 5/4", LARGE)],
            ),
            corrected=_corrected(LARGE),
            wrong="For lambda_n > n the singular value sqrt(lambda_n) is out of reach, as ||X|| <= sqrt(n).",
            mutants={"scaled by 1.05": SCALED},
        ),
    },
)
