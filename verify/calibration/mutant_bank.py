"""False claims that each auditor must refute: broken twins, reports that are too short, and mutants by degrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from audits import Budget, exact_delta
from audits.black_box.black_box_audit import audit_claim, black_box_audit
from audits.black_box.black_box_results import BlackBoxClaim, BlackBoxOutcome
from audits.stats.coverage import audit_coverage, sequential_proportion
from audits.stats.intervals import even_share
from audits.white_box.attack import attack_scores
from audits.white_box.identities import gaps, overlap_gap, transports
from audits.white_box.random_matrix import sandwich_coverage
from audits.white_box.tails import loss_curve, tail_estimates
from mechanisms import BOTH, Direction, GaussianProfile, LogisticLoss, PrivacyProfile, Relation
from mechanisms.base import ExactLaw
from mechanisms.broken.broken_linear import ops_in_sample_leverage, ops_no_determinant, ops_wrong_gamma
from mechanisms.broken.broken_objective import objective_early_stop, objective_half_noise
from mechanisms.broken.broken_releases import one_sided_terms, short_quantile_form, smallest_lam
from mechanisms.catalogue import Example, broken_twins, example_pair
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.releases.report_terms import ReportForm, ReportScales, draw_releases

from .series.series import DEFAULT_DRAWS, FINE, PAIR, BankMutant, Gaussian, Laplace

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


def _short_quantile(excess: float, budget: Budget) -> bool:
    """The report without releases holds with probability ``1 - rho``; nan stands for the stated strength."""
    factor = 1.1 if math.isnan(excess) else 1 + excess
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


#: Mutants whose draws are solves, and what they get instead: twins at their stated strength, and each grade.
SOLVED_DRAWS, SOLVED_DRAWS_GRADED = 12_000, 4_000

#: A mutant whose loss is off by a small share of a small leverage, and needs more.
MORE_DRAWS = {"gaussian_data_precision": 150_000}

#: Grades of a mutant whose shares are small and large.
SAMPLED = (0.01, 0.02, 0.05, 0.1, 0.3, 1.0)
PILOT = 1_000
SHIFTS = (-0.5, 0.0, 0.5)
EPSILONS = (-0.3, 0.0, 0.2, 0.5, 1.0, 2.0)


def refuted(example: Example, budget: Budget) -> bool:
    """Return whether anything that a mechanism states about itself is refuted: loss, density, profile.

    Half of the draws from each data set serve all questions; each kind of question has a third of the failure
    probability.
    """
    mechanism, pair = example.mechanism, example.pair
    key, n_each = budget.key, budget.n_draws // 2
    parts = budget.split(dict.fromkeys(("overlap", "profile", "density"), Fraction(1, 3)))
    data = {d: pair.first if d is Direction.FORWARD else pair.second for d in BOTH}
    outputs = {d: mechanism.draw(data[d], n_each, rng=key.child(d.name).rng()) for d in BOTH}
    losses = {d: mechanism.privacy_loss(outputs[d], pair) for d in BOTH}
    level = even_share(parts["overlap"].spend("overlap"), len(SHIFTS))
    for shift in SHIFTS:
        gap = overlap_gap(losses[BOTH[0]], losses[BOTH[1]], level, shift=shift)
        if not gap.low <= 0 <= gap.high:
            return True
    if isinstance(mechanism, ExactLaw) and _profile_refuted(
        mechanism.profile(pair), {BOTH[0]: losses[BOTH[0]], BOTH[1]: -losses[BOTH[1]]}, parts["profile"]
    ):
        return True
    for d in BOTH:
        pilot = mechanism.draw(data[d], PILOT, rng=key.child(d.name, "pilot").rng())
        moves = list(transports(mechanism, data[d], pilot, example.atoms))
        level = parts["density"].part(d.name, share=0.5).spend("moved draws")
        if any(not gap.honest for gap in gaps(mechanism, data[d], outputs[d], moves, level)):
            return True
    return False


def _profile_refuted(profile: PrivacyProfile, losses: Mapping[Direction, np.ndarray], budget: Budget) -> bool:
    for d, sample in losses.items():
        level = budget.part(d.name, share=Fraction(1, len(losses))).spend("tail and delta")
        for point in tail_estimates(sample, EPSILONS, level, direction=d):
            delta, tail = profile.delta_at(point.epsilon, d), profile.tail_at(point.epsilon, d)
            if not (point.delta.low <= delta <= point.delta.high and point.tail.low <= tail <= point.tail.high):
                return True
    return False


@cache
def _twins() -> dict[str, Example]:
    return broken_twins()


def _twin_refuted(name: str, _: float, budget: Budget) -> bool:
    return refuted(_twins()[name], budget)


def _grade_refuted(make: Callable[[float], Example], strength: float, budget: Budget) -> bool:
    return refuted(make(strength), budget)


def twin_mutants() -> Iterator[BankMutant]:
    """Yield every broken twin of ``mechanisms/broken``, the broken reports, and naive noise, at stated strength."""
    nan = math.nan
    for name in _twins():
        solved = name.startswith("objective")
        n_draws = SOLVED_DRAWS if solved else MORE_DRAWS.get(name, DEFAULT_DRAWS)
        seconds = 0.3 if solved else 0.1
        yield BankMutant(name, (nan,), partial(_twin_refuted, name), nan, n_draws, seconds=seconds)
    for name, refute, auditor, seconds in (
        ("report_one_sided", _one_sided, "coverage", 0.15),
        ("report_short_quantile", _short_quantile, "coverage", 0.1),
        ("report_wrong_tau", _wrong_tau, "coverage", 0.15),
        ("Laplace noise added in floating point", _bits, "black box, bits", 0.05),
    ):
        yield BankMutant(name, (nan,), refute, nan, DEFAULT_DRAWS, auditor=auditor, seconds=seconds)


def graded_mutants() -> Iterator[BankMutant]:
    """Yield the mutants by degrees: of mechanisms, all questions; of two laws, one auditor each; of proportions."""
    ops, linear, few = PosteriorSampling(3.0, 1.0), example_pair(), example_pair(n_records=6)
    objective, labels = ObjectivePerturbation(LogisticLoss(), 1.5, 1.0), example_pair("labels")
    shares, rising = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0), (0.02, 0.05, 0.1, 0.2, 0.35, 0.5)
    many, solved = DEFAULT_DRAWS, SOLVED_DRAWS_GRADED
    made: tuple[tuple[str, tuple[float, ...], Callable[[float], Example], float, int], ...] = (
        ("OPS: gamma too large", FINE, lambda s: Example(ops_wrong_gamma(ops, s), linear), 0.2, many),
        ("OPS: no determinant", shares, lambda s: Example(ops_no_determinant(ops, s), few), 1.0, many),
        ("OPS: law in sample", SAMPLED, lambda s: Example(ops_in_sample_leverage(ops, s), few), 1.0, many),
        ("objective: noise short", rising, lambda s: Example(objective_half_noise(objective, s), labels), 0.5, solved),
        (
            "objective: stopped early",
            shares,
            lambda s: Example(objective_early_stop(objective, s), labels),
            1.0,
            solved,
        ),
    )
    for name, strengths, make, stated, n_draws in made:
        yield BankMutant(name, strengths, partial(_grade_refuted, make), stated, n_draws, seconds=0.15)
    noise: tuple[tuple[str, str, Callable[[float, Budget], bool], int], ...] = (
        ("Gaussian", "exact profile", _by_exact_law, 0),
        ("Gaussian", "tails and divergences", _by_tails, many),
        ("Gaussian", "whole loss curve", _by_curve, many),
        ("Gaussian", "likelihood-ratio attack", _by_attack, many),
        ("Gaussian", "all questions", lambda s, budget: refuted(Example(Gaussian(1.0, s), PAIR), budget), many),
        ("Gaussian", "black box, whole curve", _by_black_box, many),
        ("Laplace", "black box, pure epsilon", _by_black_box_pure, many),
    )
    for law, auditor, refute, n_draws in noise:
        name = f"{law} noise divided by 1 + s: {auditor}"
        yield BankMutant(name, FINE, refute, math.nan, n_draws, "s", auditor)
    short, rate = "report: bound too short", "probability 0.1 (1 + s), claimed at most 0.1"
    yield BankMutant(short, FINE, _short_quantile, 0.1, many, auditor="coverage", seconds=0.1)
    yield BankMutant(rate, FINE, _sequential, math.nan, many, "s", "sequential proportion", seconds=0.005)


def _shifted_losses(severity: float, budget: Budget) -> tuple[np.ndarray, np.ndarray]:
    """Return the privacy losses that really occur, in both directions: those of ``mu (1 + severity)``."""
    mu = 1.0 * (1 + severity)
    noise = budget.key.rng().standard_normal((2, budget.n_draws // 2))
    return mu * noise[0] + mu**2 / 2, mu * noise[1] + mu**2 / 2


def _by_exact_law(severity: float, budget: Budget) -> bool:
    claimed, actual = GaussianProfile(1.0), GaussianProfile(1.0 + severity)
    return exact_delta(actual, 1.0).low > exact_delta(claimed, 1.0).high


def _by_tails(severity: float, budget: Budget) -> bool:
    profile = Gaussian(1.0).profile(PAIR)
    sample, _ = _shifted_losses(severity, budget)
    points = tail_estimates(sample, (0.0, 0.5, 1.0, 2.0, 3.0), budget.spend("tail and delta"))
    return any(point.delta.low > profile.delta_at(point.epsilon) for point in points)


def _by_curve(severity: float, budget: Budget) -> bool:
    sample, _ = _shifted_losses(severity, budget)
    grid, curve = np.linspace(-2.0, 4.0, 49), loss_curve(sample, budget.spend("the whole curve"))
    profile = Gaussian(1.0).profile(PAIR)
    return bool((curve.delta_at(grid).low > [profile.delta_at(float(e)) for e in grid]).any())


def _by_attack(severity: float, budget: Budget) -> bool:
    forward, backward = _shifted_losses(severity, budget)
    audit = attack_scores(forward, -backward, budget.spend("attack"), rng=budget.key.child("ties").rng())
    profile = Gaussian(1.0).profile(PAIR)
    return any(audit.epsilon_lower(delta).low > profile.epsilon_at(delta) for delta in (1e-3, 1e-2, 0.1))


@cache
def _claimed_delta(epsilon: float) -> float:
    return Gaussian(1.0).profile(PAIR).delta_at(epsilon)


def _by_black_box(severity: float, budget: Budget) -> bool:
    claim = BlackBoxClaim(2.0, _claimed_delta(2.0), (Relation.ADD,), _claimed_delta)
    return audit_claim(Gaussian(1.0, severity), PAIR, claim, budget).outcome is BlackBoxOutcome.REFUTED


def _by_black_box_pure(severity: float, budget: Budget) -> bool:
    claim = BlackBoxClaim(1.0, 0.0, (Relation.ADD,))
    return audit_claim(Laplace(1.0, severity), PAIR, claim, budget).outcome is BlackBoxOutcome.REFUTED


def _bits(_: float, budget: Budget) -> bool:
    """The claim is true of the ideal law, and an attacker who reads the last bits of the outputs breaks it."""
    law = Laplace(1.0)
    result = black_box_audit(law, PAIR, BlackBoxClaim(1.0, 0.0, (Relation.ADD,)), budget)
    return result.implementation_outcome is BlackBoxOutcome.REFUTED
