"""The HTML of a certificate: made again to the byte, compared without its drawings, or not vouched for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from toys.forgery import attest_again

from verify.certificates.folder.check_pages import SHAPES, _outline
from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
OTHER_TYPST = {"typst": "0.0.1"}
OTHER_SOURCES = {"reports": "0" * 64}
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


@pytest.fixture
def copy(private_certificate: Path, tmp_path: Path) -> Path:
    """The release folder of a certificate that says PASS."""
    return Path(shutil.copytree(private_certificate / "release", tmp_path / "release"))


def put(folder: Path, html: bytes, **rendered: str) -> None:
    (folder / "audit.html").write_bytes(html)
    attest_again(folder, rendered=rendered)


def said(folder: Path, capsys: Captured) -> tuple[int, str]:
    capsys.readouterr()
    code = invoke(["check", str(folder)])
    printed = capsys.readouterr()
    assert printed.err == ""
    return code, printed.out


def test_a_page_that_is_not_made_from_the_record_fails(copy: Path, capsys: Captured) -> None:
    forged = (copy / "audit.html").read_bytes().replace(b"PASS", b"FAIL")
    (copy / "audit.html").write_bytes(forged)
    assert said(copy, capsys) == (1, "release: audit.html is not the file that was attested\n")
    put(copy, forged)
    assert said(copy, capsys) == (1, "release: audit.html is not made from this audit.jsonl\n")


@pytest.mark.slow
def test_a_page_of_other_versions_is_compared_without_its_drawings(copy: Path, capsys: Captured) -> None:
    true = (copy / "audit.html").read_bytes()
    assert b'd="M ' in true
    put(copy, true.replace(b'd="M ', b'd="M 1 ', 1), **OTHER_TYPST)
    code, out = said(copy, capsys)
    assert (code, "audit.html was compared without its figures and its style: it was made by typst" in out) == (0, True)
    assert "PDF and HTML aside" in out
    assert "they belong together" not in out
    for versions in (OTHER_TYPST, OTHER_SOURCES):
        put(copy, true.replace(b"PASS", b"FAIL"), **versions)
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
