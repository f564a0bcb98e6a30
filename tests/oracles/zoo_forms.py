"""The shapes in which the zoo releases rows of numbers: how each is written, and read again."""

import json
import math

import numpy as np


def frame(columns):
    """Return a data frame; pandas is imported where it is wanted."""
    import pandas as pd

    return pd.DataFrame(columns)


def tagged(row, keys):
    """Return what a frame of numbers has beside them."""
    if keys == ("sum", "n"):
        return {key: [value] for key, value in zip(keys, row, strict=True)}
    first = {"feature": np.arange(len(row))} if keys[0] == "x0" else {"statistic": [{"sum": "answer"}.get(*keys * 2)]}
    return first | {"value": row}


def seen(row):
    """Return the numbers of a row that are there, with their places."""
    return [(j, v) for j, v in enumerate(row) if not math.isnan(v)]


def placed(cells, dim):
    """Return a row of ``dim`` numbers, nan where a place has none."""
    row = [math.nan] * dim
    for j, value in cells:
        row[j] = value
    return row


#: Of each form how a row becomes an output, and an output a row; ``keys`` are the numbers' names.
FORMS = {
    "scalar": (lambda row, keys: row[0], lambda o, keys: [o]),
    "list": (lambda row, keys: row, lambda o, keys: o),
    "tuple": (lambda row, keys: tuple(row), lambda o, keys: o),
    "dict": (lambda row, keys: dict(zip(keys, row, strict=True)), lambda o, keys: [o[key] for key in keys]),
    "nested": (
        lambda row, keys: {"answer": {"value": row[0], "unit": "responses"}},
        lambda o, keys: [o["answer"]["value"]],
    ),
    "json": (
        lambda row, keys: json.dumps(
            dict(zip(keys, row, strict=True)) | ({"unit": "records"} if keys == ("n",) else {})
        ),
        lambda o, keys: [json.loads(o)[key] for key in keys],
    ),
    "frame": (
        lambda row, keys: frame(tagged(row, keys)),
        lambda o, keys: o["value"] if "value" in o else o.iloc[0],
    ),
    "ones": (lambda row, keys: [1] * row[0], lambda o, keys: [len(o)]),
    "letter": (lambda row, keys: chr(ord("a") + row[0]), lambda o, keys: [ord(o) - ord("a")]),
    "ragged": (lambda row, keys: [[j, v] for j, v in seen(row)], lambda o, keys: placed(o, len(keys))),
    "sparse": (
        lambda row, keys: {f"bin {j}": v for j, v in seen(row)},
        lambda o, keys: placed([(int(key[4:]), v) for key, v in o.items()], len(keys)),
    ),
    "none": (lambda row, keys: None if math.isnan(row[0]) else row[0], lambda o, keys: [math.nan if o is None else o]),
    "word": (
        lambda row, keys: "below" if math.isnan(row[0]) else row[0],
        lambda o, keys: [math.nan if isinstance(o, str) else o],
    ),
}
ARRAYS = {"array": np.float64, "float32": np.float32, "flat": np.float64, "int": np.int64, "int8": np.int8}


def pack(form, values, keys, decimals=None, whole=False):
    """Give rows of numbers (nan: nothing) the shape in which they are released."""
    if form in ARRAYS:
        rows = np.asarray(values).astype(ARRAYS[form])
        return rows[:, 0] if form == "flat" else rows
    if form == "text":
        return [";".join(f"{v:.{decimals or 0}f}" for v in row) for row in values]
    kinds = whole if isinstance(whole, tuple) else (whole,) * len(keys)
    kinds = [int if each else float for each in kinds]
    return [FORMS[form][0]([kind(v) for kind, v in zip(kinds, row, strict=True)], keys) for row in values]


def unpack(form, outputs, keys):
    """Return the rows of numbers in outputs of one shape."""
    if form in ARRAYS:
        return np.asarray(outputs, dtype=float).reshape(len(outputs), -1)
    if form == "text":
        return np.array([[float(v) for v in o.split(";")] for o in outputs]).reshape(len(outputs), len(keys))
    return np.array([list(FORMS[form][1](o, keys)) for o in outputs], dtype=float).reshape(len(outputs), len(keys))
