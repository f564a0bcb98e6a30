"""RW21, Proposition 21: the 3/2 sandwich of the privately released inverse Hessian, uniformly over directions.

The event is decided through the generalised eigenvalues of the released matrix against H: all of them must lie in
[1/2, 3/2]. For H = lambda_min I the event is a spectral-norm event of the GOE, so its probability is known exactly
(docs/derivations/redberg_wang2021.md, Proposition 21).
"""

import numpy as np

from audits import Budget, Estimate, StreamKey
from audits.white_box.random_matrix import sandwich_coverage
from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation, goe_tau
from mechanisms.numerics.goe_brackets import sf_bracket
from reports.row import Figure

from ...kernel.statement_plots import coverage_figure
from ..kit import Case, Evidence, Form, Mutant, coverage_evidence, over, statement
from .shared.hessian_noise import hessian

LOWER, UPPER = 0.5, 1.5
SIGMA = 1.0
#: Cases stand just inside the condition: at its very edge, d = 1 covers exactly 1 - rho.
INSIDE = 1.0 + 1e-6


def _sandwich(
    case: Case, budget: Budget, *, lower: float = LOWER, upper: float = UPPER, multiple: float = 1.0
) -> Evidence:
    """Decide the coverage of the sandwich, exactly where H is a multiple of the identity.

    The smallest eigenvalue is ``multiple`` times ``2 sigma tau``; generalised eigenvalues in [lower, upper] are allowed.
    """
    dim, rho, shape = case.whole("dim"), case.number("rho"), case.text("H")
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


def figures(seed: int) -> tuple[Figure, ...]:
    """Return simulated failure of the sandwich against rho, for H = lambda_min I and for a spread spectrum."""
    rhos, dim = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02), 5
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for shape in ("identity", "spread"):
        points = curves.setdefault(f"H: {shape}", [])
        for rho in rhos:
            key = StreamKey(seed).child("figure", "RW21-P21", shape, str(rho))
            H = hessian(shape, dim, 2.0 * SIGMA * goe_tau(dim, rho))
            covered = sandwich_coverage(H, SIGMA, lower=LOWER, upper=UPPER, budget=Budget(4_000, 0.05, key))
            points.append((1.0 - covered.value, 1.0 - covered.high, 1.0 - covered.low))
    setting = "GOE(5), smallest eigenvalue at the condition, 4,000 draws a point, 95 % intervals"
    return (coverage_figure("rw21-p21", "Failure of the 3/2 sandwich against its level", rhos, curves, setting),)


DRAWS, MANY = (2_000, 10_000, 200_000), (20_000, 20_000, 200_000)
HARD = {"dim": 5, "rho": 0.1, "H": "identity"}
WORST = {"dim": (1, 2, 3, 10, 30), "rho": (0.3, 0.1, 0.01, 1e-4, 1e-6), "H": ("identity",)}
SPECTRA = {"dim": (2, 5, 30), "rho": (0.5, 0.1, 0.02), "H": ("spread", "one small eigenvalue")}

STATEMENT = statement(
    "RW21-P21",
    domain="H symmetric with smallest eigenvalue at least 2 sigma tau(rho), GOE noise of scale sigma added to H (the paper "
    "writes sigma_2 here; its proof means the noise on H). Coverage decided for rho in [1e-6, 0.5], d in [1, 30]",
    summary="True, and nearly an equality for H = lambda_min I: the sandwich fails there with probability just below rho.",
    title="uniform sandwich of the leverage",
    printed=Form(
        'lambda_min (H) >= 2 sigma_2 F^(-1)_(lambda_1 ("GOE"(d))) (1 - rho/2) ==> Pr[forall x: 1/2 x^T (hat(H)^P)^(-1) x'
        " <= x^T H^(-1) x <= 3/2 x^T (hat(H)^P)^(-1) x] >= 1 - rho",
        _sandwich,
        [
            *over("H = lambda_min I: the worst case, exact", WORST, draws=DRAWS, quick_every=6),
            *over("other spectra", SPECTRA, draws=DRAWS, quick_every=5),
        ],
    ),
    mutants={
        "tau of the other normalisation": Mutant(_sandwich, HARD, draws=DRAWS, multiple=float(np.sqrt(0.5))),
        "smallest eigenvalue 5 % below the condition": Mutant(
            _sandwich, HARD, severity=0.05, draws=DRAWS, multiple=0.95
        ),
        "upper factor 1.4": Mutant(_sandwich, HARD, severity=1 / 15, draws=MANY, upper=1.4),
        "lower factor 0.6": Mutant(_sandwich, HARD, severity=0.2, draws=MANY, lower=0.6),
    },
    figures=figures,
)
