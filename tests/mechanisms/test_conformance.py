"""Every reference mechanism passes the conformance suite, and every broken twin fails it."""

from __future__ import annotations

import importlib
import inspect
import math
from pathlib import Path

import numpy as np
import pytest
from oracles.mechanisms import conformance
from rows import for_each

import mechanisms
from mechanisms.base import WhiteBox
from mechanisms.catalogue import Example, broken_twins, reference_mechanisms
from mechanisms.data.neighbours import Relation
from mechanisms.guarantees import Guarantee
from mechanisms.laws.gaussian_profile import LaplaceProfile

REFERENCES, BROKEN = reference_mechanisms(), broken_twins()
ROOT = Path(mechanisms.__file__).parent


@pytest.mark.parametrize("name", REFERENCES)
def test_reference_mechanism_conforms(name):
    """Null: sound. Every random check at 1e-7 (empirical Bernstein), 4,000 draws from each data set, seed 17."""
    assert list(conformance.complaints(REFERENCES[name], 4_000, 17)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_reference_mechanism_conforms_at_length(name):
    """As above with 100,000 draws, seed 18."""
    assert list(conformance.complaints(REFERENCES[name], 100_000, 18)) == []


@pytest.mark.parametrize("name", BROKEN)
def test_broken_twin_fails(name):
    """25,000 draws from each data set; the first complaint is enough."""
    complaint = next(conformance.complaints(BROKEN[name], 25_000, 17), None)
    assert not complaint.startswith(("refusals", "protocol", "order"))  # it fails for what is wrong with it


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_two_percent_of_spread_or_mean_is_detected(name):
    """400,000 draws spoilt by 2 % in one coordinate's spread or mean are refuted at level 1e-7."""
    assert conformance.errors_detected(REFERENCES[name], 400_000, 23, 0.02) == (True, True)


def test_the_bank_of_negative_controls_is_whole():
    """Their names stand in records of ``pdp-verify calibrate``."""
    assert sorted(BROKEN) == list(BROKEN)
    assert set(BROKEN) >= {
        "adaops2018_raw_eigenvalue", "adaops2018_understated", "adaops2019_understated", "adassp_asymmetric",
        "adassp_raw_eigenvalue", "composition_shared_noise", "eigenvalue_understated", "gaussian_data_precision",
        "gaussian_small_noise", "gaussian_wrong_norm", "gradient_understated", "hessian_half_variance",
        "hessian_plain_diagonal", "hessian_understated", "noisy_sgd_unclipped", "noisy_sgd_understated",
        "objective_early_stop", "objective_half_noise", "objective_no_jacobian", "ops_in_sample_leverage",
        "ops_no_determinant", "ops_wrong_gamma", "ssp_understated", "subsample_understated", "training_half_noise",
        "training_own_batch", "training_own_count", "training_unclipped", "training_unscaled_noise",
    }  # fmt: skip


def test_a_name_that_is_taken_is_refused(monkeypatch):
    from mechanisms.linear import noisy_sgd, posterior_sampling

    monkeypatch.setattr(noisy_sgd, "examples", posterior_sampling.examples)
    with pytest.raises(ValueError, match="names of their own, got ops twice"):
        reference_mechanisms()


def test_every_mechanism_with_a_density_is_in_the_catalogue():
    """Collected from the source files, so that a new mechanism cannot opt out."""
    covered = {type(example.mechanism) for example in REFERENCES.values()}
    for path in ROOT.glob("**/*.py"):
        if path.parent.name == "broken" or path.stem == "__init__":
            continue
        module = importlib.import_module(".".join(("mechanisms", *path.relative_to(ROOT).with_suffix("").parts)))
        for _, found in inspect.getmembers(module, inspect.isclass):
            whole = all(hasattr(found, member) for member in ("draw", "log_density", "privacy_loss", "name"))
            if found.__module__ == module.__name__ and whole and found is not WhiteBox:
                assert found in covered or getattr(found, "_is_protocol", False), found


def test_the_density_check_sees_a_lost_constant_nowhere_but_a_lost_shape_everywhere():
    """It compares a density with itself moved: a missing constant cancels (loss and identity have it)."""
    example = REFERENCES["ssp"]

    class Flat:
        name = "flat"
        draw = example.mechanism.draw
        privacy_loss = example.mechanism.privacy_loss

        def __init__(self, factor):
            self.factor = factor

        def log_density(self, outputs, dataset):
            return self.factor * example.mechanism.log_density(outputs, dataset)

    dataset, pilot = example.pair.first, example.mechanism.draw(example.pair.first, 2000, rng=np.random.default_rng(0))
    for factor, honest in ((1.0, True), (0.9, False), (1.1, False)):
        mechanism = Flat(factor)
        moves = list(conformance.transports(mechanism, dataset, pilot, {}))
        outputs = example.mechanism.draw(dataset, 60_000, rng=np.random.default_rng(1))
        found = conformance.gaps(mechanism, dataset, outputs, moves, 1e-7)
        assert all(gap.honest for gap in found) is honest


class LaplaceAtALevel:
    """The sum of the responses with Laplace noise: half of the loss lies on an atom at a level that is compared."""

    name = "Laplace noise whose largest loss is 1"

    def __init__(self, target: float, stated: float = 1.0):
        self.scale, self.stated = abs(target), stated

    def draw(self, dataset, n_draws, *, rng):
        return dataset.y.sum() + rng.laplace(scale=self.scale, size=(n_draws, 1))

    def log_density(self, outputs, dataset):
        return -np.abs(outputs[:, 0] - dataset.y.sum()) / self.scale - np.log(2 * self.scale)

    def privacy_loss(self, outputs, pair):
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)

    def profile(self, pair):
        return LaplaceProfile(self.stated)


