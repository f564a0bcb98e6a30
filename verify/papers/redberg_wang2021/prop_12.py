"""RW21, Proposition 12: the released smallest eigenvalue and Hessian approximate the leverage, for all x at once.

"For all x" is the semidefinite order: with ``K = H_hat + tau sigma_3 I``, P12.2 says that the eigenvalues of ``H^{-1/2} K
H^{-1/2}`` lie in [1, 1 + 2 tau sigma_3/lambda_hat], and P12.3 the like for ``H_hat``. H is fixed: everything is conditional
on the released parameter. The symbol lambda_hat is the value that Algorithm 4 goes on with, after it has overwritten
the released one; P12.1 holds for the latter only (docs/derivations/redberg_wang2021.md, Proposition 12).
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from audits import Budget
from audits.stats.coverage import audit_coverage
from mechanisms.data.dataset import FloatArray
from mechanisms.numerics.goe import Normalisation, draw_goe, goe_tau

from ..kit import At, Case, Display, Evidence, Form, Mutant, Numbers, coverage_evidence, over, smallest, statement
from .shared.hessian_noise import hessian, independent_events
from .shared.report_events import BoolArray

LAMBDA_MIN = 1.0
#: What rounding may add.
ROUNDING = 1e-12


class WhitenedDraws:
    """A batch of lambda_hat and of the noise on H, whitened; scales are relative to lambda_min."""

    def __init__(self, case: Case, n_draws: int, rng: np.random.Generator, *, lowered: bool) -> None:
        """Draw; lambda_hat is the released value less ``sigma_4 z`` if it is ``lowered``."""
        dim, rho = case.whole("dim"), case.number("rho")
        self.noise, self.margin = case.number("tau sigma_3"), case.number("sigma_4 z")
        self.lam = case.number("lambda")
        released = LAMBDA_MIN + self.margin / -float(ndtri(0.5 * rho)) * rng.standard_normal(n_draws)
        self.lambda_hat = np.maximum(self.lam, released - self.margin) if lowered else released
        lower = np.linalg.cholesky(hessian(case.text("H"), dim, LAMBDA_MIN))
        self.half = solve_triangular(lower, np.eye(dim), lower=True)
        scaled = self.noise / goe_tau(dim, rho) * draw_goe(dim, n_draws, Normalisation.UNIT_OFF_DIAGONAL, rng=rng)
        self.change = self.half @ scaled @ self.half.T


#: One display as an event of the draws.
Event = Callable[[WhitenedDraws], BoolArray]


def two_sided(draws: WhitenedDraws) -> BoolArray:
    """Return whether lambda_hat is within ``sigma_4 z`` of lambda_min, as printed."""
    return np.asarray(np.abs(draws.lambda_hat - LAMBDA_MIN) <= draws.margin + ROUNDING)


def below(draws: WhitenedDraws, *, reach: float = 2.0) -> BoolArray:
    """Return whether lambda_hat is not above lambda_min, and at most ``reach`` times ``sigma_4 z`` below it."""
    low = max(draws.lam, LAMBDA_MIN - reach * draws.margin)
    return np.asarray((low - ROUNDING <= draws.lambda_hat) & (draws.lambda_hat <= LAMBDA_MIN + ROUNDING))


def regularised(draws: WhitenedDraws, *, multiple: float = 2.0) -> BoolArray:
    """Return whether the regularised estimator holds for all x, with ``multiple`` of ``tau sigma_3`` in its factor."""
    shifted = draws.change + draws.noise * (draws.half @ draws.half.T)
    return _within(shifted, np.zeros(len(shifted)), multiple * draws.noise / draws.lambda_hat)


def standard(draws: WhitenedDraws, *, multiple: float = 1.0) -> BoolArray:
    """Return whether the standard estimator holds for all x, where ``lambda_hat >= 2 tau sigma_3``."""
    edge = multiple * draws.noise / draws.lambda_hat
    return np.asarray((draws.lambda_hat < 2.0 * draws.noise) | _within(draws.change, -edge, edge))


def _within(matrices: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return whether all eigenvalues lie in [low, high], to rounding."""
    spectra = np.linalg.eigvalsh(matrices)
    return np.asarray((spectra[:, 0] >= low - ROUNDING) & (spectra[:, -1] <= high + ROUNDING))


def _covered(
    case: Case, budget: Budget, *, events: tuple[Event, ...], lowered: bool = True, implied: bool = False
) -> Evidence:
    """Decide the coverage of one display, or of several at once; two independent events imply every true one."""
    dim, rho = case.whole("dim"), case.number("rho")

    def sampled(n_draws: int, rng: np.random.Generator) -> BoolArray:
        draws = WhitenedDraws(case, n_draws, rng, lowered=lowered)
        return np.column_stack([event(draws) for event in events])

    return coverage_evidence(
        "probability of the event, for all x at once",
        1.0 - 2.0 * rho,
        sampled=audit_coverage(sampled, budget).joint,
        exact=independent_events(dim, rho, 1.0 - rho) if implied else None,
        conditioned_on="H fixed, lambda_min(H) = 1",
    )


