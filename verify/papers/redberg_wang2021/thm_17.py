"""RW21, Theorem 17: privacy of releasing a symmetric matrix with GOE noise, beside the classical upper triangle.

The upper triangle with the diagonal divided by sqrt(2) is a vector with i.i.d. N(0, sigma_3^2) noise and sensitivity
||H_x||_F / sqrt(2), so the exact profile is Gaussian with mu = ||H_x||_F / (sqrt(2) sigma_3).
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from audits import Budget, Estimate
from reports.row import Figure

from ...kernel.box_search import Point
from ...kernel.formal import numbers
from ...kernel.statement_plots import profile_figure
from ...methods.rational import between, generator
from ..kit import FORMULA_ERROR, At, Case, Claim, Display, Evidence, Form, Mutant, Observer, over, search, statement
from .shared.gaussian_costs import COST, epsilon_tail, ex_post, gaussian

TOLERANCE = 1e-9
GOE = gaussian(math.sqrt(0.5))


def _epsilon_goe(p: Point, *, scale: float = 1.0) -> float:
    """Return T17.1 (and T17.3 with ``beta`` for the norm): ``f^2/(4 s^2) + f sqrt(2 log(1/delta)) / (sqrt(2) s)``."""
    ratio = p["norm"] / p["sigma"]
    return scale * (ratio**2 / 4.0 + ratio * math.sqrt(2.0 * math.log(1.0 / p["delta"])) / math.sqrt(2.0))


def _squares(case: Case) -> tuple[Fraction, Fraction]:
    """Return the sums of squares of the diagonal and of the strict upper triangle of a matrix in the named shape."""
    dim = case.whole("dim")
    H = generator(dim).integers(-64, 65, size=(dim, dim))
    if case.params["shape"] == "diagonal":
        H = np.diag(np.diag(H))
    if case.params["shape"] == "rank one":
        H = np.outer(H[0], H[0])
    diagonal, strict = np.sum(np.diag(H) ** 2), np.sum(np.triu(H, 1) ** 2)
    return Fraction(int(diagonal), 64), Fraction(int(strict), 64)  # entries k/8


def _norm(case: Case, *, weight: Fraction = Fraction(1, 2)) -> Evidence:
    """Compare both sides squared, in rational arithmetic, the diagonal's squares counted by ``weight``."""
    diagonal, strict = _squares(case)
    ratio = (weight * diagonal + strict) / (diagonal + 2 * strict)
    return between("squared norm of the scaled triangle over ||H_x||_F^2", ratio, 0.5, 0.5, 0.5)


def _sensitivity(case: Case) -> Evidence:
    diagonal, strict = _squares(case)
    ratio = (diagonal + strict) / (diagonal + 2 * strict)
    return between("||Upper(H_x)||^2 over ||H_x||_F^2", ratio, 0.0, 1.0, 1.0)


#: GOE over classical release, at sigma_3 and at ``s = sqrt(2) sigma_3``, and what T17.4 says of it.
COMPARED: dict[str, tuple[Callable[[Point, Point], float], float]] = {
    "diagonal variance": (lambda goe, classic: 2.0 * goe["sigma"] ** 2 / classic["sigma"] ** 2, 1.0),
    "off-diagonal variance": (lambda goe, classic: goe["sigma"] ** 2 / classic["sigma"] ** 2, 0.5),
    "epsilon": (lambda goe, classic: _epsilon_goe(goe) / epsilon_tail(classic), 1.0),
}


def _classical(case: Case, budget: Budget) -> Evidence:
    """Decide the reference's own epsilon, or one of T17.4's comparisons with it."""
    # Upper(H_x) is longest, relative to ||H_x||_F, for a diagonal H_x: the sensitivity is then the whole norm.
    what = case.params.get("compare")
    if what is None:
        return COST.of(epsilon_tail)(case, budget)
    if what == "sensitivity":
        return _sensitivity(case)
    of, allowed = COMPARED[str(what)]
    classic = numbers(case)
    ratio = of(classic | {"sigma": classic["sigma"] * math.sqrt(0.5)}, classic)
    claim = Claim(
        f"{what}: GOE over classical", allowed - TOLERANCE, allowed + TOLERANCE, allowed, observer=Observer.OUTPUT
    )
    exact = Estimate(ratio, ratio - FORMULA_ERROR, ratio + FORMULA_ERROR, 0.0, 0, "float64 with an error bound")
    return Evidence(claim, exact=exact)


