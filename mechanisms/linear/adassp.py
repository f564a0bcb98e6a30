"""AdaSSP (W18, algorithm 2): a released eigenvalue chooses the damping of sufficient statistics perturbation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from ..base import check_draws, check_positive
from ..capabilities import Bound, Domain, WorstPair, gaussian_worst_pair
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..guarantees import Guarantee
from ..laws.gaussian_calibration import analytic_mu, check_open_delta
from ..laws.gaussian_profile import GaussianProfile, gaussian_delta
from ..laws.profile_tools import DominatingProfile
from ..numerics.spectra import NO_OUTPUT, GramSpectrum
from ..numerics.transcripts import (
    check_bounds,
    check_outputs,
    finite_rows,
    loss_of,
    normal_log_density,
    triangle_size,
    unpack_triangle,
)
from ..offers import LINEAR, Offer, Offered, Promise, with_least_noise
from ..parameters import Delta, Parameters, Positive, Ways
from ..records.record_laws import GaussianRecordLaws
from .adaops_wang2018 import clipped_log_density
from .sufficient_statistics import SufficientStatistics, solve_ridge

#: Records times features cubed up to which the eigenvalue without each record is computed.
EIGENVALUE_WORK = 10_000_000


class AdaSSPTranscript(NamedTuple):
    """The three releases: ``eigenvalue (n,)`` cut at 0, ``gram (n, dim, dim)``, ``moment (n, dim)``."""

    eigenvalue: FloatArray
    gram: FloatArray
    moment: FloatArray


@dataclass(frozen=True)
class Scales:
    """Noise standard deviations, the eigenvalue's shift, and the least total ``lam + eigenvalue``."""

    eigenvalue: float
    shift: float
    gram: float
    moment: float
    total: float

    def lam(self, eigenvalue: FloatArray) -> FloatArray:
        """Return ``max(0, total - eigenvalue)`` (W18, algorithm 2, step 3)."""
        return np.maximum(self.total - eigenvalue, 0.0)


