"""Short constructors for the cases of a statement file; a case's name says its version and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from .statement import Case, Params, Role, Standing, Value


def _text(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def name_of(part: str, version: str, params: Params) -> str:
    """Return a readable, unique case name."""
    numbers = " ".join(f"{key}={_text(value)}" for key, value in params.items())
    return f"{part} | {version} | {numbers}" if numbers else f"{part} | {version}"


def case(
    part: str,
    standing: Standing,
    params: Params,
    *,
    role: Role = Role.REGIME,
    regime: str = "",
    draws: tuple[int, int, int] = (0, 0, 0),
    quick: bool = True,
) -> Case:
    """Return one case of a printed or corrected form."""
    name = name_of(part, standing.name.lower(), params)
    return Case(part, name, standing, dict(params), role, regime, draws, quick)


def grid(
    part: str,
    standing: Standing,
    axes: Mapping[str, Sequence[Value]],
    *,
    regime: str,
    draws: tuple[int, int, int] = (0, 0, 0),
    quick_every: int = 1,
) -> tuple[Case, ...]:
    """Return one case a point of the product of ``axes``; the quick profile runs every ``quick_every``-th."""
    points = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return tuple(
        case(part, standing, point, regime=regime, draws=draws, quick=i % quick_every == 0)
        for i, point in enumerate(points)
    )


def adversarial(part: str, standing: Standing, *, quick: bool = True) -> Case:
    """Return the case in which a search of the statement's box looks for the worst point."""
    name = name_of(part, f"{standing.name.lower()} search", {})
    return Case(part, name, standing, {}, Role.ADVERSARIAL, "search", (0, 0, 0), quick)


def mutant(
    part: str,
    name: str,
    params: Params | None = None,
    *,
    severity: float | None = None,
    draws: tuple[int, int, int] = (0, 0, 0),
    quick: bool = True,
) -> Case:
    """Return a case of a wrong version that the same check must refute; without ``params`` it is searched for."""
    role = Role.ADVERSARIAL if params is None else Role.REGIME
    return Case(
        part,
        name_of(part, f"mutant: {name}", params or {}),
        Standing.MUTANT,
        dict(params or {}),
        role,
        "mutant",
        draws,
        quick,
        mutant=name,
        severity=severity,
    )
