"""The public names, each with the module that holds it."""

from .quadratic_profile import QuadraticProfile as QuadraticProfile
