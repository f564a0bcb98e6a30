"""Turns draws, or an exact law, into an estimate with an interval of stated failure probability."""

from .base import Budget, Estimate
from .streams import StreamKey

__all__ = ["Budget", "Estimate", "StreamKey"]
