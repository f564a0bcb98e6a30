"""What one record alone surely spends: exact at one step, below what is proved, and only where it can be seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechanisms import DPSGD, FilteredDPSGD, GaussianFilter, RenyiFilter
from mechanisms.accounting.renyi_cost import renyi_divergence
from mechanisms.broken.misstated import Misstated
from mechanisms.capabilities import Domain, worst_case_of
from mechanisms.filters.filtered_training import least_mu, least_renyi
from mechanisms.filters.privacy_filters import most_spent

DOMAIN = Domain(2, 1.0, 1.0)
TRAINING = DPSGD("squared", 10, 0.2, 1.0, 0.5, 0.1, normaliser=2.0, radius=0.1)


def test_a_record_that_is_always_clipped_spends_all_that_is_proved():
    """Its slope is at least 0.9 in the ball, and so longer than the clip."""
    spender = least_renyi(TRAINING, DOMAIN, 6)
    assert spender.norm == 0.5
    assert spender.spent == pytest.approx(10 * renyi_divergence(0.2, 0.5, 6), rel=1e-9)
    assert spender.spent <= most_spent(worst_case_of(TRAINING, DOMAIN), 6)
    assert spender.spent == pytest.approx(most_spent(worst_case_of(TRAINING, DOMAIN), 6), rel=1e-9)
    assert "one of features" in spender.words


def test_without_a_ball_the_first_step_is_known():
    spender = least_renyi(replace(TRAINING, radius=np.inf), DOMAIN, 6)
    assert (spender.steps, spender.norm) == (1, 0.5)
    assert spender.spent == pytest.approx(renyi_divergence(0.2, 0.5, 6), rel=1e-9)


def test_a_filter_stops_the_record():
    one = renyi_divergence(0.2, 0.5, 6)
    filtered = FilteredDPSGD(TRAINING, RenyiFilter(6, 3.5 * one))
    spender = least_renyi(filtered, DOMAIN, 6)
    assert spender.steps == 3
    assert 2.9 * one < spender.spent <= filtered.filter.budget
    none = FilteredDPSGD(TRAINING, RenyiFilter(6, 0.5 * one))
    assert least_renyi(none, DOMAIN, 6).spent == 0


def test_gaussian_parameters_of_full_batches():
    full = replace(TRAINING, rate=1.0)
    assert least_mu(full, DOMAIN).spent == pytest.approx(np.sqrt(10) * 0.5, rel=1e-9)
    assert least_mu(FilteredDPSGD(full, GaussianFilter(1.01)), DOMAIN).spent == pytest.approx(1.0, rel=1e-9)
    counted = replace(full, normaliser=None, count_sigma=2.0)
    assert least_mu(counted, DOMAIN).spent == pytest.approx(np.hypot(np.sqrt(10) * 0.5, 0.5), rel=1e-9)
    assert least_mu(TRAINING, DOMAIN) is None


def test_where_nothing_is_known():
    assert least_renyi(replace(TRAINING, observer="final"), DOMAIN, 6) is None
    assert least_renyi(TRAINING, Domain(2, np.inf, 1.0), 6) is None
    assert least_renyi(Misstated(TRAINING, TRAINING), DOMAIN, 6) is None
