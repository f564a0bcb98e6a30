"""Any scikit-learn estimator behind ``draw``: made anew, seeded, its outputs as they are; a private one is audited."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from audits import Budget, SklearnEstimator, StreamKey, examine, point_claim
from audits.search import NamedPair
from mechanisms import Dataset, NeighbouringPair, Relation

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of scikit-learn about newer SciPy

DATA = Dataset([[1.0], [0.5], [-0.5], [-1.0]], [1.0, 1.0, -1.0, -1.0], 1.0, 1.0)
RARE = NeighbouringPair.replace(DATA.without_record(1), 0, [1.0], -1.0)
CLAIM = point_claim(1.0, 0.0, (Relation.REPLACE,))


def rng(seed=5):
    return np.random.default_rng(seed)


class NoisySlope:
    """Least squares through the origin; Laplace noise on the sum of products, at ``share`` of what it needs."""

    def __init__(self, random_state, share=1.0):
        self.random_state, self.share = random_state, share

    def fit(self, X, y=None):
        X[:] = np.clip(X, -1, 1)  # writes to what it is given, as estimators may
        self.coef_ = X.T @ np.clip(y, -1, 1) + self.random_state.laplace(scale=2 * self.share, size=X.shape[1])
        return self


def test_ridge_is_its_closed_form():
    draws = SklearnEstimator(lambda random_state: Ridge(alpha=2.0, fit_intercept=False)).draw(DATA, 3, rng=rng())
    exact = float(DATA.X[:, 0] @ DATA.y / (DATA.X[:, 0] @ DATA.X[:, 0] + 2.0))
    assert [list(draw) for draw in draws] == [["coef_", "intercept_"]] * 3
    assert [draw["coef_"][0] for draw in draws] == pytest.approx([exact] * 3, rel=1e-12)
    assert [draw["intercept_"] for draw in draws] == [0.0] * 3


def test_predictions_and_methods_are_read_at_public_points():
    at = [[1.0], [-1.0], [0.3]]
    tree = SklearnEstimator(lambda random_state: DecisionTreeRegressor(random_state=random_state), at=at)
    np.testing.assert_array_equal(tree.draw(DATA, 1, rng=rng())[0], [1.0, -1.0, 1.0])
    both = SklearnEstimator(lambda random_state: LogisticRegression(), outputs=("classes_", "predict_proba"), at=at)
    (draw,) = both.draw(DATA, 1, rng=rng())
    np.testing.assert_array_equal(draw["classes_"], [-1.0, 1.0])
    np.testing.assert_allclose(draw["predict_proba"].sum(axis=1), 1.0)
    assert draw["predict_proba"].shape == (3, 2)
    assert both.name == "scikit-learn estimator, classes_, predict_proba"


def test_draws_repeat_with_the_seed_and_differ_within_a_call():
    mechanism = SklearnEstimator(NoisySlope, ("coef_",))
    first, again = (np.ravel(mechanism.draw(DATA, 5, rng=rng())) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert len(np.unique(first)) == 5
    assert not np.array_equal(first, np.ravel(mechanism.draw(DATA, 5, rng=rng(6))))


@pytest.mark.parametrize(("share", "refuted"), [(0.25, True), (1.0, False)])
def test_an_estimator_with_too_little_noise_is_refuted_and_one_with_enough_is_not(share, refuted):
    mechanism = SklearnEstimator(lambda random_state: NoisySlope(random_state, share), ("coef_",))
    pair = NeighbouringPair.replace(DATA, 0, [1.0], -1.0)
    found = examine(mechanism, [NamedPair("pair", pair)], CLAIM, Budget(1200, 1e-6, StreamKey(1)))
    assert bool(found.refutations) == refuted
    assert found.violations == ()


def test_what_a_fit_raises_and_what_it_has_no_attribute_for_are_outputs():
    """Least squares on one class raises: the class that is gone is seen in a few draws, without any noise on it."""
    mechanism = SklearnEstimator(lambda random_state: LogisticRegression())
    found = examine(mechanism, [NamedPair("rare", RARE)], CLAIM, Budget(200, 1e-6, StreamKey(2)))
    assert found.refutations


def test_outputs_that_name_nothing_are_refused():
    with pytest.raises(ValueError, match="outputs must name an attribute or a method, got none"):
        SklearnEstimator(Ridge, ())
