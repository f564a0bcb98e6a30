"""W19, Fact 2.6 (3): post-processing, exact on finite laws; every function is a (deterministic or random) channel."""

from fractions import Fraction

from mechanisms.laws.finite_laws import Law, processed, smallest_delta

from ...methods.finite_mechanisms import random_law
from ...methods.rational import at_most, generator
from ..kit import Case, Evidence, Form, Mutant, over, statement


def channel(kind: str, n_outputs: int, seed: int) -> tuple[Law, ...]:
    """Return the law of the processed output at every output."""
    if kind == "random":
        return tuple(random_law(3, seed, 5, i) for i in range(n_outputs))
    images = {
        "identity": list(range(n_outputs)),
        "constant": [0] * n_outputs,
        "merging": [int(v) for v in generator(seed, 6).integers(0, 2, n_outputs)],
    }[kind]
    return tuple(tuple(Fraction(int(image == j)) for j in range(n_outputs)) for image in images)


def _processed(case: Case, *, sees_data: bool = False, share: Fraction = Fraction(1)) -> Evidence:
    """Decide the exact delta after processing against ``share`` of the one before, at the same epsilon."""
    n, seed, factor = case.whole("outputs"), case.whole("seed"), Fraction(case.number("exp(epsilon)"))
    p, q = random_law(n, seed, 1), random_law(n, seed, 2)
    function = channel(case.text("function"), n, seed)
    other = channel("identity", n, seed) if sees_data else function
    value = smallest_delta(processed(p, function), processed(q, other), factor)
    return at_most("delta after processing", value, smallest_delta(p, q, factor) * share)


AXES = {
    "function": ("identity", "constant", "merging", "random"), "outputs": (2, 4, 9), "seed": (1, 2, 3),
    "exp(epsilon)": (1.0, 1.5, 4.0),
}  # fmt: skip
PLAIN = {"function": "identity", "outputs": 4, "seed": 1, "exp(epsilon)": 1.5}

STATEMENT = statement(
    "W19-F2.6.3",
    domain="One pair (Z, z); a function (with its own randomness, if any) that does not look at the data; both directions",
    summary="True, with equality for a one-to-one function.",
    title="a function of the output",
    printed=Form(
        'cal(A) "is" (epsilon_1, delta_1)"-pDP" ==> f(cal(A)(dot)) "is" (epsilon_1, delta_1)"-pDP"',
        _processed,
        over("random finite laws, deterministic and random functions", AXES, quick_every=7),
    ),
    mutants={
        "delta cut by 5 %": Mutant(_processed, PLAIN, severity=0.05, share=Fraction(19, 20)),
        "a function that sees the data": Mutant(_processed, PLAIN | {"function": "constant"}, sees_data=True),
    },
)
