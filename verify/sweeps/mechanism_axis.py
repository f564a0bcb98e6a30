"""What a name on the mechanism axis stands for: recipes of the mechanisms and of the statements, or a user's own."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from pydantic import ValidationError

from mechanisms import NeighbouringPair, PosteriorSampling, catalogue
from mechanisms.linear.gaussian_output import calibrated
from mechanisms.offers import LAM, LINEAR, SQUARED, Build, Offered, Recipe
from mechanisms.offers import LOSSES as GLM_LOSSES

from ..certificates.config.config import one_line
from ..certificates.config.config_mechanisms import ImportSection
from ..certificates.config.mechanism_source import MechanismSource, runs_code
from ..certificates.config.own_code import Vouched
from ..messages.errors import UserError
from ..papers.wang2019 import lem_2_4, thm_4_1


def _per_instance(tail: float) -> Build:
    """Return the rule "the largest gamma at which (4.3) is at most epsilon for this target" (W19, Theorem 4.1)."""

    def build(_: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Offered:
        leverage, residual = PosteriorSampling(1.0, LAM).target(pair)

        def excess(log_gamma: float) -> float:
            scaled = abs(residual) * math.exp(0.5 * log_gamma)
            point = {"leverage": leverage, "residual": scaled, "delta": delta}
            return thm_4_1.out_of_sample(point, tail=tail) - epsilon

        # |centre| falls before it grows: the largest root is bracketed from far above, where the bound is large
        low, high = -60.0, 60.0
        if excess(high) <= 0:
            return Offered(None, "every gamma is allowed: the target's residual is zero")
        crossing = _last_allowed(excess, low, high)
        if crossing is None:
            return Offered(None, "no gamma is small enough: the leverage alone uses up epsilon")
        gamma = math.exp(float(scipy.optimize.brentq(excess, *crossing, xtol=1e-13, rtol=1e-13)) - 1e-12)
        return Offered(PosteriorSampling(gamma, LAM))

    return build


def _last_allowed(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float] | None:
    """Return the last step of a walk downwards from ``high`` on which the excess becomes negative."""
    above = high
    for below in np.arange(high - 0.25, low, -0.25).tolist():
        if excess(below) < 0:
            return below, above
        above = below
    return None


def _sigma_printed(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the sigma at which W19, Lemma 2.4, as printed gives ``epsilon`` (it is linear in gamma)."""
    unit = lem_2_4.epsilon_published({"gamma": 1.0, "sensitivity": sensitivity, "delta": delta})
    return math.sqrt(unit / epsilon)


_OWN = {
    "ops-per-instance": Recipe(_per_instance(1.0), LINEAR, True, "W19-T4.1 (4.3), as printed, lam = 1"),
    "ops-per-instance-corrected": Recipe(_per_instance(2.0), LINEAR, True, "W19-T4.1 (4.3), corrected, lam = 1"),
    "gaussian-printed": Recipe(calibrated(_sigma_printed), LINEAR, True, "W19-L2.4, as printed, ridge with lam = 1"),
}
#: In the order in which they are offered.
_FAMILIES = ("ops-diffuse", "ops-concentrated", "ops-per", "gaussian-printed", "gaussian", "ssp", "objective")
RECIPES: Mapping[str, Recipe] = dict(
    sorted(
        (catalogue.recipes() | _OWN).items(),
        key=lambda item: next((i for i, own in enumerate(_FAMILIES) if item[0].startswith(own)), len(_FAMILIES)),
    )
)
ALL_LOSSES = (SQUARED, *GLM_LOSSES)


