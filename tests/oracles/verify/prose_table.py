"""Numbers in prose that no row of their statement shows, and what each is made from.

``MEASURED``: the words around the numbers, and what they are made from. ``DERIVED``: what follows on paper.
``SETTINGS``: what is the paper's, or says how we decide, word for word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from flint import arb
from oracles.formula_cases import one
from scipy import optimize, special, stats

from audits import Budget, StreamKey
from mechanisms import BOTH
from mechanisms.releases.composition import advanced_composition, optimal_composition
from verify.figures.figure_page import stream
from verify.kernel.statement import Evidence, Standing
from verify.papers.redberg_wang2021 import cor_16
from verify.papers.redberg_wang2021.figures import rw21_fig_1, rw21_fig_2
from verify.papers.redberg_wang2021.shared import gaussian_costs
from verify.papers.wang2018 import thm_3i
from verify.papers.wang2018.shared.printed_tables import EXISTING, OURS, table
from verify.papers.wang2019 import fact_2_6_2, lem_2_4, prop_4_4_1, rem_u1
from verify.papers.wang2019.shared import tail_box

Values = Callable[[], tuple[float, ...]]
NUMBER = r"(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)"


def rows(id_: str, part: str = "") -> Iterator[tuple[Standing, Evidence]]:
    """Yield the evidence of the exact cases of a part that are no mutants, worked out afresh."""
    for case in one(id_).cases:
        if case.part == id_ + part and not case.mutant and not any(case.draws):
            yield case.standing, one(id_).check(case, Budget(10, 1e-4, StreamKey(20210527)))


def notes(id_: str, part: str) -> dict[str, float]:
    """Return the notes of the first case of a part."""
    _, evidence = next(rows(id_, part))
    return {key: float(value) for key, value in evidence.notes.items() if isinstance(value, (int, float))}


def largest(id_: str, part: str, standing: Standing = Standing.CORRECTED) -> tuple[float, float]:
    """Return the largest lower and the largest upper end of what the exact cases of one version find."""
    found = [row.exact for version, row in rows(id_, part) if version is standing and row.exact]
    return max(exact.low for exact in found), max(exact.high for exact in found)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return the delta of a normal release of distance ``mu``."""
    return float(special.ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * special.ndtr(-mu / 2 - epsilon / mu))


@cache
def first_failure(releases: int, constant: float, start: float) -> tuple[float, float]:
    """Return the least epsilon, up to a tenth, at which some delta is exceeded, and that delta.

    Each of ``releases`` statistics has noise ``releases sqrt(log(constant/delta))/epsilon`` times its sensitivity.
    """
    deltas = np.geomspace(1e-3, 0.99, 2_000)
    distance = 1 / np.sqrt(releases * np.log(constant / deltas))

    def ratios(epsilon: float) -> list[float]:
        return [gaussian_delta(epsilon, epsilon * mu) / delta for mu, delta in zip(distance, deltas, strict=True)]

    least = optimize.brentq(lambda epsilon: max(ratios(epsilon)) - 1, start, start + 1, xtol=1e-3)
    return math.ceil(10 * least) / 10, float(deltas[int(np.argmax(ratios(least)))])


def two_releases() -> tuple[float, float]:
    """W18-S1: variances 4 log(4/delta)/epsilon^2 times the squared sensitivities."""
    return first_failure(2, 4.0, 9.0)


def three_releases() -> tuple[float, float]:
    """W18-A2: noise sqrt(log(6/delta))/(epsilon/3) times the sensitivities."""
    return first_failure(3, 6.0, 15.5)


def one_release() -> tuple[float, ...]:
    """W18-TH3i: the delta of one release at a third of epsilon = 1, over a promise of 1e-9."""
    return (gaussian_delta(1 / 3, (1 / 3) / math.sqrt(math.log(6 / 3e-9))) / 1e-9,)


