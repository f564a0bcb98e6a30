"""W18, appendix F: OPS-Diffuse; privacy in two readings (``shared.ops_rules``)."""

from .shared.ops_rules import calibration

STATEMENT = calibration(
    "W18-F1",
    "diffuse",
    'lambda = ((1 + log(2\\/delta)) norm(cal(X))^2)/epsilon, quad gamma "calibrated"',
    'lambda "such that the part without" gamma "is" epsilon\\/2, quad gamma "the largest with" quad ',
)
