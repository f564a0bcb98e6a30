"""Whether the files of a certificate's folder belong together: each is held against its digest, or made again, or both.

Signatures are not checked. Nothing in a folder is trusted to be as it was written, nor followed if it is a link.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audits.error_budget import ROUNDING
from mechanisms import PrivacyReport
from reports.formats import rendered
from reports.junit import junit_xml
from reports.row import Audience, Document

from ...engine.figures import drawn_figures
from ...engine.record import record_of
from ...engine.versions import source_digest
from ...kernel.rows import Row, number
from ...messages.errors import UserError
from ..asked import asked_of, exit_code, standings
from ..certificate import public_configuration
from ..certificate_pages import document
from ..claims.types import BY_TYPE
from ..config.config import Loaded, parse
from ..config.config_mechanisms import DoorSection
from ..config.mechanism_source import door_digest
from ..release.published import published_bytes
from ..release.release_state import SPENT, Entry, read_chain
from ..release.releases import given_output, output_bytes
from .attestation import as_json, descriptor, predicate, sha256, statement, subjects
from .certificate_files import (
    CHAIN,
    CONFIGURATION,
    HTML,
    KNOWN,
    LAST,
    PARTS,
    PREDICATE_FILE,
    RECORD,
    RUN,
    attested_names,
    is_signature,
    kind_of,
    report_name,
    shown,
)
from .check_pages import Agreement, ComparedPDF, compare_html, compare_pdf
from .output import input_names, junit_cases, parse_rows

#: What a folder cannot be compared without.
NEEDED = (RECORD, "audit.pdf", "audit.md", "junit.xml", PREDICATE_FILE, RUN, LAST)


@dataclass
class Checked:
    """What does not fit; what could not be decided; what is worth a line; and what lies there as a signature.

    ``pages_made_again``: whether PDF and HTML were made again, the same to the byte.
    """

    wrong: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    signatures: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    pages_made_again: bool = False


@dataclass(frozen=True)
class Parsed:
    """The bytes of a folder's files, and what those say that everything else is held against."""

    files: Mapping[str, bytes]
    rows: list[Row]
    attested: dict[str, Any]
    run: dict[str, Any]

    @property
    def spoken_of(self) -> list[dict[str, Any]]:
        """What the verdicts speak about, as the predicate lists it after the folder's own files."""
        return self.listed[len(self.own) :]

    @property
    def listed(self) -> list[dict[str, Any]]:
        """What the predicate lists: the folder's own files, then what the verdicts speak about."""
        listed: list[dict[str, Any]] = self.attested["predicate"]["configuration"]
        return listed

    @property
    def own(self) -> list[str]:
        """The names of the folder's own files."""
        return attested_names(self.rows, [str(each["name"]) for each in self.listed])


def check_folder(folder: Path, *, render: bool = True) -> Checked:
    """Return what does not fit, in words; without ``render`` only the digests of PDF and HTML are looked at."""
    checked = Checked()
    files = _read(folder, checked)
    if checked.wrong:
        return checked
    try:
        parsed = _parse(files, checked)
        if parsed is None:
            return checked
        checked.rows = tuple(parsed.rows)
        expected = {*parsed.own, PREDICATE_FILE, LAST}
        checked.wrong += [f"{name} is missing" for name in sorted(expected - set(parsed.files))]
        checked.wrong += [f"{name} is no part of this certificate" for name in sorted(set(parsed.files) - expected)]
        checked.wrong += _statement(parsed)
        checked.wrong += _digests(parsed)
        checked.wrong += _overspent(parsed.rows)
    except Exception:  # whatever a forger wrote where something else belongs
        checked.wrong.append(f"{LAST} does not say what {RECORD} says")
        return checked
    try:
        pages = document(parsed.rows, digest=sha256(files[RECORD]), date=parsed.run["date"], record=files[RECORD])
        checked.wrong += _made_again(parsed, pages)
        _inputs(parsed, checked)
    except Exception:  # the same, in the record
        checked.wrong.append(f"{RECORD} is not a whole record")
    if not checked.wrong and render:
        _compare_pages(parsed, pages, checked)
    return checked


