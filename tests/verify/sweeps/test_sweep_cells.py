"""Cells: what each name on the mechanism axis stands for, and that a row is a pure function of its cell."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import for_each
from toys.sweeps import Here, Listener, light_grid

from mechanisms import BOTH, ExactLaw, GaussianOutput, PosteriorSampling
from reports.row import Table
from verify.engine.store import Store
from verify.engine.versions import difference, identity
from verify.kernel.rows import dumps
from verify.messages.errors import Defect, UserError
from verify.papers.wang2019.thm_4_1 import out_of_sample
from verify.sweeps import cell as cells
from verify.sweeps.cell import TARGETS, Shared, cell_key, cell_name, decide_cell, pair_of
from verify.sweeps.grid import AXES, Grid, read_grid
from verify.sweeps.mechanism_axis import RECIPES
from verify.sweeps.sweep_pages import Tally, document, exit_code, tally
from verify.sweeps.sweep_run import Sweep, export, flat, rows

SHARED = Shared(1, 400, 1e-7, {})


def cell(mechanism: str, **changes: Any) -> dict[str, Any]:
    loss = RECIPES[mechanism].losses[0]
    base = {"mechanism": mechanism, "loss": loss, "n": 12, "dim": 2, "conditioning": 10.0, "seed": 3}
    return base | {"target": "member", "delta": 1e-4, "epsilon": 0.7} | changes


@for_each("target", TARGETS)
@for_each("mechanism", [name for name, recipe in RECIPES.items() if recipe.exact])
def test_exact_cells_agree_with_the_profile(mechanism: str, target: str) -> None:
    """The row's interval holds delta from the mechanism's own float64 profile (relative 1e-9: two evaluations)."""
    mine = cell(mechanism, target=target)
    row, pair = decide_cell(mine, SHARED), pair_of(mine, SHARED)
    assert row["error"] is None
    setup = RECIPES[mechanism].build("squared", pair, 0.7, 1e-4)
    if row["outcome"] == "OUT_OF_DOMAIN":
        assert setup.reason
    else:
        assert isinstance(setup.mechanism, PosteriorSampling | GaussianOutput) or mechanism.startswith("ssp")
        assert isinstance(setup.mechanism, ExactLaw)
        delta = max(setup.mechanism.profile(pair).delta_at(0.7, d) for d in BOTH)
        assert math.isclose(row["exact"]["value"], delta, rel_tol=1e-9)
        assert row["outcome"] == ("HOLDS" if delta < 1e-4 else "FAILS")
    assert (row["n_draws"], row["failure_prob"]) == (0, 0.0)


@for_each(("mechanism", "tail"), [("ops-per-instance", 1.0), ("ops-per-instance-corrected", 2.0)])
def test_per_instance_rule_meets_its_bound(mechanism: str, tail: float) -> None:
    """At the chosen gamma the bound is the target epsilon; a larger gamma exceeds it."""
    pair = pair_of(cell(mechanism, n=60), SHARED)
    chosen = RECIPES[mechanism].build("squared", pair, 0.7, 1e-4).mechanism
    assert isinstance(chosen, PosteriorSampling)
    for factor, compare in ((1.0, math.isclose), (1.01, lambda bound, epsilon: bound > epsilon)):
        leverage, scaled = PosteriorSampling(chosen.gamma * factor, chosen.lam).target(pair)
        bound = out_of_sample({"leverage": leverage, "residual": abs(scaled), "delta": 1e-4}, tail=tail)
        assert compare(bound, 0.7)


def test_exact_calibration_is_tight_and_the_printed_gaussian_rule_breaks() -> None:
    """W19-L2.4 as printed has gamma for its root: at a sensitivity below 1 the noise is too small."""
    tight = decide_cell(cell("gaussian-analytic"), SHARED)
    assert tight["outcome"] == "HOLDS"
    assert 0 < tight["margin"] < 1e-4
    assert decide_cell(cell("gaussian-printed", target="lonely", epsilon=0.5, conditioning=100.0), SHARED)[
        "outcome"
    ] == ("FAILS")


def test_sampled_cell_is_a_pure_function_and_spends_its_share() -> None:
    mine = cell("objective-perturbation-corrected", loss="logistic", delta=0.2)
    first, again = decide_cell(mine, SHARED), decide_cell(mine, SHARED)
    assert dumps(first) == dumps(again)
    assert first["error"] is None
    assert first["n_draws"] == 400
    assert first["sampled"]["failure_prob"] <= 0.5e-7 * (1 + 1e-9)
    other = decide_cell(mine, Shared(2, 400, 1e-7, {}))
    assert dumps(first) != dumps(other)


def test_combination_without_meaning_makes_no_claim() -> None:
    row = decide_cell(cell("ssp", loss="logistic"), SHARED)
    assert (row["outcome"], row["margin"], row["error"]) == ("OUT_OF_DOMAIN", "nan", None)
    assert row["detail"] == "the loss must be squared for ssp"


def test_exception_becomes_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ArithmeticError("two\nlines")

    monkeypatch.setattr(cells, "make_pair", broken)
    row = decide_cell(cell("ssp"), SHARED)
    assert row["error"] == {"type": "ArithmeticError", "message": "two lines"}
    assert (row["outcome"], row["reason"]) == ("UNDECIDED", "ERROR")


@for_each("labels", ["squared", "logistic"])
def test_data_of_a_cell_have_the_conditioning_and_lie_in_their_domain(labels: str) -> None:
    mechanism = "ssp" if labels == "squared" else "objective-perturbation"
    pairs = {t: pair_of(cell(mechanism, loss=labels, n=2000, target=t), SHARED) for t in TARGETS}
    X, y = pairs["member"].first.X, pairs["member"].first.y
    values = np.linalg.eigvalsh(X.T @ X)
    assert 5 < values[-1] / values[0] < 20  # 10 in the population, less what clipping takes
    assert set(y) == {-1.0, 1.0} or labels == "squared"
    assert {pair.first.digest for pair in pairs.values()} == {pairs["member"].first.digest}
    for name in ("lonely", "extreme"):
        assert math.isclose(float(np.linalg.norm(pairs[name].x)), 1.0)
    solved = np.linalg.solve(X.T @ X, np.column_stack([pairs["lonely"].x, pairs["extreme"].x]))
    leverages = [float(pairs[name].x @ solved[:, i]) for i, name in enumerate(("lonely", "extreme"))]
    assert np.allclose(leverages, [1 / values[0], 1 / values[-1]])


def test_identity_names_what_differs() -> None:
    ours = identity()
    assert difference(ours, identity()) == ""
    assert difference(ours, ours | {"sources": "0" * 64}).startswith("digest of our sources 0000")
    assert difference(ours, ours | {"platform": "Plan 9"}).startswith("platform Plan 9, here ")
    changed = ours["versions"] | {"numpy": "1.0"}
    assert difference(ours, ours | {"versions": changed}).startswith("version of numpy 1.0, here ")
    assert difference({}, {}) == ""


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


@for_each(
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


CELLS = 48


def sweep(folder: Path, store: Store, listener: Listener | None = None) -> Sweep:
    return Sweep(read_grid(light_grid(folder)), store, listener or Listener())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    with Store(folder / "s.sqlite") as store:
        work = sweep(folder, store)
        work.run(Here())
        export(work, folder / "table.jsonl")
    return (folder / "table.jsonl").read_bytes()


def headline(work: Sweep, found: Tally) -> str:
    summary = document(work, found, date="").summary
    assert summary is not None
    return summary.title


def table(work: Sweep, folder: Path) -> bytes:
    export(work, folder / "table.jsonl")
    return (folder / "table.jsonl").read_bytes()


def test_every_cell_has_one_row_in_the_order_of_the_grid(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        listener, here = Listener(), Here()
        work = sweep(tmp_path, store, listener)
        work.run(here)
        assert work.counts.total() == len(set(here.names)) == len(here.names) == CELLS
        assert [row["cell"] for row in rows(work)] == list(work.grid.cells())
        assert here.closed == 1
        assert listener.estimates[0][0] <= CELLS
        assert math.isfinite(listener.estimates[0][1] or 0.0)
        assert max(here.sizes) > 1
        counted = [int(part.split()[0]) for part in listener.last.split(", ")]
        assert sum(counted) == listener.done == listener.estimates[0][0]  # of the cells that it was told are left
        again = Here()
        work.run(again)
        assert again.names == []


def test_rows_do_not_depend_on_slots_or_batches(undisturbed: bytes, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store)
        work.run(Here(slots=7))
        assert table(work, tmp_path) == undisturbed


def test_interrupted_sweep_keeps_what_is_done_and_resumes(undisturbed: bytes, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store, Listener(stop_after=20))
        here = Here()
        work.run(here)
        assert work.interrupted
        assert here.closed == 1
        assert exit_code(work, tally(work).counts) == 130
        done = len(store.keys())
        assert 20 <= done < CELLS
        work = sweep(tmp_path, store)
        here = Here()
        work.run(here)
        assert len(here.names) == CELLS - done
        assert table(work, tmp_path) == undisturbed


def test_cells_not_reached_in_time_stay_absent(undisturbed: bytes, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store)
        work.run(Here(), max_time=1e-9)
        assert work.timed_out
        assert len(store.keys()) < CELLS
        assert headline(work, tally(work)).startswith("Incomplete")
        work = sweep(tmp_path, store)
        work.run(Here())
        assert table(work, tmp_path) == undisturbed


def test_a_cell_that_kills_its_worker_is_recorded_and_the_others_are_decided(
    undisturbed: bytes, tmp_path: Path
) -> None:
    deadly = "mechanism=gaussian-printed, loss=squared, n=10, dim=2, conditioning=1.0, seed=0, target=member"
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store)
        work.run(Here(deadly=deadly))
        assert len(store.keys()) == CELLS
        crashed = [row for row in rows(work) if row["error"]]
        assert [row["cell"]["epsilon"] for row in crashed] == [0.5, 1.0, 2.0, 4.0]
        assert {row["error"]["type"] for row in crashed} == {"WorkerDied"}
        found = tally(work)
        assert found.counts["ERROR"] == 4
        assert exit_code(work, found.counts) == 4
        assert headline(work, found).startswith("Incomplete")
        here = Here()
        work.run(here)
        assert here.names == []  # a crash is tried again only when asked
        work.run(here, retry_failed=True)
        assert len(here.names) == 4
        assert table(work, tmp_path) == undisturbed
        work.run(here, retry_failed=True)
        assert len(here.names) == 4  # a verdict never is


def test_batch_that_reached_a_differing_worker_is_handed_in_again(undisturbed: bytes, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store)
        here = Here(different=3)
        work.run(here)
        assert here.refusals == 3
        assert table(work, tmp_path) == undisturbed


def test_any_other_exception_of_a_batch_is_a_defect_of_ours(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store, pytest.raises(Defect, match="what is done is kept") as stop:
        sweep(tmp_path, store).run(Here(broken="no such thing"))
    assert "RuntimeError: no such thing" in str(stop.value)


def test_cells_of_another_process_are_not_decided_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second sweep planned all cells before the first one began; it looks again before each batch."""
    with Store(tmp_path / "s.sqlite") as store:
        first, second = sweep(tmp_path, store), sweep(tmp_path, store)
        places = second.missing(retry_failed=False)
        first.run(Here())
        monkeypatch.setattr(second, "missing", lambda *, retry_failed: places)
        here = Here()
        second.run(here)
        assert len(here.names) <= 12  # the pilot
        assert len(store.keys()) == CELLS


