"""The records of a comparison: a file with options, a configuration, a public set, synthetic ones; refusals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from mechanisms import Dataset, load
from mechanisms.data.uci import as_in_wang2018
from verify.certificates.config.config import DataSection
from verify.comparisons.choice_data import ChoiceData, ball_records, gather, prepared_records
from verify.messages.errors import UserError

CSV = "id,a,b,kind,y\n1,0,2,u,1\n2,1,4,v,10\n3,3,6,u,100\n4,4,2,v,1000\n"
TOML = """[data]
file = "records.csv"
features = ["a", "b"]
target = "y"
x_bound = 1.0
y_bound = 2000.0
n_public = 9

[data.ranges]
a = [0, 4]
b = [0, 8]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "records.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "other.csv").write_text(CSV.replace("1000", "500"), encoding="utf-8")
    (tmp_path / "data.toml").write_text(TOML, encoding="utf-8")
    return tmp_path


def found(data: Any, loss: Any = "squared", options: dict[str, Any] | None = None, **more: Any) -> ChoiceData:
    return gather(data, loss=loss, options=options or {}, rng=np.random.default_rng(1), **more)


def test_a_file_without_bounds_is_scaled_by_itself_and_says_so(folder: Path) -> None:
    options = {"target": "y", "drops": ("id",), "categories": {"kind": ["u", "v"]}, "log": "log"}
    data = found(folder / "records.csv", options=options)
    raw = np.array([[0, 2, 1, 0], [1, 4, 0, 1], [3, 6, 1, 0], [4, 2, 0, 1]], dtype=float)
    twin = as_in_wang2018(Dataset(raw, np.log([1, 10, 100, 1000]), math.inf, math.inf))
    assert pytest.approx(twin.X, abs=1e-15) == data.dataset.X
    assert data.dataset.y == pytest.approx(twin.y, abs=1e-15)
    assert any("read off the data" in note for note in data.dataset.data_dependent)
    assert "log of the response" in data.dataset.steps
    assert (data.origin, data.n_public, data.private) == ("records", 4, True)


def test_labels_are_not_centred_and_a_constant_column_says_nothing() -> None:
    X = np.column_stack([np.arange(6.0), np.ones(6)])
    data = found(Dataset(X, np.array([1.0, 1, 1, 1, -1, 1]), math.inf, math.inf), "logistic")
    assert data.dataset.y.tolist() == [1, 1, 1, 1, -1, 1]
    assert (data.dataset.dim, data.dataset.x_bound, data.dataset.y_bound) == (1, 1.0, 1.0)
    assert "constant columns left out" in data.dataset.data_dependent
    assert (data.left_out, data.read_off) == ((1,), True)
    constant = Dataset(np.ones((6, 2)), np.array([1.0, 1, 1, 1, -1, 1]), math.inf, math.inf)
    with pytest.raises(UserError, match=r"^data must have a feature column that is not constant, got constant "):
        found(constant, "logistic")


def test_a_configuration_is_read_as_certify_reads_it(folder: Path) -> None:
    data = found(folder / "data.toml")
    # a of 1 on [0, 4] is -1/2, b of 4 on [0, 8] is 0; both over the root of 2
    assert data.dataset.X[1] == pytest.approx([-0.5 / math.sqrt(2), 0.0])
    assert (data.domain.x_bound, data.domain.y_bound, data.domain.n_public) == (1.0, 2000.0, 9)
    assert data.dataset.data_dependent == ()


def test_the_public_number_of_records_bounds_them(folder: Path) -> None:
    (folder / "data.toml").write_text(TOML.replace("n_public = 9", "n_public = 3"), encoding="utf-8")
    with pytest.raises(UserError, match=r"data\.n_public must be at least the number of records, got a smaller one"):
        found(folder / "data.toml")
    assert found(folder / "data.toml", public=folder / "other.csv").n_public == 3  # of the records that are meant
    assert found(folder / "data.toml", synthetic=50).n_public == 3
    options = {"target": "y", "drops": ("id", "kind")}
    assert found(None, public=folder / "other.csv", options=options).n_public == 4
    assert found(None, public=folder / "other.csv", options=options | {"n_public": 70}).n_public == 70
    assert found(load("fair"), "logistic", {"n_public": 9000}, synthetic=20).n_public == 9000


def test_a_public_file_takes_the_place_of_the_records(folder: Path) -> None:
    (folder / "records.csv").unlink()  # nothing of it is read
    data = found(folder / "data.toml", public=folder / "other.csv")
    assert (data.origin, data.dataset.y[-1], data.private) == ("public", 500.0, False)
    alone = found(None, public=folder / "other.csv", options={"target": "y", "drops": ("id", "kind")})
    assert (alone.origin, alone.dataset.n_records) == ("public", 4)


