"""RW21, Theorem 17: privacy of releasing a symmetric matrix with GOE noise, beside the classical upper triangle.

The upper triangle with the diagonal divided by sqrt(2) is a vector with i.i.d. N(0, sigma_3^2) noise and sensitivity
||H_x||_F / sqrt(2), so the exact profile is Gaussian with mu = ||H_x||_F / (sqrt(2) sigma_3).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from audits import Budget, Estimate
from mechanisms import Direction
from mechanisms.profiles import GaussianProfile
from reports.row import Figure

from ..cases import adversarial, case, grid, mutant
from ..evidence import FORMULA_ERROR, coverage_evidence
from ..formal import FormalClaim, Version, numbers, version_name
from ..plots import profile_figure
from ..search import Axis, Point
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value

ID = "RW21-T17"
PDP, EX_POST, DP, CLASSIC, NORM = (f"{ID}.{i}" for i in range(1, 6))
#: Absolute allowance for the final float64 subtraction of two proved brackets.
ROUNDING = 1e-15
TOLERANCE = 1e-9
DELTAS = (0.5, 1e-1, 1e-3, 1e-6, 1e-12)


def epsilon_goe(p: Point, *, scale: float = 1.0) -> float:
    """Return T17.1 (and T17.3 with ``beta`` for the norm): ``f^2/(4 s^2) + f sqrt(2 log(1/delta)) / (sqrt(2) s)``."""
    ratio = p["norm"] / p["sigma"]
    return scale * (ratio**2 / 4.0 + ratio * math.sqrt(2.0 * math.log(1.0 / p["delta"])) / math.sqrt(2.0))


def epsilon_classic(p: Point, *, scale: float = 1.0) -> float:
    """Return T17.4's reference: ``beta^2/(2 s^2) + beta sqrt(2 log(1/delta)) / s`` for the plain upper triangle."""
    ratio = p["norm"] / p["sigma"]
    return scale * (ratio**2 / 2.0 + ratio * math.sqrt(2.0 * math.log(1.0 / p["delta"])))


def _claim(mu_per_ratio: float, versions: dict[str, Version]) -> FormalClaim:
    return FormalClaim(
        profile=lambda p: GaussianProfile(mu_per_ratio * p["norm"] / p["sigma"]),
        box={"norm": Axis(1e-3, 1e3), "sigma": Axis(1e-2, 1e2), "delta": Axis(1e-12, 0.99)},
        versions=versions,
        observer=Observer.TRANSCRIPT,
        conditioned_on="the released parameter",
    )


