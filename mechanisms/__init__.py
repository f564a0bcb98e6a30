"""Data, neighbouring pairs and the reference mechanisms: draws, exact laws, privacy losses, stated guarantees."""

from .base import BOTH, Bracket, Direction, ExactLaw, Mechanism, PrivacyProfile, WhiteBox
from .data import ColumnScale, DataError, Dataset, RowClip, UnitRows, build_dataset
from .embedded import load
from .gaussian_envelopes import gaussian_envelope, posterior_envelope
from .gaussian_output import GaussianOutput
from .gradient_release import GradientRelease
from .guarantees import Guarantee
from .hessian_release import HessianRelease
from .logistic_envelope import logistic_envelope
from .loss_points import noise_points, output_points
from .losses import LogisticLoss, PoissonLoss, PseudoHuberLoss, SmoothedHingeLoss, SquaredLoss
from .neighbours import NeighbouringPair, Relation, UnsupportedRelation
from .objective_perturbation import ObjectivePerturbation
from .posterior_sampling import PosteriorSampling
from .privacy_report import PrivacyReport, make_report
from .profiles import GaussianProfile, LaplaceProfile, QuadraticProfile
from .report_terms import ReportScales

__all__ = [
    "BOTH",
    "Bracket",
    "ColumnScale",
    "DataError",
    "Dataset",
    "Direction",
    "ExactLaw",
    "GaussianOutput",
    "GaussianProfile",
    "GradientRelease",
    "Guarantee",
    "HessianRelease",
    "LaplaceProfile",
    "LogisticLoss",
    "Mechanism",
    "NeighbouringPair",
    "ObjectivePerturbation",
    "PoissonLoss",
    "PosteriorSampling",
    "PrivacyProfile",
    "PrivacyReport",
    "PseudoHuberLoss",
    "QuadraticProfile",
    "Relation",
    "ReportScales",
    "RowClip",
    "SmoothedHingeLoss",
    "SquaredLoss",
    "UnitRows",
    "UnsupportedRelation",
    "WhiteBox",
    "build_dataset",
    "gaussian_envelope",
    "load",
    "logistic_envelope",
    "make_report",
    "noise_points",
    "output_points",
    "posterior_envelope",
]
