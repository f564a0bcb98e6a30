"""W19, Proposition 4.4(1): privacy of AdaOPS.

As printed the algorithm has no posterior on data with a singular Gram matrix, while a neighbour has one: the divergence is
the probability of that. Corrected, the whole is the sum of three proved shares, the sample's decided on its exact law
(docs/derivations/wang2018_adaops.md, section 4).
"""

import math
from dataclasses import replace

import numpy as np
from flint import arb

from audits import Budget, Estimate
from audits.search.worst_case import adversarial_pairs
from mechanisms import BOTH, NeighbouringPair, Relation
from mechanisms.laws.gaussian_calibration import analytic_mu
from mechanisms.laws.gaussian_profile import GaussianProfile
from mechanisms.laws.quadratic_profile import QuadraticProfile
from mechanisms.linear.adaops_wang2019 import AdaOPS2019, Settings2019
from mechanisms.linear.ops_calibrations import ridge_norm_bound
from mechanisms.numerics.balls import Ball, enclose, ndtr_ball

from ...kernel.declare import At, Form, Mutant, over, smallest, statement
from ...kernel.evidence import sampled_delta
from ..kit import Case, Claim, Evidence, Measure, Observer, hockey_stick_evidence
from .shared.adaops_rules import corrected_rule, published_rule, zero_records

#: Relative room for quantities that are solved for in float64.
SOLVED = 1.0 + 1e-11


def constants(case: Case) -> Settings2019:
    """Return the corrected constants of a case: public bounds 1, n and kappa share as given."""
    return corrected_rule(case).settings(zero_records(0, case.whole("dim")))


def sample(case: Case) -> QuadraticProfile:
    """Return the law of the sample's loss at the largest leverage and residual, or at shares of them."""
    settings = constants(case)
    residual = 1.0 + float(ridge_norm_bound(case.whole("n"), 1.0, 1.0, settings.floor))
    return QuadraticProfile(
        case.number("leverage share") / settings.floor,
        math.sqrt(settings.gamma) * residual * case.number("residual share"),
    )


def _claim(case: Case) -> Claim:
    words, delta, epsilon = (
        "hockey-stick delta at epsilon, worse direction",
        case.number("delta"),
        case.number("epsilon"),
    )
    return Claim(words, 0.0, delta, epsilon, relation=Relation.ADD, measure=Measure.DELTA)


def _improper(case: Case) -> Evidence:
    """Enclose the probability of a posterior on n records x = 0 and one x = 1, which n records x = 0 never have."""
    n, rule = case.whole("n") + 1, published_rule(case)
    settings = rule.settings(zero_records(n, 1))
    # X'X + lambda = min(1, h + b - sigma Z) is positive iff sigma Z < h + b
    bracket = enclose(
        lambda: ndtr_ball((arb(settings.floor) + arb(settings.slack)) / arb(settings.sigma)), low=0.0, high=1.0
    )
    exact = Estimate.proved(bracket.low, 1.0, "event of probability 0 on one side, normal law on the other")
    return Evidence(_claim(case), exact=exact, notes={"kappa at most": rule.largest_kappa(n - 1, 1)})


def _small_noise(case: Case) -> Evidence:
    """Decide the release alone, its noise 10 % below what the whole budget needs."""
    epsilon, delta = case.number("epsilon"), case.number("delta")
    mu = analytic_mu(epsilon, delta) / 0.9
    return hockey_stick_evidence(GaussianProfile(mu), epsilon, delta, observer=Observer.TRANSCRIPT)


def _cut_sample(case: Case) -> Evidence:
    """Decide the sample alone, its epsilon cut by 10 %."""
    epsilon, delta = case.number("epsilon"), case.number("delta")
    return hockey_stick_evidence(sample(case), 0.45 * epsilon, delta / 2.0, observer=Observer.TRANSCRIPT)


def _own_n(case: Case) -> Evidence:
    """Bound the divergence of n and n + 1 records x = 0 from below: same release, posteriors N(0, v) of two variances.

    With precisions ``gamma_n (h_n + s)``, gamma_n proportional to n, h_n = n/kappa and s = b - sigma Z within ``+-reach`` (but for a
    probability below 1e-20), their ratio lies in a ball, and so does the divergence of the two normal laws.
    """
    n, kappa, epsilon, delta = case.whole("n"), case.number("kappa"), case.number("epsilon"), case.number("delta")
    log = math.log(4.0 / delta)
    reach = arb(2.0 * log / epsilon + 10.0 * 2.0 * math.sqrt(log) / epsilon)
    shift = arb(0, reach)
    ratio = arb(n + 1) / n * ((n + 1) / arb(kappa) + shift) / (n / arb(kappa) + shift)
    # N(0, ratio) beyond |x| > c against N(0, 1): the log ratio of densities exceeds epsilon there
    c = ((2 * arb(epsilon) + ratio.log()) / (1 - 1 / ratio)).sqrt()
    divergence: Ball = 2 * ndtr_ball(-c / ratio.sqrt()) - arb(epsilon).exp() * 2 * ndtr_ball(-c)
    low, high = float(divergence.lower()) * (1 - 1e-9), float(divergence.upper()) * (1 + 1e-9)
    return Evidence(_claim(case), exact=Estimate.proved(low, high, "closed form, ball arithmetic"))


