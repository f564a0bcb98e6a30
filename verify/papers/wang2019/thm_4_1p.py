"""W19, proof of Theorem 4.1: its displays, one by one.

Matrix identities are decided in rational arithmetic, log density ratios at rational outputs in ball arithmetic, the tail
step in one variable by branch and bound (docs/derivations/wang2019_sections_2_3.md, proof of Theorem 4.1).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb, fmpq_mat

from mechanisms import Relation
from mechanisms.numerics.balls import Ball

from ...kernel.box_search import Axis
from ...methods.boxes import on_box
from ...methods.enclosed import enclosed
from ...methods.rational import (
    SHAPES,
    Matrix,
    ball,
    column,
    fraction,
    hessian,
    matrix,
    quadratic,
    random_matrix,
    same,
    scalar,
    stack,
)
from ..kit import At, Case, Display, Evidence, Form, Mutant, Role, over, refuting, smallest, statement
from .shared.regressions import Regression, regression

TOLERANCE = 1e-12
HUNDREDTH = Fraction(101, 100)
#: ``log(2/delta)`` from delta = 1 down to about 1e-304; for the last step, from just inside delta < 2/e.
TAIL_BOX = {"log(2/delta)": Axis(0.69, 700.0)}
LAST_BOX = {"log(2/delta)": Axis(1.0001, 700.0)}


@dataclass(frozen=True)
class RegressionOutput:
    """A ridge problem with one more record, its leverages, and an output of the mechanism, all rational."""

    data: Regression
    output: Matrix

    @property
    def leverages(self) -> tuple[Fraction, Fraction]:
        """Leverage of the record out of sample and in sample."""
        return quadratic(self.data.x, self.data.H.inv()), quadratic(self.data.x, self.data.joined.inv())

    def star(self) -> Fraction:
        """``(*)``: the difference of the two quadratic forms at the output."""
        first, second = self.data.fits
        return quadratic(self.output - second, self.data.joined) - quadratic(self.output - first, self.data.H)


def setting(case: Case) -> RegressionOutput:
    """Return the data of a case; without a shape X = (1), y = 0, lambda = 1, target (1, 2), output 1."""
    if "shape" not in case.params:
        X, y, x, target, output = (matrix(1, 1, [v]) for v in (1, 0, 1, 2, 1))
        return RegressionOutput(Regression(X, y, x, target, 1), output)
    data = regression(case, case.whole("lam"))
    if case.params["target"] == "short":
        data = Regression(data.X, data.y, data.x / 1000, data.target, data.lam)
    return RegressionOutput(data, random_matrix(case.whole("dim"), 1, case.whole("seed"), 8))


def _determinants(
    case: Case,
    *,
    leverages: Callable[[Fraction, Fraction], tuple[Fraction, Fraction]] = lambda mu, inside: (mu, inside),
) -> Evidence:
    """Compare both determinants with those of the rank-one update; ``leverages`` of a mutant are not the right ones."""
    sampled = setting(case)
    outer, inner = fraction(sampled.data.H.det()), fraction(sampled.data.joined.det())
    mu, inside = leverages(*sampled.leverages)
    stated = column(outer * (1 + mu), inner * (1 - inside))
    return same("determinants", column(inner, outer), stated, relation=Relation.ADD)


def _inverse(case: Case, *, weight: Callable[[Fraction], Fraction] = lambda inside: 1 / (1 - inside)) -> Evidence:
    """Compare (A.2); ``weight`` stands for ``(1 - mu')^-1``."""
    sampled = setting(case)
    data, joined = sampled.data, sampled.data.joined.inv()
    outer = joined * data.x * data.x.transpose() * joined
    return same(
        "inverse of H", data.H.inv(), joined + outer * scalar(weight(sampled.leverages[1])), relation=Relation.ADD
    )


def _centred(case: Case, *, factor: Fraction = Fraction(1)) -> Evidence:
    """Compare (*) with (A.1), its cross term times ``factor``: the hat-matrix forms are recomputed from the data."""
    sampled = setting(case)
    data = sampled.data
    without, within = data.moments
    predicted, y = fraction((data.x.transpose() * sampled.output)[0, 0]), fraction(data.target[0, 0])
    forms = quadratic(within, data.joined.inv()) - quadratic(without, data.H.inv())
    right = predicted**2 + forms - factor * 2 * y * predicted
    return same("(*) against (A.1)", column(sampled.star()), column(right), relation=Relation.ADD)


def _covariances(case: Case, *, inverted: bool = True, factor: Fraction = Fraction(1)) -> Evidence:
    """Compare the stated covariances with the inverse of the exponent's Hessian, by exact second differences."""
    data, gamma = setting(case).data, Fraction(case.number("gamma"))
    dim = data.X.ncols()

    def covariance(X: Matrix, y: Matrix) -> Matrix:
        def exponent(at: Matrix) -> Fraction:
            gap = y - X * at
            return gamma * fraction((gap.transpose() * gap + at.transpose() * at * data.lam)[0, 0]) / 2

        return hessian(exponent, column(*[0] * dim)).inv()

    truth = covariance(data.X, data.y), covariance(stack(data.X, data.x), stack(data.y, data.target))
    stated = [(M.inv() if inverted else M) * scalar(factor / gamma) for M in (data.H, data.joined)]
    both = [fmpq_mat(2 * dim, dim, [*pair[0].entries(), *pair[1].entries()]) for pair in (truth, stated)]
    return same("covariances of both posteriors", both[0], both[1], relation=Relation.ADD)


def _ratio(case: Case, *, inside: bool, sign: int = 1, factor: Fraction = Fraction(1)) -> Evidence:
    """Enclose the deviation of a log density ratio from its display; the left side comes from the two densities.

    ``inside``: the display in in-sample quantities; ``sign`` of its logarithm; ``factor`` of its residual term.
    """
    sampled, gamma = setting(case), Fraction(case.number("gamma"))
    data, (mu, within) = sampled.data, sampled.leverages
    share = 1 - within if inside else 1 / (1 + mu)  # |H|/|H'|
    rest = 1 / share if inside else share  # what multiplies the squared residual
    bracket = data.residual(sampled.output) ** 2 - factor * rest * data.residual(data.fits[inside]) ** 2

    def deviation() -> Ball:
        determinants = fraction(data.H.det()) / fraction(data.joined.det())
        left = ball(determinants).log() / 2 + ball(gamma * sampled.star() / 2)
        right = sign * ball(share).log() / 2 + ball(gamma * bracket / 2)
        return (left - right) / abs(left).max(arb(1))

    words, method = "relative deviation of the log density ratio", "rational and ball arithmetic"
    return enclosed(words, deviation, -TOLERANCE, TOLERANCE, 0.0, method=method, relation=Relation.ADD)


def _tail(case: Case, *, quantile: float = 2.0) -> Evidence:
    """Decide ``P(|Z| > sqrt(quantile L)) <= delta/sqrt(2 L)``, ``L = log(2/delta)``, at one delta or on the box."""
    if "delta" in case.params:
        return _tail_at(case, lambda log: (2 * log).sqrt(), quantile)

    def slack(p: Mapping[str, Any]) -> Ball:
        log = p["log(2/delta)"]
        return 2 - (2 * log).sqrt() * log.exp() * (log * quantile / 2).sqrt().erfc()

    return on_box("2 - sqrt(2 L) exp(L) P(|Z| > sqrt(2 L))", slack, TAIL_BOX)


def _tail_at(case: Case, over: Callable[[Ball], Ball], quantile: float) -> Evidence:
    """Enclose the tail beyond ``sqrt(quantile log(2/delta))`` over ``delta/over(log(2/delta))``."""
    delta = case.number("delta")

    def ratio() -> Ball:
        log = (2 / arb(delta)).log()
        return (log * quantile / 2).sqrt().erfc() / (delta / over(log))

    words = "P(|x'theta - x'theta_hat| > threshold) over the bound"
    return enclosed(words, ratio, 0.0, 1.0, 1.0, in_domain=delta < 1)


def _last(case: Case, *, edge: float = 2 * 0.36787944117144233) -> Evidence:
    """Decide ``delta/log(2/delta) <= delta`` below ``edge`` (2/e, rounded), at one delta or on the box."""
    if "delta" not in case.params:
        return on_box("1 - 1/log(2/delta)", lambda p: 1 - 1 / p["log(2/delta)"], LAST_BOX)
    delta = case.number("delta")
    words = "delta/log(2/delta) over delta"
    return enclosed(words, lambda: 1 / (2 / arb(delta)).log(), 0.0, 1.0, 1.0, in_domain=delta < edge)


SMALL = {"gamma": 1.0}
AXES = {
    "shape": SHAPES, "target": ("any", "short"), "n": (5,), "dim": (1, 3), "lam": (0, 2), "gamma": (0.25,),
    "seed": (1,),
}  # fmt: skip
DENSITIES = AXES | {"gamma": (0.25, 64.0)}
DELTAS = (0.99, 0.7, 0.1, 1e-3, 1e-12, 1e-300)
REFUTED = "X = (1), y = 0, lambda = 1, target (1, 2)"
BOX = At("proved on the box")


def _on_designs(axes: Mapping[str, Any], *, corrected: bool = False) -> list[At]:
    """Return the small case, and designs, targets, lambda and gamma."""
    first = refuting(SMALL) if corrected else At("one number", SMALL, Role.EDGE)
    return [first, *over("designs, targets, lambda, gamma", axes, quick_every=17)]


LOG = "log p(theta | X, bold(y))/p(theta | X', bold(y)') = "
INSIDE = "log(sqrt(1 - mu')) + gamma/2 [(y - x^T theta)^2 - (1 - mu')^(-1) (y - x^T hat(theta)')^2]"
THRESHOLD = "Pr(abs(x^T theta - x^T hat(theta)) > sqrt({factor} log(2/delta))) <= (2 e^(-log(2/delta)))/{over}"

STATEMENT = statement(
    "W19-T4.1p",
    domain="As W19-T4.1; identities decided exactly for n = 5, d <= 3, lambda in {0, 2}, gamma in {1/4, 64}; the tail step for delta in "
    "(0, 1), proved for log(2/delta) in [0.69, 700]",
    summary="Three of eight displays are wrong: the sign of the logarithm in the second density ratio, the tail step (which is where Theorem 4.1 "
    "loses its factor 2), and the covariances, which are printed as their inverses. The matrix identities are right.",
    derivation="docs/derivations/wang2019_sections_2_3.md, proof of Theorem 4.1",
    displays={
        "#out": Display(
            "log density ratio, out of sample",
            printed=Form(
                LOG + "log sqrt((1 + mu)^(-1)) + gamma/2 [(y - x^T theta)^2 - (1 + mu)^(-1) (y - x^T hat(theta))^2]",
                partial(_ratio, inside=False),
                _on_designs(DENSITIES),
            ),
            mutants={
                "sign of the logarithm": Mutant(_ratio, SMALL, inside=False, sign=-1),
                "residual term scaled by 1.01": Mutant(_ratio, SMALL, severity=0.01, inside=False, factor=HUNDREDTH),
            },
        ),
        "#in": Display(
            "log density ratio, in sample",
            printed=Form(LOG + "-" + INSIDE, partial(_ratio, inside=True, sign=-1), [smallest(REFUTED, SMALL)]),
            corrected=Form(LOG + INSIDE, partial(_ratio, inside=True), _on_designs(DENSITIES, corrected=True)),
            wrong="The sign of the logarithm: |H|/|H'| = 1 - mu', so its root enters with a plus.",
            mutants={
                "residual term scaled by 1.01": Mutant(_ratio, SMALL, severity=0.01, inside=True, factor=HUNDREDTH)
            },
        ),
        "#tail": Display(
            "the tail step",
            printed=Form(
                THRESHOLD.format(factor="mu/gamma", over="log(2/delta)"),
                lambda case: _tail_at(case, lambda log: log, 1.0),
                [smallest("delta = 1/100", {"delta": 0.01}), At("small delta", {"delta": 1e-6})],
            ),
            corrected=Form(
                THRESHOLD.format(factor="(2 mu)/gamma", over="sqrt(2 log(2/delta))")
                + " = delta/sqrt(2 log(2/delta)) <= delta",
                _tail,
                [refuting({"delta": 0.01}), BOX, *over("delta", {"delta": DELTAS})],
            ),
            wrong="Lemma B.5 is applied at log(2/delta) in place of its root, and without the 1/2 of the exponent.",
            mutants={"quantile 1.9 log(2/delta)": Mutant(_tail, [{"delta": 1e-12}, {}], severity=0.05, quantile=1.9)},
        ),
        "#last": Display(
            "the last step of the tail",
            printed=Form(
                '(2 e^(-log(2/delta)))/log(2/delta) = delta/log(2/delta) <= delta quad "when" delta < 2\\/e',
                _last,
                [BOX, *over("delta", {"delta": (*DELTAS, 1e-6)})],
            ),
            mutants={"delta < 0.8": Mutant(_last, {"delta": 0.79}, severity=0.08, edge=0.8)},
        ),
        "#det": Display(
            "determinants",
            printed=Form(
                "abs(H') = abs(H) (1 + mu), quad abs(H) = abs(H') (1 - mu')", _determinants, _on_designs(AXES)
            ),
            mutants={
                "leverages exchanged": Mutant(_determinants, SMALL, leverages=lambda mu, inside: (inside, mu)),
                "leverage scaled by 1.01": Mutant(
                    _determinants, SMALL, severity=0.01, leverages=lambda mu, inside: (mu * HUNDREDTH, inside)
                ),
            },
        ),
        "#A.2": Display(
            "(A.2), the inverse without the target",
            printed=Form("H^(-1) = [H']^(-1) + [H']^(-1) x (1 - mu')^(-1) x^T [H']^(-1)", _inverse, _on_designs(AXES)),
            mutants={
                "1 + mu'": Mutant(_inverse, SMALL, weight=lambda inside: 1 / (1 + inside)),
                "weight scaled by 1.01": Mutant(
                    _inverse, SMALL, severity=0.01, weight=lambda inside: HUNDREDTH / (1 - inside)
                ),
            },
        ),
        "#A.1": Display(
            "(A.1), the difference of the quadratic forms",
            printed=Form(
                "norm(theta - hat(theta)')_(H')^2 - norm(theta - hat(theta))_H^2 = (x^T theta)^2 + (bold(y)')^T X' [H']^(-1) X'^T bold(y)' - "
                "bold(y)^T X (H)^(-1) X^T bold(y) - 2 y (x^T theta)",
                _centred,
                _on_designs(AXES),
            ),
            mutants={
                "sign of the cross term": Mutant(_centred, SMALL, factor=Fraction(-1)),
                "cross term scaled by 1.01": Mutant(_centred, SMALL, severity=0.01, factor=HUNDREDTH),
            },
        ),
        "#covariance": Display(
            "text: the covariances",
            printed=Form(
                '"covariances" H\\/gamma, H\'\\/gamma',
                partial(_covariances, inverted=False),
                [smallest(REFUTED, SMALL)],
            ),
            corrected=Form(
                '"covariances" H^(-1)\\/gamma, [H\']^(-1)\\/gamma', _covariances, _on_designs(AXES, corrected=True)
            ),
            wrong="The precision matrices are named for the covariances.",
            mutants={"scaled by 1.01": Mutant(_covariances, SMALL, severity=0.01, factor=HUNDREDTH)},
        ),
    },
)
