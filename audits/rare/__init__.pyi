"""The public names, each with the module that holds it."""

from .importance import RareAudit as RareAudit
from .importance import RareLowerBound as RareLowerBound
from .importance import audit_rare as audit_rare
from .importance import audit_rare_lower as audit_rare_lower
