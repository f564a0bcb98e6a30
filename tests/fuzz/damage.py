"""Damaged records, reports and folders, and every command that reads one."""

from __future__ import annotations

from hypothesis import strategies as st

from fuzz.promise import BYTES, JSON, KINDS, LINES, VALUES, Case, Edit

Commands = tuple[tuple[str, ...], ...]

#: Of each kind of folder: its files, and the commands that read them.
READERS: dict[str, tuple[tuple[str, ...], tuple[Commands, ...]]] = {
    "run": (
        ("out/audit.jsonl", "out/audit.jsonl", "out/audit.jsonl", "out/run.json", "out/store.sqlite"),
        (
            (("list", "out"),),
            (("list", "out", "--json"),),
            (("show", "RW21-L31", "--record", "out"),),
            (("show", "W19-D2.1", "--record", "out/audit.jsonl"),),
            (("replay", "out", "RW21-L31"),),
            (("replay", "out", "W18-L4"),),
            (("report", "out", "-o", "new.pdf"),),
            (("errata", "out", "-o", "new.md"),),
            (("errata", "out", "-o", "new.pdf"),),
            (("check", "out"),),
            (("show", "RW21-L\u202e31", "--record", "out"),),
            (("figures", "-o", "none/new.pdf"),),
            (("calibrate", "--profile", "quick", "--out", "out"),),
            (("run", "RW21-L31", "--profile", "quick", "--jobs", "1", "--out", "out", "--resume"),),
        ),
    ),
    "certificate": (
        (
            *(
                "out/curator/audit.jsonl",
                "out/curator/audit.jsonl",
                "out/release/audit.jsonl",
                "out/curator/attestation.json",
            ),
            *(
                "out/release/attestation.json",
                "out/curator/predicate.json",
                "out/release/run.json",
                "out/curator/audit.pdf",
            ),
            *(
                "out/release/audit.pdf",
                "out/release/audit.html",
                "out/curator/audit.md",
                "out/release/junit.xml",
                "out/curator/configuration.toml",
            ),
            *(
                "out/release/report-independent.json",
                "c.releases/spent.json",
                "c.releases/output.json",
                "c.releases/report.json",
            ),
        ),
        (
            (("check", "out"),),
            (("check", "out"),),
            (("check", "out/curator"),),
            (("check", "out/release"),),
            (("report", "out/curator", "-o", "new.pdf"),),
            (("report", "out/release/audit.jsonl", "-o", "new.pdf"),),
            (("list", "out/curator"),),
            (("replay", "out/release", "dp"),),
            (("certify", "c.toml", "--audience", "release", "--out", "out", "--jobs", "1"),),
            (("certify", "c.toml", "--audience", "release", "--out", "out", "--jobs", "1", "--overwrite"),),
            (("certify", "c.toml", "--audience", "release", "--out", "new", "--jobs", "1"),),
        ),
    ),
    "my-loss": (
        ("out/release/report-independent.json", "out/release/report-dependent.json", "me.json"),
        (
            (("my-loss", "out/release/report-independent.json", "me.json"),),
            (("my-loss", "out/release/report-dependent.json", "me.json", "--json"),),
        ),
    ),
    "calibration": (
        ("out/calibration.jsonl", "out/calibration.jsonl", "out/run.json"),
        (
            (("report", "out", "-o", "new.pdf"),),
            (("report", "out/calibration.jsonl", "-o", "new.pdf"),),
            (("list", "out"),),
            (("errata", "out/calibration.jsonl", "-o", "new.md"),),
        ),
    ),
    "sweep": (
        ("grid.sqlite", "grid.sqlite", "grid.toml"),
        (
            (("sweep", "grid.toml", "--status"),),
            (("sweep", "grid.toml", "--status", "--export", "t.jsonl"),),
            (("sweep", "grid.toml", "--jobs", "1"),),
        ),
    ),
}
NAMES = ("", "kind", "id", "record", "é", "a b", "claim", "x", "y", "text", "schema_version")
SHARE = st.integers(0, 999).map(lambda number: number / 1000)


@st.composite
def edit(draw: st.DrawFn, file: str) -> Edit:
    """Return one damage to a file."""
    jsonish = file.endswith((".jsonl", ".json"))
    lines = file.endswith((".jsonl", ".toml", ".md"))
    kinds = [*(JSON * 4 if jsonish else ()), *(LINES if lines else ()), *BYTES, *KINDS]
    what = draw(st.sampled_from(kinds))
    value = ""
    match what:
        case "replace":
            value = draw(st.sampled_from(VALUES))
        case "rename" | "double key":
            value = draw(st.sampled_from(NAMES))
        case "flip":
            value = str(draw(st.integers(0, 7)))
        case "insert" | "random":
            value = draw(st.text(st.characters(max_codepoint=255), max_size=12))
    at = draw(SHARE)
    if what in JSON and draw(st.booleans()):  # shallow places come first: the header, the keys of a report
        at /= 20
    return Edit(file, what, at, value)


@st.composite
def damaged(draw: st.DrawFn, *, rendered: st.SearchStrategy[bool]) -> Case:
    """Return a damaged folder and a command that reads it."""
    kind = draw(st.sampled_from((*READERS, "run", "certificate", "my-loss")))
    files, readers = READERS[kind]
    commands = draw(st.sampled_from(readers))
    read = [file for file in files if any(file in command for command in commands[0])] or files
    file = draw(st.sampled_from(read if draw(st.booleans()) else files))
    base = "certificate" if kind == "my-loss" else kind
    done = draw(edit(file))
    if kind == "my-loss" and done.what == "pipe":  # waiting for somebody who writes into it is no fault
        done = Edit(file, "empty")
    return Case("damage", base, commands, edits=(done,), rendered=draw(rendered))
