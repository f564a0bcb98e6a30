"""PDF and HTML of a certificate: made again to the byte, or compared by what they say, or not vouched for."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toys.forgery import attest_again

from reports.document import pdf_bytes
from reports.row import Callout, Document, Tone
from verify.certificates.certificate_pages import document
from verify.certificates.folder import check_folder
from verify.certificates.folder.attestation import sha256
from verify.certificates.folder.check_pages import SHAPES, _outline
from verify.certificates.folder.output import parse_rows
from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
OTHER_TYPST = {"typst": "0.0.1"}
OTHER_SOURCES = {"reports": "0" * 64}


@pytest.fixture
def copy(private_certificate: Path, tmp_path: Path) -> Path:
    """The release folder of a certificate that says PASS."""
    return Path(shutil.copytree(private_certificate / "release", tmp_path / "release"))


def pages_of(folder: Path, rows: list[dict[str, Any]] | None = None) -> Document:
    """Return the pages of a record, or of other rows around the true record."""
    record = (folder / "audit.jsonl").read_bytes()
    date = json.loads((folder / "run.json").read_bytes())["date"]
    return document(rows or parse_rows(record), digest=sha256(record), date=date, record=record)


def forged_rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows with FAIL where they say PASS."""
    rows = parse_rows((folder / "audit.jsonl").read_bytes())
    for row in rows:
        if row["kind"] in ("header", "claim"):
            row |= {"verdict": "FAIL", "words": "FAIL"}
    return rows


def put(folder: Path, pdf: bytes, **rendered: str) -> None:
    (folder / "audit.pdf").write_bytes(pdf)
    attest_again(folder, rendered=rendered)


def said(folder: Path, capsys: Captured) -> tuple[int, str]:
    capsys.readouterr()
    code = invoke(["check", str(folder)])
    printed = capsys.readouterr()
    assert printed.err == ""
    return code, printed.out


def test_a_pdf_with_another_verdict_around_the_true_record_fails(copy: Path, capsys: Captured) -> None:
    """Page 1 says FAIL, the record PASS: with the old digest and with a new one."""
    forged = pdf_bytes(pages_of(copy, forged_rows(copy)))
    (copy / "audit.pdf").write_bytes(forged)
    assert said(copy, capsys) == (1, "release: audit.pdf is not the file that was attested\n")
    put(copy, forged)
    assert said(copy, capsys) == (1, "release: audit.pdf is not made from this audit.jsonl\n")


@pytest.mark.slow
@pytest.mark.parametrize("versions", [OTHER_TYPST, OTHER_SOURCES])
def test_other_versions_do_not_excuse_another_verdict(versions: dict[str, str], copy: Path, capsys: Captured) -> None:
    put(copy, pdf_bytes(pages_of(copy, forged_rows(copy))), **versions)
    words = "audit.pdf says another verdict than audit.jsonl on its first page"
    assert said(copy, capsys) == (1, f"release: {words}\n")


@pytest.mark.slow
def test_a_pdf_of_other_versions_is_compared_by_its_text(copy: Path, capsys: Captured) -> None:
    """The same pages in other bytes: not with the versions that are here, but another Typst may write them so."""
    same = (copy / "audit.pdf").read_bytes() + b"% another producer\n"
    put(copy, same)
    assert said(copy, capsys)[0] == 1
    put(copy, same, **OTHER_TYPST)
    code, out = said(copy, capsys)
    assert (code, "compared by its text alone, its figures not: it was made by typst 0.0.1" in out) == (0, True)
    assert "PDF and HTML aside" in out
    assert "they belong together" not in out
    other = replace(pages_of(copy), subtitle="another mechanism")
    put(copy, pdf_bytes(other), **OTHER_TYPST)
    code, out = said(copy, capsys)
    assert (code, "the same text was not found in it; not vouched for" in out) == (3, True)
    assert "they belong together" not in out


@pytest.mark.slow
def test_a_pdf_of_other_sources_is_compared_by_its_verdicts(copy: Path, capsys: Captured) -> None:
    other = replace(pages_of(copy), subtitle="other words")
    put(copy, pdf_bytes(other), **OTHER_SOURCES)
    code, out = said(copy, capsys)
    assert (code, "its verdicts were looked for and found, the rest was not compared" in out) == (0, True)
    assert "PDF and HTML aside" in out
    assert "they belong together" not in out
    silent = replace(other, summary=Callout(Tone.GOOD, "Supported", "in words that are not ours"))
    put(copy, pdf_bytes(silent), **OTHER_SOURCES)
    code, out = said(copy, capsys)
    assert (code, "the verdict was not found in it; not vouched for" in out) == (3, True)
    rows = parse_rows((copy / "audit.jsonl").read_bytes())
    lost = pages_of(copy, [row for row in rows if row["kind"] not in ("claim", "check", "figure")])
    put(copy, pdf_bytes(lost), **OTHER_SOURCES)
    code, out = said(copy, capsys)
    assert (code, "the verdict on dp was not found in it" in out) == (3, True)


