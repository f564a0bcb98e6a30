"""The report as an object: what it holds, its round trip through JSON, its costs, and what it refuses."""

import json
import math

import numpy as np
import pytest
from rows import for_each

from mechanisms import GaussianProfile
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.numerics.goe import goe_tau
from mechanisms.objective.losses import LogisticLoss, PoissonLoss, PseudoHuberLoss, SmoothedHingeLoss, SquaredLoss
from mechanisms.releases.gradient_release import GradientRelease
from mechanisms.releases.hessian_release import HessianRelease
from mechanisms.releases.privacy_report import Mode, PrivacyReport, make_report
from mechanisms.releases.report_terms import Releases, ReportRequirement, ReportScales, corrected_terms, printed_terms

RHO, DIM, LAM, SIGMA2, SIGMA3 = 0.02, 3, 1.3, 0.7, 0.1
THETA = (0.4, -0.2, 0.9)
DEPENDENT = ReportScales(LogisticLoss(), 2.0, LAM, RHO, SIGMA2, SIGMA3)
INDEPENDENT = ReportScales(LogisticLoss(), 2.0, LAM, RHO)


def dataset():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, DIM))
    return Dataset(X / np.linalg.norm(X, axis=1)[:, None], np.sign(X[:, 1]), 1.0, 1.0)


def report(parameters=DEPENDENT, data=None):
    return make_report(THETA, data or dataset(), parameters, rng=np.random.default_rng(2))


@for_each("parameters", [DEPENDENT, INDEPENDENT])
def test_evaluation_uses_the_releases_and_the_own_record_only(parameters):
    made, D = report(parameters), dataset()
    x, y = D.X[4], float(D.y[4])
    releases = Releases(
        np.array([made.theta]),
        None if made.gradient is None else np.array([made.gradient]),
        None if made.hessian is None else np.array([made.hessian]),
    )
    for form in (corrected_terms, printed_terms):
        expected = form(parameters, releases, x, y).epsilon1_bar[0]
        assert made.evaluate(x, y, form=form).epsilon1_bar == expected
    assert made.mode is (Mode.DATA_INDEP if parameters is INDEPENDENT else Mode.DATA_DEP)
    assert made.failure_prob == pytest.approx(RHO if parameters is INDEPENDENT else 3 * RHO)


def test_costs_are_those_of_the_two_releases():
    made, D = report(), dataset()
    pair = NeighbouringPair.remove(D, 4)
    own = made.evaluate(pair.x, pair.y)
    theta = np.array(THETA)
    assert own.mu2 == pytest.approx(GradientRelease(theta, LogisticLoss(), LAM, SIGMA2).profile(pair).mu, rel=1e-13)
    assert own.mu3 == pytest.approx(HessianRelease(theta, LogisticLoss(), LAM, SIGMA3).profile(pair).mu, rel=1e-13)
    assert math.hypot(own.mu2, own.mu3) <= made.worst_profile(1.0, 1.0).mu
    for delta in (0.1, 1e-3, 1e-9):
        joint = own.accounted_epsilon(delta)
        two, three = (GaussianProfile(mu).epsilon_at(delta) for mu in (own.mu2, own.mu3))
        published = [0.5 * mu**2 + mu * math.sqrt(2 * math.log(1 / delta)) for mu in (own.mu2, own.mu3)]  # T14.1, T17.1
        assert max(two, three) <= joint <= sum(published)
        assert two <= published[0]
        assert three <= published[1]
    independent = report(INDEPENDENT).evaluate(pair.x, pair.y)
    assert (independent.mu2, independent.mu3, independent.accounted_epsilon(1e-6)) == (0.0, 0.0, 0.0)


@for_each("parameters", [DEPENDENT, INDEPENDENT])
def test_json_round_trip_is_exact(parameters):
    made = report(parameters)
    text = made.to_json()
    assert PrivacyReport.from_json(text) == made
    assert PrivacyReport.from_json(text).to_json() == text
    document = json.loads(text)
    assert document["tau"] == goe_tau(DIM, RHO)
    assert document["relations"] == ["ADD", "REMOVE"]


@for_each("loss", [SquaredLoss(2.0), PoissonLoss(), SmoothedHingeLoss(0.25), PseudoHuberLoss(3.0), LogisticLoss()])
def test_every_loss_survives_the_round_trip(loss):
    made = PrivacyReport(ReportScales(loss, 2.0, LAM, RHO), THETA)
    assert PrivacyReport.from_json(made.to_json()) == made


def test_the_file_holds_released_quantities_and_public_parameters_only():
    """No number of the data set appears; two data sets with equal gradient and Hessian give one report."""
    D = dataset()
    turned = Dataset(D.X[::-1], D.y[::-1], 1.0, 1.0)
    first, second = report(), report(data=turned)
    np.testing.assert_allclose(first.gradient, second.gradient, rtol=1e-10)
    np.testing.assert_allclose(first.hessian, second.hessian, rtol=1e-10)
    text = first.to_json()
    assert not any(repr(float(value)) in text for value in D.X.ravel())


def edited(**changes):
    return json.dumps(json.loads(report().to_json()) | changes)


@for_each(
    ("action", "message"),
    [
        (lambda: PrivacyReport.from_json(edited(format="other")), "format must be"),
        (lambda: PrivacyReport.from_json("[]"), "format must be"),
        (lambda: PrivacyReport.from_json(edited(schema_version=2)), "schema_version must be 1, got 2"),
        (lambda: PrivacyReport.from_json(edited(extra=1)), "keys must be"),
        (lambda: PrivacyReport.from_json(edited(loss={"kind": "eval", "parameters": {}})), "loss must be one of"),
        (lambda: PrivacyReport.from_json(edited(tau=1.0)), "tau must be"),
        (lambda: PrivacyReport.from_json(edited(mode="DATA-INDEP")), "mode must be DATA-DEP"),
        (lambda: PrivacyReport.from_json(edited(gradient=None)), "must be given together, got no gradient"),
        (lambda: PrivacyReport.from_json(edited(gradient=[1.0])), "gradient must have shape"),
        (lambda: PrivacyReport.from_json(edited(sigma=math.nan)), "numbers must be finite"),
        (lambda: PrivacyReport.from_json(edited(lam=0.1)), "lam must be at least 2"),
        (
            lambda: PrivacyReport.from_json(edited(hessian=np.triu(np.ones((3, 3))).tolist())),
            "hessian must be symmetric",
        ),
        (lambda: report(ReportScales(LogisticLoss(), 2.0, LAM, RHO, SIGMA2, 9.0)), "lam must be at least 2"),
        (lambda: report().evaluate([1.0, 0.0], 1.0), "x must have shape"),
        (lambda: report().evaluate([1.0, 0.0, 0.0], 0.5), "y must be -1 or"),
    ],
)
def test_refusals(action, message):
    with pytest.raises(ValueError, match=message):
        action()


def test_requirement_is_refused_by_name_before_anything_is_drawn():
    generator = np.random.default_rng(3)
    before = generator.bit_generator.state
    with pytest.raises(ReportRequirement, match="tau"):
        make_report(THETA, dataset(), ReportScales(LogisticLoss(), 2.0, 0.1, RHO, 1.0, 1.0), rng=generator)
    assert generator.bit_generator.state == before
