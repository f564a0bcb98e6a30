"""W19, Lemma 2.4: the multivariate Gaussian mechanism.

Noise of covariance ``A^{-1}/gamma`` on a map with per-instance sensitivity ``Delta`` in the A-norm shifts a standard
normal by ``mu = sqrt(gamma) Delta``, so the exact profile is Gaussian DP with parameter ``mu``. The printed formula
has ``gamma`` for its root and lacks a 2 under the root; with both mended it still needs ``epsilon <= 1``
(docs/derivations/wang2019.md, Lemma 2.4).
"""

from __future__ import annotations

import math

import numpy as np

from audits import Budget
from mechanisms.embedded import load
from mechanisms.gaussian_output import GaussianOutput
from mechanisms.neighbours import NeighbouringPair
from mechanisms.profiles import GaussianProfile
from reports.row import Figure

from ..cases import adversarial, case, grid, mutant
from ..formal import FormalClaim, Version, data_evidence, version_name
from ..plots import profile_figure
from ..search import Axis, Point
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value

ID = "W19-L2.4"


def epsilon_published(p: Point) -> float:
    """Return epsilon as printed in W19, Lemma 2.4."""
    return p["gamma"] * p["sensitivity"] * math.sqrt(math.log(1.25 / p["delta"]))


def epsilon_corrected(p: Point) -> float:
    """Return epsilon with the root of gamma and the missing 2; it claims something only where it is at most 1."""
    return math.sqrt(2.0 * p["gamma"] * math.log(1.25 / p["delta"])) * p["sensitivity"]


def at_most_one(p: Point, epsilon: float) -> bool:
    """The hypothesis that the classical constant needs."""
    return epsilon <= 1.0


#: Smallest factor that the corrected epsilon can be multiplied by on the box, attained at epsilon = 1, delta = 1e-12:
#: 1 / (mu sqrt(2 log(1.25e12))) with mu the exact Gaussian-DP parameter of (1, 1e-12). Tested against the profile.
CRITICAL = 0.8786169183736016

CLAIM = FormalClaim(
    profile=lambda p: GaussianProfile(math.sqrt(p["gamma"]) * p["sensitivity"]),
    box={"gamma": Axis(1e-6, 1e6), "sensitivity": Axis(1e-4, 1e2), "delta": Axis(1e-12, 0.99)},
    versions={
        "printed": Version(epsilon_published),
        "corrected": Version(epsilon_corrected, at_most_one),
        "no 2 under the root": Version(lambda p: epsilon_corrected(p) / math.sqrt(2.0), at_most_one),
        "no bound on epsilon": Version(epsilon_corrected),
        "constant 2 % below the critical one": Version(lambda p: 0.98 * CRITICAL * epsilon_corrected(p), at_most_one),
    },
)

DELTAS = (1e-1, 1e-3, 1e-6, 1e-9, 1e-12)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case: on the exact profile, or on a record of real data with a Monte Carlo witness beside it."""
    if "data" not in case.params:
        return CLAIM.check(case, budget)
    dataset = load(case.text("data"))
    mechanism = GaussianOutput(precision=np.eye(dataset.dim), gamma=case.number("gamma"))
    pair = NeighbouringPair.remove(dataset, case.whole("record"))
    sensitivity = mechanism.sensitivity(pair)
    version = CLAIM.versions[version_name(case)]
    point = {"gamma": mechanism.gamma, "sensitivity": sensitivity, "delta": case.number("delta")}
    epsilon = version.epsilon(point)
    return data_evidence(mechanism, pair, epsilon, point["delta"], budget, in_domain=version.domain(point, epsilon))


def _data(standing: Standing, name: str, record: int, gamma: float, *, quick: bool) -> Case:
    params: dict[str, Value] = {"data": name, "record": record, "gamma": gamma, "delta": 1e-2}
    return case(ID, standing, params, regime="real data", draws=(20_000, 200_000, 2_000_000), quick=quick)


def _cases() -> tuple[Case, ...]:
    axes = {"gamma": (1e-6, 1e-2, 1.0, 1e4), "sensitivity": (1e-4, 1e-2, 0.1, 3.0), "delta": DELTAS}
    smallest: dict[str, Value] = {"gamma": 0.01, "sensitivity": 1.0, "delta": 1e-3}
    return (
        case(ID, Standing.PRINTED, smallest, role=Role.COUNTEREXAMPLE, regime="one number released"),
        adversarial(ID, Standing.PRINTED),
        _data(Standing.PRINTED, "fair", 0, 100.0, quick=False),
        case(
            ID, Standing.CORRECTED, smallest, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"
        ),
        *grid(ID, Standing.CORRECTED, axes, regime="scales and delta", quick_every=7),
        adversarial(ID, Standing.CORRECTED),
        _data(Standing.CORRECTED, "fair", 0, 100.0, quick=True),
        _data(Standing.CORRECTED, "randhie", 7, 1e4, quick=False),
        mutant(ID, "no 2 under the root"),
        mutant(
            ID, "no bound on epsilon", {"gamma": 1.0, "sensitivity": 10.0 / math.sqrt(2 * math.log(12.5)), "delta": 0.1}
        ),
        mutant(ID, "constant 2 % below the critical one", severity=0.02),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile of the counterexample with both claims."""
    point = {"gamma": 0.01, "sensitivity": 1.0, "delta": 1e-3}
    bounds = {name: CLAIM.versions[name].epsilon(point) for name in ("printed", "corrected")}
    setting = "gamma = 0.01, Delta = 1: Gaussian DP with mu = 0.1"
    return (
        profile_figure(
            "w19-l24", "Exact profile of the Gaussian mechanism", CLAIM.profile(point), 1e-3, bounds, setting
        ),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="lemma",
    title="Multivariate Gaussian mechanism",
    locator="Lemma 2.4",
    domain=(
        "Any deterministic map, A positive definite and gamma > 0 that do not depend on the data, every delta > 0; both "
        "directions; A and gamma public. Decided for gamma in [1e-6, 1e6], Delta in [1e-4, 100], delta in [1e-12, 0.99]"
    ),
    summary=(
        "The printed epsilon scales with gamma where the privacy loss scales with its root, so privacy fails by any "
        "factor for small gamma."
    ),
    parts=(
        Part(
            ID,
            "epsilon of the multivariate Gaussian mechanism",
            printed=Formula(
                "epsilon(Z, z) = gamma Delta_A (Z, z) sqrt(log(1.25/delta))",
                "epsilon(Z, z) = gamma Delta_A(Z, z) sqrt(log(1.25/delta))",
            ),
            corrected=Formula(
                'epsilon(Z, z) = sqrt(gamma) Delta_A (Z, z) sqrt(2 log(1.25/delta)) quad "if this is at most 1"',
                "epsilon(Z, z) = sqrt(gamma) Delta_A(Z, z) sqrt(2 log(1.25/delta)), if this is at most 1",
            ),
            what_went_wrong=(
                "gamma stands for sqrt(gamma), a factor 2 is missing under the root, and the hypothesis epsilon <= 1 of "
                "the classical constant is missing. Loose by 12 % at epsilon = 1, delta = 1e-12, more elsewhere: the exact "
                "epsilon is the root of the Gaussian profile."
            ),
            derivation="docs/derivations/wang2019.md, Lemma 2.4",
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
