"""JUnit XML: counted, in order, and readable whatever the texts hold."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.junit import JUnitCase, junit_xml

CASES = (
    JUnitCase("a", "m", "passed"),
    JUnitCase("b", "m", "failed", "first line\nsecond <line> & \x00"),
    JUnitCase("c", "n", "error", "]]>"),
    JUnitCase("d", "n", "skipped"),
)


def test_counts_and_elements():
    document = junit_xml("run", CASES)
    assert document == junit_xml("run", iter(CASES))
    suite = ElementTree.fromstring(document).find("testsuite")
    counts = {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    assert [case.get("name") for case in suite] == ["a", "b", "c", "d"]
    failure = suite[1].find("failure")
    assert failure.get("message") == "first line"
    assert failure.text == "first line\nsecond <line> & <U+0000>"
    assert [len(case) for case in suite] == [0, 1, 1, 1]
    assert b"time" not in document


@given(text=st.text())
def test_any_text_gives_well_formed_xml(text):
    root = ElementTree.fromstring(junit_xml(text, [JUnitCase(text, text, "failed", text)]))
    assert root.find("testsuite/testcase/failure") is not None


def test_unknown_status():
    with pytest.raises(ValueError, match="status must be one of passed, failed, error, skipped, got status='ok'"):
        JUnitCase("a", "b", "ok")
