"""Grids: the product of the axes, one line for every mistake, and keys that name a cell."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from verify.messages.errors import UserError
from verify.sweeps.cell import cell_key, cell_name
from verify.sweeps.grid import AXES, Grid, read_grid

AXIS_LINES = {
    "mechanism": '["ops-diffuse", "ssp"]',
    "loss": '["squared"]',
    "n": "[10, 20]",
    "dim": "[2]",
    "conditioning": "[1, 10.0]",
    "seed": "[0]",
    "target": '["lonely", "member", "typical"]',
    "delta": "[1e-5]",
    "epsilon": "[0.5, 1, 2]",
}


def text(extra: str = "", **axes: str) -> str:
    lines = AXIS_LINES | axes
    return "[grid]\n" + "".join(f"{axis} = {values}\n" for axis, values in lines.items() if values) + extra


def grid(folder: Path, content: str) -> Grid:
    path = folder / "grid.toml"
    path.write_text(content)
    return read_grid(path)


def test_cells_are_the_product_with_the_last_axis_fastest(tmp_path: Path) -> None:
    found = grid(tmp_path, text())
    cells = list(found.cells())
    assert len(cells) == len(found) == 2 * 1 * 2 * 1 * 2 * 1 * 3 * 1 * 3
    assert [list(cell) for cell in cells[:1]] == [list(AXES)]
    assert [cell["epsilon"] for cell in cells[:4]] == [0.5, 1.0, 2.0, 0.5]
    assert [cell["target"] for cell in cells[:4]] == ["lonely", "lonely", "lonely", "member"]
    assert (cells[0]["mechanism"], cells[-1]["mechanism"]) == ("ops-diffuse", "ssp")
    assert found.name == "grid"


def test_every_cell_has_its_own_key_and_everything_shared_moves_all(tmp_path: Path) -> None:
    found = grid(tmp_path, text())
    keys = [cell_key(found.shared({"sources": "a"}).hasher(), cell) for cell in found.cells()]
    assert len(set(keys)) == len(found)
    other = grid(tmp_path, text("[budget]\nseed = 1\n"))
    for shared in (found.shared({"sources": "b"}), other.shared({"sources": "a"})):
        assert not set(keys) & {cell_key(shared.hasher(), cell) for cell in found.cells()}


def test_a_grid_that_grows_moves_no_key(tmp_path: Path) -> None:
    small, large = grid(tmp_path, text()), grid(tmp_path, text(n="[20, 5, 10]"))
    keys = [{cell_key(g.shared({}).hasher(), cell) for cell in g.cells()} for g in (small, large)]
    assert keys[0] < keys[1]


def test_a_whole_number_and_the_same_float_are_one_value(tmp_path: Path) -> None:
    assert cell_name(grid(tmp_path, text(epsilon="[1]")).cell(0)) == cell_name(
        grid(tmp_path, text(epsilon="[1.0]")).cell(0)
    )


def test_only_sampled_cells_spend(tmp_path: Path) -> None:
    assert grid(tmp_path, text()).spends() == 0.0
    mixed = grid(
        tmp_path,
        text(
            "[budget]\nfailure_prob = 1e-8\n",
            mechanism='["ops-diffuse", "objective-perturbation"]',
            loss='["squared", "logistic"]',
        ),
    )
    assert math.isclose(mixed.spends(), len(mixed) / 4 * 1e-8)  # one of the four combinations is sampled


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("grid = 1", "grid must be a table, got grid=1"),
        ("[gird]", "gird must be one of name, grid, budget, data, imported, got gird; did you mean grid?"),
        ("not toml", "grid must be TOML, got "),
        ("name = 3", "name must be text that is not empty, got name=3"),
        (text(epsilon=""), "grid.epsilon must be given, got nothing; its values must be numbers from 1e-12 to 1e+12"),
        (text(epsilon="1.0"), "grid.epsilon must be a list of at least one value, got grid.epsilon=1.0"),
        (text(epsilon="[]"), "grid.epsilon must be a list of at least one value, got grid.epsilon=[]"),
        (text(epsilon="[1, 0]"), "grid.epsilon must be numbers from 1e-12 to 1e+12, got grid.epsilon=0"),
        (text(epsilon="[nan]"), "grid.epsilon must be numbers from 1e-12 to 1e+12, got grid.epsilon=nan"),
        (text(epsilon="[inf]"), "grid.epsilon must be numbers from 1e-12 to 1e+12, got grid.epsilon=inf"),
        (text(epsilon="[true]"), "grid.epsilon must be numbers from 1e-12 to 1e+12, got grid.epsilon=True"),
        (text(epsilon="[1, 1.0]"), "grid.epsilon must be a list without repetition, got grid.epsilon=1.0"),
        (text(delta="[1.0]"), "grid.delta must be numbers from 1e-100 to 1 - 1e-9, got grid.delta=1.0"),
        (text(n="[2.5]"), "grid.n must be whole numbers of at least 1, got grid.n=2.5"),
        (text(conditioning="[0.5]"), "grid.conditioning must be numbers from 1 to 1e+12, got grid.conditioning=0.5"),
        (text(mechanism='["opps"]'), "grid.mechanism must be among ops-diffuse, "),
        (text("gamma = [1]\n"), "grid.gamma must be one of mechanism, "),
        (text("[budget]\nn_draws = 1\n"), "budget.n_draws must be a whole number of at least 2, got budget.n_draws=1"),
        (text("[budget]\nfailure_prob = 1\n"), "budget.failure_prob must be a number from 1e-100 to 1 - 1e-9, got"),
        (text("[budget]\ndraws = 1\n"), "budget.draws must be one of seed, n_draws, imported_draws, failure_prob, got"),
        ("[data]\nfile = 'x.csv'\n", "data.response must be given, got nothing"),
    ],
)
def test_mistakes_name_key_rule_and_value(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as stop:
        grid(tmp_path, content)
    assert message in str(stop.value)
    assert "\n" not in str(stop.value)


OWN = """
[grid]
mechanism = ["ssp"]
loss = ["squared"]
target = [0, 2]
delta = [1e-5]
epsilon = [1.0]
[data]
file = "own.csv"
response = "y"
x_bound = {bound}
y_bound = 1.0
public = false
"""


def test_own_data_give_records_as_targets(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("a,b,y\n0.1,0.2,0.5\n0.3,0.1,-0.5\n0.2,0.7,1\n")
    found = grid(tmp_path, OWN.format(bound="1.0"))
    assert found.private
    assert [cell["target"] for cell in found.cells()] == [0, 2]
    with pytest.raises(UserError, match=r"grid.target must be numbers of records, in \[0, 3\), got grid.target=3"):
        grid(tmp_path, OWN.format(bound="1.0").replace("[0, 2]", "[3]"))


def test_a_mistake_in_own_data_never_quotes_a_cell(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("a,b,y\n0.12345,0.2,0.5\n")
    with pytest.raises(UserError, match=r"data.file: rows of X must have Euclidean norm at most x_bound=0.1") as stop:
        grid(tmp_path, OWN.format(bound="0.1"))
    assert "0.12345" not in str(stop.value)
    (tmp_path / "own.csv").write_text("a,b,y\nsecret,0.2,0.5\n")
    with pytest.raises(UserError, match=r"column a must hold numbers only, got text$") as stop:
        grid(tmp_path, OWN.format(bound="0.1"))
    assert "secret" not in str(stop.value)
