"""W18, Table 1: optimisation error of the surveyed algorithms; units of every row, exactly."""

from ...methods.scaling import LOSS, NUMBER, rate
from ..kit import Display, Form, statement


def _entry(algorithm: str, printed: tuple[str, ...], corrected: tuple[str, ...] = ()) -> Display:
    """Return one entry; what is wrong in any is the same."""
    wrong = "The square of the features' bound is missing: without it the entry is no loss." if corrected else ""
    return rate(f"units of the entry: {algorithm}", LOSS, *printed, corrected=corrected, wrong=wrong)


def _convex(log: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the entry under A.3, printed and corrected, that NoisySGD and ObjPert share but for the logarithm."""
    return (
        (f"(d^2 log({log}) norm(Theta)^2)/(alpha^* n epsilon^2)", "d^2 Theta^2 alpha^-1 n^-1 epsilon^-2 log"),
        (
            f"(d^2 log({log}) norm(cal(X))^2 norm(Theta)^2)/(alpha^* n epsilon^2)",
            "d^2 X^2 Theta^2 alpha^-1 n^-1 epsilon^-2 log",
        ),
    )


_ROOT = "d^1/2 log^1/2 X^2 theta^2 epsilon^-1"

STATEMENT = statement(
    "W18-T1",
    domain="F(theta_hat) - F(theta*) up to constants, in expectation for NoisySGD, else with probability 1 - rho; ||Y|| <= ||X|| ||Theta||, "
    "||Y|| <= C ||X|| ||theta*||; assumptions as in the rows",
    summary="Three entries (NoisySGD and ObjPert under A.3, the second term of AdaOPS and AdaSSP) lack ||X||^2 and are wrong for every constant "
    "as ||X|| grows. With it all units are right; that the surveyed rates hold at all is quoted and has no finite test here. "
    "AdaOPS and AdaSSP are decided in W18-TH2ii and W18-TH3ii.",
    derivation="docs/derivations/wang2018_rates.md, section 3",
    displays={
        "#NoisySGD": _entry(
            "NoisySGD, A.1 and A.2",
            ("(sqrt(d log(n/delta)) norm(cal(X))^2 norm(Theta)^2)/epsilon", "d^1/2 log^1/2 X^2 Theta^2 epsilon^-1"),
        ),
        "#NoisySGD convex": _entry("NoisySGD, A.1 to A.3", *_convex("n/delta")),
        "#ObjPert": _entry(
            "ObjPert, A.1 and A.2",
            (
                "(sqrt(d log(1/delta)) norm(cal(X))^2 norm(Theta) norm(theta^*))/epsilon",
                "d^1/2 log^1/2 X^2 Theta theta epsilon^-1",
            ),
        ),
        "#ObjPert convex": _entry("ObjPert, A.1 to A.3", *_convex("1/delta")),
        "#OPS": _entry("OPS, pure epsilon", ("(d norm(cal(X))^2 norm(Theta)^2)/epsilon", "d X^2 Theta^2 epsilon^-1")),
        "#SSP": _entry(
            "SSP",
            (
                "(d^2 log(1/delta) norm(cal(X))^2 norm(theta^*)^2)/(alpha n epsilon^2)",
                "d^2 log X^2 theta^2 alpha^-1 n^-1 epsilon^-2",
            ),
        ),
        "#SSP n": rate(
            "units of the requirement of SSP",
            NUMBER,
            "n = Omega((d^(1.5) log(4/delta))/(alpha epsilon))",
            "n^-1 d^3/2 log alpha^-1 epsilon^-1",
        ),
        "#adaptive": _entry(
            "AdaOPS and AdaSSP",
            (
                "(sqrt(d log(1/delta)) norm(cal(X))^2 norm(theta^*)^2)/epsilon and (d^2 log(1/delta) norm(theta^*)^2)/(alpha n epsilon^2)",
                "d^2 theta^2 alpha^-1 n^-1 epsilon^-2 log",
                _ROOT,
            ),
            (
                "(sqrt(d log(1/delta)) norm(cal(X))^2 norm(theta^*)^2)/epsilon and (d^2 log(1/delta) norm(cal(X))^2 norm(theta^*)^2)/(alpha n epsilon^2)",
                "d^2 X^2 theta^2 alpha^-1 n^-1 epsilon^-2 log",
                _ROOT,
            ),
        ),
        "#rates": Display(
            "the quoted rates themselves", Form('F(hat(theta)) - F(theta^*) = O("entry") quad "in every row"')
        ),
    },
)
