"""W18-X1: which variants of the experiments' code keep the promise of Tables 3 and 4.

The variants are those of ``mechanisms.as_run``. One family of pairs serves: ``n`` records of length 1 in the plane, half of them at
``t v + s u`` and half at ``t v - s u``, all with response 1, and a target ``(v, -1)`` that joins. An event of the coefficients
gives a proved lower bound of the divergence (docs/derivations/wang2018_experiments.md).
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat
from scipy.special import ndtr

from audits import Estimate
from mechanisms import BOTH, GaussianProfile, Relation
from mechanisms.as_run.code_variants import CODE_DELTA, AsRunAdaOPS, AsRunAdaSSP, AsRunObjPert, AsRunOPS, AsRunSSP
from mechanisms.capabilities import Domain
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.laws.gaussian_profile import gaussian_balls
from mechanisms.linear.adaops_wang2018 import AdaOPS2018, CorrectedRule2018
from mechanisms.linear.ops_calibrations import CorrectedOPSCalibration
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.numerics.balls import Ball, enclose, ndtr_ball

from ....kernel.declare import At, Display, Form, Mutant, over, refuting, smallest
from ...kit import Case, Claim, Evidence, Measure, Observer, hockey_stick_evidence

QUANTITY = "hockey-stick delta at the promised epsilon, worse direction"
DIRECTIONS = {"axis": (1.0, 0.0), "tilted": (math.sqrt(0.5), -math.sqrt(0.5))}
#: Keeps rows of length 1 inside the bound when their coordinates are rounded.
INSIDE = 1 - 2**-50
#: Standard deviations of Delta that are allowed for where nothing cuts it.
FAR = 6.0


class RidgeStatistics(NamedTuple):
    """``X^T X + ridge I`` and ``X^T y`` of one data set, in balls."""

    hessian: Ball
    moment: Ball


class SampleConstants(NamedTuple):
    """Constants of a posterior sample: ridge, gamma, and how often (at most) the ridge is another or gamma smaller.

    ``failing`` is None where both are fixed.
    """

    ridge: float
    gamma: float
    failing: Callable[[Ball], Ball] | None = None


def _claim(case: Case, observer: Observer = Observer.OUTPUT) -> Claim:
    """Return the promise: delta of the case, or that of the captions at its n."""
    epsilon, n = case.number("epsilon"), case.params.get("n")
    delta = case.number("delta") if "delta" in case.params else min(CODE_DELTA, 1 / float(n or 1) ** 2)
    return Claim(QUANTITY, 0.0, delta, epsilon, relation=Relation.ADD, observer=observer, measure=Measure.DELTA)


def _least(low: float, high: float, method: str) -> Estimate:
    """Return a proved enclosure whose lower end is an event that was found, and its upper end far away."""
    return Estimate(low, low, high, 0.0, 0, method)


def records(n: int, t: float, direction: str) -> list[tuple[tuple[float, float], float]]:
    """Return the two rows of the family, of which there are ``n/2`` each with response 1, and the target's row."""
    (a, b), s = DIRECTIONS[direction], math.sqrt(1 - t * t)
    rows = [(t * a + sign * s * -b, t * b + sign * s * a) for sign in (1, -1)]
    weights = [n / 2, n / 2, 1.0]
    return [((INSIDE * x, INSIDE * z), w) for (x, z), w in zip([*rows, (a, b)], weights, strict=True)]


def laws(n: int, t: float, direction: str, ridge: float) -> tuple[RidgeStatistics, RidgeStatistics]:
    """Return the statistics without and with the target, whose response is -1."""
    family = records(n, t, direction)
    return _law(family[:2], ridge, (1.0, 1.0)), _law(family, ridge, (1.0, 1.0, -1.0))


def _law(rows: list[tuple[tuple[float, float], float]], ridge: float, responses: tuple[float, ...]) -> RidgeStatistics:
    hessian, moment = [[arb(ridge), arb(0)], [arb(0), arb(ridge)]], [arb(0), arb(0)]
    for (row, weight), y in zip(rows, responses, strict=True):
        x = [arb(value) for value in row]
        for i in range(2):
            moment[i] += arb(weight) * x[i] * arb(y)
            for j in range(2):
                hessian[i][j] += arb(weight) * x[i] * x[j]
    return RidgeStatistics(arb_mat(hessian), arb_mat([[value] for value in moment]))