def composed() -> tuple[float, ...]:
    """Return by how many percent the explicit form of W19-F2.6.2 exceeds the exact one at its tightest."""
    at = fact_2_6_2.TIGHT
    epsilon, k, slack = float(at["epsilon"]), int(at["k"]), float(at["slack"])
    stated = advanced_composition(epsilon, 0.0, k, slack).epsilon
    exact = optimize.brentq(lambda t: optimal_composition(epsilon, 0.0, k, t) - slack, 0.0, k * epsilon * (1 - 1e-9))
    return (100.0 * (stated / exact - 1.0),)


def event_widths() -> tuple[float, ...]:
    """Return the width of W19-EA.4's event over the needed one, at two deltas."""
    return tuple(math.sqrt(math.log(4 / d)) / 2 / float(stats.norm.isf(d / 4)) for d in (0.1, 1e-12))


def small_leverage() -> tuple[float, ...]:
    """W19-R4.2: the constant that a leverage near 0 needs at residual term 1, delta = 1e-12, up to a hundredth."""
    mu = 1 / math.sqrt(math.log(2e12))
    return (math.ceil(100 * optimize.brentq(lambda e: gaussian_delta(e, mu) / 1e-12 - 1, 0.5, 2.0)) / 100,)


def sample_slack() -> tuple[float, ...]:
    """W19-P4.4.1: by how many percent the sample's exact epsilon is below its half at the tightest case."""
    statement = one("W19-P4.4.1")
    case = next(case for case in statement.cases if case.params == prop_4_4_1.TIGHT)
    epsilon, delta = case.number("epsilon"), case.number("delta")
    law = prop_4_4_1.sample(case)
    exact = optimize.brentq(lambda e: max(law.delta_bracket(e, d).high for d in BOTH) - delta / 2, 0.5, epsilon)
    return (100 * (1 - exact / (epsilon / 2)),)


def shrunken_excess() -> tuple[float, ...]:
    """W18-TH2iii: the largest excess over its order, from below and above, and the proof's constant over it."""
    low, high = largest("W18-TH2iii", "#covariance")
    return math.floor(10 * low) / 10, high, 64 * math.exp(4), math.floor(64 * math.exp(4) / high)


def short_bound() -> tuple[float, ...]:
    """W18-L8, L9: the confidence below which 5 d log(1/rho) < d, the mean, decisive as d grows; up to a hundredth."""
    return (math.ceil(100 * (1 - math.exp(-1 / 5))) / 100,)


def public_n() -> tuple[float, ...]:
    """W18-F1 to F4, n public: delta over the promised one at the smallest case, the least and the largest of four."""
    found = [
        evidence.exact.value / 1e-9 for k in "1234" for _, evidence in [next(rows(f"W18-F{k}", "@a"))] if evidence.exact
    ]
    return min(found), max(found)


def best_with_ties(number: int) -> int:
    """W18-X1: data sets of a table on which the better of the paper's two methods is at least as good as the others."""
    return sum(min(row[m][0] for m in OURS) <= min(row[m][0] for m in EXISTING) for row in table(number).values())


def over_dimensions() -> tuple[float, ...]:
    """RW21-F5: the data-dependent bound at d = 60 over that at d = 1, under both rules of labels."""
    seen = notes("RW21-F5", "#plotted")
    return tuple(
        seen[f"data-dependent, d=60, {label}"] / seen[f"data-dependent, d=1, {label}"]
        for label in ("logistic model", "sign of the score")
    )


def universe() -> dict[str, float]:
    """Return the gains that W19-FIG1 shows."""
    return notes("W19-FIG1", "#in the universe")


def rotated() -> tuple[float, ...]:
    """RW21-F1: the shares of the first term at a small rotation, and the sigma at which the text is right."""
    shares = notes("RW21-F1", "#small rotations")
    return shares["share at sigma=1.25"], shares["share at sigma=108"], rw21_fig_1.sigma_at(0.35)


