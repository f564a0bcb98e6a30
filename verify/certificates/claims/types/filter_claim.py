"""Individual budgets that a filter keeps, whoever chooses the steps: a Renyi filter, or a Gaussian one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from mechanisms.parameters import Positive

from .claim_section import ClaimSection, said

if TYPE_CHECKING:
    from mechanisms.filters.privacy_filters import GaussianFilter, RenyiFilter

    from ..finding import Deployment, Finding
    from ..odds import Odds

#: The parameters of each kind of filter.
FORMS = {"renyi": ("order", "budget"), "gaussian": ("mu",)}


def _one_form(schema: dict[str, Any]) -> None:
    """Let the JSON Schema say which parameters each kind has."""
    schema["oneOf"] = [
        {
            "properties": {name: False for name in ("order", "budget", "mu") if name not in needed}
            | {"kind": {"const": kind}},
            "required": ["kind", *needed],
        }
        for kind, needed in FORMS.items()
    ]


class FilterClaim(ClaimSection):
    """No record spends more than its own budget while an analyst looks and asks, one record added or removed."""

    model_config = ConfigDict(json_schema_extra=_one_form)

    promise: ClassVar[str] = (
        "To everyone whose record may be in any data set of the public domain: whatever is asked next, and whoever "
        "chooses it after what was seen, the record takes part only while its own budget lasts."
    )
    draft: ClassVar[str] = """\
# type = "filter"             # budgets of single records, kept whoever chooses the steps
# kind = "renyi"              # with order and budget (in nats); or "gaussian" with mu
# order = 8
# budget = 1.0
# delta = 1e-6                # at which the epsilon that follows is stated
"""

    type: Literal["filter"]
    family: Literal["renyi", "gaussian"] = Field(alias="kind", description="With order and budget, or with mu.")
    order: int | None = Field(default=None, ge=2, le=1024, description="Of the Renyi divergences that are added up.")
    budget: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="What each record may spend at that order, in nats."
    )
    mu: Positive | None = Field(default=None, description="Of Gaussian differential privacy of the whole.")
    delta: float = Field(ge=1e-100, le=1 - 1e-9, description="At which the epsilon that follows is stated.")

    @model_validator(mode="after")
    def _form(self) -> FilterClaim:
        for name in ("order", "budget", "mu"):
            wanted = name in FORMS[self.family]
            if (getattr(self, name) is not None) != wanted:
                rule, got = ("given", "nothing") if wanted else ("absent", "given")
                raise ValueError(f'claims.{name}|{rule} for kind = "{self.family}"|{got}')
        return self

    @property
    def claimed(self) -> RenyiFilter | GaussianFilter:
        """The filter that keeps to what is claimed."""
        from mechanisms.filters.privacy_filters import GaussianFilter, RenyiFilter

        if self.mu is not None:
            return GaussianFilter(self.mu)
        assert self.order is not None
        assert self.budget is not None
        return RenyiFilter(self.order, self.budget)

    @property
    def epsilon(self) -> float:
        """The epsilon at ``delta`` that follows from the claim."""
        return self.claimed.epsilon_at(self.delta)

    @property
    def words(self) -> str:
        """What is claimed, after 'is'."""
        if self.mu is not None:
            text = f"{said(self.mu)}-Gaussian differentially private"
        else:
            text = f"{said(self.order or 0, self.budget or 0.0)}-Renyi differentially private"
        return f"{text}, and so {said(self.epsilon, self.delta)}-differentially private"

    @property
    def odds(self) -> Odds:
        """What it means to somebody who knows every other record."""
        from ..odds import odds_at

        return odds_at(self.epsilon, self.delta, "whether a record is there")

    def finding(self, deployment: Deployment) -> Finding:
        """Return what is proved of what records spend, and what the games find of somebody's filter."""
        from ..claims_filter import filter_finding

        return filter_finding(deployment, self)
