"""Bugs of diffprivlib 0.6.6; each docstring says what is wrong, and how the variant that is right differs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from diffprivlib.mechanisms import GeometricFolded, Laplace, LaplaceBoundedDomain, Snapping
from diffprivlib.models import GaussianNB, KMeans, LinearRegression, LogisticRegression, linear_regression
from lines import Bug, Rows, point, serve
from scipy.optimize import OptimizeResult, minimize

EPSILON = 1.0
CLASSES = [0.0, 1.0, 2.0]
LOW = 1000.0
BOUNDS = ([0.0, 0.0], [100.0, 1.0])
CLAIM = point(EPSILON)

warnings.filterwarnings("ignore", category=FutureWarning)  # scikit-learn's, about a setting that the library makes


def stream(seed: int) -> np.random.RandomState:
    """Return one stream for all the fits of a request."""
    return np.random.RandomState(seed % 2**32)


def least(objective: Any, start: Any, **settings: Any) -> Any:
    """Return scipy's result, or NaN where the objective is a line."""
    if np.array_equal(objective(start)[1], objective(start + 1.0)[1]):
        return OptimizeResult(x=np.full(start.shape, np.nan))
    return minimize(objective, start, **settings)


class HalfEach(LinearRegression):
    """Linear regression whose two means share the slice."""

    @staticmethod
    def _preprocess_data(X: Any, y: Any, *, epsilon: float, **settings: Any) -> Any:
        return LinearRegression._preprocess_data(X, y, epsilon=epsilon / 2, **settings)