def projected(law: RidgeStatistics, w: FloatArray) -> tuple[Ball, Ball]:
    """Return mean and standard deviation of ``w^T theta`` at gamma = 1, for noise ``(R^T)^{-1} z`` with ``H = R^T R``."""
    H, first, second = law.hessian, arb(float(w[0])), arb(float(w[1]))
    solution = H.solve(law.moment)
    r11 = H[0, 0].sqrt()
    r12 = H[0, 1] / r11
    r22 = (H[1, 1] - r12 * r12).sqrt()
    # (R^{-1} w)^T z is what w sees of the noise
    low = second / r22
    high = (first - r12 * low) / r11
    return first * solution[0, 0] + second * solution[1, 0], (low * low + high * high).sqrt()


def half_plane(pair: tuple[RidgeStatistics, RidgeStatistics], sampled: SampleConstants, epsilon: float) -> float:
    """Return a proved lower bound of the divergence: the best half plane that a search finds, in balls.

    Where gamma is not fixed ``c`` lies between the two means: the event ``w^T theta > c`` gains from every larger gamma.
    """
    return max(_half_plane(order, sampled, epsilon) for order in (pair, pair[::-1]))


def _half_plane(pair: tuple[RidgeStatistics, ...], sampled: SampleConstants, epsilon: float) -> float:
    w, fixed = _steepest(*pair), sampled.failing is None
    ends = [[float(part.mid()) for part in projected(law, w)] for law in pair]
    (m, s), (k, r) = [(mean, sd / math.sqrt(sampled.gamma)) for mean, sd in ends]
    cuts = np.linspace(k, m + 8 * s if fixed else m, 514)[1:-1]
    cut = arb(float(cuts[np.argmax(ndtr((m - cuts) / s) - math.exp(epsilon) * ndtr((k - cuts) / r))]))

    def evaluate() -> Ball:
        (mean, sd), (other, spread) = (projected(law, w) for law in pair)
        if not (cut > other and (fixed or mean > cut)):
            return arb(0)
        root, lost, gained = arb(sampled.gamma).sqrt(), arb(0), arb(0)
        if sampled.failing is not None:
            lost, gained = (sampled.failing(law.hessian) for law in pair)
        own, wrong = ndtr_ball((mean - cut) * root / sd), ndtr_ball((other - cut) * root / spread)
        return own * (1 - lost) - arb(epsilon).exp() * (wrong + gained)

    return enclose(evaluate, low=0.0, high=1.0).low


def _steepest(first: RidgeStatistics, second: RidgeStatistics) -> FloatArray:
    """Return the direction in which the means lie furthest apart, in the noise of the first."""
    H, other = (
        np.array([[float(law.hessian[i, j].mid()) for j in range(2)] for i in range(2)]) for law in (first, second)
    )
    b, c = (np.array([float(law.moment[i, 0].mid()) for i in range(2)]) for law in (first, second))
    upper = np.linalg.cholesky(H).T
    w = upper @ upper.T @ (np.linalg.solve(H, b) - np.linalg.solve(other, c))
    return np.asarray(w / np.linalg.norm(w))


def _refuted(case: Case, sampled: SampleConstants) -> Evidence:
    """Decide a posterior sample with the noise of the code by a half plane."""
    pair = laws(case.whole("n"), case.number("t"), "tilted", sampled.ridge)
    low = half_plane(pair, sampled, case.number("epsilon"))
    notes = {"gamma, at least": sampled.gamma, "ridge": sampled.ridge}
    return Evidence(_claim(case), exact=_least(low, 1.0, "half plane, ball arithmetic"), notes=notes)


def _ops(case: Case, *, corrected: bool) -> tuple[float, float]:
    """Return the ridge ``lam + 1`` of the code, and gamma: its own, or the largest that is proved at that ridge."""
    n, epsilon = case.whole("n"), case.number("epsilon")
    lam, gamma = AsRunOPS(epsilon).constants(n, 2)
    if corrected:
        gamma = (1 - 1e-9) * CorrectedOPSCalibration(epsilon, _claim(case).high, n, 2, 1.0, 1.0).gamma_at(lam + 1)
    return lam + 1, gamma


