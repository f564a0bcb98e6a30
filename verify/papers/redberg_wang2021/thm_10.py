"""RW21, Theorem 10: cost and accuracy of the data-dependent privacy report.

T10.1 and T10.2 are Gaussian: gradient and Hessian are released jointly, with
``mu^2 = g^2/sigma_2^2 + h^2/(2 sigma_3^2)`` for the target's gradient norm g and Hessian norm h. T10.3 and the steps of its
proof are decided by simulation of the whole report; derivations in docs/derivations/redberg_wang2021.md.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from audits import Budget, Estimate, StreamKey
from audits.stats.coverage import EventSampler, audit_coverage
from mechanisms import GaussianProfile
from mechanisms.data.dataset import FloatArray
from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation
from mechanisms.numerics.goe_brackets import isf_bracket
from mechanisms.objective.losses import LogisticLoss
from mechanisms.objective.objective_loss_terms import LossTerms
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.releases.report_terms import OwnRecord, ReportForm, ReportScales, corrected_terms, printed_terms
from reports.row import Figure

from ...kernel.box_search import Axis, Point
from ...kernel.declare import At, Display, Form, Mutant, over, refuting, search, smallest, statement
from ...kernel.formal import FormalClaim
from ...kernel.statement_plots import coverage_figure
from ..kit import FORMULA_ERROR, Case, Claim, Evidence, Measure, Observer
from .shared.report_events import LOWER, TINY, BoolArray, ReportSetting, points, unit_target


def _epsilon_joint(p: Point, *, power: float = 2.0, scale: float = 1.0) -> float:
    """Return T10.1's epsilon (T10.2's at one target); ``power`` is that of sigma_3 under the root: 3 as printed in T10.1."""
    g, h, s2, s3 = p["gradient"], p["hessian"], p["sigma_2"], p["sigma_3"]
    root = math.sqrt((g / s2) ** 2 + h**2 / (2.0 * s3**power))
    return scale * ((g / s2) ** 2 / 2.0 + (h / s3) ** 2 / 4.0 + root * math.sqrt(2.0 * math.log(1.0 / p["delta"])))


def _joint_profile(p: Point) -> GaussianProfile:
    gradient = p.get("target gradient", p["gradient"]) / p["sigma_2"]
    hessian = p.get("target hessian", p["hessian"]) * math.sqrt(0.5) / p["sigma_3"]
    return GaussianProfile(math.hypot(gradient, hessian))


JOINT = FormalClaim(
    profile=_joint_profile,
    box={
        "gradient": Axis(1e-3, 1e3),
        "hessian": Axis(1e-3, 1e3),
        "sigma_2": Axis(1e-2, 1e4),
        "sigma_3": Axis(1e-2, 1e4),
        "delta": Axis(1e-12, 0.99),
    },
    observer=Observer.TRANSCRIPT,
    conditioned_on="the released parameter",
)
JOINT_MUTANTS = {
    "epsilon cut by 5 %": Mutant(JOINT.of(partial(_epsilon_joint, scale=0.95)), severity=0.05),
    "no Hessian term under the root": Mutant(
        JOINT.of(lambda p: _epsilon_joint(p | {"hessian": 0.0}) + (p["hessian"] / p["sigma_3"]) ** 2 / 4)
    ),
}

#: A size of the loss, from its terms; and what the upper side of T10.3 adds to a multiple of it, from scales and own record.
Size = Callable[[LossTerms], FloatArray]
Extra = Callable[[ReportScales, OwnRecord], FloatArray]


def _signed_sum(truth: LossTerms) -> FloatArray:
    """Return the absolute value of the signed sum, as printed."""
    return np.asarray(np.abs(truth.total))


def absolute_sum(truth: LossTerms) -> FloatArray:
    """Return the sum of the absolute terms, as the proof bounds."""
    return np.asarray(np.abs(truth.log_det_term) + truth.quadratic_term + np.abs(truth.gradient_term))


def additive(scales: ReportScales, own: OwnRecord) -> FloatArray:
    """Return the printed additive term ``|f'| ||x|| sqrt(2 log(2/rho)) / sigma_2``."""
    assert scales.sigma2 is not None
    return own.gradient_norm * math.sqrt(2.0 * math.log(2.0 / scales.failure_prob)) / scales.sigma2


