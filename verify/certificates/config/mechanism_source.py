"""The mechanism that a configuration names: one of ours, or the user's own, loaded by path or asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms import Dataset, Mechanism, NeighbouringPair, PrivacyProfile, WhiteBox
from mechanisms.data.dataset import FloatArray
from mechanisms.filters.privacy_filters import Filter

from ...messages.errors import UserError
from .config import Configuration, Loaded
from .config_doors import CommandSection, DoorSection, UrlSection, printable
from .config_mechanisms import ImportSection
from .config_section import OwnSection
from .door_source import DoorSource
from .own_code import OwnCode

if TYPE_CHECKING:
    from audits.doors.wire import AnswerCache

#: What a filter must have.
FILTER_METHODS = ("start", "spend", "admits")


class MechanismSource(OwnCode):
    """Where an imported mechanism comes from."""

    def load(self) -> Imported:
        """Return the mechanism that the factory makes; refuses what is no mechanism."""
        factory, name = self.attribute(), self.origin.partition(":")[2]
        try:
            made = factory(**self.parameters)
        except Exception as stop:
            raise UserError(f"mechanism.parameters must fit {name}, got {type(stop).__name__}: {stop}") from stop
        if not callable(getattr(made, "draw", None)) and not isinstance(made, Filter):
            _refuse_what_is_neither(made)
        return Imported(made)


@dataclass(frozen=True, eq=False)
class Imported:
    """A user's mechanism with what the auditors need; its claims about itself stay the user's.

    ``draw`` may return one output at a time (an adapter of a ``fit``-style estimator): those are stacked. ``label`` is
    what a mechanism behind a command or a url is called.
    """

    inner: Any
    label: str = ""

    @property
    def name(self) -> str:
        """Short name for reports."""
        return self.label or str(getattr(self.inner, "name", type(self.inner).__name__))

    @property
    def filter(self) -> Filter | None:
        """Its filter: the object itself, or what its attribute ``filter`` holds; None where there is none."""
        own = self.inner if isinstance(self.inner, Filter) else getattr(self.inner, "filter", None)
        return own if isinstance(own, Filter) else None

    @property
    def white_box(self) -> bool:
        """Whether it knows its own density or loss."""
        return any(callable(getattr(self.inner, name, None)) for name in ("log_density", "privacy_loss"))

    @property
    def has_profile(self) -> bool:
        """Whether it knows the law of its loss."""
        return callable(getattr(self.inner, "profile", None))

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, k)``; refuses other ones than numbers without quoting any."""
        try:
            outputs = np.asarray(self.inner.draw(dataset, n_draws, rng=rng), dtype=np.float64)
        except Exception as stop:  # whatever a user's mechanism raises
            raise UserError(f"draw must return numbers, got {type(stop).__name__}") from None
        if outputs.ndim == 1 and n_draws != 1 and outputs.shape[0] == n_draws:
            outputs = outputs[:, None]
        elif outputs.ndim == 1 and n_draws == 1:
            outputs = outputs[None]
        if outputs.ndim != 2 or outputs.shape[0] != n_draws:
            raise UserError(f"draw must return shape ({n_draws}, k), got shape {outputs.shape}")
        return outputs

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the user's log density of each output."""
        return np.asarray(self.inner.log_density(outputs, dataset), dtype=np.float64)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the user's loss of each output, from the densities where no loss is given."""
        if callable(getattr(self.inner, "privacy_loss", None)):
            return np.asarray(self.inner.privacy_loss(outputs, pair), dtype=np.float64)
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)

    def profile(self, pair: NeighbouringPair) -> Any:
        """Return the user's profile of a pair."""
        return self.inner.profile(pair)


def runs_code(origins: Sequence[str], *, command: str = "", url: str = "") -> str:
    """Return the line that warns of somebody else's code before it is loaded; empty where nothing is loaded.

    ``command`` and ``url`` are what it is called that runs beside, and who gets the records.
    """
    places = dict.fromkeys(printable(origin.partition(":")[0]) for origin in origins)
    named = ", ".join([*([command] if command else []), *places])
    does = [*([f"runs code ({named})"] if named else []), *([f"sends records to {url}"] if url else [])]
    return f"note: this file {' and '.join(does)}; never run a stranger's" if does else ""


def code_of(loaded: Loaded, *, views: bool) -> str:
    """Return that line for a configuration; ``views``: whether its views may be named too."""
    section = loaded.config.mechanism
    if not isinstance(section, OwnSection):
        return ""
    looks = section.views if views else []
    if isinstance(section, CommandSection):
        return runs_code(looks, command=section.label)
    if isinstance(section, UrlSection):
        return runs_code(looks, url=section.label)
    return runs_code([section.origin, *looks])


def source_of(loaded: Loaded) -> MechanismSource | DoorSource | None:
    """Return where the mechanism of a configuration comes from; None for a reference mechanism."""
    section = loaded.config.mechanism
    if isinstance(section, DoorSection):
        return DoorSource(section, str(loaded.folder))
    if isinstance(section, ImportSection):
        return MechanismSource(section.origin, str(loaded.folder), section.parameters)
    return None


def build_mechanism(
    loaded: Loaded, dim: int, answers: AnswerCache | None = None
) -> tuple[Mechanism, MechanismSource | DoorSource | None]:
    """Return the configured mechanism, and its source when it is the user's own.

    ``answers`` are those that a mechanism behind a command or a url gave before.
    """
    section, source = loaded.config.mechanism, source_of(loaded)
    if isinstance(source, DoorSource):
        return Imported(source.make(answers), source.origin), source
    if isinstance(source, MechanismSource):
        made = source.load()
        if made.filter is not None and not callable(getattr(made.inner, "draw", None)):
            _only_filters(loaded.config)
        return made, source
    assert not isinstance(section, OwnSection)
    try:
        return section.build(dim), None
    except ValueError as stop:
        raise UserError(f"mechanism.{stop}") from stop


def _refuse_what_is_neither(made: object) -> None:
    """Refuse what cannot be drawn from and is no filter: what is missing is named."""
    has = [method for method in FILTER_METHODS if callable(getattr(made, method, None))]
    missing = [method for method in FILTER_METHODS if method not in has]
    if has and missing:
        raise UserError(
            f"mechanism.import must make a filter with methods start, spend and admits, got none named {missing[0]}"
        )
    raise UserError(f"mechanism.import must make an object with a method draw, got {type(made).__name__}")


def _only_filters(config: Configuration) -> None:
    """Refuse what a filter without a method ``draw`` cannot be asked."""
    other = next((claim.type for claim in config.claims if claim.type != "filter"), None)
    if other is not None:
        raise UserError(f"claims.type must be filter for a filter that draws nothing, got claims.type={other}")
    if config.release is not None:
        raise UserError("release must be absent for a filter that draws nothing, got release given")


def law_of(mechanism: object) -> Callable[[NeighbouringPair], PrivacyProfile] | None:
    """Return the exact law of the loss as a function of the pair, for a mechanism that has one."""
    if isinstance(mechanism, Imported):
        return mechanism.profile if mechanism.has_profile else None
    law = getattr(mechanism, "profile", None)
    return law if callable(law) else None


def white_box_of(mechanism: object) -> WhiteBox | None:
    """Return the mechanism if it knows its density."""
    if isinstance(mechanism, Imported) and not mechanism.white_box:
        return None
    return mechanism if isinstance(mechanism, WhiteBox) else None
