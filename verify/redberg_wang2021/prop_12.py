"""RW21, Proposition 12: the released smallest eigenvalue and Hessian approximate the leverage, for all x at once.

"For all x" is the semidefinite order: with ``K = H_hat + tau sigma_3 I``, P12.2 says that the eigenvalues of ``H^{-1/2} K
H^{-1/2}`` lie in [1, 1 + 2 tau sigma_3/lambda_hat], and P12.3 the like for ``H_hat``. H is fixed: everything is conditional
on the released parameter. The symbol lambda_hat is the value that Algorithm 4 goes on with, after it has overwritten
the released one; P12.1 holds for the latter only (docs/derivations/redberg_wang2021.md, Proposition 12).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from audits import Budget, Estimate
from audits.coverage import audit_coverage
from mechanisms.data import FloatArray
from mechanisms.goe import Extreme, GoeLaw, Normalisation, draw_goe, goe_tau
from mechanisms.goe_brackets import sf_bracket

from ..cases import case as case_of
from ..cases import grid, mutant
from ..evidence import coverage_evidence
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from .prop_21 import hessian

ID = "RW21-P12"
VALUE, REGULARISED, STANDARD, JOINT = f"{ID}.1", f"{ID}.2", f"{ID}.3", f"{ID}#joint"
LAMBDA_MIN = 1.0


@dataclass(frozen=True)
class Version:
    """What is claimed: the range of lambda_hat, and the multiples of ``tau sigma_3`` in the two factors."""

    two_sided: bool = False  # as printed: within sigma_4 z of lambda_min on both sides
    reach: float = 2.0  # otherwise: not above lambda_min, and not lower than this many sigma_4 z below it
    regularised: float = 2.0
    standard: float = 1.0
    lowered: bool = True  # lambda_hat is the released value less sigma_4 z


VERSIONS = {
    "printed": Version(two_sided=True),
    "corrected": Version(),
    "1.7 margins": Version(reach=1.7),
    "1.7 tau sigma_3": Version(regularised=1.7),
    "0.8 tau sigma_3": Version(standard=0.8),
    "lambda_hat as released": Version(lowered=False),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the coverage of one display, or of all three at once."""
    dim, rho = case.whole("dim"), case.number("rho")
    version = VERSIONS[version_name(case)]
    z = -float(ndtri(0.5 * rho))
    # the noise scales are given relative to lambda_min: tau sigma_3 and sigma_4 z
    noise, margin = case.number("tau sigma_3"), case.number("sigma_4 z")
    H, lam = hessian(case.text("H"), dim, LAMBDA_MIN), case.number("lambda")
    lower = np.linalg.cholesky(H)
    half = solve_triangular(lower, np.eye(dim), lower=True)
    identity = half @ half.T
    sigma_3 = noise / goe_tau(dim, rho)

    def events(n_draws: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        released = LAMBDA_MIN + margin / z * rng.standard_normal(n_draws)
        found = np.maximum(lam, released - margin) if version.lowered else released
        change = half @ (sigma_3 * draw_goe(dim, n_draws, Normalisation.UNIT_OFF_DIAGONAL, rng=rng)) @ half.T
        return np.column_stack(
            [
                _value(found, margin, lam, version),
                _within(change + noise * identity, np.zeros(n_draws), version.regularised * noise / found),
                (found < 2.0 * noise)
                | _within(change, -version.standard * noise / found, version.standard * noise / found),
            ]
        )

    implied = case.standing is Standing.CORRECTED or (
        case.standing is Standing.PRINTED and case.part in (REGULARISED, STANDARD)
    )
    chosen = {VALUE: [0], REGULARISED: [1], STANDARD: [2], JOINT: [0, 1, 2]}[case.part]
    audit = audit_coverage(lambda n, rng: events(n, rng)[:, chosen], budget)
    return coverage_evidence(
        "probability of the event, for all x at once",
        1.0 - 2.0 * rho,
        sampled=audit.joint,
        exact=_included(dim, rho) if implied else None,
        conditioned_on="H fixed, lambda_min(H) = 1",
    )


def _included(dim: int, rho: float) -> Estimate:
    """Bound every true event from below by the two independent events that imply it, ``|N| <= z`` and ``||A||_2 <= tau``."""
    outside = sf_bracket(GoeLaw(dim, Extreme.SPECTRAL_NORM, Normalisation.UNIT_OFF_DIAGONAL), goe_tau(dim, rho)).high
    low = (1.0 - rho) * (1.0 - outside)
    return Estimate.proved(low * (1.0 - 1e-13), 1.0, "two independent events that imply it, ball arithmetic")


def _value(found: FloatArray, margin: float, lam: float, version: Version) -> NDArray[np.bool_]:
    """Decide the display about lambda_hat; 1e-12 is what rounding may add."""
    if version.two_sided:
        return np.asarray(np.abs(found - LAMBDA_MIN) <= margin + 1e-12)
    low = max(lam, LAMBDA_MIN - version.reach * margin)
    return np.asarray((low - 1e-12 <= found) & (found <= LAMBDA_MIN + 1e-12))


def _within(matrices: FloatArray, low: FloatArray, high: FloatArray) -> NDArray[np.bool_]:
    """Return whether all eigenvalues lie in [low, high], to rounding."""
    spectra = np.linalg.eigvalsh(matrices)
    return np.asarray((spectra[:, 0] >= low - 1e-12) & (spectra[:, -1] <= high + 1e-12))


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    draws = (2_000, 4_000, 100_000)
    one: dict[str, Value] = {
        "dim": 1,
        "rho": 0.02,
        "H": "identity",
        "tau sigma_3": 0.3,
        "sigma_4 z": 0.2,
        "lambda": 0.1,
    }
    axes: dict[str, tuple[Value, ...]] = {
        "dim": (1, 3, 10),
        "rho": (0.3, 0.1, 0.02),
        "H": ("identity", "spread"),
        "tau sigma_3": (0.05, 0.45, 3.0),
        "sigma_4 z": (0.01, 0.5),
        "lambda": (0.01, 0.9),
    }
    joint = axes | {"rho": (0.3, 0.05, 1e-3, 1e-6), "tau sigma_3": (0.45, 3.0), "sigma_4 z": (0.5,), "lambda": (0.01,)}
    few = {name: values[1:2] if name in ("dim", "H") else values for name, values in axes.items()}
    many = (4_000, 20_000, 400_000)
    quiet: dict[str, Value] = one | {"sigma_4 z": 1e-9}
    cases: list[Case] = []
    for part in (VALUE, JOINT):
        cases.append(case_of(part, printed, one, role=Role.COUNTEREXAMPLE, regime="one dimension", draws=draws))
        cases.append(case_of(part, corrected, one, regime="the case that refutes the printed form", draws=draws))
    cases += grid(VALUE, corrected, few, regime="noise scales", draws=draws, quick_every=11)
    cases += grid(JOINT, corrected, joint, regime="all three at once", draws=(500, 1_000, 50_000), quick_every=37)
    cases += grid(REGULARISED, printed, few, regime="noise scales", draws=draws, quick_every=11)
    cases += grid(STANDARD, printed, few, regime="noise scales", draws=draws, quick_every=11)
    cases += [
        mutant(VALUE, "1.7 margins", one, severity=0.06, draws=many, quick=False),
        mutant(VALUE, "lambda_hat as released", one, draws=draws),
        mutant(REGULARISED, "1.7 tau sigma_3", quiet, severity=0.06, draws=many, quick=False),
        mutant(REGULARISED, "lambda_hat as released", one | {"sigma_4 z": 2.0}, draws=draws),
        mutant(STANDARD, "0.8 tau sigma_3", quiet, severity=0.1, draws=many, quick=False),
        mutant(STANDARD, "lambda_hat as released", one | {"sigma_4 z": 2.0}, draws=draws),
        mutant(JOINT, "lambda_hat as released", one, draws=draws),
    ]
    return tuple(cases)


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="proposition",
    title="Uniform approximation of the leverage from released quantities",
    locator="Supplement C.1, Proposition 12",
    domain=(
        "H positive definite with lambda_min(H) >= lambda > 0, lambda_hat and H_hat as in Algorithm 4, given the released "
        "parameter; all x at once. Decided for rho in [1e-6, 0.3], dimension 1 to 10, tau sigma_3 from 0.05 to 3 and "
        "sigma_4 Phi^(-1)(1 - rho/2) from 0.01 to 0.5 times lambda_min"
    ),
    summary=(
        "Algorithm 4 lowers the released eigenvalue by sigma_4 z and keeps its name. P12.1 is true of the value before, P12.2 "
        "and P12.3 of the value after; no value of lambda_hat makes all three true. Both values together do, with probability "
        "1 - 2 rho."
    ),
    parts=(
        Part(
            VALUE,
            "range of lambda_hat",
            printed=Formula(
                'abs(hat(lambda)^P_"min" - lambda_"min") <= sigma_4 Phi^(-1)(1 - rho/2)',
                "|lambda_hat - lambda_min| <= sigma_4 z, z the normal quantile at 1 - rho/2",
            ),
            corrected=Formula(
                'max{lambda, lambda_"min" - 2 sigma_4 Phi^(-1)(1 - rho/2)} <= hat(lambda)^P_"min" <= lambda_"min"',
                "max(lambda, lambda_min - 2 sigma_4 z) <= lambda_hat <= lambda_min",
            ),
            what_went_wrong=(
                "One symbol stands for two values: Algorithm 4 subtracts sigma_4 z from the released eigenvalue, so that "
                "the result is below the stated range with probability about 1/2; the range is that of the value before."
            ),
            derivation="docs/derivations/redberg_wang2021.md, Proposition 12",
        ),
        Part(
            REGULARISED,
            "regularised estimator, for all x",
            Formula(
                'x^T (hat(H)^P + tau sigma_3 I)^(-1) x <= mu(x) <= (hat(lambda)^P_"min" + 2 tau sigma_3)/hat(lambda)^P_"min"'
                " x^T (hat(H)^P + tau sigma_3 I)^(-1) x",
                "x'(H_hat + tau sigma_3 I)^-1 x <= mu(x) <= (1 + 2 tau sigma_3/lambda_hat) x'(H_hat + tau sigma_3 I)^-1 x",
            ),
        ),
        Part(
            STANDARD,
            "standard estimator, for all x, where lambda_hat >= 2 tau sigma_3",
            Formula(
                '(hat(lambda)^P_"min" - tau sigma_3)/hat(lambda)^P_"min" x^T (hat(H)^P)^(-1) x <= x^T H^(-1) x <='
                ' (hat(lambda)^P_"min" + tau sigma_3)/hat(lambda)^P_"min" x^T (hat(H)^P)^(-1) x',
                "(1 - tau sigma_3/lambda_hat) x' H_hat^-1 x <= x' H^-1 x <= (1 + tau sigma_3/lambda_hat) x' H_hat^-1 x",
            ),
        ),
        Part(
            JOINT,
            "all three at once",
            printed=Formula('Pr["P12.1, P12.2 and P12.3"] >= 1 - 2 rho', "P(P12.1, P12.2 and P12.3) >= 1 - 2 rho"),
            corrected=Formula(
                'Pr["P12.1 corrected, P12.2 and P12.3"] >= 1 - 2 rho',
                "P(P12.1 corrected, P12.2 and P12.3) >= 1 - 2 rho",
            ),
            what_went_wrong="As in P12.1.",
            derivation="docs/derivations/redberg_wang2021.md, Proposition 12",
        ),
    ),
    cases=_cases(),
    check=check,
)