def never_holds() -> tuple[float, ...]:
    """RW21-N1: the probability that the quoted tau holds the norm, up to a power of ten."""
    found = (one("RW21-N1").check(case, Budget(50, 1e-4, StreamKey(1))) for case in one("RW21-N1").cases)
    return (10.0 ** math.ceil(math.log10(min(row.exact.value for row in found if row.exact))),)


def allowed_constant() -> tuple[float, ...]:
    """W18-E12: the constant that its cases are decided with, as the claim has it in words."""
    statement = one("W18-E12")
    quantity = statement.check(statement.cases[0], Budget(20, 1e-4, StreamKey(1))).claim.quantity
    return (float(quantity.partition("within ")[2].split()[0]),)


def least_noise() -> tuple[float, ...]:
    """RW21-F2: by how much the mean loss moves at epsilon = 10 and c = 100, 120 draws; at 3 by less than 0.01."""
    dataset, noise = rw21_fig_2.data(stream(1, "RW21-F2")), np.random.default_rng(1).standard_normal((120, 50))
    moved = {
        epsilon: float(np.mean(rw21_fig_2.zero_one(dataset, epsilon, 100.0, noise)))
        - float(np.mean(rw21_fig_2.zero_one(dataset, epsilon, 1.0, noise)))
        for epsilon in (3.0, 10.0)
    }
    return (0.01 if abs(moved[3.0]) < 0.01 < moved[10.0] else math.nan), moved[10.0]


def ends() -> tuple[float, float]:
    """Return the ends of the searched ratios of a change to its noise."""
    box = gaussian_costs.COST.box
    return box["norm"].low / box["sigma"].high, box["norm"].high / box["sigma"].low


def relative(id_: str, part: str) -> float:
    """Return the largest value over what is allowed among the exact cases."""
    found = (row for _, row in rows(id_, part) if row.exact and math.isfinite(row.exact.value))
    return max(row.exact.value / row.claim.high for row in found if row.exact)


def least(id_: str, part: str) -> float:
    """Return the least lower end of what the exact printed cases find."""
    return min(e.exact.low for s, e in rows(id_, part) if e.exact and s is Standing.PRINTED)


def wide_loss() -> float:
    """W19-U1: the largest ratio of the loss to its order at n = 1e4."""
    ratios = (float(rem_u1.loss_bound(arb(1e4), a / 100).mid()) / 1e4 ** (a / 200 - 0.25) for a in range(1, 51))
    return max(ratios)


