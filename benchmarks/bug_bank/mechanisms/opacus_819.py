"""Opacus 819 and 571: the number of records divides the noise.

``make_private`` takes the number of records for the expected size of a batch and divides the noisy sum by it. Where a
record joins, the scale of the noise on every weight halves (two records) or not (one): in 200 dimensions that is seen.
One step at learning rate 1 from weights 0, where each gradient is 0 but for its bias-free share of at most C.

The right variant is the library's own ``loss_reduction="sum"``, which divides by nothing.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from lines import Rows, serve
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

WEIGHTS = 200
DELTA = 1e-5
NOISE = 1.0


def step(records: torch.Tensor, noise: torch.Generator, right: bool) -> tuple[Any, PrivacyEngine]:
    """Return the model after one private step on all records, and the engine that accounts for it."""
    model = torch.nn.Linear(WEIGHTS, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    engine = PrivacyEngine(accountant="rdp")
    reduction = "sum" if right else "mean"
    private, optimiser, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        data_loader=DataLoader(TensorDataset(records), batch_size=2),
        noise_multiplier=NOISE,
        max_grad_norm=1.0,
        loss_reduction=reduction,
        noise_generator=noise,
    )
    for (batch,) in loader:
        optimiser.zero_grad()
        losses = private(batch)
        (losses.sum() if right else losses.mean()).backward()
        optimiser.step()
    return private, engine


def rows(X: Rows) -> torch.Tensor:
    """Return the records: the number of each in the first weight's place."""
    return torch.nn.functional.pad(torch.tensor(X, dtype=torch.float32), (0, WEIGHTS - 1))


def claim(right: bool) -> dict[str, Any]:
    _, engine = step(rows([[1.0], [1.0]]), torch.Generator().manual_seed(0), right)
    return {"form": "point", "epsilon": engine.get_epsilon(DELTA), "delta": DELTA}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    noise = torch.Generator().manual_seed(seed)
    trained = (step(rows(X), noise, right)[0] for _ in range(n_draws))
    return [model.state_dict()["_module.weight"][0].tolist() for model in trained]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    serve("opacus", first=[[1.0]], second=[[1.0], [1.0]], claim=claim, release=release)
