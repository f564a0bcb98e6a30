"""The reports of a run: what a manager reads first, every verdict in words, and nothing but what the record holds."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pypdf
import pytest
from toys import LEDGER, toy_registry

from reports.document import pdf_bytes
from reports.row import Callout, Document, Tone
from verify.engine.executors import local
from verify.engine.follow import Follower
from verify.engine.record import Record, read, write
from verify.engine.store import Store
from verify.engine.worker import RunSettings
from verify.messages import words
from verify.runs.audit_pages import document
from verify.runs.pages.short_pages import run_state, short_document
from verify.runs.publish import publish
from verify.runs.statement_run import execute

MOST_PAGES = 20


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


def changed(record: Record, **rows: object) -> Record:
    """A copy of a record with other headers or verdicts."""
    copy = json.loads(json.dumps({name: getattr(record, name) for name in ("header", "verdicts")}))
    copy["header"] |= rows.pop("header", {})
    for verdict in copy["verdicts"]:
        verdict |= rows.get(verdict["id"], {})
    return Record(copy["header"], record.statements, record.cases, record.figures, tuple(copy["verdicts"]))


@pytest.fixture(scope="module")
def readers(record: Record, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pypdf.PdfReader]:
    """The short report and the full one, as PDF."""
    folder = tmp_path_factory.mktemp("pdf")
    about = {"finished": "2031-12-30T10:00:00+00:00"}
    publish(record, about, folder / "short.pdf", jobs=1, full=[folder / "full.pdf"])
    return {name: pypdf.PdfReader(io.BytesIO((folder / f"{name}.pdf").read_bytes())) for name in ("short", "full")}


@pytest.fixture(scope="module")
def texts(readers: dict[str, pypdf.PdfReader]) -> dict[str, list[str]]:
    """The text of every page of both."""
    return {name: [" ".join(p.extract_text().split()) for p in reader.pages] for name, reader in readers.items()}


def test_first_page_has_what_a_manager_needs(texts: dict[str, list[str]]) -> None:
    for text in (
        "Of 2 published statements 1 are supported as printed and 1 are refuted, 1 of which",
        "The run itself. Every verdict is the expected one.",
        "2 of 2 mutants caught",
        "failure probability",
        "seed 3",
        "2031-12-30",
        "Wang (2019). Per-instance Differential Privacy",
        "Nothing here was compared with a publisher's PDF",
    ):
        assert text in texts["short"][0], text
    assert len(texts["short"]) <= MOST_PAGES


def test_the_short_report_of_as_many_statements_as_there_are_has_at_most_twenty_pages(record: Record) -> None:
    """161 statements, 80 of them refuted, each by a slip of its own: more than the papers have."""
    (toy,) = (row for row in record.statements if row["id"] == "RW21-T17")
    verdict = next(row for row in record.verdicts if row["id"] == "RW21-T17")
    held = next(row for row in record.verdicts if row["id"] == "W19-T4.1")["printed"]
    consequences = ["PRIVACY"] * 12 + ["COVERAGE"] * 8 + ["RESULT"] * 25 + ["PROOF"] * 15 + ["MISPRINT"] * 20
    consequences += [""] * (161 - len(consequences))
    statements, verdicts = [], []
    for place, consequence in enumerate(consequences):
        title = "A title that is as long as those of the papers are"
        statements.append(toy | {"id": f"RW21-T17.{place}", "title": title})
        about = {"id": f"RW21-T17.{place}", "consequence": consequence}
        verdicts.append(verdict | about | ({} if consequence else {"printed": held}))
    cases = [
        row | {"id": s["id"], "part": s["id"]}
        for s in statements
        for row in record.cases
        if row["part"] == "RW21-T17.1"
    ]
    many = Record(record.header, tuple(statements), tuple(cases), (), (*verdicts, *record.verdicts))
    assert len(pypdf.PdfReader(io.BytesIO(pdf_bytes(short_document(many, date="")))).pages) <= MOST_PAGES


def test_first_page_says_which_promises_fail_and_what_to_use_instead(record: Record) -> None:
    """A refuted promise of privacy is the headline, with its counterexample and the form to use."""
    privacy = changed(record, **{"RW21-T17": {"consequence": "PRIVACY"}})
    pages = short_document(privacy, date="")
    assert pages.summary is not None
    assert (pages.summary.tone, pages.summary.title) == (Tone.BAD, "1 promises of privacy fail")
    shown = pages.to_json()
    assert "What to use instead" in shown
    harmless = short_document(changed(record, **{"RW21-T17": {"consequence": "MISPRINT"}}), date="")
    assert harmless.summary is not None
    assert harmless.summary.tone is Tone.NEUTRAL
    assert "What to use instead" not in harmless.to_json()


def test_method_says_what_support_is_not_and_explains_its_words(texts: dict[str, list[str]]) -> None:
    text = " ".join(texts["short"])
    for said in (
        "Support over infinitely many data sets carries no probability.",
        "states the residual it was solved to",
        "ideal Gaussian noise",
        "hockey-stick divergence The least delta",
        "the paper is blamed for none of them",
    ):
        assert said in text


def test_statement_has_formula_verdict_numbers_and_replay(texts: dict[str, list[str]]) -> None:
    text = " ".join(texts["full"])
    for words_ in (
        "refuted by a confirmed counterexample",
        "What is wrong as printed: 0.7 > 0.6.",
        "Counterexample",
        "pdp-verify replay audit.jsonl RW21-T17.1 --case printed",
        "Deliberately wrong versions",
        "caught",
        "Exact and simulated values agree in 1 cases",
    ):
        assert words_.lower() in text.lower()
    assert "not refuted" not in text


def test_bookmarks_are_paper_then_id_verdict_and_title(readers: dict[str, pypdf.PdfReader]) -> None:
    outline = readers["full"].outline
    parts = [item.title for item in outline if not isinstance(item, list)]
    assert parts[0] == "Wang (2019): Per-instance Differential Privacy"
    assert parts[-2:] == ["Method", "How to do this again"]
    titles = [item.title for item in outline[1] if not isinstance(item, list)]
    assert titles[1] == "W19-T4.1 · supported · A fair coin is not too unfair"
    links = {
        each.get_object()["/A"]["/URI"]
        for page in readers["full"].pages
        for each in page.get("/Annots", [])
        if "/URI" in each.get_object().get("/A", {})
    }
    assert "https://doi.org/10.29012/jpc.662" in links


def test_a_pdf_says_that_it_is_accessible(readers: dict[str, pypdf.PdfReader]) -> None:
    for reader in readers.values():
        metadata = reader.xmp_metadata
        assert metadata is not None
        assert "pdfuaid:part" in metadata.stream.get_data().decode()


def test_reports_need_the_record_alone(record: Record, tmp_path: Path) -> None:
    write(record, tmp_path / "audit.jsonl")
    for made in (document, short_document):
        assert made(read(tmp_path), date="2031-12-30") == made(record, date="2031-12-30")
        assert Document.from_json(made(record, date="").to_json()).title == made(record, date="").title


def test_what_is_wrong_with_the_run_comes_first(record: Record, tmp_path: Path) -> None:
    """Interrupted, unexpected, broken: the headline; open at this budget: said, and never "every verdict"."""

    def headline(of: Record) -> Callout:
        callout = short_document(of, date="").summary
        assert callout is not None
        return callout

    assert run_state(record).title == "Every verdict is the expected one"
    assert headline(changed(record, header={"complete": False})).title.startswith("Interrupted")
    unexpected = changed(record, **{"W19-T4.1": {"unexpected": ["as printed: expected REFUTED, got SUPPORTED"]}})
    assert headline(unexpected).title == "1 statements have a verdict that was not expected"
    still_open = run_state(changed(record, **{"W19-T4.1": {"still_open": ["expected SUPPORTED, got UNDECIDED"]}}))
    assert "Every verdict" not in still_open.title
    assert "W19-T4.1" in still_open.text
    broken = record_of(tmp_path, "W18-L4")
    assert headline(broken).title == "1 checks of this suite stopped with an error"
    assert document(broken, date="").summary == headline(broken)


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