_GOE_VERSIONS = {
    "printed": Version(epsilon_goe),
    "epsilon cut by 5 %": Version(lambda p: epsilon_goe(p, scale=0.95)),
    "norm of the strict upper triangle": Version(lambda p: epsilon_goe(p | {"norm": p["norm"] / math.sqrt(2.0)})),
}
CLAIMS = {
    PDP: _claim(math.sqrt(0.5), _GOE_VERSIONS),
    DP: _claim(math.sqrt(0.5), _GOE_VERSIONS),
    # Upper(H_x) is longest, relative to ||H_x||_F, for a diagonal H_x: the sensitivity is then the whole norm.
    CLASSIC: _claim(
        1.0,
        {
            "printed": Version(epsilon_classic),
            "epsilon cut by 5 %": Version(lambda p: epsilon_classic(p, scale=0.95)),
            "the formula of the GOE release": Version(epsilon_goe),
        },
    ),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    if case.part == EX_POST:
        return _ex_post(case)
    if case.part == NORM:
        return _norm_identity(case)
    if "compare" in case.params:
        return _comparison(case)
    return CLAIMS[case.part].check(case, budget)


def _ex_post(case: Case) -> Evidence:
    """Enclose P(|L| <= epsilon), L ~ N(mu^2/2, mu^2), from the profile's tails above epsilon and -epsilon."""
    p = numbers(case)
    epsilon = epsilon_goe(p, scale=0.9 if version_name(case) == "epsilon cut by 10 %" else 1.0)
    share = 0.9 if version_name(case) == "failure at most 0.9 delta" else 2.0
    profile = GaussianProfile(math.sqrt(0.5) * p["norm"] / p["sigma"])
    wide, narrow = epsilon * (1.0 + FORMULA_ERROR), epsilon * (1.0 - FORMULA_ERROR)
    above = {t: profile.tail_bracket(t, Direction.FORWARD) for t in (-wide, -narrow, narrow, wide)}
    low = above[-narrow].low - above[narrow].high - ROUNDING
    high = above[-wide].high - above[wide].low + ROUNDING
    return coverage_evidence(
        "probability that the ex-post loss is at most epsilon in absolute value",
        1.0 - share * p["delta"],
        exact=Estimate.proved(low, high, "closed form, ball arithmetic"),
    )


def _random_matrix(case: Case) -> list[list[Fraction]]:
    """Return a symmetric matrix with entries k/8 in the named shape."""
    dim = case.whole("dim")
    integers = np.random.Generator(np.random.PCG64DXSM(dim)).integers(-64, 65, size=(dim, dim))
    if case.params["shape"] == "diagonal":
        integers = np.diag(np.diag(integers))
    if case.params["shape"] == "rank one":
        integers = np.outer(integers[0], integers[0])
    return [[Fraction(int(integers[min(i, j), max(i, j)]), 8) for j in range(dim)] for i in range(dim)]


def _norm_identity(case: Case) -> Evidence:
    """Compare both sides squared, in rational arithmetic: the printed identity is exact or it is not."""
    H = _random_matrix(case)
    dim = len(H)
    diagonal = sum((H[i][i] ** 2 for i in range(dim)), Fraction(0))
    strict = sum((H[i][j] ** 2 for i in range(dim) for j in range(i + 1, dim)), Fraction(0))
    weight = Fraction(1) if version_name(case) == "diagonal not divided" else Fraction(1, 2)
    ratio = (weight * diagonal + strict) / (diagonal + 2 * strict)
    claim = Claim("squared norm of the scaled triangle over ||H_x||_F^2", 0.5, 0.5, 0.5, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(*_enclose(ratio), "rational arithmetic"))


def _comparison(case: Case) -> Evidence:
    """Decide one of T17.4's comparisons with the classical release at noise ``s``, taking sigma_3 = s / sqrt(2)."""
    p, what = numbers(case), case.params["compare"]
    if what == "sensitivity":
        H = _random_matrix(case)
        upper = sum((H[i][j] ** 2 for i in range(len(H)) for j in range(i, len(H))), Fraction(0))
        ratio = upper / sum((h * h for row in H for h in row), Fraction(0))
        claim = Claim("||Upper(H_x)||^2 over ||H_x||_F^2", 0.0, 1.0, 1.0, observer=Observer.OUTPUT)
        return Evidence(claim, exact=Estimate.proved(*_enclose(ratio), "rational arithmetic"))
    goe, classic = p | {"sigma": p["sigma"] * math.sqrt(0.5)}, p
    ratio_of, allowed = {
        "diagonal variance": (2.0 * goe["sigma"] ** 2 / classic["sigma"] ** 2, 1.0),
        "off-diagonal variance": (goe["sigma"] ** 2 / classic["sigma"] ** 2, 0.5),
        "epsilon": (epsilon_goe(goe) / epsilon_classic(classic), 1.0),
    }[str(what)]
    claim = Claim(
        f"{what}: GOE over classical", allowed - TOLERANCE, allowed + TOLERANCE, allowed, observer=Observer.OUTPUT
    )
    exact = Estimate(
        ratio_of, ratio_of - FORMULA_ERROR, ratio_of + FORMULA_ERROR, 0.0, 0, "float64 with an error bound"
    )
    return Evidence(claim, exact=exact)


def _enclose(value: Fraction) -> tuple[float, float]:
    """Return the two floats around a rational number (the same one twice where it is representable)."""
    near = float(value)
    if Fraction(near) == value:
        return near, near
    return float(np.nextafter(near, -np.inf)), float(np.nextafter(near, np.inf))


def _cases() -> tuple[Case, ...]:
    printed = Standing.PRINTED
    ratios = {"norm": (1e-3, 0.1, 1.0, 30.0), "sigma": (0.5, 20.0), "delta": DELTAS}
    shapes = {"dim": (1, 2, 3, 10), "shape": ("full", "diagonal", "rank one")}
    release: dict[str, Value] = {"norm": 1.0, "sigma": 3.0, "delta": 1e-6}
    cases: list[Case] = []
    for part, claim in CLAIMS.items():
        cases += [*grid(part, printed, ratios, regime="scales and delta", quick_every=7), adversarial(part, printed)]
        cases += [
            mutant(part, name, severity=0.05 if "5 %" in name else None) for name in claim.versions if name != "printed"
        ]
    cases += grid(EX_POST, printed, ratios, regime="scales and delta", quick_every=7)
    cases.append(
        mutant(EX_POST, "failure at most 0.9 delta", {"norm": 1e-3, "sigma": 1e3, "delta": 0.999}, severity=0.1)
    )
    cases.append(mutant(EX_POST, "epsilon cut by 10 %", {"norm": 1e3, "sigma": 1.0, "delta": 1e-6}, severity=0.1))
    cases += grid(NORM, printed, shapes, regime="random symmetric matrices, exact")
    cases.append(mutant(NORM, "diagonal not divided", {"dim": 3, "shape": "full"}))
    cases += [
        case(CLASSIC, printed, {"compare": "sensitivity", "dim": d, "shape": s})
        for d, s in ((1, "full"), (2, "diagonal"), (5, "full"))
    ]
    cases += [
        case(CLASSIC, printed, {"compare": w, **release})
        for w in ("diagonal variance", "off-diagonal variance", "epsilon")
    ]
    return tuple(cases)


_EPSILON = (
    "(norm(H_x)_F^2)/(4 sigma_3^2) + (norm(H_x)_F sqrt(2 log(1/delta)))/(sqrt(2) sigma_3)",
    "||H_x||_F^2/(4 sigma_3^2) + ||H_x||_F sqrt(2 log(1/delta))/(sqrt(2) sigma_3)",
)


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile of both releases at the same off-diagonal noise, with T17.1 marked."""
    point = {"norm": 1.0, "sigma": 3.0, "delta": 1e-6}
    setting = "||H_x||_F = 1, sigma_3 = 3"
    return (
        profile_figure(
            "rw21-t17",
            "Exact profile of the GOE release",
            CLAIMS[PDP].profile(point),
            1e-6,
            {"T17.1": epsilon_goe(point)},
            setting,
        ),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="theorem",
    title="Releasing a symmetric matrix with GOE noise",
    locator="Supplement D, Theorem 17",
    domain=(
        "H = sum of symmetric H_x, add or remove one x, sigma_3 > 0, delta in (0, 1); sigma_3 and the released parameter "
        "public. Decided for ||H_x||_F in [1e-3, 1e3], sigma_3 in [0.01, 100], delta in [1e-12, 0.99]"
    ),
    summary="True. The ex-post failure probability 2 delta is loose: it never exceeds delta.",
    parts=(
        Part(PDP, "per-instance privacy", Formula("epsilon(dot) = " + _EPSILON[0], "epsilon = " + _EPSILON[1])),
        Part(
            EX_POST,
            "ex-post loss, with probability 1 - 2 delta",
            Formula("Pr[abs(L) <= " + _EPSILON[0] + "] >= 1 - 2 delta", "P(|L| <= " + _EPSILON[1] + ") >= 1 - 2 delta"),
        ),
        Part(
            DP,
            "differential privacy with sup ||H_x||_F <= beta",
            Formula(
                "epsilon <= beta^2/(4 sigma_3^2) + (beta sqrt(2 log(1/delta)))/(sqrt(2) sigma_3)",
                "epsilon <= beta^2/(4 sigma_3^2) + beta sqrt(2 log(1/delta))/(sqrt(2) sigma_3)",
            ),
        ),
        Part(
            CLASSIC,
            "the classical upper-triangle release, and the comparison with it",
            Formula(
                'norm("Upper"(H_x))_2 <= norm(H_x)_F <= beta, quad epsilon = beta^2/(2 sigma_3^2) + (beta sqrt(2 log(1/delta)))/sigma_3',
                "||Upper(H_x)|| <= ||H_x||_F <= beta, epsilon = beta^2/(2 sigma_3^2) + beta sqrt(2 log(1/delta))/sigma_3",
            ),
        ),
        Part(
            NORM,
            "norm of the scaled triangle",
            Formula(
                'norm(["diag"(H_x)/sqrt(2), "strict upper"(H_x)])_2 = 1/sqrt(2) norm(H_x)_F',
                "||[diag(H_x)/sqrt(2), strict upper(H_x)]|| = ||H_x||_F / sqrt(2)",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
