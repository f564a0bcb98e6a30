"""The mechanisms a configuration may name, each with its parameters, and a mechanism of the user's own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from mechanisms import (
    GaussianOutput,
    LogisticLoss,
    Mechanism,
    ObjectivePerturbation,
    PoissonLoss,
    PosteriorSampling,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    SquaredLoss,
)
from mechanisms.adaops_wang2018 import AdaOPS2018, CorrectedRule2018, PublishedRule2018
from mechanisms.adaops_wang2019 import AdaOPS2019, CorrectedRule2019, PublishedRule2019
from mechanisms.adassp import AdaSSP, AdaSSPPublished
from mechanisms.losses import GlmLoss
from mechanisms.noisy_sgd import NoisySGD
from mechanisms.ridge import RidgeMap
from mechanisms.subsample_aggregate import SubsampleAggregate
from mechanisms.sufficient_statistics import SufficientStatistics

#: Sizes that float64 is trusted with: their squares, products and quotients neither vanish nor overflow.
REACH = (1e-12, 1e12)


def in_reach(value: float) -> float:
    """Return a size that float64 is trusted with, or 0; refuse another."""
    if value and not REACH[0] <= value <= REACH[1]:
        raise PydanticCustomError("reach", "between {low:g} and {high:g}", {"low": REACH[0], "high": REACH[1]})
    return value


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), AfterValidator(in_reach)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False), AfterValidator(in_reach)]
Delta = Annotated[float, Field(ge=1e-100, le=1 - 1e-9)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
MOST_RECORDS = 10**12
ORIGIN = r"^[^:]+:[A-Za-z_]\w*$"


class Section(BaseModel):
    """A table of the configuration: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class ObjectiveSection(Section):
    """Objective perturbation (RW21, Algorithm 1)."""

    name: Literal["objective-perturbation"]
    loss: Literal["logistic", "squared", "poisson", "smoothed-hinge", "pseudo-huber"]
    sigma: Positive
    lam: Positive
    width: Positive | None = Field(None, description="Of the smoothed hinge or pseudo-Huber loss.")

    def build_loss(self) -> GlmLoss:
        """Return the loss."""
        width = {} if self.width is None else {"width": self.width}
        match self.loss:
            case "logistic":
                return LogisticLoss()
            case "squared":
                return SquaredLoss()
            case "poisson":
                return PoissonLoss()
            case "smoothed-hinge":
                return SmoothedHingeLoss(**width)
            case "pseudo-huber":
                return PseudoHuberLoss(**width)

    def build(self, dim: int) -> Mechanism:
        """Return the mechanism."""
        return ObjectivePerturbation(self.build_loss(), self.sigma, self.lam)


class PosteriorSection(Section):
    """One-posterior sampling (W19-T4.1)."""

    name: Literal["posterior-sampling"]
    gamma: Positive
    lam: NonNegative

    def build(self, dim: int) -> Mechanism:
        """Return the mechanism."""
        return PosteriorSampling(self.gamma, self.lam)


class GaussianOutputSection(Section):
    """Ridge regression plus normal noise of one standard deviation in every coordinate."""

    name: Literal["gaussian-output"]
    sigma: Positive
    lam: NonNegative

    def build(self, dim: int) -> Mechanism:
        """Return the mechanism."""
        return GaussianOutput.isotropic(self.sigma, dim, RidgeMap(self.lam))


class SSPSection(Section):
    """Sufficient statistics perturbation (W18-S1)."""

    name: Literal["ssp"]
    sigma_gram: Positive
    sigma_moment: Positive
    lam: NonNegative = 0.0

    def build(self, dim: int) -> Mechanism:
        """Return the mechanism."""
        return SufficientStatistics(self.sigma_gram, self.sigma_moment, self.lam)


class AdaSSPSection(Section):
    """AdaSSP (W18, Algorithm 2)."""

    name: Literal["adassp"]
    epsilon: Positive
    delta: Delta
    rho: Delta = 0.05
    form: Literal["corrected", "printed"] = "corrected"
    calibrated: bool = False

    def build(self, dim: int) -> Mechanism:
        """Return the mechanism."""
        if self.form == "printed":
            return AdaSSPPublished(self.epsilon, self.delta, self.rho)
        return AdaSSP(self.epsilon, self.delta, self.rho, self.calibrated)


