"""W18, appendix F: OPS-Concentrated; privacy in two readings (``shared.ops_rules``)."""

from .shared.ops_rules import calibration

STATEMENT = calibration(
    "W18-F2", "concentrated", 'gamma = 1, quad lambda "calibrated"', 'gamma = 1, quad lambda "the smallest with" quad '
)
