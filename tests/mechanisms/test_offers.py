"""Offers: what is called proved is, a little less noise is not, and published rules that break theirs are named."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from rows import for_each

from mechanisms.base import Mechanism
from mechanisms.capabilities import Domain, worst_case_of
from mechanisms.linear import noisy_sgd
from mechanisms.linear.adaops_wang2018 import AdaOPS2018
from mechanisms.linear.adaops_wang2019 import AdaOPS2019
from mechanisms.linear.adassp import AdaSSP
from mechanisms.linear.gaussian_output import GaussianOutput
from mechanisms.linear.noisy_sgd import NoisySGD
from mechanisms.linear.ops_calibrations import CorrectedOPSCalibration
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.subsample_aggregate import SubsampleAggregate
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.objective.ball_perturbation import BallObjectivePerturbation
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.objective.output_perturbation import GibbsSampling, GlmOutput
from mechanisms.offers import Neighbours, Offer, Promise, PromiseStanding, least, offers, proved, standing

DOMAIN = Domain(3, 1.0, 1.0, 400)
METHODS = {
    "squared": {"ObjPert", "OPS", "SSP", "AdaOPS 2018", "AdaOPS 2019", "AdaSSP", "NoisySGD", "Sub-Agg"}
    | {"Gaussian output"},
    "logistic": {"ObjPert", "OPS", "Gaussian output"},
}
RELATIONS: tuple[Neighbours, ...] = ("add-remove", "replace")
PROMISES = [
    Promise(epsilon, delta, neighbours)
    for epsilon, delta, neighbours in itertools.product((0.1, 1.0, 5.0), (1e-6, 1e-3), RELATIONS)
]
#: The same mechanism with noise a hundredth less.
LESS: dict[type, Callable[..., Mechanism]] = {
    SufficientStatistics: lambda m: replace(m, sigma_gram=0.99 * m.sigma_gram, sigma_moment=0.99 * m.sigma_moment),
    AdaSSP: lambda m: replace(m, epsilon=1.02 * m.epsilon),
    PosteriorSampling: lambda m: replace(m, gamma=1.02 * m.gamma),
    GaussianOutput: lambda m: replace(m, gamma=1.02 * m.gamma),
    SubsampleAggregate: lambda m: replace(m, epsilon=1.01 * m.epsilon),
    BallObjectivePerturbation: lambda m: replace(m, sigma=0.99 * m.sigma),
    ObjectivePerturbation: lambda m: replace(m, sigma=0.99 * m.sigma),
    GlmOutput: lambda m: replace(m, sigma=0.99 * m.sigma),
    GibbsSampling: lambda m: replace(m, gamma=1.02 * m.gamma),
    AdaOPS2018: lambda m: replace(m, rule=replace(m.rule, epsilon=1.001 * m.rule.epsilon)),
    AdaOPS2019: lambda m: replace(m, rule=replace(m.rule, epsilon=1.001 * m.rule.epsilon)),
}


def _offer(loss: str, method: str, way: str) -> Offer:
    (found,) = (offer for offer in offers(loss) if (offer.method, offer.way) == (method, way))
    return found


def _built(loss: str, method: str, way: str, promise: Promise, domain: Domain = DOMAIN) -> Mechanism:
    mechanism = _offer(loss, method, way).build(loss, domain, promise).mechanism
    assert mechanism is not None
    return mechanism


@for_each("loss", sorted(METHODS))
def test_every_method_is_offered_once_each_way(loss: str) -> None:
    found = [(offer.method, offer.way) for offer in offers(loss)]
    assert len(set(found)) == len(found)
    assert {method for method, _ in found} == METHODS[loss]
    assert {method for method, way in found if way == "exact"} == METHODS[loss]
    assert {offer.losses == ("squared",) for offer in offers("squared")} == {True}


@pytest.mark.parametrize("loss", sorted(METHODS))
@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_exact_is_proved_and_no_less_noise_is(loss: str, promise: Promise) -> None:
    seen = set()
    for offer in offers(loss):
        if offer.way != "exact" or offer.method == "NoisySGD":
            continue
        offered = offer.build(loss, DOMAIN, promise)
        mechanism = offered.mechanism
        if mechanism is None:
            assert "proposals a draw" in offered.reason
            continue
        assert standing(mechanism, DOMAIN, promise) is PromiseStanding.PROVED, offer.method
        assert not proved(LESS[type(mechanism)](mechanism), DOMAIN, promise), offer.method
        seen.add(offer.method)
    assert seen | {"NoisySGD", "OPS"} >= METHODS[loss]


@for_each("promise", PROMISES)
def test_published_rules_have_the_standing_they_have(promise: Promise) -> None:
    kept = {"ObjPert", "SSP", "AdaSSP", "Gaussian output", "Sub-Agg"}
    for loss in METHODS:
        for offer in offers(loss):
            mechanism = None if offer.way == "exact" else offer.build(loss, DOMAIN, promise).mechanism
            if mechanism is not None and offer.method != "NoisySGD":
                found = standing(mechanism, DOMAIN, promise)
                assert (
                    (found is PromiseStanding.PROVED) if offer.method in kept else (found is not PromiseStanding.BROKEN)
                )
    assert standing(_built("squared", "AdaOPS 2018", "published", promise), DOMAIN, promise) is PromiseStanding.OPEN


@for_each(
    ("loss", "method", "domain", "promise"),
    [
        ("squared", "SSP", DOMAIN, Promise(14.0, 0.3)),
        ("squared", "AdaSSP", DOMAIN, Promise(60.0, 1e-3)),
        ("logistic", "ObjPert", Domain(3, 0.01, 1.0, 400), Promise(1.0, 1e-3)),
    ],
)
def test_a_published_rule_that_breaks_its_promise_is_named(
    loss: str, method: str, domain: Domain, promise: Promise
) -> None:
    mechanism = _built(loss, method, "published", promise, domain)
    assert standing(mechanism, domain, promise) is PromiseStanding.BROKEN
    exact = _built(loss, method, "exact", promise, domain)
    assert standing(exact, domain, promise) is PromiseStanding.PROVED


def test_what_cannot_be_offered_says_why() -> None:
    unknown = replace(DOMAIN, n_public=None)
    for loss in METHODS:
        for offer in offers(loss):
            offered = offer.build(loss, unknown, Promise(1.0, 1e-6))
            assert (offered.mechanism is None) == ("number of records" in offered.reason)
    late = _offer("squared", "Gaussian output", "published").build("squared", DOMAIN, Promise(2.0, 1e-6))
    assert (late.mechanism, late.reason) == (None, "the classical constant is stated for epsilon up to 1")
    crowd = replace(DOMAIN, n_public=1000)
    steps = _offer("squared", "NoisySGD", "published").build("squared", crowd, Promise(2.0, 1e-6))
    assert (steps.mechanism, steps.reason) == (None, "n^2 - 1 steps are too many here, n = 1000")
    much = _offer("logistic", "OPS", "exact").build("logistic", replace(DOMAIN, n_public=10**7), Promise(5.0, 1e-3))
    assert "proposals a draw, 1000 are tried at most" in much.reason
    wide = _offer("squared", "AdaOPS 2019", "exact").build("squared", DOMAIN, Promise(1.0, 0.9))
    assert "for delta up to" in wide.reason


def test_noisy_sgd_has_the_least_noise_of_its_accountant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick accountant in the place of the real one, which takes a third of a second a call."""
    asked = []

    def quick(noise: float, n_public: int, n_steps: int, delta: float) -> float:
        asked.append(noise)
        return math.sqrt(n_steps * math.log(1 / delta)) / (n_public * noise) + 1 / noise**3

    monkeypatch.setattr(noisy_sgd, "_renyi_epsilon", quick)
    domain, promise = replace(DOMAIN, n_public=61), Promise(0.7, 1e-3, "replace")
    mechanism = _built("squared", "NoisySGD", "exact", promise, domain)
    assert len(asked) < 15
    assert isinstance(mechanism, NoisySGD)
    assert mechanism.n_steps == 61
    assert standing(mechanism, domain, promise) is PromiseStanding.PROVED
    assert not proved(replace(mechanism, sigma=0.998 * mechanism.sigma), domain, promise)

    def missing(*_: object) -> float:
        raise ImportError("no accountant")

    monkeypatch.setattr(noisy_sgd, "_renyi_epsilon", missing)
    bare = _offer("squared", "NoisySGD", "exact").build("squared", domain, Promise(1.5, 1e-3))
    assert (bare.mechanism, bare.reason) == (None, "it needs pdp-verify[accounting]")


