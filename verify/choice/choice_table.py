"""The rows of a comparison as a table: a DataFrame with one column a key, CSV, or Parquet."""

from __future__ import annotations

#: The columns, in order; ``seconds`` is what a clock measured, and no part of the record.
COLUMNS = (
    "data",
    "origin",
    "loss",
    "method",
    "way",
    "neighbours",
    "epsilon",
    "delta",
    "rule",
    "standing",
    "error",
    "error_low",
    "error_high",
    "metric",
    "folds",
    "draws",
    "record_epsilon_median",
    "record_epsilon_95",
    "record_epsilon_largest",
    "record_epsilon_kind",
    "reason",
    "seconds",
)
