"""The witnesses that statement files share: formal privacy claims, identities, comparisons, samples, missing data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from audits import Budget, Estimate
from audits.stats.intervals import betting
from audits.white_box.tails import audit_tails
from mechanisms import BOTH, Dataset, Direction, NeighbouringPair, PrivacyProfile, Relation, WhiteBox

from .measure import Measure
from .statement import Case, Claim, Evidence, Observer, Value

#: Relative rounding error granted to a printed formula evaluated in float64: more than a hundred operations' worth.
FORMULA_ERROR = 1e-13


def hockey_stick_evidence(
    profile: PrivacyProfile,
    epsilon: float,
    delta: float,
    *,
    directions: Iterable[Direction] = BOTH,
    in_domain: bool = True,
    relation: Relation | None = Relation.ADD,
    observer: Observer = Observer.TRANSCRIPT,
    conditioned_on: str = "",
    sampled: Estimate | None = None,
    found: Mapping[str, Value] | None = None,
) -> Evidence:
    """Decide a formal (epsilon, delta) claim on the exact hockey-stick divergence, the worse of ``directions``.

    The divergence is non-increasing in epsilon, so an enclosure at the two ends of epsilon's own rounding interval
    encloses the divergence at the real-arithmetic epsilon. The tail ``P(L > epsilon)`` is reported beside it.
    """
    directions = tuple(directions)
    slack = FORMULA_ERROR * max(abs(epsilon), 1e-300)
    low = max(profile.delta_bracket(epsilon + slack, d).low for d in directions)
    high = max(profile.delta_bracket(epsilon - slack, d).high for d in directions)
    exact = Estimate.proved(low, high, "closed form, ball arithmetic")
    claim = Claim(
        quantity="hockey-stick delta at the published epsilon, worse direction",
        low=0.0,
        high=float(delta),
        published=float(epsilon),
        in_domain=in_domain and not vacuous(epsilon, delta),
        relation=relation,
        observer=observer,
        conditioned_on=conditioned_on,
        measure=Measure.DELTA,
    )
    notes: dict[str, Value] = {
        "epsilon_published": float(epsilon),
        "delta": float(delta),
        "epsilon_exact": max(profile.epsilon_at(delta, d) for d in directions),
        "tail_at_published": max(profile.tail_at(epsilon, d) for d in directions),
    }
    return Evidence(claim, exact=exact, sampled=sampled, found=found or {}, notes=notes)


def vacuous(epsilon: float, delta: float) -> bool:
    """Return whether an (epsilon, delta) claim says nothing: delta at least 1, or epsilon infinite or undefined."""
    return delta >= 1 or not math.isfinite(epsilon)


def identity_evidence(
    quantity: str,
    deviation: float,
    allowance: float,
    tolerance: float,
    *,
    published: float = 0.0,
    relation: Relation | None = None,
    conditioned_on: str = "",
    method: str = "independent evaluation",
    notes: Mapping[str, Value] | None = None,
) -> Evidence:
    """Decide an identity: the largest deviation, known to ``allowance``, must lie inside a printed ``tolerance``."""
    low, high = max(0.0, deviation - allowance), deviation + allowance
    exact = Estimate(deviation, low, high, 0.0, 0, method)
    claim = Claim(
        quantity,
        0.0,
        tolerance,
        published,
        relation=relation,
        observer=Observer.OUTPUT,
        conditioned_on=conditioned_on,
        measure=Measure.IDENTITY,
    )
    return Evidence(claim, exact=exact, notes=notes or {})


def coverage_evidence(
    quantity: str,
    level: float,
    *,
    sampled: Estimate | None = None,
    exact: Estimate | None = None,
    in_domain: bool = True,
    relation: Relation | None = None,
    conditioned_on: str = "",
    notes: Mapping[str, Value] | None = None,
) -> Evidence:
    """Decide a 'with probability at least ``level``' claim on the probability of the joint event."""
    claim = Claim(
        quantity,
        low=level,
        high=math.inf,  # 1 would count as an edge, and a margin to it says nothing
        published=level,
        in_domain=in_domain,
        relation=relation,
        observer=Observer.TRANSCRIPT,
        conditioned_on=conditioned_on,
        measure=Measure.COVERAGE,
    )
    return Evidence(claim, exact=exact, sampled=sampled, notes=notes or {})


#: Relative rounding error granted to a float64 evaluation whose condition is far below 1e6.
FLOAT_ERROR = 1e-8


def data_missing(quantity: str, missing: str, notes: Mapping[str, Value] | None = None) -> Evidence:
    """Return the evidence that decides nothing because ``missing`` is not shipped or stated; ``notes`` are shown."""
    claim = Claim(quantity, 0.0, math.inf, math.nan, observer=Observer.OUTPUT)
    return Evidence(claim, reason=f"data missing: {missing}", notes=notes or {})


def float_evidence(
    quantity: str, value: float, low: float, high: float, published: float, notes: Mapping[str, Value] | None = None
) -> Evidence:
    """Decide ``low <= value <= high`` on a float64 evaluation known to ``FLOAT_ERROR`` relatively."""
    slack = FLOAT_ERROR * abs(value)
    exact = Estimate(value, value - slack, value + slack, 0.0, 0, "float64 evaluation")
    return Evidence(Claim(quantity, low, high, published, observer=Observer.OUTPUT), exact=exact, notes=notes or {})


def given_or_missing(case: Case, quantity: str, names: Sequence[str]) -> Mapping[str, Dataset] | Evidence:
    """Return the published data sets of these names that a run was given, or what says which of them are missing."""
    from mechanisms.data.published import published_sets as recipes

    absent = [recipes.published_sets()[name] for name in names if name not in case.given]
    if not absent:
        return {name: case.given[name] for name in names}
    words = [f"recipe {each.name}: {' or '.join(each.files)}, {each.source}" for each in absent]
    return data_missing(quantity, "; ".join([*words, "with the file in a folder: pdp-verify run --data FOLDER"]))


def sampled_delta(
    mechanism: WhiteBox, pair: NeighbouringPair, epsilon: float, direction: Direction, budget: Budget
) -> Estimate:
    """Return a Monte Carlo interval of the hockey-stick delta at ``epsilon`` in one direction."""
    return audit_tails(mechanism, pair, [epsilon], budget, directions=[direction]).points[0].delta


def tail_identity_gap(mechanism: WhiteBox, pair: NeighbouringPair, level: float, budget: Budget) -> Estimate:
    """Return a Monte Carlo interval of the gap in two change-of-measure identities, halved and summed.

    ``E_D[exp(-L) 1{L > t}] = P_D'(L > t)`` and ``E_D'[exp(L) 1{L < -t}] = P_D(L < -t)`` hold for every ``t`` exactly
    when ``L`` is the log ratio of the two laws that are drawn from. With ``t = level >= 0`` every term lies in [0, 1].
    """
    if level < 0:
        raise ValueError(f"level must be at least 0, got level={level}")
    n_each = max(1, budget.n_draws // 2)
    first = mechanism.privacy_loss(mechanism.draw(pair.first, n_each, rng=budget.key.child("first").rng()), pair)
    second = mechanism.privacy_loss(mechanism.draw(pair.second, n_each, rng=budget.key.child("second").rng()), pair)
    # Pairing the i-th draws of the two samples gives independent, bounded differences with the right mean.
    left = np.exp(-first) * (first > level) - (second > level)
    right = np.exp(second) * (second < -level) - (first < -level)
    gaps = 0.5 * (left + right)
    interval = betting(gaps, budget.spend("gap"), low=-1.0, high=1.0)
    middle = min(max(float(gaps.mean()), interval.low), interval.high)
    return Estimate(middle, interval.low, interval.high, budget.failure_prob, 2 * n_each, "betting (hedged capital)")