def test_offers_see_units_and_not_data() -> None:
    """In other units of features and response the same offer, in those units."""
    promise, wide = Promise(1.0, 1e-6), Domain(3, 10.0, 7.0, 400)
    first, second = (_built("squared", "SSP", "exact", promise, domain) for domain in (DOMAIN, wide))
    assert isinstance(first, SufficientStatistics)
    assert isinstance(second, SufficientStatistics)
    assert second.sigma_gram == pytest.approx(100 * first.sigma_gram, rel=1e-5)
    first_ops, second_ops = (_built("squared", "OPS", "exact", promise, domain) for domain in (DOMAIN, wide))
    assert isinstance(first_ops, PosteriorSampling)
    assert isinstance(second_ops, PosteriorSampling)
    assert second_ops.lam == pytest.approx(100 * first_ops.lam, rel=1e-4)
    assert second_ops.gamma == pytest.approx(first_ops.gamma / 49, rel=1e-4)


@for_each("promise", PROMISES[::3])
def test_the_ridge_of_least_stated_risk_is_below_every_rule_of_the_paper(promise: Promise) -> None:
    one, best = promise.for_one, _built("squared", "OPS", "exact", promise)
    assert isinstance(best, PosteriorSampling)
    rules = CorrectedOPSCalibration(one.epsilon, one.delta, 400, 3, 1.0, 1.0)
    for other in (rules.balanced(), rules.diffuse(), rules.conservative(), rules.concentrated()):
        assert 3 / best.gamma + best.lam < 0.97 * (3 / other.gamma + other.lam)


