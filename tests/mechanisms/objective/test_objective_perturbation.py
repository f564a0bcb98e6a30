"""Objective perturbation: the solver against a literal twin, its certificate, its refusals."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from oracles.mechanisms.objective_perturbation import (
    hessian,
    log_density,
    logistic_cdf_1d,
    logistic_density_1d,
    minimiser,
)
from rows import for_each

import mechanisms.objective.perturbed_solver
from mechanisms.broken.broken_objective import objective_early_stop, objective_half_noise, objective_no_jacobian
from mechanisms.broken.misstated import Misstated
from mechanisms.data.dataset import DataError, Dataset
from mechanisms.data.neighbours import NeighbouringPair, UnsupportedRelation
from mechanisms.objective.losses import (
    GlmLoss,
    LogisticLoss,
    PoissonLoss,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    SquaredLoss,
)
from mechanisms.objective.objective_loss_terms import product_form_terms
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.objective.perturbed_objective import PerturbedObjective, QuadraticRegulariser
from mechanisms.objective.perturbed_solver import CubicModel, LinearModel, SolverError, gradient_model, newton

LOSSES = [LogisticLoss(), SquaredLoss(2.0), PoissonLoss(), SmoothedHingeLoss(0.3), PseudoHuberLoss(0.5)]


def make(n: int, dim: int, loss: GlmLoss, *, seed: int = 0, rare: int = 0) -> Dataset:
    """Unit-bounded rows; the first column is constant and the last ``rare`` are mostly zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim))
    X[:, :1] = 1.0
    for j in range(dim - rare, dim):
        X[:, j] = rng.random(n) < 0.002
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True)) * (1 + 1e-12)
    y = np.sign(rng.standard_normal(n))
    return Dataset(X, np.abs(y) if loss.name == "poisson" else y, 1.0, 1.0)


def max_residual(mechanism: ObjectivePerturbation, dataset: Dataset, outputs: np.ndarray, noise: np.ndarray) -> float:
    return float(np.abs(mechanism.noise(outputs, dataset) - noise).max())


@for_each("loss", LOSSES)
@for_each(("n", "dim"), [(0, 3), (1, 1), (1, 3), (4, 9), (30, 2)])
def test_outputs_agree_with_a_literal_solver(loss: GlmLoss, n: int, dim: int) -> None:
    """Also n = 0, n = 1 and n < dim: all work when lam > 0."""
    dataset = make(n, dim, loss)
    mechanism = ObjectivePerturbation(loss, sigma=1.5, lam=0.4, residual=1e-11)
    outputs, noise = mechanism.draw_with_noise(dataset, 6, rng=np.random.default_rng(1))
    for output, b in zip(outputs, noise, strict=True):
        # the error is at most residual * sqrt(dim)/lam plus the twin's own
        np.testing.assert_allclose(output, minimiser(b, dataset, loss, 0.4), atol=2e-9)


# loss, records, dim, rare columns, sigma, lam, draws: the cubic model, chord steps, and Newton each come to bear
REGIMES = [
    (LogisticLoss(), 4000, 8, 0, 3.0, 0.5, 400),
    (LogisticLoss(), 4000, 8, 3, 11.0, 0.5, 400),
    (LogisticLoss(), 4000, 8, 3, 40.0, 0.01, 400),
    (LogisticLoss(), 200, 20, 0, 11.0, 0.5, 50),
    (LogisticLoss(), 50, 70, 0, 5.0, 0.5, 30),
    (PoissonLoss(), 3000, 6, 0, 20.0, 0.5, 300),
    (PoissonLoss(), 50, 3, 0, 11.0, 0.1, 50),
    (SmoothedHingeLoss(0.05), 2000, 5, 0, 11.0, 0.5, 300),
    (PseudoHuberLoss(0.05), 2000, 5, 0, 11.0, 0.5, 300),
    (SquaredLoss(), 500, 30, 4, 11.0, 0.5, 300),
]


