"""W18, Theorem 2(i): privacy of AdaOPS, the four steps of its proof, and the use that the last makes of Remark 11.

Each step is one normal law or one quadratic in a normal variable, so everything is exact; the corrected whole is bounded
by the sum of its five proved shares (docs/derivations/wang2018_adaops.md, section 3).
"""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from flint import arb

from audits import Budget, Estimate
from audits.white_box.tails import worse
from mechanisms import BOTH, GaussianProfile, PrivacyProfile, Relation
from mechanisms.data.dataset import Dataset
from mechanisms.laws import QuadraticProfile
from mechanisms.laws.gaussian_calibration import analytic_sigma, upper_quantile
from mechanisms.linear.adaops_wang2018 import AdaOPS2018, CorrectedRule2018, PublishedRule2018, Settings2018
from mechanisms.linear.ops_calibrations import largest_gamma
from mechanisms.numerics.balls import Ball, ndtr_ball
from reports.row import Figure

from ...kernel.box_search import Axis, Point, excess, worst_point
from ...kernel.declare import Display, Form, Mutant, over, search, smallest, statement
from ...kernel.evidence import sampled_delta
from ...kernel.statement_plots import profile_figure
from ...methods.enclosed import enclosed
from ..kit import Case, Claim, Evidence, Measure, Observer, Role, hockey_stick_evidence
from .rem_11 import LEAVING
from .shared.adaptive_ssp import PAIRS, small_pair

NOTES = "docs/derivations/wang2018_adaops.md"
#: Relative room for the root of the analytic calibration, which is solved in float64.
SOLVED = 1.0 + 1e-11


def settings(rule: PublishedRule2018 | CorrectedRule2018, bound: float = 1.0) -> Settings2018:
    """Return the constants of a rule for one feature, responses bounded by 1."""
    return rule.settings(Dataset(np.zeros((0, 1)), np.zeros(0), bound, 1.0))


def _published_eigenvalue(p: Point) -> GaussianProfile:
    """The printed noise does not grow with the bound of the features, the sensitivity does as its square."""
    return GaussianProfile(p["bound"] ** 2 * p["epsilon"] / 4.0 / math.sqrt(math.log(6.0 / p["delta"])))


def _corrected_eigenvalue(p: Point) -> GaussianProfile:
    return GaussianProfile(1.0 / analytic_sigma(1.0, p["epsilon"] / 4.0, p["delta"] / 5.0))


def _published_sample(p: Point) -> QuadraticProfile:
    """Return the loss of the sample at the largest leverage and residual that the proof's events allow."""
    rule = PublishedRule2018(p["epsilon"], p["delta"])
    constants = settings(rule)
    gamma = float(rule.gamma(constants, np.zeros(1), np.zeros(1))[0])
    return QuadraticProfile(1.0 / constants.total, math.sqrt(gamma))


def _corrected_sample(p: Point) -> QuadraticProfile:
    """Return the loss at any leverage and residual below the released bounds (``sharper`` eigenvalue, ``mu``, ``r``)."""
    bound = 1.0 / (settings(CorrectedRule2018(p["epsilon"], p["delta"])).total * p["sharper"])
    gamma = float(largest_gamma(bound, 1.0, p["epsilon"] / 2.0, p["delta"] / 5.0))
    return QuadraticProfile(bound * p["mu"], math.sqrt(gamma) * p["r"])


EPSILON = {"epsilon": Axis(1e-2, 8.0)}
PRINTED_BOX = {**EPSILON, "bound": Axis(0.1, 100.0), "delta": Axis(1e-12, 0.5)}
SHARE_BOX = {**EPSILON, "delta": Axis(1e-12, 0.3)}


def _promise(
    case: Case,
    budget: Budget,
    *,
    law: Callable[[Point], PrivacyProfile],
    box: Mapping[str, Axis],
    share: float,
    shares: float,
) -> Evidence:
    """Decide (``share`` of epsilon, delta/``shares``), at the case's numbers or at the worst point of the box."""

    def promise(p: Point) -> tuple[PrivacyProfile, float, float]:
        return law(p), share * p["epsilon"], p["delta"] / shares

    if case.role is Role.ADVERSARIAL:
        point = worst_point(box, lambda p: excess(*promise(p)), budget, n_starts=96)
        return hockey_stick_evidence(*promise(point), observer=Observer.TRANSCRIPT, found=dict(point))
    return hockey_stick_evidence(*promise({name: case.number(name) for name in box}), observer=Observer.TRANSCRIPT)


_eigenvalue = partial(_promise, law=_corrected_eigenvalue, box=SHARE_BOX, shares=5.0)
_sample = partial(
    _promise,
    law=_corrected_sample,
    box={**SHARE_BOX, "sharper": Axis(1.0, 1e6), "mu": Axis(1e-3, 1.0), "r": Axis(1e-3, 1.0)},
    shares=5.0,
)


def _one_sided(case: Case, *, failing: Callable[[Ball], Ball], shares: int) -> Evidence:
    """Decide a printed event of probability 1 - ``shares`` delta/3, about standard normal noise and sqrt(log(6/delta))."""
    delta = case.number("delta")
    return _fails(lambda: failing((6 / arb(delta)).log().sqrt()), delta / 3.0 * shares)


