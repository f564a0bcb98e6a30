"""Whether a mechanism is defined where a configuration speaks of it, told before anything is drawn or written.

On private data, and for a claim over all data sets, nothing but public numbers and how many records there are decides
that, by the rules of docs/certify.md: whether a certificate is refused says nothing else about the records.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mechanisms import Dataset, ObjectivePerturbation
from mechanisms.ridge import ridge_fit

from ..errors import UserError
from .config import Configuration
from .config_mechanisms import GaussianOutputSection, ImportSection, PosteriorSection

Ridge = PosteriorSection | GaussianOutputSection

#: Claims that speak about every data set in the public domain.
EVERYWHERE = ("dp", "report-coverage")
#: A record whose leverage is nearer to 1 than this leaves a singular matrix behind, to working precision.
LEAST_LEFT = 1e-9
#: Size that coefficients of a perturbed objective may have: the noise over the ridge.
LARGEST_FIT = 1e7


def check_fits(config: Configuration, mechanism: Any, dataset: Dataset) -> None:
    """Refuse data that the mechanism does not accept, and numbers for which it is not defined, in one line.

    Raises
    ------
    UserError
        With the key, the rule and the value.
    """
    if isinstance(config.mechanism, ImportSection):
        return
    if isinstance(mechanism, ObjectivePerturbation):
        try:
            mechanism.loss.check_response(dataset.y)
        except ValueError as stop:
            raise UserError(f"data.target: {stop}") from None
        if mechanism.lam * LARGEST_FIT < mechanism.sigma:
            raise UserError(
                f"mechanism.lam must be at least sigma / {LARGEST_FIT:g}, got mechanism.lam={mechanism.lam:g}; float64 "
                "does not carry the coefficients of a smaller one"
            )
    most = getattr(config.mechanism, "n_public", None)
    if most and dataset.n_records > most:
        raise UserError(f"mechanism.n_public must be at least the number of records, got mechanism.n_public={most}")
    everywhere = not config.data.is_public or any(claim.type in EVERYWHERE for claim in config.claims)
    if isinstance(config.mechanism, PosteriorSection | GaussianOutputSection):
        if not everywhere:
            _check_these(config.mechanism, dataset)
            return
        _check_everywhere(config.mechanism, dataset)
    _check_nobody(config, mechanism, dataset)


def _check_everywhere(ridge: Ridge, dataset: Dataset) -> None:
    """Refuse a ridge too small for some data set of so many records in the public domain."""
    if ridge.lam == 0:
        raise UserError(
            f"mechanism.lam must be greater than 0 for {ridge.name} on private data and for claims over all data sets, got "
            "mechanism.lam=0; without it the mechanism is not defined on all of them"
        )
    norm = dataset.x_bound if np.isfinite(dataset.x_bound) else np.sqrt(dataset.dim)  # z-scores: of that size together
    least = 8 * dataset.dim * float(np.finfo(float).eps) * max(dataset.n_records, 1) * norm**2
    if ridge.lam < least:
        raise UserError(
            f"mechanism.lam must be at least 8 * dim * 2.2e-16 * records * x_bound^2 for {ridge.name}, got "
            f"mechanism.lam={ridge.lam:g}; float64 does not carry a smaller one"
        )


def _check_these(ridge: Ridge, dataset: Dataset) -> None:
    """Refuse public records on which the mechanism is not defined, or not without one of them."""
    try:
        fit = ridge_fit(dataset, ridge.lam)
        left = 1 - (fit.whiten(dataset.X) ** 2).sum(axis=1).max(initial=0.0)
    except ValueError:
        left = 0.0
    if not left > LEAST_LEFT:
        raise UserError(
            f"mechanism.lam must be greater for {ridge.name}, got mechanism.lam={ridge.lam:g}; X^T X + lam I is singular on these "
            "records, or without one of them"
        )


def _check_nobody(config: Configuration, mechanism: Any, dataset: Dataset) -> None:
    """Refuse numbers with which the mechanism cannot be drawn from even where there is no record; all of it public."""
    nobody = Dataset(np.empty((0, dataset.dim)), np.empty(0), dataset.x_bound, dataset.y_bound)
    try:
        mechanism.draw(nobody, 1, rng=np.random.default_rng(0))
    except (ValueError, ArithmeticError) as stop:
        text, key = str(stop), str(stop).partition(" ")[0]
        if key in type(config.mechanism).model_fields:
            raise UserError(f"mechanism.{text.replace(f'got {key}=', f'got mechanism.{key}=')}") from None
        raise UserError(f"mechanism must be defined, got: {text}") from None
