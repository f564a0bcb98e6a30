"""RW21, Lemma 31 (billboard): outputs computed from a private release and one's own data are jointly private.

Decided by enumeration: a noisy count of n bits is released, each person gets a function of it and of her own bit; the
view of everyone but person i is compared between the two values of her bit, in rational arithmetic.
"""

from fractions import Fraction
from itertools import product

from mechanisms import Relation
from mechanisms.laws.finite_laws import Law, check_law, smallest_delta

from ...methods.rational import at_most, generator
from ..kit import Case, Evidence, Form, Mutant, over, statement


def release(total: int, kernel: Law) -> Law:
    """Return the law of the released count: the true one plus a random offset."""
    return tuple([Fraction(0)] * total + list(kernel) + [Fraction(0)] * (8 - total))


def views(bits: tuple[int, ...], person: int, kernel: Law, own: bool) -> dict[object, Fraction]:
    """Return the law of what everyone but ``person`` sees; with ``own``, of what she sees too."""
    law: dict[object, Fraction] = {}
    for count, mass in enumerate(release(sum(bits), kernel)):
        # each person's output: whether the released count exceeds twice her own bit, and its parity with it
        seen = tuple((count > 2 * bit, (count + bit) % 2) for k, bit in enumerate(bits) if own or k != person)
        law[seen] = law.get(seen, Fraction(0)) + mass
    return law


def _joint(case: Case, *, own: bool = False, share: int = 1) -> Evidence:
    """Compare the joint privacy of the worst person with the privacy of the release over ``share``, at one epsilon."""
    n, seed, factor = case.whole("n"), case.whole("seed"), Fraction(case.number("exp(epsilon)"))
    weights = generator(n, seed, 31).integers(1, 9, 4)
    kernel = check_law([Fraction(int(w), int(weights.sum())) for w in weights])
    released = max(smallest_delta(release(t, kernel), release(t + 1, kernel), factor) for t in range(n))
    joint = Fraction(0)
    for bits, person in product(product((0, 1), repeat=n), range(n)):
        other = tuple(1 - b if k == person else b for k, b in enumerate(bits))
        first, second = (views(b, person, kernel, own) for b in (bits, other))
        outcomes = sorted({*first, *second}, key=repr)
        p, q = (check_law(tuple(law.get(o, Fraction(0)) for o in outcomes)) for law in (first, second))
        joint = max(joint, smallest_delta(p, q, factor))
    return at_most("joint delta against the release's", joint, released / share, relation=Relation.REPLACE)


COUNTS = {"n": (1, 2, 4), "seed": (1, 2, 3), "exp(epsilon)": (1.0, 1.25, 2.0, 4.0)}
PLAIN = {"n": 3, "seed": 1, "exp(epsilon)": 1.25}

STATEMENT = statement(
    "RW21-L31",
    domain="A (epsilon, delta)-DP, any f_i of one's own data and A's output; joint DP replaces one record. Decided by enumeration, 1 to 4 people",
    summary="True: the view of the others is a function of the release and of data that do not change.",
    title="joint privacy",
    printed=Form(
        'cal(A) "is" (epsilon, delta)"-DP" ==> {f_i (Pi_i D, cal(A)(D))} "is" (epsilon, delta)"-joint DP"',
        _joint,
        over("noisy counts of bits", COUNTS, quick_every=7),
    ),
    mutants={
        "own output included": Mutant(_joint, PLAIN | {"exp(epsilon)": 4.0}, own=True),
        "half the delta": Mutant(_joint, PLAIN, share=2),
    },
)
