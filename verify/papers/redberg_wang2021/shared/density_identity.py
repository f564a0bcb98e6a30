"""How RW21's Theorem 6 and Corollary 7 are decided: the printed sum of three terms against the log density ratio.

The ratio is enclosed in ball arithmetic, built from the values of the loss alone; in one dimension it is also the derivative
of the exact distribution functions. On real data a change of measure with drawn outputs is used.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from audits import Budget
from mechanisms import NeighbouringPair
from mechanisms.data.dataset import FloatArray
from mechanisms.data.embedded import load
from mechanisms.objective.losses import GlmLoss, LogisticLoss, PoissonLoss, SquaredLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation

from ....kernel.evidence import tail_identity_gap
from ....kernel.formal import pair_of
from ....methods.ball_density import Rows, as_rows, cdf_log_ratio, deviation, log_ratio
from ...kit import At, Case, Claim, Display, Evidence, Form, Mutant, Numbers, Observer, identity_evidence, over

TOLERANCE = 1e-9
#: Largest gap of a change-of-measure identity that the sampled cases allow (a printed band, in probability).
GAP = 0.1
LOSSES: dict[str, GlmLoss] = {"logistic": LogisticLoss(), "squared": SquaredLoss(), "poisson": PoissonLoss()}
RESPONSES = (-1.0, 1.0)
#: Multiples of the determinant, the quadratic and the gradient term.
Weights = tuple[float, float, float]
#: Wrong versions of the sum.
WRONG: dict[str, Weights] = {
    "sign of the determinant term": (-1.0, 1.0, 1.0), "sign of the gradient term": (1.0, 1.0, -1.0),
    "no half in the quadratic term": (1.0, 2.0, 1.0), "gradient term 1e-6 larger": (1.0, 1.0, 1.0 + 1e-6),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class RandomOutcome:
    """An outcome for random records; the last ``rank`` of them are the target, outside the data (sign 1) or inside (-1)."""

    loss: str
    X: FloatArray
    y: FloatArray
    rank: int
    theta: FloatArray
    sign: float
    sigma: float
    lam: float

    @property
    def target(self) -> Rows:
        """The target's records."""
        return as_rows(self.X[-self.rank :], self.y[-self.rank :])

    @property
    def without(self) -> Rows:
        """The other records."""
        return as_rows(self.X[: -self.rank], self.y[: -self.rank])

    @property
    def pair(self) -> tuple[Rows, Rows]:
        """The data that the outcome was drawn from, and the other."""
        both = self.without, [*self.without, *self.target]
        return both if self.sign > 0 else both[::-1]


#: The printed determinant, quadratic and gradient term of an instance.
Terms = Callable[[RandomOutcome], Sequence[float]]


def _decide(
    case: Case, budget: Budget, *, terms: Terms, weights: Weights, responses: Mapping[str, Sequence[float]]
) -> Evidence:
    """Compare the weighted sum with the density ratio at eight random outcomes, or test it on drawn outputs of real data."""
    if "data" in case.params:
        return _on_data(case, budget)
    dim, n, loss = case.whole("dim"), case.whole("n"), case.text("loss")
    rank = case.whole("rank") if "rank" in case.params else 1
    scales = case.number("sign"), case.number("sigma"), case.number("lam")
    rng, worst = budget.key.child("instances").rng(), 0.0
    for _ in range(8):
        X = rng.uniform(-1, 1, (n + rank, dim)) / np.sqrt(dim)
        y = rng.choice(responses.get(loss, RESPONSES), n + rank)
        at = RandomOutcome(loss, X, y, rank, rng.standard_normal(dim), *scales)
        determinant, quadratic, gradient = (weight * term for weight, term in zip(weights, terms(at), strict=True))
        value = determinant + quadratic + gradient
        worst = max(worst, deviation(value, log_ratio(loss, *at.pair, at.theta.tolist(), at.sigma, at.lam)))
        if dim == 1:
            truth = cdf_log_ratio(loss, *at.pair, float(at.theta[0]), at.sigma, at.lam)
            worst = max(worst, deviation(value, truth))
    return identity_evidence(
        "largest relative deviation from the log density ratio, 8 outcomes",
        worst,
        0.0,
        TOLERANCE,
        conditioned_on="the outcome",
        method="ball arithmetic of the density ratio",
    )


def _on_data(case: Case, budget: Budget) -> Evidence:
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=case.number("sigma"), lam=case.number("lam"))
    pair = pair_of(case) if case.text("relation") == "remove" else pair_of(case).swapped()
    gap = tail_identity_gap(mechanism, pair, 0.0, budget)
    words = "gap of the change-of-measure identities"
    return Evidence(Claim(words, -GAP, GAP, 0.0, relation=pair.relation, observer=Observer.OUTPUT), sampled=gap)


def identity_display(
    title: str,
    typst: str,
    terms: Terms,
    shapes: Mapping[str, Sequence[object]],
    wrong: Mapping[str, Weights],
    shape: Numbers,
    *,
    quick_every: int,
    responses: Mapping[str, Sequence[float]] | None = None,
) -> Display:
    """Return the display that the sum of ``terms`` is the log ratio; ``wrong`` sums must be refuted at ``shape``."""
    check = partial(_decide, terms=terms, responses=responses or {})
    real = {"data": "fair", "record": 3, "sigma": 4.0, "lam": 0.5}
    draws = (2_000, 8_000, 200_000)
    return Display(
        title,
        Form(
            typst,
            partial(check, weights=(1.0, 1.0, 1.0)),
            [
                *over("random instances; target inside and outside the data", shapes, quick_every=quick_every),
                *(
                    At("draws on real data", real | {"relation": relation}, draws=draws, quick=False)
                    for relation in ("remove", "add")
                ),
            ],
        ),
        mutants={
            name: Mutant(check, shape, severity=1e-6 if "1e-6" in name else None, weights=weights)
            for name, weights in wrong.items()
        },
    )


def fair_record() -> tuple[ObjectivePerturbation, NeighbouringPair, str]:
    """Return what the figures of both statements draw: a mechanism, one record of ``fair``, and the setting in words."""
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=4.0, lam=0.5)
    words = "Record 3 of fair removed, logistic loss, sigma = 4, lambda = 0.5"
    return mechanism, NeighbouringPair.remove(load("fair"), 3), words