def test_summary_tells_where_it_breaks_and_where_it_is_tight(undisturbed: bytes, tmp_path: Path) -> None:
    found = [json.loads(line) for line in undisturbed.decode().splitlines()]
    assert (found[0]["complete"], found[0]["cells"]) == (True, CELLS)
    columns = [flat(row) for row in found[1:]]
    failing = [each for each in columns if each["outcome"] == "FAILS"]
    assert failing
    assert all(each["log10_ratio"] > 0 for each in failing)
    assert all(each["log10_ratio"] <= 0 for each in columns if each["outcome"] == "HOLDS")
    assert {each["mechanism"] for each in columns if each["outcome"] == "OUT_OF_DOMAIN"} >= {"objective-perturbation"}
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store)
        work.run(Here())
        paper = document(work, tally(work), date="2031-12-31")
    assert paper.summary is not None
    assert paper.summary.title == "The claim breaks in some cells"
    maps = [block for section in paper.sections for block in section.blocks if type(block).__name__ == "HeatMap"]
    assert len(maps) == 4
    worst = paper.sections[-1].blocks[0]
    assert isinstance(worst, Table)
    ratios = [each["log10_ratio"] for each in columns if not math.isnan(each["log10_ratio"])]
    assert len(worst.rows) == min(25, len(ratios))