def _compare_pages(parsed: Parsed, pages: Document, found: Checked) -> None:
    comparisons: dict[str, Callable[..., ComparedPDF]] = {"audit.pdf": compare_pdf, HTML: compare_html}
    figures: dict[str, bytes] | None = None
    found.pages_made_again = True
    for name in (name for name in comparisons if name in parsed.files):
        try:
            figures = drawn_figures(pages, 1) if figures is None else figures
            compared = comparisons[name](parsed.files[name], pages, parsed.rows, parsed.attested, figures=figures)
        except OSError:  # of this machine, not of the folder
            raise
        except Exception:  # the record, or what is attested about the pages
            compared = ComparedPDF(Agreement.WRONG, f"{name} cannot be made again from {RECORD} and {RUN}")
        found.pages_made_again &= compared.agreement is Agreement.FITS and not compared.line
        lines = {Agreement.WRONG: found.wrong, Agreement.OPEN: found.undecided, Agreement.FITS: found.notes}
        lines[compared.agreement].extend([compared.line] if compared.line else [])


def is_certificate(folder: Path) -> bool:
    """Return whether a folder holds a certificate, damaged or unfinished ones among them."""
    record = folder / RECORD
    attested = any(kind_of(folder / name) == "file" for name in (LAST, PREDICATE_FILE))
    return attested or (kind_of(record) == "file" and record_of(record) == "certificate")


def artefact_of_folder(rows: tuple[Row, ...]) -> tuple[str, str] | None:
    """Return name and digest of the artefact that a checked folder names."""
    named = rows[0].get("artefact") if rows else None
    return None if named is None else (str(named["name"]), str(named["sha256"]))


def _read(folder: Path, found: Checked) -> dict[str, bytes]:
    """Return the bytes of every file; what is missing, foreign, a link or no file is wrong."""
    files: dict[str, bytes] = {}
    signatures = []
    for path in sorted(folder.iterdir()):
        name, kind = path.name, kind_of(path)
        if kind != "file":
            found.wrong.append(f"{shown(name)} is {'a symbolic link' if kind == 'link' else 'no file'}")
        elif is_signature(name):
            signatures.append(shown(name))
        elif name not in KNOWN:
            found.wrong.append(f"{shown(name)} is no part of a certificate")
        else:
            try:
                files[name] = path.read_bytes()
            except OSError as stop:
                found.wrong.append(f"{name} is not readable ({stop.strerror})")
    found.signatures = tuple(signatures)
    needed = [*NEEDED, *([CONFIGURATION, CHAIN] if _is_curators(folder, files) else [])]
    unread = {line.partition(" is ")[0] for line in found.wrong}
    for name in needed:
        if name not in files and name not in unread:
            found.wrong.append(f"{name} is missing{' (the folder is incomplete)' if name == LAST else ''}")
    return files


