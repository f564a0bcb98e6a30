"""The public names, each with the module that holds it."""

from .coverage import CoverageAudit as CoverageAudit
from .coverage import SequentialAudit as SequentialAudit
from .coverage import audit_coverage as audit_coverage
from .coverage import sequential_delta as sequential_delta
from .coverage import sequential_mean as sequential_mean
from .coverage import sequential_proportion as sequential_proportion
from .intervals import holm_rejections as holm_rejections
from .power import draws_needed as draws_needed
from .power import refutation_probability as refutation_probability
from .rates import RateAudit as RateAudit
from .rates import audit_rate as audit_rate
