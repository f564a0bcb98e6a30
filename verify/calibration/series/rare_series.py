"""False alarms at tails of 1e-9: the audit of rare events against exact profiles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from audits import Budget, StreamKey
from audits.rare.importance import audit_rare
from mechanisms import Direction, GaussianProfile
from mechanisms.catalogue import example_pair
from mechanisms.envelopes.gaussian_envelopes import NormalIntervals, posterior_envelope
from mechanisms.envelopes.tail_envelopes import Envelope
from mechanisms.linear.posterior_sampling import PosteriorSampling

from .series import AuditSeries, any_missed, missed, one_by_one

OPS, PAIR = PosteriorSampling(30.0, 1.0), example_pair(n_records=6)
TAIL = 1e-9


@cache
def _posterior() -> tuple[Envelope, float, float]:
    """Return an envelope, the tail and the divergence, relative to the mass of the envelope."""
    profile, direction = OPS.profile(PAIR), Direction.FORWARD
    epsilon = profile.epsilon_at(TAIL, direction)
    envelope = posterior_envelope(OPS, PAIR, direction, epsilon)
    return envelope, profile.tail_at(epsilon, direction), profile.delta_at(epsilon, direction)


@cache
def _wide() -> tuple[Envelope, float, float]:
    """Return the same of a Gaussian loss, ``mu = 1``, inside an event that is about twice as large as the tail."""
    epsilon, profile = 6.5, GaussianProfile(1.0)
    event = NormalIntervals(((epsilon - 0.5 - 0.11, float("inf")),))
    envelope = Envelope(epsilon, event.log_mass, lambda n, rng: 0.5 + event.draw(n, rng))
    return envelope, profile.tail_at(epsilon), profile.delta_at(epsilon)


def _audit(which: int, level: float, key: StreamKey) -> tuple[bool, bool]:
    envelope, tail, delta = (_posterior, _wide)[which]()
    audit = audit_rare(envelope, Budget(400, level, key))
    return any_missed(
        [missed(audit.tail, tail, rounding=1e-10 * tail), missed(audit.delta, delta, rounding=1e-10 * delta)]
    )


def rare_series() -> Iterator[AuditSeries]:
    """Yield the series of rare tails."""
    for which, law in enumerate(("one-posterior sampling, 1e-9", "Gaussian, 1e-9, event twice as large")):
        yield AuditSeries("rare events", law, 400, one_by_one(partial(_audit, which)))
