"""Class 3: a loss or a profile that a fixture believes, of a release with little or no noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile

KLASS = 3


@dataclass(frozen=True)
class Raw:
    """The raw moment; the author's word is all the noise there is."""

    sigma: float = 4.25
    drawn: float = 0.0
    name = "moment"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.drawn * rng.standard_normal((n_draws, dataset.dim))

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)

    def stated_loss(self, outputs, pair):
        first, second = (np.square(outputs - self.centre(each)).sum(axis=1) for each in (pair.first, pair.second))
        return (second - first) / (2 * self.sigma**2)


class NoLoss(Raw):
    def privacy_loss(self, outputs, pair):
        return np.zeros(len(outputs))


class SmallProfile(Raw):
    def privacy_loss(self, outputs, pair):
        return np.zeros(len(outputs))

    def profile(self, pair):
        return GaussianProfile(0.0)


class WholeStory(Raw):
    """Loss, density and profile of noise 4.25; the draws have none."""

    def privacy_loss(self, outputs, pair):
        return self.stated_loss(outputs, pair)

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.sigma).sum(axis=1)

    def profile(self, pair):
        return GaussianProfile(float(np.linalg.norm(self.centre(pair.first) - self.centre(pair.second))) / self.sigma)


class FlippedLoss(Raw):
    def privacy_loss(self, outputs, pair):
        first, second = (np.square(outputs - self.centre(each)).sum(axis=1) for each in (pair.first, pair.second))
        return np.minimum((first - second) / (2 * self.drawn**2), 0.0)


class LossPerRecord(Raw):
    def privacy_loss(self, outputs, pair):
        scale = (self.sigma / self.drawn) ** 2
        return scale * self.stated_loss(outputs, pair) / max(pair.first.n_records, pair.second.n_records, 1) ** 2


class LossOfFeatures(Raw):
    """The loss of the features alone: the response of the target is left out."""

    def privacy_loss(self, outputs, pair):
        gap = (pair.first.X.sum(axis=0) - pair.second.X.sum(axis=0)) * 1e-3
        return (outputs @ gap) / self.sigma**2


class NanLoss(Raw):
    def privacy_loss(self, outputs, pair):
        return np.full(len(outputs), np.nan)


class ProfileOfCount(Raw):
    """The profile of a noisy count, on a sum whose noise is ten times smaller."""

    def profile(self, pair):
        return GaussianProfile(abs(pair.first.n_records - pair.second.n_records) / self.sigma)

    def privacy_loss(self, outputs, pair):
        gap = self.profile(pair).mu
        return gap * (outputs[:, 0] - outputs[:, 0].mean()) / (outputs[:, 0].std() + 1e-300) + 0.5 * gap**2


class LossOfDrawnSeed(Raw):
    """Normal numbers that look like the loss of noise 4.25, made from the outputs' own order."""

    def privacy_loss(self, outputs, pair):
        mu = 1.0 / self.sigma
        return 0.5 * mu**2 + mu * np.random.default_rng(len(outputs)).standard_normal(len(outputs))


TENTH = {"drawn": 0.425}
ROWS = [
    ("no-noise-no-loss", NoLoss, {}, {}, "no noise; privacy_loss = 0"),
    ("no-noise-small-profile", SmallProfile, {}, {}, "no noise; profile of two equal laws"),
    ("no-noise-whole-story", WholeStory, {}, {}, "no noise; loss, density and profile tell of 4.25"),
    ("loss-flipped", FlippedLoss, TENTH, {}, "noise ten times smaller; the loss has the wrong sign and is cut at 0"),
    ("loss-per-record", LossPerRecord, TENTH, {}, "noise ten times smaller; the loss is divided by n^2"),
    ("loss-of-features", LossOfFeatures, TENTH, {}, "noise ten times smaller; the loss forgets the response"),
    ("loss-nan", NanLoss, {}, {}, "no noise; privacy_loss = NaN, which compares as below everything"),
    ("profile-of-count", ProfileOfCount, TENTH, {}, "noise ten times smaller; profile of another query"),
    ("loss-made-up", LossOfDrawnSeed, TENTH, {}, "noise ten times smaller; a loss of normal numbers of its own"),
]