def _is_curators(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Return whether a folder is a curator's, by its record or else by its name."""
    try:
        return bool(parse_rows(files[RECORD])[0].get("audience") == Audience.CURATOR.value)
    except (LookupError, ValueError, AttributeError, RecursionError):
        return folder.resolve().name == Audience.CURATOR.value


def _parse(files: Mapping[str, bytes], found: Checked) -> Parsed | None:
    read: dict[str, Any] = {}
    for name in (RECORD, LAST, PREDICATE_FILE, RUN):
        try:
            read[name] = parse_rows(files[name]) if name == RECORD else _object(files[name])
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
            found.wrong.append(f"{name} is not readable")
        except ValueError as stop:
            found.wrong.append(f"{name} is not readable ({stop})")
    if not found.wrong and not _is_date(read[RUN].get("date")):
        found.wrong.append(f"{RUN} is not readable (its date is none)")
    return None if found.wrong else Parsed(files, read[RECORD], read[LAST], read[RUN])


def _is_date(value: object) -> bool:
    """Return whether a value is the ISO date of a PDF, as ``certify`` writes it."""
    try:
        return isinstance(value, str) and datetime.date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _object(data: bytes) -> dict[str, Any]:
    plain = json.loads(data.decode())
    if not isinstance(plain, dict):
        raise ValueError("not a JSON object")
    return plain


def _statement(parsed: Parsed) -> list[str]:
    files, attested = parsed.files, parsed.attested
    listed, audience = parsed.listed, Audience(parsed.rows[0]["audience"])
    own = listed[: len(parsed.own)]
    wrong = []
    if files[PREDICATE_FILE] != as_json(attested["predicate"]):
        wrong.append(f"{PREDICATE_FILE} is not the predicate of {LAST}")
    plain = [descriptor(str(each["name"]), str(each["digest"]["sha256"])) for each in listed]
    again = predicate(parsed.rows, plain, attested["predicate"]["annotations"]["renderedWith"])
    if as_json(again) != as_json(attested["predicate"]):
        wrong.append(f"{LAST} does not say what {RECORD} says")
    elif files[LAST] != as_json(statement(subjects(own, parsed.spoken_of, audience), again)):
        wrong.append(f"{LAST} is not the statement of its predicate, in the form in which it was written")
    return wrong


def _digests(parsed: Parsed) -> list[str]:
    listed = parsed.listed
    wrong = []
    for place, name in enumerate(parsed.own):
        if place >= len(listed) or listed[place]["name"] != name:
            wrong.append(f"{LAST} does not name {name}")
        elif name in parsed.files and listed[place] != descriptor(name, sha256(parsed.files[name])):
            wrong.append(f"{name} is not the file that was attested")
    return wrong


def _overspent(rows: Sequence[Row]) -> list[str]:
    """Return whether a record gives out more failure probability than it has; records of old do not say."""
    for row in rows:
        if row["kind"] == "budget":
            places = [tuple(leaf["place"]) for leaf in row["leaves"]]
            total, whole = math.fsum(number(leaf["alpha"]) for leaf in row["leaves"]), number(rows[0]["failure_prob"])
            told = all(leaf["spent"] == bool(leaf["decided"]) for leaf in row["leaves"])
            fits = number(row["failure_prob"]) == whole and total <= whole * (1 + ROUNDING)
            if not (told and fits and len(set(places)) == len(places)):
                return [f"{RECORD} gives out a failure probability that does not add up"]
    return []


def _made_again(parsed: Parsed, pages: Document) -> list[str]:
    header = parsed.rows[0]
    again = {
        "audit.md": rendered(pages, ".md"),
        "junit.xml": junit_xml("pdp-verify certify", junit_cases(parsed.rows)),
    }
    for row in parsed.rows:
        if row["kind"] == "release" and "report" in row:
            plain, data = header["configuration"]["data"], header["data"]
            domain = data["dim"], number(data["x_bound"]), number(data["y_bound"])
            again[report_name(row["report"])] = published_bytes(row["report"], plain, domain)
    return [
        f"{name} is not made from this {RECORD}"
        for name, data in again.items()
        if name in parsed.files and parsed.files[name] != data
    ]


def _inputs(parsed: Parsed, found: Checked) -> None:
    """Hold what the verdicts speak about against the record, the configuration and the chain of draws."""
    header, named = parsed.rows[0], [(each["name"], each["digest"]["sha256"]) for each in parsed.spoken_of]
    artefact = artefact_of_folder((header,))
    if artefact is not None and artefact not in named[-1:]:
        found.wrong.append(f"{LAST} names another artefact than {RECORD}")
    if header["audience"] != Audience.CURATOR.value:
        if len(named) != (artefact is not None):
            found.wrong.append(f"{LAST} names more than {RECORD} speaks about")
        return
    digests = [digest for _, digest in named]
    text = sha256(parsed.files[CONFIGURATION])
    if digests[0] != text or header["configuration_digest"] != text:
        found.wrong.append(f"{CONFIGURATION} is not the configuration that was attested")
    else:
        different = _configured(parsed, found)
        if header["sources"] == source_digest():
            found.wrong += different
        else:  # other sources may read a configuration in another way
            found.notes += [f"{line}, by these sources; it was made by others: not compared" for line in different]
    if header["mechanism_digest"] and header["mechanism_digest"] not in digests:
        found.wrong.append(f"{LAST} names another mechanism than {RECORD}")
    released = "release" in header["configuration"] and has_output(parsed.rows)
    output = digests[1] if released and len(digests) > 1 else None
    chain = json.loads(parsed.files[CHAIN])
    _compare_chain(parsed.rows, output, chain, parsed.run.get("releases"), found)


def _configured(parsed: Parsed, found: Checked) -> list[str]:
    """Return what record and subjects say that the configuration, or the file of the output that it names, does not."""
    text = parsed.files[CONFIGURATION].decode()
    try:
        loaded = Loaded(parse(text), Path(str(parsed.run.get("configuration"))), text)
    except UserError:
        return [f"{CONFIGURATION} is no configuration"]
    wrong = []
    if public_configuration(loaded, Audience.CURATOR) != parsed.rows[0]["configuration"]:
        wrong.append(f"{RECORD} is about another configuration than {CONFIGURATION}")
    named = {str(each["name"]): str(each["digest"]["sha256"]) for each in parsed.spoken_of}
    released = has_output(parsed.rows)
    if input_names(loaded.config, list(named), released=released) != [each["name"] for each in parsed.spoken_of][1:]:
        wrong.append(f"{LAST} names other inputs than {CONFIGURATION}")
    section = loaded.config.mechanism
    if isinstance(section, DoorSection) and door_digest(section, named) != parsed.rows[0]["mechanism_digest"]:
        wrong.append(f"{RECORD} is about another mechanism than the one of {CONFIGURATION} and of what {LAST} names")
    return wrong + _given(parsed, loaded, found)


def _given(parsed: Parsed, loaded: Loaded, found: Checked) -> list[str]:
    """Read the user's own file of the output again, where it still is what it was."""
    release = loaded.config.release
    if release is None or release.file is None:
        return []
    numbers = next(row["numbers"] for row in parsed.rows if row["kind"] == "release" and row["name"] == "output")
    try:
        given = given_output(loaded)
    except (UserError, OSError, ValueError):
        given = None
    if given is None or given[1] != parsed.spoken_of[1]["digest"]["sha256"]:
        found.notes.append("release.file is not at hand as it was: its numbers were not compared")
        return []
    return [] if given[0].tolist() == numbers else [f"{RECORD} holds other numbers than the output that was attested"]


def compare_parts(curator: Checked, release: Checked) -> list[str]:
    """Return what does not fit between the two folders of one certificate."""
    first, second = ([row for row in part.rows if row["kind"] == "release"] for part in (curator, release))
    ours, theirs = curator.rows[0], release.rows[0]
    keys = ("mechanism", "mechanism_digest", "artefact", "sources", "versions", "platform", "failure_prob", "seed")
    other = [key for key in keys if ours.get(key) != theirs.get(key)]
    return [
        *([f"{RECORD} in the two folders holds different releases"] if first != second else []),
        *(f"{RECORD} in the two folders says different things about {key}" for key in other),
    ]


def misplaced(part: Path, checked: Checked) -> list[str]:
    """Return whether a folder is named for one audience and holds the record of the other."""
    audience = checked.rows[0].get("audience") if checked.rows else None
    if part.name in PARTS and audience is not None and audience != part.name:
        return [f"{RECORD} is for the audience {shown(audience)}"]
    return []


# --- the chain of draws: what was released, in order ------------------------------------------------------------------


def _compare_chain(
    rows: Sequence[Row], attested: str | None, copied: list[Entry], place: object, found: Checked
) -> None:
    """Hold the record's releases against the attested output, the copied chain, and that of the release folder.

    ``attested`` is the SHA-256 of the output, None where nothing is deployed; ``place`` where ``run.json`` says that
    the release folder is.
    """
    before = len(found.wrong)
    outputs = sum(entry["what"] == "output" for entry in copied)
    drawn = _released_digests(rows, outputs)
    asked = rows[0]["configuration"].get("release")
    if not (asked and asked["drawn_by_us"]):
        drawn.pop("output", None)  # a file of the user, in the user's own format
    elif "output" not in drawn and attested is None:
        found.wrong += _missing(rows)
    elif attested not in drawn.get("output", ()):
        found.wrong.append(f"{RECORD} holds another output than the one that was attested")
    else:
        drawn["output"] = {str(attested)}
    for what, digests in drawn.items():
        if not digests & _sealed(copied, what):
            found.wrong.append(f"{CHAIN} does not count the {what} of {RECORD}")
    cost = f"the claimed budget, {outputs} draw{'s' if outputs > 1 else ''}"
    if "output" in drawn and all(row["cost"] != cost for row in rows if row["kind"] == "release"):
        found.wrong.append(f"{RECORD} counts other draws than the {outputs} of {CHAIN}")
    if copied and len(found.wrong) == before:
        _compare_place(drawn, copied, place, found)


def has_output(rows: Sequence[Row]) -> bool:
    """Return whether a record holds a released output."""
    return any(row["kind"] == "release" and row["name"] == "output" for row in rows)


def _missing(rows: Sequence[Row]) -> list[str]:
    """Return whether an output should be there: it is drawn where the claims over all data sets pass."""
    claims = [row for row in rows if row["kind"] == "claim" and BY_TYPE[row["type"]].everywhere]
    passed = exit_code(standings(claims), asked_of(rows[0])) == 0
    return [f"{RECORD} holds no output, though the claims that it waits for have passed"] if passed else []


def _released_digests(rows: Sequence[Row], n_outputs: int) -> dict[str, set[str]]:
    """Return the digests that the files of what was drawn can have, made again from the numbers of the record alone.

    The file of an output says which draw it was: any of ``n_outputs``.
    """
    digests = {}
    for row in rows:
        if row["kind"] == "release" and row["name"] == "output":
            name, numbers = rows[0]["mechanism"], row["numbers"]
            digests["output"] = {sha256(output_bytes(name, numbers, draw)) for draw in range(n_outputs + 1)}
        elif row["kind"] == "release" and row["report"]["gradient"] is not None:
            report = PrivacyReport.from_json(json.dumps(row["report"]))
            digests["report"] = {sha256(f"{report.to_json()}\n".encode())}
    return digests


def _compare_place(drawn: dict[str, set[str]], copied: list[Entry], place: object, found: Checked) -> None:
    """Hold the copied chain against the release folder, where that is at hand."""
    folder = _at_hand(place)
    if folder is None:
        found.notes.append("the release folder is not at hand: its chain of draws was not compared")
        return
    try:
        now = read_chain(folder)
    except UserError as stop:
        found.wrong.append(f"{folder / SPENT} is not readable ({stop})")
        return
    missing = [what for what, digests in drawn.items() if not digests & _sealed(now, what)]
    if missing or len(now) < len(copied):
        what = f"the attested {missing[0]}" if missing else f"every draw of {len(copied)}"
        found.wrong.append(f"{folder / SPENT} does not count {what}: it was drawn elsewhere, or the list was changed")
    elif len(now) > len(copied):
        more = len(now) - len(copied)
        found.notes.append(
            f"{more} later draw{'s' if more > 1 else ''} in {folder}: this certificate counts none of them"
        )


def _at_hand(place: object) -> Path | None:
    """Return the folder that a text names, if there is one; the text may be anything."""
    try:
        folder = Path(place) if isinstance(place, str) and place else None
        return folder if folder is not None and folder.is_dir() else None
    except (OSError, ValueError):
        return None


def _sealed(entries: list[Entry], what: str) -> set[str]:
    return {str(entry["sha256"]) for entry in entries if entry["what"] == what and entry.get("sha256")}
