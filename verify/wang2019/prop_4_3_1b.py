"""W19, Proposition 4.3(1): the largest residual of ridge regression over bounded data.

``||theta_hat|| <= max_s s/(s^2 + lambda) ||y||`` over singular values ``s <= sqrt(n)``, attained by equal rows, so that the
supremum is known in closed form (docs/derivations/wang2019_section_4.md, Proposition 4.3(1)).
"""

from __future__ import annotations

import numpy as np
from flint import arb

from audits import Budget, Estimate
from mechanisms.balls import Ball, enclose

from ..cases import case, grid, mutant, name_of
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value

ID = "W19-P4.3.1b"
MAIN, APPENDIX = f"{ID}#main", f"{ID}#appendix"


def supremum(n: Ball, lam: Ball, *, small: bool) -> Ball:
    """Return ``1 + sqrt(n) max_s s/(s^2 + lambda)``; ``small`` says that sqrt(lambda) <= sqrt(n) can be reached."""
    return 1 + (n / lam).sqrt() / 2 if small else 1 + n / (n + lam)


def published(version: str, n: Ball, lam: Ball, *, small: bool) -> Ball:
    """Return the number that a version prints."""
    if version == "printed":
        return 1 + (n / lam).sqrt()
    if version == "half without the cap":
        return 1 + (n / lam).sqrt() / 2
    if version == "scaled by 1.05":
        return supremum(n, lam, small=small) * 105 / 100
    return supremum(n, lam, small=small)


def attained(n: int, lam: float) -> Ball:
    """Return ``1 + ||theta_hat||`` for n equal rows of length ``min(1, sqrt(lambda/n))`` and responses 1, in balls."""
    length = (arb(lam) / n).sqrt() if lam <= n else arb(1)
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
            theta = np.linalg.solve(
                X.T @ X + lam * np.eye(dim), X.T @ np.where(X @ rng.standard_normal(dim) >= 0, 1.0, -1.0)
            )
            best = max(best, 1.0 + float(np.linalg.norm(theta)))
    truth = float(supremum(arb(n), arb(lam), small=lam <= n))
    claim = Claim("largest residual found over the stated supremum", 0.0, 1.0 + 1e-9, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate(best / truth, best / truth, best / truth, 0.0, 0, "largest of a search"))


def check(case: Case, budget: Budget) -> Evidence:
    """Compare the residual of an explicit worst design with the printed supremum, or search for a larger one."""
    if case.role is Role.ADVERSARIAL:
        return _search(case, budget)
    number, lam, version = case.whole("n"), case.number("lambda"), version_name(case)
    if case.part == APPENDIX and version == "printed":
        version = "half without the cap"
    small = lam <= number
    found = enclose(lambda: attained(number, lam) / published(version, arb(number), arb(lam), small=small))
    claim = Claim(
        "residual approached by n equal rows over the printed supremum",
        1.0 - 1e-12,
        1.0 + 1e-12,
        1.0,
        observer=Observer.OUTPUT,
        conditioned_on="n and lambda public",
    )
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "closed form, ball arithmetic"))


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {"n": (1, 10, 10_000), "lambda": (1e-3, 1.0, 9.0, 50.0, 1e6)}
    one: dict[str, Value] = {"n": 1, "lambda": 1.0}
    large: dict[str, Value] = {"n": 1, "lambda": 4.0}
    out: list[Case] = []
    for part, smallest, words in (
        (MAIN, one, "x = 1, y -> 1, target (1, -1): 3/2 against 2"),
        (APPENDIX, large, "n = 1, lambda = 4: 6/5 against 5/4"),
    ):
        out.append(case(part, Standing.PRINTED, smallest, role=Role.COUNTEREXAMPLE, regime=words))
        out.append(
            case(
                part,
                Standing.CORRECTED,
                smallest,
                role=Role.COUNTEREXAMPLE,
                regime="the case that refutes the printed form",
            )
        )
        out += [
            c
            for c in grid(part, Standing.CORRECTED, axes, regime="n and lambda", quick_every=4)
            if c.params != smallest
        ]
        for params in ({"n": 3, "lambda": 2.0}, {"n": 2, "lambda": 9.0}):
            name = name_of(part, "corrected search", params)
            out.append(Case(part, name, Standing.CORRECTED, params, Role.ADVERSARIAL, "random designs", quick=False))
        out.append(mutant(part, "scaled by 1.05", one, severity=0.05))
    out.append(mutant(MAIN, "half without the cap", large))
    return tuple(out)


_SUP = "sup_((X, bold(y)), (x, y)) abs(y - x^T hat(theta))"
_TRUE = Formula(
    _SUP + ' = cases(1 + sqrt(n)/(2 sqrt(lambda_n)) quad "if" lambda_n <= n, 1 + n/(n + lambda_n) quad "otherwise")',
    "sup |y - x'theta| = 1 + sqrt(n)/(2 sqrt(lambda)) if lambda <= n, 1 + n/(n + lambda) otherwise",
)

STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="proposition",
    title="Largest residual of ridge regression on bounded data",
    locator="Proposition 4.3(1), second sentence, and its proof",
    domain="||x|| <= 1, |y| < 1, n records, ridge lambda_n > 0; a supremum over data and target. Exact for every n and lambda",
    summary="Too large by up to a factor 2: harmless for the privacy bounds built on it, but not an equality.",
    parts=(
        Part(
            MAIN,
            "as stated",
            printed=Formula(_SUP + " = 1 + n^(1\\/2) lambda_n^(-1\\/2)", "sup |y - x'theta| = 1 + sqrt(n/lambda)"),
            corrected=_TRUE,
            what_went_wrong="The largest s/(s^2 + lambda) is 1/(2 sqrt(lambda)), not 1/sqrt(lambda).",
            derivation="docs/derivations/wang2019_section_4.md, Proposition 4.3(1)",
        ),
        Part(
            APPENDIX,
            "as proved in the appendix",
            printed=Formula(
                _SUP + " = 1 + sqrt(n)/(2 sqrt(lambda_n))", "sup |y - x'theta| = 1 + sqrt(n)/(2 sqrt(lambda))"
            ),
            corrected=_TRUE,
            what_went_wrong="For lambda_n > n the singular value sqrt(lambda_n) is out of reach, as ||X|| <= sqrt(n).",
            derivation="docs/derivations/wang2019_section_4.md, Proposition 4.3(1)",
        ),
    ),
    cases=_cases(),
    check=check,
)