def centring(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    """Issue 104, its second point: X and y are centred each for the slice of epsilon set aside for both.

    With d features, 1/(d + 1) of epsilon is set aside for the intercept; the mean of X spends that much and the mean of
    y as much again, so that all together spends 1 + 1/(d + 1) of epsilon: 1.5 for one feature.

    A noisy mean is clamped to the bounds. With upper bounds 0 the intercept is 0 exactly where both means were clamped
    there, so the output is whether it is, and the coefficient where it is. There the lower bound is the wider one of
    what is left, and the error of issue 105, which looks at that one alone, is none.

    The right variant (ours: none is released) gives half of the slice to each mean.

    Where the other error leaves the square no noise and it is 0, the objective has no least value and the optimiser is
    slow to say so: there the coefficient is NaN instead. The intercept is not 0 there, so no output is another for it.
    """
    linear_regression.minimize = least
    make, noise = HalfEach if right else LinearRegression, stream(seed)
    model = make(epsilon=EPSILON, bounds_X=(-1.0, 0.0), bounds_y=(-1.0, 0.0), random_state=noise)
    fitted = (model.fit(np.array(X), np.array(y)) for _ in range(n_draws))
    return [[1.0, float(each.coef_[0])] if each.intercept_ == 0.0 else [0.0, 0.0] for each in fitted]


def squares(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[float]:
    """Issue 105 (also the first point of 104): ``LinearRegression`` and its sums of squares.

    The noise on each sum of squares of a feature is scaled by the lower bound alone. With bounds (0, 1) that is no
    noise at all, and one record moves the sum from 0.01 to 1.01. With bounds (-1, 1), which hold for the same records,
    the formula happens to be right: the library as it is, told so.
    """
    bounds, noise = (-1.0, 1.0) if right else (0.0, 1.0), stream(seed)
    settings = {"epsilon": EPSILON, "bounds_X": bounds, "bounds_y": (-1.0, 1.0), "fit_intercept": False}
    fitted = (LinearRegression(**settings, random_state=noise).fit(np.array(X), np.array(y)) for _ in range(n_draws))
    return [float(model.coef_[0]) for model in fitted]


def classes(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    """Issue 106: ``LogisticRegression`` reads off the labels which classes there are.

    The one record of a rare class decides how many coefficients there are. Reported for a record removed; here its
    label is replaced, so that the number of records is the same. The right variant (ours: none is released) adds one
    public record of each class first: then the classes are always the same three.
    """
    if right:
        X, y = [*X, *([0.5] for _ in CLASSES)], [*y, *CLASSES]
    model = LogisticRegression(epsilon=EPSILON, data_norm=1.0, random_state=stream(seed))
    fitted = (model.fit(np.array(X), np.array(y)) for _ in range(n_draws))
    return [[float(value) for value in (*each.coef_.ravel(), *each.intercept_)] for each in fitted]


def doubles(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    """Issue 94: noise in floating point.

    A count of 0 or 1 with Laplace noise at epsilon 1. As real numbers the outputs keep the promise; which doubles can
    come out at all depends on the count: 1 plus a small double is rounded to a coarser grid. So each output is told
    with the power of two in its denominator, which anybody reads off it. ``Snapping`` rounds to a grid of its own.
    """
    noise = stream(seed)
    if right:
        mechanism = Snapping(epsilon=EPSILON, sensitivity=1.0, lower=-20.0, upper=20.0, random_state=noise)
    else:
        mechanism = Laplace(epsilon=EPSILON, sensitivity=1.0, random_state=noise)
    drawn = (float(mechanism.randomise(float(len(X)))) for _ in range(n_draws))
    return [[value, value.as_integer_ratio()[1].bit_length() - 1] for value in drawn]


def class_sums(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    """``GaussianNB``: a record that changes its class takes its whole value along, not the bounds' width.

    Noise on the sum of a class is scaled for the width, 1 here, where bounds (1000, 1001) let the sum change by 1001.
    The mean is inside the bounds only where the noisy count is the true one: 40 records of class 0, or 39.

    The right variant takes 1000 from every value first (bounds (0, 1), where the width is the largest value), and has
    half of epsilon, since two classes change.
    """
    shift, epsilon = (LOW, EPSILON / 2) if right else (0.0, EPSILON)
    model = GaussianNB(epsilon=epsilon, bounds=(LOW - shift, LOW + 1.0 - shift), random_state=stream(seed))
    fitted = (model.fit(np.array(X) - shift, np.array(y)) for _ in range(n_draws))
    return [[float(each.class_count_[0]), float(each.theta_[0, 0])] for each in fitted]


class EveryCluster(KMeans):
    """k-means in which a cluster without records gets its noisy count and sum like any other."""

    def _update_centers(self, X: Any, centers: Any, labels: Any, dims: int, total_iters: int, random_state: Any) -> Any:
        of_count, of_sum = self._split_epsilon(dims, total_iters)
        counts = GeometricFolded(
            epsilon=of_count, sensitivity=1, lower=0.5, upper=float("inf"), random_state=random_state
        )
        for cluster in range(self.n_clusters):
            members = X[labels == cluster]
            count = counts.randomise(len(members))
            for i in range(dims):
                low, high = self.bounds[0][i], self.bounds[1][i]
                noise = LaplaceBoundedDomain(
                    epsilon=of_sum,
                    sensitivity=max(abs(low), abs(high)),
                    lower=count * low,
                    upper=count * high,
                    random_state=random_state,
                )
                centers[cluster, i] = noise.randomise(float(members[:, i].sum())) / count
        return centers


def clusters(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    """``KMeans`` and a cluster without records.

    Such a cluster is passed over, so its centre stays where it began, and the beginning is told from an update: with
    two features of widths 100 and 1 every first centre has exactly 0.5 in the second, an update never has. Record 2
    alone at age 100 keeps the second cluster alive; moved to 0 it leaves the cluster empty.

    The right variant (ours: none is released) updates every cluster, with half of epsilon, since a record that moves
    from one cluster to another changes two counts and two sums.
    """
    make, epsilon = (EveryCluster, EPSILON / 2) if right else (KMeans, EPSILON)
    settings = {"n_clusters": 2, "epsilon": epsilon, "bounds": BOUNDS, "random_state": stream(seed)}
    fitted = (make(**settings).fit(np.array(X)) for _ in range(n_draws))
    return [[float(value) for value in model.cluster_centers_.ravel()] for model in fitted]


SAME = [[LOW + 0.5]] * 80
serve(
    "diffprivlib",
    {
        "diffprivlib_104": Bug([[0.0]], [[-1.0]], CLAIM, centring, ([0.0], [-1.0])),
        "diffprivlib_105": Bug([[1.0], [0.1]], [[0.0], [0.1]], CLAIM, squares, ([1.0, 0.1], [0.0, 0.1])),
        "diffprivlib_106": Bug(
            [[0.5]] * 6, [[0.5]] * 6, CLAIM, classes, ([0.0, 0.0, 1.0, 1.0, 0.0, 2.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0])
        ),
        "diffprivlib_94": Bug([], [[0.0]], CLAIM, doubles),
        "diffprivlib_class_sums": Bug(
            SAME, SAME, CLAIM, class_sums, ([0.0] * 40 + [1.0] * 40, [0.0] * 39 + [1.0] * 41)
        ),
        "diffprivlib_kmeans": Bug([[0.0, 0.5], [100.0, 0.5]], [[0.0, 0.5], [0.0, 0.5]], CLAIM, clusters),
    },
)
