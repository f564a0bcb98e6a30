"""The public names, each with the module that holds it."""

from .sparing_audit import SparingAudit as SparingAudit
from .sparing_audit import audit_sparingly as audit_sparingly