@pytest.mark.parametrize(("loss", "n", "dim", "rare", "sigma", "lam", "draws"), REGIMES)
def test_every_output_is_certified(
    loss: GlmLoss, n: int, dim: int, rare: int, sigma: float, lam: float, draws: int
) -> None:
    dataset = make(n, dim, loss, rare=rare)
    mechanism = ObjectivePerturbation(loss, sigma, lam)
    outputs, noise = mechanism.draw_with_noise(dataset, draws, rng=np.random.default_rng(2))
    assert outputs.shape == (draws, dim)
    # summed in another tile shape, the gradient may differ by rounding
    assert max_residual(mechanism, dataset, outputs, noise) <= 1.01e-8


def test_model_and_newton_give_the_same_outputs() -> None:
    """The cubic model serves most draws here; Newton alone is the slow twin."""
    loss = LogisticLoss()
    dataset = make(4000, 8, loss, rare=2)
    mechanism = ObjectivePerturbation(loss, 8.0, 0.5, residual=1e-10)
    outputs, noise = mechanism.draw_with_noise(dataset, 300, rng=np.random.default_rng(3))
    objective = mechanism.objective(dataset)
    assert isinstance(gradient_model(objective, np.zeros(8), noise), CubicModel)
    np.testing.assert_allclose(outputs, newton(objective, noise, np.zeros_like(noise), 1e-10), atol=4e-10)


@for_each(("n", "draws"), [(100, 300), (4000, 3)])
def test_the_cubic_model_is_not_built_where_it_does_not_pay(n: int, draws: int) -> None:
    objective = PerturbedObjective(make(n, 8, LogisticLoss()), LogisticLoss(), 0.5)
    assert isinstance(gradient_model(objective, np.zeros(8), np.ones((draws, 8))), LinearModel)


def test_cubic_model_is_a_third_order_approximation() -> None:
    """Halving the scale of the noise divides the model's error by about 2^4: it is a cubic in the displacement."""
    objective = PerturbedObjective(make(4000, 6, LogisticLoss()), LogisticLoss(), 0.5)
    centre = newton(objective, np.zeros((1, 6)), np.zeros((1, 6)), 1e-10)[0]
    directions, errors = np.random.default_rng(4).standard_normal((100, 6)), []
    for scale in (20.0, 10.0):
        model = gradient_model(objective, centre, scale * directions)
        theta = model.start(scale * directions)
        assert isinstance(model, CubicModel)
        errors.append(np.abs(model.derivatives(theta)[0] - objective.gradient(theta)).mean())
    assert 10.0 < errors[0] / errors[1] < 24.0