def margins(scales: ReportScales, own: OwnRecord) -> FloatArray:
    """Return the corrected additive term ``2 min{sigma, sigma_2} ||f'x|| z / sigma^2``."""
    assert scales.sigma2 is not None
    return 2.0 * min(scales.sigma, scales.sigma2) * own.gradient_norm * scales.quantile / scales.sigma**2


def _events(
    setting: ReportSetting,
    form: ReportForm = corrected_terms,
    size: Size = absolute_sum,
    extra: Extra = margins,
    factor: float = 12.0,
) -> EventSampler:
    """Return a sampler of the two inequalities of T10.3: ``epsilon_1 <= bound <= factor size + extra``."""

    def events(n_draws: int, rng: np.random.Generator) -> BoolArray:
        own, truth, bound = setting.draw(form, n_draws, rng)
        top = factor * size(truth) + extra(setting.scales, own)
        return np.column_stack([np.abs(truth.total) <= bound.epsilon1_bar, bound.epsilon1_bar <= top])

    return events


def _accuracy(case: Case, budget: Budget, **version: Any) -> Evidence:
    """Decide the coverage of both inequalities, in a version of ``_events``."""
    setting, words = ReportSetting.of(case), "probability that both inequalities hold"
    parts = ("lower inequality", "upper inequality")
    return setting.coverage(words, 3.0, _events(setting, **version), budget, parts=parts)


def _cap(case: Case, budget: Budget, *, minimum: bool = True) -> Evidence:
    """Bracket the supremum of ``f'' mu_bar`` between its largest draw and what the pointwise minimum proves of it.

    With the minimum, ``f'' mu_bar <= f'' ||x||^2 / lambda <= beta ||x||^2 / lambda`` whatever is released; without it
    nothing bounds it from above.
    """
    setting = ReportSetting.of(case)
    form, x = corrected_terms if minimum else printed_terms, setting.pair.x
    own, _, bound = setting.draw(form, budget.n_draws, budget.key.child("cap").rng())
    largest = float((own.second * bound.mu_bar).max())
    proved = setting.scales.loss.beta * float(x @ x) / setting.scales.lam if minimum else math.inf
    claim = Claim("supremum of f'' mu_bar", -math.inf, 0.5, 0.5, observer=Observer.OUTPUT)
    exact = Estimate(largest, largest, proved, 0.0, budget.n_draws, "largest draw, and a proved bound")
    return Evidence(claim, exact=exact)


def _additive_error(
    case: Case, budget: Budget, *, width: Callable[[ReportScales], float], form: ReportForm = corrected_terms
) -> Evidence:
    """Decide that ``|g_bar| - |g|`` stays below ``min{sigma, sigma_2} ||f'x||`` times a width, except with probability rho."""
    setting = ReportSetting.of(case)
    scales = setting.scales
    assert scales.sigma2 is not None
    error = min(scales.sigma, scales.sigma2) * width(scales)

    def events(n_draws: int, rng: np.random.Generator) -> BoolArray:
        own, truth, bound = setting.draw(form, n_draws, rng)
        g = np.abs(truth.gradient_term) * scales.sigma**2
        return np.asarray(np.abs(bound.g_bar) <= g + error * own.gradient_norm)[:, None]

    return setting.coverage("probability that the additive error is at most the stated one", 1.0, events, budget)


def _quantile(case: Case) -> tuple[float, float]:
    """Return a proved enclosure of tau."""
    law = GoeLaw(case.whole("dim"), Extreme.LARGEST_EIGENVALUE, Normalisation.UNIT_OFF_DIAGONAL)
    bracket = isf_bracket(law, Fraction(case.number("rho")) / 2)
    return bracket.low, bracket.high


#: What a ratio to a stated order (C = 1) may be: ratios at most 2 support an order on the cases tried.
LARGEST_RATIO = 2.0


def _tau(case: Case, *, order: Callable[[int, float], float]) -> Evidence:
    stated = order(case.whole("dim"), case.number("rho"))
    low, high = _quantile(case)
    claim = Claim("tau over its stated order", 0.0, LARGEST_RATIO, stated, observer=Observer.OUTPUT)
    exact = Estimate.proved(low / stated * (1 - FORMULA_ERROR), high / stated * (1 + FORMULA_ERROR), "ball arithmetic")
    return Evidence(claim, exact=exact, notes={"tau": 0.5 * (low + high)})


DECADES = 8.0