def test_least() -> None:
    assert least(lambda x: x >= 3.0, 1.0) == pytest.approx(3.0, rel=1e-6)
    assert least(lambda x: x >= 3.0, 700.0) == pytest.approx(3.0, rel=1e-6)
    assert least(lambda x: False, 1.0) is None
    smallest = least(lambda x: True, 1.0)
    assert smallest is not None
    assert smallest < 1e-50


@for_each("bad", [{"epsilon": 0.0}, {"delta": 0.0}, {"delta": 1.0}, {"neighbours": "other"}])
def test_a_promise_is_refused_in_one_line(bad: dict[str, float | str]) -> None:
    numbers: dict[str, float | str] = {"epsilon": 1.0, "delta": 1e-6, "neighbours": "replace"}
    (name,) = bad
    with pytest.raises(ValueError, match=f"^{name} must be .*, got {name}="):
        Promise(**(numbers | bad))  # type: ignore[arg-type]


def test_half_of_a_replacement_implies_it() -> None:
    one = Promise(2.0, 1e-3, "replace").for_one
    assert one.epsilon == 1.0
    assert one.delta * (1 + math.e) == pytest.approx(1e-3)
    assert Promise(2.0, 1e-3).for_one == Promise(2.0, 1e-3)


def _replaced(mechanism: SufficientStatistics, dim: int, rng: np.random.Generator) -> float:
    """Return the largest distance over random pairs of records of any length, by the packed statistics."""
    worst = 0.0
    rows, columns = np.triu_indices(dim)
    for _ in range(1000):
        x, z = (v / np.linalg.norm(v) * rng.choice([1.0, rng.random()]) for v in rng.standard_normal((2, dim)))
        y, w = rng.choice([-1.0, 1.0, 0.3], 2)
        gram = (np.outer(x, x) - np.outer(z, z))[rows, columns] / mechanism.sigma_gram
        worst = max(worst, math.hypot(np.linalg.norm(gram), np.linalg.norm(x * y - z * w) / mechanism.sigma_moment))
    return worst


@pytest.mark.parametrize("gram", [0.4, 1.0, 3.0])
def test_two_statistics_of_a_replaced_record(gram: float) -> None:
    mechanism, rng = SufficientStatistics(gram, 1.0), np.random.default_rng(2)
    bound = mechanism.replaced_mu(1.0, 1.0)
    assert all(_replaced(mechanism, dim, rng) <= bound for dim in (1, 2, 4))
    cosine = min(1.0, 0.5 * gram**2)  # mirrored in the diagonal
    angle = 0.5 * math.acos(cosine)
    x, z = ([math.cos(math.pi / 4 + s * angle), math.sin(math.pi / 4 + s * angle)] for s in (-1, 1))
    packed = (np.outer(x, x) - np.outer(z, z))[np.triu_indices(2)] / gram
    reached = math.hypot(float(np.linalg.norm(packed)), float(np.linalg.norm(np.add(x, z))))
    assert reached == pytest.approx(bound)
    one = mechanism.worst_profile(1.0, 1.0).mu
    assert one < bound <= 2 * one


def test_a_replaced_record_costs_less_than_two_neighbours() -> None:
    relation: Neighbours = "replace"
    promise = Promise(1.0, 1e-6, relation)
    through_two = AdaSSP(promise.for_one.epsilon, promise.for_one.delta, calibrated=True)
    direct = _built("squared", "AdaSSP", "exact", promise)
    assert isinstance(direct, AdaSSP)
    assert direct.unit_sigma < 0.75 * through_two.unit_sigma
    bound = worst_case_of(direct, DOMAIN)
    assert bound.replaced is not None
    assert bound.mu is not None
    assert proved(direct, DOMAIN, promise)
    assert not proved(direct, DOMAIN, Promise(0.5, 1e-6, relation))
