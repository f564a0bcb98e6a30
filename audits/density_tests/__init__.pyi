"""The public names, each with the module that holds it."""

from .stated_law import LawAudit as LawAudit
from .stated_law import audit_law as audit_law
from .stated_law import audit_loss as audit_loss
from .stated_law import audit_profile as audit_profile
