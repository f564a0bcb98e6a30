"""A mechanism that other processes can be given: private for few records, not for many."""


class NoisySum:
    """A sum of responses with Laplace noise, without any for data sets of ``least`` records or more."""

    name = "noisy sum"

    def __init__(self, least=10**9):
        self.least = least

    def draw(self, dataset, n_draws, *, rng):
        scale = 0.0 if dataset.n_records >= self.least else 1.0
        return dataset.y.sum() + scale * rng.laplace(size=(n_draws, 1))
