"""W18, (4): the distribution-free lower bound, quoted; its units, and the ridge that is said to match it."""

from ...methods.scaling import EIGENVALUE, LOSS, rate
from ..kit import Display, Form, statement

MINIMUM = "min{n norm(cal(Y))^2, norm(Theta)^2 norm(cal(X))^2 + d norm(cal(Y))^2, sqrt(n) norm(Theta) norm(cal(X)) norm(cal(Y))}"

STATEMENT = statement(
    "W18-E4",
    derivation="docs/derivations/wang2018_rates.md, section 3",
    domain="n >= 1 i.i.d. records of any law on a ball, Theta a ball, every measurable theta_hat(X, y) in Theta",
    summary="Quoted: an infimum over all estimators and a supremum over all laws up to an unnamed constant has no finite test. Its units are "
    "right, and it is the cited theorem with ||x|| <= ||X|| times n. The remark that lambda = 1 matches it can only be meant for ||X|| = 1.",
    displays={
        "#bound": Display(
            "the lower bound",
            Form(
                f"inf_hat(theta) sup_cal(P) [EE[n R(hat(theta))] - inf_(theta in Theta) n R(theta)] gt.tilde {MINIMUM}"
            ),
        ),
        "#units": rate(
            "units of the three terms of (4)", LOSS, MINIMUM, "Theta^2 X^2", "n Y^2", "d Y^2", "n^1/2 Theta X Y"
        ),
        "@a": rate(
            "ridge that matches (4), at every bound of the features",
            EIGENVALUE,
            '"ridge regression with" lambda = 1 "matches" (4) "for every" norm(cal(X))',
            "d^0",
            corrected=("lambda = norm(cal(X))^2", "X^2"),
            wrong="A ridge is added to X^T X and has its unit; lambda = 1 is meant where ||X|| = 1.",
        ),
        "@b": Display(
            "ridge that matches (4), features bounded by 1",
            Form('"ridge regression with" lambda = 1 "matches" (4) "for" norm(cal(X)) = 1'),
        ),
    },
)
