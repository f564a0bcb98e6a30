"""Private releases: drawn once with noise from the operating system, written before they are used, reused afterwards.

They are kept beside the configuration in ``<name>.releases/``: ``output.json``, ``report.json`` and ``spent.json``, a
list with one entry for every draw that was ever made. A second draw is written into that list before it is made.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audits.calls import Handed
from audits.subject import call_plan
from mechanisms import Dataset, Mechanism, ObjectivePerturbation, PrivacyReport, ReportScales, make_report
from mechanisms.data import FloatArray
from mechanisms.report_terms import ReportRequirement
from reports.files import write_atomic

from ..errors import UserError
from .config import Configuration, Loaded
from .mechanism_source import Imported

FORMAT = "pdp-verify release"
#: Only the owner may read what has not been published yet.
PRIVATE_MODE = 0o600


def system_rng() -> np.random.Generator:
    """Return a generator seeded by the operating system."""
    return np.random.default_rng()


@dataclass(frozen=True, eq=False)
class Released:
    """What has been released, and how often it was drawn.

    Attributes
    ----------
    output : array or None
    dependent : PrivacyReport or None
    n_outputs : int
        At least 1.
    mu_reports : tuple of float
        Gaussian privacy parameter over the public domain of every data-dependent report drawn.
    """

    output: FloatArray | None
    dependent: PrivacyReport | None
    n_outputs: int
    mu_reports: tuple[float, ...]

    @property
    def mu_report(self) -> float:
        """Gaussian privacy parameter of all reports together."""
        return math.hypot(*self.mu_reports) if self.mu_reports else 0.0


def folder_of(loaded: Loaded) -> Path:
    """Return the folder in which this configuration's releases are kept."""
    return loaded.folder / f"{loaded.path.stem}.releases"


def prepare(
    loaded: Loaded,
    mechanism: Mechanism,
    dataset: Dataset,
    *,
    draw_again: bool = False,
    rng_source: Callable[[], np.random.Generator] = system_rng,
) -> Released:
    """Return the releases of a deployment: read where they exist, drawn and written where they do not.

    Parameters
    ----------
    draw_again : bool
        Draw once more; what was drawn before still counts.
    rng_source : callable
        Gives the generator of a real release; replaced in tests alone.

    Raises
    ------
    UserError
        If a release does not fit its configuration.
    """
    config = loaded.config
    if config.release is None:
        planned = () if _scales(config, mechanism) is None else (_mu(_scales(config, mechanism), mechanism, dataset),)
        return Released(None, None, 1, planned)
    folder = folder_of(loaded)
    spent = _read_spent(folder)
    if config.release.file is not None:
        output = read_output(loaded.folder / config.release.file, f"release.file={config.release.file}")
        drawn = 0
    else:
        block = audited_block(config) if isinstance(mechanism, Imported) else 1
        output, spent = _output(folder, spent, mechanism, dataset, draw_again, rng_source, block)
        drawn = sum(entry["what"] == "output" for entry in spent)
    scales = _scales(config, mechanism)
    dependent = None
    if scales is not None:
        dependent, spent = _report(folder, spent, mechanism, dataset, output, scales, draw_again, rng_source)
    mus = tuple(float(entry["mu"]) for entry in spent if entry["what"] == "report")
    return Released(output, dependent, max(1, drawn), mus)


