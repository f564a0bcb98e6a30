"""Records in the values of the code that is audited, made of rows of the public ball."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from audits.adapters.records import PublicRecords
from audits.adapters.releases import as_mechanism
from mechanisms import Dataset

ROWS = Dataset([[-1.0, 0.0], [0.0, 1.0], [0.6, -0.8], [0.0, 0.0]], [1.0, -1.0, 0.0, 0.5], 1.0, 1.0)
PEOPLE = PublicRecords.of({"age": (17, 90), "height": (1.5, 2.0), "sex": ["f", "m"]})


def test_ranges_end_where_they_say_and_levels_are_all_reached() -> None:
    frame = PEOPLE.of_rows(ROWS).whole
    assert list(frame.columns) == ["age", "height", "sex"]
    assert frame["age"].tolist() == [17, 54, 85, 54]
    assert (frame["age"].dtype.kind, frame["height"].dtype.kind) == ("i", "f")
    assert frame["height"].tolist() == [1.75, 2.0, 1.5, 1.75]
    assert frame["sex"].tolist() == ["m", "f", "m", "m"]
    line = Dataset(np.zeros((201, 1)), np.linspace(-1, 1, 201), 1.0, 1.0)
    assert set(PublicRecords.of((3, 7)).of_rows(line).whole.tolist()) == {3, 4, 5, 6, 7}
    assert set(PublicRecords.of([True, False]).of_rows(line).whole) == {True, False}


def test_neighbours_stay_neighbours() -> None:
    """A record is a function of its own row alone."""
    fewer = Dataset(ROWS.X[:-1], ROWS.y[:-1], 1.0, 1.0)
    assert PEOPLE.of_rows(fewer).whole.equals(PEOPLE.of_rows(ROWS).whole.iloc[:-1])


def test_a_function_gets_all_columns_or_the_last_apart_and_an_estimator_the_last_apart() -> None:
    def both(X, y, rng):
        return (list(X.columns), y.name)

    draw = {"n_draws": 1, "rng": np.random.default_rng(1)}
    (whole,) = as_mechanism(lambda people: list(people.columns), PEOPLE).draw(ROWS, **draw)
    assert whole == ["age", "height", "sex"]
    assert as_mechanism(both, PEOPLE).draw(ROWS, **draw) == [(["age", "height"], "sex")]
    numbers = PublicRecords.of({"age": (17, 90), "height": (1.5, 2.0)})
    (fitted,) = as_mechanism(LinearRegression(), numbers).draw(ROWS, **draw)
    assert fitted["coef_"].shape == (1,)


def test_what_a_function_does_to_its_records_stays_in_its_call() -> None:
    def spoils(people, rng):
        people["age"] = people["age"] + 1
        return int(people["age"].sum())

    first, second = as_mechanism(spoils, PEOPLE).draw(ROWS, 2, rng=np.random.default_rng(1))
    assert first == second


@pytest.mark.parametrize(
    "given",
    [
        {},
        [],
        ["one"],
        (1, 1),
        (2, 1),
        (1, math.inf),
        {"a": 3},
        {" ": (1, 2)},
        {"a": (1, 2, 3)},
        "text",
        [object(), 1],
    ],
)
def test_what_describes_no_record_is_refused_in_one_line(given) -> None:
    with pytest.raises(ValueError, match=r"^records must [^\n]*$"):
        PublicRecords.of(given)


def test_records_are_said_in_their_values() -> None:
    assert PEOPLE.one_by_one(ROWS)[:2] == ["age 17, height 1.75, sex m", "age 54, height 2, sex f"]
    assert PublicRecords.of((3, 7)).one_by_one(ROWS) == ["7", "3", "5", "6"]
    assert PEOPLE.words == "age from 17 to 90, height from 1.5 to 2.0, sex of f, m"
    assert PublicRecords.of(list("abcdef")).words == "values of a, b, c, d, ..."


@pytest.mark.parametrize("given", [{"a": (1, 2), "b": ["x", "y"]}, (0.5, 1.0), ["x", "y"]])
def test_what_a_configuration_says_is_read_back(given) -> None:
    public = PublicRecords.of(given)
    assert PublicRecords.of(public.plain()) == public
