"""A private certificate with everything in it, and a careless forger: files are changed, digests written anew."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.row import Audience
from toys.deployments import ARTEFACT, CLIPPED, DRAWN, OBJECTIVE, QUICK, REPORT, SCALES, dp, write_labelled
from verify.certificates.folder.attestation import as_json, descriptor, predicate, sha256, statement, subjects
from verify.certificates.folder.certificate_files import attested_names
from verify.certificates.folder.output import parse_rows
from verify.cli import invoke

CONFIGURATION = CLIPPED + OBJECTIVE + DRAWN + REPORT + SCALES + ARTEFACT + QUICK + dp(4.0, 1e-5)
BOTH = ("curator", "release")


def lay_out(folder: Path, text: str = CONFIGURATION) -> Path:
    """Write data, artefact and configuration, and return the configuration."""
    folder.mkdir(exist_ok=True, parents=True)
    write_labelled(folder)
    (folder / "model.onnx").write_bytes(b"weights")
    (folder / "d.toml").write_text(text, encoding="utf-8")
    return folder / "d.toml"


def certify(configuration: Path, out: Path, *arguments: str) -> int:
    return invoke(["certify", str(configuration), "--audience", "release", "--out", str(out), *arguments])


def attest_again(
    folder: Path,
    *,
    rendered: Mapping[str, str] | None = None,
    attested: bytes | None = None,
    more: Sequence[Any] = (),
    without: Sequence[str] = (),
) -> None:
    """Write predicate and attestation to fit what the folder holds now; ``without`` is listed no more."""
    before = json.loads(attested or (folder / "attestation.json").read_bytes())["predicate"]
    rows = parse_rows((folder / "audit.jsonl").read_bytes())
    names = attested_names(rows)
    own = [descriptor(name, sha256((folder / name).read_bytes())) for name in names if name not in without]
    spoken_of = [*before["configuration"][len(names) :], *more]
    with_versions = before["annotations"]["renderedWith"] | dict(rendered or {})
    body = predicate(rows, [*own, *spoken_of], with_versions)
    (folder / "predicate.json").write_bytes(as_json(body))
    audience = Audience(rows[0]["audience"])
    (folder / "attestation.json").write_bytes(as_json(statement(subjects(own, spoken_of, audience), body)))


def flipped(data: bytes, place: int) -> bytes:
    """Return the bytes with one bit changed."""
    byte, bit = divmod(place % (8 * len(data)), 8)
    return data[:byte] + bytes([data[byte] ^ (1 << bit)]) + data[byte + 1 :]


def paths_of(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the place of every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [above, *(path for key, each in inside for path in paths_of(each, (*above, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a JSON value with another one at a place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


def release_folder(configuration: Path) -> Path:
    return configuration.parent / "d.releases"


def names_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))
