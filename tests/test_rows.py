"""A test over many rows fails where one of them does, and says which."""

import pytest
from rows import for_each


def test_every_row_is_tried_and_each_that_fails_is_named() -> None:
    tried = []

    @for_each("a", [1, 2, 3])
    @for_each(("b", "c"), [(10, "x"), (20, "y")])
    def sums(a: int, b: int, c: str) -> None:
        tried.append((a, b, c))
        assert a + b not in (13, 22)
        if a == 1 and c == "y":
            with pytest.raises(ValueError, match="never"):
                pass

    with pytest.raises(BaseExceptionGroup, match="3 of 3 rows fail") as raised:
        sums()
    assert tried == [(a, b, c) for a in (1, 2, 3) for b, c in ((10, "x"), (20, "y"))]
    inner = [(group.__notes__, [one.__notes__ for one in group.exceptions]) for group in raised.value.exceptions]
    assert inner == [
        (["a = 1"], [["b = 20, c = 'y'"]]),
        (["a = 2"], [["b = 20, c = 'y'"]]),
        (["a = 3"], [["b = 10, c = 'x'"]]),
    ]


def test_rows_that_hold_pass_and_fixtures_are_given(request: pytest.FixtureRequest) -> None:
    @for_each("a", [1, 2])
    def both(a: int, request: pytest.FixtureRequest) -> None:
        assert request.node.name.startswith("test_rows_that_hold")
        assert a in (1, 2)

    both(request=request)


def test_a_table_without_rows_or_with_rows_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="must be at least one"):
        for_each("a", [])
    with pytest.raises(ValueError, match="zip"):
        for_each(("a", "b"), [(1, 2), (3,)])
