"""The public names, each with the module that holds it."""

from .report_terms import ReportScales as ReportScales

MECHANISMS: tuple[str, ...]
