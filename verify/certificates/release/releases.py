"""Private releases: drawn once with noise from the operating system, counted before they are drawn, reused afterwards.

They are kept beside the configuration in ``<name>.releases/``: ``output.json``, ``report.json`` and ``spent.json``, a
list with one entry for every draw that was ever made (``release_state``).
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from audits.harness.calls import Handed
from audits.harness.guarded_subject import call_plan
from mechanisms import Dataset, Mechanism, PrivacyReport, make_report
from mechanisms.capabilities import Reportable
from mechanisms.data.dataset import FloatArray
from mechanisms.reference import is_reference
from mechanisms.releases import ReportScales
from mechanisms.releases.report_terms import ReportRequirement

from ...kernel.rows import encode, number
from ...messages.errors import UserError
from ..config.config import Configuration, Loaded
from ..config.mechanism_source import Imported
from .release_state import SPENT, Entry, ReleaseState, What, digest_of, looked_at, opened

FORMAT = "pdp-verify release"


def _system_rng() -> np.random.Generator:
    """Return a generator seeded by the operating system."""
    return np.random.default_rng()


@dataclass(frozen=True, eq=False)
class Released:
    """What has been released, and how often it was drawn.

    Attributes
    ----------
    mu_reports : tuple of float
        Gaussian privacy parameter over the public domain of every data-dependent report drawn.
    digest : str
        SHA-256 of the file that keeps the output, as it was read; empty without one.
    chain : tuple of dict
        Every draw that was counted when this was read, oldest first.
    made : tuple of str
        What this run drew, or has to draw where it is ``pending``: then nothing is drawn yet, and the numbers above
        count it already.
    """

    output: FloatArray | None
    dependent: PrivacyReport | None
    n_outputs: int
    mu_reports: tuple[float, ...]
    digest: str = ""
    chain: tuple[Entry, ...] = ()
    made: tuple[What, ...] = ()
    pending: bool = False

    @property
    def mu_report(self) -> float:
        """Gaussian privacy parameter of all reports together."""
        return math.hypot(*self.mu_reports) if self.mu_reports else 0.0


def folder_of(loaded: Loaded) -> Path:
    """Return the folder in which this configuration's releases are kept: of every link to it the same."""
    real = loaded.path.resolve()
    return real.parent / f"{real.stem}.releases"


def chain(loaded: Loaded) -> list[Entry]:
    """Return every draw of a configuration's releases, oldest first, each with the digest of what it gave.

    Raises UserError if the list is not as it was written.
    """
    return looked_at(folder_of(loaded)).entries


class OvertakenError(Exception):
    """Another run drew since it was foreseen what a draw would count."""


@dataclass(frozen=True, eq=False)
class _Draws:
    """How something is drawn: by what, from what, and whether once more; and what was."""

    mechanism: Mechanism
    dataset: Dataset
    block: int
    again: bool
    rng_source: Callable[[], np.random.Generator]
    made: list[What] = field(default_factory=list)


def prepare(
    loaded: Loaded,
    mechanism: Mechanism,
    dataset: Dataset,
    *,
    draw_again: bool = False,
    dry: bool = False,
    foreseen: Released | None = None,
    rng_source: Callable[[], np.random.Generator] = _system_rng,
) -> Released:
    """Return the releases of a deployment: read where they exist, drawn and written where they do not.

    Nobody else draws meanwhile: the folder is held until what was drawn is counted, written and sealed. ``draw_again``
    draws once more; what was drawn before still counts. ``dry`` draws nothing and writes nothing: it foresees what a
    draw would count. Raises UserError if a release does not fit its configuration, or its folder is damaged or in use;
    OvertakenError, and draws nothing, if the folder is not as it was ``foreseen``.
    """
    config = loaded.config
    scales = _scales(config, mechanism)
    mu = None if scales is None else _mu(scales, mechanism, dataset)
    _require_one_folder(loaded)
    if config.release is None:
        return Released(None, None, 1, () if mu is None else (mu,))
    draws = _Draws(
        mechanism, dataset, audited_block(config) if isinstance(mechanism, Imported) else 1, draw_again, rng_source
    )
    given = given_output(loaded)
    if given is not None:
        _require_length(given[0], mechanism, dataset, f"release.file={config.release.file}")
    dependent = None
    with _state(folder_of(loaded), reads=dry or (given is not None and scales is None)) as state:
        seen = tuple(state.entries)
        if foreseen is not None and seen != foreseen.chain:
            raise OvertakenError
        output, digest = _output(state, draws) if given is None else given
        if scales is not None and mu is not None:
            dependent = _report(state, draws, output, scales, mu)
        n_outputs = len(state.of("output")) + (given is not None and not _was_drawn(state, *given))
        mus = tuple(number(entry["mu"]) for entry in state.of("report"))
        made, pending = tuple(draws.made), dry and bool(draws.made)
    return Released(output, dependent, n_outputs, mus, digest, seen if dry else tuple(state.entries), made, pending)


