"""Degrees of products of powers."""

from __future__ import annotations

import pytest

from verify.methods import scaling


def test_degrees_of_products() -> None:
    """||X||^2 ||theta||^2 has the unit of a squared response; without ||X||^2 it lacks two powers of the features."""
    assert scaling.degree(scaling.powers("X^2 theta^2 d^1/2 epsilon^-1")) == (0, 2)
    assert scaling.degree(scaling.powers("theta^2")) == (-2, 2)
    assert scaling.degree(scaling.powers("X^4 theta^2 trace1")) == scaling.LOSS
    with pytest.raises(ValueError, match="symbol must be one of"):
        scaling.powers("X^2 phi")
