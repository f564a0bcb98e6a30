"""The errata are generated from a record: every refuted statement, none that stands, gravest first."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pypdf import PdfReader

from reports.markdown import render_markdown
from reports.row import Document
from verify.cli import invoke
from verify.engine.record import Record, read
from verify.messages.errors import UserError
from verify.papers import registry
from verify.papers.ledger import default as committed
from verify.papers.paper import Consequence, roots
from verify.runs.errata import errata_document
from verify.runs.publish import junit

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def record(toys: registry.Registry, tmp_path: Path) -> Record:
    """The toys' record: some statements are refuted, some supported."""
    invoke(["run", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "out")])
    return read(tmp_path / "out")


def entries_of(pages: Document) -> list[str]:
    """The ids of the entries, in order; a list of misprints is none."""
    return [section.id for section in pages.sections if section.id and section.id != "misprints"]


def with_verdicts(record: Record, change: dict[str, dict[str, object]]) -> Record:
    """A copy of a record whose verdict rows say something else."""
    verdicts = tuple(row | change.get(row["id"], {}) for row in record.verdicts)
    return Record(record.header, record.statements, record.cases, record.figures, verdicts)


def refuted_in(record: Record) -> list[str]:
    return [row["id"] for row in record.verdicts if not row["parent"] and row["printed"]["verdict"] == "REFUTED"]


def test_corrections_hold_exactly_what_is_refuted(record: Record) -> None:
    """Every statement refuted as printed has a section, no other statement has one."""
    assert set(entries_of(errata_document(record, date=""))) == set(refuted_in(record))
    assert refuted_in(record)


def test_corrections_are_ordered_by_consequence_and_misprints_are_a_list(record: Record) -> None:
    """A statement whose consequence is graver comes first; a misprint has a row, and no section."""
    two = ["RW21-T17", "W19-T4.1"]
    failing = next(row for row in record.verdicts if row["id"] == "RW21-T17")["printed"]
    for gravest in two:
        change = {id_: {"printed": failing, "consequence": "PRIVACY" if id_ == gravest else "RESULT"} for id_ in two}
        pages = errata_document(with_verdicts(record, change), date="")
        assert entries_of(pages)[0] == gravest
        assert len(entries_of(pages)) == 2
    pages = errata_document(with_verdicts(record, {"RW21-T17": {"consequence": "MISPRINT"}}), date="")
    assert entries_of(pages) == []
    assert "Misprints" in [section.title for section in pages.sections]


def test_a_slip_behind_several_entries_comes_first(record: Record) -> None:
    """Entries with one root are together under its title and text; a root of one entry is no chapter."""
    failing = next(row for row in record.verdicts if row["id"] == "RW21-T17")["printed"]
    rooted = {"printed": failing, "consequence": "PRIVACY", "root": "sqrt-two"}
    shared = errata_document(with_verdicts(record, {"RW21-T17": rooted, "W19-T4.1": rooted}), date="")
    assert [section.title for section in shared.sections][:2] == ["Causes", roots()["sqrt-two"]["title"]]
    alone = errata_document(with_verdicts(record, {"RW21-T17": rooted}), date="")
    assert "Causes" not in [section.title for section in alone.sections]


def test_an_entry_says_where_it_was_read_what_is_true_and_the_number(record: Record) -> None:
    """Provenance, counterexample as a sentence, and the corrected formula stand at each entry."""
    source = {"copy": "main", "digest": "0" * 64, "line": 7, "worth": "SINGLE", "evidence": ""}
    statements = json.loads(json.dumps(record.statements))
    for statement in statements:
        for part in statement["parts"]:
            part["provenance"] = source
    known = Record(record.header, tuple(statements), record.cases, record.figures, record.verdicts)
    text = render_markdown(errata_document(known, date=""))
    assert "copy main (0000000000000000…), line 7; as transcribed: no second source was found" in text
    assert "Corrected:" in text
    assert "## RW21-T17 · " in text
    assert "nothing here was compared with the publisher's PDF" in text
    assert re.search(r"Counterexample: \*\*.*0\.7.*, where at most 0\.6", text)
    assert "| Page |" not in text


