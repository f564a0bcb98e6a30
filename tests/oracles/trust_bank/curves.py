"""Class 8b: claims of another form (groups, whole curves) that are false although one point of them is true."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile

KLASS = 8


@dataclass(frozen=True)
class Gaussian:
    """X^T y + N(0, sigma^2 I), everything stated truly but for the claim that is made of it."""

    sigma: float
    name = "noisy moment"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.sigma * rng.standard_normal((n_draws, dataset.dim))

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.sigma).sum(axis=1)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


@dataclass(frozen=True)
class Understated(Gaussian):
    """States (and its density tells) ``stated`` where sigma is drawn."""

    stated: float = 1.0

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.stated).sum(axis=1)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.stated)


@dataclass(frozen=True)
class Laplace:
    """The sum of responses with Laplace noise; pure, so never Gaussian private with the mu of its (1, 0) point."""

    scale: float = 1.0
    mu: float = 0.3
    name = "noisy sum"

    def draw(self, dataset, n_draws, *, rng):
        return dataset.y.sum() + rng.laplace(scale=self.scale, size=(n_draws, 1))

    def log_density(self, outputs, dataset):
        return -np.abs(outputs[:, 0] - dataset.y.sum()) / self.scale - math.log(2 * self.scale)

    def worst_profile(self, x_bound, y_bound):
        return LaplaceProfile(y_bound / self.scale)


class LaplaceAsGaussian(Laplace):
    """Its worst profile is that of the curve it is sold as."""

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(self.mu * y_bound)


def gaussian_claim(mu: float) -> dict:
    return {"type": "gaussian-dp", "mu": mu}


ROWS = [
    ("group-of-two", Gaussian, {"sigma": 1.9}, {"epsilon": 1.0, "delta": 1e-2, "group": 2},
     "two records move the moment by 2: mu is 1.05, delta .15"),
    ("group-of-two-laplace", Laplace, {}, {"epsilon": 1.0, "delta": 0.0, "group": 2}, "the loss of two records is 2"),
    ("laplace-as-gaussian", LaplaceAsGaussian, {}, gaussian_claim(0.3),
     "Laplace noise is (1, 0)-private and has delta(0) = .39 where mu = .3 has .12"),
    ("gaussian-dp-too-small", Understated, {"sigma": 1.0, "stated": 2.0}, gaussian_claim(0.5), "mu is 1, sold as .5"),
    ("zcdp-too-small", Understated, {"sigma": 1.0, "stated": 2.0}, {"type": "zcdp", "rho": 0.125},
     "rho is .5, sold as .125"),
    ("renyi-false", Understated, {"sigma": 0.7, "stated": 2.0}, {"type": "renyi", "alpha": 4.0, "epsilon": 0.5},
     "the divergence of order 4 is 4.08, sold as .5"),
    ("table-one-point-true", LaplaceAsGaussian, {"mu": 0.3}, {"type": "table", "points": ((0.5, 0.02), (1.0, 0.01))},
     "(1, .01) is true, delta(.5) is .22"),
    ("zcdp-of-laplace", LaplaceAsGaussian, {"scale": 0.5, "mu": 1.0}, {"type": "zcdp", "rho": 0.1},
     "the order-one divergence alone is 1.14"),
]  # fmt: skip