RATIOS = {"norm": (1e-3, 0.1, 1.0, 30.0), "sigma": (0.5, 20.0), "delta": (0.5, 1e-1, 1e-3, 1e-6, 1e-12)}
SCALES = over("scales and delta", RATIOS, quick_every=7)
RELEASE = {"norm": 1.0, "sigma": 3.0, "delta": 1e-6}
EX_POST = partial(ex_post, share=math.sqrt(0.5), conditioned_on="")
GOE_MUTANTS: Mapping[str, Mutant] = {
    "epsilon cut by 5 %": Mutant(GOE.of(partial(_epsilon_goe, scale=0.95)), severity=0.05),
    "norm of the strict upper triangle": Mutant(
        GOE.of(lambda p: _epsilon_goe(p | {"norm": p["norm"] / math.sqrt(2.0)}))
    ),
}


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile of both releases at the same off-diagonal noise, with T17.1 marked."""
    bounds, setting = {"T17.1": _epsilon_goe(RELEASE)}, "||H_x||_F = 1, sigma_3 = 3"
    title = "Exact profile of the GOE release"
    return (profile_figure("rw21-t17", title, GOE.profile(RELEASE), 1e-6, bounds, setting),)


EPSILON = "(norm(H_x)_F^2)/(4 sigma_3^2) + (norm(H_x)_F sqrt(2 log(1/delta)))/(sqrt(2) sigma_3)"

STATEMENT = statement(
    "RW21-T17",
    domain="H = sum of symmetric H_x, add or remove one x, sigma_3 > 0, delta in (0, 1); sigma_3 and the released parameter "
    "public. Decided for ||H_x||_F in [1e-3, 1e3], sigma_3 in [0.01, 100], delta in [1e-12, 0.99]",
    summary="True. The ex-post failure probability 2 delta is loose: it never exceeds delta.",
    displays={
        ".1": Display(
            printed=Form("epsilon(dot) = " + EPSILON, GOE.of(_epsilon_goe), [*SCALES, search()]), mutants=GOE_MUTANTS
        ),
        ".2": Display(
            printed=Form(
                "Pr[abs(L) <= " + EPSILON + "] >= 1 - 2 delta",
                partial(EX_POST, epsilon=_epsilon_goe, failure=2.0),
                SCALES,
            ),
            mutants={
                "failure at most 0.9 delta": Mutant(
                    EX_POST,
                    {"norm": 1e-3, "sigma": 1e3, "delta": 0.999},
                    severity=0.1,
                    epsilon=_epsilon_goe,
                    failure=0.9,
                ),
                "epsilon cut by 10 %": Mutant(
                    EX_POST,
                    {"norm": 1e3, "sigma": 1.0, "delta": 1e-6},
                    severity=0.1,
                    epsilon=partial(_epsilon_goe, scale=0.9),
                    failure=2.0,
                ),
            },
        ),
        ".3": Display(
            printed=Form(
                "epsilon <= beta^2/(4 sigma_3^2) + (beta sqrt(2 log(1/delta)))/(sqrt(2) sigma_3)",
                GOE.of(_epsilon_goe),
                [*SCALES, search()],
            ),
            mutants=GOE_MUTANTS,
        ),
        ".4": Display(
            printed=Form(
                'norm("Upper"(H_x))_2 <= norm(H_x)_F <= beta, quad epsilon = beta^2/(2 sigma_3^2) + (beta sqrt(2 log(1/delta)))/sigma_3',
                _classical,
                [
                    *SCALES,
                    search(),
                    *(
                        At("", {"compare": "sensitivity", "dim": d, "shape": s})
                        for d, s in ((1, "full"), (2, "diagonal"), (5, "full"))
                    ),
                    *(At("", {"compare": what, **RELEASE}) for what in COMPARED),
                ],
            ),
            mutants={
                "epsilon cut by 5 %": Mutant(COST.of(partial(epsilon_tail, scale=0.95)), severity=0.05),
                "the formula of the GOE release": Mutant(COST.of(_epsilon_goe)),
            },
        ),
        ".5": Display(
            printed=Form(
                'norm(["diag"(H_x)/sqrt(2), "strict upper"(H_x)])_2 = 1/sqrt(2) norm(H_x)_F',
                _norm,
                over(
                    "random symmetric matrices, exact",
                    {"dim": (1, 2, 3, 10), "shape": ("full", "diagonal", "rank one")},
                ),
            ),
            mutants={"diagonal not divided": Mutant(_norm, {"dim": 3, "shape": "full"}, weight=Fraction(1))},
        ),
    },
    figures=figures,
)
