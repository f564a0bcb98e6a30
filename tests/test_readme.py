"""The README's Python block runs as it stands."""

from __future__ import annotations

import doctest
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def test_readme_examples() -> None:
    """Every example in the README gives the output that it shows."""
    examples = "\n".join(line for line in README.read_text(encoding="utf-8").splitlines() if not line.startswith("```"))
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", str(README), 0)
    assert len(test.examples) >= 8
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
