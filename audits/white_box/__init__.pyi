"""The public names, each with the module that holds it."""

from .attack import AttackAudit as AttackAudit
from .attack import accuracy_ceiling as accuracy_ceiling
from .attack import likelihood_ratio_attack as likelihood_ratio_attack
from .exact import composed_delta as composed_delta
from .exact import exact_tail as exact_tail
from .random_matrix import goe_norm_coverage as goe_norm_coverage
from .random_matrix import goe_norm_exact as goe_norm_exact
from .random_matrix import sandwich_coverage as sandwich_coverage
from .tails import LossCurve as LossCurve
from .tails import audit_curves as audit_curves
