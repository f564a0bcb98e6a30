"""Adapters of diffprivlib: outputs as the library gives them; audits find what is wrong with it, and nothing else."""

from __future__ import annotations

import copy

import numpy as np
import opendp.prelude as dp
import pytest

from audits import Budget, DiffprivlibModel, DiffprivlibTool, OpenDPMeasurement, StreamKey, examine, point_claim
from audits.adapters.diffprivlib import MODELS, TOOLS, DiffprivlibMechanism, count_records, sum_responses
from audits.adapters.opendp import OpenDPNoise, OpenDPTheilSen, zcdp_curve
from audits.black_box.black_box_events import FixedEvent, PointTradeOff, epsilon_lower
from audits.search import NamedPair
from mechanisms import Dataset, GaussianProfile, NeighbouringPair, Relation

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


def total(scale=1.0):
    """A pipeline: responses clamped to [0, 1], summed, with Laplace noise."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    return space >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=scale)


def counts():
    """A pipeline on text: its output is a mapping from those words that are frequent enough."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    return space >> dp.t.then_count_by(TV=int) >> dp.m.then_laplace_threshold(scale=1.0, threshold=4)


@pytest.mark.parametrize(
    ("mechanism", "k"),
    [
        (OpenDPNoise("laplace", 1.0), 1),
        (OpenDPNoise("gaussian", 2.0), 1),
        (OpenDPNoise("geometric", 1.0), 1),
        (OpenDPNoise("canonical", epsilon=1.0, delta=1e-3), 1),
        (OpenDPTheilSen((0.0, 1.0), (0.0, 1.0), 1.0), 2),
    ],
)
def test_outputs_have_one_row_per_draw(mechanism, k):
    outputs = mechanism.draw(DATA, 7, rng=np.random.default_rng(5))
    assert outputs.shape == (7, k)
    assert outputs.dtype == np.float64
    assert len(np.unique(outputs, axis=0)) > 1
    assert mechanism.name.startswith("OpenDP")


def test_a_pipeline_gives_its_output_and_its_claim():
    mechanism = OpenDPMeasurement(lambda: total(2.0))
    draws = mechanism.draw(DATA, 400, rng=np.random.default_rng(5))
    assert all(isinstance(draw, float) for draw in draws)
    assert np.mean(draws) == pytest.approx(1.1, abs=0.9)  # six standard errors
    assert [mechanism.claimed(d_in) for d_in in (1, 3)] == pytest.approx([0.5, 1.5])


def test_a_pipeline_is_made_once_however_often_it_is_drawn_from_and_copied():
    made = []

    def slow():
        made.append(1)
        return total(1.0)

    mechanism = OpenDPMeasurement(slow)
    pair = NeighbouringPair.add(DATA, [0.5], 1.0)
    examine(mechanism, [NamedPair("pair", pair)], point_claim(1.0, 0.0), Budget(200, 1e-6, StreamKey(1)))
    assert copy.deepcopy(mechanism).claimed() == pytest.approx(1.0)
    assert len(made) == 1


def test_an_output_of_any_type_passes_through():
    mechanism = OpenDPMeasurement(counts, lambda dataset: ["a"] * 9 + ["b" if y > 0.5 else "c" for y in dataset.y])
    draws = mechanism.draw(DATA, 20, rng=np.random.default_rng(5))
    assert all(isinstance(draw, dict) and set(draw) <= {"a", "b", "c"} for draw in draws)
    assert mechanism.claimed()[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("scale", "refuted"), [(0.5, True), (1.0, False)])
def test_a_pipeline_with_half_the_noise_is_refuted_and_one_with_all_of_it_is_not(scale, refuted):
    pair = NeighbouringPair.add(DATA, [0.5], 1.0)
    budget = Budget(1200, 1e-6, StreamKey(1, ("opendp",)))
    found = examine(OpenDPMeasurement(lambda: total(scale)), [NamedPair("pair", pair)], point_claim(1.0, 0.0), budget)
    assert bool(found.refutations) == refuted
    assert found.violations == ()


def test_opendp_s_own_curve_is_above_the_exact_one():
    claimed = zcdp_curve(2.0)
    for epsilon in (0.1, 0.5, 2.0):
        assert claimed.delta(epsilon) >= GaussianProfile(0.5).delta_at(epsilon)
    assert claimed.delta(claimed.epsilon(1e-5)) == pytest.approx(1e-5, rel=1e-2)
    assert OpenDPTheilSen((0.0, 1.0), (0.0, 1.0), 1.0).claimed_epsilon() == pytest.approx(2.0)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be laplace, gaussian, geometric or canonical, got kind=cauchy"):
        OpenDPNoise("cauchy")
