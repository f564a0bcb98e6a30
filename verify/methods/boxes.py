"""Inequalities ``f(x) >= 0`` over a box of a few real variables, proved by branch and bound in ball arithmetic.

The box is cut until the enclosure of ``f`` on every piece is non-negative (proved), until ``f`` is negative at a point
(refuted), or until the allowance of pieces is spent (undecided). Where equality holds on an edge of the box, no piece
there can be decided: the statement file names a box that leaves such an edge out.
"""

import heapq
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from flint import arb, arb_series, ctx

from audits import Estimate
from mechanisms import Relation
from mechanisms.numerics.balls import Ball, above, below

from ..kernel.box_search import Axis, Point
from ..kernel.statement import Claim, Evidence, Observer, Value

#: ``f`` at a box (one ball an axis). With ``smooth`` it is called with power series as well.
BallFunction = Callable[[Mapping[str, Any]], Ball]

BITS: Final = 64
MAX_BOXES: Final = 50_000


@dataclass(frozen=True)
class BoxProof:
    """A proved enclosure of the smallest value of ``f`` over a box.

    Attributes
    ----------
    low : float
        A proved lower bound (minus infinity where nothing is known of some piece).
    high : float
        A proved upper bound: the smallest value met at a point.
    worst : dict
        That point.
    n_boxes : int
        Pieces looked at.
    """

    low: float
    high: float
    worst: Point
    n_boxes: int

    @property
    def proved(self) -> bool:
        """Whether ``f >= 0`` on the whole box."""
        return self.low >= 0.0

    @property
    def refuted(self) -> bool:
        """Whether ``f < 0`` at ``worst``."""
        return self.high < 0.0

    def estimate(self) -> Estimate:
        """Return the enclosure as an exact estimate."""
        words = "proved on the box" if self.proved else "branch and bound"
        return Estimate.proved(self.low, self.high, f"{words}: ball arithmetic, {self.n_boxes} boxes")


def prove_nonnegative(
    function: BallFunction,
    box: Mapping[str, Axis],
    *,
    smooth: bool = False,
    max_boxes: int = MAX_BOXES,
    bits: int = BITS,
) -> BoxProof:
    """Prove or refute ``function >= 0`` over ``box``.

    Parameters
    ----------
    function : callable
        Takes a mapping from axis names to balls (python-flint ``arb``) and returns a ball that encloses every value.
        A ball that is not finite (a logarithm of a ball around 0) counts as unknown, and the piece is cut again.
    box : mapping of Axis
        Finite ends; a logarithmic axis needs ``0 < low`` and is cut at geometric means. Ends are taken exactly.
    smooth : bool
        The function is differentiable and made of operations that ``arb_series`` has too (no ``abs``, ``max``): the
        mean-value form and the signs of the derivatives then tighten every piece.
    max_boxes : int
        Pieces at most, at least 1.
    bits : int
        Precision of the balls.

    Raises
    ------
    ValueError
        If an axis is not a finite interval, or a logarithmic one is not positive.
    """
    names = tuple(box)
    for name, axis in box.items():
        if not (math.isfinite(axis.low) and math.isfinite(axis.high) and axis.low <= axis.high):
            raise ValueError(f"axis must be a finite interval, got {name}=[{axis.low}, {axis.high}]")
        if axis.log and axis.low <= 0:
            raise ValueError(f"a logarithmic axis must be positive, got {name}=[{axis.low}, {axis.high}]")
    log = tuple(axis.log for axis in box.values())
    with ctx.workprec(bits):
        return _search(function, names, log, tuple((a.low, a.high) for a in box.values()), smooth, max_boxes)


Piece = tuple[tuple[float, float], ...]


def _search(
    function: BallFunction, names: tuple[str, ...], log: tuple[bool, ...], whole: Piece, smooth: bool, max_boxes: int
) -> BoxProof:
    least, worst, settled, count = math.inf, dict[str, float](), math.inf, 0
    open_pieces: list[tuple[float, int, Piece, int]] = []
    fresh = [whole]
    while True:
        for piece in fresh:
            count += 1
            low, narrowed, axis, point, value = _bound(function, names, log, piece, smooth)
            if value < least:
                least, worst = value, dict(zip(names, point, strict=True))
            if low >= 0:
                settled = min(settled, low)
            else:
                heapq.heappush(open_pieces, (low, count, narrowed, axis))
        if least < 0 or not open_pieces or count >= max_boxes:
            low = min(settled, open_pieces[0][0] if open_pieces else math.inf)
            return BoxProof(min(low, least), least, worst, count)
        _, _, piece, axis = heapq.heappop(open_pieces)
        fresh = _halves(piece, axis, log[axis])
        if not fresh:  # a single point that the precision cannot decide
            return BoxProof(-math.inf, least, worst, count)