def _quantile(case: Case, *, short: float = 1.0) -> Evidence:
    """Decide the corrected events, which end at ``short`` times the normal quantile of their share."""
    delta = case.number("delta")
    return _fails(lambda: ndtr_ball(-arb(upper_quantile(delta / 5.0)) * arb(short)), delta / 5.0 * SOLVED)


def _fails(failing: Callable[[], Ball], share: float) -> Evidence:
    """Enclose the probability that one of the two events of the proof fails, against its share."""
    seen = Observer.TRANSCRIPT
    return enclosed(
        "probability that the event fails", failing, 0.0, share, share, relation=Relation.ADD, observer=seen
    )


def _whole(case: Case, budget: Budget) -> Evidence:
    """Bound the divergence of the corrected transcript by its five shares, or draw it on a pair of small data sets."""
    epsilon, delta = case.number("epsilon"), case.number("delta")
    quantity = "hockey-stick delta at epsilon, worse direction"
    claim = Claim(quantity, 0.0, delta, epsilon, relation=Relation.ADD, measure=Measure.DELTA)
    if "pair" in case.params:
        mechanism = AdaOPS2018(CorrectedRule2018(epsilon, delta))
        pair = small_pair(case.text("pair"), case.whole("dim"))
        parts = [sampled_delta(mechanism, pair, epsilon, d, budget.part(d.name, share=0.5)) for d in BOTH]
        return Evidence(claim, sampled=worse(parts))
    point = {"epsilon": epsilon, "delta": delta, "sharper": 1.0, "mu": 1.0, "r": 1.0}
    release = max(_corrected_eigenvalue(point).delta_bracket(epsilon / 4.0, d).high for d in BOTH)
    sample = max(_corrected_sample(point).delta_bracket(epsilon / 2.0, d).high for d in BOTH)
    events = 2.0 * delta / 5.0 * SOLVED
    exact = Estimate.proved(0.0, (2.0 * release + events + sample) * SOLVED, "sum of five proved shares")
    return Evidence(claim, exact=exact, notes={"sample, share used": sample / (delta / 5.0)})


def _eigenvalue_alone(case: Case, *, distance: float, parts: tuple[float, float]) -> Evidence:
    """Decide the whole budget on the eigenvalue with ``distance`` over the noise of these parts of epsilon and delta."""
    epsilon, delta = case.number("epsilon"), case.number("delta")
    mu = distance / analytic_sigma(1.0, epsilon / parts[0], delta / parts[1])
    return hockey_stick_evidence(GaussianProfile(mu), epsilon, delta, observer=Observer.TRANSCRIPT)