def test_the_private_file_itself_is_no_public_set(folder: Path) -> None:
    """By its own path, a longer one, a symbolic or a hard link, and named directly or by a configuration."""
    (folder / "link.csv").symlink_to(folder / "records.csv")
    (folder / "hard.csv").hardlink_to(folder / "records.csv")
    options = {"target": "y", "drops": ("id", "kind")}
    for name in ("records.csv", f"../{folder.name}/records.csv", "link.csv", "hard.csv"):
        for data, keys in (("records.csv", options), ("data.toml", {})):
            with pytest.raises(UserError, match=r"^public must be another file than the data, .* got the same file$"):
                found(folder / data, options=keys, public=folder / name)
    (folder / "link.csv").unlink()
    (folder / "link.csv").symlink_to(folder / "other.csv")
    assert found(folder / "data.toml", public=folder / "link.csv").origin == "public"


def test_synthetic_records_lie_in_the_domain_and_read_nothing(folder: Path) -> None:
    (folder / "records.csv").unlink()
    data = found(folder / "data.toml", synthetic=400)
    X, y = data.dataset.X, data.dataset.y
    assert (data.origin, len(X), data.dataset.public, data.n_public) == ("synthetic", 400, True, 9)
    # each column uniform on [-1, 1]/sqrt(2): variance 1/6; 400 draws, and 6 standard errors
    assert X.var(axis=0) == pytest.approx([1 / 6, 1 / 6], abs=6 * math.sqrt(1 / 45 / 400))
    assert np.abs(y).max() <= 2000
    assert np.corrcoef(y, X @ np.linalg.lstsq(X, y, rcond=None)[0])[0, 1] > 0.4
    same = found(folder / "data.toml", synthetic=400)
    assert same.dataset.digest == data.dataset.digest


def test_synthetic_records_of_a_bounded_data_set_fill_its_ball() -> None:
    public = load("fair")
    data = found(public, "logistic", synthetic=500)
    norms = np.linalg.norm(data.dataset.X, axis=1)
    # the largest of 500 radii U^(1/9) is within 1e-2 of the bound but for (0.99^9)^500 < 1e-19
    assert 0.99 * public.x_bound < norms.max() <= public.x_bound
    assert set(data.dataset.y) == {-1.0, 1.0}
    assert any("uniform in the ball" in step for step in data.dataset.steps)


@pytest.mark.parametrize(
    ("data", "options", "more", "words"),
    [
        ("records.csv", {}, {}, "target must be given: the column of the response, got none"),
        ("records.csv", {"target": "z"}, {}, "target and drops must be columns of records.csv, got z"),
        ("records.csv", {"target": "y"}, {}, "column kind must hold numbers only, got text"),
        ("records.csv", {"target": "y", "x_bound": 1.0}, {}, "x_bound and y_bound must be given together"),
        ("records.csv", {"target": "y", "rows": "clip"}, {}, "x_bound and y_bound must be given with ranges"),
        ("records.csv", {"target": "y", "drops": ("id", "a", "b", "kind")}, {}, "drops must leave a feature"),
        (
            "records.csv",
            {"target": "y", "drops": ("id", "kind")},
            {"synthetic": 9},
            "x_bound and y_bound must be given for",
        ),
        (
            "records.csv",
            {"target": "y", "drops": ("a", "kind"), "log": "log2"},
            {},
            "log must be one of 'log' or 'log1p'",
        ),
        (
            "records.csv",
            {"target": "a", "drops": ("id", "kind"), "log": "log"},
            {},
            "column a must be above 0 for data.log",
        ),
        ("data.toml", {"target": "y"}, {}, "target must be left to the [data] of"),
        ("data.toml", {}, {"public": "x.csv", "synthetic": 9}, "public must come without synthetic, got both"),
        ("data.toml", {}, {"synthetic": -1}, "synthetic must be a number of records of at least 1"),
        (None, {}, {}, "data must be a file, a configuration, a Dataset"),
        (None, {}, {"recipe": "w18/none", "folder": "."}, "recipe must be one of"),
        (None, {}, {"recipe": "w18/airfoil"}, "recipe must come with the folder"),
        ("fair", {}, {"synthetic": 5}, "synthetic must come with the bounds"),
        ("fair", {"drops": ("x",)}, {}, "drops must be left out for an embedded data set, got drops=x"),
        ("a,y\n1,77.1", {"target": "y"}, {}, "data must be a path, a name or a Dataset, got a text of several lines"),
        ([[1.5]], {}, {}, "data must be a path, a name or a Dataset, got a list"),
    ],
)
def test_a_mistake_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, data: Any, options: Any, more: Any, words: str
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(UserError) as refusal:
        found(data, options=options, **more)
    assert str(refusal.value).startswith(words)
    assert "\n" not in str(refusal.value)


