"""Losses of generalised linear models as functions of the linear predictor, stable far out in their tails."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from flint import arb
from scipy.special import expit

from ..base import check_positive
from ..data.dataset import DataError, FloatArray
from ..numerics.balls import Ball

Range = tuple[Ball, Ball]


@dataclass(frozen=True)
class Slopes:
    """A convex loss's first and second derivative by the predictor, in ball arithmetic.

    The first rises with the predictor; the second rises up to ``bend`` and falls beyond it (everywhere, for None). So
    the ends of a range give both; a ball around a wide range would say nothing.
    """

    first: Callable[[Ball], Ball]
    second: Callable[[Ball], Ball]
    bend: Ball | None

    def over(self, low: Ball, high: Ball) -> tuple[Range, Range]:
        """Return the least and the largest of both derivatives between two predictors."""
        ends = self.second(low), self.second(high)
        inside = self.bend is not None and not (self.bend < low or self.bend > high)
        top = self.second(self.bend) if inside else ends[0].max(ends[1])
        return (self.first(low), self.first(high)), (ends[0].min(ends[1]), top)


def _label_slopes(y: Ball, width: float, margin: float) -> Slopes:
    """Return those of ``width log(1 + exp((margin - y u)/width))`` for a label ``y``, -1 or 1."""
    scale, offset = arb(width), arb(margin)

    def falling(u: Ball) -> Ball:
        return ((y * u - offset) / scale).exp()

    return Slopes(
        lambda u: -y / (1 + falling(u)),
        lambda u: 1 / (scale * (2 + falling(u) + 1 / falling(u))),
        y * offset,
    )


def _pseudo_huber_slopes(y: Ball, width: float) -> Slopes:
    """Return those of ``width^2 (sqrt(1 + ((u - y)/width)^2) - 1)``."""
    scale = arb(width)

    def root(u: Ball) -> Ball:
        return (1 + ((u - y) / scale) ** 2).sqrt()

    return Slopes(lambda u: (u - y) / root(u), lambda u: 1 / root(u) ** 3, y)


@runtime_checkable
class GlmLoss(Protocol):
    """A loss ``l(theta; z) = f(x^T theta; y)``, convex and three times differentiable (RW21, "linear loss").

    The four functions broadcast ``predictor`` (``x^T theta``) against ``response`` (``y``) and return ``f`` and its
    derivatives with respect to the predictor.
    """

    @property
    def name(self) -> str:
        """Short name for reports."""

    @property
    def beta(self) -> float:
        """Supremum of ``f''`` over its domain; a Hessian is at most ``beta * x_bound**2`` (may be inf)."""

    def xi(self, y_bound: float, x_bound: float) -> float:
        """Return the bound on ``||grad l||`` over the public domain and all ``theta`` (may be inf)."""

    def check_response(self, y: FloatArray) -> None:
        """Raise ``DataError`` if a response lies outside the loss's domain."""

    def value(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        """Return ``f``."""

    def first(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        """Return ``f'``."""

    def second(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        """Return ``f''``."""

    def third(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        """Return ``f'''``."""


@runtime_checkable
class CanonicalLoss(GlmLoss, Protocol):
    """A loss whose slope splits as ``f'(u; y) = scale * (mean(rate * u) - y)``, so that sums over records are cheap."""

    @property
    def rate(self) -> float:
        """Factor on the predictor."""

    @property
    def scale(self) -> float:
        """Factor on the slope."""

    def mean_inplace(self, values: FloatArray) -> None:
        """Overwrite ``values`` with ``mean(values)``, accurate to a few units in the last place of ``sup |mean|``."""


@runtime_checkable
class ExactLoss(GlmLoss, Protocol):
    """A loss whose worst single record can be enclosed in ball arithmetic."""

    def responses(self, y_bound: float) -> Sequence[float]:
        """Return the responses among which the worst record is searched."""

    def slopes(self, y: Ball) -> Slopes:
        """Return ``f'`` and ``f''`` at a response in ball arithmetic."""


@runtime_checkable
class RelatedLoss(GlmLoss, Protocol):
    """A loss whose slope bounds its curvature."""

    def curvature(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the largest ``f''`` while ``|f'|`` lies in each cell ``[low, high]``."""


@runtime_checkable
class SignedLoss(GlmLoss, Protocol):
    """A loss whose slope has, for each response, the same sign at every predictor."""

    keeps_sign: ClassVar[bool]


def _full(predictor: FloatArray, response: FloatArray) -> FloatArray:
    """Return ``predictor`` in the shape that it and ``response`` broadcast to."""
    shape = np.broadcast_shapes(np.shape(predictor), np.shape(response))
    return np.asarray(np.broadcast_to(predictor, shape))


def _softplus(u: FloatArray) -> FloatArray:
    """Return ``log(1 + exp(u))``: no overflow, full relative accuracy (and twice as fast as ``logaddexp``)."""
    return np.asarray(np.maximum(u, 0.0) + np.log1p(np.exp(-np.abs(u))))


def _sech2_quarter(u: FloatArray) -> FloatArray:
    """Return ``s(u) s(-u) = e/(1 + e)^2`` with ``e = exp(-|u|)``: no overflow, full relative accuracy."""
    e = np.exp(-np.abs(u))
    return np.asarray(e / np.square(1.0 + e))


def _five(low: float, high: float) -> Sequence[float]:
    responses: list[float] = np.linspace(low, high, 5).tolist()
    return responses


class _LabelLoss:
    """What losses of a label, -1 or +1, share: slopes of one sign and at most 1, and a curvature that they bound."""

    keeps_sign: ClassVar[bool] = True
    name: ClassVar[str]
    width: float = 1.0

    def xi(self, y_bound: float, x_bound: float) -> float:
        return float(x_bound)  # |f'| <= 1

    def check_response(self, y: FloatArray) -> None:
        if not np.all(np.abs(y) == 1.0):
            raise DataError(f"y must be -1 or +1 for the {self.name} loss; map labels 0/1 with 2*y - 1")

    def responses(self, y_bound: float) -> Sequence[float]:
        return (1.0,) if y_bound >= 1 else ()  # -1 is its mirror image

    def curvature(self, low: FloatArray, high: FloatArray) -> FloatArray:
        nearest = np.clip(0.5, low, high)
        return np.asarray(nearest * (1 - nearest) / self.width)


@dataclass(frozen=True)
class LogisticLoss(_LabelLoss):
    """``f(u; y) = log(1 + exp(-y u))`` for labels ``y`` in {-1, +1}; 0/1 are refused (map with ``2 y - 1``)."""

    name: ClassVar[str] = "logistic"
    beta: ClassVar[float] = 0.25
    #: ``f'(u; y) = (tanh(u/2) - y)/2``.
    rate: ClassVar[float] = 0.5
    scale: ClassVar[float] = 0.5

    def mean_inplace(self, values: FloatArray) -> None:
        np.tanh(values, out=values)

    def value(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return _softplus(np.asarray(-response * predictor))

    def first(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        """Return ``f' = -y s(-yu)`` with full relative accuracy, ``s`` the sigmoid."""
        return np.asarray(-response * expit(-response * predictor))

    def second(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        """Return ``f'' = 1/(4 cosh(u/2)^2)``."""
        return _sech2_quarter(_full(predictor, response))

    def third(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        """Return ``f''' = -f'' tanh(u/2)``."""
        u = _full(predictor, response)
        return np.asarray(-_sech2_quarter(u) * np.tanh(0.5 * u))

    def slopes(self, y: Ball) -> Slopes:
        return _label_slopes(y, 1.0, 0.0)


@dataclass(frozen=True)
class SquaredLoss:
    """``f(u; y) = scale/2 (u - y)^2``: ``scale = 1`` is the usual half square, ``scale = 2`` W19's ``(y - u)^2``."""

    name: ClassVar[str] = "squared"
    rate: ClassVar[float] = 1.0

    scale: float = 1.0

    def __post_init__(self) -> None:
        check_positive("scale", self.scale)

    @property
    def beta(self) -> float:
        return float(self.scale)

    def mean_inplace(self, values: FloatArray) -> None:
        """Leave ``values`` as they are."""

    def xi(self, y_bound: float, x_bound: float) -> float:
        return math.inf

    def check_response(self, y: FloatArray) -> None:
        """Accept every response."""

    def value(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.asarray(0.5 * self.scale * np.square(predictor - response))

    def first(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.asarray(self.scale * (predictor - response))

    def second(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.full(np.broadcast_shapes(np.shape(predictor), np.shape(response)), float(self.scale))

    def third(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.zeros(np.broadcast_shapes(np.shape(predictor), np.shape(response)))

    def responses(self, y_bound: float) -> Sequence[float]:
        return _five(-y_bound, y_bound)

    def slopes(self, y: Ball) -> Slopes:
        return Slopes(lambda u: arb(self.scale) * (u - y), lambda _: arb(self.scale), None)


@dataclass(frozen=True)
class PoissonLoss:
    """``f(u; y) = exp(u) - y u`` for counts (any ``y >= 0``): the Poisson regression with the log link."""

    name: ClassVar[str] = "poisson"
    beta: ClassVar[float] = math.inf
    rate: ClassVar[float] = 1.0
    scale: ClassVar[float] = 1.0

    def mean_inplace(self, values: FloatArray) -> None:
        """Overwrite ``values`` with their exponential (infinite beyond the float range)."""
        with np.errstate(over="ignore"):
            np.exp(values, out=values)

    def xi(self, y_bound: float, x_bound: float) -> float:
        return math.inf

    def check_response(self, y: FloatArray) -> None:
        if np.any(y < 0):
            raise DataError("y must be at least 0 for the Poisson loss")

    def value(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.asarray(self.second(predictor, response) - response * predictor)

    def first(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.asarray(self.second(predictor, response) - response)

    def second(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(_full(predictor, response)))

    def third(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return self.second(predictor, response)

    def responses(self, y_bound: float) -> Sequence[float]:
        return _five(0.0, y_bound)

    def slopes(self, y: Ball) -> Slopes:
        return Slopes(lambda u: u.exp() - y, lambda u: u.exp(), None)


@dataclass(frozen=True)
class SmoothedHingeLoss(_LabelLoss):
    """``f(u; y) = w log(1 + exp((1 - y u)/w))`` for labels -1/+1: tends to the hinge as ``width = w`` tends to 0."""

    name: ClassVar[str] = "smoothed hinge"

    width: float = 0.5

    def __post_init__(self) -> None:
        check_positive("width", self.width)

    @property
    def beta(self) -> float:
        """``sup f'' = 1/(4 w)``, at the margin ``y u = 1``."""
        return 0.25 / self.width

    def _margin(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.asarray((1.0 - response * predictor) / self.width)

    def value(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.asarray(self.width * _softplus(self._margin(predictor, response)))

    def first(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.asarray(-response * expit(self._margin(predictor, response)))

    def second(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.asarray(_sech2_quarter(self._margin(predictor, response)) / self.width)

    def third(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        m = self._margin(predictor, response)
        return np.asarray(response * _sech2_quarter(m) * np.tanh(0.5 * m) / self.width**2)

    def slopes(self, y: Ball) -> Slopes:
        return _label_slopes(y, self.width, 1.0)


@dataclass(frozen=True)
class PseudoHuberLoss:
    """``f(u; y) = w^2 (sqrt(1 + ((u - y)/w)^2) - 1)``, the smooth form of Huber's loss with ``width = w``."""

    name: ClassVar[str] = "pseudo-Huber"
    beta: ClassVar[float] = 1.0

    width: float = 1.0

    def __post_init__(self) -> None:
        check_positive("width", self.width)

    def xi(self, y_bound: float, x_bound: float) -> float:
        return float(self.width * x_bound)  # |f'| <= w

    def check_response(self, y: FloatArray) -> None:
        """Accept every response."""

    def _ratio(self, predictor: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray]:
        t = np.asarray((predictor - response) / self.width)
        return t, np.asarray(np.hypot(1.0, t))

    def value(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        """Return ``f`` as ``w^2 t^2/(1 + sqrt(1 + t^2))``, free of cancellation."""
        t, root = self._ratio(predictor, response)
        return np.asarray(self.width**2 * t * (t / (1.0 + root)))

    def first(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        t, root = self._ratio(predictor, response)
        return np.asarray(self.width * t / root)

    def second(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        _, root = self._ratio(predictor, response)
        return np.asarray(root**-3.0)

    def third(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        t, root = self._ratio(predictor, response)
        return np.asarray(-3.0 / self.width * (t / root) * root**-4.0)

    def responses(self, y_bound: float) -> Sequence[float]:
        return _five(-y_bound, y_bound)

    def slopes(self, y: Ball) -> Slopes:
        return _pseudo_huber_slopes(y, self.width)

    def curvature(self, low: FloatArray, high: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(1 - (low / self.width) ** 2, 0.0) ** 1.5)


#: The words of losses in a configuration: all, those of bounded slope and curvature, and those that are trained on.
AnyLoss = Literal["logistic", "squared", "poisson", "smoothed-hinge", "pseudo-huber"]
BoundedLoss = Literal["logistic", "smoothed-hinge", "pseudo-huber"]
TrainedLoss = Literal["squared", "logistic"]
BY_NAME: Mapping[str, type[Any]] = {
    "logistic": LogisticLoss,
    "squared": SquaredLoss,
    "poisson": PoissonLoss,
    "smoothed-hinge": SmoothedHingeLoss,
    "pseudo-huber": PseudoHuberLoss,
}


def named_loss(name: str, width: float | None = None) -> GlmLoss:
    """Return the loss of a name in ``BY_NAME``, of this width where it has one and one is given."""
    kind = BY_NAME[name]
    wide = width is not None and any(field.name == "width" for field in fields(kind))
    loss: GlmLoss = kind(width=width) if wide else kind()
    return loss