SMALL = {"epsilon": 1.0, "delta": 1e-6}
WIDE = {"epsilon": 1.0, "delta": 1e-5, "bound": 4.0}
ONE = {"sharper": 1.0, "mu": 1.0, "r": 1.0}
BUDGETS = {"epsilon": (1e-2, 0.3, 1.0, 8.0), "delta": (0.3, 1e-2, 1e-6, 1e-12)}
SHAPES = {"sharper": (1.0, 100.0), "mu": (1.0, 0.3), "r": (1.0, 0.1)}
DRAWN = {"pair": PAIRS, "dim": (1, 2), "epsilon": (1.0,), "delta": (0.1,)}


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile of the printed eigenvalue release for features bounded by 4."""
    setting = "Features bounded by 4, epsilon = 1, delta = 1e-5: the eigenvalue alone, against the whole budget"
    title = "Exact profile of the eigenvalue that AdaOPS releases"
    return (profile_figure("w18-th2i", title, _published_eigenvalue(WIDE), 1e-5, {"whole budget": 1.0}, setting),)


def _event(title: str, printed: str, check: Callable[[Case], Evidence], corrected: str) -> Display:
    """Return one of the two events of the proof, which share what went wrong and the corrected cases."""
    return Display(
        title,
        Form(printed, check, [smallest("any epsilon", {"delta": 0.1})]),
        Form(corrected, _quantile, over("delta", {"delta": (0.5, 0.1, 1e-3, 1e-6, 1e-12)})),
        "The interval is one-sided about a noise of mean 0: it holds for about half of the draws.",
        {"quantile cut by 10 %": Mutant(_quantile, {"delta": 1e-6}, severity=0.1, short=0.9)},
    )


_BELOW = "norm(cal(Y)) + norm(cal(X)) norm(theta^*_lambda) <= e^Delta"

STATEMENT = statement(
    "W18-TH2i",
    domain="Algorithm 1, one row added or removed, bounds public, every epsilon > 0 and delta in (0, 1); the observer sees eigenvalue, Delta "
    "and sample. Decided for epsilon in [0.01, 8], delta in [1e-12, 0.5], features bounded by 0.1 to 100",
    summary="For ||X|| = 4, epsilon = 1, delta = 1e-5 the released eigenvalue alone exceeds the whole budget 16,205 times in delta, since its "
    "noise lacks ||X||^2. At ||X|| = 1 the four steps of the proof do not hold either, though no failure of the whole was found there for "
    "epsilon up to 8. With analytic noise, events at their normal quantiles on both members of a pair, and a proved bound on the sample's "
    "loss, five shares of delta/5 give the theorem; the sample's epsilon is loose by 7 % at its closest.",
    derivation=f"{NOTES}, section 3",
    displays={
        ".p1": Display(
            printed=Form(
                'lambda_min + sqrt(log(6/delta))/(epsilon/4) Z "is an" (epsilon/4, delta/3)"-DP release"',
                partial(_promise, law=_published_eigenvalue, box=PRINTED_BOX, share=0.25, shares=3.0),
                [
                    smallest("features bounded by 1", SMALL | {"bound": 1.0}),
                    smallest("features bounded by 4", SMALL | {"bound": 4.0}),
                    search(quick=False),
                ],
            ),
            corrected=Form(
                'lambda_min + norm(cal(X))^2 s Z "is an" (epsilon/4, delta/5)"-DP release,  " s "the analytic noise at" (epsilon/4, delta/5)',
                partial(_eigenvalue, share=SOLVED * 0.25),
                [*over("epsilon and delta", BUDGETS, quick_every=5), search(quick=False)],
            ),
            wrong="The sensitivity ||X||^2 and the 2 under the root are missing.",
            mutants={"epsilon cut by 5 percent": Mutant(_eigenvalue, SMALL, severity=0.05, share=0.95 * 0.25)},
        ),
        ".p2": _event(
            "",
            "abs(tilde(lambda)_min - lambda_min) <= log(6/delta)/(epsilon/4)",
            partial(_one_sided, failing=lambda root: 1 - (ndtr_ball(2 * root) - arb(0.5)), shares=1),
            'tilde(lambda)_min <= lambda_min "of either member, with probability" 1 - delta/5, quad "shift" norm(cal(X))^2 (s Phi^(-1)(1 - delta/5) + 1)',
        ),
        ".p3": _event(
            "",
            f"{_BELOW} <= (norm(cal(Y)) + norm(cal(X)) norm(theta^*_lambda)) (1 + norm(cal(X))^2/(lambda + tilde(lambda)_min))^(log(6/delta)/(epsilon/4))",
            partial(_one_sided, failing=lambda root: arb(0.5) + ndtr_ball(-root), shares=2),
            f'{_BELOW} "with probability" 1 - delta/5, quad "the shift one sensitivity more than the quantile"',
        ),
        ".p4": Display(
            printed=Form(
                'gamma = ((tilde(lambda)_min + lambda) tilde(epsilon)^2)/(log(6/delta) tilde(L)^2): quad tilde(theta) "is" (epsilon/2, delta/3)"-pDP"',
                partial(
                    _promise, law=_published_sample, box={**EPSILON, "delta": Axis(1e-12, 0.5)}, share=0.5, shares=3.0
                ),
                [smallest("no record, features bounded by 1", SMALL), search(quick=False)],
            ),
            corrected=Form(
                'gamma "the largest with" e(norm(cal(X))^2/(tilde(lambda)_min + lambda), e^Delta) <= epsilon/2 "at" delta/5, quad e "the loss bound"',
                partial(_sample, share=0.5),
                [
                    *over("epsilon, delta, leverage, residual", {**BUDGETS, **SHAPES}, quick_every=13),
                    search(quick=False),
                ],
            ),
            wrong="It rests on Remark 11, whose tail lacks a 2 under the root; loose as corrected by 7 % in epsilon at the closest.",
            mutants={
                "epsilon cut by 10 percent": Mutant(
                    _sample, {"epsilon": 8.0, "delta": 1e-12, **ONE}, severity=0.03, share=0.9 * 0.5
                )
            },
            derivation=f"{NOTES}, section 2",
        ),
        ".p5": LEAVING,
        "#all": Display(
            "AdaOPS is (epsilon, delta)-DP",
            Form(
                '"Algorithm 1 satisfies" (epsilon, delta)"-DP"',
                partial(_promise, law=_published_eigenvalue, box=PRINTED_BOX, share=1.0, shares=1.0),
                [smallest("features bounded by 4", WIDE), search(quick=False)],
            ),
            Form(
                '"Algorithm 1 with the corrected steps 2, 6 and 7 satisfies" (epsilon, delta)"-DP"',
                _whole,
                [
                    *over("five proved shares, any data", BUDGETS, quick_every=5),
                    *over("small data, drawn", DRAWN, draws=(4_000, 20_000, 200_000), quick_every=4),
                ],
            ),
            "The noise of the released eigenvalue does not grow with the features' bound.",
            {
                "eigenvalue noise divided by more than all budget allows": Mutant(
                    _eigenvalue_alone, SMALL, severity=0.1, distance=1.1, parts=(1.0, 1.0)
                ),
                "eigenvalue noise without the square of the bound": Mutant(
                    _eigenvalue_alone, SMALL, distance=16.0, parts=(4.0, 5.0)
                ),
            },
        ),
    },
    figures=figures,
)
