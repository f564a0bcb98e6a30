"""The worst pair of neighbouring data sets that can be built in the public domain, with its exact divergence.

A lower bound on the worst case, and a counterexample where it exceeds a claim. Pairs are small enough to be enclosed:
none or a few equal records, and one record more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from mechanisms import (
    BOTH,
    Bracket,
    Dataset,
    Direction,
    GaussianOutput,
    GaussianProfile,
    NeighbouringPair,
    ObjectivePerturbation,
    PosteriorSampling,
    PrivacyProfile,
)
from mechanisms.adassp import AdaSSP
from mechanisms.data import FloatArray
from mechanisms.gaussian_profile import gaussian_log_delta
from mechanisms.losses import LogisticLoss, PoissonLoss, SmoothedHingeLoss
from mechanisms.quadratic_profile import quadratic_log_delta
from mechanisms.ridge import RidgeMap
from mechanisms.sufficient_statistics import SufficientStatistics

from ..statement import Value
from .one_record import OneRecord
from .universal import Domain

#: Most equal records beside the target, where the number of records is not bounded by the claim.
MOST_RECORDS = 2048


@dataclass(frozen=True, eq=False)
class WorstPair:
    """A pair of data sets in the public domain, and a proved enclosure of its delta at the claimed epsilon.

    Attributes
    ----------
    pair : NeighbouringPair
        In the dimension of the deployment.
    direction : Direction
        The worse one.
    delta : Bracket
    words : str
        How the pair is built.
    found : mapping
        Its numbers.
    profile : PrivacyProfile or None
        Its exact law, where that is known in closed form.
    one_record : OneRecord or None
        Its exact law as sums over cells.
    """

    pair: NeighbouringPair
    direction: Direction
    delta: Bracket
    words: str
    found: Mapping[str, Value]
    profile: PrivacyProfile | None = None
    one_record: OneRecord | None = None

    def curve(self, epsilons: FloatArray) -> list[float]:
        """Return delta at each epsilon, worse direction (float64; for figures)."""
        if self.profile is not None:
            law = self.profile
            return [max(law.delta_at(float(e), d) for d in BOTH) for e in epsilons]
        one = self.one_record
        assert one is not None
        return [max(one.delta_float(float(e), d) for d in BOTH) for e in epsilons]


def worst_pair(mechanism: object, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
    """Return the worst pair of the searched family, or None for a mechanism whose divergence is not known exactly."""
    if not (math.isfinite(domain.x_bound) and math.isfinite(domain.y_bound)):
        return None
    match mechanism:
        case ObjectivePerturbation() if mechanism.lam > 0 and mechanism.regulariser is None:
            return _objective(mechanism, domain, epsilon, delta)
        case SufficientStatistics():
            return _sufficient(mechanism, domain, epsilon)
        case AdaSSP():
            return _adassp(mechanism, domain, epsilon)
        case PosteriorSampling():
            return _ridge_family(mechanism, mechanism.lam, domain, epsilon)
        case GaussianOutput() if isinstance(mechanism.estimator, RidgeMap):
            return _ridge_family(mechanism, mechanism.estimator.lam, domain, epsilon)
    return None


def _axis(dim: int, length: float) -> FloatArray:
    return np.asarray(np.eye(dim)[0] * length)


def _empty(domain: Domain) -> Dataset:
    return Dataset(
        np.empty((0, domain.dim)), np.empty(0), domain.x_bound, domain.y_bound, name="no record", public=True
    )


def _objective(mechanism: ObjectivePerturbation, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
    loss = mechanism.loss
    if isinstance(loss, LogisticLoss | SmoothedHingeLoss):
        responses: Iterable[float] = (1.0,) if domain.y_bound >= 1 else ()
    else:
        low = 0.0 if isinstance(loss, PoissonLoss) else -domain.y_bound
        responses = np.linspace(low, domain.y_bound, 5).tolist()
    candidates = [
        OneRecord(loss, mechanism.sigma, mechanism.lam, float(share) * domain.x_bound, float(y))
        for share, y in itertools.product(np.linspace(1.0, 0.05, 20), responses)
    ]
    if not candidates:
        return None
    values = [max(record.delta_float(epsilon, d) for d in BOTH) for record in candidates]
    best = candidates[int(np.argmax(values))]
    # delta = 0 or tiny claims are decided on the divergence's own scale
    scale = max(delta, 1e-9 * max(values), 1e-30)
    both = {d: best.delta(epsilon, d, scale=scale) for d in BOTH}  # the guess chooses the pair alone
    direction = max(BOTH, key=lambda d: both[d].low)
    enclosed = Bracket(both[direction].low, max(each.high for each in both.values()))
    pair = NeighbouringPair.add(_empty(domain), _axis(domain.dim, best.x_norm), best.y)
    return WorstPair(
        pair,
        direction,
        enclosed,
        "no record (or records of zero features), and one record more, of the longest features that matter",
        {"x_norm": best.x_norm, "y": best.y, "n_records": 0, "direction": direction.name},
        one_record=best,
    )


def _gaussian_pair(domain: Domain, mu: float, epsilon: float, words: str) -> WorstPair:
    profile = GaussianProfile(mu)
    pair = NeighbouringPair.add(_empty(domain), _axis(domain.dim, domain.x_bound), domain.y_bound)
    found: dict[str, Value] = {"x_norm": domain.x_bound, "y": domain.y_bound, "n_records": 0, "mu": mu}
    return WorstPair(pair, Direction.FORWARD, profile.delta_bracket(epsilon), words, found, profile)


def _sufficient(mechanism: SufficientStatistics, domain: Domain, epsilon: float) -> WorstPair:
    mu = mechanism.worst_profile(domain.x_bound, domain.y_bound).mu
    return _gaussian_pair(domain, mu, epsilon, "one record more, of the longest features on a coordinate axis")


def _adassp(mechanism: AdaSSP, domain: Domain, epsilon: float) -> WorstPair:
    mu = math.sqrt(2) / mechanism.unit_sigma  # the two statistics alone: what the eigenvalue adds is left out
    return _gaussian_pair(domain, mu, epsilon, "one record more on a coordinate axis, seen in the two statistics alone")


def _ridge_family(
    mechanism: PosteriorSampling | GaussianOutput, lam: float, domain: Domain, epsilon: float
) -> WorstPair | None:
    """Return the worst of: ``m`` equal records on the first axis, and a target on it that points the other way."""
    most = MOST_RECORDS if domain.n_public is None else min(MOST_RECORDS, max(domain.n_public - 1, 0))
    sizes = sorted({0, *(int(m) for m in np.geomspace(1, most, 24))}) if most else [0]
    lines = [(m, float(share) * domain.x_bound) for m in sizes for share in np.geomspace(1.0, 1e-2, 17)]
    counts, lengths = (np.array(each, dtype=np.float64) for each in zip(*lines, strict=True))
    values = _line_log_deltas(mechanism, lam, domain, counts, lengths, epsilon)
    if np.isnan(values).all():
        return None
    m, length = lines[int(np.nanargmax(values))]
    line = _line_pair(domain, m, length, 1)
    law = mechanism if isinstance(mechanism, PosteriorSampling) else _one_coordinate(mechanism)
    profile = law.profile(line)
    direction = max(BOTH, key=lambda d: profile.log_delta_at(epsilon, d))
    return WorstPair(
        _line_pair(domain, m, length, domain.dim),
        direction,
        law.delta_bracket(line, epsilon, direction),
        "equal records on the first axis, and one more there that points the other way",
        {"n_records": m, "x_norm_of_records": length, "x_norm": domain.x_bound, "y": domain.y_bound,
         "direction": direction.name},
        profile,
    )  # fmt: skip


def _one_coordinate(mechanism: GaussianOutput) -> GaussianOutput:
    """Return the mechanism on the first coordinate alone (the others are the same under both data sets)."""
    return GaussianOutput(mechanism.precision[:1, :1], mechanism.gamma, mechanism.estimator)


def _line_pair(domain: Domain, m: int, length: float, dim: int) -> NeighbouringPair:
    data = Dataset(
        np.tile(_axis(dim, length), (m, 1)),
        np.full(m, domain.y_bound),
        domain.x_bound,
        domain.y_bound,
        name=f"{m} equal records",
        public=True,
    )
    return NeighbouringPair.add(data, _axis(dim, domain.x_bound), -domain.y_bound)


def _line_log_deltas(
    mechanism: PosteriorSampling | GaussianOutput,
    lam: float,
    domain: Domain,
    counts: FloatArray,
    lengths: FloatArray,
    epsilon: float,
) -> FloatArray:
    """Return log delta of such pairs, worse direction, from one dimension's arithmetic; nan where nothing is defined."""
    curvature = lam + counts * lengths**2
    defined = curvature > 0
    curvature = np.where(defined, curvature, 1.0)
    residual = domain.y_bound + domain.x_bound * counts * lengths * domain.y_bound / curvature
    leverage = domain.x_bound**2 / curvature
    if isinstance(mechanism, PosteriorSampling):
        scaled = math.sqrt(mechanism.gamma) * residual
        found = np.maximum(*(quadratic_log_delta(epsilon, leverage, scaled, d) for d in BOTH))
    else:
        moved = domain.x_bound * residual / (curvature * (1 + leverage))
        found = gaussian_log_delta(epsilon, moved * math.sqrt(mechanism.gamma * float(mechanism.precision[0, 0])))
    return np.where(defined, found, np.nan)
