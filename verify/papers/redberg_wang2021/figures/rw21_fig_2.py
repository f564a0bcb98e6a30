"""RW21, Figure 2: 0-1 loss of objective perturbation when lambda is inflated."""

import math
from dataclasses import replace

import numpy as np

from mechanisms import Dataset, LogisticLoss, ObjectivePerturbation
from mechanisms.data.dataset import FloatArray
from mechanisms.data.synthetic import sphere_scores
from mechanisms.laws.gaussian_calibration import analytic_sigma
from mechanisms.numerics.goe import goe_tau
from mechanisms.objective.objective_calibration import calibrate_t5
from reports.row import Figure, Series, Style

from ....figures.figure_page import Page, floats, stream

#: As printed.
N_RECORDS, DIM = 1000, 50
#: Chosen.
DELTA = RHO = 1e-6
EPSILONS = (0.1, 0.5, 1.0, 3.0, 10.0)
INFLATIONS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
N_DRAWS = 50


def data(rng: np.random.Generator, n_records: int = N_RECORDS, dim: int = DIM) -> Dataset:
    """Return the synthetic data, its scores in [0, 1] binarised at one half."""
    dataset = sphere_scores(n_records, dim, rng=rng).dataset
    note = "label +1 above 0.5, else -1"
    return replace(dataset, y=np.where(dataset.y > 0.5, 1.0, -1.0), steps=(*dataset.steps, note))


def star(epsilon: float, dim: int = DIM) -> float:
    """Return the inflation that Algorithm 2 needs when its Hessian release spends ``epsilon`` too."""
    sigma3 = analytic_sigma(LogisticLoss().beta / math.sqrt(2.0), epsilon, DELTA)
    return 2 * sigma3 * goe_tau(dim, RHO) / lambda_0(epsilon)


def lambda_0(epsilon: float) -> float:
    """Return the least lambda of Theorem 5 for logistic loss on the unit ball, ``1/(2 epsilon)``."""
    return calibrate_t5(LogisticLoss(), epsilon, DELTA, x_bound=1.0, y_bound=1.0).lam


def zero_one(dataset: Dataset, epsilon: float, inflation: float, noise: FloatArray) -> FloatArray:
    """Return the 0-1 loss on the data of each output, from given standard normal ``noise (n_draws, dim)``."""
    scales = calibrate_t5(LogisticLoss(), epsilon, DELTA, x_bound=1.0, y_bound=1.0)
    mechanism = ObjectivePerturbation(LogisticLoss(), scales.sigma_corrected, inflation * scales.lam, residual=1e-6)
    theta = mechanism.solve(dataset, scales.sigma_corrected * noise)
    return np.asarray((dataset.y[:, None] * (dataset.X @ theta.T) <= 0).mean(axis=0))


def page(seed: int) -> Page:
    """Return the loss against the inflation for several epsilons, and what it shows."""
    dataset = data(stream(seed, "rw21-f2", "data"))
    noise = stream(seed, "rw21-f2", "noise").standard_normal((N_DRAWS, DIM))
    series, changes, stars = [], [], []
    for epsilon in EPSILONS:
        losses = np.array([zero_one(dataset, epsilon, c, noise) for c in INFLATIONS])
        middle = losses.mean(axis=1)
        series.append(Series(f"epsilon_1 = {epsilon:g}", INFLATIONS, floats(middle)))
        changes.append(float(np.abs(middle - middle[0]).max()))
        at = star(epsilon)
        stars.append((at, float(zero_one(dataset, epsilon, at, noise).mean())))
    points, heights = zip(*stars, strict=True)
    series.append(Series("lambda that Algorithm 2 needs", points, heights, style=Style.POINTS))
    return Page(
        "RW21-F2",
        "RW21, Figure 2: utility when lambda is inflated",
        (
            ("Data", "n = 1000, d = 50; rows and coefficients normal, rows of norm 1, X theta rescaled to [0, 1]"),
            ("Mechanism", "objective perturbation, logistic loss, lambda = c/(2 epsilon_1)"),
            ("Reported", "the 0-1 loss is roughly constant in c"),
        ),
        (
            "epsilon_1 in {" + ", ".join(f"{e:g}" for e in EPSILONS) + f"}}, delta = rho = {DELTA:g}",
            "labels: the rescaled score above one half",
            f"0-1 loss on the data themselves, mean of {N_DRAWS} draws, the same noise for every c",
            "sigma of Theorem 5 in its corrected form; star: epsilon_3 = epsilon_1 for the released Hessian",
        ),
        "From c = 1 to 100 the mean 0-1 loss moves from its value at c = 1 by at most "
        + ", ".join(f"{change:.3f} (epsilon_1 = {e:g})" for e, change in zip(EPSILONS, changes, strict=True))
        + ": only where the noise is small does the regulariser show.",
        (
            Figure(
                "rw21-f2",
                "0-1 loss against the inflation of lambda",
                "Lines: one epsilon each. Points: the inflation that Algorithm 2 requires.",
                "Nearly horizontal lines of the 0-1 loss, lower for larger epsilon; the lowest rises slightly at the right.",
                "inflation c of lambda",
                "0-1 loss",
                tuple(series),
                x_scale="log",
            ),
        ),
    )
