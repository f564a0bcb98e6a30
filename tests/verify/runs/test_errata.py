"""The errata are generated from a record: every refuted statement, none that stands, gravest first."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from toys import LEDGER

from verify.cli import invoke
from verify.engine.record import Record, read
from verify.papers import registry
from verify.papers.ledger import default as committed
from verify.papers.paper import Consequence, Expected
from verify.runs.errata import errata_document
from verify.runs.publish import junit

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def record(toys: registry.Registry, tmp_path: Path) -> Record:
    """The toys' record: some statements are refuted, some supported."""
    invoke(["run", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "out")])
    return read(tmp_path / "out")


def test_errata_hold_exactly_what_is_refuted(record: Record) -> None:
    """Every statement refuted as printed has a section, no other statement has one."""
    pages = errata_document(record, LEDGER, date="")
    refuted = {row["id"] for row in record.verdicts if not row["parent"] and row["printed"]["verdict"] == "REFUTED"}
    assert {section.id for section in pages.sections if section.id} == refuted
    assert refuted


def test_errata_are_ordered_by_consequence(record: Record) -> None:
    """A statement whose consequence is graver comes first, whatever its place in the papers."""
    refuted = [row["id"] for row in record.verdicts if not row["parent"] and row["printed"]["verdict"] == "REFUTED"]
    for gravest in refuted:
        ledger = {id_: Expected("REFUTED", consequence="PRIVACY" if id_ == gravest else "MISPRINT") for id_ in refuted}
        pages = errata_document(record, ledger, date="")
        assert next(section.id for section in pages.sections if section.id) == gravest


def test_errata_command(record: Record, tmp_path: Path, capsys: Captured) -> None:
    """PDF and Markdown from the same record; another ending is refused in one line."""
    for name in ("errata.pdf", "errata.md"):
        assert invoke(["errata", str(tmp_path / "out"), "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 500
    assert invoke(["errata", str(tmp_path / "out"), "-o", str(tmp_path / "errata.txt")]) == 2
    assert "output must end in .pdf or .md" in capsys.readouterr().err


def test_ledger_names_the_consequence_of_every_refutation() -> None:
    """The errata's order is committed: refuted ids have a consequence, others have none."""
    for id_, expected in committed().items():
        assert bool(expected.consequence) == (expected.printed == "REFUTED"), id_
        assert not expected.consequence or expected.consequence in Consequence.__members__


def test_junit_has_a_case_a_statement(record: Record) -> None:
    """Every statement is one test case; what the ledger did not expect is a failure, the rest passes."""
    suite = ElementTree.fromstring(junit(record)).find("testsuite")
    assert suite is not None
    own = [row for row in record.verdicts if row["parent"] is None]
    assert [case.get("name") for case in suite] == [row["id"] for row in own]
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == {row["id"] for row in own if row["unexpected"]}
