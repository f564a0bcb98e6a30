"""W18, (5): private lower bound for Lipschitz losses, quoted; its units and its agreement with the cited form."""

from fractions import Fraction

from ...methods.rational import between
from ...methods.scaling import LOSS, rate
from ..kit import Case, Display, Evidence, Form, Mutant, over, statement

MINIMUM = (
    "min{n norm(cal(Y))^2, sqrt(d) (norm(cal(X))^2 norm(Theta)^2 + norm(cal(X)) norm(Theta) norm(cal(Y)))/epsilon}"
)


def _cited(case: Case, *, factor: Fraction = Fraction(1), without_responses: int = 1) -> Evidence:
    """Compare the numerator with ``factor`` times L* and the radius; ``without_responses`` weighs that term of L*."""
    B, R, Y = (Fraction(case.number(name)) for name in ("B", "radius", "Y"))
    cited = factor * (without_responses * B**2 * R + B * Y) * R
    ratio = (B**2 * R**2 + B * R * Y) / cited
    return between("printed numerator over L* ||Theta||, minus 1", ratio - 1, 0.0, 0.0, 0.0)


SIZES = (2.0**-10, 1.0, 8.0)
ONES = {"B": 1.0, "radius": 1.0, "Y": 1.0}
TENTH = Fraction(11, 10)

STATEMENT = statement(
    "W18-E5",
    domain="delta < 1/n, n large, some (X, Y, Theta), every (epsilon, delta)-DP theta_hat; a supremum over data sets is implied",
    summary="Quoted: an infimum over all private algorithms has no finite test. Units are right and the numerator is L* ||Theta|| of the cited "
    "bound. Word for word it is empty, since 'some triplet' may be Theta = {0}, where both sides are 0.",
    displays={
        "#bound": Display(
            "the lower bound",
            Form(
                'inf_(hat(theta) "is" (epsilon, delta)"-DP") sup_(X, y) [F(hat(theta)) - inf_Theta F] gt.tilde '
                + MINIMUM
            ),
        ),
        "#units": rate(
            "units of the terms of (5)",
            LOSS,
            MINIMUM,
            "d^1/2 X^2 Theta^2 epsilon^-1",
            "d^1/2 X Theta Y epsilon^-1",
            "n Y^2",
        ),
        "#cited": Display(
            "numerator and the cited Lipschitz constant times the radius",
            Form(
                "norm(cal(X))^2 norm(Theta)^2 + norm(cal(X)) norm(Theta) norm(cal(Y)) = L^* norm(Theta)",
                _cited,
                over("bounds", dict.fromkeys(ONES, SIZES), quick_every=9),
            ),
            mutants={
                "a tenth more": Mutant(_cited, ONES, severity=0.1, factor=TENTH),
                "no term without the responses": Mutant(_cited, ONES, factor=TENTH, without_responses=0),
            },
        ),
    },
)
