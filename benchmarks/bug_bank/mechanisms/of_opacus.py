"""Opacus 819 and 571: the number of records divides the noise.

``make_private`` takes the number of records for the expected size of a batch, and the optimiser divides the noisy sum
of gradients by it. Where a second record joins, the noise on every weight halves: in 200 dimensions that is seen. A
training is one step at learning rate 1 from weights 0; each record's gradient is clipped to length 1, in the first
weight. What ``make_private`` returns is used again for each training of a request.

The right variant is the library's own ``loss_reduction="sum"``, which divides by nothing.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from lines import Bug, Rows, point, serve
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

WEIGHTS = 200
DELTA = 1e-5
NOISE = 1.0


class Training:
    """A model of 200 weights that is trained privately, again and again from 0."""

    def __init__(self, X: Rows, seed: int, right: bool) -> None:
        records = torch.nn.functional.pad(torch.tensor(X, dtype=torch.float32), (0, WEIGHTS - 1))
        linear = torch.nn.Linear(WEIGHTS, 1, bias=False)
        self.reduced = torch.sum if right else torch.mean
        self.engine = PrivacyEngine(accountant="rdp")
        self.model, self.optimiser, self.loader = self.engine.make_private(
            module=linear,
            optimizer=torch.optim.SGD(linear.parameters(), lr=1.0),
            data_loader=DataLoader(TensorDataset(records), batch_size=2),
            noise_multiplier=NOISE,
            max_grad_norm=1.0,
            loss_reduction="sum" if right else "mean",
            noise_generator=torch.Generator().manual_seed(seed),
        )
        self.weight = linear.weight

    def weights(self) -> list[float]:
        """Return the weights after one epoch, which is one step here."""
        torch.nn.init.zeros_(self.weight)
        for (batch,) in self.loader:
            self.optimiser.zero_grad()
            self.reduced(self.model(batch)).backward()
            self.optimiser.step()
        return [float(value) for value in self.weight.detach()[0]]


def claim(right: bool) -> dict[str, Any]:
    training = Training([[1.0], [1.0]], 0, right)
    training.weights()
    return point(training.engine.get_epsilon(DELTA), DELTA)


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    training = Training(X, seed, right)
    return [training.weights() for _ in range(n_draws)]


warnings.simplefilter("ignore")
torch.set_num_threads(1)
serve("opacus", {"opacus_819": Bug([[1.0]], [[1.0], [1.0]], claim, release)})