@dataclass(frozen=True)
class AdaSSP:
    r"""AdaSSP with its last line read as ``(gram + lam I)^{-1} moment``, the *released* matrix.

    Our copy of the paper has the raw ``X^T X`` there, most likely a lost hat (see ``AdaSSPPublished``). With the
    released one the coefficients are post-processing, and the transcript is the three releases. Each of them alone can
    break its printed ``(epsilon/3, delta/3)`` (at epsilon 1, delta 1e-9 it does), but the three together are
    ``mu = epsilon/sqrt(3 log(6/delta))`` Gaussian-DP, which ``delta_at`` decides exactly
    (docs/derivations/wang2018_ssp.md).

    Transcript: the eigenvalue, the noisy Gram matrix on and above the diagonal, the noisy moment:
    ``1 + dim (dim+1)/2 + dim`` numbers. The eigenvalue has an atom at 0: its density is with respect to Lebesgue
    measure plus a unit mass at 0.

    Parameters
    ----------
    epsilon, delta : float
        The printed budget; positive, and in (0, 1).
    rho : float
        Failure probability in the damping; it affects utility only.
    calibrated : bool
        False: the printed noise scale ``sqrt(log(6/delta))/(epsilon/3)``. True: the least scale for which the three
        releases together are ``(epsilon, delta)``-DP, exactly. Either way one scale serves all three.

    Examples
    --------
    >>> mechanism = AdaSSP(1.0, 1e-6, calibrated=True)
    >>> round(mechanism.worst_profile().epsilon_at(1e-6), 6)
    1.0
    >>> data = example_pair().first
    >>> mechanism.coefficients(mechanism.draw(data, 3, rng=np.random.default_rng(1)), data).shape
    (3, 2)
    """

    epsilon: float
    delta: float
    rho: float = 0.05
    calibrated: bool = False

    def __post_init__(self) -> None:
        _check(self)

    @property
    def name(self) -> str:
        return "AdaSSP (last line on the released matrix)" + (", calibrated" if self.calibrated else "")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, Relation.ADD, "DP", "W18-TH3i")

    @property
    def unit_sigma(self) -> float:
        """Noise of each release per unit of its sensitivity."""
        if self.calibrated:
            return math.sqrt(3) / analytic_mu(self.epsilon, self.delta)
        return 3 * math.sqrt(math.log(6 / self.delta)) / self.epsilon

    def scales(self, dataset: Dataset) -> Scales:
        """Return the constants for a data set's public bounds."""
        return _scales(dataset, self.unit_sigma, self.delta, self.rho)

    def _statistics(self, scales: Scales) -> SufficientStatistics:
        return SufficientStatistics(scales.gram, scales.moment)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        scales = self.scales(dataset)
        eigenvalue = _draw_eigenvalue(dataset, scales, check_draws(n_draws), rng)
        return np.column_stack([eigenvalue, self._statistics(scales).draw(dataset, n_draws, rng=rng)])

    def split(self, outputs: FloatArray, dim: int) -> AdaSSPTranscript:
        outputs = check_outputs(outputs, 1 + triangle_size(dim) + dim)
        packed, moment = outputs[:, 1 : 1 + triangle_size(dim)], outputs[:, 1 + triangle_size(dim) :]
        return AdaSSPTranscript(outputs[:, 0], unpack_triangle(packed, dim), moment)

    def output(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the coefficients that follow from each transcript and the public bounds, shape ``(n_draws, dim)``."""
        eigenvalue, gram, moment = self.split(outputs, dataset.dim)
        return solve_ridge(gram, moment, self.scales(dataset).lam(eigenvalue))

    coefficients = output

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        scales = self.scales(dataset)
        outputs = check_outputs(outputs, 1 + triangle_size(dataset.dim) + dataset.dim)
        smallest = GramSpectrum.of(dataset).smallest
        first = clipped_log_density(outputs[:, 0], smallest - scales.shift, scales.eigenvalue)
        return np.asarray(first + self._statistics(scales).log_density(outputs[:, 1:], dataset))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        scales = self.scales(pair.first)
        outputs = check_outputs(outputs, 1 + triangle_size(pair.first.dim) + pair.first.dim)
        first, second = (
            clipped_log_density(outputs[:, 0], GramSpectrum.of(data).smallest - scales.shift, scales.eigenvalue)
            for data in (pair.first, pair.second)
        )
        return loss_of(first, second) + self._statistics(scales).privacy_loss(outputs[:, 1:], pair)

    def dominating_profile(self, pair: NeighbouringPair) -> DominatingProfile:
        """Return the law of the releases before the eigenvalue is cut at 0 (cutting is post-processing), from above."""
        scales = self.scales(pair.first)
        first, second = (GramSpectrum.of(data) for data in (pair.first, pair.second))
        rounding = 1e-13 * pair.first.dim * float(max(first.values.sum(), second.values.sum()))
        change = abs(first.smallest - second.smallest) + rounding
        if pair.relation is not Relation.REPLACE:
            change = min(change, float(pair.x @ pair.x) * (1 + 1e-14))  # one record moves no eigenvalue further
        statistics = self._statistics(scales).profile(pair).largest
        return DominatingProfile(GaussianProfile(math.hypot(change / scales.eigenvalue, statistics) * (1 + 1e-15)))

    def dominating_laws(self, dataset: Dataset) -> GaussianRecordLaws:
        """Return the laws of leaving each record out before the eigenvalue is cut at 0 (cutting is post-processing).

        They are those of ``dominating_profile``; where the eigenvalues without each record would take long, their
        change is taken as the largest that a record of its length can make.
        """
        scales, squares = self.scales(dataset), np.square(dataset.X).sum(axis=1)
        change, gram = squares, dataset.X.T @ dataset.X
        if dataset.n_records * dataset.dim**3 <= EIGENVALUE_WORK:
            smallest = np.array([np.linalg.eigvalsh(gram - np.outer(x, x))[0] for x in dataset.X])
            rounding = 1e-13 * dataset.dim * float(np.trace(gram))
            change = np.minimum(squares, np.linalg.eigvalsh(gram)[0] - np.maximum(smallest, 0.0) + rounding)
        statistics = self._statistics(scales).record_laws(dataset)
        return GaussianRecordLaws(np.hypot(change / scales.eigenvalue, statistics.mu))

    def worst_profile(self, x_bound: float = 1.0, y_bound: float = 1.0) -> GaussianProfile:
        """Return the profile before cutting that no record added or removed exceeds, and one (dim 1) reaches.

        The noise grows with the bounds, so that the profile is the same for all.
        """
        return GaussianProfile(math.sqrt(3) / self.unit_sigma)

    def worst_case(self, domain: Domain) -> Bound:
        """Return that of the three releases before the eigenvalue is cut."""
        unit = self.unit_sigma
        mu = math.sqrt(3) / unit
        # the eigenvalues with either record lie between that of the shared ones and one sensitivity more
        replaced = math.hypot(1 / unit, SufficientStatistics(unit, unit).replaced_mu(1.0, 1.0))
        return Bound(
            "W18-TH3i, corrected (last line on the released matrix)",
            "The three releases before the eigenvalue is cut are two normal laws of one covariance.",
            lambda epsilon, _: gaussian_delta(mu, epsilon),
            mu=mu,
            replaced=lambda epsilon, _: gaussian_delta(replaced, epsilon),
        )

    def worst_pair(self, domain: Domain, epsilon: float, delta: float) -> WorstPair:
        """Return no record against the longest on a coordinate axis, as the two statistics alone tell them apart."""
        mu = math.sqrt(2) / self.unit_sigma  # what the eigenvalue adds is left out
        words = "one record more on a coordinate axis, seen in the two statistics alone"
        return gaussian_worst_pair(domain, mu, epsilon, words, partial=True)

    def delta_at(self, epsilon: float) -> float:
        """Return a delta at which the transcript is ``(epsilon, delta)``-DP for one record added or removed."""
        return self.worst_profile().delta_at(epsilon)


class AdaSSPPublishedTranscript(NamedTuple):
    """What an observer of the printed algorithm without the moment sees: ``eigenvalue``, ``gram``, ``theta``."""

    eigenvalue: FloatArray
    gram: FloatArray
    theta: FloatArray


@dataclass(frozen=True)
class AdaSSPPublished:
    r"""AdaSSP with its last line word for word as in our copy: ``(X^T X + lam I)^{-1} moment``, the *raw* Gram matrix.

    A hat is most likely lost there: the algorithm releases the noisy matrix, which nothing else uses.

    Whoever sees eigenvalue, moment and theta learns ``X^T X theta = moment - lam theta`` exactly: the loss of the whole
    transcript is infinite with probability 1 unless the two Gram matrices agree on theta, and no measure dominates
    the laws of all data sets. This class therefore shows the transcript *without* the noisy moment, whose law has a
    density: given the eigenvalue, ``theta ~ N(theta_hat_lam, sigma^2 (X^T X + lam I)^{-2})``, whose covariance still
    depends on the data. Where ``X^T X + lam I`` is singular theta is infinite ("no output", of mass 1 there).

    Transcript: the eigenvalue (atom at 0), the noisy Gram matrix on and above the diagonal, ``theta``.

    Parameters
    ----------
    epsilon, delta, rho : float
        As in ``AdaSSP``.
    """

    epsilon: float
    delta: float
    rho: float = 0.05

    def __post_init__(self) -> None:
        _check(self)

    @property
    def name(self) -> str:
        return "AdaSSP (last line on the raw matrix)"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, Relation.ADD, "DP", "W18-TH3i")

    def scales(self, dataset: Dataset) -> Scales:
        """Return the printed constants for a data set's public bounds."""
        return _scales(dataset, 3 * math.sqrt(math.log(6 / self.delta)) / self.epsilon, self.delta, self.rho)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        scales, spectrum = self.scales(dataset), GramSpectrum.of(dataset)
        eigenvalue = _draw_eigenvalue(dataset, scales, check_draws(n_draws), rng)
        released = SufficientStatistics(scales.gram, scales.moment).draw(dataset, n_draws, rng=rng)
        size = triangle_size(dataset.dim)
        shifted = spectrum.values + scales.lam(eigenvalue)[:, None]
        good = shifted[:, :1] > 0
        theta = ((released[:, size:] @ spectrum.vectors) / np.where(good, shifted, 1.0)) @ spectrum.vectors.T
        return np.column_stack([eigenvalue, released[:, :size], np.where(good, theta, NO_OUTPUT)])

    def split(self, outputs: FloatArray, dim: int) -> AdaSSPPublishedTranscript:
        return AdaSSPPublishedTranscript(*AdaSSP(self.epsilon, self.delta).split(outputs, dim))

    def output(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the last output, ``theta``, shape ``(n_draws, dim)``."""
        return self.split(outputs, dataset.dim).theta

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        scales, spectrum = self.scales(dataset), GramSpectrum.of(dataset)
        size = triangle_size(dataset.dim)
        outputs = check_outputs(outputs, 1 + size + dataset.dim)
        eigenvalue, packed, theta = outputs[:, 0], outputs[:, 1 : 1 + size], outputs[:, 1 + size :]
        first = clipped_log_density(eigenvalue, spectrum.smallest - scales.shift, scales.eigenvalue)
        second = normal_log_density(
            packed, SufficientStatistics(scales.gram, scales.moment).mean(dataset)[:size], scales.gram
        )
        shifted = spectrum.values + scales.lam(eigenvalue)[:, None]
        good, given = shifted[:, 0] > 0, finite_rows(theta)
        safe = np.where(good[:, None], shifted, 1.0)
        rotated = np.where(given[:, None], theta, 0.0) @ spectrum.vectors
        third = normal_log_density(rotated * safe, spectrum.moment, scales.moment) + np.log(safe).sum(axis=1)
        third = np.where(good & given, third, np.where(good | given, -np.inf, 0.0))
        return np.asarray(first + second + third)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D(o) - log p_D'(o)`` of each transcript (without the moment)."""
        return loss_of(self.log_density(outputs, pair.first), self.log_density(outputs, pair.second))


def _check(mechanism: AdaSSP | AdaSSPPublished) -> None:
    object.__setattr__(mechanism, "epsilon", check_positive("epsilon", mechanism.epsilon))
    object.__setattr__(mechanism, "delta", check_open_delta(mechanism.delta))
    if not 0 < mechanism.rho < 1:
        raise ValueError(f"rho must be in (0, 1), got rho={mechanism.rho}")


def _scales(dataset: Dataset, unit_sigma: float, delta: float, rho: float) -> Scales:
    x_bound, y_bound = check_bounds(dataset)
    square, dim = x_bound**2, dataset.dim
    shift = square * unit_sigma * math.sqrt(math.log(6 / delta))
    total = square * unit_sigma * math.sqrt(dim * math.log(2 * dim**2 / rho))
    return Scales(square * unit_sigma, shift, square * unit_sigma, x_bound * y_bound * unit_sigma, total)


def _draw_eigenvalue(dataset: Dataset, scales: Scales, n_draws: int, rng: np.random.Generator) -> FloatArray:
    smallest = GramSpectrum.of(dataset).smallest
    return np.maximum(smallest - scales.shift + scales.eigenvalue * rng.standard_normal(n_draws), 0.0)


class AdaSSPParameters(Parameters):
    """AdaSSP (W18, Algorithm 2)."""

    protection: ClassVar[Ways] = ({"epsilon": -1},)

    name: Literal["adassp"]
    epsilon: Positive
    delta: Delta
    rho: Delta = 0.05
    form: Literal["corrected", "printed"] = "corrected"
    calibrated: bool = False

    def build(self, dim: int) -> AdaSSP | AdaSSPPublished:
        if self.form == "printed":
            return AdaSSPPublished(self.epsilon, self.delta, self.rho)
        return AdaSSP(self.epsilon, self.delta, self.rho, self.calibrated)


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    linear, cut = example_pair(), {0: 0.0}
    return {
        "adassp": Example(AdaSSP(5.0, 1e-2), linear, cut),
        "adassp-printed": Example(AdaSSPPublished(5.0, 1e-2), linear, cut),
    }


def _published(_: str, domain: Domain, promise: Promise) -> Offered:
    one = promise.for_one
    return Offered(AdaSSP(one.epsilon, one.delta))


def _exact(_: str, domain: Domain, promise: Promise) -> Offered:
    start = 1 / promise.epsilon
    return with_least_noise(lambda level: AdaSSP(1 / level, promise.delta, calibrated=True), domain, promise, start)


def offers() -> Sequence[Offer]:
    """Return the printed and the exact calibration, the last line on the released matrix."""
    return (
        Offer("AdaSSP", "published", _published, LINEAR, "W18, algorithm 2, as printed (last line corrected)"),
        Offer("AdaSSP", "exact", _exact, LINEAR, "least noise for the three releases together, split evenly"),
    )
