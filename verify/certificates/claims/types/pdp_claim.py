"""Per-instance differential privacy on this data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from .claim_section import Delta, Epsilon, RecordsClaim

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..finding import Deployment, Finding
    from ..odds import Odds


class PDPClaim(RecordsClaim):
    """Per-instance (epsilon, delta) on this data set: for everyone, for the records in it, or for one target."""

    promise: ClassVar[str] = "To the people concerned, about this data set only. The numbers themselves are private."
    draft: ClassVar[str] = """\
# type = "pdp"                # per-instance, on this data set
# scope = "records"           # or "everyone", or "target" with x = [...] and y = ...
# epsilon = 0.5
# delta = 1e-6
"""
    audits_pairs: ClassVar[bool] = True
    looks_at_records: ClassVar[bool] = True

    type: Literal["pdp"]
    epsilon: Epsilon
    delta: Delta
    scope: Literal["everyone", "records", "target"]
    x: list[float] | None = Field(default=None, description="Prepared features of the target.")
    y: float | None = Field(default=None, description="Prepared response of the target.")

    @model_validator(mode="after")
    def _target(self) -> PDPClaim:
        if (self.scope == "target") != (self.x is not None and self.y is not None):
            raise ValueError("claims|x and y for scope = target, and only then|" + f"scope = {self.scope}")
        return self

    @property
    def kind(self) -> str:
        """Its type and its scope."""
        return f"{self.type}-{self.scope}"

    @property
    def odds(self) -> Odds:
        """What it means to somebody who knows the other records of this data set."""
        from ..odds import odds_at

        return odds_at(self.epsilon, self.delta, "whether a record that it covers is in this data set")

    def draws(self, thin: Callable[[int], int], attack: int, check: int) -> int:
        """Those of the attack, and those of the check of the most exposed pair."""
        return thin(attack) + thin(check)

    def finding(self, deployment: Deployment) -> Finding:
        """Return what is known about the records, the target, or everyone."""
        from ..claims_records import pdp_finding

        return pdp_finding(deployment, self)
