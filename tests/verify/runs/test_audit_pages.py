"""The reports of a run: what a manager reads first, every verdict in words, and nothing but what the record holds."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pypdf
import pytest
from pypdf import PdfReader
from rows import for_each
from toys import LEDGER, toy_registry

from reports.document import pdf_bytes
from reports.markdown import render_markdown
from reports.row import Callout, Document, Facet, Tone
from verify.cli import invoke
from verify.engine.executors import local
from verify.engine.follow import Follower
from verify.engine.record import Record, read, write
from verify.engine.store import Store
from verify.engine.worker import RunSettings
from verify.kernel import words
from verify.kernel.paper import Consequence, roots
from verify.messages.errors import UserError
from verify.papers import registry
from verify.papers.ledger import default as committed
from verify.runs.errata import errata_document
from verify.runs.pages.short_pages import run_state, short_document
from verify.runs.publish import document, junit, publish, with_facets
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


@for_each(
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


@pytest.fixture(scope="module")
def record_of_facets(tmp_path_factory: pytest.TempPathFactory) -> Record:
    store = Store(tmp_path_factory.mktemp("record") / "store.sqlite")
    sources = toy_registry("W19-T4.1", "RW21-T17").select()
    settings = RunSettings(3, "quick", 1e-4)
    findings = execute(sources, settings, LEDGER, executor=local(1), store=store, watcher=Follower())
    store.close()
    return findings.record


def test_pages_of_statements_alone_get_facets(record_of_facets: Record) -> None:
    plain = document(record_of_facets, date="2031-12-30")
    chosen = with_facets(plain, record_of_facets)
    facets = {section.id: section.facets for section in chosen.sections if section.facets}
    assert sorted(facets) == ["RW21-T17", "W19-T4.1"]
    assert [facet.name for facet in facets["W19-T4.1"]] == ["paper", "verdict", "consequence"]
    assert Facet("verdict", "supported") in facets["W19-T4.1"]
    assert Facet("consequence", "none") in facets["W19-T4.1"]
    assert Facet("verdict", "refuted") in facets["RW21-T17"]
    consequence = record_of_facets.verdict("RW21-T17")["consequence"].lower() or "none"
    assert Facet("consequence", consequence) in facets["RW21-T17"]
    assert dataclasses.replace(chosen, sections=plain.sections) == plain
    assert tuple(dataclasses.replace(section, facets=()) for section in chosen.sections) == plain.sections


def test_a_run_is_published_once_in_each_format(record_of_facets: Record, tmp_path: Path) -> None:
    paths = [tmp_path / f"audit{suffix}" for suffix in (".pdf", ".html", ".md")]
    publish(record_of_facets, {"finished": "2031-12-30T10:00:00+00:00"}, *paths, jobs=1)
    page = paths[1].read_text(encoding="utf-8")
    assert 'data-verdict="refuted"' in page
    assert '<article id="RW21-T17"' in page
    assert paths[0].read_bytes().startswith(b"%PDF")
    assert paths[2].read_text(encoding="utf-8").startswith("# ")


Captured = pytest.CaptureFixture[str]


@pytest.fixture
def record_of_errata(toys: registry.Registry, tmp_path: Path) -> Record:
    """The toys' record: some statements are refuted, some supported."""
    invoke(["run", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "out")])
    return read(tmp_path / "out")


def entries_of(pages: Document) -> list[str]:
    """The ids of the entries, in order; a list of misprints is none."""
    return [section.id for section in pages.sections if section.id and section.id != "misprints"]


def with_verdicts(record_of_errata: Record, change: dict[str, dict[str, object]]) -> Record:
    """A copy of a record whose verdict rows say something else."""
    verdicts = tuple(row | change.get(row["id"], {}) for row in record_of_errata.verdicts)
    return Record(
        record_of_errata.header, record_of_errata.statements, record_of_errata.cases, record_of_errata.figures, verdicts
    )


def refuted_in(record_of_errata: Record) -> list[str]:
    return [
        row["id"] for row in record_of_errata.verdicts if not row["parent"] and row["printed"]["verdict"] == "REFUTED"
    ]


def test_corrections_hold_exactly_what_is_refuted(record_of_errata: Record) -> None:
    """Every statement refuted as printed has a section, no other statement has one."""
    assert set(entries_of(errata_document(record_of_errata, date=""))) == set(refuted_in(record_of_errata))
    assert refuted_in(record_of_errata)


def test_corrections_are_ordered_by_consequence_and_misprints_are_a_list(record_of_errata: Record) -> None:
    """A statement whose consequence is graver comes first; a misprint has a row, and no section."""
    two = ["RW21-T17", "W19-T4.1"]
    failing = next(row for row in record_of_errata.verdicts if row["id"] == "RW21-T17")["printed"]
    for gravest in two:
        change = {id_: {"printed": failing, "consequence": "PRIVACY" if id_ == gravest else "RESULT"} for id_ in two}
        pages = errata_document(with_verdicts(record_of_errata, change), date="")
        assert entries_of(pages)[0] == gravest
        assert len(entries_of(pages)) == 2
    pages = errata_document(with_verdicts(record_of_errata, {"RW21-T17": {"consequence": "MISPRINT"}}), date="")
    assert entries_of(pages) == []
    assert "Misprints" in [section.title for section in pages.sections]


