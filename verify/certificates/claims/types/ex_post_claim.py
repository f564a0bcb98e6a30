"""The ex-post losses of the records at the released output."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from .claim_section import Epsilon, RecordsClaim

if TYPE_CHECKING:
    from ..finding import Deployment, Finding


class ExPostClaim(RecordsClaim):
    """The ex-post loss of every record at the released output is at most epsilon."""

    promise: ClassVar[str] = "About this output only, to the curator. The numbers themselves are private."
    draft: ClassVar[str] = """\
# type = "ex-post"            # the records' losses at the released output; needs [release]
# epsilon = 1.0
"""
    needs: ClassVar[tuple[str, ...]] = ("release",)
    looks_at_records: ClassVar[bool] = True

    type: Literal["ex-post"]
    epsilon: Epsilon

    def finding(self, deployment: Deployment) -> Finding:
        """Return the largest loss of a record at the output."""
        from ..claims_records import ex_post_finding

        return ex_post_finding(deployment, self)
