"""W19, Fact 2.6 (2): advanced composition, decided on the exact worst case of k mechanisms.

As printed the order is ``sqrt(k log(1/delta)) epsilon``. Randomised response with a fixed epsilon needs an epsilon of
order ``k``: the second term ``k epsilon (exp(epsilon) - 1)`` is no lower order unless epsilon is small
(docs/derivations/wang2019_sections_2_3.md, Fact 2.6.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb
from scipy.optimize import brentq

from audits import Budget, Estimate
from mechanisms import Bracket
from mechanisms.balls import Ball, enclose
from mechanisms.composition import advanced_composition, optimal_composition
from reports.row import Figure

from ..cases import case, grid, mutant
from ..evidence import FORMULA_ERROR
from ..formal import version_name
from ..plots import curve_figure
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value

ID = "W19-F2.6.2"
#: Range of k of the derived sequence, in decades.
FIRST, LAST = 2, 14
#: Power of k that each version allows the required epsilon, at fixed epsilon of one mechanism.
POWERS = {"printed": 0.5, "corrected": 1.0}


def pure_delta(epsilon: Ball, k: int, total: Ball) -> Ball:
    """Return the hockey-stick divergence at ``total`` of ``k`` randomised responses, each with ``epsilon``."""
    out = arb(0)
    for lies in range(k + 1):
        gap = (k - 2 * lies) * epsilon - total
        if gap <= 0:
            break
        term = arb(math.comb(k, lies)) * ((k - lies) * epsilon).exp() * (1 - (-gap).exp())
        out += term if gap > 0 else term.union(arb(0))
    return out / (1 + epsilon.exp()) ** k


def worst_delta(epsilon: float, delta: float, k: int, total: float) -> Ball:
    """Return the least delta that ``k`` (epsilon, delta) mechanisms are sure of at ``total``, which is attained."""
    fresh = (1 - arb(delta)) ** k
    return 1 - fresh * (1 - pure_delta(arb(epsilon), k, arb(total)))


def epsilon_corrected(p: dict[str, float]) -> float:
    """Return ``sqrt(2 k log(1/slack)) epsilon + k epsilon (exp(epsilon) - 1)`` (Dwork and Roth 2014, theorem 3.20)."""
    return advanced_composition(p["epsilon"], p["delta"], int(p["k"]), p["slack"]).epsilon


VERSIONS: dict[str, Callable[[dict[str, float]], float]] = {
    "no second term": lambda p: math.sqrt(2 * p["k"] * math.log(1 / p["slack"])) * p["epsilon"],
    "no 2 under the root": lambda p: epsilon_corrected(p | {"slack": math.sqrt(p["slack"])}),
    "epsilon cut by 17 %": lambda p: 0.83 * epsilon_corrected(p),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the derived sequence, or the explicit form on the exact worst case."""
    version = version_name(case)
    if "k" not in case.params:
        return _sequence(case, POWERS[version])
    p = {name: case.number(name) for name in ("epsilon", "delta", "k", "slack")}
    k, claimed = case.whole("k"), p["k"] * p["delta"] + p["slack"]
    total = VERSIONS.get(version, epsilon_corrected)(p)

    def exact(t: float) -> Bracket:
        return enclose(lambda: worst_delta(p["epsilon"], p["delta"], k, t), low=0.0, high=1.0)

    low, high = exact(total * (1 + FORMULA_ERROR)), exact(total * (1 - FORMULA_ERROR))
    claim = Claim(
        "delta of the worst joint output at the stated epsilon",
        0.0,
        claimed * (1 - FORMULA_ERROR),
        total,
        in_domain=claimed < 1,
        observer=Observer.TRANSCRIPT,
    )
    return Evidence(claim, exact=Estimate.proved(low.low, high.high, "worst case of composition, ball arithmetic"))


