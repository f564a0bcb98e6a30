"""Whether a mechanism is defined where a configuration speaks of it, told before anything is drawn or written.

On private data, and for a claim over all data sets, nothing but public numbers and how many records there are decides
that, by the rules of docs/certify.md: whether a certificate is refused says nothing else about the records.
"""

from __future__ import annotations

import numpy as np

from mechanisms import DataError, Dataset, Mechanism

from ...messages.errors import UserError
from .config import Configuration
from .config_section import OwnSection


def check_fits(config: Configuration, mechanism: Mechanism, dataset: Dataset) -> None:
    """Refuse data that the mechanism does not accept, and numbers for which it is not defined, in one line.

    Raises
    ------
    UserError
        With the key, the rule and the value.
    """
    section = config.mechanism
    if isinstance(section, OwnSection):
        return
    most = getattr(section, "n_public", None)
    if most and dataset.n_records > most:
        raise UserError(f"mechanism.n_public must be at least the number of records, got mechanism.n_public={most}")
    everywhere = not config.data.is_public or any(claim.everywhere for claim in config.claims)
    try:
        if section.check(dataset, everywhere=everywhere):
            nobody = Dataset(np.empty((0, dataset.dim)), np.empty(0), dataset.x_bound, dataset.y_bound)
            mechanism.draw(nobody, 1, rng=np.random.default_rng(0))  # all of it public
    except DataError as stop:
        raise UserError(f"data.target: {stop}") from None
    except (ValueError, ArithmeticError) as stop:
        text, key = str(stop), str(stop).partition(" ")[0]
        if key in type(section).model_fields:
            raise UserError(f"mechanism.{text.replace(f'got {key}=', f'got mechanism.{key}=')}") from None
        raise UserError(f"mechanism must be defined, got: {text}") from None