def given_output(loaded: Loaded) -> tuple[FloatArray, str] | None:
    """Return the output of the user's own file and its digest, or None where we draw."""
    file = loaded.config.release.file if loaded.config.release is not None else None
    if file is None:
        return None
    path, shown = loaded.folder / file, f"release.file={file}"
    data = _bytes_of(path, shown)
    return _output_of(data, path.suffix, shown), digest_of(data)


def _was_drawn(state: ReleaseState, output: FloatArray, digest: str) -> bool:
    """Whether the user's own file holds an output that was drawn here: then it is counted already."""
    if any(entry.get("sha256") == digest for entry in state.of("output")):
        return True
    data = state.kept("output", again=True)
    return data is not None and np.array_equal(_kept_output(state, data)["output"], output)


def _require_one_folder(loaded: Loaded) -> None:
    """Refuse the folder that a link to the configuration had of its own before: its draws must not be forgotten."""
    of_link, kept = loaded.folder / f"{loaded.path.stem}.releases", folder_of(loaded)
    if of_link != kept and (of_link / SPENT).exists():
        raise UserError(
            f"{kept.name} must be the one folder of draws of {kept.stem}.toml, got {of_link.name} of a link to it as "
            "well; make the link a configuration of its own, or take that folder away"
        )


def _require_length(output: FloatArray, mechanism: Mechanism, dataset: Dataset, shown: str) -> None:
    if isinstance(mechanism, Reportable) and is_reference(mechanism) and output.size != dataset.dim:
        raise UserError(
            f"the output must hold {dataset.dim} numbers, one for each column, got {shown} with {output.size}"
        )


@contextmanager
def _state(folder: Path, *, reads: bool) -> Iterator[ReleaseState]:
    if reads:
        yield looked_at(folder)
    else:
        with opened(folder) as state:
            yield state


