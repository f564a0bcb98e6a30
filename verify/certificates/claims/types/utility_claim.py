"""What the deployed coefficients are good for."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from .claim_section import RecordsClaim

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..finding import Deployment, Finding


class UtilityClaim(RecordsClaim):
    """With this probability the released coefficients are at least this good on the data."""

    promise: ClassVar[str] = "To the users of the coefficients."
    draft: ClassVar[str] = """\
# type = "utility"
# metric = "accuracy"         # or "mean squared error" with at_most
# at_least = 0.6
"""
    simulated: ClassVar[bool] = True

    type: Literal["utility"]
    metric: Literal["accuracy", "mean squared error"]
    at_least: float | None = None
    at_most: float | None = None
    probability: float = Field(default=0.9, gt=0, lt=1)

    @model_validator(mode="after")
    def _bound(self) -> UtilityClaim:
        wanted = "at_least" if self.metric == "accuracy" else "at_most"
        given = [name for name in ("at_least", "at_most") if getattr(self, name) is not None]
        if given != [wanted]:
            raise ValueError(f"claims|{wanted} alone for metric = {self.metric}|" + (" and ".join(given) or "neither"))
        return self

    def draws(self, thin: Callable[[int], int], attack: int, check: int) -> int:
        """Those of the check."""
        return check

    def finding(self, deployment: Deployment) -> Finding:
        """Return how often the coefficients are that good."""
        from ..claims_report import utility_finding

        return utility_finding(deployment, self)
