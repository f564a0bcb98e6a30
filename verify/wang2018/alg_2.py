"""W18, Algorithm 2: AdaSSP.

Three normal releases, whose sensitivities are decided in rational arithmetic and whose joint divergence is exact; and
the last line, which as printed uses the raw Gram matrix and gives it away (docs/derivations/wang2018_ssp.md).
"""

from __future__ import annotations

from fractions import Fraction

from audits import Budget
from mechanisms import Relation

from ..cases import adversarial, case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..wang2019.rational import SHAPES, Matrix, design, eigenvalue_bounds, fraction, proved, random_matrix
from .adaptive_ssp import LARGEST, corrected_cases, raw_line_case, raw_line_evidence, releases_evidence

ID = "W18-A2"
SENSITIVITY, RELEASES, OUTPUT = f"{ID}#sensitivity", f"{ID}#releases", f"{ID}#output"
NOTES = "docs/derivations/wang2018_ssp.md"
TENTH = "sensitivities cut by 10 %"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    if case.part == SENSITIVITY:
        return _sensitivity(case)
    if case.part == OUTPUT and case.standing is Standing.PRINTED:
        return raw_line_evidence(case)
    return releases_evidence(case, budget)


def _sensitivity(case: Case) -> Evidence:
    """Bound the change of the three statistics by one row, each over its printed sensitivity at this row's own norm."""
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
    factor = Fraction(9, 10) if version_name(case) == TENTH else Fraction(1)
    parts: tuple[tuple[Fraction, Fraction, Fraction], ...] = (
        (after[0] - before[1], after[1] - before[0], square),
        (packed, packed, square**2),  # squares: the norm of the packed triangle
        (square, square, square),  # the moment's change over |y|, squared
    )
    if version_name(case) == "eigenvalue moves by the norm, not its square":
        parts = ((after[0] - before[1], after[1] - before[0], Fraction(1, 10) * square),)
    low = max(p[0] / (p[2] * factor) for p in parts)
    high = max(p[1] / (p[2] * factor) for p in parts)
    claim = Claim(
        "largest change over its sensitivity (of norms: squares)",
        -1e-9,
        1.0 + 1e-9,  # an eigenvalue is enclosed to about 1e-14 of the spectrum
        1.0,
        relation=Relation.ADD,
        observer=Observer.TRANSCRIPT,
    )
    return Evidence(claim, exact=proved(low, high, "rational arithmetic, Sylvester's inertia"))


def _smallest(gram: Matrix) -> tuple[Fraction, Fraction]:
    """Return proved bounds of the smallest eigenvalue."""
    if gram.nrows() == 1:
        return fraction(gram[0, 0]), fraction(gram[0, 0])
    return eigenvalue_bounds(gram)[0]


def _cases() -> tuple[Case, ...]:
    rows: dict[str, tuple[Value, ...]] = {
        "n": (1, 6, 20),
        "dim": (1, 2, 4),
        "X": SHAPES,
        "row": ("generic", "on an axis"),
    }
    one: dict[str, Value] = {"n": 6, "dim": 1, "X": "generic", "row": "generic"}
    large: dict[str, Value] = {"epsilon": 17.0, "delta": 0.5}
    return (
        *grid(SENSITIVITY, Standing.PRINTED, rows, regime="designs and rows", quick_every=13),
        mutant(SENSITIVITY, TENTH, one, severity=0.1),
        mutant(SENSITIVITY, "eigenvalue moves by the norm, not its square", one),
        case(RELEASES, Standing.PRINTED, large, role=Role.COUNTEREXAMPLE, regime="dimension 1, the cut at 0 far away"),
        adversarial(RELEASES, Standing.PRINTED, quick=False),
        case(RELEASES, Standing.CORRECTED, large, role=Role.COUNTEREXAMPLE, regime="no claim is made"),
        *corrected_cases(RELEASES),
        *(
            case(
                OUTPUT,
                Standing.PRINTED,
                raw_line_case(dim, n, epsilon),
                role=Role.COUNTEREXAMPLE,
                regime="one row added",
            )
            for dim, n, epsilon in ((1, 1, 1.0), (2, 3, 1.0), (3, 1, 20.0))
        ),
        *corrected_cases(OUTPUT, drawn=False),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="algorithm",
    title="AdaSSP",
    locator="Algorithm 2, section 4",
    domain=(
        "One row added or removed, bounds public; the observer sees the three releases and the output. epsilon > 0, delta in (0, 1) "
        "without a printed bound. Decided for epsilon in [1e-3, 100], delta in [1e-12, 0.99]"
    ),
    summary=(
        "The last line as transcribed uses the raw X^T X: with the released X^T y and eigenvalue it gives X^T X theta away exactly, so "
        f"no (epsilon, delta) with delta < 1 holds. With the released matrix the algorithm is (epsilon, delta)-DP up to epsilon = {LARGEST:g}, and "
        "not beyond 15.9 (delta around 0.4), although each release alone exceeds its third. 'Xy' is X^T y. Exact at every epsilon: "
        "`AdaSSP(calibrated=True)`."
    ),
    parts=(
        Part(
            SENSITIVITY,
            "sensitivities of the three statistics",
            Formula(
                "abs(Delta lambda_min) <= norm(cal(X))^2, quad norm(Delta X^T X)_(i <= j) <= norm(cal(X))^2, quad norm(Delta X^T y) <= norm(cal(X)) norm(cal(Y))",
                "|change of lambda_min| <= ||X||^2, ||change of the triangle of X'X|| <= ||X||^2, ||change of X'y|| <= ||X|| ||Y||",
            ),
        ),
        Part(
            RELEASES,
            "steps 2, 4 and 5 together",
            Formula(
                'tilde(lambda)_min, hat(X^T X), hat(X y) "with noise" sqrt(log(6/delta))/(epsilon/3) times "sensitivity"',
                "noise sqrt(log(6/delta))/(epsilon/3) times the sensitivity in each of three releases: (epsilon, delta)-DP",
            ),
            Formula(
                f'"the same with" X^T y "and" epsilon <= {LARGEST:g}', f"the same with X^T y and epsilon <= {LARGEST:g}"
            ),
            "No bound on epsilon is stated, and the factor 2 of the Gaussian mechanism is missing under the root.",
            f"{NOTES}, section 2",
        ),
        Part(
            OUTPUT,
            "the output line",
            Formula(
                "tilde(theta) = (X^T X + lambda I)^(-1) hat(X y)",
                "theta = (X'X + lambda I)^-1 (released Xy), with the raw X'X",
            ),
            Formula(
                f"tilde(theta) = (hat(X^T X) + lambda I)^(-1) hat(X^T y), quad epsilon <= {LARGEST:g}",
                f"theta = (released X'X + lambda I)^-1 (released X'y), epsilon <= {LARGEST:g}",
            ),
            "The raw matrix stands where the released one belongs; the output is then no post-processing of the releases.",
            f"{NOTES}, section 3",
        ),
    ),
    cases=_cases(),
    check=check,
)
