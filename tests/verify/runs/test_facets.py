"""A run's statements can be chosen by paper, verdict and consequence; the pages themselves stay what they are."""

import dataclasses
from pathlib import Path

import pytest
from toys import LEDGER, toy_registry

from reports.row import Facet
from verify.engine.executors import local
from verify.engine.follow import Follower
from verify.engine.record import Record
from verify.engine.store import Store
from verify.engine.worker import RunSettings
from verify.runs.audit_pages import document, with_facets
from verify.runs.publish import publish
from verify.runs.statement_run import execute


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    store = Store(tmp_path_factory.mktemp("record") / "store.sqlite")
    sources = toy_registry("W19-T4.1", "RW21-T17").select()
    settings = RunSettings(3, "quick", 1e-4)
    findings = execute(sources, settings, LEDGER, executor=local(1), store=store, watcher=Follower())
    store.close()
    return findings.record


def test_pages_of_statements_alone_get_facets(record: Record) -> None:
    plain = document(record, date="2031-12-30")
    chosen = with_facets(plain, record)
    facets = {section.id: section.facets for section in chosen.sections if section.facets}
    assert sorted(facets) == ["RW21-T17", "W19-T4.1"]
    assert [facet.name for facet in facets["W19-T4.1"]] == ["paper", "verdict", "consequence"]
    assert Facet("verdict", "supported") in facets["W19-T4.1"]
    assert Facet("consequence", "none") in facets["W19-T4.1"]
    assert Facet("verdict", "refuted") in facets["RW21-T17"]
    consequence = record.verdict("RW21-T17")["consequence"].lower() or "none"
    assert Facet("consequence", consequence) in facets["RW21-T17"]
    assert dataclasses.replace(chosen, sections=plain.sections) == plain
    assert tuple(dataclasses.replace(section, facets=()) for section in chosen.sections) == plain.sections


def test_a_run_is_published_once_in_each_format(record: Record, tmp_path: Path) -> None:
    paths = [tmp_path / f"audit{suffix}" for suffix in (".pdf", ".html", ".md")]
    publish(record, {"finished": "2031-12-30T10:00:00+00:00"}, *paths, jobs=1)
    page = paths[1].read_text(encoding="utf-8")
    assert 'data-verdict="refuted"' in page
    assert '<article id="RW21-T17"' in page
    assert paths[0].read_bytes().startswith(b"%PDF")
    assert paths[2].read_text(encoding="utf-8").startswith("# ")
