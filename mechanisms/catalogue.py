"""Every reference mechanism with a small example: what the conformance suite runs over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .adaops_wang2018 import AdaOPS2018, CorrectedRule2018, PublishedRule2018
from .adaops_wang2019 import AdaOPS2019, CorrectedRule2019, PublishedRule2019
from .adassp import AdaSSP, AdaSSPPublished
from .base import WhiteBox
from .composition import Composition
from .data import Dataset
from .eigenvalue_release import EigenvalueRelease
from .gaussian_output import DemocraticOutput, GaussianOutput
from .gradient_release import GradientRelease
from .hessian_release import HessianRelease, analyze_gauss
from .losses import LogisticLoss, PoissonLoss, SmoothedHingeLoss, SquaredLoss
from .neighbours import NeighbouringPair
from .noisy_sgd import NoisySGD
from .objective_perturbation import ObjectivePerturbation
from .posterior_sampling import PosteriorSampling
from .ridge import RidgeMap
from .subsample_aggregate import SubsampleAggregate
from .sufficient_statistics import SufficientStatistics


@dataclass(frozen=True)
class Example:
    """A mechanism and a pair on which its loss is of the order of 1, so that a suite can see something.

    Attributes
    ----------
    mechanism : WhiteBox
    pair : NeighbouringPair
    atoms : mapping of int to float
        Columns of the output that have an atom, and where.
    """

    mechanism: WhiteBox
    pair: NeighbouringPair
    atoms: Mapping[int, float] = field(default_factory=dict)


def example_data(n_records: int = 30, *, kind: str = "linear") -> Dataset:
    """Return a small public data set of two features in the unit disc, made without chance.

    Parameters
    ----------
    n_records : int
    kind : {"linear", "labels", "counts"}
        Responses: linear plus a ripple, in [-1, 1]; signs of it; whole numbers from 0 to 3.
    """
    index = np.arange(n_records)
    angle, radius = 2.399963 * index, np.sqrt((index % 7 + 2) / 9)  # the golden angle
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    y = np.clip(X @ np.array([0.7, -0.4]) + 0.15 * np.sin(5.0 * index), -1.0, 1.0)
    if kind == "labels":
        y = np.where(y > 0, 1.0, -1.0)
    elif kind == "counts":
        y = (index % 4).astype(np.float64)
    elif kind != "linear":
        raise ValueError(f"kind must be linear, labels or counts, got kind={kind}")
    return Dataset(X, y, 1.0, 3.0 if kind == "counts" else 1.0, name=f"example ({kind})", public=True)


def example_pair(kind: str = "linear", *, n_records: int = 30) -> NeighbouringPair:
    """Return the example data and one record more, off the axes and against the trend."""
    response = {"linear": -0.9, "labels": -1.0, "counts": 3.0}
    return NeighbouringPair.add(example_data(n_records, kind=kind), [0.8, -0.5], response[kind])


def reference_mechanisms() -> dict[str, Example]:
    """Return every reference mechanism with a density, by a short key."""
    linear, labels, counts = example_pair(), example_pair("labels"), example_pair("counts")
    theta, metric = np.array([0.4, -0.3]), np.array([[2.0, 0.5], [0.5, 1.0]])
    ssp, ops = SufficientStatistics(1.2, 1.0, lam=0.5), PosteriorSampling(3.0, 1.0)
    cut = {0: 0.0}
    return {
        "gaussian-output": Example(GaussianOutput(metric, 30.0, RidgeMap(1.0)), linear),
        "gaussian-isotropic": Example(GaussianOutput.isotropic(0.1, 2, RidgeMap(1.0)), linear),
        "gaussian-democratic": Example(DemocraticOutput(1.2, 1.0), linear),
        "ops": Example(ops, linear),
        "adaops-2019-printed": Example(AdaOPS2019(PublishedRule2019(4.0, 1e-2, kappa=1.0)), linear),
        "adaops-2019": Example(AdaOPS2019(CorrectedRule2019(6.0, 1e-2, kappa=1.0, n_public=31)), linear),
        "adaops-2018-printed": Example(AdaOPS2018(PublishedRule2018(6.0, 1e-2)), linear, cut),
        "adaops-2018": Example(AdaOPS2018(CorrectedRule2018(10.0, 1e-2)), linear, cut),
        "ssp": Example(ssp, linear),
        "adassp": Example(AdaSSP(5.0, 1e-2), linear, cut),
        "adassp-printed": Example(AdaSSPPublished(5.0, 1e-2), linear, cut),
        "noisy-sgd": Example(NoisySGD(2, 8.0, 0.02, clip=0.3, radius=0.6, n_public=32), linear),
        "subsample-aggregate": Example(SubsampleAggregate(4, 3.0, 1.5, lam=0.1), linear),
        "composition": Example(Composition((ssp, GaussianOutput(metric, 30.0, RidgeMap(1.0))), (5, 2)), linear),
        "objective-logistic": Example(ObjectivePerturbation(LogisticLoss(), 1.5, 1.0), labels),
        "objective-squared": Example(ObjectivePerturbation(SquaredLoss(), 1.5, 1.0), linear),
        "objective-poisson": Example(ObjectivePerturbation(PoissonLoss(), 2.0, 2.0), counts),
        "objective-hinge": Example(ObjectivePerturbation(SmoothedHingeLoss(), 1.5, 1.0), labels),
        "hessian": Example(HessianRelease(theta, LogisticLoss(), 1.0, 0.2), labels),
        "analyze-gauss": Example(analyze_gauss(theta, LogisticLoss(), 1.0, 0.2), labels),
        "gradient": Example(GradientRelease(theta, LogisticLoss(), 1.0, 0.6), labels),
        "eigenvalue": Example(EigenvalueRelease(theta, LogisticLoss(), 1.0, 0.05), labels),
    }