def audited_block(config: Configuration) -> int:
    """Return how many draws the examination of an imported mechanism asks for in its largest calls."""
    pairs, draws = config.budget.examined
    if config.budget.max_draws is not None:
        draws = max(1, min(draws, config.budget.max_draws // (2 * pairs)))
    return max(call.n_draws for call in call_plan(draws))


def draw_as_audited(
    mechanism: Mechanism, dataset: Dataset, block: int, rng_source: Callable[[], np.random.Generator] = _system_rng
) -> FloatArray:
    """Return one output, as the examination drew it: a row, chosen uniformly, of a call for ``block`` draws.

    A reference mechanism's rows are independent and have one law whatever is asked for: there one draw is the same.
    A mechanism that answers otherwise when a single draw is asked for, or in the first row, is so not released in a way
    that nobody examined. What it raises on the user's data stops the command; the message is not shown, for it may
    quote a record.

    Raises UserError if it raises, or its output is not a vector of finite numbers.
    """
    if not isinstance(mechanism, Imported):
        return np.asarray(mechanism.draw(dataset, block, rng=rng_source())[0], dtype=np.float64)
    try:
        rows = mechanism.draw(Handed(dataset).give(), block, rng=rng_source())
    except Exception as stop:  # whatever a user's mechanism raises
        raise UserError(
            "release.draw must be false for a mechanism that gives no vectors of numbers on the data, "
            f"got {type(stop).__name__}"
        ) from None
    row = rows[int(rng_source().integers(block))]
    if not np.isfinite(row).all():
        raise UserError(
            "release.draw must be false for a mechanism that gives no finite numbers on the data, got others"
        )
    return np.asarray(row, dtype=np.float64)


def _scales(config: Configuration, mechanism: Mechanism) -> ReportScales | None:
    section = config.report
    if section is None or section.sigma2 is None:
        return None
    if not (isinstance(mechanism, Reportable) and is_reference(mechanism)):
        return None
    return mechanism.report_scales(section.rho, section.sigma2, section.sigma3)


def _mu(scales: ReportScales | None, mechanism: Mechanism, dataset: Dataset) -> float:
    assert scales is not None
    assert scales.sigma2 is not None
    assert scales.sigma3 is not None
    try:
        scales.require(dataset.dim)
    except ReportRequirement as stop:
        raise UserError(f"report: {stop}") from None
    loss, bound = scales.loss, dataset.x_bound
    mu3 = loss.beta * bound**2 / (math.sqrt(2.0) * scales.sigma3)
    return math.hypot(loss.xi(dataset.y_bound, bound) / scales.sigma2, mu3)


def _output(state: ReleaseState, draws: _Draws) -> tuple[FloatArray | None, str]:
    name = draws.mechanism.name
    data = state.kept("output", again=draws.again)
    if data is not None:
        raw = _kept_output(state, data)
        state.adopt("output", data, {"mechanism": raw["mechanism"]})
        if not draws.again:
            if raw["mechanism"] != name:
                raise UserError(
                    f"mechanism must be the one that the kept output was drawn with, got {name} for an output of "
                    f"{raw['mechanism']}; --draw-again draws a second output and counts both"
                )
            output = _vector(raw["output"], state.name("output"), "others")
            _require_length(output, draws.mechanism, draws.dataset, state.name("output"))
            return output, digest_of(data)
    draws.made.append("output")
    state.count("output", {"mechanism": name})
    if not state.writes:
        return None, ""
    with _counted(state):
        output = draw_as_audited(draws.mechanism, draws.dataset, draws.block, draws.rng_source)
    data = output_bytes(name, output.tolist(), len(state.of("output")))
    state.keep("output", data)
    return output, digest_of(data)


def output_bytes(mechanism: str, numbers: Sequence[float], draw: int) -> bytes:
    """Return what the file of the ``draw``-th output holds; 0 gives what it held before draws were numbered."""
    kept: dict[str, Any] = {"format": FORMAT, "schema_version": 1} | ({"draw": draw} if draw else {})
    return json.dumps(kept | {"mechanism": mechanism, "output": list(numbers)}).encode()


def _kept_output(state: ReleaseState, data: bytes) -> dict[str, Any]:
    """Return what a kept file says, once it is known to be one that was written here."""
    name = state.name("output")
    raw = _json(data, name, "something else")
    if not isinstance(raw, dict) or raw.get("format") != FORMAT or not isinstance(raw.get("mechanism"), str):
        raise UserError(f"{name} must be a release of format {FORMAT!r}, got something else")
    _vector(raw.get("output"), name, "something else")
    draw = raw.get("draw", 0)  # files of before had none
    if not isinstance(draw, int) or draw > len(state.of("output")):
        raise UserError(
            f"{state.folder.name}/{SPENT} must list every draw, got fewer than the output in {name} was drawn after"
        )
    return raw


def _report(
    state: ReleaseState, draws: _Draws, output: FloatArray | None, scales: ReportScales, mu: float
) -> PrivacyReport | None:
    data = state.kept("report", again=draws.again)
    if data is not None:
        try:
            kept = PrivacyReport.from_json(data.decode())
        except (ValueError, LookupError, TypeError, RecursionError):
            raise UserError(f"{state.name('report')} must be a privacy report, got something else") from None
        state.adopt("report", data, {"mu": encode(mu)})
        if output is not None and not draws.again and not _is_older(state, data):
            if kept.scales != scales or kept.theta != tuple(output.tolist()):
                raise UserError(
                    "report must have the parameters and the output that the kept report was drawn with, got others; "
                    "--draw-again draws a second report and adds its cost"
                )
            return kept
    draws.made.append("report")
    state.count("report", {"mu": encode(mu)})
    if output is None or not state.writes:
        return None
    with _counted(state):
        report = make_report(output, draws.dataset, scales, rng=draws.rng_source())
    state.keep("report", (report.to_json() + "\n").encode())
    return report


def _is_older(state: ReleaseState, report: bytes) -> bool:
    """Whether the output was drawn again after the kept report: a run that was stopped in between goes on."""
    place = state.place("report", report)
    outputs = [k for k, entry in enumerate(state.entries) if entry["what"] == "output" and "sha256" in entry]
    return place is not None and bool(outputs) and place < outputs[-1]


@contextmanager
def _counted(state: ReleaseState) -> Iterator[None]:
    """Say of a draw that was refused that it counts: that it was refused may have been seen."""
    try:
        yield
    except UserError as stop:
        raise UserError(f"{stop}; the attempt is counted in {state.folder.name}/{SPENT}") from None


def _bytes_of(path: Path, shown: str) -> bytes:
    if not path.is_file():
        raise UserError(f"release.file must be a readable file, got {shown}")
    try:
        return path.read_bytes()
    except OSError as stop:
        raise UserError(f"release.file must be a readable file, got {shown} ({stop.strerror})") from None


def _output_of(data: bytes, suffix: str, shown: str) -> FloatArray:
    if suffix == ".npy":
        try:
            raw = np.load(io.BytesIO(data), allow_pickle=False).ravel().tolist()
        except (ValueError, EOFError, OSError, AttributeError, MemoryError, BadZipFile):
            raise UserError(f"release.file must be a NumPy array of numbers, got {shown}") from None
    else:
        raw = _json(data, "release.file", shown)
        raw = raw.get("output") if isinstance(raw, dict) else raw
    return _vector(raw, "release.file", shown)


def _json(data: bytes, name: str, shown: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise UserError(f"{name} must be JSON, got {shown}") from None


def _vector(values: Any, name: str, shown: str) -> FloatArray:
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        vector = np.empty((0, 0))
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise UserError(f"{name} must be a list of finite numbers, got {shown}")
    return vector