def test_answers_go_to_the_address_that_is_given_and_none_is_invented(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "whoever sent you this document" in render_markdown(errata_document(record, date=""))
    given = render_markdown(errata_document(record, date="", contact="somebody at an institute"))
    assert "Answers to: **somebody at an institute**" in given
    monkeypatch.setattr("verify.runs.errata.tracker", lambda: "https://issues.invalid/x")
    assert "https://issues.invalid/x" in render_markdown(errata_document(record, date=""))


def test_one_paper_has_a_file_of_its_own(record: Record, tmp_path: Path, capsys: Captured) -> None:
    """By prefix or folder; another name is refused with what there is."""
    for name in ("RW21", "redberg_wang2021"):
        pages = errata_document(record, date="", paper=name)
        assert entries_of(pages) == ["RW21-T17"]
        assert pages.title == "Proposed corrections to “Privately Publishable Per-instance Privacy”"
    command = ["errata", str(tmp_path / "out"), "-o", str(tmp_path / "x.md"), "--paper", "W20"]
    assert invoke(command) == 2
    assert "paper must be" in capsys.readouterr().err
    with pytest.raises(UserError, match="refutes none"):
        errata_document(record, date="", paper="W19")


def test_errata_command(record: Record, tmp_path: Path, capsys: Captured) -> None:
    """PDF, Markdown and HTML from the same record; another ending is refused in one line."""
    for name in ("errata.pdf", "errata.md", "errata.html"):
        assert invoke(["errata", str(tmp_path / "out"), "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 500
    assert invoke(["errata", str(tmp_path / "out"), "-o", str(tmp_path / "errata.txt")]) == 2
    assert "output must end in .pdf or .md" in capsys.readouterr().err


def test_full_report_is_made_on_demand(record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``report --full`` has a section a statement; the report without it has not; a certificate has no such report."""
    out = str(tmp_path / "out")
    for name, option in (("short.md", []), ("full.md", ["--full"])):
        assert invoke(["report", out, "-o", str(tmp_path / name), *option]) == 0
    short, full = ((tmp_path / name).read_text() for name in ("short.md", "full.md"))
    assert "Counterexample" in full
    assert "Counterexample" not in short
    assert invoke(["report", out, "-o", str(tmp_path / "x.sarif"), "--full"]) == 2
    assert not (tmp_path / "out" / "audit-full.pdf").exists()
    again = ["run", "RW21-T17", "--profile", "quick", "--jobs", "1", "--full", "--out", str(tmp_path / "two")]
    assert invoke(again) == 0
    assert f"report  {tmp_path}/two/audit.pdf and {tmp_path}/two/audit-full.pdf\n" in capsys.readouterr().out
    pages = {name: len(PdfReader(tmp_path / "two" / f"{name}.pdf").pages) for name in ("audit", "audit-full")}
    assert pages["audit"] < pages["audit-full"]


def test_ledger_names_the_consequence_of_every_refutation() -> None:
    """The errata's order is committed: refuted ids have a consequence; of others, unclear texts may have one."""
    for id_, expected in committed().items():
        assert expected.consequence or expected.printed != "REFUTED", id_
        assert not expected.consequence or expected.printed in ("REFUTED", "TEXT_UNCLEAR"), id_
        assert not expected.consequence or expected.consequence in Consequence.__members__


def test_junit_has_a_case_a_statement(record: Record) -> None:
    """Every statement is one test case; what the ledger did not expect is a failure, the rest passes."""
    suite = ElementTree.fromstring(junit(record)).find("testsuite")
    assert suite is not None
    own = [row for row in record.verdicts if row["parent"] is None]
    assert [case.get("name") for case in suite] == [row["id"] for row in own]
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == {row["id"] for row in own if row["unexpected"]}


def test_junit_fails_where_a_part_alone_is_unexpected(record: Record) -> None:
    child = next(row for row in record.verdicts if row["parent"] and not row["unexpected"])
    rows = [row | {"unexpected": ["as printed: no"]} if row is child else row for row in record.verdicts]
    cases = ElementTree.fromstring(junit(replace(record, verdicts=tuple(rows)))).iter("testcase")
    found = {case.get("name"): case.find("failure") for case in cases}[child["parent"]]
    assert found is not None
    assert f"{child['id']} as printed: no" in f"{found.get('message')}{found.text}"
