"""Real data sets that ship with statsmodels, brought into a public domain by record-wise steps; no download."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from .dataset import ColumnShiftScale, DataError, Dataset, RowClip, build_dataset


@dataclass(frozen=True)
class DataSource:
    """How one data set is read: the response, and a public range for each feature.

    The ranges are what the codebook or common knowledge says (an age, a seven-point scale, a logarithm of dollars),
    never the extremes of the records. A feature is mapped from its range to [-1, 1] and divided by the root of the
    number of features with the intercept, so that a record within the ranges has Euclidean norm at most 1; one
    outside is scaled down to norm 1.

    Attributes
    ----------
    response : str
        Column that the response is made from.
    threshold : float or None
        A response above it becomes +1 and any other -1; None for a numeric response.
    response_scale : float
        Public constant that a numeric response is divided by before it is clipped to [-1, 1].
    """

    title: str
    response: str
    ranges: dict[str, tuple[float, float]]
    threshold: float | None = None
    response_scale: float = 1.0


SOURCES: Final[dict[str, DataSource]] = {
    # Fair (1978), Redbook survey; response: any time spent in extramarital affairs
    "fair": DataSource(
        "Fair's survey of affairs",
        "affairs",
        {
            "rate_marriage": (1, 5),
            "age": (15, 70),
            "yrs_married": (0, 50),
            "children": (0, 8),
            "religious": (1, 4),
            "educ": (0, 20),
            "occupation": (1, 6),
            "occupation_husb": (1, 6),
        },
        threshold=0.0,
    ),
    # RAND health insurance experiment; response: outpatient visits to a doctor, counted up to 20
    "randhie": DataSource(
        "RAND health insurance experiment",
        "mdvis",
        {
            "lncoins": (0, math.log(101)),
            "idp": (0, 1),
            "lpi": (0, math.log(10_000)),
            "fmde": (0, math.log(10_000)),
            "physlm": (0, 1),
            "disea": (0, 60),
            "hlthg": (0, 1),
            "hlthf": (0, 1),
            "hlthp": (0, 1),
        },
        response_scale=20.0,
    ),
    # American National Election Study of 1996; response: expected vote, Dole +1, Clinton -1
    "anes96": DataSource(
        "American National Election Study 1996",
        "vote",
        {
            "logpopul": (math.log(0.1), math.log(10_000)),
            "TVnews": (0, 7),
            "selfLR": (1, 7),
            "ClinLR": (1, 7),
            "DoleLR": (1, 7),
            "PID": (0, 6),
            "age": (18, 100),
            "educ": (1, 7),
            "income": (1, 24),
        },
        threshold=0.5,
    ),
}


@cache
def load(name: str) -> Dataset:
    """Return an embedded data set with ``x_bound = y_bound = 1``, an intercept as last column, and ``public = True``.

    Parameters
    ----------
    name : {"fair", "randhie", "anes96"}

    Raises
    ------
    DataError
        For another name.
    """
    if name not in SOURCES:
        raise DataError(f"name must be one of {', '.join(SOURCES)}, got name={name}")
    # statsmodels is slow to import and needed nowhere else in this room
    from statsmodels import datasets

    source = SOURCES[name]
    frame = getattr(datasets, name).load_pandas().data
    response = frame[source.response].to_numpy(dtype=np.float64)
    first = f"features {', '.join(source.ranges)}; response {source.response}"
    if source.threshold is not None:
        response = np.where(response > source.threshold, 1.0, -1.0)
        first += f", +1 above {source.threshold:g} and -1 otherwise"
    root = math.sqrt(len(source.ranges) + 1)
    centres = [0.5 * (low + high) for low, high in source.ranges.values()]
    scales = [0.5 * (high - low) * root for low, high in source.ranges.values()]
    dataset = build_dataset(
        frame[list(source.ranges)].to_numpy(dtype=np.float64),
        response,
        x_bound=1.0,
        y_bound=1.0,
        intercept=1.0,
        steps=[ColumnShiftScale((*centres, 0.0), (*scales, root)), RowClip(1.0)],
        response_scale=source.response_scale,
        clip_response=source.threshold is None,
        name=name,
        public=True,
    )
    return replace(dataset, steps=(first, *dataset.steps))
