"""The picture of an audit: the trade-off curve that is claimed, and what was seen of the true one.

Whoever sees an output guesses from which of two data sets it came. A claim is a curve that no test's errors lie below
(Dong, Roth, Su 2022, Definition 2.3); an event that was seen is a test, and its two error rates are a point. Their bars
reach to the upper ends of the Clopper-Pearson intervals, all of which hold together but for ``failure_prob``.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.density_tests.stated_worst import stated_delta, stated_worst
from audits.stats.intervals import clopper_pearson_upper
from audits.verdict import Decision
from mechanisms.capabilities import worst_case_of
from mechanisms.data.dataset import FloatArray

from .config.mechanism_source import Imported

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from .audit_call import AuditResult

CLAIMED, SEEN, WRONG, STATED = "#3f74b5", "#3a9a55", "#d13239", "#8a8a8a"
#: The rates of false positives and of false negatives, each with the upper end of its interval.
Errors = tuple[tuple[float, float], tuple[float, float]]
HITS = re.compile(r"(\d+) of (\d+) against (\d+) of (\d+)")


def draw(audit: AuditResult, axes: Axes | None = None) -> Axes:
    """Draw on axes, or on those of a new figure, and return them."""
    if axes is None:
        from matplotlib.figure import Figure

        axes = Figure(figsize=(5.2, 3.6), layout="constrained").subplots()
    delta = audit.point[1]
    refuted, grid = audit.decision is Decision.FAIL, np.linspace(0.0, 1.0, 401)
    claimed = claimed_curve(audit, grid)
    axes.plot(grid, claimed, color=CLAIMED, label="claimed: no test has errors below")
    axes.fill_between(grid, 0.0, claimed, color=CLAIMED, alpha=0.08, linewidth=0)
    if (stated := _stated(audit)) is not None:
        axes.plot(grid, profile_curve(grid, stated[1]), color=STATED, linestyle="--", label=stated[0])
    if math.isfinite(audit.epsilon_lower) and audit.epsilon_lower > 0:
        bound = point_curve(grid, audit.epsilon_lower, delta)
        words = f"epsilon at least {math.floor(audit.epsilon_lower * 1000) / 1000:g} (certified)"
        axes.plot(grid, bound, color=WRONG if refuted else SEEN, linewidth=1.5, linestyle=":", label=words)
    for wrong, colour, label in ((False, SEEN, "seen: an event on a pair"), (True, WRONG, "seen: refutes the claim")):
        errors = [each for each in errors_seen(audit) if (refuted and lies_below(audit, each)) is wrong]
        for number, ((x, x_high), (y, y_high)) in enumerate(errors):
            bars: Any = {"xerr": [[0.0], [x_high - x]], "yerr": [[0.0], [y_high - y]]}
            look: Any = {"fmt": "o", "markersize": 5, "color": colour, "clip_on": False, "zorder": 3}
            axes.errorbar([x], [y], **bars, **look, label="" if number else label)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="false positive rate", ylabel="false negative rate")
    axes.set_title(f"{audit.certificate.deployment.mechanism.name}: {audit.verdict}", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    return axes


def point_curve(false_positives: FloatArray, epsilon: float, delta: float) -> FloatArray:
    """Return the least false negatives that (epsilon, delta) allows (Dong, Roth, Su 2022, Proposition 2.5)."""
    factor = math.exp(min(epsilon, 700.0))
    lines = [1 - delta - factor * false_positives, (1 - delta - false_positives) / factor]
    return np.maximum(np.maximum(*lines), 0.0)


def profile_curve(false_positives: FloatArray, delta_at: Callable[[float], float]) -> FloatArray:
    """Return the least false negatives that a privacy profile allows: the largest over its points."""
    highest = np.zeros_like(false_positives)
    for epsilon in map(float, np.concatenate([np.linspace(0.0, 1.0, 41), np.geomspace(1.05, 40.0, 60)])):
        highest = np.maximum(highest, point_curve(false_positives, epsilon, min(1.0, delta_at(epsilon))))
    return highest


def _stated(audit: AuditResult) -> tuple[str, Callable[[float], float]] | None:
    """Return delta as a function of epsilon, proved of a mechanism of ours or stated by another, and what it is."""
    deployment, claim = audit.certificate.deployment, audit.claim
    delta, domain = audit.point[1], deployment.domain
    if not isinstance(deployment.mechanism, Imported):
        bound = worst_case_of(deployment.mechanism, domain)
        if bound is None or claim.steps > 1:  # it is about one record
            return None
        return "proved", lambda e: bound.delta_at(e, max(delta, 1e-12))
    inner, of = deployment.mechanism.inner, (claim.neighbours, claim.group)
    worst = stated_worst(inner, domain.x_bound, domain.y_bound, *of, claim=claim.privacy)[0]
    return None if worst is None else ("stated by the mechanism", lambda e: stated_delta(worst, e, delta))


def claimed_curve(audit: AuditResult, false_positives: FloatArray) -> FloatArray:
    """Return the least false negatives that the claim allows."""
    privacy = audit.claim.privacy
    if privacy.curve is None:
        return point_curve(false_positives, privacy.epsilon, privacy.delta)
    return profile_curve(false_positives, privacy.delta_at)


def lies_below(audit: AuditResult, errors: Errors) -> bool:
    """Return whether the upper ends of both rates lie below the claimed curve."""
    (_, x_high), (_, y_high) = errors
    return y_high < float(claimed_curve(audit, np.array([x_high]))[0])


def errors_seen(audit: AuditResult) -> list[Errors]:
    """Return both error rates of the event that was tested on each pair, each with the upper end of its interval."""
    found = []
    for check in audit.finding.checks:
        hits = HITS.fullmatch(str(check.evidence.notes.get("hits", "")))
        if hits is not None and check.name.startswith("black box"):
            one, of_one, other, of_other = map(int, hits.groups())
            if one / of_one > other / of_other:
                one, of_one, other, of_other = other, of_other, one, of_one
            found.append([(one, of_one), (of_other - other, of_other)])
    level = audit.failure_prob / max(1, 2 * len(found))
    rates = [[(n / of, clopper_pearson_upper(n, of, level)) for n, of in errors] for errors in found]
    return [(false_positive, false_negative) for false_positive, false_negative in rates]