class AdaOPS2018Section(Section):
    """AdaOPS of W18 (Algorithm 1)."""

    name: Literal["adaops-2018"]
    epsilon: Positive
    delta: Delta
    form: Literal["corrected", "printed"] = "corrected"

    def build(self, dim: int) -> Mechanism:
        """Return the mechanism."""
        rule = CorrectedRule2018 if self.form == "corrected" else PublishedRule2018
        return AdaOPS2018(rule(self.epsilon, self.delta))


class AdaOPS2019Section(Section):
    """AdaOPS of W19 (Algorithm 1)."""

    name: Literal["adaops-2019"]
    epsilon: Positive
    delta: Delta
    kappa: Positive
    n_public: int = Field(0, ge=0, le=MOST_RECORDS)
    form: Literal["corrected", "printed"] = "corrected"

    def build(self, dim: int) -> Mechanism:
        """Return the mechanism."""
        if self.form == "printed":
            return AdaOPS2019(PublishedRule2019(self.epsilon, self.delta, kappa=self.kappa))
        return AdaOPS2019(CorrectedRule2019(self.epsilon, self.delta, kappa=self.kappa, n_public=self.n_public))


class NoisySGDSection(Section):
    """NoisySGD (W18-S5)."""

    name: Literal["noisy-sgd"]
    n_steps: Count
    sigma: Positive
    step_size: Positive
    clip: Positive
    radius: Positive
    n_public: int = Field(ge=1, le=MOST_RECORDS)  # pydantic 2.11 shares the default of an annotated type

    def build(self, dim: int) -> Mechanism:
        """Return the mechanism."""
        return NoisySGD(self.n_steps, self.sigma, self.step_size, self.clip, self.radius, self.n_public)


class SubsampleSection(Section):
    """Subsample and aggregate (W18-S3)."""

    name: Literal["subsample-aggregate"]
    n_blocks: Count
    epsilon: Positive
    radius: Positive
    lam: NonNegative = 0.0
    salt: int = Field(0, ge=0)

    def build(self, dim: int) -> Mechanism:
        """Return the mechanism."""
        return SubsampleAggregate(self.n_blocks, self.epsilon, self.radius, self.lam, self.salt)


class VouchedSection(Section):
    """Who vouches for what an imported mechanism states about its own law, and the proof."""

    who: str = Field(description="A person or an institution.")
    proof: str = Field(description="A file relative to the configuration, a DOI or a URL.")

    @field_validator("who", "proof")
    @classmethod
    def _given(cls, value: str, info: ValidationInfo) -> str:
        if not value.strip():
            raise ValueError(f"mechanism.vouched_by.{info.field_name}|text that is not empty|{value!r}")
        return value


class ImportSection(Section):
    """A mechanism of the user's own: ``import = "file.py:factory"`` or ``"package.module:factory"``."""

    origin: str = Field(alias="import", pattern=ORIGIN)
    parameters: dict[str, Any] = Field({}, description="Passed to the factory by name.")
    views: list[Annotated[str, Field(pattern=ORIGIN)]] = Field(
        [], description="Functions of one output, given as import is: further columns that the black box looks at."
    )
    vouched_by: VouchedSection | None = Field(None, description="On whose word a PASS rests.")


BY_TAG: dict[str, type[Section]] = {
    "objective-perturbation": ObjectiveSection,
    "posterior-sampling": PosteriorSection,
    "gaussian-output": GaussianOutputSection,
    "ssp": SSPSection,
    "adassp": AdaSSPSection,
    "adaops-2018": AdaOPS2018Section,
    "adaops-2019": AdaOPS2019Section,
    "noisy-sgd": NoisySGDSection,
    "subsample-aggregate": SubsampleSection,
    "import": ImportSection,
}


def mechanism_tag(value: Any) -> str | None:
    """Return which kind of mechanism a table describes."""
    if isinstance(value, dict):
        return "import" if "import" in value else value.get("name")
    return next((tag for tag, section in BY_TAG.items() if isinstance(value, section)), None)
