"""W19, Theorem 4.1: per-instance privacy of one-posterior sampling in linear and ridge regression.

The loss is a quadratic in one normal variable, so its law is known in both directions from the leverage ``mu`` and the
scaled residual ``a = sqrt(gamma) |y - x' theta_hat|``. The tail step of the proof drops a factor 2 under the root, and
the in-sample form (4.4) is not equal to (4.3) (docs/derivations/wang2019.md, Theorem 4.1).
"""

from __future__ import annotations

import math

from flint import arb, ctx

from audits import Budget, Estimate
from mechanisms.embedded import load
from mechanisms.neighbours import NeighbouringPair
from mechanisms.posterior_sampling import PosteriorSampling
from mechanisms.quadratic_profile import QuadraticProfile
from reports.row import Figure

from ..cases import adversarial, case, grid, mutant
from ..formal import FormalClaim, Version, data_evidence, numbers, version_name
from ..plots import loss_figure, profile_figure, roc_figure
from ..search import Axis, Point
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .tail_box import tail_box_evidence

ID = "W19-T4.1"
OUT, IN, EQUAL = f"{ID}#4.3", f"{ID}#4.4", f"{ID}#="
DELTAS = (1e-1, 1e-3, 1e-6, 1e-9, 1e-12)


def out_of_sample(p: Point, *, tail: float) -> float:
    """Return (4.3) with ``tail * log(2/delta)`` for the squared normal quantile: 1 as printed, 2 corrected."""
    mu, a, quantile2 = p["leverage"], p["residual"], tail * math.log(2.0 / p["delta"])
    centre = 0.5 * (-math.log1p(mu) + a * a * mu / (1.0 + mu))
    return abs(centre) + 0.5 * mu * quantile2 + math.sqrt(mu * quantile2) * a


def in_sample_printed(p: Point) -> float:
    """Return (4.4) as printed, in the in-sample leverage ``mu'`` and residual ``r'``; ``rest`` is ``1 - mu'``."""
    rest = 1.0 / (1.0 + p["leverage"])
    mu, r, log = p["leverage"] * rest, p["residual"] * rest, math.log(2.0 / p["delta"])
    centre = 0.5 * abs(-math.log(rest) - mu / rest * r * r)
    return centre + 0.5 * mu * log + math.sqrt(mu * log) * r


def in_sample_corrected(p: Point) -> float:
    """Return (4.3), corrected, written in ``mu' = mu/(1+mu)`` and ``r' = r/(1+mu)``."""
    rest = 1.0 / (1.0 + p["leverage"])
    mu, r, log = p["leverage"] * rest, p["residual"] * rest, math.log(2.0 / p["delta"])
    centre = 0.5 * abs(math.log(rest) + mu * (r / rest) ** 2)
    return centre + mu / rest * log + math.sqrt(2.0 * mu * log / rest) * r / rest


def _claim(**versions: Version) -> FormalClaim:
    return FormalClaim(
        profile=lambda p: QuadraticProfile(p["leverage"], p["residual"]),
        box={"leverage": Axis(1e-6, 1e4), "residual": Axis(1e-4, 1e4), "delta": Axis(1e-12, 0.999)},
        versions={name.replace("_", " "): version for name, version in versions.items()},
    )


