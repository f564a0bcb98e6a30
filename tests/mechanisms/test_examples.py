"""The main mechanisms are documented with their parameters and an example (which tests/test_docstrings.py runs)."""

import pytest

import mechanisms


@pytest.mark.parametrize(
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
