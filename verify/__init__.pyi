"""The public names, each with the module that holds it."""

from .certificates.certify_call import Certification as Certification
from .certificates.certify_call import certify as certify
from .certificates.counterexample import Counterexample as Counterexample
from .certificates.counterexample import counterexample as counterexample
from .comparisons.compare_call import compare as compare
from .diffs.page import Difference as Difference
from .diffs.record_difference import difference as difference
from .engine.record import Record as Record
from .engine.record import read as read
from .kernel.statement import Statement as Statement
from .kernel.verdict import Verdict as Verdict
from .papers.registry import statements as statements
