"""Mutants that coverage refutes: broken privacy reports, a quantile in the wrong normalisation, too rare a success."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from audits import Budget
from audits.stats.coverage import audit_coverage, sequential_proportion
from audits.white_box.random_matrix import sandwich_coverage
from mechanisms import LogisticLoss
from mechanisms.broken.broken_reports import one_sided_terms, short_quantile_form, smallest_lam
from mechanisms.catalogue import example_pair
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.releases.report_terms import ReportForm, ReportScales, draw_releases

from .mutant import DEFAULT_DRAWS, FINE, BankMutant

#: Reports on the example's first records: with all releases, and with none (where the bound has no slack to lose).
RELEASED = ReportScales(LogisticLoss(), sigma=4.0, lam=100.0, failure_prob=0.01, sigma2=0.4, sigma3=0.1)
UNRELEASED = ReportScales(LogisticLoss(), sigma=4.0, lam=400.0, failure_prob=0.1)
DIM, RHO = 5, 0.05


def _too_rare(form: ReportForm, scales: ReportScales, failures: float, budget: Budget) -> bool:
    """Return whether the report is seen to fail with more than the probability that it states."""
    mechanism = ObjectivePerturbation(scales.loss, scales.sigma, scales.lam)
    pair = example_pair("labels", n_records=3)

    def holds(n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        releases = draw_releases(mechanism, pair.first, scales, n, rng=rng)
        loss = np.abs(mechanism.privacy_loss(releases.theta, pair))
        return np.asarray(loss <= form(scales, releases, pair.x, pair.y).epsilon1_bar)

    return audit_coverage(holds, budget).joint.high < 1 - failures


def _one_sided(_: float, budget: Budget) -> bool:
    """The corrected report with all releases holds with probability ``1 - 3 rho``."""
    return _too_rare(one_sided_terms, RELEASED, 3 * RELEASED.failure_prob, budget)


def _short_quantile(factor: float, budget: Budget) -> bool:
    """The report without releases holds with probability ``1 - rho``."""
    return _too_rare(short_quantile_form(factor), UNRELEASED, UNRELEASED.failure_prob, budget)


def _wrong_tau(_: float, budget: Budget) -> bool:
    """The smallest ``lam`` that the wrong quantile admits, and the sandwich that it should ensure."""
    hessian = smallest_lam(DIM, 1.0, RHO) * np.eye(DIM)
    return sandwich_coverage(hessian, 1.0, budget=budget).high < 1 - RHO


def _sequential(excess: float, budget: Budget) -> bool:
    """A probability of 0.1 (1 + s) that is claimed to be at most 0.1."""
    p = 0.1 * (1 + excess)
    audit = sequential_proportion(lambda n, rng: rng.random(n) < p, (0.0, 0.1), budget)
    return audit.estimate.low > 0.1


def coverage_mutants() -> Iterator[BankMutant]:
    """Yield the broken reports at their stated strength."""
    for name, refute, seconds in (
        ("report_one_sided", _one_sided, 0.15),
        ("report_short_quantile", partial(_at, 1.1), 0.1),
        ("report_wrong_tau", _wrong_tau, 0.15),
    ):
        yield BankMutant(name, (math.nan,), refute, math.nan, DEFAULT_DRAWS, auditor="coverage", seconds=seconds)


def _at(factor: float, _: float, budget: Budget) -> bool:
    return _short_quantile(factor, budget)


def graded_coverage_mutants() -> Iterator[BankMutant]:
    """Yield what breaks by degrees and is refuted by a proportion."""
    yield BankMutant(
        "report: bound too short",
        FINE,
        lambda s, budget: _short_quantile(1 + s, budget),
        0.1,
        DEFAULT_DRAWS,
        unit="strength",
        auditor="coverage",
        seconds=0.1,
    )
    yield BankMutant(
        "probability 0.1 (1 + s), claimed at most 0.1",
        FINE,
        _sequential,
        math.nan,
        DEFAULT_DRAWS,
        unit="s",
        auditor="sequential proportion",
        seconds=0.005,
    )
