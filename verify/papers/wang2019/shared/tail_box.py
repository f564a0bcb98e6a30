"""The corrected W19-T4.1 on a box: the tail of the privacy loss beyond (4.3) is at most delta, in both directions.

That is stronger than the formal claim (Lemma B.6). With ``L = log(2/delta)``, ``g = log(1 + mu)``, ``q = a^2 mu/(1 + mu)``
the loss exceeds epsilon without the target where ``|W| > w``, ``w^2 = a^2 + e``, ``W ~ N(a, mu)``; with the target where
``|W| < w'``, ``w'^2 = a^2/(1 + mu) - q + 2 g - e``, ``W ~ N(a/(1 + mu), mu/(1 + mu))``; and
``e = 2 epsilon + g - q = 2 max(g - q, 0) + 2 mu L + 2 a sqrt(2 mu L)``, which cancels nothing.
"""

from collections.abc import Mapping
from typing import Any, Final

from flint import arb

from mechanisms import Relation
from mechanisms.numerics.balls import Ball

from ....kernel.box_search import Axis
from ....methods.boxes import BoxProof, box_evidence, prove_nonnegative
from ...kit import Evidence

#: Leverage, scaled residual, log(2/delta): delta from 0.99 down to 0.0019.
BOX: Final = {"leverage": Axis(0.25, 4.0), "residual": Axis(0.25, 4.0), "log(2/delta)": Axis(0.7, 7.0)}


def _parts(p: Mapping[str, Any]) -> tuple[Ball, Ball, Ball, Ball, Ball]:
    mu, a, log = p["leverage"], p["residual"], p["log(2/delta)"]
    g, q = (1 + mu).log(), a * a * mu / (1 + mu)
    return mu, a, g, q, (2 * (g - q)).max(arb(0)) + 2 * mu * log + 2 * a * (2 * mu * log).sqrt()


def without_target(p: Mapping[str, Any]) -> Ball:
    """Return 1 minus the tail over delta, drawn without the target."""
    mu, a, _, _, e = _parts(p)
    w, spread = (a * a + e).sqrt(), (2 * mu).sqrt()
    tail = ((e / (w + a) / spread).erfc() + ((w + a) / spread).erfc()) / 2
    return 1 - tail * p["log(2/delta)"].exp() / 2


def with_target(p: Mapping[str, Any]) -> Ball:
    """Return a lower bound of 1 minus the tail over delta, drawn with the target."""
    mu, a, g, q, e = _parts(p)
    square = a * a / (1 + mu) - q + 2 * g - e
    if square <= 0:
        return arb(1)
    w, spread, centre = square.upper().sqrt(), (2 * mu / (1 + mu)).sqrt(), a / (1 + mu)
    tail = (((centre - w) / spread).erfc() - ((centre + w) / spread).erfc()) / 2
    return 1 - tail * p["log(2/delta)"].exp() / 2


def tail_box_evidence() -> Evidence:
    """Return the proof over the box, the worse direction."""
    proofs = [prove_nonnegative(f, BOX) for f in (without_target, with_target)]
    worse = min(proofs, key=lambda proof: proof.high)
    joint = BoxProof(min(p.low for p in proofs), worse.high, worse.worst, sum(p.n_boxes for p in proofs))
    return box_evidence("1 minus P(loss > epsilon)/delta, worse direction", joint, BOX, relation=Relation.ADD)
