"""Broken by degrees: W18's AdaOPS with every noise divided by ``factor``: the eigenvalue's, Delta's, the sample's."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..adaops_wang2018 import AdaOPS2018, Rule2018, Settings
from ..base import check_positive
from ..data import Dataset, FloatArray


@dataclass(frozen=True)
class UnderstatedRule2018:
    """The constants of ``rule`` with standard deviations divided by ``factor``."""

    rule: Rule2018
    factor: float

    @property
    def epsilon(self) -> float:
        """The budget that is claimed."""
        return self.rule.epsilon

    @property
    def delta(self) -> float:
        """The budget that is claimed."""
        return self.rule.delta

    @property
    def standing(self) -> str:
        """Which version this is."""
        return f"noise divided by {self.factor:g}"

    def settings(self, dataset: Dataset) -> Settings:
        """Return the constants of one run."""
        right = self.rule.settings(dataset)
        return replace(right, sigma=right.sigma / self.factor, unit_sigma=right.unit_sigma / self.factor)

    def gamma(self, settings: Settings, eigenvalue: FloatArray, log_lipschitz: FloatArray) -> FloatArray:
        """Return gamma for each draw, ``factor^2`` times too large."""
        return self.factor**2 * self.rule.gamma(settings, eigenvalue, log_lipschitz)


def adaops2018_understated(claimed: AdaOPS2018, *, factor: float = 1.1) -> AdaOPS2018:
    """Return the law that is really drawn from when ``claimed`` is claimed."""
    return AdaOPS2018(UnderstatedRule2018(claimed.rule, check_positive("factor", factor)))
