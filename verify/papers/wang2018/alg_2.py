"""W18, Algorithm 2: AdaSSP.

Three normal releases, whose sensitivities are decided in rational arithmetic and whose joint divergence is exact; and
the last line, where our copy is damaged: with the released Gram matrix, and with the raw one (docs/derivations/wang2018_ssp.md).
"""

from fractions import Fraction

from flint import fmpq

from mechanisms import Relation

from ...methods.rational import SHAPES, Matrix, design, eigenvalue_bounds, fraction, proved, random_matrix
from ..kit import Case, Claim, Display, Evidence, Form, Mutant, Observer, over, search, smallest, statement
from .shared.adaptive_ssp import CORRECTED, DRAWN, LARGE, LARGEST, MUTANTS, WORST, last_line, released_line, releases

NOTES = "docs/derivations/wang2018_ssp.md"


def _sensitivity(case: Case, *, factor: Fraction = Fraction(1), short: bool = False) -> Evidence:
    """Bound the change of the three statistics by one row, each over ``factor`` times its sensitivity at this row's norm.

    ``short`` takes the eigenvalue's alone, bounded by a tenth of the squared norm.
    """
    n, dim, shape = case.whole("n"), case.whole("dim"), case.text("row")
    X = design(case.text("X"), n, dim, 41)
    x = random_matrix(dim, 1, 42)
    if shape == "on an axis":
        for j in range(1, dim):
            x[j, 0] = 0
        x[0, 0] = 7
    square = sum((fraction(e) ** 2 for e in x.entries()), Fraction(0))
    gram = X.transpose() * X
    before, after = (_smallest(G) for G in (gram, gram + x * x.transpose()))
    packed = sum((fraction(x[i, 0] * x[j, 0]) ** 2 for i in range(dim) for j in range(i, dim)), Fraction(0))
    parts: tuple[tuple[Fraction, Fraction, Fraction], ...] = (
        (after[0] - before[1], after[1] - before[0], square),
        (packed, packed, square**2),  # squares: the norm of the packed triangle
        (square, square, square),  # the moment's change over |y|, squared
    )
    if short:
        parts = ((after[0] - before[1], after[1] - before[0], Fraction(1, 10) * square),)
    low = max(p[0] / (p[2] * factor) for p in parts)
    high = max(p[1] / (p[2] * factor) for p in parts)
    quantity, room = "largest change over its sensitivity (of norms: squares)", 1e-9
    # an eigenvalue is enclosed to about 1e-14 of the spectrum
    claim = Claim(quantity, -room, 1.0 + room, 1.0, relation=Relation.ADD, observer=Observer.TRANSCRIPT)
    return Evidence(claim, exact=proved(low, high, "rational arithmetic, Sylvester's inertia"))


def _smallest(gram: Matrix) -> tuple[Fraction, Fraction]:
    """Return proved bounds of the smallest eigenvalue."""
    if gram.nrows() == 1:
        return fraction(gram[0, 0]), fraction(gram[0, 0])
    return eigenvalue_bounds(gram)[0]


ROWS = {"n": (1, 6, 20), "dim": (1, 2, 4), "X": SHAPES, "row": ("generic", "on an axis")}
ONE = {"n": 6, "dim": 1, "X": "generic", "row": "generic"}
SIZES = {"dim": (1, 2, 3), "n": (1, 3)}
SIZE = {"dim": 2, "n": 3}

STATEMENT = statement(
    "W18-A2",
    domain="One row added or removed, bounds public; the observer sees the three releases and the output. epsilon > 0, delta in (0, 1) "
    "without a printed bound. Decided for epsilon in [1e-3, 100], delta in [1e-12, 0.99]",
    summary=f"The three releases together are (epsilon, delta)-DP up to epsilon = {LARGEST:g}, and not beyond 15.8 (delta around 0.4), although each "
    "release alone exceeds its third; exact at every epsilon: `AdaSSP(calibrated=True)`. The last line of our copy has X^T X without the "
    "hat of step 4, most likely a lost glyph: with the hat the output adds nothing to the releases; word for word it would give X^T X away. 'Xy' is X^T y.",
    displays={
        "#sensitivity": Display(
            "sensitivities of the three statistics",
            Form(
                "abs(Delta lambda_min) <= norm(cal(X))^2, quad norm(Delta X^T X)_(i <= j) <= norm(cal(X))^2, quad norm(Delta X^T y) <= norm(cal(X)) norm(cal(Y))",
                _sensitivity,
                over("designs and rows", ROWS, quick_every=13),
            ),
            mutants={
                "sensitivities cut by 10 %": Mutant(_sensitivity, ONE, severity=0.1, factor=Fraction(9, 10)),
                "eigenvalue moves by the norm, not its square": Mutant(_sensitivity, ONE, short=True),
            },
        ),
        "#releases": Display(
            "steps 2, 4 and 5 together",
            Form(
                'tilde(lambda)_min, hat(X^T X), hat(X y) "with noise" sqrt(log(6/delta))/(epsilon/3) times "the sensitivity, are" (epsilon, delta)"-DP"',
                releases,
                [smallest("dimension 1, the cut at 0 far away", LARGE), search(quick=False)],
            ),
            Form(
                f'"the same with" X^T y "and" epsilon <= {LARGEST:g}',
                CORRECTED,
                [smallest("no claim is made", LARGE), *WORST, *DRAWN],
            ),
            "No bound on epsilon is stated, and the factor 2 of the Gaussian mechanism is missing under the root.",
            MUTANTS,
            f"{NOTES}, section 2",
        ),
        "#output@hat": Display(
            "the output line, with the released matrix",
            Form(
                'tilde(theta) = (hat(X^T X) + lambda I)^(-1) hat(X y) "(hat read): a function of the releases"',
                released_line,
                over("neighbours with the same releases", SIZES),
            ),
            mutants={
                "a hundredth of the raw matrix": Mutant(released_line, SIZE, severity=0.01, raw=fmpq(1, 100)),
                "lambda from the data": Mutant(released_line, SIZE, own_ridge=True),
            },
        ),
        "#output@raw": last_line(
            "the output line, with the raw matrix of our copy",
            "tilde(theta) = (X^T X + lambda I)^(-1) hat(X y)",
            f"tilde(theta) = (hat(X^T X) + lambda I)^(-1) hat(X^T y), quad epsilon <= {LARGEST:g}",
            WORST,
            f"{NOTES}, section 3",
        ),
    },
)