CLAIMS = {
    OUT: _claim(
        printed=Version(lambda p: out_of_sample(p, tail=1.0)),
        corrected=Version(lambda p: out_of_sample(p, tail=2.0)),
        epsilon_cut_by_5_percent=Version(lambda p: 0.95 * out_of_sample(p, tail=2.0)),
        tail_factor_lower=Version(lambda p: out_of_sample(p, tail=1.6)),
        no_residual_term=Version(lambda p: out_of_sample(p | {"residual": 0.0}, tail=2.0)),
    ),
    IN: _claim(
        printed=Version(in_sample_printed),
        corrected=Version(in_sample_corrected),
        epsilon_cut_by_5_percent=Version(lambda p: 0.95 * in_sample_corrected(p)),
        printed_signs_with_both_tails_doubled=Version(
            lambda p: in_sample_printed(p | {"delta": p["delta"] ** 2 / 2.0})
        ),
    ),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case: the printed equality in ball arithmetic, the two bounds on the exact profile."""
    if case.part == EQUAL:
        return _equality(case)
    if case.params.get("what") == "box":
        return tail_box_evidence()
    claim = CLAIMS[case.part]
    if "data" not in case.params:
        return claim.check(case, budget)
    mechanism = PosteriorSampling(gamma=case.number("gamma"), lam=case.number("lam"))
    pair = NeighbouringPair.remove(load(case.text("data")), case.whole("record"))
    leverage, residual = mechanism.target(pair)
    point = {"leverage": leverage, "residual": abs(residual), "delta": case.number("delta")}
    epsilon = claim.versions[version_name(case)].epsilon(point)
    return data_evidence(mechanism, pair, epsilon, point["delta"], budget)


def _equality(case: Case) -> Evidence:
    """Enclose (4.4) - (4.3) in ball arithmetic, at exactly representable leverage and residual."""
    p = numbers(case)
    old, ctx.prec = ctx.prec, 128
    try:
        mu, a, log = arb(p["leverage"]), arb(p["residual"]), (2 / arb(p["delta"])).log()
        mu1, r1 = mu / (1 + mu), a / (1 + mu)
        factor = 1 if case.standing is Standing.PRINTED else 2
        left = abs(a * a * mu / (1 + mu) - (1 + mu).log()) / 2 + mu * factor * log / 2 + a * (factor * mu * log).sqrt()
        if version_name(case) == "printed":
            centre, leverage, scale = abs(-(1 - mu1).log() - mu1 / (1 - mu1) * r1**2), mu1, arb(1)
        elif version_name(case) == "corrected":
            centre, leverage, scale = abs((1 - mu1).log() + mu1 * r1**2 / (1 - mu1) ** 2), mu1 / (1 - mu1), 1 - mu1
        else:  # mutant: the sign of the logarithm as printed
            centre, leverage, scale = abs(-(1 - mu1).log() + mu1 * r1**2 / (1 - mu1) ** 2), mu1 / (1 - mu1), 1 - mu1
        right = centre / 2 + leverage * factor * log / 2 + r1 * (factor * mu1 * log).sqrt() / (scale * scale.sqrt())
        relative = (right - left) / left
        low, high = float(relative.lower()), float(relative.upper())
    finally:
        ctx.prec = old
    claim = Claim("relative difference of the two sides", -1e-12, 1e-12, 0.0, observer=Observer.OUTPUT)
    return Evidence(
        claim, exact=Estimate.proved(low, high, "ball arithmetic, 128 bits"), notes={"left": float(left.mid())}
    )


def _data(standing: Standing, name: str, record: int, gamma: float, *, quick: bool) -> Case:
    params: dict[str, Value] = {"data": name, "record": record, "gamma": gamma, "lam": 1.0, "delta": 1e-3}
    return case(OUT, standing, params, regime="real data", draws=(20_000, 200_000, 2_000_000), quick=quick)


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    axes = {"leverage": (1e-3, 0.1, 1.0, 30.0), "residual": (0.0, 0.3, 3.0, 30.0), "delta": DELTAS}
    smallest: dict[str, Value] = {"leverage": 1.0, "residual": 10.0, "delta": 1e-6}
    cases: list[Case] = []
    for part in (OUT, IN):
        cases += [
            case(
                part, printed, smallest, role=Role.COUNTEREXAMPLE, regime="X = [1], y = 0, lambda = 0, target (1, 10)"
            ),
            adversarial(part, printed),
            case(part, corrected, smallest, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
            *grid(part, corrected, axes, regime="leverage, residual and delta", quick_every=7),
            adversarial(part, corrected),
        ]
        cases += [
            mutant(part, name, severity=0.05 if "5" in name else None)
            for name in CLAIMS[part].versions
            if name not in ("printed", "corrected")
        ]
    cases.append(case(OUT, corrected, {"what": "box"}, regime="proved on a box, the tail as well", quick=False))
    for standing in (printed, corrected):
        cases += [
            _data(standing, "fair", 0, 1.0, quick=standing is corrected),
            _data(standing, "randhie", 7, 0.05, quick=False),
        ]
        cases += [
            case(EQUAL, standing, {"leverage": 1.0, "residual": 2.0, "delta": 0.125}, role=Role.COUNTEREXAMPLE),
            *grid(
                EQUAL,
                standing,
                {"leverage": (0.25, 1.0, 32.0), "residual": (0.0, 0.5, 8.0), "delta": (0.125, 2.0**-20)},
                regime="grid",
            ),
        ]
    cases.append(mutant(EQUAL, "sign of the logarithm", {"leverage": 1.0, "residual": 2.0, "delta": 0.125}))
    return tuple(cases)


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile with both claims, the drawn losses, and the attack, on a record of ``fair``."""
    delta = 1e-6
    mechanism = PosteriorSampling(gamma=1.0, lam=1.0)
    pair = NeighbouringPair.remove(load("fair"), 0)
    leverage, residual = mechanism.target(pair)
    point = {"leverage": leverage, "residual": abs(residual), "delta": delta}
    bounds = {name: CLAIMS[OUT].versions[name].epsilon(point) for name in ("printed", "corrected")}
    setting = f"Record 0 of fair removed, gamma = 1, lambda = 1 (leverage {leverage:.4f}, scaled residual {abs(residual):.3f})"
    profile = mechanism.profile(pair)
    return (
        profile_figure(
            "w19-t41-profile", "Exact privacy profile of one-posterior sampling", profile, delta, bounds, setting
        ),
        loss_figure("w19-t41-loss", "Privacy loss of one-posterior sampling", mechanism, pair, bounds, seed, setting),
        roc_figure("w19-t41-roc", "Likelihood-ratio attack on one record", mechanism, pair, profile, seed, setting),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="theorem",
    title="Per-instance privacy of one-posterior sampling",
    locator="Theorem 4.1, equations (4.3) and (4.4)",
    domain=(
        "X^T X + lambda I invertible, gamma > 0, any data set and target, every delta > 0; both directions; "
        "gamma and lambda public. Decided for leverage in [1e-6, 1e4], scaled residual in [1e-4, 1e4] (and 0), "
        "delta in [1e-12, 0.999]; proved for leverage and scaled residual in [1/4, 4], delta in [0.0019, 0.99]"
    ),
    summary=(
        "The printed bound understates epsilon: the normal quantile behind it lacks a factor 2 under the root, so the "
        "real delta is of the order of the square root of the promised one."
    ),
    parts=(
        Part(
            OUT,
            "the bound in out-of-sample quantities, (4.3)",
            printed=Formula(
                "epsilon <= 1/2 abs(-log(1+mu) + (gamma mu)/(1+mu) (y - x^T hat(theta))^2) + mu/2 log(2/delta)"
                " + sqrt(gamma mu log(2/delta)) abs(y - x^T hat(theta))",
                "epsilon <= 1/2 |-log(1+mu) + gamma mu/(1+mu) (y - x'theta)^2| + mu/2 log(2/delta)"
                " + sqrt(gamma mu log(2/delta)) |y - x'theta|",
            ),
            corrected=Formula(
                "epsilon <= 1/2 abs(-log(1+mu) + (gamma mu)/(1+mu) (y - x^T hat(theta))^2) + mu log(2/delta)"
                " + sqrt(2 gamma mu log(2/delta)) abs(y - x^T hat(theta))",
                "epsilon <= 1/2 |-log(1+mu) + gamma mu/(1+mu) (y - x'theta)^2| + mu log(2/delta)"
                " + sqrt(2 gamma mu log(2/delta)) |y - x'theta|",
            ),
            what_went_wrong=(
                "The tail step uses P(|Z| > sqrt(log(2/delta))) <= delta; the normal tail gives this for "
                "sqrt(2 log(2/delta))."
            ),
            derivation="docs/derivations/wang2019.md, Theorem 4.1",
        ),
        Part(
            IN,
            "the bound in in-sample quantities, (4.4)",
            printed=Formula(
                "epsilon <= 1/2 abs(-log(1-mu') - (gamma mu')/(1-mu') (y - x^T hat(theta)')^2) + mu'/2 log(2/delta)"
                " + sqrt(gamma mu' log(2/delta)) abs(y - x^T hat(theta)')",
                "epsilon <= 1/2 |-log(1-mu') - gamma mu'/(1-mu') (y - x'theta')^2| + mu'/2 log(2/delta)"
                " + sqrt(gamma mu' log(2/delta)) |y - x'theta'|",
            ),
            corrected=Formula(
                "epsilon <= 1/2 abs(log(1-mu') + (gamma mu')/(1-mu')^2 (y - x^T hat(theta)')^2)"
                " + mu'/(1-mu') log(2/delta) + sqrt(2 gamma mu' log(2/delta))/(1-mu')^(3/2) abs(y - x^T hat(theta)')",
                "epsilon <= 1/2 |log(1-mu') + gamma mu'/(1-mu')^2 (y - x'theta')^2| + mu'/(1-mu') log(2/delta)"
                " + sqrt(2 gamma mu' log(2/delta))/(1-mu')^(3/2) |y - x'theta'|",
            ),
            what_went_wrong=(
                "The same tail step, the sign of the logarithm, and in-sample leverage and residual where the "
                "out-of-sample ones stand in (4.3)."
            ),
            derivation="docs/derivations/wang2019.md, Theorem 4.1",
        ),
        Part(
            EQUAL,
            "the equality of (4.3) and (4.4)",
            printed=Formula(
                '"right side of (4.3)" = "right side of (4.4)"', "right side of (4.3) = right side of (4.4)"
            ),
            corrected=Formula(
                '"right side of corrected (4.3)" = "right side of corrected (4.4)"',
                "right side of corrected (4.3) = right side of corrected (4.4)",
            ),
            what_went_wrong="With mu = mu'/(1-mu') and r = r'/(1-mu') the two printed sides differ already in the first term.",
            derivation="docs/derivations/wang2019.md, Theorem 4.1",
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
