"""What every command promises whatever it is given; a case, run in a folder of its own, and the damage to its files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.bases import SECRET, SECRET_SHOWN, base
from fuzz.calls import Ran, call

# --- damage to a file: its bytes, its lines, one place of a line of JSON, or what kind of file it is ------------------

#: What a place of a JSON value may be replaced by, as JSON text (``NaN`` Python reads, and JSON forbids).
VALUES = (
    *("null", "true", "0", "-1", "1e308", "-0.0", "5e-324", "1e999", "NaN", "1" + "0" * 30, '""', '"text"', "[]", "{}"),
    *("[[]]", '{"a": {"a": 1}}', '"\\u0000"', '"\\ud800"', '"\\u202e"', '"1"', "[1, 2, 3]", "[" * 60 + "]" * 60),
)
DEEP = "[" * 100_000 + "]" * 100_000


@dataclass(frozen=True)
class Edit:
    """One damage: ``what`` is done to ``file``, at a share ``at`` of its bytes, lines or places, with ``value``."""

    file: str
    what: str
    at: float = 0.0
    value: str = ""


def apply(edit: Edit, folder: Path) -> None:
    """Damage a file."""
    path = folder / edit.file
    if edit.what in KINDS:
        path.unlink()
        KINDS[edit.what](path)
        return
    data = path.read_bytes()
    if edit.what in BYTES:
        path.write_bytes(BYTES[edit.what](data, int(edit.at * len(data)), edit.value))
    elif edit.what in LINES:
        lines = data.splitlines(keepends=True)
        path.write_bytes(b"".join(LINES[edit.what](lines, int(edit.at * len(lines)))))
    else:
        path.write_text(_in_json(data.decode(), edit), encoding="utf-8", errors="surrogatepass")


def _flip(data: bytes, at: int, value: str) -> bytes:
    return data[:at] + bytes([data[at] ^ (1 << int(value))]) + data[at + 1 :] if data else data


BYTES: dict[str, Any] = {
    "flip": _flip,
    "cut": lambda data, at, _: data[:at],
    "insert": lambda data, at, value: data[:at] + value.encode("latin-1") + data[at:],
    "empty": lambda *_: b"",
    "deep": lambda *_: DEEP.encode(),
    "random": lambda data, at, value: value.encode("latin-1"),
}
LINES: dict[str, Any] = {
    "drop line": lambda lines, at: lines[:at] + lines[at + 1 :],
    "double line": lambda lines, at: lines[:at] + lines[at : at + 1] * 2 + lines[at + 1 :],
    "swap lines": lambda lines, at: lines[:at] + lines[at + 1 : at + 2] + lines[at : at + 1] + lines[at + 2 :],
    "cut line": lambda lines, at: (
        lines[:at] + [line[: len(line) // 2] for line in lines[at : at + 1]] + lines[at + 1 :]
    ),
}
#: What stands where the file was.
KINDS: dict[str, Any] = {
    "gone": lambda _: None,
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "link to nothing": lambda path: path.symlink_to("nothing"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
}
JSON = ("replace", "rename", "remove", "double key", "deep value")


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every place inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: list[tuple[Any, ...]] = []
    for key, each in inside:
        found += [(*at, key), *places(each, (*at, key))]
    return found


def _in_json(text: str, edit: Edit) -> str:
    """Return text with one place of it changed; lines of JSON are counted as one list, shallow places first."""
    lines = text.splitlines() if edit.file.endswith(".jsonl") else [text]
    values = [json.loads(line) for line in lines]
    known = sorted(((number, *place) for number, value in enumerate(values) for place in places(value)), key=_order)
    number, *place = known[int(edit.at * len(known))]
    values[number] = _changed(values[number], place, edit)
    marked = json.dumps(values[number])
    lines[number] = marked.replace('"@raw@"', DEEP if edit.what == "deep value" else edit.value)
    return "\n".join(lines) + "\n"


def _order(place: tuple[Any, ...]) -> tuple[int, int]:
    return len(place), place[0]


def _changed(value: Any, place: list[Any], edit: Edit) -> Any:
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    last = place[-1]
    match edit.what:
        case "remove":
            del holder[last]
        case "rename" if isinstance(holder, dict):
            holder[edit.value] = holder.pop(last)
        case "double key" if isinstance(holder, dict):
            holder[edit.value] = holder[last]
        case _:
            holder[last] = "@raw@"
    return value


# --- a case and what is promised --------------------------------------------------------------------------------------

CODES = (0, 1, 2, 3)
REACHED = (0, 1, 3)
HOLDS = "holds a private cell"


@dataclass(frozen=True)
class Case:
    """A prepared folder, what is written or changed in it, and the commands that are called there one after another.

    Attributes
    ----------
    files : tuple of (str, str or bytes)
        Written into the folder.
    edits : tuple of Edit
        Damage to files of the folder.
    rendered : bool
        Whether figures and pages are really drawn; see ``fuzz.calls.unrendered``.
    """

    kind: str
    base: str
    commands: tuple[tuple[str, ...], ...]
    files: tuple[tuple[str, str | bytes], ...] = ()
    edits: tuple[Edit, ...] = ()
    rendered: bool = False


@dataclass(frozen=True)
class Outcome:
    """What became of a case; ``faults`` is empty where every promise was kept."""

    case: Case
    ran: tuple[Ran, ...]
    faults: tuple[str, ...]

    @property
    def reached(self) -> bool:
        """Whether the first command went on to its checks."""
        return self.ran[0].code in REACHED

    @property
    def seconds(self) -> float:
        """Seconds of all its commands."""
        return sum(ran.seconds for ran in self.ran)

    def __str__(self) -> str:
        printed = [f"{' '.join(ran.arguments)}: {ran.code} {ran.err.strip()[-600:]}" for ran in self.ran]
        return "\n".join([*self.faults, *printed, "paste: " + repr(self.case)])


def attempt(case: Case) -> Outcome:
    """Run a case in a new folder and return what became of it; more commands follow only a first that did its work."""
    ran: list[Ran] = []
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder, scratch = Path(name) / "work", Path(name) / "scratch"
        shutil.copytree(base(case.base, case.rendered), folder)
        scratch.mkdir()
        for path, content in case.files:
            (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)
        for edit in case.edits:
            apply(edit, folder)
        for arguments in case.commands:
            before = snapshot(folder)
            ran.append(call(arguments, folder, scratch, rendered=case.rendered))
            after, left = snapshot(folder), [path.name for path in scratch.iterdir()]
            faults += [f"{arguments[0]}: {each}" for each in broken_promises(ran[-1], before, after, left)]
            if ran[0].code not in REACHED:
                break
        if case.kind in ("configuration", "data"):
            faults += _belong_together(ran)
    return Outcome(case, tuple(ran), tuple(faults))


def _belong_together(ran: list[Ran]) -> list[str]:
    """Return what is wrong with a new certificate: ``check`` must find it in order, and a second run say the same."""
    wrong = []
    for each in ran[1:]:
        again = each.arguments == ran[0].arguments and "--draw-again" not in each.arguments
        if each.code not in CODES:
            continue
        if each.arguments[0] == "check" and each.code != 0:
            wrong.append(f"check of a new certificate: exit code {each.code}: {each.out[-300:]}")
        if again and each.code != ran[0].code:
            wrong.append(f"the same command again: exit code {each.code}, before {ran[0].code}: {each.err[-300:]}")
    return wrong


def snapshot(folder: Path) -> dict[str, str]:
    """Return every file with the digest of its bytes, and whether a private cell stands in them; and every folder."""
    found: dict[str, str] = {}
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(folder))] = hashlib.sha256(data).hexdigest() + HOLDS * (SECRET.encode() in data)
    return found


def broken_promises(ran: Ran, before: dict[str, str], after: dict[str, str], left: list[str]) -> list[str]:
    """Return what a command did that none may do; ``left`` is what it left in the temporary folder."""
    wrong = list(ran.noticed)
    if ran.code is not None and ran.code not in CODES:
        wrong.append(f"exit code {ran.code}: {ran.err.strip()[-300:]}")
    errors = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    changed = [path for path in {**before, **after} if before.get(path) != after.get(path)]
    if ran.code == 2:
        wrong += _refusal(ran, errors, changed)
    if "Traceback (most recent call last)" in ran.out + ran.err or re.search(r"\.py:\d|\.py\", line", ran.err):
        wrong.append(f"a source file in the message: {ran.err[:300]!r}")
    released = "release" in ran.arguments
    if any(SECRET_SHOWN in line for line in errors) or (released and SECRET_SHOWN in ran.out + ran.err):
        wrong.append("a private cell in the message")
    wrong += [
        f"{path} {HOLDS}"
        for path in changed
        if released and "/release/" in path and after.get(path, "").endswith(HOLDS)
    ]
    left = [path for path in changed if path in after and re.search(r"(^|/)\.[^/]*\.tmp$", path)] + left
    if left and ran.code in CODES:
        wrong.append(f"left behind: {', '.join(sorted(left)[:4])}")
    if ran.code in REACHED and "--json" in ran.arguments:
        wrong += _not_json(ran.out)
    if ran.arguments[0] == "my-loss" and ran.code == 0 and re.search(r"\b(nan|inf|infinity)\b", ran.out, re.IGNORECASE):
        wrong.append(f"no number: {ran.out!r}")
    return wrong


def _refusal(ran: Ran, errors: list[str], changed: list[str]) -> list[str]:
    """Return what is wrong with a refusal: one line, and nothing written but the state of releases."""
    wrong = []
    lines = [line for line in ran.err.splitlines() if not line.startswith("note: ")]
    if len(lines) != 1 or len(errors) != 1:
        wrong.append(f"not one line: {ran.err[:300]!r}")
    written = [path for path in changed if ".releases" not in path and "__pycache__" not in path]
    if written and "goes on from here" not in ran.err:  # what was done is kept then, and whole
        wrong.append(f"refused, and changed {', '.join(sorted(written)[:4])}")
    return wrong


def _not_json(text: str) -> list[str]:
    def strict(constant: str) -> Any:
        raise ValueError(f"no JSON: {constant}")

    try:
        json.loads(text, parse_constant=strict)
    except ValueError as stop:
        return [f"--json is not strict JSON: {stop}"]
    return []
