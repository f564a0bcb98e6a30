"""W19, Theorem 4.1: per-instance privacy of one-posterior sampling in linear and ridge regression.

The loss is a quadratic in one normal variable, so its law is known in both directions from the leverage ``mu`` and the
scaled residual ``a = sqrt(gamma) |y - x' theta_hat|``. The tail step of the proof drops a factor 2 under the root, and
the in-sample form (4.4) is not equal to (4.3) (docs/derivations/wang2019.md, Theorem 4.1).
"""

import math
from dataclasses import replace
from functools import partial

from flint import arb, ctx

from audits import Budget, Estimate
from mechanisms.data.embedded import load
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.laws.quadratic_profile import QuadraticProfile
from mechanisms.linear.posterior_sampling import PosteriorSampling
from reports.row import Figure

from ...kernel.box_search import Axis, Point
from ...kernel.declare import At, Display, Form, Mutant, over, refuting, search, smallest, statement
from ...kernel.formal import FormalClaim, PairAtPoint, on_data, pair_of
from ...kernel.statement_plots import loss_figure, profile_figure, roc_figure
from ..kit import Case, Claim, Evidence, Measure, Observer
from .shared.tail_box import tail_box_evidence


def out_of_sample(p: Point, *, tail: float = 2.0) -> float:
    """Return (4.3) with ``tail * log(2/delta)`` for the squared normal quantile: 1 as printed, 2 corrected."""
    mu, a, quantile2 = p["leverage"], p["residual"], tail * math.log(2.0 / p["delta"])
    centre = 0.5 * (-math.log1p(mu) + a * a * mu / (1.0 + mu))
    return abs(centre) + 0.5 * mu * quantile2 + math.sqrt(mu * quantile2) * a


def _in_sample_printed(p: Point) -> float:
    """Return (4.4) as printed, in the in-sample leverage ``mu'`` and residual ``r'``; ``rest`` is ``1 - mu'``."""
    rest = 1.0 / (1.0 + p["leverage"])
    mu, r, log = p["leverage"] * rest, p["residual"] * rest, math.log(2.0 / p["delta"])
    centre = 0.5 * abs(-math.log(rest) - mu / rest * r * r)
    return centre + 0.5 * mu * log + math.sqrt(mu * log) * r


def _in_sample_corrected(p: Point) -> float:
    """Return (4.3), corrected, written in ``mu' = mu/(1+mu)`` and ``r' = r/(1+mu)``."""
    rest = 1.0 / (1.0 + p["leverage"])
    mu, r, log = p["leverage"] * rest, p["residual"] * rest, math.log(2.0 / p["delta"])
    centre = 0.5 * abs(math.log(rest) + mu * (r / rest) ** 2)
    return centre + mu / rest * log + math.sqrt(2.0 * mu * log / rest) * r / rest


def on_record(case: Case) -> PairAtPoint:
    """Return posterior sampling on a pair of real data."""
    mechanism, pair = PosteriorSampling(gamma=case.number("gamma"), lam=case.number("lam")), pair_of(case)
    leverage, residual = mechanism.target(pair)
    return PairAtPoint(
        mechanism, pair, {"leverage": leverage, "residual": abs(residual), "delta": case.number("delta")}
    )


CLAIM = FormalClaim(
    profile=lambda p: QuadraticProfile(p["leverage"], p["residual"]),
    box={"leverage": Axis(1e-6, 1e4), "residual": Axis(1e-4, 1e4), "delta": Axis(1e-12, 0.999)},
    instance=on_record,
)


def _corrected(case: Case, budget: Budget) -> Evidence:
    """Decide the corrected (4.3), or prove on a box that its tail is at most delta."""
    return tail_box_evidence() if case.params.get("what") == "box" else CLAIM.of(out_of_sample)(case, budget)


