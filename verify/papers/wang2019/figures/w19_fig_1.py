"""W19, Figure 1: one output perturbation of ridge regression under DP, pDP for all, and pDP of a data set."""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from mechanisms import Dataset
from mechanisms.data.dataset import FloatArray
from mechanisms.data.synthetic import linear_unit_rows
from mechanisms.laws.gaussian_calibration import gaussian_epsilons
from mechanisms.linear.ridge import ridge_fit
from mechanisms.records.leverage import record_quantities
from reports.row import Figure, Mark, Series, Style

from ....figures.figure_page import Page, floats, stream

#: As printed.
SIGMA, LAM, DELTA = 4.0, 1.0, 1e-6
#: Chosen.
N_RECORDS, DIM, NOISE_SD = 100, 20, 0.3


def dp_shift_attained(n_records: int, lam: float = LAM) -> float:
    """Return how far one added record moves the estimate in a bad data set of ``n_records`` unit rows.

    Rows ``(+-sqrt(1 - s^2), s)`` in equal numbers with ``y = 1`` give the second coefficient ``n s/(n s^2 + lam)``; the
    record ``((0, 1), -1)`` moves it by ``(1 + n s/(n s^2 + lam))/(n s^2 + lam + 1)``, maximised here over a grid of
    ``s``. The sensitivity of DP is at least this (``n_records`` even, ``dim >= 2``), and grows as ``sqrt(n)``.
    """
    t = np.geomspace(1e-4, n_records, 20_001)  # t = n s^2 <= n
    return float(np.max((1 + np.sqrt(n_records * t) / (t + lam)) / (t + lam + 1)))


def record_shifts(dataset: Dataset, lam: float) -> FloatArray:
    """Return how far leaving out each record moves the ridge estimate: ``|H^-1 x| |r|`` with the left-out residual."""
    fit = ridge_fit(dataset, lam)
    return np.asarray(
        np.linalg.norm(fit.solve(dataset.X), axis=1) * np.abs(record_quantities(dataset, lam).residual_out)
    )


def universe_shift(dataset: Dataset, lam: float) -> float:
    """Return how far a record with ``|x| = 1``, ``|y| <= 1`` can move the estimate, by a search over directions.

    ``|H^-1 x| (1 + |x^T theta|)/(1 + x^T H^-1 x)``, started from every eigenvector of ``X^T X``, both ways.
    """
    values, vectors = np.linalg.eigh(dataset.X.T @ dataset.X)
    values = values + lam
    theta = vectors.T @ ridge_fit(dataset, lam).theta

    def negative_log(u: FloatArray) -> tuple[float, FloatArray]:
        length = float(np.linalg.norm(u))
        x = u / length
        moved, inner = x / values, float(x @ theta)
        square, damping, size = float(moved @ moved), 1.0 + float(x @ moved), 1.0 + abs(inner)
        slope = moved / values / square + np.sign(inner) * theta / size - 2 * moved / damping
        return -math.log(math.sqrt(square) * size / damping), -(slope - (slope @ x) * x) / length

    tilt = 0.1 * theta / max(float(np.linalg.norm(theta)), 1e-300)
    starts = [axis + sign * tilt for axis in np.eye(dataset.dim) for sign in (1.0, -1.0)]
    return math.exp(-min(float(scipy.optimize.minimize(negative_log, start, jac=True).fun) for start in starts))


@dataclass(frozen=True, eq=False)
class Losses:
    """Epsilon at ``DELTA`` of the three notions: ``dp`` from below, ``universe`` by search, ``records`` exact."""

    dp: float
    universe: float
    records: FloatArray

    @property
    def gain_of_all(self) -> float:
        """How many times smaller pDP for all is than DP."""
        return self.dp / self.universe

    @property
    def gain_of_worst_record(self) -> float:
        """How many times smaller the largest pDP of the data set is than DP."""
        return self.dp / float(self.records.max())


def losses(n_records: int, dim: int, rng: np.random.Generator) -> Losses:
    """Return the three notions on one data set of the paper's kind."""
    dataset = linear_unit_rows(n_records, dim, noise_sd=NOISE_SD, rng=rng).dataset
    dp, universe = dp_shift_attained(n_records), universe_shift(dataset, LAM)
    both = gaussian_epsilons(np.array([dp, universe]) / SIGMA, DELTA)
    return Losses(float(both[0]), float(both[1]), gaussian_epsilons(record_shifts(dataset, LAM) / SIGMA, DELTA))


def page(seed: int) -> Page:
    """Return the figure and what it shows."""
    notions = losses(N_RECORDS, DIM, stream(seed, "w19-fig1", "data"))
    ordered = np.sort(notions.records)
    share = (np.arange(ordered.size) + 1.0) / ordered.size
    figure = Figure(
        "w19-fig1",
        "Privacy loss of one output perturbation, three notions",
        "Share of the records whose per-instance epsilon is at most the value on the horizontal axis.",
        "Increasing curve of the distribution of per-instance epsilon over the records, to the left of the vertical "
        f"lines of pDP for all ({notions.universe:.3g}) and of DP ({notions.dp:.3g}), on a logarithmic axis.",
        f"epsilon at delta = {DELTA:g}",
        "share of records",
        (Series("pDP of the data set", floats(ordered), floats(share), style=Style.STEPS),),
        (Mark("x", notions.universe, "pDP for all"), Mark("x", notions.dp, "DP (at least)")),
        x_scale="log",
    )
    gains = [(n, d, losses(n, d, stream(seed, "w19-fig1", f"{n} {d}"))) for n, d in ((100, 10), (100, 20), (1000, 20))]
    table = "; ".join(f"n={n}, d={d}: {g.gain_of_worst_record:.0f} and {g.gain_of_all:.1f}" for n, d, g in gains)
    return Page(
        "W19-FIG1",
        "W19, Figure 1: DP, pDP for all, and pDP of a data set",
        (
            ("Model", "linear Gaussian; rows of X scaled to norm 1; y clipped to [-1, 1]"),
            ("Release", "(X^T X + I)^-1 X^T y + N(0, sigma^2 I), sigma = 4"),
            ("delta", "1e-6"),
            ("Reported", "more than ten times below DP for every record of the data, six times for every possible one"),
        ),
        (
            f"n = {N_RECORDS}, d = {DIM}; coefficients uniform on the sphere; noise of y {NOISE_SD:g} before clipping",
            "epsilon is the exact one of the Gaussian mechanism",
            "DP: the loss of a bad data set of n records (a lower bound on the worst case, which grows as sqrt(n))",
            "pDP for all: largest value found over |x| = 1, |y| <= 1 (search from every eigenvector)",
        ),
        f"The worst record of the data set loses {notions.gain_of_worst_record:.0f} times less than under DP, the worst "
        f"record imaginable {notions.gain_of_all:.1f} times less. Both gains are those of one size of data, not of the "
        f"method ({table}): the reported six is reached near n = 100, d = 20.",
        (figure,),
    )