def test_a_slip_behind_several_entries_comes_first(record_of_errata: Record) -> None:
    """Entries with one root are together under its title and text; a root of one entry is no chapter."""
    failing = next(row for row in record_of_errata.verdicts if row["id"] == "RW21-T17")["printed"]
    rooted = {"printed": failing, "consequence": "PRIVACY", "root": "sqrt-two"}
    shared = errata_document(with_verdicts(record_of_errata, {"RW21-T17": rooted, "W19-T4.1": rooted}), date="")
    assert [section.title for section in shared.sections][:2] == ["Causes", roots()["sqrt-two"]["title"]]
    alone = errata_document(with_verdicts(record_of_errata, {"RW21-T17": rooted}), date="")
    assert "Causes" not in [section.title for section in alone.sections]


def test_an_entry_says_where_it_was_read_what_is_true_and_the_number(record_of_errata: Record) -> None:
    """Provenance, counterexample as a sentence, and the corrected formula stand at each entry."""
    source = {"copy": "main", "digest": "0" * 64, "line": 7, "worth": "SINGLE", "evidence": ""}
    statements = json.loads(json.dumps(record_of_errata.statements))
    for statement in statements:
        for part in statement["parts"]:
            part["provenance"] = source
    known = Record(
        record_of_errata.header,
        tuple(statements),
        record_of_errata.cases,
        record_of_errata.figures,
        record_of_errata.verdicts,
    )
    text = render_markdown(errata_document(known, date=""))
    assert "copy main (0000000000000000…), line 7; as transcribed: no second source was found" in text
    assert "Corrected:" in text
    assert "## RW21-T17 · " in text
    assert "nothing here was compared with the publisher's PDF" in text
    assert re.search(r"Counterexample: \*\*.*0\.7.*, where at most 0\.6", text)
    assert "| Page |" not in text


def test_answers_go_to_the_address_that_is_given_and_none_is_invented(
    record_of_errata: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "whoever sent you this document" in render_markdown(errata_document(record_of_errata, date=""))
    given = render_markdown(errata_document(record_of_errata, date="", contact="somebody at an institute"))
    assert "Answers to: **somebody at an institute**" in given
    monkeypatch.setattr("verify.runs.errata.tracker", lambda: "https://issues.invalid/x")
    assert "https://issues.invalid/x" in render_markdown(errata_document(record_of_errata, date=""))


def test_one_paper_has_a_file_of_its_own(record_of_errata: Record, tmp_path: Path, capsys: Captured) -> None:
    """By prefix or folder; another name is refused with what there is."""
    for name in ("RW21", "redberg_wang2021"):
        pages = errata_document(record_of_errata, date="", paper=name)
        assert entries_of(pages) == ["RW21-T17"]
        assert pages.title == "Proposed corrections to “Privately Publishable Per-instance Privacy”"
    command = ["errata", str(tmp_path / "out"), "-o", str(tmp_path / "x.md"), "--paper", "W20"]
    assert invoke(command) == 2
    assert "paper must be" in capsys.readouterr().err
    with pytest.raises(UserError, match="refutes none"):
        errata_document(record_of_errata, date="", paper="W19")


def test_errata_command(record_of_errata: Record, tmp_path: Path, capsys: Captured) -> None:
    """PDF, Markdown and HTML from the same record; another ending is refused in one line."""
    for name in ("errata.pdf", "errata.md", "errata.html"):
        assert invoke(["errata", str(tmp_path / "out"), "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 500
    assert invoke(["errata", str(tmp_path / "out"), "-o", str(tmp_path / "errata.txt")]) == 2
    assert "output must end in .pdf or .md" in capsys.readouterr().err


def test_full_report_is_made_on_demand(
    record_of_errata: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_junit_has_a_case_a_statement(record_of_errata: Record) -> None:
    """Every statement is one test case; what the ledger did not expect is a failure, the rest passes."""
    suite = ElementTree.fromstring(junit(record_of_errata)).find("testsuite")
    assert suite is not None
    own = [row for row in record_of_errata.verdicts if row["parent"] is None]
    assert [case.get("name") for case in suite] == [row["id"] for row in own]
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == {row["id"] for row in own if row["unexpected"]}


def test_junit_fails_where_a_part_alone_is_unexpected(record_of_errata: Record) -> None:
    child = next(row for row in record_of_errata.verdicts if row["parent"] and not row["unexpected"])
    rows = [row | {"unexpected": ["as printed: no"]} if row is child else row for row in record_of_errata.verdicts]
    cases = ElementTree.fromstring(junit(replace(record_of_errata, verdicts=tuple(rows)))).iter("testcase")
    found = {case.get("name"): case.find("failure") for case in cases}[child["parent"]]
    assert found is not None
    assert f"{child['id']} as printed: no" in f"{found.get('message')}{found.text}"
