"""The printed numbers of Tables 3 and 4."""

from __future__ import annotations

import pytest

from verify.papers.wang2018.shared import printed_tables


@pytest.mark.parametrize("number", [3, 4])
def test_36_data_sets_and_seven_methods(number: int) -> None:
    assert len(printed_tables.table(number)) == 36
    assert {len(row) for row in printed_tables.table(number).values()} == {7}


def test_single_numbers() -> None:
    assert printed_tables.table(3)["gas"]["OPS"] == (0.0546, 0.012)


def test_properties_of_a_row() -> None:
    """AdaSSP best by its mean; OPS clearly below both; SSP's interval reaches 0."""
    row = {"ObjPert": (5.0, 0.1), "OPS": (1.0, 0.1), "SSP": (2.0, 3.0), "AdaOPS": (1.5, 0.1), "AdaSSP": (0.9, 0.1)}
    row |= {"Trivial": (0.8, 0.1), "non-private": (0.1, 0.1)}
    assert printed_tables.beaten(row)
    assert not printed_tables.clearly_worse(row)
    assert printed_tables.clearly_worse(row | {"AdaSSP": (1.3, 0.1)})
    assert not printed_tables.clearly_worse(row | {"AdaSSP": (1.2, 0.1)})
    assert printed_tables.unstable(row)
    assert printed_tables.far_from_best(row)
    assert printed_tables.worse_than_trivial(row)
    assert not printed_tables.worse_than_trivial(row | {"Trivial": (0.9, 0.1)})


def test_counts() -> None:
    """By hand from the printed tables."""
    assert [printed_tables.count(t, "beaten") for t in (3, 4)] == [27, 21]
    assert [printed_tables.count(t, "clearly worse") for t in (3, 4)] == [4, 1]
