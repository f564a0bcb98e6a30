"""The claims that a configuration may make, each with its numbers."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from .config_mechanisms import Section

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,60}$")]
Epsilon = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Delta = Annotated[float, Field(ge=0, lt=1)]
Probability = Annotated[float, Field(ge=1e-100, le=1 - 1e-9)]  # a share of it, and what it leaves, are numbers too

#: The parameters of each form of a claim over all data sets; the point has no profile.
FORMS: dict[str | None, tuple[str, ...]] = {
    None: ("epsilon", "delta"),
    "gaussian-dp": ("mu",),
    "zcdp": ("rho",),
    "renyi": ("alpha", "epsilon"),
    "table": ("points",),
}
PARAMETERS = ("epsilon", "delta", "mu", "rho", "alpha", "points")


class ClaimSection(Section):
    """What all claims share."""

    name: Name | None = None

    @property
    def is_public(self) -> bool:
        """Whether anybody may know that the claim was made, and its numbers (not: its verdict)."""
        return True


class PrivateClaim(ClaimSection):
    """What claims about the records share: on private data their verdicts stay with the curator."""

    public: bool = Field(
        default=False, description="The claim's name and numbers are public knowledge and may be published."
    )

    @property
    def is_public(self) -> bool:
        """Whether the configuration declares it public."""
        return self.public


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

    type: Literal["dp"]
    epsilon: Epsilon | None = Field(default=None, description="With delta, or with alpha for renyi.")
    delta: Delta | None = None
    relation: Literal["add-remove", "replace"] = "add-remove"
    group: int = Field(default=1, ge=1, description="For neighbours that differ in at most this many records.")
    profile: Literal["gaussian-dp", "zcdp", "renyi", "table"] | None = Field(
        default=None,
        description="A whole curve instead of one point: gaussian-dp (mu), zcdp (rho), renyi (alpha, epsilon), table (points).",
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
                text = f"({self.epsilon:g}, {self.delta:g})-differentially private"
            case "gaussian-dp":
                text = f"{self.mu:g}-Gaussian differentially private"
            case "zcdp":
                text = f"{self.rho:g}-zero-concentrated differentially private"
            case "renyi":
                text = f"({self.alpha:g}, {self.epsilon:g})-Renyi differentially private"
            case "table":
                points = self.points or []
                shown = ", ".join(f"({epsilon:g}, {delta:g})" for epsilon, delta in points[:3])
                more = f" and {len(points) - 3} more" if len(points) > 3 else ""
                text = f"(epsilon, delta)-differentially private at each of {shown}{more}"
        return text if self.group == 1 else f"{text} for groups of up to {self.group} records"


class PDPClaim(PrivateClaim):
    """Per-instance (epsilon, delta) on this data set: for everyone, for the records in it, or for one target."""

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


class ExPostClaim(PrivateClaim):
    """The ex-post loss of every record at the released output is at most epsilon."""

    type: Literal["ex-post"]
    epsilon: Epsilon


class CoverageClaim(ClaimSection):
    """The published bound on one's own ex-post loss holds with probability at least 1 - level."""

    type: Literal["report-coverage"]
    level: Probability


class UtilityClaim(PrivateClaim):
    """With this probability the released coefficients are at least this good on the data."""

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


Claim = Annotated[DPClaim | PDPClaim | ExPostClaim | CoverageClaim | UtilityClaim, Field(discriminator="type")]
BY_TYPE: dict[str, type[ClaimSection]] = {
    "dp": DPClaim,
    "pdp": PDPClaim,
    "ex-post": ExPostClaim,
    "report-coverage": CoverageClaim,
    "utility": UtilityClaim,
}
