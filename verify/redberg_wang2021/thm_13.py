"""RW21, Theorem 13: accuracy of the adaptive privacy report, and the two chains of its proof.

The theorem is decided by simulation of everything that is released; the ends of the chains p1 and p2 are inequalities
in ``t = tau sigma_3/lambda_min`` and ``v = beta/lambda_min``, both in (0, 1/2], decided in rational arithmetic and on boxes.
Derivation of the corrected forms: docs/derivations/redberg_wang2021.md, Theorem 13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from audits import Budget, Estimate
from audits.coverage import audit_coverage

from ..boxes import box_evidence, prove_nonnegative
from ..cases import case, mutant
from ..evidence import coverage_evidence
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .adaptive_events import FORMS, BoolArray, Draws, any_lambda, bound, draw, noise_norm, sqrt_log
from .report_events import Setting

ID = "RW21-T13"
REPORT, ADDED, REMOVED = f"{ID}#report", f"{ID}.p1", f"{ID}.p2"
#: Name of the report's form, and the upper side, by version.
UPPER: dict[str, tuple[str, float, bool]] = {
    # form, multiples of the corrected constant, printed upper side
    "printed": ("printed", 1.0, True),
    "corrected": ("corrected", 1.0, False),
    "one-sided bound": ("printed", 1.0, False),
    "absolute value of the sum": ("corrected", 1.0, True),
    "constant 0": ("corrected", 0.0, False),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of the theorem or of a chain."""
    if case.part != REPORT:
        return _box(case) if "box" in case.params else _point(case)
    here, sigma4 = any_lambda(case), case.number("sigma_4")
    form, multiple, signed = UPPER[version_name(case)]

    def events(n_draws: int, rng: np.random.Generator) -> BoolArray:
        draws = draw(here, sigma4, n_draws, rng)
        found = bound(here, draws, FORMS[form])
        upper = _printed_upper(here, draws) if signed else _corrected_upper(here, draws, multiple)
        required = _required(here, sigma4, corrected=version_name(case) != "printed")
        with np.errstate(invalid="ignore"):
            both = (np.abs(draws.truth.total) <= found) & (found <= upper * (1.0 + 1e-12))
        return np.asarray(both | (draws.smallest < required * (1.0 - 1e-12)))  # nothing is claimed below the hypothesis

    return coverage_evidence(
        "probability that both inequalities hold",
        1.0 - 3.0 * here.scales.failure_prob,
        sampled=audit_coverage(events, budget).joint,
        relation=here.pair.relation,
        conditioned_on="D and z fixed",
        notes={"smallest eigenvalue required": _required(here, sigma4, corrected=version_name(case) != "printed")},
    )


def _required(here: Setting, sigma4: float, *, corrected: bool) -> float:
    """Return the hypothesis on ``lambda_min(H)``."""
    beta, noise = here.scales.loss.beta, noise_norm(here)
    return (
        max(4.0 * beta, 2.0 * noise, 4.0 * sigma4 * here.scales.quantile) if corrected else max(2.0 * beta, 2.0 * noise)
    )


def _printed_upper(here: Setting, draws: Draws) -> Any:
    """Return ``(1 + C/lambda_min) epsilon_1 + |f'| ||x|| sqrt(2 log(2/rho))/sigma_2`` at the largest C allowed."""
    assert here.scales.sigma2 is not None
    constant = 4.0 * noise_norm(here) + 2.0 * here.scales.loss.beta
    extra = draws.own.gradient_norm * sqrt_log(here.scales.failure_prob) / here.scales.sigma2
    return (1.0 + constant / draws.smallest) * np.abs(draws.truth.total) + extra


def _corrected_upper(here: Setting, draws: Draws, multiple: float) -> Any:
    """Return ``(1 + C/lambda_min) S + 2 sigma_2 |f'| ||x|| z/sigma^2`` with ``C = 8 tau sigma_3 + 18 beta``."""
    scales = here.scales
    assert scales.sigma2 is not None
    constant = multiple * (8.0 * noise_norm(here) + 18.0 * scales.loss.beta)
    extra = 2.0 * scales.sigma2 * draws.own.gradient_norm * scales.quantile / scales.sigma**2
    return (1.0 + constant / draws.smallest) * draws.absolute_sum + extra


