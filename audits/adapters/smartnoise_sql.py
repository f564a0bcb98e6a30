"""SmartNoise SQL behind our ``draw`` (tested by hand: 1.0.6, which needs opendp below 0.13 and so a place of its own).

Install it together with this package, and without the extra ``opendp``: ``pip install smartnoise-sql pdp-verify``. Its
noise comes from the operating system and cannot be seeded. A query takes tens to hundreds of milliseconds, most of
them to parse it. Where it must run in an environment of its own, put it behind a command (``docs/doors.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mechanisms import Dataset


@dataclass(frozen=True)
class SmartNoiseSQL:
    """A query of SmartNoise SQL over the records as one table; the rows of its result are the output.

    The columns of the table are ``x1``, ``x2``, … and ``y``. Rows that the library leaves out (``censor_dims``) are
    left out of the output. The library spends ``epsilon`` on every noisy column of a query, so that the claim about a
    query is ``cost``, not what was passed.

    Parameters
    ----------
    query : str, for example ``"SELECT SUM(y) AS total FROM records"``
    metadata : mapping or str, what the library takes: a mapping, or the path of a YAML file
    epsilon, delta : float, of its ``Privacy``
    """

    query: str
    metadata: Mapping[str, Any] | str
    epsilon: float
    delta: float

    @property
    def name(self) -> str:
        """Library and query."""
        return f"SmartNoise SQL {self.query}"

    def cost(self) -> tuple[float, float]:
        """Return the epsilon and delta that the library itself counts for the query."""
        epsilon, delta = self._reader(pd.DataFrame({"y": []})).get_privacy_cost(self.query)
        return float(epsilon), float(delta)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> list[Any]:
        """Return the rows of each result; ``rng`` is not used, the library cannot be seeded."""
        columns = {f"x{j + 1}": dataset.X[:, j] for j in range(dataset.dim)}
        reader = self._reader(pd.DataFrame({**columns, "y": dataset.y}))
        return [[tuple(row) for row in reader.execute(self.query)[1:]] for _ in range(n_draws)]

    def _reader(self, frame: pd.DataFrame) -> Any:
        import snsql

        return snsql.from_df(
            frame, privacy=snsql.Privacy(epsilon=self.epsilon, delta=self.delta), metadata=self.metadata
        )
