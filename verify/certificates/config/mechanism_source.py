"""The mechanism that a configuration names: one of ours, or the user's own, loaded by path or asked; and its fit."""

from __future__ import annotations

import hashlib
import inspect
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.adapters.releases import made_of
from audits.external.wire import command_digest, file_digests, service_identity
from mechanisms import DataError, Dataset, Mechanism, NeighbouringPair, PrivacyProfile, WhiteBox
from mechanisms.data.dataset import FloatArray
from mechanisms.filters.privacy_filters import Filter
from mechanisms.reference import is_reference

from ...messages.errors import UserError
from .config import Configuration, Loaded
from .config_mechanisms import CommandSection, DoorSection, ImportSection, OwnSection, UrlSection, printable
from .own_code import OwnCode, View, Vouched

if TYPE_CHECKING:
    from audits.external.wire import AnswerCache


#: What a section passes to its door by the same name.
PASSED = ("concurrency", "timeout", "timeouts", "batch", "data", "reproducible", "version")


@dataclass(frozen=True)
class DoorSource:
    """Where the answers of a mechanism come from; picklable. A command runs in ``folder``, as its files are looked for.

    Its examinations run in one process, whatever ``jobs`` is: ``concurrency`` says how many requests are open at once.
    """

    section: CommandSection | UrlSection
    folder: str

    @property
    def origin(self) -> str:
        """What it is called: the words of the command, or the url without what may be a token."""
        return self.section.label

    def files(self) -> dict[str, str]:
        """Return the SHA-256 of every word of the command that is a file, by the word; none of a url."""
        return file_digests(self.section.command, self.folder) if isinstance(self.section, CommandSection) else {}

    def digest(self) -> str:
        """Return the SHA-256 of what is asked: a command with the files among its words, or a url; with its version."""
        return door_digest(self.section, self.files())

    def digests(self) -> dict[str, str]:
        """Return by name what is attested: the files among the words of a command, and the door itself."""
        files = self.files()
        return {**files, self.origin: door_digest(self.section, files)}

    def make(self, answers: AnswerCache | None = None) -> Any:
        """Return the door, which has not been opened yet; ``answers`` are those that were given before.

        Raises UserError if there is no such program, as the operating system would look for it from that folder.
        """
        from audits.external.open_door import CommandMechanism, ServiceMechanism

        section = self.section
        passed = {name: getattr(section, name) for name in PASSED} | {"answers": answers}
        if isinstance(section, UrlSection):
            return ServiceMechanism(url=section.url, **passed)
        program = section.command[0]
        there = Path(self.folder) / program if os.sep in program else shutil.which(program)
        if there is None or not (Path(there).is_file() and os.access(there, os.X_OK)):
            rule = "begin with a program that can be run"
            raise UserError(f"mechanism.command must {rule}, got mechanism.command={program}")
        return CommandMechanism(command=tuple(section.command), folder=self.folder, **passed)


def door_digest(section: CommandSection | UrlSection, files: Mapping[str, str]) -> str:
    """Return the SHA-256 that stands for a door; ``files`` has the digest of each word of a command that is a file."""
    if isinstance(section, CommandSection):
        return command_digest(section.command, files, section.version)
    return service_identity(section.url, section.version)


#: What a filter must have.
FILTER_METHODS = ("start", "spend", "admits")


class MechanismSource(OwnCode):
    """Where an imported mechanism comes from."""

    def load(self) -> Imported:
        """Return the mechanism that the factory makes; refuses what is no mechanism."""
        factory, name = self.attribute(), self.origin.partition(":")[2]
        try:
            made = made_of(factory, self.parameters, self.records)
        except Exception as stop:
            rule = f"fit {name}, a class or a function that returns an object with draw(dataset, n_draws, *, rng)"
            raise UserError(f"mechanism.parameters must {rule}, got {type(stop).__name__}: {stop}") from stop
        if callable(getattr(made, "draw", None)) or isinstance(made, Filter):
            return Imported(made)
        missing = [method for method in FILTER_METHODS if not callable(getattr(made, method, None))]
        if len(missing) < len(FILTER_METHODS):
            rule = "make a filter with methods start, spend and admits"
            raise UserError(f"mechanism.import must {rule}, got none named {missing[0]}")
        rule = "make an object with a method draw(self, dataset, n_draws, *, rng)"
        raise UserError(f"mechanism.import must {rule}, got {type(made).__name__}")


