"""Every format renders every document; a file's suffix chooses, and another is refused before anything is written."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from reports import FORMATS, Document, pdf_bytes, render_markdown, rendered, write_document
from verify import cli


@pytest.mark.parametrize("suffix", list(FORMATS))
def test_a_document_is_written_in_the_format_of_its_suffix(demo: Document, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"report{suffix}"
    write_document(demo, path, mode=0o600)
    assert path.read_bytes() == rendered(demo, suffix)
    assert path.stat().st_mode & 0o777 == 0o600


def test_formats_are_what_their_own_modules_render(demo: Document) -> None:
    assert rendered(demo, ".pdf") == pdf_bytes(demo)
    assert rendered(demo, ".md").decode() == render_markdown(demo)


def test_figures_drawn_elsewhere_are_used(demo: Document) -> None:
    """A figure handed in as SVG takes the place of the one that would be drawn, where a format shows figures."""
    empty = b'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'
    names = [block.name for block in demo.blocks() if hasattr(block, "name") and hasattr(block, "alt")]
    assert rendered(demo, ".pdf", figures=dict.fromkeys(names, empty)) != rendered(demo, ".pdf")


@pytest.mark.quick
def test_another_suffix_is_refused(demo: Document, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"suffix must be one of .pdf, .md, .html, got suffix='.doc'"):
        write_document(demo, tmp_path / "report.doc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["errata", "figures", "report"])
def test_commands_refuse_another_suffix_before_they_work(command: str, tmp_path: Path) -> None:
    record = [] if command == "figures" else [str(tmp_path / "none.jsonl")]
    arguments = [command, *record, "-o", str(tmp_path / "x.doc")]
    assert cli.invoke(arguments) == 2
    assert CliRunner().invoke(cli.group, [command, "--help"]).exit_code == 0
    assert list(tmp_path.iterdir()) == []
