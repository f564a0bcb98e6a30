"""What a folder holds already: a certificate that is finished and made of the same inputs is not made again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.row import Audience

from ...engine.follow import SILENT, Phases
from ...engine.versions import library_versions, platform_tag, source_digest
from ...kernel.rows import Row
from ...messages.errors import UserError
from ..asked import Asked
from ..config.config import Loaded
from ..config.config_mechanisms import OwnSection
from ..config.mechanism_source import vouched_by
from ..config.own_code import OwnCode
from ..reading.data_files import read_dataset, size
from ..release.releases import chain, folder_of
from .attestation import artefact_of, sha256
from .certificate_files import CHAIN, LAST, RUN, foreign, kind_of, refuse_links, shown
from .check_folder import check_folder, has_output
from .output import chain_bytes, inputs


@dataclass(frozen=True)
class Request:
    """What is asked for: a configuration, for whom (in the order of the folders), and how."""

    loaded: Loaded
    wanted: tuple[Audience, ...]
    asked: Asked
    draw_again: bool
    complete: bool = False

    @property
    def inside(self) -> bool:
        """Whether who reads the answer may see what depends on the records."""
        return self.wanted[-1] is Audience.CURATOR or self.loaded.config.data.is_public

    @property
    def words(self) -> dict[str, bool]:
        """The options that bear on record and exit code, as ``run.json`` keeps them."""
        return {
            "--require": self.asked.proved,
            "--allow-undecided": self.asked.undecided,
            "--draw-again": self.draw_again,
            "--complete": self.complete,
        }


@dataclass(frozen=True)
class Before:
    """What was finished before: the folders of these audiences, whole and of the same inputs, and their records."""

    rows: Mapping[Audience, Sequence[Row]]

    def spares(self, request: Request, audience: Audience, record: bytes, kept: bytes) -> bool:
        """Return whether a finished folder stays as it is beside the one that is missing.

        It does when its record would be the same; and, for release on private data, when it was made by these versions:
        nothing that others see may say whether the records are still the same.
        """
        current = (source_digest(), library_versions(), platform_tag())
        header = self.rows[audience][0]
        same = (header["sources"], header["versions"], header["platform"]) == current
        return record == kept or (same and not request.inside)

    @property
    def drew(self) -> bool:
        """Whether it holds what was released: that is not drawn once more."""
        return any(row["kind"] == "release" for rows in self.rows.values() for row in rows)

    def holds(self, request: Request) -> bool:
        """Return whether nothing is left to do."""
        return set(request.wanted) <= set(self.rows)


def finished_before(out: Path, request: Request, progress: Phases = SILENT) -> Before:
    """Return what ``out`` holds of this very request; nothing is drawn or written.

    For release on private data the records are not looked at: what a release folder says holds whatever they are.

    Raises UserError if it holds a finished certificate that is damaged, or was made of other inputs: it names the file,
    or the input.
    """
    there = [audience for audience in Audience if kind_of(out / audience.value / LAST) != "nothing"]
    if not there:
        return Before({})
    if Audience.CURATOR not in there:
        raise _refused(out, "a finished release folder without its curator's")
    rows: dict[Audience, Sequence[Row]] = {}
    for audience in there:
        checked = check_folder(out / audience.value, render=False)
        if checked.wrong:
            raise _refused(out, f"a damaged certificate: {audience.value}: {checked.wrong[0]}")
        rows[audience] = checked.rows
    for audience in there:
        if rows[audience][0].get("previous", {}).get("record", "") != request.asked.previous.digests.get(audience, ""):
            raise _refused(out, "a finished certificate that differs in --previous")
    other = _other_input(out / Audience.CURATOR.value, rows[Audience.CURATOR], request, progress)
    if other:
        raise _refused(out, f"a finished certificate that differs in {other}")
    return Before(rows)


def finished_in(parent: Path, request: Request, progress: Phases = SILENT) -> Path | None:
    """Return the newest of the numbered folders that holds this very request, finished and whole; None if none does."""
    numbered = [path for path in parent.glob("*") if path.name.isdecimal()] if parent.is_dir() else []
    for folder in sorted(numbered, key=lambda path: int(path.name), reverse=True):
        try:
            refuse_links(folder)
            if next(foreign(folder), None) is None and finished_before(folder, request, progress).holds(request):
                return folder
        except (UserError, OSError):  # of something else, damaged, or no certificate at all
            continue
    return None


def _refused(out: Path, what: str) -> UserError:
    return UserError(
        f"out must be new, empty, or hold this very certificate, got out={shown(out)} with {what}; "
        "--overwrite replaces it, another --out keeps both"
    )


def _other_input(curator: Path, rows: Sequence[Row], request: Request, progress: Phases) -> str:
    """Return the first input that is another one than then, in words; nothing of what it says."""
    loaded, run = request.loaded, json.loads((curator / RUN).read_bytes())
    for option, given in request.words.items():
        if run.get("asked", {}).get(option) is not given:
            return f"{option}, which was {'not ' if given else ''}given"
    attested = json.loads((curator / LAST).read_bytes())["subject"]
    if attested[0]["digest"]["sha256"] != loaded.digest or attested[0]["name"] != loaded.path.name:
        return f"the configuration {shown(attested[0]['name'])}"
    try:
        now = _inputs_now(loaded, released=has_output(rows))
    except OSError as stop:
        return f"{shown(Path(str(stop.filename)).name)}, which is not there any more"
    differing = (*(one for one in now if one not in attested), *(one for one in attested if one not in now))
    changed = [one["name"] for one in differing]
    if changed:
        return shown(changed[0])
    kept = [] if loaded.config.release is None else chain(loaded)  # without a release there is none
    if (curator / CHAIN).read_bytes() != chain_bytes(kept):
        return "its draws: more were made since"
    if not request.inside:
        return ""
    data = loaded.config.data
    with progress.phase("reading the data", size(data, loaded.folder)) as step:
        digest = read_dataset(data, loaded.folder, tell=step).digest
    return f"data.{'file' if data.source is None else 'source'}" if digest != rows[0]["data"]["digest"] else ""


def _inputs_now(loaded: Loaded, *, released: bool) -> list[dict[str, Any]]:
    mechanism = loaded.config.mechanism
    views = mechanism.views if isinstance(mechanism, OwnSection) else ()
    sources = [OwnCode(origin, str(loaded.folder)) for origin in views]
    release, output = loaded.config.release, ""
    if release is not None and released:
        kept = loaded.folder / release.file if release.file else folder_of(loaded) / "output.json"
        output = sha256(kept.read_bytes())
    return inputs(loaded, output, sources, vouched_by(loaded), artefact_of(loaded))
