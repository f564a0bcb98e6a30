"""What RW21's Propositions 12, 15 and 21 share: test Hessians, and the two independent events that imply an event."""

import numpy as np

from audits import Estimate
from mechanisms.data.dataset import FloatArray
from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation, goe_tau
from mechanisms.numerics.goe_brackets import sf_bracket


def hessian(shape: str, dim: int, lambda_min: float) -> FloatArray:
    """Return a positive definite matrix with smallest eigenvalue ``lambda_min`` in the named shape."""
    if shape == "identity":
        return lambda_min * np.eye(dim)
    spectrum = lambda_min * np.geomspace(1.0, 1e4, dim) if shape == "spread" else np.full(dim, 1e3 * lambda_min)
    spectrum[0] = lambda_min
    rotation, _ = np.linalg.qr(np.random.Generator(np.random.PCG64DXSM(dim)).standard_normal((dim, dim)))
    return np.asarray((rotation * spectrum) @ rotation.T)


def independent_events(dim: int, rho: float, other: float) -> Estimate:
    """Bound an event from below by ``||A||_2 <= tau(rho)``, A GOE, and an independent event of probability ``other``."""
    outside = sf_bracket(GoeLaw(dim, Extreme.SPECTRAL_NORM, Normalisation.UNIT_OFF_DIAGONAL), goe_tau(dim, rho)).high
    low = other * (1.0 - outside)
    return Estimate.proved(low * (1.0 - 1e-13), 1.0, "two independent events that imply it, ball arithmetic")
