"""The pairs of data sets that a configuration names, built in the public domain of its data."""

from __future__ import annotations

import numpy as np

from audits.search.worst_case import NamedPair
from mechanisms import DataError, Dataset, NeighbouringPair, Relation

from ...messages.errors import UserError
from .config import Configuration
from .config_pairs import PairSection


def named_pairs(config: Configuration, dataset: Dataset) -> tuple[NamedPair, ...]:
    """Return the pairs of the configuration: ``ADD``, or ``REPLACE`` where a record is replaced.

    Their domain is that of ``dataset``: dimension, bounds, and least number of records.

    Raises
    ------
    UserError
        One line: the pair and the rule, never a number of it.
    """
    return tuple(_pair(section, place, config, dataset) for place, section in enumerate(config.pairs))


def pairs_for(pairs: tuple[NamedPair, ...], relation: str) -> tuple[NamedPair, ...]:
    """Return those that a claim of a relation (``add-remove`` or ``replace``) speaks about."""
    replaced = relation == "replace"
    return tuple(each for each in pairs if (each.pair.relation is Relation.REPLACE) is replaced)


def _pair(section: PairSection, place: int, config: Configuration, dataset: Dataset) -> NamedPair:
    if len(section.target_x) != dataset.dim:
        raise UserError(
            f"pairs[{place}].target_x must have {dataset.dim} prepared features, as the data have, "
            f"got {len(section.target_x)}"
        )
    if len(section.X) < config.data.n_min:
        raise UserError(
            f"pairs[{place}].X must have at least data.n_min={config.data.n_min} records, got {len(section.X)}"
        )
    if config.data.n_public is not None and len(section.X) + (section.replaced is None) > config.data.n_public:
        raise UserError(f"pairs[{place}] must have at most data.n_public={config.data.n_public} records, got more")
    rows = np.reshape(np.asarray(section.X, dtype=np.float64), (len(section.X), dataset.dim))
    try:
        first = Dataset(rows, np.asarray(section.y), dataset.x_bound, dataset.y_bound, name=section.name)
        if section.replaced is None:
            return NamedPair(section.name, NeighbouringPair.add(first, section.target_x, section.target_y))
        pair = NeighbouringPair.replace(first, section.replaced, section.target_x, section.target_y)
        return NamedPair(section.name, pair)
    except DataError as stop:
        raise UserError(f"pairs[{place}] must lie in the public domain: {stop}") from None