def test_an_uncertified_output_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: with a corrupted model every draw must go through Newton and still be certified."""
    monkeypatch.setattr(LinearModel, "correction", lambda self, theta, residual: 0.1 * residual)
    mechanism = ObjectivePerturbation(LogisticLoss(), 5.0, 0.5)
    dataset = make(60, 3, LogisticLoss())
    outputs, noise = mechanism.draw_with_noise(dataset, 20, rng=np.random.default_rng(5))
    assert max_residual(mechanism, dataset, outputs, noise) <= 1.01e-8


def test_an_unreachable_residual_is_an_error() -> None:
    mechanism = ObjectivePerturbation(LogisticLoss(), 5.0, 0.5, residual=1e-30)
    with pytest.raises(SolverError, match=r"residual must be within reach of float64, got residual=1e-30 .* raise"):
        mechanism.draw(make(60, 3, LogisticLoss()), 5, rng=np.random.default_rng(6))


def test_too_few_newton_steps_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanisms.objective.perturbed_solver, "NEWTON_STEPS", 1)
    with pytest.raises(SolverError):
        ObjectivePerturbation(LogisticLoss(), 30.0, 0.01).draw(
            make(60, 3, LogisticLoss()), 50, rng=np.random.default_rng(6)
        )


def test_squared_loss_is_the_closed_form() -> None:
    """theta = H^{-1}(s X^T y - b) with H = s X^T X + lam I: the output law is exactly Gaussian."""
    dataset = make(40, 5, SquaredLoss())
    mechanism = ObjectivePerturbation(SquaredLoss(2.0), 3.0, 0.7)
    outputs, noise = mechanism.draw_with_noise(dataset, 100, rng=np.random.default_rng(7))
    H = 2.0 * dataset.X.T @ dataset.X + 0.7 * np.eye(5)
    np.testing.assert_allclose(
        outputs, np.linalg.solve(H, (2.0 * dataset.X.T @ dataset.y - noise).T).T, rtol=1e-11, atol=1e-12
    )


@for_each("loss", LOSSES)
def test_noise_and_solve_are_inverse(loss: GlmLoss) -> None:
    dataset = make(50, 4, loss)
    mechanism = ObjectivePerturbation(loss, 2.0, 0.5, regulariser=QuadraticRegulariser(np.diag([0.0, 1.0, 2.0, 3.0])))
    theta = 0.5 * np.random.default_rng(8).standard_normal((30, 4))
    np.testing.assert_allclose(mechanism.solve(dataset, mechanism.noise(theta, dataset)), theta, atol=1e-7)


def test_regulariser_enters_gradient_hessian_and_value() -> None:
    R = np.array([[2.0, 0.5], [0.5, 1.0]])
    dataset, theta = make(5, 2, LogisticLoss()), np.array([[0.3, -0.4]])
    plain = PerturbedObjective(dataset, LogisticLoss(), 0.5)
    more = PerturbedObjective(dataset, LogisticLoss(), 0.5, QuadraticRegulariser(R))
    np.testing.assert_allclose(more.gradient(theta) - plain.gradient(theta), theta @ R, atol=1e-15)
    np.testing.assert_allclose((more.hessian(theta) - plain.hessian(theta))[0], R, atol=1e-15)
    np.testing.assert_allclose(more.value(theta) - plain.value(theta), 0.5 * theta[0] @ R @ theta[0], atol=1e-15)


@for_each("loss", LOSSES)
def test_the_order_of_records_does_not_matter(loss: GlmLoss) -> None:
    dataset, order = make(300, 4, loss), np.random.default_rng(9).permutation(300)
    other = Dataset(dataset.X[order], dataset.y[order], 1.0, 1.0)
    mechanism = ObjectivePerturbation(loss, 5.0, 0.5, residual=1e-10)
    noise = 5.0 * np.random.default_rng(10).standard_normal((50, 4))
    np.testing.assert_allclose(mechanism.solve(dataset, noise), mechanism.solve(other, noise), atol=1e-9)


@for_each("loss", LOSSES)
def test_duplicated_and_constant_columns_work(loss: GlmLoss) -> None:
    base = make(100, 2, loss)
    dataset = Dataset(np.hstack([base.X, base.X]) / 2, base.y, 1.0, 1.0)
    mechanism = ObjectivePerturbation(loss, 2.0, 0.1)
    outputs, noise = mechanism.draw_with_noise(dataset, 20, rng=np.random.default_rng(11))
    assert max_residual(mechanism, dataset, outputs, noise) <= 1.01e-8


def test_draws_repeat_and_depend_only_on_the_stream() -> None:
    mechanism, dataset = ObjectivePerturbation(LogisticLoss(), 2.0, 0.5), make(20, 3, LogisticLoss())
    first = mechanism.draw(dataset, 7, rng=np.random.default_rng(12))
    assert np.array_equal(first, mechanism.draw(dataset, 7, rng=np.random.default_rng(12)))
    assert mechanism.name == "objective perturbation (logistic, sigma=2, lam=0.5)"


def test_memory_does_not_grow_with_the_number_of_draws() -> None:
    """2000 records and 20,000 draws: an array of all predictors would take 320 MB; the outputs take 1 MB."""
    mechanism, dataset = ObjectivePerturbation(LogisticLoss(), 3.0, 0.5), make(2000, 6, LogisticLoss())
    tracemalloc.start()
    outputs = mechanism.draw(dataset, 20_000, rng=np.random.default_rng(13))
    mechanism.log_density(outputs, dataset)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


def test_zero_lam_is_refused_only_where_the_hessian_can_be_singular() -> None:
    squared, flat = make(30, 3, SquaredLoss()), Dataset(np.ones((9, 2)) / 2, np.ones(9), 1.0, 1.0)
    mechanism = ObjectivePerturbation(SquaredLoss(), 1.0, 0.0)
    outputs, noise = mechanism.draw_with_noise(squared, 5, rng=np.random.default_rng(14))
    assert max_residual(mechanism, squared, outputs, noise) <= 1.01e-8
    for dataset in (flat, make(0, 3, SquaredLoss()), make(2, 3, SquaredLoss())):
        with pytest.raises(DataError, match=r"lam must be positive when .* singular, got lam=0"):
            mechanism.draw(dataset, 5, rng=np.random.default_rng(14))
    ridge = QuadraticRegulariser(np.eye(2))
    ObjectivePerturbation(SquaredLoss(), 1.0, 0.0, regulariser=ridge).draw(flat, 5, rng=np.random.default_rng(14))


def test_a_noise_vector_without_minimiser_is_an_error() -> None:
    """At lam = 0 the logistic gradient is bounded by the number of records: b = 100 has no minimiser."""
    mechanism, dataset = ObjectivePerturbation(LogisticLoss(), 1.0, 0.0), make(30, 2, LogisticLoss())
    with pytest.raises(SolverError, match="lam"):
        mechanism.solve(dataset, np.array([[100.0, 0.0]]))


@for_each("value", [np.nan, np.inf, -1.0, True])
@for_each("name", ["sigma", "lam", "residual"])
def test_parameters_are_validated(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be finite"):
        ObjectivePerturbation(LogisticLoss(), **{"sigma": 1.0, "lam": 1.0, name: value})


def test_bad_input_is_refused() -> None:
    mechanism, dataset = ObjectivePerturbation(LogisticLoss(), 1.0, 1.0), make(5, 3, LogisticLoss())
    with pytest.raises(ValueError, match=r"outputs must have shape \(n, 3\), got outputs.shape=\(2, 2\)"):
        mechanism.log_density(np.zeros((2, 2)), dataset)
    with pytest.raises(ValueError, match="noise must be finite"):
        mechanism.solve(dataset, np.full((1, 3), np.nan))
    with pytest.raises(ValueError, match="n_draws must be a whole number"):
        mechanism.draw(dataset, 0, rng=np.random.default_rng(15))
    with pytest.raises(DataError, match="y must be -1 or"):
        mechanism.draw(Dataset(np.ones((2, 1)) / 2, np.array([0.0, 1.0]), 1.0, 1.0), 1, rng=np.random.default_rng(15))
    with pytest.raises(ValueError, match="matrix must be positive semidefinite"):
        QuadraticRegulariser(np.diag([1.0, -1.0]))
    with pytest.raises(ValueError, match="matrix must be square, finite and symmetric"):
        QuadraticRegulariser(np.array([[1.0, 2.0], [0.0, 1.0]]))


def small_data(n: int, dim: int, loss: GlmLoss, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True)) * (1 + 1e-12)
    y = np.sign(rng.standard_normal(n))
    return Dataset(X, np.abs(y) if loss.name == "poisson" else y, 1.0, 1.0)


def pairs(n: int, dim: int, loss: GlmLoss) -> list[NeighbouringPair]:
    dataset, x = small_data(n, dim, loss), np.full(dim, 0.9 / math.sqrt(dim))
    return [
        NeighbouringPair.add(dataset, x, 1.0),
        NeighbouringPair.remove(dataset, n // 2),
        NeighbouringPair.replace(dataset, n // 2, x, 1.0),
    ]


@for_each(("n", "lam", "sigma"), [(0, 0.5, 1.0), (1, 0.1, 1.0), (30, 1.0, 2.0), (30, 0.01, 0.3)])
def test_density_in_one_dimension_is_the_derivative_of_the_exact_cdf(n: int, lam: float, sigma: float) -> None:
    dataset, mechanism = small_data(n, 1, LogisticLoss()), ObjectivePerturbation(LogisticLoss(), sigma, lam)
    theta = mechanism.solve(dataset, sigma * np.linspace(-5, 5, 21)[:, None])
    exact = [logistic_density_1d(t, dataset, lam, sigma) for t in theta[:, 0]]
    np.testing.assert_allclose(np.exp(mechanism.log_density(theta, dataset)), exact, rtol=1e-12)


def total_mass(mechanism: ObjectivePerturbation | Misstated, dataset: Dataset) -> float:
    """Trapezoidal rule on a square that holds all but exp(-50) of the mass, spectrally accurate there."""
    grid = np.linspace(-12.0, 12.0, 481)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    return float(np.exp(mechanism.log_density(points, dataset)).sum() * (grid[1] - grid[0]) ** 2)


@pytest.mark.parametrize("loss", [LogisticLoss(), SmoothedHingeLoss(0.5), PseudoHuberLoss(1.0)], ids=lambda v: v.name)
def test_density_in_two_dimensions_integrates_to_one(loss: GlmLoss) -> None:
    """At lam = 2, sigma = 2 the output is within 12 of 0 unless ||b|| > 20 = 10 sigma."""
    honest = ObjectivePerturbation(loss, 2.0, 2.0)
    dataset = small_data(4, 2, loss)
    assert total_mass(honest, dataset) == pytest.approx(1.0, abs=1e-10)
    assert abs(total_mass(objective_no_jacobian(honest), dataset) - 1.0) > 0.1


@for_each("loss", LOSSES)
@for_each(("n", "dim"), [(1, 1), (3, 5), (40, 3)])
def test_log_density_agrees_with_its_literal_twin(loss: GlmLoss, n: int, dim: int) -> None:
    dataset, theta = small_data(n, dim, loss), np.random.default_rng(1).standard_normal((10, dim))
    got = ObjectivePerturbation(loss, 1.3, 0.4).log_density(theta, dataset)
    np.testing.assert_allclose(got, [log_density(t, dataset, loss, 0.4, 1.3) for t in theta], rtol=1e-12)


@for_each("loss", LOSSES)
@for_each("dim", [1, 3, 60])
def test_loss_is_the_difference_of_log_densities(loss: GlmLoss, dim: int) -> None:
    """RW21 Corollary 7 for ADD and REMOVE, and REPLACE, in both orders; 60 columns and 20 records: n < dim."""
    mechanism, theta = ObjectivePerturbation(loss, 1.3, 0.4), np.random.default_rng(2).standard_normal((9, dim))
    for pair in pairs(20, dim, loss):
        got = mechanism.privacy_loss(theta, pair)
        expected = mechanism.log_density(theta, pair.first) - mechanism.log_density(theta, pair.second)
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(mechanism.privacy_loss(theta, pair.swapped()), -got, rtol=1e-11, atol=1e-13)
        wrong = objective_no_jacobian(mechanism).privacy_loss(theta, pair)
        assert np.abs(got - wrong).max() > 1e-4


@for_each("loss", LOSSES)
def test_terms_are_those_of_the_corollary(loss: GlmLoss) -> None:
    """RW21 Corollary 7 literally, with H and grad J of D itself: both signs."""
    sigma, theta = 1.3, np.random.default_rng(3).standard_normal((5, 3))
    mechanism = ObjectivePerturbation(loss, sigma, 0.4)
    for pair in pairs(20, 3, loss)[:2]:
        terms, gradient = mechanism.loss_terms(theta, pair), -mechanism.noise(theta, pair.first)
        for k, t in enumerate(theta):
            u, y = np.asarray(pair.x @ t), np.asarray(pair.y)
            f1, f2 = loss.first(u, y), loss.second(u, y)
            mu = pair.x @ np.linalg.solve(hessian(t, pair.first, loss, 0.4), pair.x)
            assert mechanism.leverage(t, pair.first, pair.x)[0] == pytest.approx(mu, rel=1e-12)
            assert terms.log_det_term[k] == pytest.approx(-math.log1p(pair.sign * f2 * mu), rel=1e-10, abs=1e-14)
            assert terms.quadratic_term[k] == pytest.approx(f1**2 * (pair.x @ pair.x) / (2 * sigma**2), rel=1e-12)
            expected = pair.sign * f1 * (pair.x @ gradient[k]) / sigma**2
            assert terms.gradient_term[k] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    with pytest.raises(UnsupportedRelation, match="REPLACE"):
        mechanism.loss_terms(theta, pairs(20, 3, loss)[2])


@for_each("sign", [1.0, -1.0])
@for_each("rank", [1, 2, 4])
def test_product_form_is_the_determinant_ratio(sign: float, rank: int) -> None:
    """RW21 Theorem 6 for a target of any rank, against log-determinants; the opposite sign fails."""
    rng = np.random.default_rng(4)
    A, B, J, g = (rng.standard_normal(s) for s in ((4, 4), (4, rank), (4,), (4,)))
    larger = A @ A.T + 0.5 * np.eye(4) + B @ B.T
    H = larger if sign < 0 else larger - B @ B.T
    terms = product_form_terms(H, B @ B.T, J, g, sign=sign, sigma=1.7)
    log_det = np.linalg.slogdet(H)[1] - np.linalg.slogdet(H + sign * B @ B.T)[1]
    normal = (-(J @ J) + (J + sign * g) @ (J + sign * g)) / (2 * 1.7**2)
    assert terms.log_det_term[0] == pytest.approx(log_det, rel=1e-11)
    assert terms.total[0] == pytest.approx(log_det + normal, rel=1e-11)
    flipped = product_form_terms(larger, B @ B.T / 4, J, g, sign=-sign, sigma=1.7)
    same = product_form_terms(larger, B @ B.T / 4, J, g, sign=sign, sigma=1.7)
    assert abs(flipped.log_det_term[0] - same.log_det_term[0]) > 0.01
    with pytest.raises(ValueError, match="sign must be"):
        product_form_terms(H, B @ B.T, J, g, sign=0.5, sigma=1.0)


def test_product_form_agrees_with_the_rank_one_loss() -> None:
    loss, theta = LogisticLoss(), np.array([0.3, -0.2, 0.5])
    mechanism = ObjectivePerturbation(loss, 1.3, 0.4)
    for pair in pairs(20, 3, loss)[:2]:
        u, y = np.asarray(pair.x @ theta), np.asarray(pair.y)
        terms = product_form_terms(
            mechanism.hessian(theta, pair.first)[0],
            loss.second(u, y) * np.outer(pair.x, pair.x),
            -mechanism.noise(theta, pair.first)[0],
            loss.first(u, y) * pair.x,
            sign=pair.sign,
            sigma=1.3,
        )
        assert terms.total[0] == pytest.approx(mechanism.privacy_loss(theta, pair)[0], rel=1e-12)


@for_each("loss", LOSSES)
@for_each(("n", "dim", "lam"), [(0, 2, 0.4), (1, 2, 0.4), (30, 3, 0.4), (4, 9, 1e-9)])
def test_all_losses_in_one_pass_are_the_losses_one_by_one(loss: GlmLoss, n: int, dim: int, lam: float) -> None:
    """With n < dim and lam = 1e-9 every record has 1 - f'' mu near 1e-9, which a plain difference loses."""
    dataset, theta = small_data(n, dim, loss), np.random.default_rng(5).standard_normal(dim)
    mechanism = ObjectivePerturbation(loss, 1.3, lam, regulariser=QuadraticRegulariser(np.zeros((dim, dim))))
    each = [mechanism.privacy_loss(theta, NeighbouringPair.remove(dataset, i))[0] for i in range(n)]
    np.testing.assert_allclose(mechanism.ex_post_losses(theta, dataset), each, rtol=2e-7 if lam < 0.1 else 1e-11)


def test_loss_of_a_record_that_alone_spans_a_direction() -> None:
    """One record x: with f'' mu = f''/(lam + f''), the determinant term of removing it is log((lam + f'')/lam)."""
    dataset = Dataset(np.array([[1.0]]), np.array([1.0]), 1.0, 1.0)
    mechanism = ObjectivePerturbation(LogisticLoss(), 1.0, 1e-12)
    terms = mechanism.loss_terms(np.zeros((1, 1)), NeighbouringPair.remove(dataset, 0))
    assert terms.log_det_term[0] == pytest.approx(math.log1p(0.25 / 1e-12), rel=1e-14)


def test_a_target_outside_the_loss_domain_is_refused() -> None:
    mechanism, dataset = ObjectivePerturbation(LogisticLoss(), 1.0, 1.0), small_data(5, 2, LogisticLoss())
    with pytest.raises(DataError, match="y must be -1 or"):
        mechanism.privacy_loss(np.zeros((1, 2)), NeighbouringPair.add(dataset, [0.1, 0.1], 0.5))


def distance_from_law(outputs: np.ndarray, dataset: Dataset, lam: float, sigma: float) -> float:
    """Kolmogorov distance between one-dimensional outputs and the exact CDF."""
    exact = np.array([logistic_cdf_1d(t, dataset, lam, sigma) for t in np.sort(outputs[:, 0])])
    n = len(exact)
    return float(max((np.arange(1, n + 1) / n - exact).max(), (exact - np.arange(n) / n).max()))


def test_draws_follow_the_exact_law_and_broken_twins_do_not() -> None:
    """Null: 4000 draws follow Phi(J'(t)/sigma). Level 1e-7 by the DKW inequality with Massart's constant."""
    draws, level = 4000, 1e-7
    threshold = math.sqrt(math.log(2 / level) / (2 * draws))
    dataset, honest = small_data(12, 1, LogisticLoss()), ObjectivePerturbation(LogisticLoss(), 3.0, 0.2)
    for mechanism in (honest, objective_half_noise(honest, severity=0.0), objective_early_stop(honest, severity=0.0)):
        outputs = mechanism.draw(dataset, draws, rng=np.random.default_rng(6))
        assert distance_from_law(outputs, dataset, 0.2, 3.0) <= threshold
    for mechanism in (objective_half_noise(honest), objective_early_stop(honest)):
        outputs = mechanism.draw(dataset, draws, rng=np.random.default_rng(6))
        assert distance_from_law(outputs, dataset, 0.2, 3.0) > threshold


def test_broken_twins_keep_the_claimed_density_and_refuse_bad_severity() -> None:
    honest, dataset, theta = (
        ObjectivePerturbation(LogisticLoss(), 3.0, 0.2),
        small_data(12, 2, LogisticLoss()),
        np.ones((3, 2)),
    )
    pair = NeighbouringPair.remove(dataset, 0)
    for twin in (objective_half_noise(honest), objective_early_stop(honest)):
        assert np.array_equal(twin.log_density(theta, dataset), honest.log_density(theta, dataset))
        assert np.array_equal(twin.privacy_loss(theta, pair), honest.privacy_loss(theta, pair))
    assert objective_no_jacobian(honest).draw(dataset, 2, rng=np.random.default_rng(7)).shape == (2, 2)
    for twin in (objective_half_noise, objective_early_stop):
        with pytest.raises(ValueError, match="severity must be in"):
            twin(honest, severity=1.5)
    names = {twin(honest).name for twin in (objective_half_noise, objective_early_stop, objective_no_jacobian)}
    assert len(names) == 3
