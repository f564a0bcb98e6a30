import numpy as np
import pytest

from audits.search.worst_case import adversarial_pairs, search_maximum
from mechanisms.data.neighbours import Relation


@pytest.mark.parametrize(("n_records", "dim"), [(1, 1), (1, 3), (2, 2), (7, 3)])
def test_pairs_sit_on_the_edge_of_the_domain_and_have_unique_names(n_records, dim):
    named = adversarial_pairs(n_records, dim, x_bound=2.0, y_bound=0.5)
    names = [item.name for item in named]
    assert len(set(names)) == len(names) >= 6
    assert {item.pair.relation for item in named} == {Relation.ADD, Relation.REMOVE}
    for item in named:
        small = item.pair.first if item.pair.relation is Relation.ADD else item.pair.second
        assert small.n_records == n_records
        assert abs(item.pair.y) == 0.5
        if "excited" in item.name:
            assert np.linalg.norm(item.pair.x) == pytest.approx(2.0)


def test_the_least_excited_direction_has_the_largest_leverage():
    pairs = {item.name: item.pair for item in adversarial_pairs(6, 3, x_bound=1.0, y_bound=1.0)}

    def leverage(name):
        pair = pairs[name]
        H = pair.first.X.T @ pair.first.X + 0.1 * np.eye(3)
        return float(pair.x @ np.linalg.solve(H, pair.x))

    least = leverage("nearly singular; responses alike; least excited direction, response +; add")
    most = leverage("nearly singular; responses alike; most excited direction, response +; add")
    assert least == pytest.approx(10.0)  # 1 / ridge: nothing in the data points there
    assert most < 0.2


def test_infinite_bounds_are_refused():
    with pytest.raises(ValueError, match="must be finite and positive"):
        adversarial_pairs(2, 2, x_bound=np.inf, y_bound=1.0)


def bumps(point):
    """Two bumps; the higher one (value 1) is narrow, at (0.8, -0.3)."""
    return np.exp(-40 * np.sum((point - [0.8, -0.3]) ** 2)) + 0.9 * np.exp(-np.sum((point + 0.5) ** 2))


def test_the_narrow_global_maximum_is_found():
    found = search_maximum(bumps, [(-1, 1), (-1, 1)], rng=np.random.default_rng(0))
    expected = max(bumps(np.array([a, b])) for a in np.linspace(0.7, 0.9, 101) for b in np.linspace(-0.4, -0.2, 101))
    assert found.value >= expected - 1e-9
    assert found.value == bumps(found.point)


@pytest.mark.parametrize("corner", [(1.0, 2.0), (-1.0, -2.0)])
def test_a_maximum_at_a_corner_is_found_exactly(corner):
    found = search_maximum(lambda p: float(p @ np.asarray(corner)), [(-1, 1), (-2, 2)], rng=np.random.default_rng(1))
    assert found.point.tolist() == list(corner)


def test_equal_streams_give_equal_answers_and_evaluations_are_counted():
    calls = []

    def counted(point):
        calls.append(point)
        return bumps(point)

    first = search_maximum(counted, [(-1, 1), (-1, 1)], rng=np.random.default_rng(3))
    assert len(calls) == first.n_evaluations
    again = search_maximum(bumps, [(-1, 1), (-1, 1)], rng=np.random.default_rng(3))
    assert first.point.tobytes() == again.point.tobytes()


def test_nan_is_the_worst_value_and_a_degenerate_box_is_fine():
    found = search_maximum(lambda p: np.nan if p[0] < 0 else -p[0], [(-1, 1), (2, 2)], rng=np.random.default_rng(4))
    assert found.value == pytest.approx(0.0, abs=1e-3)
    assert found.point[1] == 2.0


@pytest.mark.parametrize("box", [[(0, np.inf)], [(1, 0)], [(np.nan, 1)]])
def test_bad_boxes_are_refused(box):
    with pytest.raises(ValueError, match="box must be finite intervals"):
        search_maximum(bumps, box, rng=np.random.default_rng(0))