@pytest.mark.slow
def test_a_pdf_without_the_record_or_that_is_none_fails(copy: Path, capsys: Captured) -> None:
    put(copy, pdf_bytes(replace(pages_of(copy), attachment=None)), **OTHER_TYPST)
    assert said(copy, capsys) == (1, "release: audit.pdf does not hold this audit.jsonl\n")
    for junk in (b"", b"%PDF-1.7\n", b"\x00" * 100):
        put(copy, junk, **OTHER_TYPST)
        assert said(copy, capsys) == (1, "release: audit.pdf is not readable as a PDF\n")


@pytest.mark.parametrize("date", ['{"date": "yesterday"}', '{"date": 5}', "{}"])
def test_a_date_that_is_none_is_named(date: str, copy: Path, capsys: Captured) -> None:
    (copy / "run.json").write_text(date)
    attest_again(copy)
    code, out = said(copy, capsys)
    assert (code, out) == (1, "release: run.json is not readable (its date is none)\n")


@pytest.mark.slow
def test_the_same_text_by_other_sources_is_said_to_be_the_same(copy: Path, capsys: Captured) -> None:
    put(copy, (copy / "audit.pdf").read_bytes() + b"% another producer\n", **OTHER_SOURCES)
    code, out = said(copy, capsys)
    assert (code, "compared by its text alone" in out) == (0, True)


def test_a_configuration_that_other_sources_read_differently_is_not_silently_passed(
    private_certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator = private_certificate / "curator"
    monkeypatch.setattr(check_folder, "public_configuration", lambda *_: {})
    ours = check_folder.check_folder(curator, render=False)
    assert ours.wrong == ["audit.jsonl is about another configuration than configuration.toml"]
    monkeypatch.setattr(check_folder, "source_digest", lambda: "0" * 64)
    others = check_folder.check_folder(curator, render=False)
    assert others.wrong == []
    assert any("another configuration" in line and "not compared" in line for line in others.notes)


#: What a forger may do to a page: words for words, and what a browser would run or show.
FORGERIES = (
    (b"PASS", b"FAIL"),
    (b"</main>", b"<p>All is well.</p></main>"),
    (b"<body>", b"<body><script>1</script>"),
    (b"<body>", b'<body onload="x">'),
    (b"<body>", b"<body><!-- hidden -->"),
    (b"script-src 'sha256-", b"script-src 'unsafe-inline' 'sha256-"),
    (b"style-src 'sha256-", b"style-src 'unsafe-inline' 'sha256-"),
)


def put_check_html(folder: Path, html: bytes, **rendered: str) -> None:
    (folder / "audit.html").write_bytes(html)
    attest_again(folder, rendered=rendered)


def test_a_page_that_is_not_made_from_the_record_fails(copy: Path, capsys: Captured) -> None:
    forged = (copy / "audit.html").read_bytes().replace(b"PASS", b"FAIL")
    (copy / "audit.html").write_bytes(forged)
    assert said(copy, capsys) == (1, "release: audit.html is not the file that was attested\n")
    put_check_html(copy, forged)
    assert said(copy, capsys) == (1, "release: audit.html is not made from this audit.jsonl\n")


@pytest.mark.slow
def test_a_page_of_other_versions_is_compared_without_its_drawings(copy: Path, capsys: Captured) -> None:
    true = (copy / "audit.html").read_bytes()
    assert b'd="M ' in true
    put_check_html(copy, true.replace(b'd="M ', b'd="M 1 ', 1), **OTHER_TYPST)
    code, out = said(copy, capsys)
    assert (code, "audit.html was compared without its figures and its style: it was made by typst" in out) == (0, True)
    assert "PDF and HTML aside" in out
    assert "they belong together" not in out
    for versions in (OTHER_TYPST, OTHER_SOURCES):
        put_check_html(copy, true.replace(b"PASS", b"FAIL"), **versions)
        code, out = said(copy, capsys)
        assert (code, "and is another page here; not vouched for" in out) == (3, True)
        assert "they belong together" not in out


@pytest.mark.parametrize(("true", "forged"), FORGERIES)
def test_what_a_browser_shows_or_runs_is_compared(true: bytes, forged: bytes, copy: Path) -> None:
    page = (copy / "audit.html").read_bytes()
    assert true in page
    assert _outline(page.replace(true, forged)) != _outline(page)


def test_a_figure_holds_nothing_but_shapes(copy: Path) -> None:
    page = (copy / "audit.html").read_bytes()
    for inside in (b"<script>1</script>", b"<text>PASS</text>", b"<style>p{display:none}</style>", b"</svg>PASS<svg>"):
        assert _outline(page.replace(b"</svg>", inside + b"</svg>", 1)) != _outline(page)
    assert _outline(page.replace(b"</svg>", b"<path></path></svg>", 1)) == _outline(page)
    assert _outline(b"\xff") is None
    assert {"script", "style", "text", "a", "foreignobject"} & SHAPES == set()


def test_a_certificate_from_before_there_was_an_html_still_belongs_together(copy: Path, capsys: Captured) -> None:
    """Its predicate lists no HTML; one that lists it and lacks it is damaged."""
    whole = Path(shutil.copytree(copy, copy.parent / "whole"))
    (whole / "audit.html").unlink()
    assert said(whole, capsys)[0] == 1
    (copy / "audit.html").unlink()
    attest_again(copy, without=("audit.html",))
    code, out = said(copy, capsys)
    assert (code, "they belong together" in out) == (0, True)
