"""Every reference mechanism passes the conformance suite, and every broken twin fails it."""

import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest
from oracles import conformance

import mechanisms
import mechanisms.broken_catalogue
from mechanisms.base import WhiteBox
from mechanisms.broken_catalogue import Misstated, broken_twins
from mechanisms.catalogue import reference_mechanisms

REFERENCES, BROKEN = reference_mechanisms(), broken_twins()
#: Files of mechanisms/broken that misstate a bound with coverage; audits.coverage refutes them, in tests of the report.
REPORTS = {"report_one_sided", "report_short_quantile", "report_wrong_tau"}
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
    assert complaint is not None
    assert not complaint.startswith(("refusals", "protocol", "order"))  # it fails for what is wrong with it


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_two_percent_of_spread_or_mean_is_detected(name, capsys):
    """400,000 draws spoilt by at most 2 % in one coordinate's spread or mean are refuted at level 1e-7."""
    spread, mean = conformance.smallest_errors(REFERENCES[name], 400_000, 23)
    with capsys.disabled():
        print(f"\n{name}: smallest error detected: {spread:.1%} of sigma, {mean:.1%} of sigma in the mean", end="")
    assert spread <= 0.02
    assert mean <= 0.02


def test_every_broken_file_is_in_the_catalogue():
    files = {path.stem for path in (ROOT / "broken").glob("*.py")} - {"__init__"}
    assert files == set(BROKEN) | REPORTS


def test_every_mechanism_with_a_density_is_in_the_catalogue():
    """Collected from the source files, so that a new mechanism cannot opt out."""
    covered = {type(example.mechanism) for example in REFERENCES.values()}
    for path in ROOT.glob("*.py"):
        module = importlib.import_module(f"mechanisms.{path.stem}")
        for _, found in inspect.getmembers(module, inspect.isclass):
            whole = all(hasattr(found, member) for member in ("draw", "log_density", "privacy_loss", "name"))
            if found.__module__ == module.__name__ and whole and found not in (WhiteBox, Misstated):
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
        moves = list(conformance.match.transports(mechanism, dataset, pilot, {}))
        outputs = example.mechanism.draw(dataset, 60_000, rng=np.random.default_rng(1))
        found = conformance.match.gaps(mechanism, dataset, outputs, moves, 1e-7)
        assert all(gap.honest for gap in found) is honest