def _sequence(case: Case, power: float) -> Evidence:
    """Enclose the growth of required over stated epsilon from k = 1e2 to 1e14, at delta = 1/k^2."""
    epsilon = case.number("epsilon")
    tilt = math.tanh(epsilon / 2) / 2
    # The required epsilon lies in [k epsilon tilt, k epsilon]; sqrt(log(1/delta)) grows as the root of log k.
    root = 0.5 * math.log10(LAST / FIRST)
    growth = (1.0 - power) * (LAST - FIRST) - (root if power < 1 else 0.0)
    spread = -math.log10(tilt)
    claim = Claim(
        "decades by which the required epsilon over its stated order grows, k from 1e2 to 1e14",
        -spread - 0.1,
        spread + 0.1,
        0.0,
        observer=Observer.TRANSCRIPT,
    )
    return Evidence(claim, exact=Estimate.proved(growth - spread, growth + spread, "derived sequence"))


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    sequence: dict[str, Value] = {"epsilon": 1.0}
    axes: dict[str, tuple[Value, ...]] = {
        "epsilon": (1e-3, 0.1, 1.0, 3.0),
        "delta": (0.0, 1e-9, 1e-4),
        "k": (1, 2, 10, 100),
        "slack": (0.5, 1e-2, 1e-6, 1e-12),
    }
    tight: dict[str, Value] = {"epsilon": 0.01, "delta": 0.0, "k": 1000, "slack": 1e-12}
    many: dict[str, Value] = {"epsilon": 1.0, "delta": 0.0, "k": 100, "slack": 0.01}
    return (
        case(ID, printed, sequence, role=Role.COUNTEREXAMPLE, regime="randomised response, epsilon = 1, delta = 1/k^2"),
        case(ID, printed, {"epsilon": 0.25}, regime="randomised response, epsilon = 1/4"),
        case(ID, corrected, sequence, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(ID, corrected, axes, regime="worst case, explicit form", quick_every=13),
        case(ID, corrected, tight, regime="where the explicit form is tightest"),
        mutant(ID, "no second term", many),
        mutant(ID, "no 2 under the root", tight),
        mutant(ID, "epsilon cut by 17 %", tight, severity=0.042),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact epsilon of k randomised responses against k, with the printed order and the explicit form."""
    epsilon, slack = 0.5, 1e-6

    def exact(k: float) -> float:
        top = k * epsilon
        if optimal_composition(epsilon, 0.0, int(k), top * (1 - 1e-12)) > slack:
            return top
        return float(brentq(lambda t: optimal_composition(epsilon, 0.0, int(k), t) - slack, 0.0, top, xtol=1e-9))

    def point(k: float) -> dict[str, float]:
        return {"epsilon": epsilon, "delta": 0.0, "k": k, "slack": slack}

    return (
        curve_figure(
            "w19-f262",
            "Composition of k randomised responses, epsilon = 1/2 each",
            "The exact epsilon at delta = 1e-6 ends up parallel to k; sqrt(k log(1/delta)) epsilon falls below it.",
            "Three increasing curves on logarithmic scales: the explicit form stays above the exact curve, the printed order crosses it.",
            ("number of mechanisms k", "epsilon of the joint output"),
            [2.0**i for i in range(12)],
            {
                "exact": exact,
                "sqrt(k log(1/delta)) epsilon, as printed": lambda k: math.sqrt(k * math.log(1 / slack)) * epsilon,
                "explicit corrected form": lambda k: epsilon_corrected(point(k)),
            },
            {},
            x_scale="log",
            y_scale="log",
        ),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="fact",
    title="Advanced composition",
    locator="Fact 2.6 (2)",
    domain=(
        "k adaptive mechanisms, each (epsilon, delta)-pDP for the pair, whatever came before; epsilon not bounded in the text. "
        "Explicit form decided for k <= 1000, epsilon in [1e-3, 3], slack in [1e-12, 0.5]. The claims for concentrated and Renyi DP are not checked"
    ),
    summary=(
        "The printed order holds only where epsilon is at most of order sqrt(log(1/delta)/k). With the second term it is true; the "
        "explicit form is 13 % above the exact worst case (Kairouz, Oh and Viswanath 2015) at its tightest on the grid."
    ),
    parts=(
        Part(
            ID,
            "joint output of k mechanisms",
            printed=Formula(
                'cal(A)_(1:k) "is" (O(sqrt(k log(1/delta)) epsilon), O(k delta))"-pDP"',
                "A_1:k is (O(sqrt(k log(1/delta)) epsilon), O(k delta))-pDP",
            ),
            corrected=Formula(
                'cal(A)_(1:k) "is" (sqrt(2 k log(1/delta\')) epsilon + k epsilon (e^epsilon - 1), k delta + delta\')"-pDP" quad forall delta\' > 0',
                "A_1:k is (sqrt(2 k log(1/delta')) epsilon + k epsilon (exp(epsilon) - 1), k delta + delta')-pDP for every delta' > 0",
            ),
            what_went_wrong=(
                "The term k epsilon (exp(epsilon) - 1) is dropped, which dominates once epsilon exceeds sqrt(log(1/delta)/k)."
            ),
            derivation="docs/derivations/wang2019_sections_2_3.md, Fact 2.6.2",
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
