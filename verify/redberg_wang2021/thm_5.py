"""RW21, Theorem 5: noise and regularisation that make objective perturbation (epsilon, delta)-private.

Two exact witnesses. For a loss that is linear in theta, ``l = xi theta``, the output is a Gaussian release with
``mu = xi/sigma`` (beta is then any positive number). For the logistic loss in one dimension the divergence is enclosed
on the line (:mod:`verify.line_delta`). Derivation of the corrected form: docs/derivations/objective_perturbation.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from audits import Budget, Estimate
from mechanisms import BOTH, NeighbouringPair, Relation
from mechanisms.embedded import load
from mechanisms.losses import LogisticLoss
from mechanisms.objective_calibration import variance_t5
from mechanisms.objective_perturbation import ObjectivePerturbation
from mechanisms.profiles import GaussianProfile
from reports.row import Figure

from ..cases import adversarial, case, grid, mutant
from ..formal import FormalClaim, Version, version_name
from ..line_delta import line_delta
from ..plots import profile_figure
from ..search import Axis
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..witness import sampled_delta

ID = "RW21-T5"
#: Smallest factor on the corrected sigma that linear losses bear on the box, attained at its corner epsilon = 10,
#: delta = 1e-12 (tested against the profile).
CRITICAL = 0.456042760877085

SIGMAS: dict[str, Callable[[float, float, float], float]] = {
    "printed": variance_t5,
    "corrected": lambda xi, epsilon, delta: math.sqrt(variance_t5(xi, epsilon, delta)),
    "sigma 5 % below what linear losses bear": lambda xi, epsilon, delta: (
        0.95 * CRITICAL * math.sqrt(variance_t5(xi, epsilon, delta))
    ),
    "no logarithm in the variance": lambda xi, epsilon, delta: xi * math.sqrt(4.0 * epsilon) / epsilon,
}
BOX = {"xi": Axis(1e-4, 1e4), "epsilon": Axis(1e-2, 10.0), "delta": Axis(1e-12, 0.5)}


def _claim(version: str) -> FormalClaim:
    sigma = SIGMAS[version]
    return FormalClaim(
        profile=lambda p: GaussianProfile(p["xi"] / sigma(p["xi"], p["epsilon"], p["delta"])),
        box=BOX,
        versions={version: Version(lambda p: p["epsilon"])},
        conditioned_on="losses linear in theta",
    )


CLAIMS = {version: _claim(version) for version in SIGMAS}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case: linear losses, the logistic loss on the line, or draws on real data."""
    if "data" in case.params:
        return _on_data(case, budget)
    return _on_the_line(case) if "n" in case.params else CLAIMS[version_name(case)].check(case, budget)


def _on_the_line(case: Case) -> Evidence:
    """Enclose the worse direction for the logistic loss: ``n`` further records, target ``x = xi``, label ``y``."""
    xi, epsilon, delta, n = case.number("xi"), case.number("epsilon"), case.number("delta"), case.whole("n")
    sigma, lam = SIGMAS[version_name(case)](xi, epsilon, delta), 0.5 * xi**2 / epsilon  # beta = xi^2/4
    others = [(xi * (1.0 if i % 2 else -0.5), 1.0 if i % 3 else -1.0) for i in range(n)]
    brackets = [
        line_delta(others, (xi, case.number("y")), added=added, sigma=sigma, lam=lam, epsilon=epsilon, resolution=delta)
        for added in (True, False)
    ]
    exact = Estimate.proved(
        max(b.low for b in brackets), max(b.high for b in brackets), "cells of the line, ball arithmetic"
    )
    return _evidence(case, exact=exact)


def _on_data(case: Case, budget: Budget) -> Evidence:
    """Bound the hockey-stick delta of one record of real data by simulation, in the named direction."""
    epsilon, delta = case.number("epsilon"), case.number("delta")
    sigma, lam = SIGMAS[version_name(case)](1.0, epsilon, delta), 0.5 / epsilon
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=sigma, lam=lam)
    pair = NeighbouringPair.remove(load(case.text("data")), case.whole("record"))
    direction = BOTH[case.whole("direction")]
    return _evidence(case, sampled=sampled_delta(mechanism, pair, epsilon, direction, budget), relation=pair.relation)


