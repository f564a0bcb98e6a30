"""The types of claim that a configuration may make: what each says, to whom, and what it means to a guess."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pydantic import ConfigDict, Field, model_validator
from scipy.special import ndtr

from audits.black_box.claims import (
    ADD_REMOVE,
    PrivacyClaim,
    gaussian_dp_claim,
    group_claim,
    point_claim,
    renyi_claim,
    table_claim,
    zcdp_claim,
)
from mechanisms import Relation
from mechanisms.filters.privacy_filters import GaussianFilter, RenyiFilter
from mechanisms.parameters import Positive
from reports.numbers import format_number

from ...kernel.rows import Row, encode
from ..config.config_mechanisms import ConfigSection

if TYPE_CHECKING:
    from collections.abc import Callable, Set


#: Beyond it a factor is no number of use; exp stays finite.
LARGEST_EPSILON = 700.0


@dataclass(frozen=True)
class Odds:
    """What a claim promises against a guess whether a record is there, by whoever knows everything else.

    ``about`` is what is guessed. But for a probability of at most ``delta`` the release changes nobody's odds by more
    than ``factor`` (None where the claim bounds none); with even odds before, the best guess is right with at most
    ``guess``.
    """

    about: str
    factor: float | None
    delta: float
    guess: float

    @property
    def row(self) -> Row:
        """The same for the record."""
        plain: Row = encode({"about": self.about, "factor": self.factor, "delta": self.delta, "guess": self.guess})
        return plain


def odds_at(epsilon: float, delta: float, about: str) -> Odds:
    """Return what ``(epsilon, delta)`` means: the best guess is right with ``(e^epsilon + delta)/(1 + e^epsilon)``.

    Examples
    --------
    >>> odds_at(0.0, 0.0, "whether it is there").guess
    0.5
    """
    factor = math.exp(min(epsilon, LARGEST_EPSILON))
    return Odds(about, factor, delta, 1 - (1 - delta) / (1 + factor))


def _odds_of_curve(largest_distance: float, about: str) -> Odds:
    """Return the same for a claim that bounds the total variation distance alone."""
    return Odds(about, None, 0.0, 0.5 + 0.5 * min(1.0, largest_distance))


def distance_of_gaussian(mu: float) -> float:
    """Return the total variation distance of two normal laws ``mu`` apart."""
    return float(2 * ndtr(0.5 * mu) - 1)


def distance_of_divergence(kullback_leibler: float) -> float:
    """Return the largest total variation distance at a Kullback-Leibler divergence, by Pinsker's inequality."""
    return math.sqrt(0.5 * kullback_leibler)


NAME = r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,60}$"
Name = Annotated[str, Field(pattern=NAME)]
Epsilon = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Delta = Annotated[float, Field(ge=0, lt=1)]
Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=1e-100, le=1 - 1e-9)]  # a share of it, and what it leaves, are numbers too


def said(*values: float) -> str:
    """Return numbers as a claim says them, six digits and a bare exponent each; several of them are a point.

    Examples
    --------
    >>> said(1e-6), said(1.0, 1e-6)
    ('1e-6', '(1, 1e-6)')
    """
    words = ", ".join(format_number(value, 6) for value in values)
    return words if len(values) == 1 else f"({words})"