def test_the_logistic_loss_wants_labels(folder: Path) -> None:
    options = {"target": "y", "drops": ("id", "kind")}
    with pytest.raises(UserError, match="a threshold, or labels, make them"):
        found(folder / "records.csv", "logistic", options)
    data = found(folder / "records.csv", "logistic", options | {"threshold": 50.0})
    assert data.dataset.y.tolist() == [-1, -1, 1, 1]
    named = found(
        folder / "records.csv",
        "logistic",
        {"target": "kind", "drops": ("id",), "labels": {"u": -1.0, "v": 1.0}, "x_bound": 2000.0, "n_public": 9},
    )
    assert named.dataset.y.tolist() == [-1, 1, -1, 1]
    assert (named.dataset.x_bound, named.dataset.y_bound, named.n_public) == (2000.0, 1.0, 9)


def section(**more: Any) -> DataSection:
    base = {"file": "none.csv", "features": ["a", "kind"], "target": "y", "x_bound": 1.0, "y_bound": 3.0}
    return DataSection.model_validate(base | {"categories": {"kind": ["u", "v", "w"]}} | more)


def test_columns_are_drawn_as_they_are_stated_and_prepared() -> None:
    given = section(ranges={"a": (10.0, 20.0)}, intercept=1.0, log="log", response_scale=7.0)
    data = prepared_records(given, 3000, loss="squared", rng=np.random.default_rng(1))
    root = math.sqrt(5)  # a, three levels, the intercept
    assert data.X[:, 4] == pytest.approx(np.full(3000, 1 / root))
    assert np.abs(data.X[:, 0]).max() <= 1 / root
    # uniform: variance a third of the square, and 6 standard errors (kurtosis 9/5)
    assert data.X[:, 0].var() * 5 == pytest.approx(1 / 3, abs=6 * math.sqrt(4 / 45 / 3000))
    levels = data.X[:, 1:4] * root
    assert levels.sum(axis=1) == pytest.approx(np.ones(3000))
    for level in levels.T:  # null: a third of 3,000 draws, refused at 1e-6
        assert binomtest(int(level.sum().round()), 3000, 1 / 3).pvalue > 1e-6
    assert np.abs(data.y).max() <= 3


def test_without_ranges_rows_fill_the_ball_beside_the_intercept() -> None:
    given = section(x_bound=2.0, intercept=1.0)
    data = prepared_records(given, 500, loss="squared", rng=np.random.default_rng(2))
    assert data.X[:, -1].tolist() == [1.0] * 500
    longest = float(np.linalg.norm(data.X[:, :-1], axis=1).max())
    assert 0.97 * math.sqrt(3) < longest <= math.sqrt(3)
    assert any("intercept as it is" in step for step in data.steps)


def test_half_of_a_response_is_noise() -> None:
    data = ball_records(20_000, 3, 1.0, 6.0, loss="squared", rng=np.random.default_rng(3))
    fitted = data.X @ np.linalg.lstsq(data.X, data.y, rcond=None)[0]
    # a third of the bound is one standard deviation: 0.27 % is clipped, which takes next to nothing
    assert data.y.std() == pytest.approx(2.0, rel=0.03)
    assert fitted.var() / data.y.var() == pytest.approx(0.5, abs=0.03)


def test_labels_follow_the_logistic_model() -> None:
    data = ball_records(20_000, 2, 1.0, 1.0, loss="logistic", rng=np.random.default_rng(4))
    theta = np.linalg.lstsq(data.X, data.y, rcond=None)[0]
    scores = data.X @ theta
    scores /= scores.std()
    for low, high in ((-2.0, -1.0), (-0.5, 0.5), (1.0, 2.0)):
        inside = (scores > low) & (scores < high)
        expected = float((1 / (1 + np.exp(-2 * scores[inside]))).mean())
        # the fitted direction is off by about 1 %; 6 standard errors beside
        spread = 6 * math.sqrt(0.25 / int(inside.sum())) + 0.02
        assert float((data.y[inside] > 0).mean()) == pytest.approx(expected, abs=spread)