DRAWS, MANY = (2_000, 4_000, 100_000), (4_000, 20_000, 400_000)
ONE = {"dim": 1, "rho": 0.02, "H": "identity", "tau sigma_3": 0.3, "sigma_4 z": 0.2, "lambda": 0.1}
AXES = {
    "dim": (1, 3, 10), "rho": (0.3, 0.1, 0.02), "H": ("identity", "spread"), "tau sigma_3": (0.05, 0.45, 3.0),
    "sigma_4 z": (0.01, 0.5), "lambda": (0.01, 0.9),
}  # fmt: skip
ALL = AXES | {"rho": (0.3, 0.05, 1e-3, 1e-6), "tau sigma_3": (0.45, 3.0), "sigma_4 z": (0.5,), "lambda": (0.01,)}
FEW = AXES | {"dim": (3,), "H": ("spread",)}
QUIET = ONE | {"sigma_4 z": 1e-9}
SCALES = over("noise scales", FEW, draws=DRAWS, quick_every=11)
FAILS = [smallest("one dimension", ONE, draws=DRAWS)]
AGAIN = At("the case that refutes the printed form", ONE, draws=DRAWS)


def _as_released(numbers: Numbers, *events: Event) -> dict[str, Mutant]:
    return {"lambda_hat as released": Mutant(_covered, numbers, draws=DRAWS, events=events, lowered=False)}


def _stronger(name: str, event: Event, numbers: Numbers, severity: float) -> dict[str, Mutant]:
    """Return the mutant that claims a stronger event."""
    return {name: Mutant(_covered, numbers, severity, draws=MANY, quick=False, events=(event,))}


def _estimator(typst: str, event: Event, stronger: dict[str, Mutant]) -> Display:
    """Return one of the two estimators, for all x, with a mutant of its own."""
    form = Form(typst, partial(_covered, events=(event,), implied=True), SCALES)
    return Display(printed=form, mutants=stronger | _as_released(ONE | {"sigma_4 z": 2.0}, event))


STATEMENT = statement(
    "RW21-P12",
    derivation="docs/derivations/redberg_wang2021.md, Proposition 12",
    domain="H positive definite with lambda_min(H) >= lambda > 0, lambda_hat and H_hat as in Algorithm 4, given the released "
    "parameter; all x at once. Decided for rho in [1e-6, 0.3], dimension 1 to 10, tau sigma_3 from 0.05 to 3 and "
    "sigma_4 Phi^(-1)(1 - rho/2) from 0.01 to 0.5 times lambda_min",
    summary="Algorithm 4 lowers the released eigenvalue by sigma_4 z and keeps its name. P12.1 is true of the value before, P12.2 "
    "and P12.3 of the value after; no value of lambda_hat makes all three true. Both values together do, with probability "
    "1 - 2 rho.",
    displays={
        ".1": Display(
            printed=Form(
                'abs(hat(lambda)^P_"min" - lambda_"min") <= sigma_4 Phi^(-1)(1 - rho/2)',
                partial(_covered, events=(two_sided,)),
                FAILS,
            ),
            corrected=Form(
                'max{lambda, lambda_"min" - 2 sigma_4 Phi^(-1)(1 - rho/2)} <= hat(lambda)^P_"min" <= lambda_"min"',
                partial(_covered, events=(below,), implied=True),
                [AGAIN, *SCALES],
            ),
            wrong="One symbol stands for two values: Algorithm 4 subtracts sigma_4 z from the released eigenvalue, so that "
            "the result is below the stated range with probability about 1/2; the range is that of the value before.",
            mutants=_stronger("1.7 margins", partial(below, reach=1.7), ONE, 0.06) | _as_released(ONE, below),
        ),
        ".2": _estimator(
            'x^T (hat(H)^P + tau sigma_3 I)^(-1) x <= mu(x) <= (hat(lambda)^P_"min" + 2 tau sigma_3)/hat(lambda)^P_"min"'
            " x^T (hat(H)^P + tau sigma_3 I)^(-1) x",
            regularised,
            _stronger("1.7 tau sigma_3", partial(regularised, multiple=1.7), QUIET, 0.06),
        ),
        ".3": _estimator(
            '(hat(lambda)^P_"min" - tau sigma_3)/hat(lambda)^P_"min" x^T (hat(H)^P)^(-1) x <= x^T H^(-1) x <='
            ' (hat(lambda)^P_"min" + tau sigma_3)/hat(lambda)^P_"min" x^T (hat(H)^P)^(-1) x',
            standard,
            _stronger("0.8 tau sigma_3", partial(standard, multiple=0.8), QUIET, 0.1),
        ),
        "#joint": Display(
            "all three at once",
            Form(
                'Pr["P12.1, P12.2 and P12.3"] >= 1 - 2 rho',
                partial(_covered, events=(two_sided, regularised, standard)),
                FAILS,
            ),
            Form(
                'Pr["P12.1 corrected, P12.2 and P12.3"] >= 1 - 2 rho',
                partial(_covered, events=(below, regularised, standard), implied=True),
                [AGAIN, *over("all three at once", ALL, draws=(500, 1_000, 50_000), quick_every=37)],
            ),
            "As in P12.1.",
            _as_released(ONE, below, regularised, standard),
        ),
    },
)