def _required_lambda(case: Case, *, power: float) -> Evidence:
    """Follow the lambda that Algorithm 2 requires, 2 sigma tau, over eight decades of sigma at fixed d and rho."""
    low, high = _quantile(case)
    # 2 sigma tau / (sqrt(d) sigma^p) grows by DECADES (1 - p) decades, whatever tau is: the ratio is exact.
    growth = DECADES * (1.0 - power)
    words = "decades by which required lambda over its stated order grows, sigma from 1 to 1e8"
    exact = Estimate.proved(growth - FORMULA_ERROR * DECADES, growth + FORMULA_ERROR * DECADES, "derived sequence")
    claim = Claim(words, -0.5, 0.5, 0.0, observer=Observer.OUTPUT, measure=Measure.GROWTH)
    return Evidence(claim, exact=exact, notes={"required lambda at sigma = 1": low + high})


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the failure of the report's bound against rho, as printed and corrected."""
    rhos = (0.2, 0.1, 0.05, 0.02, 0.01)
    words = "One unit target outside empty data, logistic loss, sigma = 4, lambda = 100, sigma_2 = 0.4; 4,000 draws a point, 95 % intervals"
    curves = {
        "printed": _failure_curve("printed", rhos, seed, form=printed_terms, size=_signed_sum, extra=additive),
        "corrected": _failure_curve("corrected", rhos, seed),
    }
    nominal = tuple(3.0 * rho for rho in rhos)
    return (
        coverage_figure("rw21-t10", "Failure of the privacy report against its level 3 rho", nominal, curves, words),
    )


def _failure_curve(name: str, rhos: Sequence[float], seed: int, **version: Any) -> list[tuple[float, float, float]]:
    """Return (value, low, high) of the probability that T10.3 fails, at each rho, in the lower-side setting."""
    curve = []
    for rho in rhos:
        scales = ReportScales(LogisticLoss(), 4.0, 100.0, rho, 0.4, 0.1)
        setting = ReportSetting(ObjectivePerturbation(scales.loss, scales.sigma, scales.lam), unit_target(), scales)
        budget = Budget(4_000, 0.05, StreamKey(seed).child("figure", "RW21-T10", name, str(rho)))
        joint = audit_coverage(_events(setting, **version), budget).joint
        curve.append((1.0 - joint.value, 1.0 - joint.high, 1.0 - joint.low))
    return curve


LOGISTIC = {
    "gradient": 1.0,  # xi and beta of the logistic loss with ||x|| = 1 ...
    "hessian": 0.25,
    "target gradient": 0.5,  # ... and what a target with x'theta = 0 attains
    "target hessian": 0.25,
    "sigma_2": 1e6,
    "sigma_3": 100.0,
    "delta": 1e-4,
}
RATIOS = {
    "gradient": (1e-2, 1.0, 30.0), "hessian": (1e-2, 0.25, 30.0), "sigma_2": (1.0, 100.0), "sigma_3": (0.5, 100.0),
    "delta": (0.5, 1e-1, 1e-3, 1e-6, 1e-12),
}  # fmt: skip
SCALES = over("scales and delta", RATIOS, quick_every=13)

DRAWS, MANY = (4_000, 10_000, 100_000), (10_000, 30_000, 300_000)
# lambda is far above 2 beta = 1/2 and above 2 sigma_3 tau; sigma_2 large against sigma here, small in LOWER
UPPERS = [
    TINY | {"sigma": 10.0, "sigma_2": 10.0 ** (k + 1), "sigma_3": 0.1, "lam": 10.0 ** (2 * k + 2)} for k in (1, 2, 3)
]
CANCEL = TINY | {"loss": "squared", "sigma": 3.0, "sigma_2": 0.1, "sigma_3": 0.01, "lam": 3.0}
EVERYWHERE = [
    TINY | {"loss": loss, "target": target, "rho": rho, "sigma": s, "sigma_2": s2, "sigma_3": s3, "lam": lam}
    for loss, lam in (("logistic", 1.0), ("squared", 3.0))
    for target in ("outside", "inside")
    for rho, s3 in ((0.1, 0.1), (0.02, 0.05))
    for s, s2 in ((4.0, 0.4), (4.0, 4.0), (1.0, 30.0))
]
REAL = {
    "data": "fair", "record": 3, "loss": "logistic", "rho": 0.05, "sigma": 4.0, "sigma_2": 4.0, "sigma_3": 0.5, "lam": 7.0
}  # fmt: skip
EDGE = TINY | {"rho": 0.2, "sigma": 1.0, "sigma_2": 1.0, "sigma_3": 0.1}
SQUARED_EDGE = EDGE | {"loss": "squared", "lam": 2.0 + 1e-9}
SMALL = LOWER | {"rho": 0.02}
SEQUENCES = [{"dim": dim, "rho": 1e-6} for dim in (1, 10)]
_ORDER_T = Form(
    "lambda approx sqrt(d) sigma", partial(_required_lambda, power=1.0), [At("sequence in sigma", p) for p in SEQUENCES]
)
_POWER = {"power 0.9": Mutant(_required_lambda, SEQUENCES[0], severity=0.1, power=0.9)}