#: Constants C/lambda_min = c t + d v of each version of a chain, t = tau sigma_3/lambda_min, v = beta/lambda_min.
CONSTANTS: dict[tuple[str, str], tuple[Fraction, Fraction]] = {
    (ADDED, "printed"): (Fraction(4), Fraction(2)),
    (ADDED, "corrected"): (Fraction(4), Fraction(3)),
    (ADDED, "2.7 beta"): (Fraction(4), Fraction(27, 10)),
    (REMOVED, "printed"): (Fraction(4), Fraction(2)),
    (REMOVED, "corrected"): (Fraction(4), Fraction(6)),
    (REMOVED, "5.5 beta"): (Fraction(4), Fraction(11, 2)),
}


def _slack(part: str, constants: tuple[Any, Any], t: Any, v: Any) -> Any:
    """Return ``1 + C/lambda_min`` minus the chain's last but one member, at lambda_hat = lambda_min/2."""
    left = (1 + 4 * t) * (1 + v) if part == ADDED else (1 + 4 * t) / (1 - v)
    return 1 + constants[0] * t + constants[1] * v - left


def _point(case: Case) -> Evidence:
    """Decide the end of a chain, or the printed equality inside p2, at a rational point."""
    t, v = Fraction(case.text("t")), Fraction(case.text("v"))
    if case.params.get("step") == "equality":  # (1 + u)/(1 - v) = 1 + u + v/(1 - v), u = 2 tau sigma_3/lambda_hat = 4 t
        u = 4 * t
        corrected = v * (1 + u) / (1 - v) if version_name(case) == "corrected" else v / (1 - v)
        gap = float((1 + u) / (1 - v) - (1 + u + corrected))
        claim = Claim("left side minus right side of the equality", 0.0, 0.0, 0.0, observer=Observer.OUTPUT)
        return Evidence(claim, exact=Estimate.proved(gap, gap, "rational arithmetic"))
    slack = float(_slack(case.part, CONSTANTS[case.part, version_name(case)], t, v))
    claim = Claim("right end of the chain minus left", 0.0, float("inf"), 0.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(slack, slack, "rational arithmetic"))


#: Steps of the chains in one or two variables: a = f'' mu in (0, 1/2], the ratio a_hat/a in [1, 3].
STEPS: dict[str, tuple[Callable[[Mapping[str, Any]], Any], dict[str, Axis]]] = {
    "a <= (1 + a) log(1 + a)": (
        lambda p: ((1 + p["a"]) * (1 + p["a"]).log() - p["a"]) / p["a"] ** 2,
        {"a": Axis(1e-3, 0.5)},
    ),
    "-log(1 - a) <= a/(1 - a)": (
        lambda p: (p["a"] / (1 - p["a"]) + (1 - p["a"]).log()) / p["a"] ** 2,
        {"a": Axis(1e-3, 0.5)},
    ),
    "a <= -log(1 - a)": (lambda p: (-(1 - p["a"]).log() - p["a"]) / p["a"] ** 2, {"a": Axis(1e-3, 0.5)}),
}
#: The corner t = v = 1/2, where equality holds, is left out.
END_BOX = {"t": Axis(0.0, 0.499, log=False), "v": Axis(1e-6, 0.5)}