def _drawn(case: Case, budget: Budget) -> Evidence:
    """Draw the whole transcript on a pair of small data sets."""
    epsilon, dim = case.number("epsilon"), case.whole("dim")
    if case.text("pair") == "no record":
        pair = NeighbouringPair.add(zero_records(0, dim), np.eye(dim)[0], 1.0)
    else:
        pair = adversarial_pairs(39, dim, x_bound=1.0, y_bound=1.0)[0].pair
    mechanism = AdaOPS2019(corrected_rule(case, 40))
    parts = [sampled_delta(mechanism, pair, epsilon, d, budget.part(d.name, share=0.5)) for d in BOTH]
    worse, low = max(parts, key=lambda part: part.high), max(part.low for part in parts)
    value = min(max(max(part.value for part in parts), low), worse.high)
    both = Estimate(value, low, worse.high, budget.failure_prob, 2 * worse.n_draws, worse.method)
    return Evidence(_claim(case), sampled=both)


def _shares(case: Case) -> Evidence:
    """Bound the divergence by its shares: the release, the event under either member, the sample on its exact law."""
    epsilon, delta, settings = case.number("epsilon"), case.number("delta"), constants(case)
    release = max(GaussianProfile(1.0 / settings.sigma).delta_bracket(epsilon / 2.0, d).high for d in BOTH)
    event = enclose(lambda: ndtr_ball(-(arb(settings.slack) - 1) / arb(settings.sigma)), low=0.0, high=1.0).high
    loss = max(sample(case).delta_bracket(epsilon / 2.0, d).high for d in BOTH)
    exact = Estimate.proved(0.0, (release + event + loss) / SOLVED, "sum of three proved shares")
    notes = {"release, share used": release / (delta / 4), "sample, share used": loss / (delta / 2)}
    return Evidence(_claim(case), exact=exact, notes=notes)


ZERO = {"n": 40, "kappa": 1.0, "epsilon": 1.0, "delta": 0.01}
OWN = {"n": 1, "kappa": 1e-4, "epsilon": 1.0, "delta": 0.01}
OWN_TEN = {"n": 10, "kappa": 1e-5, "epsilon": 1.0, "delta": 1e-6}
LARGEST = {
    "n": (10, 100_000), "dim": (1, 20), "kappa share": (0.99, 0.3, 1e-3), "epsilon": (0.05, 1.0, 8.0),
    "delta": (0.5, 1e-3, 1e-12), "leverage share": (1.0,), "residual share": (1.0,),
}  # fmt: skip
BELOW = {
    "n": (1000,), "dim": (3,), "kappa share": (0.5,), "epsilon": (1.0,), "delta": (1e-6,),
    "leverage share": (1.0, 0.5, 0.01), "residual share": (1.0, 0.5, 0.01),
}  # fmt: skip
PAIRS = {"pair": ("no record", "39 records"), "dim": (1, 2), "kappa share": (0.5,), "epsilon": (1.0,), "delta": (0.1,)}
DRAWN = over("small data, drawn", PAIRS, draws=(4_000, 20_000, 200_000))
TIGHT = {
    "n": 1000, "dim": 1, "kappa share": 1e-3, "epsilon": 8.0, "delta": 1e-12, "leverage share": 1.0,
    "residual share": 1.0,
}  # fmt: skip

STATEMENT = statement(
    "W19-P4.4.1",
    domain="||x|| <= 1, |y| <= 1, one record added or removed, the observer sees the released eigenvalue and the sample; epsilon > 0, delta in (0, 1), kappa "
    "in the algorithm's range. Corrected: delta <= 0.6, n a public bound; decided for epsilon in [0.05, 8], delta in [1e-12, 0.5], n up to 1e5, d up to 20",
    summary="Decided on the algorithm that is meant, with max for the min of Algorithm 1 (a misprint, W19-ALG1). It fails where kappa is far below 1: gamma_n "
    "and the threshold move with the data set's own n; no failure is known for kappa at least 1. With public n, analytic noise and a "
    "proved bound on the sample's loss, the shares delta/4, delta/4 and delta/2 give the proposition; the sample's epsilon is loose by 6.3 % at the closest.",
    derivation="docs/derivations/wang2018_adaops.md, section 4",
    title="AdaOPS is (epsilon, delta)-DP",
    printed=Form(
        '"Algorithm 1 (max read for min) satisfies" (epsilon, delta)"-DP"',
        _own_n,
        [smallest("1 record x = 0, another one added", OWN), At("10 records x = 0, another one added", OWN_TEN)],
    ),
    corrected=Form(
        'sigma, b, gamma_n "from proved bounds", quad lambda_n = max{0, n/(d kappa) + b - tilde(lambda)_min}, quad n "public": quad (epsilon, delta)"-DP"',
        lambda case, budget: _drawn(case, budget) if "pair" in case.params else _shares(case),
        [
            *over("three shares, any data", LARGEST, quick_every=11),
            *over("leverage and residual below their bounds", BELOW, quick_every=4),
            *(replace(at, quick=False) for at in DRAWN),
        ],
    ),
    wrong="gamma_n and the threshold n/(d kappa) are those of the data set's own n, and so tell n records from n + 1.",
    mutants={
        "noise 10 % below what the whole budget needs": Mutant(
            _small_noise, {"epsilon": 1.0, "delta": 1e-6}, severity=0.1
        ),
        "the sample's epsilon cut by 10 %": Mutant(_cut_sample, TIGHT, severity=0.04),
        "each data set's own n": Mutant(_own_n, OWN),
        "min word for word, 40 records x = 0, x = 1 added": Mutant(_improper, ZERO),
        "min word for word, 1000 records": Mutant(_improper, ZERO | {"n": 1000, "kappa": 10.0, "delta": 1e-6}),
    },
)
