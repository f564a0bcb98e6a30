"""W19, Proposition 2.9: moments of pDP bound the on-average generalisation error, by exact enumeration.

The largest error over all losses in [0, 1] is a sum of positive parts, so that every case is decided for all losses at
once. The text takes Z of n records, its proof of n - 1: both are true (docs/derivations/wang2019_sections_2_3.md,
Proposition 2.9).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from audits import Budget
from mechanisms import Relation
from mechanisms.laws.finite_laws import Law, SymbolMechanism, worst_gap

from ...kernel.box_search import Point
from ...methods.finite_mechanisms import NAMED, SEARCH_BOX, expectations, of_case, searched_mechanism, worst_ratio
from ...methods.rational import at_most
from ..kit import At, Case, Decide, Display, Evidence, Form, Mutant, Numbers, Role, over, search, statement


class Moments(NamedTuple):
    """Means over Z of E[exp(epsilon)|Z], of its square, of E[delta|Z] and of the product of the first and the third."""

    factor: Fraction
    square: Fraction
    delta: Fraction
    cross: Fraction


def moments(made: SymbolMechanism, law: Law, base: int, rule: str) -> Moments:
    """Return the moments over data sets of ``base`` records."""
    rows = [(w, f, d) for w, f, _, d in expectations(made, law, law, base, rule)]
    terms = ((w * f, w * f * f, w * d, w * f * d) for w, f, d in rows)
    return Moments(*(sum(column, Fraction(0)) for column in zip(*terms, strict=True)))


def bound(m: Moments) -> Fraction:
    """Return the printed bound."""
    return m.square - 1 + m.delta + m.cross


def _error(bound: Callable[[Moments], Fraction], *, fewer: int) -> Decide:
    """Return the check of the largest error over all losses against a bound over data sets of ``n - fewer`` records."""
    words = "on-average generalisation error, worst loss in [0, 1]"

    def sides(made: SymbolMechanism, law: Law, n: int, rule: str) -> tuple[Fraction, Fraction]:
        return worst_gap(made, law, n), bound(moments(made, law, n - fewer, rule))

    def at_point(point: Point) -> tuple[Fraction, Fraction]:
        made, law, rule = searched_mechanism(point)
        return sides(made, law, 1, rule)

    def check(case: Case, budget: Budget) -> Evidence:
        if case.role is Role.ADVERSARIAL:
            return worst_ratio(words, SEARCH_BOX, at_point, budget, relation=Relation.ADD, strict=True)
        value, limit = sides(*of_case(case, size=case.whole("n") + 1), case.text("rule"))
        return at_most(words, value, limit, in_domain=limit < 1, relation=Relation.ADD, strict=True)

    return check


POPULATIONS = ("uniform", "rare last")
TOLD = {"mechanism": NAMED, "symbols": (2, 3), "n": (1, 3), "population": POPULATIONS, "rule": ("1", "5/4")}
DRAWN = {
    "mechanism": ("random", "random with zeros"), "symbols": (2, 3), "n": (1, 2), "population": POPULATIONS,
    "rule": ("1", "21/20"), "seed": (1,),
}  # fmt: skip
PURE = {
    "mechanism": ("random", "tells a record half of the time"),
    "symbols": (2,),
    "n": (1, 6),
    "population": POPULATIONS,
    "rule": ("pure",),
    "seed": (4,),
}
GRIDS = [
    *over("mechanisms that tell a record", TOLD, quick_every=9),
    *over("random finite mechanisms", DRAWN, quick_every=13),
    *over("delta = 0", PURE, quick_every=5),
    search(quick=False),
]
TEXT = {"mechanism": NAMED[0], "symbols": 2, "n": 1, "population": "uniform", "rule": "1"}
PROOF = {"mechanism": NAMED[1], "symbols": 2, "n": 1, "population": "rare last", "rule": "1"}


def _reading(title: str, size: str, cases: list[At], sharp: Numbers, *, fewer: int) -> Display:
    """Return one reading of the proposition, with its mutants at ``sharp``."""
    return Display(
        title,
        printed=Form(
            f"EE_(Z tilde.op cal(D)^({size})) (EE_(z tilde.op cal(D)) [e^(epsilon(Z, z)) | Z])^2 - 1 + EE delta(Z, z)"
            f" + EE_(Z tilde.op cal(D)^({size})) EE_z [e^(epsilon(Z, z)) | Z] EE_z [delta(Z, z) | Z]",
            _error(bound, fewer=fewer),
            cases,
        ),
        mutants={
            "no cross term": Mutant(_error(lambda m: m.square - 1 + m.delta, fewer=fewer), sharp),
            "one factor exp(epsilon)": Mutant(_error(lambda m: m.factor - 1 + m.delta, fewer=fewer), sharp),
            "bound cut by 5 %": Mutant(
                _error(lambda m: bound(m) * Fraction(19, 20), fewer=fewer), sharp, severity=0.05
            ),
        },
    )


STATEMENT = statement(
    "W19-P2.9",
    domain="Independent, identically distributed records; data sets without order (a record is added to or removed from a set); losses "
    "in [0, 1]. No claim is counted where the bound is 1 or more. Decided exactly for 2 and 3 symbols, up to 3 outputs, n <= 6",
    summary="True in both readings, with equality for Z ~ D^n (one fair coin, told as it is) and in the limit of a rare symbol for "
    "Z ~ D^(n-1). For delta = 0 it is loose by a factor 2 or more: 2 E[(exp(epsilon) - 1 + 2 delta)/(exp(epsilon) + 1)] is a "
    "bound too, and a smaller one. For a mechanism that looks at the order of records the proposition would be false.",
    displays={
        "@a": _reading(
            "Z of n records, as in the text", "n", [At("equality", TEXT | {"seed": 0}), *GRIDS], TEXT, fewer=0
        ),
        "@b": _reading("Z of n - 1 records, as in the proof", "n-1", GRIDS, PROOF, fewer=1),
    },
)
