"""Draws of sufficient statistics perturbation with a ridge, for the rates (12) and (13): error over the stated bound.

Units: ``B = 1``. The noise has the standard deviations of AdaSSP, ``3 s`` and ``3 s Y`` with
``s^2 = log(6/delta)/epsilon^2``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from audits import Budget
from mechanisms.data.dataset import FloatArray

from ..kernel.declare import At, Display, Form, Mutant, over
from ..kernel.statement import Case, Evidence
from .failure import counted, failure_evidence, spectral_norm, wigner

DRAWS = (500, 1_000, 50_000)
MORE = (8_000, 20_000, 50_000)


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
    def damped(self) -> FloatArray:
        """Eigenvalues of ``X^T X + lambda I``."""
        return self.spectrum + self.lam

    @property
    def length(self) -> float:
        """``|theta*|^2``."""
        return float(self.theta @ self.theta)

    @property
    def noise(self) -> float:
        """``(Y^2 + |theta*|^2) log(6/delta) log(2 d^2/rho)``."""
        log = math.log(2 * len(self.spectrum) ** 2 / self.rho)
        return (self.y_bound**2 + self.length) * self.log_delta * log


def with_trace(at: Setting, *, power: int, ridge: float = 1.0, whole: Callable[[FloatArray], float] = np.sum) -> float:
    """Return the right-hand side with ``tr (X^T X + lambda I)^-power``; ``ridge`` weighs its last term."""
    shares = at.damped ** float(-power)
    return float(at.noise * whole(shares) + ridge * at.lam**2 * float(at.theta**2 @ shares))


def with_smallest(at: Setting, *, ridge: float = 1.0) -> float:
    """Return the last form of (13), with the smallest eigenvalue; ``ridge`` weighs its last term."""
    return float(len(at.spectrum) * at.noise / at.damped.min() + ridge * at.lam * at.length)


def setting(case: Case) -> Setting:
    """Return the setting of a case; eigenvalues are multiples of ``3 s sqrt(d)``, the order of the noise matrix."""
    dim, log_delta, ratio = case.whole("dim"), case.number("log(6/delta)"), case.params["Y/B|theta*|"]
    unit = 3.0 * math.sqrt(log_delta * dim)
    low, high = {"large": (6.0, 6.0), "spread": (0.5, 500.0), "singular": (0.0, 6.0)}[case.text("spectrum")]
    spectrum = unit * (np.linspace(low, high, dim) if low == 0 else np.geomspace(low, high, dim))
    theta = np.zeros(dim) if ratio == "infinite" else np.full(dim, dim**-0.5)
    if low == 0:
        theta = theta * (spectrum > 0)
    y_bound = 1.0 if ratio == "infinite" else case.number("Y/B|theta*|")
    return Setting(spectrum, theta, y_bound, unit * case.number("lambda"), log_delta, case.number("rho"))


def _exceeds(
    case: Case,
    budget: Budget,
    *,
    bound: Callable[[Setting], float],
    constant: float,
    metric: Callable[[FloatArray], FloatArray],
) -> Evidence:
    """Count how often (15) holds and the error, in a diagonal metric, is above ``constant`` times the stated bound."""
    at = setting(case)
    dim, theta, damped, scale = len(at.spectrum), at.theta, at.damped, 3.0 * math.sqrt(at.log_delta)
    level, weights = constant * bound(at), metric(at.spectrum)

    def failing(size: int, rng: np.random.Generator) -> np.ndarray:
        noise = scale * wigner(dim, size, rng)
        other = scale * at.y_bound * rng.standard_normal((size, dim))
        on_event = spectral_norm(noise) <= damped.min() / 2
        right = other - noise @ theta - at.lam * theta
        error = np.linalg.solve(noise + np.diag(damped), right[..., None])[..., 0]
        return np.asarray(on_event & (error**2 @ weights > level))

    sampled = counted(failing, budget, floats_each=2 * dim**2)
    return failure_evidence(f"error within {constant:g} times the bound, on (15)", at.rho, sampled=sampled)


PLAIN = {"dim": 1, "spectrum": "large", "lambda": 0.0, "Y/B|theta*|": 1.0, "log(6/delta)": 10.0, "rho": 0.1}
AXES = {key: (value,) for key, value in PLAIN.items()} | {
    "dim": (1, 20),
    "spectrum": ("large", "spread", "singular"),
    "lambda": (0.0, 50.0),
    "Y/B|theta*|": (0.01, 1.0, "infinite"),
}
CASES = [
    *(
        at
        for at in over("dimension, spectrum, ridge and responses", AXES, draws=DRAWS, quick_every=5)
        if not (at.params["spectrum"] == "singular" and (at.params["lambda"] == 0.0 or at.params["dim"] == 1))
    ),
    *(At("rho", PLAIN | {"rho": rho, "dim": dim}, draws=MORE) for rho in (0.5, 0.01) for dim in (1, 10)),
]


def estimation_rate(title: str, typst: str) -> Display:
    """Return the display of a rate of ``|theta_hat - theta*|^2``, decided with the constant 40."""
    return _rate(title, typst, partial(with_trace, power=2), constant=40.0, metric=np.ones_like)


def excess_rate(title: str, typst: str, bound: Callable[..., float]) -> Display:
    """Return the display of a rate of ``F(theta_hat) - F(theta*)``, decided with the constant 20."""
    return _rate(title, typst, bound, constant=20.0, metric=lambda spectrum: 0.5 * spectrum)


def _rate(
    title: str, typst: str, bound: Callable[..., float], *, constant: float, metric: Callable[[FloatArray], FloatArray]
) -> Display:
    check = partial(_exceeds, constant=constant, metric=metric)
    unlogged, certain = (lambda at: bound(replace(at, log_delta=1.0))), (lambda at: bound(replace(at, rho=1.0)))
    mutants = {
        "no log(6/delta)": Mutant(check, PLAIN | {"log(6/delta)": 1e4}, draws=DRAWS, bound=unlogged),
        "no dependence on rho": Mutant(check, PLAIN | {"rho": 0.01, "Y/B|theta*|": 10.0}, draws=MORE, bound=certain),
        "no ridge term": Mutant(
            check, PLAIN | {"lambda": 1e4, "Y/B|theta*|": 0.01}, draws=DRAWS, bound=partial(bound, ridge=0.0)
        ),
    }
    if bound is not with_smallest:
        wide = PLAIN | {"dim": 60, "Y/B|theta*|": 10.0, "rho": 0.5}
        largest = partial(check, bound=partial(bound, whole=np.max))
        mutants["largest eigenvalue for the trace"] = Mutant(largest, wide, draws=DRAWS)
    return Display(title, Form(typst, partial(check, bound=bound), CASES), mutants=mutants)
