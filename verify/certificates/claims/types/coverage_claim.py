"""The coverage of the publishable report."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from .claim_section import ClaimSection, Probability

if TYPE_CHECKING:
    from ..finding import Deployment, Finding


class CoverageClaim(ClaimSection):
    """The published bound on one's own ex-post loss holds with probability at least 1 - level."""

    promise: ClassVar[str] = "To every individual who evaluates the published report on her own record."
    draft: ClassVar[str] = """\
# type = "report-coverage"    # of the published bound on one's own loss; needs [report]
# level = 1e-5
"""
    needs: ClassVar[tuple[str, ...]] = ("report",)

    type: Literal["report-coverage"]
    level: Probability

    def finding(self, deployment: Deployment) -> Finding:
        """Return what is proved about the coverage, and what simulation says."""
        from ..claims_report import coverage_finding

        return coverage_finding(deployment, self)
