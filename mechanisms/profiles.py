"""The exact privacy profiles, under one name: two normal or two Laplace laws, one-posterior sampling, swapped pairs."""

from .gaussian_profile import GaussianProfile, gaussian_log_delta
from .laplace_profile import LaplaceProfile
from .profile_tools import SwappedProfile, epsilon_bracket
from .quadratic_profile import QuadraticProfile, quadratic_log_delta, quadratic_log_tail

__all__ = [
    "GaussianProfile",
    "LaplaceProfile",
    "QuadraticProfile",
    "SwappedProfile",
    "epsilon_bracket",
    "gaussian_log_delta",
    "quadratic_log_delta",
    "quadratic_log_tail",
]
