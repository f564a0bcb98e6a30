"""Functions of records, estimators and what a module names, as mechanisms; what is none of these is refused."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from audits.adapters.releases import FunctionRelease, as_mechanism, made_of
from mechanisms import Dataset

DATASET = Dataset([[0.5, 0.0], [0.0, 0.25]], [1.0, -0.5], 1.0, 1.0)


def _draw(release: Any, n_draws: int = 3) -> Any:
    return as_mechanism(release).draw(DATASET, n_draws, rng=np.random.default_rng(7))


def test_records_go_where_the_names_of_the_parameters_say() -> None:
    cases: list[tuple[Any, Any]] = [
        (lambda X, y: (X.shape, y.shape), ((2, 2), (2,))),
        (lambda X, rng: X.shape, (2, 2)),
        (lambda y: y.shape, (2,)),
        (lambda dataset, rng: dataset.n_records, 2),
        (lambda data: data.x_bound, 1.0),
        (lambda features, target: (features.shape, target.shape), ((2, 2), (2,))),
        (partial(lambda X, y, scale, rng: (X.shape, scale), scale=3.0), ((2, 2), 3.0)),
        (lambda X, y, scale=2.0: scale, 2.0),
    ]
    assert [_draw(release) for release, _ in cases] == [[expected] * 3 for _, expected in cases]


@pytest.mark.parametrize("name", ["rng", "generator", "random_state", "seed"])
def test_randomness_comes_through_its_own_parameter(name: str) -> None:
    drawn: dict[str, Any] = {}
    exec(f"def release(X, y, {name}):\n    return {name}", drawn)
    first, second = _draw(drawn["release"], 2), _draw(drawn["release"], 2)
    one = {"rng": lambda g: g.normal(), "generator": lambda g: g.normal(), "random_state": lambda g: g.normal()}
    read = one.get(name, float)
    assert [read(each) for each in first] == [read(each) for each in second]


def test_a_function_that_takes_n_draws_is_called_once() -> None:
    calls = []

    def release(X: Any, y: Any, rng: Any, n_draws: int) -> Any:
        calls.append(n_draws)
        return rng.normal(size=(n_draws, 2))

    assert np.shape(_draw(release, 5)) == (5, 2)
    assert calls == [5]


def test_a_function_may_write_to_its_records() -> None:
    def release(X: Any, y: Any) -> Any:
        X[:] = 0
        return y.sum()

    assert _draw(release, 2) == [0.5, 0.5]
    assert DATASET.X[0, 0] == 0.5


class _Estimator:
    def __init__(self, scale: float = 1.0, random_state: Any = None) -> None:
        self.scale, self.random_state = scale, random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"scale": self.scale, "random_state": self.random_state}

    def fit(self, X: Any, y: Any) -> "_Estimator":
        self.mean_ = y.mean() + self.scale * self.random_state.normal()
        self.n_iter_ = 3
        return self


def test_an_estimator_is_fitted_anew_with_its_parameters_and_its_own_noise() -> None:
    fitted = _Estimator(0.5, np.random.RandomState(1)).fit(DATASET.X, DATASET.y)
    draws = _draw(fitted, 4)
    assert len(set(draws)) == 4
    assert draws == _draw(_Estimator(0.5), 4)
    assert as_mechanism(fitted).name == "_Estimator"


@pytest.mark.parametrize(
    ("release", "said"),
    [
        (3, "release must be a function of records"),
        (_Estimator, "call _Estimator with its parameters"),
        (lambda a, b, c: 0, r"got <lambda>\(a, b, c\)"),
        (lambda epsilon: 0, r"got <lambda>\(epsilon\)"),
        (lambda X, epsilon: 0, r"got <lambda>\(X, epsilon\)"),
        (lambda data, epsilon, rng: 0, r"got <lambda>\(data, epsilon, rng\)"),
        (lambda y, X: 0, r"got <lambda>\(y, X\)"),
        (lambda X, y, weights: 0, r"got <lambda>\(X, y, weights\)"),
        (lambda: 0, r"got <lambda>\(\)"),
    ],
)
def test_what_is_no_release_is_refused(release: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        as_mechanism(release)


def test_a_name_in_a_module_is_a_function_of_records_or_a_factory() -> None:
    class Mechanism:
        def draw(self, dataset: Dataset, n_draws: int, *, rng: Any) -> Any:
            return np.zeros(n_draws)

    def release(X: Any, y: Any, scale: float, rng: Any) -> float:
        return scale

    def factory(scale: float) -> Any:
        return Mechanism()

    assert isinstance(made_of(release, {"scale": 2.0}), FunctionRelease)
    assert isinstance(made_of(Mechanism, {}), Mechanism)
    assert isinstance(made_of(factory, {"scale": 2.0}), Mechanism)
    assert made_of(lambda: _Estimator(), {}).name == "_Estimator"
    with pytest.raises(TypeError, match="scale"):
        made_of(factory, {})