def test_an_atom_at_a_compared_level_is_no_complaint_and_hides_none():
    """Rounding puts such losses on either side of 1: a right law passes, one a tenth too large does not."""
    pair = REFERENCES["ssp"].pair
    target = float(pair.first.y.sum() - pair.second.y.sum())
    right, wrong = (Example(LaplaceAtALevel(target, stated), pair) for stated in (1.0, 1.1))
    assert {1.0, -1.0} <= set(conformance.EPSILONS)
    for check in (conformance.profile, conformance.identity):
        assert list(check(right, 100_000, 17)) == []
    assert list(conformance.profile(wrong, 100_000, 17)) != []


@for_each(
    "name",
    [
        "AdaOPS2018", "AdaOPS2019", "AdaSSP", "Composition", "Dataset", "GaussianOutput", "GaussianProfile",
        "GradientRelease", "NeighbouringPair", "NoisySGD", "ObjectivePerturbation", "PosteriorSampling",
        "SubsampleAggregate", "SufficientStatistics",
    ],
)  # fmt: skip
def test_the_main_classes_have_an_example_and_their_parameters(name):
    text = getattr(mechanisms, name).__doc__
    assert "Examples\n" in text
    assert "Parameters\n" in text or "Attributes\n" in text


def test_a_guarantee_is_data() -> None:
    one = Guarantee(1.0, 1e-6, Relation.ADD, "pDP", "W19-T4.1 (4.3)")
    assert one == Guarantee(1.0, 1e-6, Relation.ADD, "pDP", "W19-T4.1 (4.3)")
    assert hash(one)
    assert Guarantee(math.inf, 0.0, Relation.REPLACE, "DP", "x").epsilon == math.inf


@for_each(
    ("epsilon", "delta", "scope", "source", "message"),
    [
        (-1.0, 0.0, "DP", "x", "epsilon must be at least 0"),
        (math.nan, 0.0, "DP", "x", "epsilon must be at least 0"),
        (1.0, 2.0, "DP", "x", r"delta must be in \[0, 1\]"),
        (1.0, 0.0, "pdp", "x", "scope must be one of DP, pDP, ex-post"),
        (1.0, 0.0, "DP", "", "source must name"),
    ],
)
def test_nonsense(epsilon: float, delta: float, scope: str, source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Guarantee(epsilon, delta, Relation.ADD, scope, source)