def _equality(case: Case, *, printed: bool = False, sign: int = 1) -> Evidence:
    """Enclose (4.4) over (4.3), minus 1, both as printed or corrected, at exactly representable leverage and residual.

    ``sign`` is that of the logarithm in the corrected (4.4).
    """
    with ctx.workprec(128):
        mu, a = arb(case.number("leverage")), arb(case.number("residual"))
        log, tail = (2 / arb(case.number("delta"))).log(), 1 if printed else 2
        inside, r = mu / (1 + mu), a / (1 + mu)
        left = abs(a * a * mu / (1 + mu) - (1 + mu).log()) / 2 + mu * tail * log / 2 + a * (tail * mu * log).sqrt()
        if printed:
            leverage, scale = inside, arb(1)
            centre = abs(-(1 - inside).log() - inside / (1 - inside) * r**2)
        else:
            leverage, scale = inside / (1 - inside), 1 - inside
            centre = abs(sign * (1 - inside).log() + inside * r**2 / (1 - inside) ** 2)
        right = centre / 2 + leverage * tail * log / 2 + r * (tail * inside * log).sqrt() / (scale * scale.sqrt())
        relative = (right - left) / left
        low, high, side = float(relative.lower()), float(relative.upper()), float(left.mid())
    words = "relative difference of the two sides"
    claim = Claim(words, -1e-12, 1e-12, 0.0, observer=Observer.OUTPUT, measure=Measure.IDENTITY)
    return Evidence(claim, exact=Estimate.proved(low, high, "ball arithmetic, 128 bits"), notes={"left": side})


