"""Broken by degrees: subsample and aggregate with Laplace noise divided by ``factor`` (loss times ``factor``).

With ``factor`` equal to the dimension it is the common mistake of calibrating each coordinate as if it were alone.
"""

from __future__ import annotations

from dataclasses import replace

from ..base import check_positive
from ..subsample_aggregate import SubsampleAggregate


def subsample_understated(claimed: SubsampleAggregate, *, factor: float = 1.1) -> SubsampleAggregate:
    """Return the law that is really drawn from when ``claimed`` is claimed."""
    return replace(claimed, epsilon=claimed.epsilon * check_positive("factor", factor))
