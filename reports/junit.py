"""JUnit XML, as continuous-integration servers read it; no clock, no host, so equal cases give equal bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_STATUSES = ("passed", "failed", "error", "skipped")
_ELEMENT = {"failed": "failure", "error": "error", "skipped": "skipped"}
# Not allowed in XML 1.0, section 2.2.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class JUnitCase:
    """One test case: ``status`` is passed, failed, error or skipped; the first line of ``message`` is its headline.

    Attributes
    ----------
    name, classname : str
        As CI shows them.
    status : str
        ``passed``, ``failed``, ``error`` or ``skipped``.
    message : str
        Its first line is the headline.
    """

    name: str
    classname: str
    status: str
    message: str = ""

    def __post_init__(self) -> None:
        if self.status not in _STATUSES:
            raise ValueError(f"status must be one of {', '.join(_STATUSES)}, got status={self.status!r}")


def junit_xml(suite_name: str, cases: Iterable[JUnitCase]) -> bytes:
    r"""Return one ``<testsuites>`` document with one suite, in the order given.

    >>> print(junit_xml("run", [JUnitCase("W19-L2.4", "wang2019", "failed", "2 < 3")]).decode())
    <?xml version='1.0' encoding='utf-8'?>
    <testsuites name="run" tests="1" failures="1" errors="0" skipped="0">
      <testsuite name="run" tests="1" failures="1" errors="0" skipped="0">
        <testcase name="W19-L2.4" classname="wang2019">
          <failure message="2 &lt; 3">2 &lt; 3</failure>
        </testcase>
      </testsuite>
    </testsuites>

    Parameters
    ----------
    suite_name : str
        Name of the one suite.
    cases : iterable of JUnitCase
        In the order in which they are to be listed.

    Returns
    -------
    bytes
        UTF-8, with an XML declaration; characters that XML forbids are replaced.
    """
    from xml.etree import ElementTree

    listed = list(cases)
    count = {status: str(sum(case.status == status for case in listed)) for status in _STATUSES}
    totals = {"name": _legal(suite_name), "tests": str(len(listed)), "failures": count["failed"]}
    totals |= {"errors": count["error"], "skipped": count["skipped"]}
    root = ElementTree.Element("testsuites", totals)
    suite = ElementTree.SubElement(root, "testsuite", totals)
    for case in listed:
        attributes = {"name": _legal(case.name), "classname": _legal(case.classname)}
        element = ElementTree.SubElement(suite, "testcase", attributes)
        if case.status in _ELEMENT:
            message = _legal(case.message)
            headline = message.splitlines()[0] if message else ""
            ElementTree.SubElement(element, _ELEMENT[case.status], {"message": headline}).text = message
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _legal(text: str) -> str:
    return _ILLEGAL.sub(lambda match: f"<U+{ord(match.group()):04X}>", text)