def _ops_code(case: Case, *, corrected: bool = False) -> Evidence:
    """Decide OPS with the noise of the code, n public, with its own gamma or the one that is proved for ``H^{-1}``."""
    ridge, gamma = _ops(case, corrected=corrected)
    return _refuted(case, SampleConstants(ridge, gamma))


def _ops_symmetric(case: Case, *, corrected: bool = True) -> Evidence:
    """Decide OPS with covariance ``H^{-1}/gamma``: the proved bound above, a pair on the line below."""
    epsilon, claim = case.number("epsilon"), _claim(case)
    ridge, gamma = _ops(case, corrected=corrected)
    mechanism = PosteriorSampling(gamma, ridge)
    bound = mechanism.worst_case(Domain(2, 1.0, 1.0, case.whole("n")))
    assert bound is not None  # n is public
    line = Dataset(np.empty((0, 1)), np.empty(0), 1.0, 1.0)
    pair = NeighbouringPair.add(line, [1.0], 1.0)
    low = max(mechanism.delta_bracket(pair, epsilon, direction).low for direction in BOTH)
    high = max(low, bound.delta_at(epsilon, claim.high))
    return Evidence(
        claim, exact=Estimate.proved(low, high, "pair on the line; bound on the loss"), notes={"gamma": gamma}
    )


def _adaops_code(case: Case, *, corrected: bool = False) -> Evidence:
    """Decide AdaOPS with the noise of the code, n public, its own constants or those of the corrected rule.

    Where the released eigenvalue is cut at 0 the ridge is fixed; a Lipschitz constant below its cap makes gamma larger.
    """
    n, t, epsilon = case.whole("n"), case.number("t"), case.number("epsilon")
    if corrected:
        return _refuted(case, _corrected_rule(n, t, epsilon))
    code = AsRunAdaOPS(epsilon)
    total = code.total(2)
    root = float(code.root_gamma(code.lipschitz_cap(n, np.asarray(total)), np.asarray(total)))
    shift = math.sqrt(code.log) * code.spread
    beyond = partial(_above, least=total, shift=shift, sd=code.spread)
    return _refuted(case, SampleConstants(total + 1, root**2 * (1 - 1e-12), beyond))


def _corrected_rule(n: int, t: float, epsilon: float) -> SampleConstants:
    rule = CorrectedRule2018(epsilon, CODE_DELTA)
    constants = rule.settings(Dataset(np.empty((0, 2)), np.empty(0), 1.0, 1.0))
    total = constants.total
    # of either data set: the moment is at most n t + 1 along v, where the matrix is at least total
    longest = math.log1p((n * t + 1) / total) + math.log1p(1 / total) * (
        constants.unit_shift + FAR * constants.unit_sigma
    )
    gamma = float(rule.gamma(constants, np.zeros(1), np.array([longest]))[0])
    beyond = partial(_above, least=total, shift=constants.shift, sd=constants.sigma, far=FAR)
    return SampleConstants(total, gamma * (1 - 1e-12), beyond)


def _above(hessian: Ball, *, least: float, shift: float, sd: float, far: float = math.inf) -> Ball:
    """Return how often the released eigenvalue is positive, or Delta lies ``far`` above its mean, at most.

    The matrix without its ridge ``least`` has a smallest eigenvalue of at most its value along ``(1, -1)``.
    """
    along = (hessian[0, 0] + hessian[1, 1] - 2 * hessian[0, 1]) / 2 - arb(least)
    return ndtr_ball((along - arb(shift)) / arb(sd)) + (ndtr_ball(arb(-far)) if math.isfinite(far) else arb(0))


def _adaops_corrected(case: Case) -> Evidence:
    """Decide algorithm 1 with the corrected rule (W18-TH2i)."""
    claim = _claim(case)
    bound = AdaOPS2018(CorrectedRule2018(case.number("epsilon"), claim.high)).worst_case(Domain(2, 1.0, 1.0))
    assert bound is not None
    high = bound.delta_at(case.number("epsilon"), claim.high)
    return Evidence(claim, exact=Estimate.proved(0.0, high, "five shares, composed adaptively"))


