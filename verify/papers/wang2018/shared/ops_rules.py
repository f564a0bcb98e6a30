"""The four calibrations of appendix F: privacy of the released sample, in two readings of the number of records.

Reading a: n is public, the same constants on both data sets (n is the size of the smaller one). Reading b: each data set uses its own
n; then two sets that differ by a record x = 0 already have a different gamma lambda, and their laws are two centred normal laws
(docs/derivations/wang2018_appendix_ef.md, section 5).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import methodcaller

import numpy as np
from flint import arb

from audits import Estimate
from audits.search.worst_case import adversarial_pairs
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair, Relation
from mechanisms.laws import QuadraticProfile
from mechanisms.linear.ops_calibrations import Calibration, CorrectedOPSCalibration, PublishedOPSCalibration
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.numerics.balls import Ball, enclose

from ....kernel.box_search import excess
from ....kernel.declare import At, Display, Form, Mutant, over, smallest, statement
from ....methods.failure import chi_square_lower, chi_square_tail
from ...kit import Case, Claim, Evidence, Measure, Observer, Statement, hockey_stick_evidence


def structured(case: Case, x_bound: float, y_bound: float) -> list[NeighbouringPair]:
    """Return the structured worst-case pairs of the size of a case."""
    named = adversarial_pairs(case.whole("n"), case.whole("dim"), x_bound=x_bound, y_bound=y_bound)
    return [each.pair for each in named]


def worst_of(
    mechanism: PosteriorSampling,
    pairs: Sequence[NeighbouringPair],
    epsilon: Callable[[NeighbouringPair], float],
    delta: float,
    *,
    in_domain: bool = True,
) -> Evidence:
    """Decide (epsilon of the pair, delta) for one posterior sample on the pair with the largest excess."""
    laws = [(mechanism.profile(pair), epsilon(pair), pair.relation) for pair in pairs]
    profile, bound, relation = max(laws, key=lambda law: excess(law[0], law[1], delta))
    return hockey_stick_evidence(
        profile, bound, delta, in_domain=in_domain, relation=relation, observer=Observer.OUTPUT
    )


def _promise(case: Case, *, rule: str, kind: type[Calibration], grows: int = 0, factor: float = 1.0) -> Evidence:
    """Decide (``factor`` epsilon, delta) for a rule of one kind, bounds 1; a record that joins adds ``grows`` to its n."""
    n, dim, epsilon, delta = case.whole("n"), case.whole("dim"), case.number("epsilon"), case.number("delta")
    first, second = (methodcaller(rule)(kind(epsilon, delta, m, dim, 1.0, 1.0)) for m in (n, n + grows))
    if case.text("data") == "a record x = 0 joins":
        return _two_scales(first.gamma * first.lam, second.gamma * second.lam, dim, epsilon, delta)
    claimed = factor * epsilon
    if case.text("data") == "records x = 0":  # leverage 1/lambda and residual 1 are attained by the target (1, 1)
        profile = QuadraticProfile(1.0 / first.lam, math.sqrt(first.gamma))
        return hockey_stick_evidence(profile, claimed, delta, relation=Relation.ADD, observer=Observer.OUTPUT)
    pairs = [*structured(case, 1.0, 1.0), NeighbouringPair.remove(_along(n, dim, first.lam), 0)]
    return worst_of(PosteriorSampling(gamma=first.gamma, lam=first.lam), pairs, lambda pair: claimed, delta)


def _along(n: int, dim: int, lam: float) -> Dataset:
    """Return ``n + 1`` records: a target of norm 1, and rows in its direction that make the ridge estimate longest."""
    X = np.zeros((n + 1, dim))
    X[:, 0] = min(1.0, math.sqrt(lam / n))
    X[0, 0] = 1.0
    y = np.ones(n + 1)
    y[0] = -1.0
    return Dataset(X, y, 1.0, 1.0)


def _two_scales(first: float, second: float, dim: int, epsilon: float, delta: float) -> Evidence:
    """Decide the divergence of ``N(0, I/first)`` and ``N(0, I/second)``: events are balls, probabilities chi-square."""

    def divergence(p: float, q: float) -> Ball:
        if p == q:
            return arb(0)
        own, other = arb(p), arb(q)
        square = (2 * arb(epsilon) + dim * (other / own).log()) / (other - own)
        if q < p and not square > 0:
            return arb(0) if square < 0 else arb("nan")
        tail = chi_square_tail if q > p else chi_square_lower
        return tail(dim, own * square) - arb(epsilon).exp() * tail(dim, other * square)

    orders = ((first, second), (second, first))
    brackets = [enclose(partial(divergence, *order), low=0.0, high=1.0) for order in orders]
    quantity = "hockey-stick delta at the published epsilon, worse direction"
    claim = Claim(quantity, 0.0, delta, epsilon, relation=Relation.ADD, observer=Observer.OUTPUT, measure=Measure.DELTA)
    exact = Estimate.proved(max(b.low for b in brackets), max(b.high for b in brackets), "chi-square, ball arithmetic")
    return Evidence(claim, exact=exact, notes={"precision without": first, "precision with": second})


ZERO = {"data": "records x = 0", "epsilon": 1.0, "delta": 1e-9, "n": 1, "dim": 1}
JOINS = {"data": "a record x = 0 joins", "epsilon": 0.1, "delta": 1e-9, "n": 2, "dim": 1}
WORST = {
    "data": ("records x = 0",), "epsilon": (0.1, 1.0, 10.0), "delta": (0.1, 1e-3, 1e-6, 1e-12), "n": (0, 1, 30), "dim": (2,),
}  # fmt: skip
PAIRS = {"data": ("structured pairs",), "epsilon": (0.3, 3.0), "delta": (1e-2, 1e-9), "n": (1, 8), "dim": (1, 3)}
FIRST = smallest("one record x = 0, y = 0, target (1, 1), d = 1, epsilon = 1, delta = 1e-9", ZERO)
THIRD = smallest("two records x = 0 and a third; d = 1, epsilon = 0.1, delta = 1e-9", JOINS)
RARE = At("two records x = 0 and a third; d = 1, epsilon = 0.1, delta = 1e-12", JOINS | {"delta": 1e-12})

DOMAIN = (
    "Any data within the bounds, one record joins or leaves; delta at most 0.317 in the corrected form. Decided at bounds 1 for epsilon in "
    "[0.1, 30], delta in [1e-12, 0.1], n <= 30: exactly for the worst target on records x = 0, and on structured pairs"
)
SUMMARY = (
    "{rule} the sample is not (epsilon, delta)-DP in either reading: with n public delta is 13 to 18 times the promised 1e-9 for one "
    "record at epsilon = 1; with each set's own n it is more than 1e-9 for two records and a third as well, at epsilon = 0.1. "
    "Corrected the promise is kept, and at most 5 % of epsilon are lost where it is tightest."
)
#: What a corrected rule asks for.
_CORRECTED = (
    "epsilon >= 1/2 max{m z^2 - log(1+m), log(1+m)} + z R sqrt(gamma m) + (gamma R^2 m)/(2 (1+m)),"
    " quad m = norm(cal(X))^2\\/lambda, quad z = Phi^(-1)(1 - delta\\/2),"
    " quad R = norm(cal(Y)) + norm(cal(X)) min{(sqrt(n) norm(cal(Y)))/(2 sqrt(lambda)), (n norm(cal(X)) norm(cal(Y)))/lambda},"
    ' quad n "a public bound"'
)


def calibration(
    id_: str,
    rule: str,
    printed: str,
    corrected: str,
    *,
    lead: str = "As printed",
    domain: str = "",
    summary: str = "",
    more: Mapping[str, Display] | None = None,
) -> Statement:
    """Return the statement of one rule in both readings of n.

    Parameters
    ----------
    id_ : str
        Its id.
    rule : str
        The method of the calibrations that it is ("diffuse").
    printed, corrected : str
        Both forms in Typst math; what every corrected rule asks for is appended.
    lead : str
        How the summary begins: which rule it is about.
    domain, summary : str
        What follows the words that all rules share.
    more : mapping of Display
        Its further displays.
    """
    title = f"OPS-{rule.capitalize()}"
    wrong = partial(_promise, rule=rule, kind=PublishedOPSCalibration)
    right = partial(_promise, rule=rule, kind=CorrectedOPSCalibration)
    first, form = partial(wrong, grows=1), corrected + _CORRECTED
    mutants = {
        "epsilon cut by 5 %": Mutant(
            right, ZERO | {"n": 0, "epsilon": 30.0, "delta": 1e-12}, severity=0.05, factor=0.95
        ),
        "no factor 2 under the root": Mutant(wrong, ZERO),
    }
    data = [
        *over("budgets and sizes, exact worst target", WORST, quick_every=7),
        *over("structured pairs of data sets", PAIRS, quick_every=7),
    ]
    bounded = over("structured pairs, n a public bound", PAIRS | {"n": (3,)}, quick_every=3)
    return statement(
        id_,
        domain=DOMAIN + domain,
        summary=SUMMARY.format(rule=lead) + summary,
        derivation="docs/derivations/wang2018_appendix_ef.md, section 5",
        displays={
            "@a": Display(
                f"{title}; n public and the same for both data sets",
                Form(printed, first, [FIRST]),
                Form(form, right, [FIRST, *data]),
                "The rule rests on Remark 11, whose normal quantile lacks a factor 2 under the root.",
                mutants,
            ),
            "@b": Display(
                f"{title}; each data set with its own n",
                Form(printed, first, [THIRD, RARE]),
                Form(form, right, [THIRD, RARE, *bounded]),
                "A record x = 0 moves nothing but n, and with n the precision gamma lambda of the sample: the laws differ in scale.",
                mutants,
            ),
            **(more or {}),
        },
    )