def _joint(g: str, h: str, power: int) -> str:
    root = f"sqrt({g}^2/sigma_2^2 + {h}^2/(2 sigma_3^{power}))"
    return f"epsilon =  {g}^2/(2 sigma_2^2) + {h}^2/(4 sigma_3^2) + {root} sqrt(2 log(1/delta))"


STATEMENT = statement(
    "RW21-T10",
    derivation="docs/derivations/redberg_wang2021.md, Theorem 10",
    domain="Algorithm 2 with released gradient and Hessian, lambda above C sigma_2 sqrt(d) (1 + log(1/rho)^(2/3)) for a "
    "universal C, generalised linear loss, add or remove one record; all noise scales public. T10.3 decided for "
    "rho in [0.01, 0.1]; T10.1 and T10.2 for delta in [1e-12, 0.99]",
    summary="The report can understate a person's privacy loss: the bound on the inner product is one-sided and its absolute "
    "value is taken. Its upper side fails as well, since the terms of the loss may cancel and since the additive term "
    "vanishes for large sigma_2. T10.2 is true.",
    displays={
        ".1": Display(
            printed=Form(
                _joint("xi", "beta", 3),
                JOINT.of(partial(_epsilon_joint, power=3.0)),
                [smallest("logistic loss, one target of length 1, predictor 0", LOGISTIC), search()],
            ),
            corrected=Form(_joint("xi", "beta", 2), JOINT.of(_epsilon_joint), [refuting(LOGISTIC), *SCALES, search()]),
            wrong="sigma_3 stands cubed under the root for squared, which understates epsilon when sigma_3 > 1.",
            mutants=JOINT_MUTANTS,
        ),
        ".2": Display(
            printed=Form(
                _joint("(f'(dot) norm(x))", "(f''(dot) norm(x)^2)", 2), JOINT.of(_epsilon_joint), [*SCALES, search()]
            ),
            mutants=JOINT_MUTANTS,
        ),
        ".3": Display(
            printed=Form(
                "epsilon_1 <= overline(epsilon_1^P)(z) <= 12 epsilon_1 + (abs(f'(dot)) norm(x))/sigma_2 sqrt(2 log(2/rho))",
                partial(_accuracy, form=printed_terms, size=_signed_sum, extra=additive),
                [
                    smallest("lower side: sigma_2 = sigma/10", LOWER, draws=DRAWS),
                    *(smallest("upper side: any lambda", p, draws=DRAWS, quick=i == 0) for i, p in enumerate(UPPERS)),
                ],
            ),
            corrected=Form(
                "epsilon_1 <= overline(epsilon_1^P)(z) <= 12 S + (2 min{sigma, sigma_2} abs(f'(dot)) norm(x) Phi^(-1)(1 - rho/2))/sigma^2,"
                " quad S = abs(log(1 plus.minus f'' mu)) + norm(nabla ell)^2/(2 sigma^2) + abs(nabla J^T nabla ell)/sigma^2,"
                " quad overline(g^P) = min{abs(f' hat(g)^T x) + sigma_2 norm(f' x) Phi^(-1)(1-rho/2), sigma norm(f' x) Phi^(-1)(1-rho/2)},"
                " quad overline(mu^P) = min{3/2 x^T hat(H)^(-1) x, norm(x)^2/lambda}",
                _accuracy,
                [
                    *(
                        At("what refutes the printed form", p, draws=DRAWS, quick=i < 2)
                        for i, p in enumerate((LOWER, *UPPERS, CANCEL))
                    ),
                    *points("one dimension", EVERYWHERE, draws=DRAWS, every=8),
                    *(
                        At("real data", REAL | {"target": target}, draws=(500, 4_000, 40_000), quick=False)
                        for target in ("inside", "outside")
                    ),
                ],
            ),
            wrong="An upper confidence bound on a signed quantity is used as a bound on its size; the loss is an absolute value of "
            "terms that may cancel, while the proof bounds each term; the additive term has sigma_2 where sigma^2/min(sigma, sigma_2) "
            "belongs. The factor 12 is loose: log 2/log(7/6) = 4.50 suffices (lambda > 2 beta).",
            mutants={
                "absolute value of a one-sided bound": Mutant(_accuracy, LOWER, draws=DRAWS, form=printed_terms),
                "cancelling terms": Mutant(_accuracy, CANCEL, draws=DRAWS, size=_signed_sum),
                "additive term over sigma_2": Mutant(_accuracy, UPPERS[1], draws=DRAWS, extra=additive),
                "factor 1": Mutant(_accuracy, CANCEL, draws=DRAWS, factor=1.0),
            },
            derivation="docs/derivations/privacy_report.md",
        ),
        ".p1": Display(
            printed=Form(
                "lambda > 2 beta ==> f'' overline(mu^P) <= 1/2",
                _cap,
                points(
                    "lambda = 2 beta",
                    [EDGE | {"lam": 0.5 + 1e-9}, *(SQUARED_EDGE | {"target": t} for t in ("outside", "inside"))],
                    draws=DRAWS,
                ),
            ),
            mutants={
                "no pointwise minimum": Mutant(_cap, EDGE | {"loss": "squared", "lam": 2.0}, draws=DRAWS, minimum=False)
            },
        ),
        ".p2": Display(
            printed=Form(
                "abs(overline(g^P)) <= abs(g) + min{sigma, sigma_2} abs(f'(dot)) norm(x)_2 sqrt(2 log(2/rho))",
                partial(
                    _additive_error,
                    form=printed_terms,
                    width=lambda scales: math.sqrt(2.0 * math.log(2.0 / scales.failure_prob)),
                ),
                [smallest("sigma_2 = sigma/10", SMALL, draws=MANY)],
            ),
            corrected=Form(
                "abs(overline(g^P)) <= abs(g) + 2 min{sigma, sigma_2} abs(f'(dot)) norm(x)_2 Phi^(-1)(1 - rho/2)",
                partial(_additive_error, width=lambda scales: 2.0 * scales.quantile),
                [
                    At("one dimension", p | {"rho": 0.05}, draws=MANY, quick=i < 1)
                    for i, p in enumerate((SMALL, UPPERS[0], CANCEL, *EVERYWHERE[::5]))
                ],
            ),
            wrong="The noise and the margin added against it both enter, so the error is twice the margin.",
            mutants={
                "once the quantile": Mutant(_additive_error, SMALL, draws=MANY, width=lambda scales: scales.quantile)
            },
            derivation="docs/derivations/privacy_report.md",
        ),
        ".f": Display(
            printed=Form(
                "tau = O(sqrt(d) (1 + log(C/rho)^(3/2)))",
                partial(_tau, order=lambda d, rho: math.sqrt(d) * (1.0 + math.log(1.0 / rho) ** 1.5)),
                over("d and rho", {"dim": (1, 2, 5, 20, 50), "rho": (0.5, 1e-2, 1e-6, 1e-12)}, quick_every=6),
            ),
            mutants={
                "no logarithm": Mutant(_tau, {"dim": 1, "rho": 1e-12}, order=lambda d, rho: math.sqrt(d)),
                "no dimension": Mutant(
                    _tau, {"dim": 50, "rho": 0.5}, order=lambda d, rho: 1.0 + math.log(1.0 / rho) ** 1.5
                ),
            },
        ),
        ".t@linear": Display("text: order of the required lambda, the root over d alone", _ORDER_T, mutants=_POWER),
        ".t@root": Display(
            "text: order of the required lambda, sigma under the root as in our copy",
            Form(
                "lambda approx sqrt(d sigma)",
                partial(_required_lambda, power=0.5),
                [smallest("sequence in sigma", p) for p in SEQUENCES],
            ),
            _ORDER_T,
            "The theorem's own condition is linear in the noise scale, and the earlier submission has the root over d alone: "
            "the root of our copy is most likely drawn too long.",
            _POWER,
        ),
    },
    figures=figures,
)