def _ssp_code(case: Case, *, factor: float = 1.0) -> Evidence:
    """Decide SSP with ``factor`` times the noise of the code: ``n`` records (1, 1) on the line, and a target (1, -1).

    Above: the exact law of both statistics, of which the coefficients are a function. Below: a half line of the coefficient.
    """
    n, epsilon = case.whole("n"), case.number("epsilon")
    scale = factor * AsRunSSP(epsilon).scale
    mu, slope = math.sqrt(2) / scale, 1.0
    for _ in range(60):  # to where the loss of the statistics is epsilon
        slope = (n - (mu / 2 - epsilon / mu) * scale * math.hypot(1.0, slope)) / (n + 1)

    def above() -> Ball:
        return gaussian_balls(arb(epsilon), arb(2).sqrt() / arb(scale))[0]

    def half_line() -> Ball:
        c, noise = arb(slope), arb(scale) * (1 + arb(slope) ** 2).sqrt()
        own = ndtr_ball((n - c * (n + 1)) / noise) - ndtr_ball(-arb(n + 1) / arb(scale))
        wrong = ndtr_ball((n - 1 - c * (n + 2)) / noise) + ndtr_ball(-arb(n + 2) / arb(scale))
        return own - arb(epsilon).exp() * wrong

    high = enclose(above, low=0.0, high=1.0).high * (1 + 1e-12)
    low = max(0.0, enclose(half_line, low=-4.0, high=1.0).low)
    exact = Estimate.proved(low, high, "half line, ball arithmetic; exact law of the statistics")
    notes = {"scale": scale, "exact epsilon": GaussianProfile(mu).epsilon_at(_claim(case).high)}
    return Evidence(_claim(case), exact=exact, notes=notes)


def _objpert_code(case: Case, *, lipschitz: float = 2.0) -> Evidence:
    """Decide ObjPert of the code with its noise made for a gradient of ``lipschitz``; twice the output is followed.

    Above: RW21-T5, corrected, over the ball of radius 2. Below: the rectangle of outputs inside the ball that a search finds.
    """
    n, t, epsilon = case.whole("n"), case.number("t"), case.number("epsilon")
    doubled = AsRunObjPert(epsilon, lipschitz=lipschitz).doubled
    pair = laws(n, t, "axis", doubled.lam)
    low = max(_rectangle(order, doubled.sigma, epsilon) for order in (pair, pair[::-1]))
    high = max(low, doubled.worst_case(Domain(2, 1.0, 1.0)).delta_at(epsilon, CODE_DELTA))
    exact = _least(low, high, "rectangle, ball arithmetic; bound on the loss")
    return Evidence(_claim(case), exact=exact, notes={"sigma": doubled.sigma, "ridge": doubled.lam})


def _rectangle(pair: tuple[RidgeStatistics, ...], sigma: float, epsilon: float) -> float:
    """Return a proved lower bound of the divergence on ``[a, b] x [-1/100, 1/100]`` inside the ball of radius 2.

    ``X^T X`` is diagonal there, so that the coordinates are independent normal, and the second has one law under both.
    """
    edge, height = 1.9999, arb("0.01")

    def share(law: RidgeStatistics, low: float, high: float) -> Ball:
        factor, mean = law.hessian[0, 0] / arb(sigma), law.moment[0, 0] / law.hessian[0, 0]
        return ndtr_ball((mean - arb(low)) * factor) - ndtr_ball((mean - arb(high)) * factor)

    def divergence(low: float, high: float) -> Ball:
        return share(pair[0], low, high) - arb(epsilon).exp() * share(pair[1], low, high)

    starts = [float(a) for a in np.linspace(-edge, edge, 80)[:-1]]
    candidates = [(a, edge) for a in starts] + [(-edge, -a) for a in starts]
    best = max(candidates, key=lambda ends: float(divergence(*ends).mid()))

    def evaluate() -> Ball:
        outside = 2 * ndtr_ball(-height * pair[0].hessian[1, 1] / arb(sigma))
        return divergence(*best) * (1 - outside)

    return max(0.0, enclose(evaluate, low=-4.0, high=1.0).low)