def _evidence(
    case: Case, exact: Estimate | None = None, sampled: Estimate | None = None, relation: Relation = Relation.ADD
) -> Evidence:
    claim = Claim(
        "hockey-stick delta at the promised epsilon",
        0.0,
        case.number("delta"),
        case.number("epsilon"),
        relation=relation,
        observer=Observer.OUTPUT,
    )
    return Evidence(claim, exact=exact, sampled=sampled)


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    linear: dict[str, Value] = {"xi": 0.01, "epsilon": 1.0, "delta": 1e-3}
    logistic = linear | {"n": 0, "y": 1.0}
    scales = {"xi": (1e-4, 0.1, 1.0, 1e4), "epsilon": (0.01, 0.3, 1.0, 10.0), "delta": (0.5, 0.1, 1e-3, 1e-6, 1e-12)}
    on_line = {
        "xi": (0.1, 1.0),
        "epsilon": (0.1, 1.0, 4.0),
        "delta": (1e-1, 1e-3, 1e-6),
        "n": (0, 1, 6),
        "y": (1.0, -1.0),
    }
    real: dict[str, Value] = {"data": "anes96", "record": 3, "epsilon": 1.0, "delta": 0.1}
    draws = (200, 300, 50_000)
    return (
        case(ID, printed, linear, role=Role.COUNTEREXAMPLE, regime="no data, l = theta/100"),
        case(ID, printed, logistic, role=Role.COUNTEREXAMPLE, regime="no data, logistic loss, x = 1/100"),
        adversarial(ID, printed, quick=False),
        case(ID, corrected, linear, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        case(ID, corrected, logistic, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(ID, corrected, scales, regime="linear losses", quick_every=11),
        *grid(ID, corrected, on_line, regime="logistic loss in one dimension, exact", quick_every=29),
        adversarial(ID, corrected, quick=False),
        *(case(ID, corrected, real | {"direction": d}, regime="real data", draws=draws, quick=False) for d in (0, 1)),
        mutant(
            ID, "sigma 5 % below what linear losses bear", {"xi": 1.0, "epsilon": 10.0, "delta": 1e-12}, severity=0.05
        ),
        mutant(ID, "no logarithm in the variance", {"xi": 1.0, "epsilon": 1.0, "delta": 1e-6}),
        mutant(ID, "no logarithm in the variance", {"xi": 1.0, "epsilon": 0.1, "delta": 1e-3, "n": 1, "y": 1.0}),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile of the counterexample at the printed noise, with the promised epsilon marked."""
    profile = GaussianProfile(0.01 / variance_t5(0.01, 1.0, 1e-3))
    setting = "Loss theta/100, sigma as printed for epsilon = 1, delta = 1e-3"
    title = "Objective perturbation with the printed noise"
    return (profile_figure("rw21-t5", title, profile, 1e-3, {"promised": 1.0}, setting),)


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="theorem",
    title="Privacy of objective perturbation",
    locator="Theorem 5, section 2.4 (credited to Kifer, Smith and Thakurta, 2012)",
    domain=(
        "Convex loss with gradients below xi and Hessians below beta, lambda >= 2 beta/epsilon, add or remove one record, "
        "Theta = R^d. Corrected form: generalised linear losses. Decided for linear losses with xi in [1e-4, 1e4], epsilon in "
        "[0.01, 10], delta in [1e-12, 0.5], and for the logistic loss in one dimension and on real data"
    ),
    summary=(
        "The printed sigma is the variance of the noise, not its standard deviation: wherever it is below 1 the noise is "
        "too small, by any factor, and privacy fails. The corrected form is loose: linear losses bear half its noise."
    ),
    parts=(
        Part(
            ID,
            "noise and regularisation for (epsilon_1, delta)",
            printed=Formula(
                "lambda >= 2 beta/epsilon_1, quad sigma = xi^2 (8 log(2/delta) + 4 epsilon_1)/epsilon_1^2",
                "lambda >= 2 beta/epsilon_1, sigma = xi^2 (8 log(2/delta) + 4 epsilon_1)/epsilon_1^2",
            ),
            corrected=Formula(
                "lambda >= 2 beta/epsilon_1, quad sigma^2 = xi^2 (8 log(2/delta) + 4 epsilon_1)/epsilon_1^2,"
                " quad ell (theta; z) = f(x^T theta; y)",
                "lambda >= 2 beta/epsilon_1, sigma^2 = xi^2 (8 log(2/delta) + 4 epsilon_1)/epsilon_1^2, l = f(x'theta; y)",
            ),
            what_went_wrong=(
                "sigma stands for sigma^2: the right side has the units of a variance. The proof needs a gradient and "
                "a Hessian of rank one besides, which the theorem does not ask for."
            ),
            derivation="docs/derivations/objective_perturbation.md, Theorem 5",
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
