"""W19, equation 3.4: the per-instance sensitivity of linear regression, each equality by itself, in rational arithmetic.

With the residual at the estimate that has seen the target, the Hessian must be the one that has not
(docs/derivations/wang2019_sections_2_3.md, equation 3.4).
"""

from __future__ import annotations

from fractions import Fraction

from audits import Budget
from mechanisms import Relation

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .rational import SHAPES, Matrix, design, fraction, identity, matrix, proved, quadratic, random_matrix, stack

ID = "W19-E3.4"
FIRST, SECOND, FACTOR = f"{ID}#first", f"{ID}#second", f"{ID}#leverage"


def metric(name: str, H: Matrix, seed: int) -> Matrix:
    """Return the matrix of the norm: identity, Gram matrix, its square, or a random positive definite one."""
    dim = H.nrows()
    if name == "random":
        R = random_matrix(dim, dim, seed, 31)
        return R.transpose() * R + identity(dim)
    return {"identity": identity(dim), "Gram matrix": H, "its square": H * H}[name]


def check(case: Case, budget: Budget) -> Evidence:
    """Compare squares: the exact squared sensitivity with the squared right-hand side."""
    if "n" not in case.params:  # X = (1, 1)', y = 0, target (1, 3): H = 2, H' = 3, theta' = 1
        X, y, x, target, seed = matrix(2, 1, [1, 1]), matrix(2, 1, [0, 0]), matrix(1, 1, [1]), matrix(1, 1, [3]), 0
    else:
        n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
        X, y = design(case.text("shape"), n, dim, seed), random_matrix(n, 1, seed, 5)
        x, target = random_matrix(dim, 1, seed, 6), random_matrix(1, 1, seed, 7)
    H = X.transpose() * X
    joined = H + x * x.transpose()
    if case.part == FACTOR:
        return _leverage(case, H if case.params["design"] == "X" else joined, x)
    A = metric(case.text("A"), H, seed)
    theta = H.inv() * (X.transpose() * y)
    moved = joined.inv() * (stack(X, x).transpose() * stack(y, target))
    out, inside = (fraction((target - x.transpose() * t)[0, 0]) for t in (theta, moved))
    version = version_name(case)
    inverse = (joined if case.part == FIRST else H).inv()
    residual = inside if case.part == SECOND or version == "printed" else out
    if version == "the other residual":
        residual = inside if case.part == FIRST else out
    if version == "residual scaled by 1.01":
        residual *= Fraction(101, 100)
    right = residual**2 * quadratic(x, inverse * A * inverse)
    left = quadratic(theta - moved, A)
    claim = Claim(
        "squared right-hand side over squared sensitivity",
        1.0,
        1.0,
        1.0,
        relation=Relation.ADD,
        observer=Observer.OUTPUT,
    )
    return Evidence(claim, exact=proved(right / left), notes={"squared sensitivity": float(left)})