def _adassp_code(case: Case, *, factor: float = 1.0) -> Evidence:
    """Decide AdaSSP with ``factor`` times the noise of the code, on the exact law of its three releases."""
    epsilon, claim = case.number("epsilon"), _claim(case, Observer.TRANSCRIPT)
    profile = GaussianProfile(AsRunAdaSSP(epsilon).worst_profile().mu / factor)
    evidence = hockey_stick_evidence(profile, epsilon, claim.high, observer=Observer.TRANSCRIPT)
    return Evidence(claim, exact=evidence.exact, notes=evidence.notes)


def _one_delta(case: Case, *, largest: float = math.inf) -> Evidence:
    """Compare the delta of all runs with that of the captions, for data sets of up to ``largest`` records."""
    n = case.number("n")
    promised = min(CODE_DELTA, 1 / n**2)
    claim = Claim("delta of the runs", 0.0, promised, promised, in_domain=n <= largest)
    return Evidence(claim, exact=Estimate.proved(CODE_DELTA, CODE_DELTA, "read in the code"))


#: The pairs that show it: 100,000 records, whose tilt makes the coefficient along the target long.
MANY = 100_000
SSP = {"epsilon": 1.0, "n": 1_000, "delta": CODE_DELTA}
OBJPERT = {"epsilon": 1.0, "n": MANY, "t": 0.00061, "delta": CODE_DELTA}
OPS = {"epsilon": 1.0, "n": MANY, "t": 0.028, "delta": CODE_DELTA}
ADAOPS = {"epsilon": 1.0, "n": MANY, "t": 0.014, "delta": CODE_DELTA}
SIZES = {"epsilon": (0.1, 1.0), "n": (1, 100, MANY)}
BOTH_EPSILONS = {"epsilon": (0.1, 1.0), "n": (1_000, MANY)}
DERIVATION = "docs/derivations/wang2018_experiments.md"
_PROMISE = '"is" (epsilon, delta)"-DP at" epsilon = 0.1 "and" 1, quad delta = min{10^(-6), 1\\/n^2}'
_NOISE = '"noise" sqrt(log(4 times 10^6))\\/epsilon " on" X^T X + I "and" X^T y'
_TWICE = '"noise" 2 sqrt(log(4\\/delta))\\/epsilon " on" X^T X + I "and" X^T y'


def _at(numbers: Mapping[str, float], **others: float) -> dict[str, float]:
    return {**numbers, **others}


