"""The witnesses that statement files share: formal privacy claims, identities, proved comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from audits import Estimate
from mechanisms import BOTH, Direction, PrivacyProfile, Relation

from .measure import Measure
from .statement import Claim, Evidence, Observer, Value

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