class ClaimSection(ConfigSection):
    """A claim of a configuration, by default over all data sets in the public domain.

    A type of claim is one class here, listed in ``Claim``; ``FINDINGS`` says what decides it.

    Attributes
    ----------
    everywhere : bool
        Whether it speaks about all data sets in the public domain (then it may be published), or about the records.
    promise, draft : str
        To whom a claim that passed may be told; its lines in the draft of a configuration.
    needs : tuple of str
        Sections of the configuration that must be given beside it.
    simulated : bool
        Whether a simulation alone may support it (how good an output is; never how private).
    audits_pairs, looks_at_records : bool
        What ``--dry-run`` must know: whether pairs are examined, and whether every record's loss is computed.
    """

    everywhere: ClassVar[bool] = True
    promise: ClassVar[str]
    draft: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    simulated: ClassVar[bool] = False
    audits_pairs: ClassVar[bool] = False
    looks_at_records: ClassVar[bool] = False

    type: str
    name: Name | None = None

    @property
    def kind(self) -> str:
        """What the claim is called when the configuration gives it no name."""
        return self.type

    @property
    def odds(self) -> Odds | None:
        """What it means to somebody who guesses; None for a claim that is not about privacy."""
        return None

    @property
    def is_public(self) -> bool:
        """Whether anybody may know that the claim was made, and its numbers (not: its verdict)."""
        return True

    def draws(self, thin: Callable[[int], int], attack: int, check: int) -> int:
        """Return about how many draws it takes from the data themselves; ``thin`` says how many are made of so many."""
        return 0

    def refusals(self, absent: Set[str]) -> list[str]:
        """Return ``key|rule|value`` for each section that it needs and that is absent."""
        return [
            f"{name}|given where a claim of type {self.type} is made|nothing" for name in self.needs if name in absent
        ]


class RecordsClaim(ClaimSection):
    """A claim about the records: on private data its verdict stays with the curator."""

    everywhere: ClassVar[bool] = False

    public: bool = Field(
        default=False, description="The claim's name and numbers are public knowledge and may be published."
    )

    @property
    def is_public(self) -> bool:
        """Whether the configuration declares it public."""
        return self.public


#: The parameters of each form of a claim over all data sets; the point has no profile.
FORMS: dict[str | None, tuple[str, ...]] = {
    None: ("epsilon", "delta"),
    "gaussian-dp": ("mu",),
    "zcdp": ("rho",),
    "renyi": ("alpha", "epsilon"),
    "table": ("points",),
}
#: The parameters, each with what may be written.
PARAMETERS = {"epsilon": "1.0", "delta": "1e-6", "mu": "0.5", "rho": "0.1", "alpha": "2", "points": "[[1.0, 1e-6]]"}


