"""Rational matrices as arrays of floats, in every release of python-flint."""

import numpy as np


def floats(matrix):
    """Return a rational matrix as float64, each entry correctly rounded."""
    return np.array([[int(value.p) / int(value.q) for value in row] for row in matrix.tolist()])