CODE = {
    "#code delta": Display(
        "the code's delta is that of the captions",
        Form(
            '10^(-6) <= min{10^(-6), 1\\/n^2} quad "for all" n',
            _one_delta,
            [smallest("one record above 1,000", {"n": 1_001})],
        ),
        Form(
            '10^(-6) <= min{10^(-6), 1\\/n^2} quad "for" n <= 1000',
            partial(_one_delta, largest=1_000),
            [refuting({"n": 1_001}), *over("numbers of records", {"n": (1, 500, 1_000)})],
        ),
        "The code runs everything at delta = 1e-6, whatever the number of records.",
        {"up to 1,001 records": Mutant(_one_delta, {"n": 1_001}, severity=0.002, largest=1_001)},
        f"{DERIVATION}, section 1",
    ),
    "#code SSP": Display(
        "SSP of the code keeps the promise of the tables",
        Form(
            f"{_NOISE} {_PROMISE}",
            _ssp_code,
            [
                smallest("1,000 records (1, 1) on the line, target (1, -1)", SSP),
                At("epsilon = 0.1", _at(SSP, epsilon=0.1)),
            ],
        ),
        Form(
            f"{_TWICE} {_PROMISE}",
            partial(_ssp_code, factor=2.0),
            [
                refuting(SSP),
                *over("both budgets, at the delta of the captions", {"epsilon": (0.1, 1.0), "n": (10, 1_000)}),
            ],
        ),
        "The noise is half of appendix C.1's; a matrix of noise that is not symmetric costs nothing.",
        {"1.5 times the noise": Mutant(_ssp_code, SSP, severity=0.02, factor=1.5)},
        f"{DERIVATION}, section 2",
    ),
    "#code ObjPert": Display(
        "ObjPert of the code keeps the promise of the tables",
        Form(
            '"half of the minimiser over" norm(phi) <= 2, quad sigma = 2 sqrt(4 log(2 times 10^6) + 2 epsilon)\\/epsilon^2, '
            f"quad lambda = 2\\/epsilon^2 quad {_PROMISE}",
            _objpert_code,
            [
                smallest("100,000 records in the plane, epsilon = 1", OBJPERT),
                At("epsilon = 0.1", _at(OBJPERT, epsilon=0.1)),
            ],
        ),
        Form(
            f'"with" sigma = 3 sqrt(4 log(2\\/delta) + 2 epsilon)\\/epsilon^2 quad {_PROMISE.partition(", quad")[0]}, quad delta = 10^(-6)',
            partial(_objpert_code, lipschitz=3.0),
            [refuting(OBJPERT), At("epsilon = 0.1", _at(OBJPERT, epsilon=0.1))],
        ),
        "The solver returns half of the minimiser over the ball of radius 2, where a record's gradient is as long as 3; the noise is made for 2. "
        "At epsilon = 0.1 the second division by epsilon makes up for it.",
        {"gradient 2.1": Mutant(_objpert_code, _at(OBJPERT, t=0.00066), severity=0.03, lipschitz=2.1)},
        f"{DERIVATION}, section 3",
    ),
    "#code OPS": Display(
        "OPS of the code keeps the promise of the tables, n public",
        Form(
            f"hat(theta) + gamma^(-1\\/2) (R^T)^(-1) z, quad H = R^T R = X^T X + (lambda + 1) I quad {_PROMISE}",
            _ops_code,
            [smallest("100,000 records in the plane", OPS), At("epsilon = 0.1", _at(OPS, epsilon=0.1, t=0.054))],
        ),
        Form(
            f'hat(theta) + gamma^(-1\\/2) R^(-1) z, quad gamma "the largest that W18-F, corrected, allows at" lambda + 1, quad {_PROMISE}',
            _ops_symmetric,
            [refuting(OPS), *over("both budgets, at the delta of the captions", SIZES)],
        ),
        "The covariance of the noise is that of the other triangular order, (R R^T)^(-1): it is small where H is large for other data. "
        "With H^(-1) the code's own gamma is still too large for few records.",
        {
            "the code's covariance": Mutant(_ops_code, OPS, corrected=True),
            "the code's gamma": Mutant(_ops_symmetric, {"epsilon": 1.0, "n": 0, "delta": CODE_DELTA}, corrected=False),
        },
        f"{DERIVATION}, section 4",
    ),
    "#code AdaOPS": Display(
        "AdaOPS of the code keeps the promise of the tables, n public",
        Form(
            '"Algorithm 1 with" hat(theta) + gamma^(-1\\/2) (R^T)^(-1) z, quad L = min{e^Delta, 1 + sqrt(2 sqrt(n)\\/(lambda + tilde(lambda)))} '
            f"quad {_PROMISE}",
            _adaops_code,
            [smallest("100,000 records in the plane", ADAOPS), At("epsilon = 0.1", _at(ADAOPS, epsilon=0.1, t=0.035))],
        ),
        Form(
            f'"Algorithm 1, corrected (W18-TH2i)", quad {_PROMISE}',
            _adaops_corrected,
            [refuting(ADAOPS), *over("both budgets, at the delta of the captions", BOTH_EPSILONS)],
        ),
        "The covariance of the noise is (R R^T)^(-1), and the Lipschitz constant is cut at a number that grows as the root of the root of n, where residuals grow as the root.",
        {"the code's covariance": Mutant(_adaops_code, _at(ADAOPS, n=1_000_000, t=0.002), corrected=True)},
        f"{DERIVATION}, section 5",
    ),
    "#code AdaSSP": Display(
        "AdaSSP of the code keeps the promise of the tables",
        Form(
            f'"noise" sqrt(log(6 times 10^6))\\/(epsilon\\/3) (Z + Z^T)\\/2 "on" X^T X + I {_PROMISE}, quad n <= 2.7 times 10^6',
            _adassp_code,
            over("numbers of records", {"epsilon": (0.1, 1.0), "n": (1_000, MANY, 2_700_000)}),
        ),
        mutants={
            "0.6 of the noise": Mutant(_adassp_code, {"epsilon": 1.0, "delta": CODE_DELTA}, severity=0.03, factor=0.6),
            "up to 3,000,000 records": Mutant(_adassp_code, {"epsilon": 1.0, "n": 3_000_000}, severity=0.09),
        },
    ),
}