#: What stands for a module where a mechanism is in memory.
IN_MEMORY = "in_memory"


@dataclass(frozen=True, eq=False)
class GivenSource:
    """A mechanism that a call brings: it is known by the source code of its function or class, if that can be read."""

    mechanism: Any

    def digest(self) -> str:
        """Return the SHA-256 of that code, or of the name where there is none."""
        of = getattr(self.mechanism, "function", type(self.mechanism))
        try:
            code = inspect.getsource(getattr(of, "func", of))
        except (TypeError, OSError):
            code = str(getattr(self.mechanism, "name", type(self.mechanism).__name__))
        return hashlib.sha256(code.encode()).hexdigest()

    def digests(self) -> dict[str, str]:
        """Return it by the name under which it is attested."""
        return {IN_MEMORY: self.digest()}


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


#: Where a mechanism that the suite does not name comes from.
Source = MechanismSource | DoorSource | GivenSource


def source_of(loaded: Loaded) -> Source | None:
    """Return where the mechanism of a configuration comes from; None for one that is named."""
    section = loaded.config.mechanism
    if loaded.mechanism is not None:
        return GivenSource(loaded.mechanism)
    if isinstance(section, DoorSection):
        return DoorSource(section, str(loaded.folder))
    if isinstance(section, ImportSection):
        records = loaded.config.data.public_records
        return MechanismSource(section.origin, str(loaded.folder), section.parameters, records)
    return None


def build_mechanism(loaded: Loaded, dim: int, answers: AnswerCache | None = None) -> tuple[Mechanism, Source | None]:
    """Return the configured mechanism, and its source when it is the user's own.

    ``answers`` are those that a mechanism behind a command or a url gave before.
    """
    section, source = loaded.config.mechanism, source_of(loaded)
    if isinstance(source, GivenSource):
        return (source.mechanism if is_reference(source.mechanism) else Imported(source.mechanism)), source
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


def _only_filters(config: Configuration) -> None:
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


def views_of(loaded: Loaded) -> tuple[View, ...]:
    """Return the views of a configuration, each loaded once to see that it is there; raises as ``View.load``."""
    section = loaded.config.mechanism
    if not isinstance(section, OwnSection):
        return ()
    made = tuple(View(OwnCode(origin, str(loaded.folder))) for origin in section.views)
    for view in made:
        view.load()
    return made


def check_fits(config: Configuration, mechanism: Mechanism, dataset: Dataset) -> None:
    """Refuse data that the mechanism does not accept, and numbers for which it is not defined, in one line.

    Raises UserError: with the key, the rule and the value.
    """
    section = config.mechanism
    if isinstance(section, OwnSection):
        return
    most = getattr(section, "n_public", None)
    if most and dataset.n_records > most:
        raise UserError(f"mechanism.n_public must be at least the number of records, got mechanism.n_public={most}")
    everywhere = not config.data.is_public or any(claim.everywhere for claim in config.claims)
    try:
        if section.check(dataset, everywhere=everywhere):
            nobody = Dataset(np.empty((0, dataset.dim)), np.empty(0), dataset.x_bound, dataset.y_bound)
            mechanism.draw(nobody, 1, rng=np.random.default_rng(0))  # all of it public
    except DataError as stop:
        raise UserError(f"data.target: {stop}") from None
    except (ValueError, ArithmeticError) as stop:
        text, key = str(stop), str(stop).partition(" ")[0]
        if key in type(section).model_fields:
            raise UserError(f"mechanism.{text.replace(f'got {key}=', f'got mechanism.{key}=')}") from None
        raise UserError(f"mechanism must be defined, got: {text}") from None


def vouched_by(loaded: Loaded) -> Vouched | None:
    """Return who vouches for a configuration's imported mechanism, or None; raises as ``Vouched.read``."""
    section = getattr(loaded.config.mechanism, "vouched_by", None)
    return None if section is None else Vouched.read(section.who, section.proof, loaded.folder)