SMALLEST = smallest("X = [1], y = 0, lambda = 0, target (1, 10)", {"leverage": 1.0, "residual": 10.0, "delta": 1e-6})
AT_WORK = At("where it is used", {"leverage": 0.01, "residual": 1.0, "delta": 1e-6})
AXES = {"leverage": (1e-3, 0.1, 1.0, 30.0), "residual": (0.0, 0.3, 3.0, 30.0), "delta": (1e-1, 1e-3, 1e-6, 1e-9, 1e-12)}
ON_DATA = [
    on_data("fair", 0, {"gamma": 1.0, "lam": 1.0, "delta": 1e-3}),
    on_data("randhie", 7, {"gamma": 0.05, "lam": 1.0, "delta": 1e-3}),
]
CORRECTED = [refuting(SMALLEST.params), *over("leverage, residual and delta", AXES, quick_every=7), search()]
EQUAL = {"leverage": 1.0, "residual": 2.0, "delta": 0.125}
EQUALITIES = [
    smallest("", EQUAL),
    *over("grid", {"leverage": (0.25, 1.0, 32.0), "residual": (0.0, 0.5, 8.0), "delta": (0.125, 2.0**-20)}),
]


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile with both claims, the drawn losses, and the attack, on a record of ``fair``."""
    delta = 1e-6
    mechanism = PosteriorSampling(gamma=1.0, lam=1.0)
    pair = NeighbouringPair.remove(load("fair"), 0)
    leverage, residual = mechanism.target(pair)
    point = {"leverage": leverage, "residual": abs(residual), "delta": delta}
    bounds = {"printed": out_of_sample(point, tail=1.0), "corrected": out_of_sample(point)}
    setting = f"Record 0 of fair removed, gamma = 1, lambda = 1 (leverage {leverage:.4f}, scaled residual {abs(residual):.3f})"
    profile = mechanism.profile(pair)
    return (
        profile_figure(
            "w19-t41-profile", "Exact privacy profile of one-posterior sampling", profile, delta, bounds, setting
        ),
        loss_figure("w19-t41-loss", "Privacy loss of one-posterior sampling", mechanism, pair, bounds, seed, setting),
        roc_figure("w19-t41-roc", "Likelihood-ratio attack on one record", mechanism, pair, profile, seed, setting),
    )


OUT = (
    "epsilon <= 1/2 abs(-log(1+mu) + (gamma mu)/(1+mu) (y - x^T hat(theta))^2) + {leverage} log(2/delta)"
    " + sqrt({two}gamma mu log(2/delta)) abs(y - x^T hat(theta))"
)

STATEMENT = statement(
    "W19-T4.1",
    domain="X^T X + lambda I invertible, gamma > 0, any data set and target, every delta > 0; both directions; "
    "gamma and lambda public. Decided for leverage in [1e-6, 1e4], scaled residual in [1e-4, 1e4] (and 0), "
    "delta in [1e-12, 0.999]; proved for leverage and scaled residual in [1/4, 4], delta in [0.0019, 0.99]",
    summary="The printed bounds understate epsilon: the normal quantile behind them lacks a factor 2 under the root, so that with (4.3) the real "
    "delta exceeds the promised one, at worst by the order of its square root; (4.4) has a wrong sign besides, and can fail altogether.",
    derivation="docs/derivations/wang2019.md, Theorem 4.1",
    displays={
        "#4.3": Display(
            "the bound in out-of-sample quantities, (4.3)",
            printed=Form(
                OUT.format(leverage="mu/2", two=""),
                CLAIM.of(partial(out_of_sample, tail=1.0)),
                [SMALLEST, AT_WORK, search(), *ON_DATA],
            ),
            corrected=Form(
                OUT.format(leverage="mu", two="2 "),
                _corrected,
                [
                    *CORRECTED,
                    At("proved on a box, the tail as well", {"what": "box"}, quick=False),
                    replace(ON_DATA[0], quick=True),
                    ON_DATA[1],
                ],
            ),
            wrong="The tail step uses P(|Z| > sqrt(log(2/delta))) <= delta; the normal tail gives this for "
            "sqrt(2 log(2/delta)).",
            mutants={
                "epsilon cut by 5 percent": Mutant(CLAIM.of(lambda p: 0.95 * out_of_sample(p)), severity=0.05),
                "tail factor lower": Mutant(CLAIM.of(partial(out_of_sample, tail=1.6))),
                "no residual term": Mutant(CLAIM.of(lambda p: out_of_sample(p | {"residual": 0.0}))),
            },
        ),
        "#4.4": Display(
            "the bound in in-sample quantities, (4.4)",
            printed=Form(
                "epsilon <= 1/2 abs(-log(1-mu') - (gamma mu')/(1-mu') (y - x^T hat(theta)')^2) + mu'/2 log(2/delta)"
                " + sqrt(gamma mu' log(2/delta)) abs(y - x^T hat(theta)')",
                CLAIM.of(_in_sample_printed),
                [SMALLEST, AT_WORK, search()],
            ),
            corrected=Form(
                "epsilon <= 1/2 abs(log(1-mu') + (gamma mu')/(1-mu')^2 (y - x^T hat(theta)')^2)"
                " + mu'/(1-mu') log(2/delta) + sqrt(2 gamma mu' log(2/delta))/(1-mu')^(3/2) abs(y - x^T hat(theta)')",
                CLAIM.of(_in_sample_corrected),
                CORRECTED,
            ),
            wrong="The same tail step, the sign of the logarithm, and in-sample leverage and residual where the "
            "out-of-sample ones stand in (4.3).",
            mutants={
                "epsilon cut by 5 percent": Mutant(CLAIM.of(lambda p: 0.95 * _in_sample_corrected(p)), severity=0.05),
                "printed signs with both tails doubled": Mutant(
                    CLAIM.of(lambda p: _in_sample_printed(p | {"delta": p["delta"] ** 2 / 2.0}))
                ),
            },
        ),
        "#=": Display(
            "the equality of (4.3) and (4.4)",
            printed=Form('"right side of (4.3)" = "right side of (4.4)"', partial(_equality, printed=True), EQUALITIES),
            corrected=Form('"right side of corrected (4.3)" = "right side of corrected (4.4)"', _equality, EQUALITIES),
            wrong="With mu = mu'/(1-mu') and r = r'/(1-mu') the two printed sides differ already in the first term.",
            mutants={"sign of the logarithm": Mutant(_equality, EQUAL, sign=-1)},
        ),
    },
    figures=figures,
)
