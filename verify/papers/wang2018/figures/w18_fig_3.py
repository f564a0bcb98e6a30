"""W18, Figure 3: estimation error and relative efficiency in the linear Gaussian model as the data grow."""

import math
from dataclasses import dataclass, replace

import numpy as np

from mechanisms import Dataset
from mechanisms.data.dataset import FloatArray, RowClip
from mechanisms.data.synthetic import Planted, linear_gaussian
from reports.row import Figure, Mark, Series

from ....figures.figure_page import Page, floats, stream
from ....figures.regression_methods import TABLE_METHODS, Wanted, least_squares

#: As printed.
DIM, EPSILONS = 10, (0.1, 1.0)
#: Chosen: sizes, and public bounds that a record exceeds with probability below 1e-6 (it is then scaled or clipped).
SIZES = tuple(int(n) for n in np.geomspace(100, 1e6, 9).round())
X_BOUND, Y_BOUND = math.sqrt(DIM) + 4.0, 5.0 * math.sqrt(DIM / 3 + 1)
N_SETS, N_DRAWS = 3, 50
METHODS = ("ObjPert", "OPS", "SSP", "AdaOPS", "AdaSSP")


def bounded(planted: Planted) -> Dataset:
    """Return the data under the public bounds; record-wise, so that it costs no privacy."""
    dataset, clip = planted.dataset, RowClip(X_BOUND)
    return replace(
        dataset,
        X=clip(dataset.X),
        y=np.clip(dataset.y, -Y_BOUND, Y_BOUND),
        x_bound=X_BOUND,
        y_bound=Y_BOUND,
        steps=(*dataset.steps, str(clip), f"response clipped to [-{Y_BOUND:g}, {Y_BOUND:g}]"),
    )


@dataclass(frozen=True)
class Errors:
    """Mean of ``|theta - theta_0|^2`` for each method at one size, and for least squares ("MLE")."""

    methods: dict[str, float]
    mle: float

    def efficiency(self, method: str) -> float:
        """Return the error over that of least squares: 1 where privacy comes for free."""
        return self.methods[method] / self.mle


def errors(n_records: int, epsilon: float, seed: int, *, n_sets: int = N_SETS, n_draws: int = N_DRAWS) -> Errors:
    """Return the errors at one size, over fresh data sets and draws; ``delta = 1/n^2``."""
    target = Wanted(epsilon, 1.0 / n_records**2)
    totals, mle = dict.fromkeys(METHODS, 0.0), 0.0
    for i in range(n_sets):
        planted = linear_gaussian(n_records, DIM, rng=stream(seed, "w18-fig3", f"{n_records} {i}"))
        dataset = bounded(planted)

        def square(theta: FloatArray, truth: FloatArray = planted.theta) -> float:
            return float(np.minimum(((theta - truth) ** 2).sum(axis=1), 1e12).mean())

        mle += square(least_squares(dataset, target, 1, stream(seed)))
        for name in METHODS:
            rng = stream(seed, "w18-fig3", name, f"{n_records} {epsilon:g} {i}")
            totals[name] += square(TABLE_METHODS[name](dataset, target, n_draws, rng))
    return Errors({name: total / n_sets for name, total in totals.items()}, mle / n_sets)


def _panels(epsilon: float, at_sizes: list[Errors]) -> tuple[Figure, Figure]:
    name = f"{epsilon:g}".replace(".", "-")
    error = [Series(m, floats(SIZES), floats([at.methods[m] for at in at_sizes])) for m in METHODS]
    error.append(Series("least squares (MLE)", floats(SIZES), floats([at.mle for at in at_sizes])))
    ratio = [Series(m, floats(SIZES), floats([at.efficiency(m) for at in at_sizes])) for m in METHODS]
    return (
        Figure(
            f"w18-fig3-mse-{name}",
            f"Estimation error, epsilon = {epsilon:g}",
            f"Mean of |theta - theta_0|^2 over {N_SETS} data sets and {N_DRAWS} draws each.",
            "Error curves on logarithmic axes: those of AdaOPS, AdaSSP and SSP fall to the line of least squares as n grows.",
            "number of records n",
            "mean squared error",
            tuple(error),
            x_scale="log",
            y_scale="log",
        ),
        Figure(
            f"w18-fig3-eff-{name}",
            f"Relative efficiency, epsilon = {epsilon:g}",
            "Error over that of least squares on the same data; 1: privacy comes for free.",
            "Curves of the ratio to the error of least squares on logarithmic axes, falling to 1 for AdaOPS, AdaSSP and SSP.",
            "number of records n",
            "error / error of MLE",
            tuple(ratio),
            (Mark("y", 1.0, "MLE"),),
            x_scale="log",
            y_scale="log",
        ),
    )


def page(seed: int) -> Page:
    """Return the four panels and what they show."""
    figures: list[Figure] = []
    words: list[str] = []
    for epsilon in EPSILONS:
        at_sizes = [errors(n, epsilon, seed) for n in SIZES]
        figures += _panels(epsilon, at_sizes)
        last = at_sizes[-1]
        words.append(f"epsilon = {epsilon:g}: " + ", ".join(f"{m} {last.efficiency(m):.3g}" for m in METHODS))
    return Page(
        "W18-X2",
        "W18, Figure 3: the linear Gaussian model",
        (
            ("Model", "d = 10, theta_0 uniform on [0, 1]^d, X normal, y ~ N(X theta_0, I)"),
            ("Budget", "epsilon = 0.1 and 1, delta = 1/n^2"),
            ("Reported", "AdaOPS and AdaSSP approach the MLE; SSP is better than AdaSSP at large n"),
        ),
        (
            f"sizes up to {SIZES[-1]}; relative efficiency: mean error over that of least squares",
            f"public bounds |x| <= sqrt(d) + 4 = {X_BOUND:.3g}, |y| <= 5 sqrt(d/3 + 1) = {Y_BOUND:.3g}, clipped (rare)",
            "constants of all methods as printed; AdaSSP on the released matrix; ObjPert over the unit ball, OPS balanced",
        ),
        f"Error over that of least squares at n = {SIZES[-1]:.0e}: " + "; ".join(words) + ".",
        tuple(figures),
    )