def _leverage(case: Case, H: Matrix, x: Matrix) -> Evidence:
    """Compare the second factor of (3.4) at ``A = H`` with the leverage, or with its root (in squares)."""
    inverse = H.inv()
    square, leverage = quadratic(x, inverse * H * inverse), quadratic(x, inverse)
    version = version_name(case)
    stated = (
        leverage**2 if version == "printed" else leverage * (Fraction(101, 100) if version == "scaled by 1.01" else 1)
    )
    claim = Claim("squared factor over squared stated value", 1.0, 1.0, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=proved(square / stated), notes={"leverage": float(leverage)})


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    axes: dict[str, tuple[Value, ...]] = {
        "A": ("identity", "Gram matrix", "its square", "random"),
        "shape": SHAPES,
        "n": (5,),
        "dim": (1, 2, 4),
        "seed": (1,),
    }
    smallest: dict[str, Value] = {"A": "identity"}
    plain: dict[str, Value] = {"A": "random", "shape": "generic", "n": 5, "dim": 3, "seed": 3}
    out: list[Case] = [
        case(
            FIRST, printed, smallest, role=Role.COUNTEREXAMPLE, regime="X = (1, 1), y = 0, target (1, 3): 2/3 against 1"
        ),
        case(FIRST, printed, plain, regime="random design"),
        case(FIRST, corrected, smallest, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(FIRST, corrected, axes, regime="designs and norms", quick_every=13),
        case(SECOND, printed, smallest, regime="the same small case"),
        *grid(SECOND, printed, axes, regime="designs and norms", quick_every=13),
        mutant(FIRST, "residual scaled by 1.01", plain, severity=0.01),
        mutant(SECOND, "residual scaled by 1.01", plain, severity=0.01),
        mutant(FIRST, "the other residual", plain),
        mutant(SECOND, "the other residual", plain),
    ]
    leverages: dict[str, tuple[Value, ...]] = {
        "design": ("X", "[X, x]"),
        "shape": SHAPES,
        "n": (5,),
        "dim": (1, 3),
        "seed": (1,),
    }
    for side in ("X", "[X, x]"):
        out += [
            case(FACTOR, printed, {"design": side}, role=Role.COUNTEREXAMPLE, regime="X = (1, 1), x = 1"),
            case(
                FACTOR,
                corrected,
                {"design": side},
                role=Role.COUNTEREXAMPLE,
                regime="the case that refutes the printed form",
            ),
        ]
    return (
        *out,
        *grid(FACTOR, corrected, leverages, regime="designs", quick_every=5),
        mutant(FACTOR, "scaled by 1.01", {"design": "X"}, severity=0.01),
    )


_NORM = "sqrt(x^T ({M})^(-1) A ({M})^(-1) x)"

STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="equation",
    title="Per-instance sensitivity in linear regression",
    locator="Equation 3.4 and the text below it",
    domain=(
        "Squared loss, no regulariser, X^T X invertible, A positive definite; theta_hat' is the estimate with the target, X' the "
        "design with its row (Lemma 3.1). Decided exactly for n = 5, d <= 4"
    ),
    summary=(
        "The second expression is right, the first is not, so neither is the equality between them. With X' for the design without a "
        "record the same holds with the parts exchanged. For A = X^T X the factor is the root of the leverage."
    ),
    parts=(
        Part(
            FIRST,
            "through the design with the target",
            printed=Formula(
                "Delta_A (Z, z) = abs(y - x^T hat(theta)') " + _NORM.format(M="[X']^T X'"),
                "Delta_A(Z, z) = |y - x'theta_hat'| sqrt(x' (X'^T X')^-1 A (X'^T X')^-1 x)",
            ),
            corrected=Formula(
                "Delta_A (Z, z) = abs(y - x^T hat(theta)) " + _NORM.format(M="[X']^T X'"),
                "Delta_A(Z, z) = |y - x'theta_hat| sqrt(x' (X'^T X')^-1 A (X'^T X')^-1 x)",
            ),
            what_went_wrong="The Hessian with the target belongs to the residual at the estimate without it; the printed value is too small by the factor 1 + mu.",
            derivation="docs/derivations/wang2019_sections_2_3.md, equation 3.4",
        ),
        Part(
            SECOND,
            "through the design without the target",
            printed=Formula(
                "Delta_A (Z, z) = abs(y - x^T hat(theta)') " + _NORM.format(M="X^T X"),
                "Delta_A(Z, z) = |y - x'theta_hat'| sqrt(x' (X^T X)^-1 A (X^T X)^-1 x)",
            ),
        ),
        Part(
            FACTOR,
            "text: the second factor for A = X^T X",
            printed=Formula(
                "sqrt(x^T (X^T X)^(-1) A (X^T X)^(-1) x) = x^T (X^T X)^(-1) x",
                "second factor = x' (X^T X)^-1 x, the leverage",
            ),
            corrected=Formula(
                "sqrt(x^T (X^T X)^(-1) A (X^T X)^(-1) x) = sqrt(x^T (X^T X)^(-1) x)",
                "second factor = sqrt(x' (X^T X)^-1 x), the root of the leverage",
            ),
            what_went_wrong="The leverage stands for its square root.",
            derivation="docs/derivations/wang2019_sections_2_3.md, equation 3.4",
        ),
    ),
    cases=_cases(),
    check=check,
)
