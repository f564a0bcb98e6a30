"""dp-accounting asked the question of ``composed_delta``: another implementation, in float64, its rounding unproved."""

from __future__ import annotations

import math

import numpy as np
from dp_accounting.pld import pld_pmf, privacy_loss_distribution

from mechanisms.accounting.grid_ends import loss_range
from mechanisms.base import Bracket

#: Probability that the grids leave out at either end.
CUT = 1e-15


def accountant_bounds(profiles, epsilon, *, direction, interval=2.0**-10) -> Bracket:
    """Optimistic and pessimistic delta of independent releases, by dp-accounting's privacy-loss distributions.

    Pessimistic by its connect-the-dots (Doroshenko and others 2022, from the divergences at the grid), optimistic from
    losses rounded down. Its convolutions are Fourier transforms: useless below a delta of about 1e-14.
    """
    step = 2.0 ** math.floor(math.log2(interval))
    whole = [None, None]
    for profile in profiles:
        low, high = loss_range(profile, direction, CUT)
        first, last = math.floor(low / step), math.ceil(high / step)
        grid = [i * step for i in range(first, last + 1)]
        tails = np.array([*(profile.tail_at(e, direction) for e in grid), 0.0])
        masses = dict(zip(range(first, last + 1), np.maximum(tails[:-1] - tails[1:], 0.0).tolist(), strict=True))
        deltas = np.minimum.accumulate([profile.delta_at(e, direction) for e in grid])
        parts = (
            pld_pmf.create_pmf(masses, step, 0.0, False),
            pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(step, first, last, deltas),
        )
        for end, part in enumerate(map(privacy_loss_distribution.PrivacyLossDistribution, parts)):
            whole[end] = part if whole[end] is None else whole[end].compose(part, 0.0)
    return Bracket(*(float(end.get_delta_for_epsilon(epsilon)) for end in whole))


def gaussian_composition(sigma, n_releases, epsilon, *, discretisation=1e-4) -> Bracket:
    """Delta of repeated Gaussian releases of sensitivity 1, between the two discretisations of the loss."""
    deltas = []
    for pessimistic in (False, True):
        one = privacy_loss_distribution.from_gaussian_mechanism(
            sigma, pessimistic_estimate=pessimistic, value_discretization_interval=discretisation
        )
        deltas.append(float(one.self_compose(n_releases).get_delta_for_epsilon(epsilon)))
    return Bracket(*deltas)
