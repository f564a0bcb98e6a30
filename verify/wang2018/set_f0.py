"""W18, appendix F: the rule that calibrates one-posterior sampling.

The inequality is printed the wrong way round; turned, it is Remark 11 with its missing factor 2. The ridge from which "some gamma
reaches any (epsilon, delta)" is too small too: a target with residual 0 is there at every gamma
(docs/derivations/wang2018_appendix_ef.md, section 4).
"""

from __future__ import annotations

import math

from audits import Budget
from audits.worst_case import adversarial_pairs
from mechanisms.ops_calibrations import PublishedOPSCalibration
from mechanisms.posterior_sampling import PosteriorSampling
from mechanisms.profiles import QuadraticProfile

from ..cases import adversarial, case, grid, mutant
from ..evidence import hockey_stick_evidence
from ..formal import FormalClaim, Version, version_name
from ..search import Axis, excess
from ..statement import Case, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .rem_11 import epsilon

ID = "W18-F0"
RULE, REACH = f"{ID}#rule", f"{ID}#reach"
DELTAS = (1e-1, 1e-3, 1e-6, 1e-12)

CLAIMS = {
    # no data, one target (B, Y), d = 1: leverage B^2/lambda and residual Y, both attained
    RULE: FormalClaim(
        profile=lambda p: QuadraticProfile(p["leverage"], p["residual"]),
        box={"leverage": Axis(1e-6, 1e4), "residual": Axis(1e-4, 1e4), "delta": Axis(1e-12, 0.999)},
        versions={
            "printed": Version(lambda p: 0.01 * epsilon(p, tail=1.0)),  # any epsilon below the right side is allowed
            "corrected": Version(lambda p: epsilon(p, tail=2.0)),
            "only turned round": Version(lambda p: epsilon(p, tail=1.0)),
            "epsilon cut by 10 %": Version(lambda p: 0.9 * epsilon(p, tail=2.0)),
        },
    ),
    # the same with the target (B, 0), whose residual is 0 whatever gamma is; epsilon at the least ridge that is allowed
    REACH: FormalClaim(
        profile=lambda p: QuadraticProfile(p["leverage"], 0.0),
        box={"leverage": Axis(1e-6, 1e4), "delta": Axis(1e-12, 0.999)},
        versions={
            "printed": Version(lambda p: (1.0 + math.log(2.0 / p["delta"])) * p["leverage"] / 2.0),
            "corrected": Version(lambda p: (1.0 + 2.0 * math.log(2.0 / p["delta"])) * p["leverage"] / 2.0),
            "factor 1.7 of the logarithm": Version(lambda p: (1 + 1.7 * math.log(2 / p["delta"])) * p["leverage"] / 2),
        },
    ),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case: no data, or the worst of structured pairs with n public (records of the smaller set)."""
    if "n" not in case.params:
        return CLAIMS[case.part].check(case, budget)
    n, dim, gamma, lam = case.whole("n"), case.whole("dim"), case.number("gamma"), case.number("lam")
    x_bound, y_bound, delta = case.number("B"), case.number("Y"), case.number("delta")
    rule = PublishedOPSCalibration(1.0, delta, n, dim, x_bound, y_bound)
    point = {
        "leverage": x_bound**2 / lam,
        "residual": math.sqrt(gamma) * float(rule.lipschitz(lam)) / x_bound,
        "delta": delta,
    }
    bound, mechanism = CLAIMS[RULE].versions[version_name(case)].epsilon(point), PosteriorSampling(gamma=gamma, lam=lam)
    pairs = [each.pair for each in adversarial_pairs(n, dim, x_bound=x_bound, y_bound=y_bound)]
    profile, relation = max(
        ((mechanism.profile(pair), pair.relation) for pair in pairs), key=lambda each: excess(each[0], bound, delta)
    )
    return hockey_stick_evidence(profile, bound, delta, relation=relation, observer=Observer.OUTPUT)


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    counter = Role.COUNTEREXAMPLE
    first: dict[str, Value] = {"leverage": 1.0, "residual": 10.0, "delta": 1e-3}
    second: dict[str, Value] = {"leverage": 2.0, "delta": 1e-6}
    axes = {"leverage": (1e-3, 0.1, 1.0, 30.0), "residual": (0.0, 0.3, 3.0, 30.0), "delta": DELTAS}
    data: dict[str, tuple[Value, ...]] = {
        "n": (1, 10), "dim": (2,), "B": (2.0,), "Y": (1.0,), "gamma": (0.01, 1.0), "lam": (1.0, 100.0), "delta": (1e-3, 1e-9),
    }  # fmt: skip
    return (
        case(RULE, printed, first, role=counter, regime="no data, B = Y = lambda = 1, gamma = 100, epsilon = 0.8"),
        adversarial(RULE, printed, quick=False),
        case(RULE, corrected, first, role=counter, regime="the case that refutes the printed form"),
        *grid(RULE, corrected, axes, regime="ridge, temperature and delta", quick_every=9),
        *grid(RULE, corrected, data, regime="structured pairs of data sets, n public", quick_every=9),
        adversarial(RULE, corrected, quick=False),
        mutant(RULE, "only turned round", {"leverage": 0.01, "residual": 10.0, "delta": 1e-6}),
        mutant(RULE, "epsilon cut by 10 %", severity=0.1, quick=False),
        case(REACH, printed, second, role=counter, regime="no data, target (1, 0), lambda = 1/2, any gamma"),
        adversarial(REACH, printed, quick=False),
        case(REACH, corrected, second, role=counter, regime="no data, target (1, 0), lambda = 1/2"),
        *grid(REACH, corrected, {k: axes[k] for k in ("leverage", "delta")}, regime="ridge and delta", quick_every=3),
        adversarial(REACH, corrected, quick=False),
        mutant(REACH, "factor 1.7 of the logarithm", severity=0.15),
    )  # fmt: skip


_LOG = "log(2\\/delta)"


def _right(factor: str) -> str:
    return (
        f"sqrt(({factor}gamma L(lambda)^2 {_LOG})/lambda) + (gamma L(lambda)^2)/(2 (lambda + norm(cal(X))^2))"
        f" + ((1 + {factor}{_LOG}) norm(cal(X))^2)/(2 lambda)"
    )


def _plain(factor: str) -> str:
    return (
        f"sqrt({factor}gamma L(lambda)^2 log(2/delta)/lambda) + gamma L(lambda)^2/(2 (lambda + B^2)) "
        f"+ (1 + {factor}log(2/delta)) B^2/(2 lambda)"
    )


_DOC = "docs/derivations/wang2018_appendix_ef.md, section 4"

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="calibration",
    title="Calibration rule of one-posterior sampling",
    locator="Appendix F, displays after (23)",
    domain=(
        "OPS on any data within the bounds, lambda and gamma fixed and public, n a public bound on the records of the smaller set; one "
        "record joins or leaves. Decided for B^2/lambda in [1e-6, 1e4], delta in [1e-12, 0.999], and on structured data with n <= 10"
    ),
    summary=(
        "Printed, the rule allows every gamma above the right one. Turned round it still lacks the factor 2 of Theorem 10, in the rule and "
        "in the least ridge. The corrected rule is loose by sqrt(2) in |theta*_lambda| (23) and takes residual and leverage at their worst together."
    ),
    parts=(
        Part(
            RULE,
            "the rule",
            Formula("epsilon <= " + _right(""), "epsilon <= " + _plain("")),
            Formula("epsilon >= " + _right("2 "), "epsilon >= " + _plain("2 ")),
            "The inequality is the wrong way round, and the normal quantile lacks a factor 2 under the root.",
            _DOC,
        ),
        Part(
            REACH,
            "the ridge from which some gamma is enough",
            Formula(
                f"lambda > ((1 + {_LOG}) norm(cal(X))^2)/(2 epsilon) ==> exists gamma",
                "lambda > (1 + log(2/delta)) B^2/(2 epsilon) implies that some gamma gives (epsilon, delta)",
            ),
            Formula(
                f"lambda > ((1 + 2 {_LOG}) norm(cal(X))^2)/(2 epsilon) ==> exists gamma",
                "lambda > (1 + 2 log(2/delta)) B^2/(2 epsilon) implies that some gamma gives (epsilon, delta)",
            ),
            "For a target with residual 0 the loss does not depend on gamma, and its tail needs the factor 2.",
            _DOC,
        ),
    ),
    cases=_cases(),
    check=check,
)