def audited_block(config: Configuration) -> int:
    """Return how many draws the examination of an imported mechanism asks for in its largest calls."""
    pairs, draws = config.budget.examined
    if config.budget.max_draws is not None:
        draws = max(1, min(draws, config.budget.max_draws // (2 * pairs)))
    return max(call.n_draws for call in call_plan(draws))


def draw_as_audited(
    mechanism: Mechanism, dataset: Dataset, block: int, rng_source: Callable[[], np.random.Generator] = system_rng
) -> FloatArray:
    """Return one output, as the examination drew it: a row, chosen uniformly, of a call for ``block`` draws.

    A reference mechanism's rows are independent and have one law whatever is asked for: there one draw is the same.
    A mechanism that answers otherwise when a single draw is asked for, or in the first row, is so not released in a way
    that nobody examined. What it raises on the user's data stops the command; the message is not shown, for it may quote
    a record.

    Raises
    ------
    UserError
        If it raises, or its output is not a vector of finite numbers.
    """
    if not isinstance(mechanism, Imported):
        return np.asarray(mechanism.draw(dataset, block, rng=rng_source())[0], dtype=np.float64)
    try:
        rows = mechanism.draw(Handed(dataset).give(), block, rng=rng_source())
    except Exception as stop:  # whatever a user's mechanism raises
        raise UserError(
            f"release.draw must be false for a mechanism that gives no vectors of numbers on the data, got {type(stop).__name__}"
        ) from None
    row = rows[int(rng_source().integers(block))]
    if not np.isfinite(row).all():
        raise UserError(
            "release.draw must be false for a mechanism that gives no finite numbers on the data, got others"
        )
    return np.asarray(row, dtype=np.float64)


def _scales(config: Configuration, mechanism: Mechanism) -> ReportScales | None:
    """Return the scales of the data-dependent report, or None when there is none."""
    section = config.report
    if section is None or section.sigma2 is None or not isinstance(mechanism, ObjectivePerturbation):
        return None
    return ReportScales(mechanism.loss, mechanism.sigma, mechanism.lam, section.rho, section.sigma2, section.sigma3)


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


def _output(
    folder: Path,
    spent: list[dict[str, Any]],
    mechanism: Mechanism,
    dataset: Dataset,
    draw_again: bool,
    rng_source: Callable[[], np.random.Generator],
    block: int,
) -> tuple[FloatArray, list[dict[str, Any]]]:
    path = folder / "output.json"
    entry = {"what": "output", "mechanism": mechanism.name}
    if path.is_file() and not draw_again:
        raw = _json(path)
        if not isinstance(raw, dict) or raw.get("format") != FORMAT:
            raise UserError(f"the kept release must be of format {FORMAT!r}, got {path.name}")
        if raw.get("mechanism") != mechanism.name:
            raise UserError(
                f"mechanism must be the one that the kept output was drawn with, got {mechanism.name} for an output of "
                f"{raw.get('mechanism')}; --draw-again draws a second output and counts both"
            )
        if not any(each["what"] == "output" for each in spent):  # stopped between the two writes
            spent = _spend(folder, spent, entry)
        return _vector(raw.get("output"), path.name), spent
    if draw_again or any(each["what"] == "output" for each in spent):
        spent = _spend(folder, spent, entry)
    output = draw_as_audited(mechanism, dataset, block, rng_source)
    text = json.dumps({"format": FORMAT, "schema_version": 1, "mechanism": mechanism.name, "output": output.tolist()})
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text.encode(), mode=PRIVATE_MODE)
    if not any(each["what"] == "output" for each in spent):
        spent = _spend(folder, spent, entry)
    return output, spent


def _report(
    folder: Path,
    spent: list[dict[str, Any]],
    mechanism: Mechanism,
    dataset: Dataset,
    output: FloatArray,
    scales: ReportScales,
    draw_again: bool,
    rng_source: Callable[[], np.random.Generator],
) -> tuple[PrivacyReport, list[dict[str, Any]]]:
    path = folder / "report.json"
    entry = {"what": "report", "mu": _mu(scales, mechanism, dataset)}
    if path.is_file() and not draw_again:
        try:
            kept = PrivacyReport.from_json(path.read_text(encoding="utf-8"))
        except ValueError as stop:
            raise UserError(f"the kept report must be readable, got {path.name}: {stop}") from None
        if kept.scales != scales or kept.theta != tuple(output.tolist()):
            raise UserError(
                "report must have the parameters and the output that the kept report was drawn with, got others; "
                "--draw-again draws a second report and adds its cost"
            )
        if not any(each["what"] == "report" for each in spent):
            spent = _spend(folder, spent, entry)
        return kept, spent
    if draw_again or any(each["what"] == "report" for each in spent):
        spent = _spend(folder, spent, entry)
    report = make_report(output, dataset, scales, rng=rng_source())
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(path, (report.to_json() + "\n").encode(), mode=PRIVATE_MODE)
    if not any(each["what"] == "report" for each in spent):
        spent = _spend(folder, spent, entry)
    return report, spent


def _spend(folder: Path, spent: list[dict[str, Any]], entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Write one more draw into the list, before anything else happens."""
    longer = [*spent, entry]
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / "spent.json", (json.dumps(longer, indent=1) + "\n").encode(), mode=PRIVATE_MODE)
    return longer


def _read_spent(folder: Path) -> list[dict[str, Any]]:
    path = folder / "spent.json"
    if not path.is_file():
        return []
    entries = _json(path)
    if not isinstance(entries, list) or not all(
        isinstance(e, dict) and e.get("what") in ("output", "report") for e in entries
    ):
        raise UserError(f"the list of draws must be as it was written, got {path}")
    return entries


def read_output(path: Path, shown: str) -> FloatArray:
    """Return a released vector from JSON (a list, or an object with ``output``) or ``.npy``."""
    if not path.is_file():
        raise UserError(f"release.file must be a readable file, got {shown}")
    if path.suffix == ".npy":
        try:
            return _vector(np.load(path, allow_pickle=False).ravel().tolist(), shown)
        except ValueError:
            raise UserError(f"release.file must be a NumPy array of numbers, got {shown}") from None
    raw = _json(path)
    return _vector(raw.get("output") if isinstance(raw, dict) else raw, shown)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UserError(f"{path.name} must be JSON, got something else") from None


def _vector(values: Any, shown: str) -> FloatArray:
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty((0, 0))
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise UserError(f"release.file must be a list of finite numbers, got {shown}")
    return vector
