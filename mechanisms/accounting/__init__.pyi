"""The public names, each with the module that holds it."""

from .composed_law import ComposedLaw as ComposedLaw
from .subsampled_gaussian import SubsampledGaussianProfile as SubsampledGaussianProfile
