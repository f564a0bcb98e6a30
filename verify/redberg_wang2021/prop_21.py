"""RW21, Proposition 21: the 3/2 sandwich of the privately released inverse Hessian, uniformly over directions.

The event is decided through the generalised eigenvalues of the released matrix against H: all of them must lie in
[1/2, 3/2]. For H = lambda_min I the event is a spectral-norm event of the GOE, so its probability is known exactly
(docs/derivations/redberg_wang2021.md, Proposition 21).
"""

from __future__ import annotations

import numpy as np

from audits import Budget, Estimate, StreamKey
from audits.random_matrix import sandwich_coverage
from mechanisms.goe import Extreme, GoeLaw, Normalisation, goe_tau
from mechanisms.goe_brackets import sf_bracket
from reports.row import Figure

from ..cases import grid, mutant
from ..evidence import coverage_evidence
from ..formal import version_name
from ..plots import coverage_figure
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value

ID = "RW21-P21"
LOWER, UPPER = 0.5, 1.5
SIGMA = 1.0
#: Cases stand just inside the condition: at its very edge, d = 1 covers exactly 1 - rho.
INSIDE = 1.0 + 1e-6

#: Every version: lower and upper generalised eigenvalue allowed, smallest eigenvalue as a multiple of 2 sigma tau.
VERSIONS = {
    "printed": (LOWER, UPPER, 1.0),
    "tau of the other normalisation": (LOWER, UPPER, np.sqrt(0.5)),
    "smallest eigenvalue 5 % below the condition": (LOWER, UPPER, 0.95),
    "upper factor 1.4": (LOWER, 1.4, 1.0),
    "lower factor 0.6": (0.6, UPPER, 1.0),
}


def hessian(shape: str, dim: int, lambda_min: float) -> np.ndarray:
    """Return a positive definite matrix with smallest eigenvalue ``lambda_min`` in the named shape."""
    if shape == "identity":
        return lambda_min * np.eye(dim)
    spectrum = lambda_min * np.geomspace(1.0, 1e4, dim) if shape == "spread" else np.full(dim, 1e3 * lambda_min)
    spectrum[0] = lambda_min
    rotation, _ = np.linalg.qr(np.random.Generator(np.random.PCG64DXSM(dim)).standard_normal((dim, dim)))
    return np.asarray((rotation * spectrum) @ rotation.T)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the coverage of the sandwich; exactly where H is a multiple of the identity."""
    dim, rho, shape = case.whole("dim"), case.number("rho"), case.text("H")
    lower, upper, multiple = VERSIONS[version_name(case)]
    lambda_min = INSIDE * multiple * 2.0 * SIGMA * goe_tau(dim, rho)
    sampled = sandwich_coverage(hessian(shape, dim, lambda_min), SIGMA, lower=lower, upper=upper, budget=budget)
    exact = None
    if shape == "identity" and (lower, upper) == (LOWER, UPPER):
        law = GoeLaw(dim, Extreme.SPECTRAL_NORM, Normalisation.UNIT_OFF_DIAGONAL)
        tail = sf_bracket(law, 0.5 * lambda_min / SIGMA)
        exact = Estimate.proved(1.0 - tail.high, 1.0 - tail.low, "exact law of the spectral norm, ball arithmetic")
    return coverage_evidence(
        "probability of the sandwich for all directions at once",
        1.0 - rho,
        sampled=sampled,
        exact=exact,
        conditioned_on="H fixed, smallest eigenvalue at the condition's edge",
        notes={"lambda_min": lambda_min, "sigma": SIGMA},
    )


def _cases() -> tuple[Case, ...]:
    draws = (2_000, 10_000, 200_000)
    levels = (0.3, 0.1, 0.01, 1e-4, 1e-6)
    hard: dict[str, Value] = {"dim": 5, "rho": 0.1, "H": "identity"}
    return (
        *grid(
            ID,
            Standing.PRINTED,
            {"dim": (1, 2, 3, 10, 30), "rho": levels, "H": ("identity",)},
            regime="H = lambda_min I: the worst case, exact",
            draws=draws,
            quick_every=6,
        ),
        *grid(
            ID,
            Standing.PRINTED,
            {"dim": (2, 5, 30), "rho": (0.5, 0.1, 0.02), "H": ("spread", "one small eigenvalue")},
            regime="other spectra",
            draws=draws,
            quick_every=5,
        ),
        mutant(ID, "tau of the other normalisation", hard, draws=draws),
        mutant(ID, "smallest eigenvalue 5 % below the condition", hard, severity=0.05, draws=draws),
        mutant(ID, "upper factor 1.4", hard, severity=1 / 15, draws=(20_000, 20_000, 200_000)),
        mutant(ID, "lower factor 0.6", hard, severity=0.2, draws=(20_000, 20_000, 200_000)),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return simulated failure of the sandwich against rho, for H = lambda_min I and for a spread spectrum."""
    rhos, dim = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02), 5
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for shape in ("identity", "spread"):
        points = curves.setdefault(f"H: {shape}", [])
        for rho in rhos:
            key = StreamKey(seed).child("figure", ID, shape, str(rho))
            H = hessian(shape, dim, 2.0 * SIGMA * goe_tau(dim, rho))
            covered = sandwich_coverage(H, SIGMA, lower=LOWER, upper=UPPER, budget=Budget(4_000, 0.05, key))
            points.append((1.0 - covered.value, 1.0 - covered.high, 1.0 - covered.low))
    setting = "GOE(5), smallest eigenvalue at the condition, 4,000 draws a point, 95 % intervals"
    return (coverage_figure("rw21-p21", "Failure of the 3/2 sandwich against its level", rhos, curves, setting),)


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="proposition",
    title="The 3/2 approximation of the inverse Hessian",
    locator="Supplement E, Proposition 21",
    domain=(
        "H symmetric with smallest eigenvalue at least 2 sigma tau(rho), GOE noise of scale sigma added to H (the paper "
        "writes sigma_2 here; its proof means the noise on H). Coverage decided for rho in [1e-6, 0.5], d in [1, 30]"
    ),
    summary="True, and nearly an equality for H = lambda_min I: the sandwich fails there with probability just below rho.",
    parts=(
        Part(
            ID,
            "uniform sandwich of the leverage",
            printed=Formula(
                'lambda_min (H) >= 2 sigma_2 F^(-1)_(lambda_1 ("GOE"(d))) (1 - rho/2) ==> Pr[forall x: 1/2 x^T (hat(H)^P)^(-1) x'
                " <= x^T H^(-1) x <= 3/2 x^T (hat(H)^P)^(-1) x] >= 1 - rho",
                "lambda_min(H) >= 2 sigma_2 F^-1(1 - rho/2) implies, with probability 1 - rho, for all x: "
                "1/2 x'(H_P)^-1 x <= x'H^-1 x <= 3/2 x'(H_P)^-1 x",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
