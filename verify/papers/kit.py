"""What statements are declared with: one import in place of four."""

from ..kernel.declare import (
    EXACT,
    At,
    Decide,
    Display,
    Draws,
    Form,
    Mutant,
    Numbers,
    over,
    refuting,
    search,
    smallest,
    statement,
)
from ..kernel.evidence import FORMULA_ERROR, coverage_evidence, hockey_stick_evidence, identity_evidence
from ..kernel.measure import Measure
from ..kernel.statement import Case, Claim, Evidence, Observer, Params, Role, Statement, Value

__all__ = [
    "EXACT", "FORMULA_ERROR", "At", "Case", "Claim", "Decide", "Display", "Draws", "Evidence", "Form", "Measure",
    "Mutant", "Numbers", "Observer", "Params", "Role", "Statement", "Value", "coverage_evidence",
    "hockey_stick_evidence", "identity_evidence", "over", "refuting", "search", "smallest", "statement",
]  # fmt: skip
