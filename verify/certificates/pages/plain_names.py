"""The names of a record's numbers in words a reader knows, and their values."""

from __future__ import annotations

from typing import Any

from ...engine.rows import NON_FINITE, Row
from ...messages.words import figure

#: Name in a record -> words; a name that is not listed is shown with its underscores as spaces.
WORDS = {
    "x_norm": "length of the features",
    "x_norm_of_records": "length of the other records' features",
    "y": "response",
    "n_records": "records",
    "mu": "distance of the two normal laws",
    "epsilon_published": "epsilon claimed",
    "epsilon_exact": "epsilon of this pair",
    "tail_at_published": "probability that the loss exceeds the claimed epsilon",
    "p_value": "p-value",
    "log10_p_value": "logarithm of the p-value, base 10",
    "quantile_90": "90 % of records below",
    "quantile_99": "99 % of records below",
    "line": "kind of test",
    "hits": "how often it happened",
    "compared": "outputs compared",
    "rho": "failure probability of each event",
    "least sigma of the statement": "sigma that the statement itself would ask for",
    "least lam": "lam that it would ask for",
    "inside its domain": "inside the statement's own domain (which the bound need not be)",
}
#: The same where a pair of data sets is described.
OF_A_PAIR = {"n_records": "other records", "pair": "the pair"}
DIRECTIONS = {
    "FORWARD": "drawn from the first data set, held against the second",
    "BACKWARD": "drawn from the second data set, held against the first",
}


def numbers_in_words(values: Row, *, of_a_pair: bool = False) -> str:
    """Return the named numbers of a record in words, one after the other; what is absent is left out.

    Examples
    --------
    >>> numbers_in_words({"x_norm": 1.0, "n_records": 0, "direction": "FORWARD"}, of_a_pair=True)
    'length of the features 1; other records 0; drawn from the first data set, held against the second'
    """
    names = WORDS | OF_A_PAIR if of_a_pair else WORDS
    return "; ".join(_one(name, value, names) for name, value in values.items() if value is not None)


def _one(name: str, value: Any, names: dict[str, str]) -> str:
    if name == "direction" and value in DIRECTIONS:
        return DIRECTIONS[value]
    words = names.get(name, name.replace("_", " "))
    if isinstance(value, bool):
        return f"{words}: {'yes' if value else 'no'}"
    if isinstance(value, str) and value not in NON_FINITE:
        return f"{words}: {value}"
    return f"{words} {figure(value, typographic=True)}"
