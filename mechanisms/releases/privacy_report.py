"""A report that everyone can evaluate on their own record: the released quantities and the public parameters, no data.

RW21's Algorithm 2 with its costs. By default the corrected form is evaluated; pass ``form=printed_terms`` for the
algorithm as printed.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import Relation
from ..laws.gaussian_profile import GaussianProfile
from ..numerics.goe import goe_tau
from ..objective.losses import BY_NAME, GlmLoss
from ..objective.perturbed_objective import Regulariser
from .gradient_release import GradientRelease
from .hessian_release import HessianRelease
from .report_terms import OwnRecord, Releases, ReportForm, ReportScales, corrected_terms

#: Losses that a report file may name.
LOSSES: Final = {loss.__name__: loss for loss in BY_NAME.values()}
FORMAT: Final = "pdp-verify privacy report"
SCHEMA_VERSION: Final = 1
#: The bound covers adding and removing the record (RW21, D_{+-z}); replacing one is not covered.
RELATIONS: Final = (Relation.ADD, Relation.REMOVE)


class Mode(Enum):
    """RW21's two ways of bounding one's own loss."""

    DATA_INDEP = "DATA-INDEP"
    DATA_DEP = "DATA-DEP"


@dataclass(frozen=True)
class OwnLoss:
    """What one person learns from a report (natural logs); a function of her own record, for her eyes only.

    Attributes
    ----------
    epsilon1_bar : float
        Upper bound on her ex-post loss to the released parameter.
    mu2, mu3 : float
        Her exact Gaussian privacy parameters of the gradient and Hessian releases (0 in DATA-INDEP).
    """

    epsilon1_bar: float
    mu2: float
    mu3: float

    def accounted_epsilon(self, delta: float) -> float:
        """Return the exact cost of both releases together at ``delta``: Gaussian with ``mu^2 = mu2^2 + mu3^2``."""
        return GaussianProfile(math.hypot(self.mu2, self.mu3)).epsilon_at(delta)


@dataclass(frozen=True)
class PrivacyReport:
    """The releases of one run and the public parameters; comparable, JSON-serialisable, free of private data.

    Parameters
    ----------
    scales : ReportScales
        Loss, noise scales, ``lam`` and ``rho``.
    theta : tuple of float
        Released parameter, length ``dim``.
    gradient : tuple of float or None
        Released gradient (DATA-DEP).
    hessian : tuple of tuple of float or None
        Released Hessian, ``dim`` rows (DATA-DEP).

    Raises
    ------
    ReportRequirement
        If a Hessian is released and ``lam < 2 sigma3 tau(rho)``.
    ValueError
        If shapes, or releases and noise scales, do not fit together.

    References
    ----------
    RW21: Redberg and Wang, "Privately Publishable Per-instance Privacy", NeurIPS 2021, Algorithm 2.
    """

    scales: ReportScales
    theta: tuple[float, ...]
    gradient: tuple[float, ...] | None = None
    hessian: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        dim = len(self.theta)
        given = {name: getattr(self.scales, name) is not None for name in ("sigma2", "sigma3")}
        given |= {name: getattr(self, name) is not None for name in ("gradient", "hessian")}
        if len(set(given.values())) != 1:
            missing = ", ".join(name for name, there in given.items() if not there)
            raise ValueError(f"sigma2, sigma3, gradient and hessian must be given together, got no {missing}")
        releases = self.releases  # validates shapes and finiteness
        if releases.hessian is not None and not np.array_equal(releases.hessian[0], releases.hessian[0].T):
            raise ValueError("hessian must be symmetric")
        self.scales.require(dim)

    @property
    def mode(self) -> Mode:
        """DATA-DEP when a gradient and a Hessian were released."""
        return Mode.DATA_INDEP if self.gradient is None else Mode.DATA_DEP

    @property
    def dim(self) -> int:
        return len(self.theta)

    @property
    def tau(self) -> float:
        """Quantile ``F^{-1}_{lambda_1(GOE(dim))}(1 - rho/2)`` that the report relies on."""
        return goe_tau(self.dim, self.scales.failure_prob)

    @property
    def failure_prob(self) -> float:
        """Probability with which one given person's bound may fail: ``3 rho``, or ``rho`` in DATA-INDEP."""
        return (1.0 if self.mode is Mode.DATA_INDEP else 3.0) * self.scales.failure_prob

    @property
    def releases(self) -> Releases:
        """The releases as arrays with ``n_draws = 1``."""
        gradient = None if self.gradient is None else np.array([self.gradient])
        hessian = None if self.hessian is None else np.array([self.hessian])
        return Releases(np.array([self.theta]), gradient, hessian)

    def evaluate(self, x: ArrayLike, y: float, *, form: ReportForm = corrected_terms) -> OwnLoss:
        """Return what the person with record ``(x, y)`` learns, whether or not the record is in the data.

        Parameters
        ----------
        x : (dim,) array_like
        form : ReportForm
            ``corrected_terms`` (valid with probability ``1 - failure_prob``) or ``printed_terms``.
        """
        releases = self.releases
        own = OwnRecord.at(self.scales, releases, x, y)
        epsilon1_bar = float(form(self.scales, releases, own.x, float(y)).epsilon1_bar[0])
        if self.mode is Mode.DATA_INDEP:
            return OwnLoss(epsilon1_bar, 0.0, 0.0)
        assert self.scales.sigma2 is not None
        assert self.scales.sigma3 is not None
        mu2 = float(own.gradient_norm[0]) / self.scales.sigma2  # exact for RW21, Theorem 14
        mu3 = float(own.hessian_norm[0]) / (math.sqrt(2.0) * self.scales.sigma3)  # exact for RW21, Theorem 17
        return OwnLoss(epsilon1_bar, mu2, mu3)

    def worst_profile(self, x_bound: float, y_bound: float) -> GaussianProfile:
        """Return the law of the two releases that no record in the public domain exceeds (RW21, Theorem 10.1)."""
        if self.scales.sigma2 is None or self.scales.sigma3 is None:
            return GaussianProfile(0.0)
        loss = self.scales.loss
        mu3 = loss.beta * x_bound**2 / (math.sqrt(2.0) * self.scales.sigma3)
        return GaussianProfile(math.hypot(loss.xi(y_bound, x_bound) / self.scales.sigma2, mu3))

    def to_json(self) -> str:
        """Return the report as strict JSON; floats survive the round trip exactly."""
        scales = {key: value for key, value in vars(self.scales).items() if key != "loss"}
        loss = self.scales.loss
        document = {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "mode": self.mode.value,
            "relations": [relation.name for relation in RELATIONS],
            "loss": {"kind": type(loss).__name__, "parameters": _loss_parameters(loss)},
            **scales,
            "tau": self.tau,
            "theta": self.theta,
            "gradient": self.gradient,
            "hessian": self.hessian,
        }
        return json.dumps(document, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> PrivacyReport:
        """Return the report in ``text``; everything in it is validated again.

        Raises
        ------
        ValueError
            If the text is not such a report, or its ``tau`` is not the one of its ``dim`` and ``rho``.
        """
        document = _read(text)
        kind = document["loss"]["kind"]
        if kind not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got loss={kind!r}")
        loss = LOSSES[kind](**document["loss"]["parameters"])
        keys = ("sigma", "lam", "failure_prob", "sigma2", "sigma3")
        report = cls(
            ReportScales(loss, **{key: document[key] for key in keys}),
            tuple(document["theta"]),
            None if document["gradient"] is None else tuple(document["gradient"]),
            None if document["hessian"] is None else tuple(tuple(row) for row in document["hessian"]),
        )
        if document["mode"] != report.mode.value:
            raise ValueError(f"mode must be {report.mode.value} for these releases, got mode={document['mode']!r}")
        if not math.isclose(document["tau"], report.tau, rel_tol=1e-9):
            raise ValueError(f"tau must be {report.tau:.12g} at this dim and rho, got tau={document['tau']}")
        return report


def make_report(
    theta: ArrayLike,
    dataset: Dataset,
    scales: ReportScales,
    *,
    rng: np.random.Generator,
    regulariser: Regulariser | None = None,
) -> PrivacyReport:
    """Return the report for one released ``theta``: draws the gradient and the Hessian once (DATA-DEP), or neither.

    Drawing it spends privacy: keep the report and reuse it. For a real release ``rng`` must be seeded by the
    operating system.

    Parameters
    ----------
    theta : (dim,) array_like
        Output of objective perturbation with the loss, ``sigma`` and ``lam`` of ``scales``.
    dataset : Dataset
    scales : ReportScales
    rng : Generator
    regulariser : Regulariser, optional
        The public ``r`` of the objective.

    Returns
    -------
    PrivacyReport

    Raises
    ------
    ReportRequirement
        If ``lam`` is too small for the report (RW21, Theorem 10).
    """
    vector = np.asarray(theta, dtype=np.float64)
    if scales.sigma2 is None or scales.sigma3 is None:
        return PrivacyReport(scales, _floats(vector))
    scales.require(dataset.dim)  # before anything is drawn
    gradient = GradientRelease(vector, scales.loss, scales.lam, scales.sigma2, regulariser)
    hessian = HessianRelease(vector, scales.loss, scales.lam, scales.sigma3, regulariser)
    released = hessian.full_matrices(hessian.draw(dataset, 1, rng=rng))[0]
    return PrivacyReport(
        scales,
        _floats(vector),
        _floats(gradient.draw(dataset, 1, rng=rng)[0]),
        tuple(_floats(row) for row in released),
    )


def _floats(vector: FloatArray) -> tuple[float, ...]:
    return tuple(float(value) for value in vector)


def _loss_parameters(loss: GlmLoss) -> dict[str, Any]:
    if type(loss).__name__ not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)} in a report file, got loss={type(loss).__name__}")
    return dict(vars(loss))


def _read(text: str) -> dict[str, Any]:
    """Return the document after checking its format, version and keys."""

    def refuse(constant: str) -> float:
        raise ValueError(f"numbers must be finite, got {constant}")

    document = json.loads(text, parse_constant=refuse)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"format must be {FORMAT!r}, got something else")
    if document.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"schema_version must be {SCHEMA_VERSION}, got {document.get('schema_version')}")
    expected = {
        *("format", "schema_version", "mode", "relations", "loss", "sigma", "lam", "failure_prob"),
        *("sigma2", "sigma3", "tau", "theta", "gradient", "hessian"),
    }
    if set(document) != expected:
        raise ValueError(f"keys must be those of version {SCHEMA_VERSION}, got {sorted(set(document) ^ expected)}")
    return document
