"""Adapters of diffprivlib: outputs as the library gives them; audits find what is wrong with it, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from audits import Budget, DiffprivlibModel, DiffprivlibTool, NamedPair, StreamKey, examine, point_claim
from audits.adapters.diffprivlib import MODELS, TOOLS, DiffprivlibMechanism, count_records, sum_responses
from audits.black_box.black_box_events import FixedEvent, PointTradeOff, epsilon_lower
from mechanisms import Dataset, NeighbouringPair, Relation

DATA = Dataset(np.array([[1.0], [0.1]]), np.array([1.0, 0.1]), 1.0, 1.0)
LABELLED = Dataset([[0.5, 0.2], [-0.5, 0.1], [0.1, 0.3]], [1.0, 0.0, 0.0], 1.0, 1.0)
LAPLACE = DiffprivlibMechanism("Laplace", {"epsilon": 1.0, "sensitivity": 1.0})
BOUNDS = {"bounds": (-1.0, 1.0)}
PARAMETERS = {
    "DecisionTreeClassifier": BOUNDS | {"classes": [0, 1]},
    "GaussianNB": BOUNDS,
    "KMeans": BOUNDS | {"n_clusters": 2},
    "LinearRegression": {"bounds_X": (-1.0, 1.0), "bounds_y": (-1.0, 1.0)},
    "LogisticRegression": {"data_norm": 1.0},
    "PCA": BOUNDS | {"data_norm": 1.0, "n_components": 1},
    "RandomForestClassifier": BOUNDS | {"classes": [0, 1], "n_estimators": 2},
    "StandardScaler": BOUNDS,
    "histogram": {"range": (0.0, 1.0), "bins": 4},
    "percentile": BOUNDS | {"percent": 30},
    "quantile": BOUNDS | {"quant": 0.3},
}
REPLACE = (Relation.REPLACE,)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def rng():
    return np.random.default_rng(5)


def refuted(mechanism, pair, draws, relations=REPLACE):
    """Whether a claim of epsilon 1 is refuted with this many draws at failure probability 1e-6."""
    budget = Budget(draws, 1e-6, StreamKey(1, ("diffprivlib",)))
    found = examine(mechanism, [NamedPair("pair", pair)], point_claim(1.0, 0.0, relations), budget)
    assert found.violations == ()
    return bool(found.refutations)


@pytest.mark.parametrize(
    "mechanism",
    [
        LAPLACE,
        DiffprivlibMechanism("Geometric", {"epsilon": 1.0, "sensitivity": 1}, integer=True),
        DiffprivlibMechanism("Gaussian", {"epsilon": 1.0, "delta": 1e-5, "sensitivity": 1.0}, sum_responses),
    ],
)
def test_mechanisms_give_one_number_a_draw_and_repeat(mechanism):
    outputs = mechanism.draw(DATA, 7, rng=rng())
    assert outputs.shape == (7, 1)
    assert outputs.dtype == np.float64
    assert len(np.unique(outputs)) > 1
    np.testing.assert_array_equal(outputs, mechanism.draw(DATA, 7, rng=rng()))
    assert count_records(DATA) == 2.0
    assert sum_responses(DATA) == pytest.approx(1.1)


@pytest.mark.parametrize("kind", MODELS)
def test_models_give_what_they_have_learned_and_repeat(kind):
    at = [[0.0, 0.0], [0.5, 0.5]] if kind.endswith("Classifier") else None
    model = DiffprivlibModel(kind, PARAMETERS[kind], at=at)
    draws, again = model.draw(LABELLED, 6, rng=rng()), model.draw(LABELLED, 6, rng=rng())
    np.testing.assert_equal(draws, again)
    assert len({str(draw) for draw in draws}) > 1
    if len(MODELS[kind][1]) > 1:
        assert [tuple(draw) for draw in draws] == [MODELS[kind][1]] * 6
    assert model.name == f"diffprivlib {kind}"


@pytest.mark.parametrize("kind", TOOLS)
def test_tools_give_what_they_return_and_repeat(kind):
    tool = DiffprivlibTool(kind, {"epsilon": 1.0} | PARAMETERS.get(kind, BOUNDS if TOOLS[kind] else {}))
    draws = tool.draw(LABELLED, 6, rng=rng())
    np.testing.assert_equal(draws, tool.draw(LABELLED, 6, rng=rng()))
    assert len({str(draw) for draw in draws}) > 1
    assert all(isinstance(draw, tuple) for draw in draws) == (kind == "histogram")
    by_columns = DiffprivlibTool("mean", BOUNDS | {"axis": 0}, lambda dataset: dataset.X)
    assert by_columns.draw(LABELLED, 1, rng=rng())[0].shape == (2,)


def test_parameters_may_be_the_lists_of_a_configuration():
    """``import = "audits.adapters.diffprivlib:DiffprivlibTool"`` with ``parameters`` needs no Python of one's own."""
    for make, kind in ((DiffprivlibTool, "mean"), (DiffprivlibModel, "GaussianNB")):
        lists, tuples = (make(kind, {"bounds": kinds((-1.0, 1.0))}) for kinds in (list, tuple))
        np.testing.assert_equal(lists.draw(LABELLED, 2, rng=rng()), tuples.draw(LABELLED, 2, rng=rng()))


