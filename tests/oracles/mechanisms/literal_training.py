"""DP-SGD as it is written down: record by record, and its exact density, sample by sample."""

import itertools
import math

import numpy as np


def gradients(training, theta, x, y):
    """Return one record's clipped gradients at iterates, shape ``(n_draws, dim)``."""
    u = theta @ x
    with np.errstate(over="ignore"):
        slope = u - y if training.loss == "squared" else -y / (1.0 + np.exp(y * u))
    whole = slope[:, None] * x
    norms = np.linalg.norm(whole, axis=1)
    longer = norms > training.clip
    whole[longer] *= (training.clip / norms[longer])[:, None]
    return whole


def sums(training, theta, dataset, chosen):
    """Return the sums of clipped gradients over given samples, shape ``(n_draws, dim)``."""
    found = np.zeros(theta.shape)
    for i in range(dataset.n_records):
        found += chosen[:, i, None] * gradients(training, theta, dataset.X[i], dataset.y[i])
    return found


def step(training, theta, noisy, released):
    """Return the next iterates; ``released`` is a column, or None."""
    normaliser = training.normaliser if released is None else training.rate * np.maximum(released, 1.0)
    theta = theta - training.step_size * noisy / normaliser
    norms = np.linalg.norm(theta, axis=1)
    outside = norms > training.radius
    theta[outside] *= (training.radius / norms[outside])[:, None]
    return theta


class EnumeratedTraining:
    """The density of a transcript of few records: every step is a mixture over all subsets of them.

    Outputs are drawn by ``drawn``, or by the training itself.
    """

    def __init__(self, training, drawn=None):
        self.training, self.name = training, f"enumerated {training.name}"
        self.draw = (drawn or training).draw

    def log_density(self, outputs, dataset):
        training, n, dim = self.training, dataset.n_records, dataset.dim
        counted = training.count_sigma is not None
        if outputs.shape[1] != training.n_steps * dim + counted:
            raise ValueError("outputs must have the width of a transcript")
        if np.isnan(outputs).any():
            raise ValueError("outputs must be numbers")
        total, released, theta = np.zeros(len(outputs)), None, np.zeros((len(outputs), dim))
        if counted:
            released, outputs = outputs[:, :1], outputs[:, 1:]
            total += _normal(released - n, training.count_sigma)
        for t in range(training.n_steps):
            seen = outputs[:, t * dim : (t + 1) * dim]
            each = [gradients(training, theta, dataset.X[i], dataset.y[i]) for i in range(n)]
            parts = []
            for members in itertools.product((False, True), repeat=n):
                chance = math.prod(training.rate if member else 1 - training.rate for member in members)
                mean = sum((g for g, member in zip(each, members, strict=True) if member), np.zeros(dim))
                if chance:
                    parts.append(math.log(chance) + _normal(seen - mean, training.sigma))
            total += np.logaddexp.reduce(parts)
            theta = step(training, theta, seen, released)
        return total

    def privacy_loss(self, outputs, pair):
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)


def _normal(values, sigma):
    constant = math.log(sigma) + 0.5 * math.log(2 * math.pi)
    return (-0.5 * np.square(values / sigma) - constant).sum(axis=1)
