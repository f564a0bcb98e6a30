"""Differential privacy over all data sets: one point, or a whole curve."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from .claim_section import ClaimSection, Delta, Epsilon, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..finding import Deployment, Finding
    from ..odds import Odds

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

#: The parameters of each form of a claim over all data sets; the point has no profile.
FORMS: dict[str | None, tuple[str, ...]] = {
    None: ("epsilon", "delta"),
    "gaussian-dp": ("mu",),
    "zcdp": ("rho",),
    "renyi": ("alpha", "epsilon"),
    "table": ("points",),
}
PARAMETERS = ("epsilon", "delta", "mu", "rho", "alpha", "points")


def _one_form(schema: dict[str, Any]) -> None:
    """Let the JSON Schema say that exactly one form of a claim over all data sets is given."""
    forms = []
    for form, needed in FORMS.items():
        properties: dict[str, Any] = {name: False for name in PARAMETERS if name not in needed}
        required = list(needed) if form is None else [*needed, "profile"]
        forms.append({"properties": properties | {"profile": {"const": form} if form else False}, "required": required})
    schema["oneOf"] = forms


class DPClaim(ClaimSection):
    """Differential privacy of everything that is released, over all data sets in the public domain.

    Stated at one point (epsilon, delta), or by a whole curve: a profile with its parameters.
    """

    model_config = ConfigDict(json_schema_extra=_one_form)

    promise: ClassVar[str] = (
        "To everyone whose record may be in any data set of the public domain: whatever is released changes little in "
        "probability whether or not the record is there."
    )
    draft: ClassVar[str] = """\
# Everything that is released, over all data sets in the public domain.
[[claims]]
type = "dp"
epsilon = {epsilon}
delta = {delta}
# relation = "replace"        # instead of one record added or removed
# profile = "gaussian-dp"     # a whole curve instead of epsilon and delta: with mu; or zcdp (rho), renyi, table
"""
    audits_pairs: ClassVar[bool] = True

    type: Literal["dp"]
    epsilon: Epsilon | None = Field(default=None, description="With delta, or with alpha for renyi.")
    delta: Delta | None = None
    relation: Literal["add-remove", "replace"] = "add-remove"
    group: int = Field(default=1, ge=1, description="For neighbours that differ in at most this many records.")
    profile: Literal["gaussian-dp", "zcdp", "renyi", "table"] | None = Field(
        default=None,
        description="A whole curve instead of one point: gaussian-dp (mu), zcdp (rho), renyi (alpha, epsilon), "
        "table (points).",
    )
    mu: Positive | None = Field(default=None, description="Of Gaussian differential privacy.")
    rho: Positive | None = Field(default=None, description="Of zero-concentrated differential privacy.")
    alpha: float | None = Field(default=None, gt=1, allow_inf_nan=False, description="Order of the Renyi divergence.")
    points: list[tuple[Epsilon, Delta]] | None = Field(
        default=None, min_length=1, description="Pairs of epsilon and delta, all of them claimed; epsilon increases."
    )

    @model_validator(mode="after")
    def _form(self) -> DPClaim:
        given = {name: getattr(self, name) for name in PARAMETERS if getattr(self, name) is not None}
        form = "no profile" if self.profile is None else f'profile = "{self.profile}"'
        for name in FORMS[self.profile]:
            if name not in given:
                raise ValueError(f"claims.{name}|given for {form}|nothing")
        for name in given:
            if name not in FORMS[self.profile]:
                raise ValueError(f"claims.{name}|absent for {form}|given")
        levels = [epsilon for epsilon, _ in self.points or ()]
        if any(left >= right for left, right in pairwise(levels)):
            raise ValueError("claims.points|in order of an epsilon that increases|another order")
        return self

    @property
    def point(self) -> tuple[float, float]:
        """The claimed epsilon and delta.

        Raises
        ------
        ValueError
            If a whole curve is claimed: one point of it is another, weaker claim.
        """
        if self.epsilon is None or self.delta is None:
            raise ValueError(f"profile must be absent for a claim at one point, got profile={self.profile}")
        return self.epsilon, self.delta

    @property
    def words(self) -> str:
        """What is claimed, after 'is': a point or a curve, and for how many records."""
        match self.profile:
            case None:
                text = f"{said(*self.point)}-differentially private"
            case "gaussian-dp":
                text = f"{said(self.mu or 0.0)}-Gaussian differentially private"
            case "zcdp":
                text = f"{said(self.rho or 0.0)}-zero-concentrated differentially private"
            case "renyi":
                text = f"{said(self.alpha or 0.0, self.epsilon or 0.0)}-Renyi differentially private"
            case "table":
                points = self.points or []
                shown = ", ".join(said(*point) for point in points[:3])
                more = f" and {len(points) - 3} more" if len(points) > 3 else ""
                text = f"(epsilon, delta)-differentially private at each of {shown}{more}"
        return text if self.group == 1 else f"{text} for groups of up to {self.group} records"

    @property
    def odds(self) -> Odds:
        """What it means to somebody who knows every other record."""
        from ..odds import distance_of_divergence, distance_of_gaussian, odds_at, odds_of_curve

        whose = "a record" if self.group == 1 else f"{self.group} records"
        about = f"whether {whose} {'is' if self.group == 1 else 'are'} there"
        if self.relation == "replace":
            about = f"which of two possible values {whose} {'has' if self.group == 1 else 'have'}"
        match self.profile:
            case None:
                return odds_at(*self.point, about)
            case "gaussian-dp":
                return odds_of_curve(distance_of_gaussian(self.mu or 0.0), about)
            case "zcdp":
                return odds_of_curve(distance_of_divergence(self.rho or 0.0), about)
            case "renyi":
                return odds_of_curve(distance_of_divergence(self.epsilon or 0.0), about)
            case "table":
                return min((odds_at(*point, about) for point in self.points or []), key=lambda each: each.guess)

    def draws(self, thin: Callable[[int], int], attack: int, check: int) -> int:
        """Those of the attack."""
        return thin(attack)

    def finding(self, deployment: Deployment) -> Finding:
        """Return what is proved, what the worst pair gives, and what draws say."""
        from ..claims_dp import dp_finding

        return dp_finding(deployment, self)
