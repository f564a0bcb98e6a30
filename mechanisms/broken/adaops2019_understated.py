"""Broken by degrees: W19's AdaOPS with every noise divided by ``factor``: the eigenvalue's and the sample's."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..adaops_wang2019 import AdaOPS2019, Rule2019, Settings
from ..base import check_positive
from ..data import Dataset


@dataclass(frozen=True)
class UnderstatedRule2019:
    """The constants of ``rule`` with standard deviations divided by ``factor``."""

    rule: Rule2019
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
        return replace(right, sigma=right.sigma / self.factor, gamma=right.gamma * self.factor**2)


def adaops2019_understated(claimed: AdaOPS2019, *, factor: float = 1.1) -> AdaOPS2019:
    """Return the law that is really drawn from when ``claimed`` is claimed."""
    return AdaOPS2019(UnderstatedRule2019(claimed.rule, check_positive("factor", factor)))
