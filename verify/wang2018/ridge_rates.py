"""Draws of sufficient statistics perturbation with a ridge, for the rates (12) and (13): error over the stated bound.

Units: ``B = 1``. The noise has the standard deviations of AdaSSP, ``3 s`` and ``3 s Y`` with ``s^2 = log(6/delta)/epsilon^2``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audits import Budget
from mechanisms.data import FloatArray

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Standing, Value
from .failure import counted, failure_evidence, spectral_norm, wigner

DRAWS = (500, 1_000, 50_000)
MORE = (8_000, 20_000, 50_000)
#: Constants with which the O(.) claims are decided: (12), both forms of (13).
ESTIMATION, RISK = 40.0, 20.0


@dataclass(frozen=True)
class Setting:
    """One data set by its moments: eigenvalues (the axes are the eigenvectors), theta*, Y, lambda and log(6/delta)."""

    spectrum: FloatArray
    theta: FloatArray
    y_bound: float
    lam: float
    log_delta: float
    rho: float

    @property
    def dim(self) -> int:
        """Number of features."""
        return len(self.spectrum)

    @property
    def scale(self) -> float:
        """``3 s`` at epsilon = 1."""
        return 3.0 * math.sqrt(self.log_delta)

    def bound(self, power: int, version: str) -> float:
        """Return the right-hand side with the trace of ``(X^T X + lambda I)^-power``; ``power`` 0 is the last form of (13)."""
        damped, log = self.spectrum + self.lam, math.log(2 * self.dim**2 / self.rho)
        length = float(self.theta @ self.theta)
        noise = (self.y_bound**2 + length) * self.log_delta
        if version == "no log(6/delta)":
            noise /= self.log_delta
        if version == "no dependence on rho":
            log = math.log(2 * self.dim**2)
        if power == 0:
            last = self.dim * noise * log / damped.min()
            return float(last + (0.0 if version == "no ridge term" else self.lam * length))
        shares = damped ** float(-power)
        trace = float(shares.max() if version == "largest eigenvalue for the trace" else shares.sum())
        ridge = 0.0 if version == "no ridge term" else self.lam**2 * float(self.theta**2 @ damped**-power)
        return float(noise * log * trace + ridge)


def setting(case: Case) -> Setting:
    """Return the setting of a case; eigenvalues are multiples of ``3 s sqrt(d)``, the order of the noise matrix."""
    dim, log_delta = case.whole("dim"), case.number("log(6/delta)")
    unit = 3.0 * math.sqrt(log_delta * dim)
    low, high = {"large": (6.0, 6.0), "spread": (0.5, 500.0), "singular": (0.0, 6.0)}[case.text("spectrum")]
    spectrum = unit * (np.linspace(low, high, dim) if low == 0 else np.geomspace(low, high, dim))
    theta = np.zeros(dim) if case.params["Y/B|theta*|"] == "infinite" else np.full(dim, dim**-0.5)
    if case.text("spectrum") == "singular":
        theta = theta * (spectrum > 0)
    y = 1.0 if case.params["Y/B|theta*|"] == "infinite" else case.number("Y/B|theta*|")
    return Setting(spectrum, theta, y, unit * case.number("lambda"), log_delta, case.number("rho"))


def check(case: Case, budget: Budget, power: int) -> Evidence:
    """Count how often (15) holds and the error is above the stated bound."""
    here, version = setting(case), version_name(case)
    constant = ESTIMATION if power == 2 else RISK
    level = constant * here.bound(power, version)
    dim, theta, damped = here.dim, here.theta, here.spectrum + here.lam
    metric = np.ones(dim) if power == 2 else 0.5 * here.spectrum

    def failing(size: int, rng: np.random.Generator) -> np.ndarray:
        noise = here.scale * wigner(dim, size, rng)
        other = here.scale * here.y_bound * rng.standard_normal((size, dim))
        on_event = spectral_norm(noise) <= damped.min() / 2
        right = other - noise @ theta - here.lam * theta
        error = np.linalg.solve(noise + np.diag(damped), right[..., None])[..., 0]
        return np.asarray(on_event & (error**2 @ metric > level))

    sampled = counted(failing, budget, floats_each=2 * dim**2)
    return failure_evidence(f"error within {constant:g} times the bound, on (15)", here.rho, sampled=sampled)


def cases(part: str) -> tuple[Case, ...]:
    """Return the cases of one rate."""
    base: dict[str, Value] = {
        "dim": 1, "spectrum": "large", "lambda": 0.0, "Y/B|theta*|": 1.0, "log(6/delta)": 10.0, "rho": 0.1,
    }  # fmt: skip
    axes: dict[str, tuple[Value, ...]] = {
        "dim": (1, 20),
        "spectrum": ("large", "spread", "singular"),
        "lambda": (0.0, 50.0),
        "Y/B|theta*|": (0.01, 1.0, "infinite"),
        "log(6/delta)": (10.0,),
        "rho": (0.1,),
    }
    found = [
        c
        for c in grid(part, Standing.PRINTED, axes, regime="dimension, spectrum, ridge and responses", draws=DRAWS, quick_every=5)
        if not (c.params["spectrum"] == "singular" and (c.params["lambda"] == 0.0 or c.params["dim"] == 1))
    ]  # fmt: skip
    levels: list[Case] = [
        case(part, Standing.PRINTED, base | {"rho": rho, "dim": dim}, regime="rho", draws=MORE)
        for rho in (0.5, 0.01)
        for dim in (1, 10)
    ]
    broken = [
        mutant(part, "no log(6/delta)", base | {"log(6/delta)": 1e4}, draws=DRAWS),
        mutant(part, "no dependence on rho", base | {"rho": 0.01, "Y/B|theta*|": 10.0}, draws=MORE),
        mutant(part, "no ridge term", base | {"lambda": 1e4, "Y/B|theta*|": 0.01}, draws=DRAWS),
    ]
    return (*found, *levels, *broken)