#: Losses of an imported mechanism, which say no more than what its responses are: numbers, or labels -1 and +1.
LOSSES = ("squared", "logistic")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, eq=False)
class ImportedMechanism:
    """One name on the mechanism axis that stands for a mechanism of the user's own.

    Attributes
    ----------
    digest : str
        SHA-256 of the module's file when the grid was read; ``make`` refuses another one.
    views : tuple of (MechanismSource, str)
        Functions of one output with the digests of their files: further columns that the black box looks at.
    vouched : Vouched or None
        On whose word a claim may hold.
    """

    name: str
    source: MechanismSource
    digest: str
    views: tuple[tuple[MechanismSource, str], ...] = ()
    vouched: Vouched | None = None

    @classmethod
    def read(cls, name: str, table: Any, folder: Path) -> ImportedMechanism:
        """Return a table of the grid file, its mechanism made once to see that it can be.

        Raises ``UserError``: one line that names the key, the rule and the value.
        """
        key = f"imported.{name}"
        if not isinstance(table, dict):
            raise UserError(f"{key} must be a table, got {key}={table!r}")
        known = sorted(each.alias or own for own, each in ImportSection.model_fields.items())
        for given in (given for given in table if given not in known):
            close = difflib.get_close_matches(given, known, n=1)
            hint = f"; did you mean {key}.{close[0]}?" if close else ""
            raise UserError(f"{key}.{given} must be one of {', '.join(known)}, got {key}.{given}{hint}")
        try:
            section = ImportSection.model_validate(table)
        except ValidationError as stop:
            raise UserError(_under(key, one_line(stop))) from None
        try:
            json.dumps(section.parameters)
        except TypeError as stop:
            rule = "numbers, text, true or false, lists and tables"
            raise UserError(f"{key}.parameters must be {rule}, got {key}.parameters ({stop})") from None
        place = str(folder.resolve())
        source = MechanismSource(section.origin, place, section.parameters)
        views = tuple(MechanismSource(origin, place) for origin in section.views)
        for each, what in ((source, "import"), *((view, "views") for view in views)):
            each.attribute(f"{key}.{what}")  # refuses what is not there, in one line
        word = section.vouched_by
        vouched = None if word is None else Vouched.read(word.who, word.proof, folder, key=f"{key}.vouched_by")
        found = cls(name, source, source.digest(), tuple((view, view.digest()) for view in views), vouched)
        found.make()
        return found

    @property
    def rule(self) -> str:
        """Where it comes from and on whose word it rests, for people."""
        word = self.vouched
        return self.source.origin + (f"; {word.who} vouches, {word.proof}" if word else "; nobody vouches")

    def identity(self) -> dict[str, Any]:
        """Return all that its rows depend on besides cell and budget; no path."""
        return {
            "import": self.source.origin,
            "parameters": dict(self.source.parameters),
            "digest": self.digest,
            "views": [[view.origin, digest] for view, digest in self.views],
            "vouched_by": None if self.vouched is None else self.vouched.row(names=True),
        }

    def make(self) -> Any:
        """Return a new mechanism, as its author made it; the module is executed once a process.

        Raises ``UserError`` if the file is not the one that was read, or makes no mechanism.
        """
        key = f"imported.{self.name}"
        factory = _function(self.source.origin, self.source.folder, self.digest, f"{key}.import")
        try:
            made = factory(**self.source.parameters)
        except Exception as stop:
            words = " ".join(f"{type(stop).__name__}: {stop}".split())
            raise UserError(f"{key}.parameters must fit {self.source.origin}, got {words}") from stop
        if not callable(getattr(made, "draw", None)):
            raise UserError(f"{key}.import must make an object with a method draw, got {type(made).__name__}")
        return made

    def looks(self) -> tuple[Callable[[Any], Any], ...]:
        """Return its views."""
        return tuple(ViewOf(view, digest, f"imported.{self.name}.views") for view, digest in self.views)


@dataclass(frozen=True, eq=False)
class ViewOf:
    """A function of one output; picklable, loaded where it is called."""

    source: MechanismSource
    digest: str
    key: str = field(default="views")

    def __call__(self, output: Any) -> Any:
        """Return what the function makes of an output."""
        return _function(self.source.origin, self.source.folder, self.digest, self.key)(output)


@lru_cache(maxsize=64)
def _function(origin: str, folder: str, digest: str, key: str) -> Callable[..., Any]:
    """Return what an origin names, from a file with this digest."""
    source = MechanismSource(origin, folder)
    found: Callable[..., Any] = source.attribute(key)
    if not callable(found):
        raise UserError(f"{key} must name a function of its module, got {key}={origin}")
    if source.digest() != digest:
        raise UserError(f"{key} must name the file that was read at the start, got {key}={origin} (it has changed)")
    return found


def read_imported(
    tables: Mapping[str, Any], taken: tuple[str, ...], folder: Path, tell: Callable[[str], None] = lambda _: None
) -> dict[str, ImportedMechanism]:
    """Return the imported mechanisms of a grid file by name; raises as ``ImportedMechanism.read``.

    ``tell`` is called with a line that names the files before any of them is executed.
    """
    for name in tables:
        if not NAME.fullmatch(name):
            raise UserError(f"imported must have names of letters, digits, - and _, got imported.{name}")
        if name in taken:
            raise UserError(f"imported must have names of their own, got imported.{name} (a mechanism of ours)")
    read = [table for table in tables.values() if isinstance(table, dict)]
    origins = [each for table in read for each in (table.get("import"), *_listed(table.get("views")))]
    line = runs_code([each for each in origins if isinstance(each, str)])
    if line:
        tell(line)
    return {name: ImportedMechanism.read(name, table, folder) for name, table in tables.items()}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _under(key: str, line: str) -> str:
    """Return a line about a table with the table's place in the file before every key."""
    line = line.replace("mechanism.vouched_by", f"{key}.vouched_by")
    if line.startswith(key):
        return line
    name = line.partition(" ")[0]
    return line.replace(f"{name} must", f"{key}.{name} must", 1).replace(f"got {name}", f"got {key}.{name}", 1)