def _one_form(schema: dict[str, Any]) -> None:
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
    mu: Amount | None = Field(default=None, description="Of Gaussian differential privacy.")
    rho: Amount | None = Field(default=None, description="Of zero-concentrated differential privacy.")
    alpha: float | None = Field(default=None, gt=1, allow_inf_nan=False, description="Order of the Renyi divergence.")
    points: list[tuple[Epsilon, Delta]] | None = Field(
        default=None, min_length=1, description="Pairs of epsilon and delta, all of them claimed; epsilon increases."
    )

    @model_validator(mode="after")
    def _form(self) -> DPClaim:
        given = {name: getattr(self, name) for name in PARAMETERS if getattr(self, name) is not None}
        of = "a claim of epsilon and delta" if self.profile is None else f'profile = "{self.profile}"'
        for name in FORMS[self.profile]:
            if name not in given:
                raise ValueError(f"claims.{name}|given for {of} (such as {name} = {PARAMETERS[name]})|none")
        for name in given:
            if name not in FORMS[self.profile]:
                raise ValueError(f"claims.{name}|left out for {of}|given")
        levels = [epsilon for epsilon, _ in self.points or ()]
        if any(left >= right for left, right in pairwise(levels)):
            raise ValueError("claims.points|in order of an epsilon that increases|another order")
        return self

    @property
    def point(self) -> tuple[float, float]:
        """The claimed epsilon and delta.

        Raises ValueError if a whole curve is claimed: one point of it is another, weaker claim.
        """
        if self.epsilon is None or self.delta is None:
            raise ValueError(f"profile must be absent for a claim at one point, got profile={self.profile}")
        return self.epsilon, self.delta

    @property
    def neighbours(self) -> Relation:
        """``REPLACE``, or ``ADD`` for records added or removed."""
        return Relation.REPLACE if self.relation == "replace" else Relation.ADD

    @property
    def steps(self) -> int:
        """How many records added or removed its neighbours are apart; a replacement is two of them."""
        return self.group * (2 if self.relation == "replace" else 1)

    @property
    def privacy(self) -> PrivacyClaim:
        """What is claimed as the auditors take it: a point or a whole curve, with relation and group."""
        relations = (Relation.REPLACE,) if self.relation == "replace" else ADD_REMOVE
        match self.profile:
            case None:
                made = point_claim(*self.point, relations)
            case "gaussian-dp":
                made = gaussian_dp_claim(self.mu or 0.0, relations)
            case "zcdp":
                made = zcdp_claim(self.rho or 0.0, relations)
            case "renyi":
                made = renyi_claim(self.alpha or 0.0, self.epsilon or 0.0, relations)
            case "table":
                made = table_claim(self.points or [], relations)
        return group_claim(made, self.group)

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
        whose = "a record" if self.group == 1 else f"{self.group} records"
        about = f"whether {whose} {'is' if self.group == 1 else 'are'} there"
        if self.relation == "replace":
            about = f"which of two possible values {whose} {'has' if self.group == 1 else 'have'}"
        match self.profile:
            case None:
                return odds_at(*self.point, about)
            case "gaussian-dp":
                return _odds_of_curve(distance_of_gaussian(self.mu or 0.0), about)
            case "zcdp":
                return _odds_of_curve(distance_of_divergence(self.rho or 0.0), about)
            case "renyi":
                return _odds_of_curve(distance_of_divergence(self.epsilon or 0.0), about)
            case "table":
                return min((odds_at(*point, about) for point in self.points or []), key=lambda each: each.guess)

    def draws(self, thin: Callable[[int], int], attack: int, check: int) -> int:
        """Those of the attack."""
        return thin(attack)


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
        return odds_at(self.epsilon, self.delta, "whether a record that it covers is in this data set")

    def draws(self, thin: Callable[[int], int], attack: int, check: int) -> int:
        """Those of the attack, and those of the check of the most exposed pair."""
        return thin(attack) + thin(check)


#: The parameters of each kind of filter.
KINDS = {"renyi": ("order", "budget"), "gaussian": ("mu",)}


def _one_kind(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [
        {
            "properties": {name: False for name in ("order", "budget", "mu") if name not in needed}
            | {"kind": {"const": kind}},
            "required": ["kind", *needed],
        }
        for kind, needed in KINDS.items()
    ]


class FilterClaim(ClaimSection):
    """No record spends more than its own budget while an analyst looks and asks, one record added or removed."""

    model_config = ConfigDict(json_schema_extra=_one_kind)

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
    budget: Amount | None = Field(default=None, description="What each record may spend at that order, in nats.")
    mu: Positive | None = Field(default=None, description="Of Gaussian differential privacy of the whole.")
    delta: float = Field(ge=1e-100, le=1 - 1e-9, description="At which the epsilon that follows is stated.")

    @model_validator(mode="after")
    def _form(self) -> FilterClaim:
        for name in ("order", "budget", "mu"):
            wanted = name in KINDS[self.family]
            if (getattr(self, name) is not None) != wanted:
                rule, got = ("given", "nothing") if wanted else ("absent", "given")
                raise ValueError(f'claims.{name}|{rule} for kind = "{self.family}"|{got}')
        return self

    @property
    def claimed(self) -> RenyiFilter | GaussianFilter:
        """The filter that keeps to what is claimed."""
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
        return odds_at(self.epsilon, self.delta, "whether a record is there")


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


Claim = Annotated[
    DPClaim | PDPClaim | FilterClaim | ExPostClaim | CoverageClaim | UtilityClaim, Field(discriminator="type")
]

#: The word in a configuration -> its class, in the order of the draft.
BY_TYPE: dict[str, type[ClaimSection]] = {
    get_args(section.model_fields["type"].annotation)[0]: section for section in get_args(get_args(Claim)[0])
}
