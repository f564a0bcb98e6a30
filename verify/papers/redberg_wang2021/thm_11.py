"""RW21, Theorem 11: cost of releasing the smallest eigenvalue of the Hessian.

By Weyl's inequality one record moves the smallest eigenvalue by at most the norm of its Hessian, ``f'' ||x||^2``, which
is attained in one dimension; the release is then Gaussian with ``mu = f'' ||x||^2 / sigma_4``.
"""

from dataclasses import replace

import numpy as np

from audits import Budget, Estimate
from mechanisms.objective.losses import LogisticLoss
from mechanisms.releases.eigenvalue_release import EigenvalueRelease

from ...kernel.formal import PairAtPoint, on_data, pair_of
from ..kit import Case, Claim, Display, Evidence, Form, Mutant, Observer, over, search, statement
from .shared.gaussian_costs import COST, RATIOS, cost_display


def on_record(case: Case) -> PairAtPoint:
    """Return the release at theta = 0, where f'' = 1/4, on a pair of real data."""
    pair = pair_of(case)
    release = EigenvalueRelease(np.zeros(pair.dataset.dim), LogisticLoss(), 0.5, case.number("sigma"))
    norm = 0.25 * float(pair.x @ pair.x)
    return PairAtPoint(release, pair, {"norm": norm, "sigma": release.sigma4, "delta": case.number("delta")})


def _shift(case: Case, budget: Budget, *, bound: float = 1.0) -> Evidence:
    """Compare the shift of the smallest eigenvalue with ``bound`` times the norm of the record's Hessian.

    Over random positive definite H and records.
    """
    dim, rank, rng = case.whole("dim"), case.whole("rank"), budget.key.child("matrices").rng()
    worst = 0.0
    for _ in range(20):
        factor = rng.standard_normal((dim, dim)) * np.geomspace(1.0, case.number("spread"), dim)
        H = factor.T @ factor + 0.1 * np.eye(dim)
        vectors = np.linalg.eigh(H)[1]
        part = rng.standard_normal((dim, rank)) * 0.1
        if case.text("direction") == "smallest eigenvector":
            part = 0.1 * vectors[:, :1]
        change = part @ part.T
        gain = abs(float(np.linalg.eigvalsh(H + change)[0] - np.linalg.eigvalsh(H)[0]))
        worst = max(worst, gain / float(np.linalg.norm(change) if rank > 1 else np.trace(change)))
    error = 1e-9  # eigvalsh is backward stable: dim eps ||H|| over a change of 0.01
    words = "shift of the smallest eigenvalue over the norm of the record's Hessian"
    exact = Estimate.proved(max(worst - error, 0.0), worst + error, "eigenvalues with an error bound")
    return Evidence(Claim(words, 0.0, bound + 1e-8, 1.0, observer=Observer.OUTPUT), exact=exact)


SCALES = over("scales and delta; x = 0", RATIOS, quick_every=13)
REAL = on_data("fair", 3, {"sigma": 0.5, "delta": 1e-2}, draws=(10_000, 50_000, 500_000))
SHAPES = {"dim": (1, 2, 5, 20), "rank": (1, 3), "spread": (1.0, 1e2), "direction": ("random", "smallest eigenvector")}
ALONG = {"dim": 2, "rank": 1, "spread": 1.0, "direction": "smallest eigenvector"}


def _epsilon(norm: str) -> str:
    return f"{norm}^2/(2 sigma_4^2) + ({norm} sqrt(2 log(1/delta)))/sigma_4"


STATEMENT = statement(
    "RW21-T11",
    domain="theta fixed (released), one record added or removed, convex loss, sigma_4 > 0, delta in (0, 1). Decided for Hessian "
    "norms over sigma_4 in [1e-5, 1e5], delta in [1e-12, 0.99]",
    summary="True, and the sensitivity is attained where the record lies along the smallest eigenvector. For general losses the "
    "spectral norm would do in the place of the Frobenius norm.",
    displays={
        "#pdp": cost_display(
            "epsilon_4 (dot) = " + _epsilon("(f''(dot) norm(x)^2)"),
            [*SCALES, search(), REAL],
            title="per-instance privacy",
            claim=replace(COST, instance=on_record),
        ),
        "#dp": cost_display(
            "epsilon = " + _epsilon("beta"),
            [*SCALES, search(quick=False)],
            title="differential privacy where f'' ||x||^2 <= beta",
        ),
        "#general": cost_display(
            "epsilon_4 (dot) = " + _epsilon("norm(nabla^2 ell (hat(theta)^P; z))_F"),
            [*SCALES, search(quick=False)],
            title="general smooth losses",
        ),
        "#shift": Display(
            "proof step: sensitivity by Weyl's inequality",
            Form(
                'abs(lambda_"min" (H) - lambda_"min" (H plus.minus nabla^2 ell)) <= norm(nabla^2 ell)',
                _shift,
                over("random matrices", SHAPES, quick_every=5),
            ),
            mutants={"90 % of the norm": Mutant(_shift, ALONG, severity=0.1, bound=0.9)},
            proof=True,
        ),
    },
)
