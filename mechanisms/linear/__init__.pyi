"""The public names, each with the module that holds it."""

from .ridge import RidgeMap as RidgeMap

MECHANISMS: tuple[str, ...]