TWICE = 2 * float(stats.norm.sf(1.0))
MEASURED: dict[str, list[tuple[str, Values]]] = {
    "W19-L2.4": [(f"Loose by {NUMBER} % at epsilon = 1, delta = 1e-12", lambda: (100 * (1 - lem_2_4.CRITICAL),))],
    "W19-E3.3": [(f"Loose by {NUMBER} % at epsilon = 1, delta = 1e-12", lambda: (100 * (1 - lem_2_4.CRITICAL),))],
    "W19-F2.6.2": [(f"explicit form is {NUMBER} % above", composed)],
    "W19-EA.4": [
        (f"{NUMBER} of the needed width at delta = 0.1 and {NUMBER} at 1e-12", event_widths),
        (r"of order delta\^\((\d/\d)\)", lambda: (0.5 * 0.5**2,)),  # P(Z > t/2) is of order exp(-t^2/8)
    ],
    "W19-FIG1": [(f"gain is {NUMBER} at n = 100, d = 20", lambda: (universe()["gain at n=100, d=20"],))],
    "W19-LB.5": [(rf"sqrt\(2 pi\) = {NUMBER}.*= {NUMBER}", lambda: (math.sqrt(2 * math.pi), math.sqrt(2 / math.pi)))],
    "W19-S4.C": [
        (rf"probability 2\^-{NUMBER}, against 21\^-10 = {NUMBER}", lambda: (21 - 1, 21.0**-10)),
        (rf"singular design has probability 2\^-{NUMBER}", lambda: (21 - 1,)),
        (f"for n around {NUMBER}", lambda: (float(max(e.notes["n"] for _, e in rows("W19-S4.C", "#size"))),)),
    ],
    "W19-T4.1": [
        (
            rf"delta in \[{NUMBER}, {NUMBER}\]$",  # that of the box, rounded inwards
            lambda: (
                math.ceil(1e4 * 2 * math.exp(-tail_box.BOX["log(2/delta)"].high)) / 1e4,
                math.floor(1e2 * 2 * math.exp(-tail_box.BOX["log(2/delta)"].low)) / 1e2,
            ),
        )
    ],
    "W19-R4.2": [(f"{NUMBER} is enough for delta >= 1e-12", small_leverage)],
    "W19-P4.4.1": [
        (f"epsilon is loose by {NUMBER} % at the closest", sample_slack),
        (f"delta <= {NUMBER}, n a public bound", lambda: (math.floor(10 * 2 * TWICE) / 10,)),
    ],
    "W19-ALG1": [(rf"delta in \(0, {NUMBER}\]", lambda: (math.floor(10 * 2 * TWICE) / 10,))],
    "W19-U1": [(f"ratio at most {NUMBER}", lambda: (math.ceil(10 * wide_loss()) / 10,))],
    "W18-S1": [
        (
            rf"not beyond {NUMBER} \(at delta around {NUMBER}\)",
            two_releases,
        ),
        (f"not beyond {NUMBER};", lambda: two_releases()[:1]),
    ],
    "W18-A2": [
        (rf"not beyond {NUMBER} \(delta around {NUMBER}\)", three_releases),
        (f"not beyond {NUMBER};", lambda: three_releases()[:1]),
    ],
    "W18-TH3i": [
        (f"(?:false beyond|not from) {NUMBER}", lambda: three_releases()[:1]),
        (f"by {NUMBER} times in delta at epsilon = 1, delta/3 = 1e-9", one_release),
        (f"Loose by {NUMBER} % at the closest", lambda: (100 * (1 - thm_3i.CRITICAL),)),
    ],
    "W18-T2": [
        (rf"\({NUMBER} in one dimension\)", lambda: (96 * relative("W18-T2", "#SSP mean"),)),
    ],
    "W18-TH2iii": [
        (
            f"by more than {NUMBER} %",
            lambda: (math.floor(20 * least("W18-TH2iii", "#mean")) * 5.0,),  # to five percent
        ),
        (
            f"between {NUMBER} and {NUMBER} times its order, .* = {NUMBER} is loose by at least {NUMBER}",
            shrunken_excess,
        ),
    ],
    "W18-C7": [
        (
            rf"at least {NUMBER} and {NUMBER} are needed",
            lambda: (12 * relative("W18-C7", "#rate"), 6 * relative("W18-C7", "#rate of F")),
        )
    ],
    "W18-L8": [(f"below {NUMBER} (?:in many|only)", short_bound)],
    "W18-L9": [(f"below {NUMBER} (?:in many|only)", short_bound)],
    "W18-E21": [(f"largest ratio found is {NUMBER}", lambda: (2 * relative("W18-E21", "#21"),))],
    "W18-X1": [(rf"\({NUMBER} and {NUMBER} with ties\)", lambda: (best_with_ties(3), best_with_ties(4)))],
    "W18-TH2ii": [
        (f"up to {NUMBER} records", lambda: (3.0 * max(c.params.get("copies", 0) for c in one("W18-TH2ii").cases),))
    ],
    **{
        f"W18-F{k}": [
            (f"delta is {NUMBER} to {NUMBER} times the promised 1e-9", public_n),
            (f"delta at most {NUMBER} in the corrected form", lambda: (TWICE,)),
        ]
        for k in "1234"
    },
    "W18-E14": [(rf"in \[1e-6, {NUMBER}\] \(the threshold", lambda: (1 / 1e-6,))],  # s/(1 - s) with s up to 1 - 1e-6
    "RW21-C16": [(f"loose by {NUMBER} % at least", lambda: (100 * (1 - cor_16.CRITICAL),))],
    "RW21-T10": [(rf"log 2/log\({NUMBER}/{NUMBER}\) = {NUMBER}", lambda: (7.0, 6.0, math.log(2) / math.log(7 / 6)))],
    "RW21-P15": [(f"The factor 12 is loose: {NUMBER} suffices", lambda: (math.log(2) / math.log(7 / 6),))],
    "RW21-T14": [
        (rf"sigma_2 in \[{NUMBER}, {NUMBER}\]", ends),
        (
            f"with probability below rho/{NUMBER}",
            lambda: (math.floor(1 / (2 * stats.norm.sf(math.sqrt(2 * math.log(2))))),),
        ),
    ],
    "RW21-I1": [(f"{NUMBER} % and {NUMBER} %", lambda: tuple(100 / (1 + math.exp(-e)) for e in (2, 5)))],
    "RW21-N1": [(f"tau = 12 with probability below {NUMBER}", never_holds)],
    "RW21-F1": [
        (rf"\({NUMBER} to {NUMBER}\), one more copy", lambda: (rw21_fig_1.sigma_at(0.1), rw21_fig_1.sigma_at(10.0))),
        (f"{NUMBER} at sigma = 1.25 and {NUMBER} at 108. With sigma about {NUMBER} the text", rotated),
    ],
    "W18-E12": [(f"with constant {NUMBER} for", allowed_constant)],
    **{key: [(rf"sigma(?:_[24])? in \[{NUMBER}, {NUMBER}\]", ends)] for key in ("RW21-A5", "RW21-T11", "RW21-C23")},
    "RW21-F2": [
        (f"less than {NUMBER} for epsilon <= 3 and by {NUMBER} at epsilon = 10", least_noise),
        (f"needs {NUMBER} to {NUMBER}", lambda: (rw21_fig_2.star(0.1), rw21_fig_2.star(10.0))),
    ],
    "RW21-F5": [(rf"a factor {NUMBER} \(logistic labels\) to {NUMBER} \(separable", over_dimensions)],
}
#: Words whose numbers follow on paper: (words, file of ``docs/derivations``, what it has).
DERIVED: dict[str, tuple[tuple[str, str, str], ...]] = {
    "W19-P4.3.1c": (("16 lambda_n/9", "wang2019_section_4.md", r"16\lambda/9"),),
    "W18-TH3iii": (("the constant being 9 at most", "wang2018_rates.md", r"\le9\tilde C\log(6/\delta)/\epsilon^2"),),
    "W18-TH3ii": (("9 d/32", "wang2018_rates.md", r"\frac{9d}{32}"),),
}
#: Words whose numbers are settings of the paper, as our copy has them, or say how we decide.
SETTINGS: dict[str, tuple[str, ...]] = {
    "W19-S4.A": ("eigenvectors proved to 1e-9",),
    "W19-T4.1p": ("without the 1/2 of the exponent",),
    "W19-P4.3.2": ("n^(1/4)/sqrt(log n)",),
    "W18-T2": ("at least 1/2",),
    "W18-E15": ("N(0, 9 B^4 log(6/delta)/epsilon^2)",),
    "W18-E19": ("2/delta for epsilon/4, 6/delta",),
    "W18-X1": ("95 % half widths", "delta = min(1e-6, 1/n^2)"),
    "RW21-T10": ("log(1/rho)^(2/3)",),
    "RW21-F3": ("n = 30000, d = 21", "(0.2, 0.7, 0.1)", "delta = rho = 1e-6"),
    "RW21-F6": ("(0.2, 0.7, 0.1), (0.4, 0.5, 0.1)", "(0.5, 0.25, 0.25), (0.8, 0.1, 0.1)"),
    "RW21-F7": ("delta = rho = 1e-6",),
    "RW21-F8": ("delta = rho = 1e-6",),
    "RW21-F9": ("delta = rho = 1e-6",),
    "RW21-F10": ("delta = rho = 1e-6",),
}