def _middle(low: float, high: float, log: bool) -> float:
    """Return a float of [low, high] near its middle on the axis's scale."""
    middle = math.exp(0.5 * (math.log(low) + math.log(high))) if log else 0.5 * low + 0.5 * high
    return min(max(middle, low), high)


def _halves(piece: Piece, axis: int, log: bool) -> list[Piece]:
    low, high = piece[axis]
    middle = _middle(low, high, log)
    if not low < middle < high:
        return []
    return [(*piece[:axis], part, *piece[axis + 1 :]) for part in ((low, middle), (middle, high))]


def _width(low: float, high: float, log: bool) -> float:
    return math.log(high / low) if log else high - low


def _bound(
    function: BallFunction, names: tuple[str, ...], log: tuple[bool, ...], piece: Piece, smooth: bool
) -> tuple[float, Piece, int, tuple[float, ...], float]:
    """Return a lower bound on a piece, the part of it that holds its minimum, the axis to cut, a point, ``f`` there."""
    point = tuple(_middle(*ends, scale) for ends, scale in zip(piece, log, strict=True))
    at_point = function({name: arb(v) for name, v in zip(names, point, strict=True)})
    value = above(at_point)
    weights = [_width(*ends, scale) for ends, scale in zip(piece, log, strict=True)]
    if smooth:
        slopes = _slopes(function, names, piece)
        piece = tuple(_face(ends, slope) for ends, slope in zip(piece, slopes, strict=True))
    balls = [arb(low).union(arb(high)) for low, high in piece]
    low = below(function(dict(zip(names, balls, strict=True))))
    if smooth:
        centre = tuple(_middle(*ends, scale) for ends, scale in zip(piece, log, strict=True))
        terms = [slope * (ball - c) for slope, ball, c in zip(slopes, balls, centre, strict=True)]
        base = function({name: arb(v) for name, v in zip(names, centre, strict=True)})
        low = max(low, below(base + sum(terms, arb(0))))
        value, point = min((value, point), (above(base), centre))
        sizes = [float(abs(t).upper()) if t.is_finite() else math.inf for t in terms]
        if all(map(math.isfinite, sizes)) and any(sizes):
            weights = sizes
        weights = [w if high > low_ else -1.0 for w, (low_, high) in zip(weights, piece, strict=True)]
    return low, piece, max(range(len(weights)), key=weights.__getitem__), point, value


def _slopes(function: BallFunction, names: tuple[str, ...], piece: Piece) -> list[Ball]:
    """Return enclosures of the partial derivatives on a piece, by power series in one axis at a time."""
    balls = {name: arb(low).union(arb(high)) for name, (low, high) in zip(names, piece, strict=True)}
    out = []
    for name in names:
        series = {axis: arb_series([ball, int(axis == name)], prec=2) for axis, ball in balls.items()}
        out.append(function(series)[1])
    return out


def _face(ends: tuple[float, float], slope: Ball) -> tuple[float, float]:
    """Return the ends between which the minimum lies: one of them twice where the derivative keeps its sign."""
    if slope.is_finite() and slope >= 0:
        return ends[0], ends[0]
    return (ends[1], ends[1]) if slope.is_finite() and slope <= 0 else ends


def box_evidence(
    quantity: str,
    proof: BoxProof,
    box: Mapping[str, Axis],
    *,
    relation: Relation | None = None,
    observer: Observer = Observer.OUTPUT,
    conditioned_on: str = "",
) -> Evidence:
    """Return the evidence of "``quantity`` is at least 0 on the box"; the notes name the box and the worst point."""
    claim = Claim(
        f"smallest value on the box of: {quantity}",
        0.0,
        math.inf,
        0.0,
        relation=relation,
        observer=observer,
        conditioned_on=conditioned_on,
    )
    notes: dict[str, Value] = {f"{name} from {a.low:g} to": a.high for name, a in box.items()}
    notes["boxes"] = proof.n_boxes
    return Evidence(claim, exact=proof.estimate(), found=dict(proof.worst), notes=notes)


def on_box(
    quantity: str,
    function: BallFunction,
    box: Mapping[str, Axis],
    *,
    smooth: bool = False,
    relation: Relation | None = None,
    conditioned_on: str = "",
) -> Evidence:
    """Return the evidence of "``quantity``, which is ``function``, is at least 0 on the box"."""
    proof = prove_nonnegative(function, box, smooth=smooth)
    return box_evidence(quantity, proof, box, relation=relation, conditioned_on=conditioned_on)
