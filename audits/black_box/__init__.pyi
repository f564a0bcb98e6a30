"""The public names, each with the module that holds it."""

from .black_box_audit import SequentialClaimTest as SequentialClaimTest
from .black_box_audit import audit_claim as audit_claim
from .black_box_audit import audit_gaussian_dp as audit_gaussian_dp
from .black_box_audit import sequential_claim as sequential_claim
from .black_box_lines import visible_leak as visible_leak
from .black_box_results import BlackBoxClaim as BlackBoxClaim
from .black_box_results import BlackBoxResult as BlackBoxResult
from .black_box_results import ClaimTest as ClaimTest
from .black_box_results import LowerBound as LowerBound
