"""The report: what a manager reads first, every verdict in words, and nothing that the record does not hold."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pypdf
import pytest
from toys import LEDGER, toy_registry

from reports.row import Callout, Document, Tone
from verify.engine.executors import local
from verify.engine.follow import Follower
from verify.engine.record import Record, read, write
from verify.engine.store import Store
from verify.engine.worker import RunSettings
from verify.messages import words
from verify.runs.audit_pages import document, summary
from verify.runs.publish import publish
from verify.runs.statement_run import execute


def record_of(folder: Path, *ids: str) -> Record:
    store = Store(folder / "store.sqlite")
    sources = toy_registry(*ids).select()
    findings = execute(
        sources, RunSettings(3, "standard", 1e-4), LEDGER, executor=local(1), store=store, watcher=Follower()
    )
    store.close()
    return findings.record


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return record_of(tmp_path_factory.mktemp("record"), "W19-T4.1", "RW21-T17")


@pytest.fixture(scope="module")
def pages(record: Record, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The text of every page of the PDF."""
    path = tmp_path_factory.mktemp("pdf") / "audit.pdf"
    publish(record, {"finished": "2031-12-30T10:00:00+00:00"}, path, jobs=1)
    return [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(io.BytesIO(path.read_bytes())).pages]


def test_first_page_has_what_a_manager_needs(pages: list[str]) -> None:
    for text in (
        "Every verdict is the expected one",
        "Of 2 published statements, 1 are supported as printed and 1 are refuted as printed",
        "Mutants refuted 2 of 2",
        "Failure probability",
        "Seed 3",
        "numpy",
        "2031-12-30",
        "A biased coin is nearly fair",
    ):
        assert text in pages[0]


def test_method_page_says_what_support_is_not(pages: list[str]) -> None:
    assert "Support over infinitely many data sets carries no probability." in pages[1]
    assert "states the residual it was solved to" in pages[1]
    assert "ideal Gaussian noise" in pages[1]


def test_statement_page_has_formula_verdict_numbers_and_replay(pages: list[str]) -> None:
    text = " ".join(pages)
    for words_ in (
        "refuted by a confirmed counterexample",
        "What is wrong as printed: 0.7 > 0.6.",
        "Counterexample",
        "pdp-verify replay audit.jsonl RW21-T17.1 --case printed",
        "Deliberately wrong versions",
        "Exact and simulated values agree in 1 cases",
    ):
        assert words_.lower() in text.lower()


def test_report_needs_the_record_alone(record: Record, tmp_path: Path) -> None:
    write(record, tmp_path / "audit.jsonl")
    assert document(read(tmp_path), date="2031-12-30") == document(record, date="2031-12-30")
    assert Document.from_json(document(record, date="").to_json()).title == document(record, date="").title


def test_summary_names_what_is_wrong_first(record: Record, tmp_path: Path) -> None:
    def of(changed: Record) -> Callout:
        return summary(changed)

    assert of(record).tone is Tone.GOOD
    interrupted = Record({**record.header, "complete": False}, *_rest(record))
    assert of(interrupted).title.startswith("Interrupted")
    unexpected = json.loads(json.dumps(record.verdicts))
    unexpected[0]["unexpected"] = ["as printed: expected REFUTED, got SUPPORTED"]
    wrong = Record(record.header, record.statements, record.cases, record.figures, tuple(unexpected))
    assert of(wrong).title == "1 statements have a verdict that was not expected"
    broken = record_of(tmp_path, "W18-L4")
    assert of(broken).title == "1 checks of this suite stopped with an error"
    assert document(broken, date="").summary == of(broken)


def _rest(record: Record) -> tuple[tuple[dict[str, object], ...], ...]:
    return record.statements, record.cases, record.figures, record.verdicts


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ({"low": 0.0, "high": 0.6}, "at most 0.6"),
        ({"low": "-inf", "high": 0.6}, "at most 0.6"),
        ({"low": 0.25, "high": "inf"}, "at least 0.25"),
        ({"low": 0.25, "high": 0.5}, "between 0.25 and 0.5"),
        ({"low": 0.5, "high": 0.5}, "equal to 0.5"),
        ({"low": 1 - 2**-40, "high": 1 + 2**-40}, "1 +- 9.1e-13"),
        ({"low": "-inf", "high": "inf"}, "anything"),
        (None, "-"),
    ],
)
def test_allowed_values_in_words(claim: dict[str, object] | None, text: str) -> None:
    assert words.allowed(claim) == text