def _box(case: Case) -> Evidence:
    """Prove a step of a chain on its box; the end of a chain after division by v."""
    if case.text("box") in STEPS:
        function, box = STEPS[case.text("box")]
        return box_evidence(case.text("box"), prove_nonnegative(function, box), box)
    c, d = ((arb(q.numerator) / arb(q.denominator)) for q in CONSTANTS[case.part, version_name(case)])

    def end(p: Mapping[str, Any]) -> Any:
        # both left sides are 1 + 4 t at v = 0, and c = 4: divided by v
        t, v = p["t"], p["v"]
        return d - (1 + c * t) if case.part == ADDED else d - (1 + c * t) / (1 - v)

    return box_evidence("end of the chain, over v", prove_nonnegative(end, END_BOX, smooth=True), END_BOX)


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    draws = (4_000, 10_000, 100_000)
    tiny: dict[str, Value] = {"data": "tiny", "target": "outside", "loss": "logistic", "rho": 0.01}
    lower = tiny | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 100.0}
    upper = tiny | {"sigma": 10.0, "sigma_2": 100.0, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 1e4}
    exact = tiny | {"loss": "squared", "sigma": 3.0, "sigma_2": 0.01, "sigma_3": 0.01, "sigma_4": 0.01, "lam": 4.0}
    grid_of = [
        tiny
        | {"loss": loss, "target": target, "rho": rho, "sigma": 4.0, "sigma_2": s2, "sigma_3": s3, "sigma_4": s4}
        | {"lam": lam}
        for loss, lam in (("logistic", 1.2), ("squared", 4.5), ("squared", 40.0))
        for target in ("outside", "inside")
        for rho, s3, s4 in ((0.1, 0.1, 0.1), (0.02, 0.15, 0.01))
        for s2 in (0.4, 30.0)
    ]
    real: dict[str, Value] = {"data": "anes96", "record": 3, "loss": "logistic", "rho": 0.1, "lam": 4.0}
    real |= {"sigma": 4.0, "sigma_2": 1.0, "sigma_3": 0.3, "sigma_4": 0.3}
    cases = [
        case(REPORT, printed, lower, role=Role.COUNTEREXAMPLE, regime="lower side: sigma_2 = sigma/10", draws=draws),
        case(REPORT, printed, upper, role=Role.COUNTEREXAMPLE, regime="upper side: cancellation", draws=draws),
        *(
            case(REPORT, corrected, p, regime="what refutes the printed form", draws=draws, quick=i < 2)
            for i, p in enumerate((lower, upper, exact))
        ),
        *(
            case(REPORT, corrected, p, regime="one dimension", draws=draws, quick=i % 11 == 1)
            for i, p in enumerate(grid_of)
        ),
        *(
            case(REPORT, corrected, real | {"target": t}, regime="real data", draws=(200, 400, 20_000), quick=False)
            for t in ("inside", "outside")
        ),
        mutant(REPORT, "one-sided bound", lower, draws=draws),
        mutant(REPORT, "absolute value of the sum", upper, draws=draws),
        mutant(REPORT, "constant 0", exact, draws=draws),
    ]
    corner: dict[str, Value] = {"t": "1/2", "v": "1/2"}  # tau sigma_3 = beta = 1, lambda_min = 2
    points: list[dict[str, Value]] = [
        {"t": t, "v": v} for t in ("1/1000", "1/4", "1/2") for v in ("1/1000", "1/4", "1/2")
    ]
    for part in (ADDED, REMOVED):
        cases += [
            case(part, printed, corner, role=Role.COUNTEREXAMPLE, regime="tau sigma_3 = beta = 1, lambda_min = 2"),
            *(case(part, corrected, p, regime="rational points") for p in points),
            case(part, corrected, {"box": "end"}, regime="proved on the box"),
        ]
    for standing in (printed, corrected):
        inside: dict[str, Value] = {"t": "1/4", "v": "1/4", "step": "equality"}
        cases.append(case(REMOVED, standing, inside, regime="the printed equality"))
    cases += [case(ADDED, corrected, {"box": next(iter(STEPS))}, regime="proved on the box")]
    cases += [case(REMOVED, corrected, {"box": step}, regime="proved on the box") for step in list(STEPS)[1:]]
    cases += [
        mutant(ADDED, "2.7 beta", corner, severity=0.1),
        mutant(REMOVED, "5.5 beta", corner, severity=0.09),
    ]
    return tuple(cases)


_CHAIN = 'tau sigma_3)/lambda_"min"'

STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="theorem",
    title="Accuracy of the adaptive privacy report",
    locator="Supplement C.1, Theorem 13 and its proof",
    domain=(
        "Algorithm 4, lambda_min(H) >= max{2 beta, 2 tau sigma_3}, generalised linear loss, fixed z, add or remove one record. "
        "Decided for rho in [0.01, 0.1], lambda_min from 1 to 10,000; nothing is claimed at outputs that miss the hypothesis"
    ),
    summary=(
        "Both inequalities fail: the lower one because Algorithm 4 bounds the inner product on one side only, the upper one "
        "because the terms of the loss may cancel. The constants of both chains are too small where lambda_min is near its "
        "lower limit, and the noise of the released eigenvalue is missing from the hypothesis."
    ),
    parts=(
        Part(
            REPORT,
            "accuracy, with probability 1 - 3 rho",
            printed=Formula(
                'epsilon_1 <= overline(epsilon_1^P) <= (1 + C/lambda_"min") epsilon_1 + (abs(f\'(dot)) norm(x))/sigma_2'
                " sqrt(2 log(2/rho)), quad 0 < C <= 4 tau sigma_3 + 2 beta",
                "epsilon_1 <= epsilon1_bar <= (1 + C/lambda_min) epsilon_1 + |f'| ||x|| sqrt(2 log(2/rho))/sigma_2, "
                "0 < C <= 4 tau sigma_3 + 2 beta",
            ),
            corrected=Formula(
                'epsilon_1 <= overline(epsilon_1^P) <= (1 + C/lambda_"min") S + (2 sigma_2 abs(f\'(dot)) norm(x)'
                " Phi^(-1)(1 - rho/2))/sigma^2, quad C = 8 tau sigma_3 + 18 beta,"
                ' quad lambda_"min" >= max{4 beta, 2 tau sigma_3, 4 sigma_4 Phi^(-1)(1 - rho/2)}',
                "epsilon_1 <= epsilon1_bar <= (1 + C/lambda_min) S + 2 sigma_2 |f'| ||x|| z/sigma^2 with S the sum of the "
                "absolute terms, z the normal quantile at 1 - rho/2, C = 8 tau sigma_3 + 18 beta, g_bar as corrected in "
                "Algorithm 4, lambda_min >= max(4 beta, 2 tau sigma_3, 4 sigma_4 z)",
            ),
            what_went_wrong=(
                "An upper bound on a signed quantity is used as a bound on its size; the loss is an absolute value of terms that "
                "may cancel, while the proof bounds each term; sigma_4 is forgotten. The corrected constant is loose: for large "
                "lambda_min, 2 tau sigma_3 + beta would do to first order."
            ),
            derivation="docs/derivations/redberg_wang2021.md, Theorem 13",
        ),
        Part(
            ADDED,
            "chain for an added record",
            printed=Formula(
                "(1 + (4 " + _CHAIN + ') (1 + beta/lambda_"min") <= 1 + (4 tau sigma_3 + 2 beta)/lambda_"min"',
                "(1 + 4 tau sigma_3/lambda_min)(1 + beta/lambda_min) <= 1 + (4 tau sigma_3 + 2 beta)/lambda_min",
            ),
            corrected=Formula(
                "(1 + (4 " + _CHAIN + ') (1 + beta/lambda_"min") <= 1 + (4 tau sigma_3 + 3 beta)/lambda_"min"',
                "(1 + 4 tau sigma_3/lambda_min)(1 + beta/lambda_min) <= 1 + (4 tau sigma_3 + 3 beta)/lambda_min",
            ),
            what_went_wrong=(
                "The product of the two fractions is dropped; it is up to 2 beta/lambda_min, as lambda_min >= 2 tau sigma_3 only."
            ),
            derivation="docs/derivations/redberg_wang2021.md, Theorem 13",
        ),
        Part(
            REMOVED,
            "chain for a removed record",
            printed=Formula(
                '(1 + u)/(1 - v) = 1 + u + v/(1 - v) <= 1 + (4 tau sigma_3 + 2 beta)/lambda_"min", quad'
                ' u = (2 tau sigma_3)/hat(lambda)^P_"min", quad v = beta/lambda_"min"',
                "(1 + u)/(1 - v) = 1 + u + v/(1 - v) <= 1 + (4 tau sigma_3 + 2 beta)/lambda_min, "
                "u = 2 tau sigma_3/lambda_hat, v = beta/lambda_min",
            ),
            corrected=Formula(
                '(1 + u)/(1 - v) = 1 + u + (v (1 + u))/(1 - v) <= 1 + (4 tau sigma_3 + 6 beta)/lambda_"min"',
                "(1 + u)/(1 - v) = 1 + u + v (1 + u)/(1 - v) <= 1 + (4 tau sigma_3 + 6 beta)/lambda_min",
            ),
            what_went_wrong=(
                "The equality lacks the term u v/(1 - v), and the constant with it. The chain also starts from -log(1 - a) where "
                "the report has -log(1 - a_hat)."
            ),
            derivation="docs/derivations/redberg_wang2021.md, Theorem 13",
        ),
    ),
    cases=_cases(),
    check=check,
)