def test_the_last_record_of_a_class_is_seen_in_the_width_of_the_output():
    """GaussianNB reads its classes off the data; a replaced record of a common class refutes nothing."""
    model = DiffprivlibModel("GaussianNB", BOUNDS)
    assert refuted(model, NeighbouringPair.replace(LABELLED, 0, [0.5, 0.2], 0.0), 200)
    assert not refuted(model, NeighbouringPair.replace(LABELLED, 1, [0.5, 0.2], 0.0), 200)


def test_the_number_of_records_is_public_to_the_library():
    """What the module says of relations: a sum is cut off at the number; a histogram is about it, and only about it."""
    added, replaced = NeighbouringPair.add(DATA, [0.5], 0.3), NeighbouringPair.replace(DATA, 0, [0.5], 0.3)
    total = DiffprivlibTool("sum", {"bounds": (0.0, 1.0)})
    cells = DiffprivlibTool("histogram", {"range": (0.0, 1.0), "bins": 2})
    assert refuted(total, added, 1200, (Relation.ADD,))
    assert not refuted(total, replaced, 1200)
    assert not refuted(cells, added, 1200, (Relation.ADD,))
    assert refuted(cells, replaced, 1200)


def test_linear_regression_with_a_lower_bound_of_zero_breaks_its_claim():
    """diffprivlib 0.6.6: no noise on sums of squares when bounds_X = (0, 1); seen at level 1e-6 with 600 fits."""
    parameters = {"bounds_X": (0.0, 1.0), "bounds_y": (-1.0, 1.0), "fit_intercept": False}
    model = DiffprivlibModel("LinearRegression", parameters, ("coef_",))
    assert refuted(model, NeighbouringPair.replace(DATA, 0, [0.0], 0.0), 600)


@pytest.mark.slow
def test_logistic_regression_with_a_large_data_norm_breaks_its_claim():
    """diffprivlib 0.6.6: the curvature bound grows with data_norm, not with its square. Level 1e-6, 3000 fits a side.

    A record of norm B = 100 against one of norm 0, epsilon 1: the noise has density exp(-|b| / (4 B)), alpha + n Delta
    is 25/(e^(1/4) - 1) = 88, so at coefficient 0 the densities are in ratio (1 + 2500/88) exp(-1/8) = e^3.26. The event
    is that the coefficient is within 3/B of 0, where that record's predicted probability is not yet 0 or 1.
    """
    model = DiffprivlibModel("LogisticRegression", {"data_norm": 100.0, "fit_intercept": False}, ("coef_",))
    n, counts = 3000, []
    for x, seed in ((100.0, 6), (0.0, 7)):
        dataset = Dataset(np.array([[x], [0.0]]), np.array([1.0, 0.0]), 100.0, 1.0)
        outputs = model.draw(dataset, n, rng=np.random.default_rng(seed))
        counts.append(int((np.abs(outputs) < 0.03).sum()))
    event = FixedEvent(counts[0], n, counts[1], n)
    assert event.evidence(PointTradeOff(1.0, 0.0), 1e-6) > 0
    assert epsilon_lower(event, 0.0, 1e-6) > 1.2


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: DiffprivlibModel("Ridge"), "kind must be one of .*LogisticRegression.*, got kind=Ridge"),
        (lambda: DiffprivlibModel("LogisticRegression"), "parameters must contain data_norm"),
        (lambda: DiffprivlibModel("DecisionTreeClassifier", PARAMETERS["DecisionTreeClassifier"]), "at must be public"),
        (lambda: DiffprivlibTool("mode"), "kind must be one of .*mean.*, got kind=mode"),
        (lambda: DiffprivlibTool("mean", {"epsilon": 1.0}), "parameters must contain bounds"),
    ],
)
def test_impossible_adapters_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
