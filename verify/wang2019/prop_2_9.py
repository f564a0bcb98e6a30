"""W19, Proposition 2.9: moments of pDP bound the on-average generalisation error, by exact enumeration.

The largest error over all losses in [0, 1] is a sum of positive parts, so that every case is decided for all losses at
once. The text takes Z of n records, its proof of n - 1: both are true (docs/derivations/wang2019_sections_2_3.md,
Proposition 2.9).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from audits import Budget
from mechanisms import Relation
from mechanisms.finite_laws import FiniteMechanism, Law, worst_gap

from ..cases import adversarial, case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from .finite import NAMED, expectations, of_case, searched_mechanism, worst_mechanism
from .rational import at_most

ID = "W19-P2.9"
TEXT, PROOF = f"{ID}@a", f"{ID}@b"


def bound(made: FiniteMechanism, law: Law, base: int, rule: str, version: str) -> Fraction:
    """Return the printed bound over data sets of ``base`` records, or a mutant of it."""
    rows = list(expectations(made, law, law, base, rule))
    squares = sum((w * f * f for w, f, _, _ in rows), Fraction(0))
    deltas = sum((w * d for w, _, _, d in rows), Fraction(0))
    cross = sum((w * f * d for w, f, _, d in rows), Fraction(0))
    if version == "no cross term":
        return squares - 1 + deltas
    if version == "one factor exp(epsilon)":
        return sum((w * f for w, f, _, _ in rows), Fraction(0)) - 1 + deltas
    return (squares - 1 + deltas + cross) * (Fraction(19, 20) if version == "bound cut by 5 %" else 1)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the largest error over all losses against the bound."""
    version, found = version_name(case), None
    if case.role is Role.ADVERSARIAL:
        n, base = 1, int(case.part == TEXT)

        def ratio(made: FiniteMechanism, law: Law, rule: str) -> Fraction:
            limit = bound(made, law, base, rule, version)
            return worst_gap(made, law, n) / limit if 0 < limit < 1 else Fraction(0)

        found = worst_mechanism(ratio, budget)
        made, law, rule = searched_mechanism(found)
    else:
        made, law, n = of_case(case, size=case.whole("n") + 1)
        base, rule = n if case.part == TEXT else n - 1, case.text("rule")
    limit = bound(made, law, base, rule, version)
    evidence = at_most(
        "on-average generalisation error, worst loss in [0, 1]",
        worst_gap(made, law, n),
        limit,
        in_domain=limit < 1,
        relation=Relation.ADD,
        strict=True,
    )
    return replace(evidence, found=found) if found else evidence


def _cases() -> tuple[Case, ...]:
    printed = Standing.PRINTED
    out: list[Case] = []
    named: dict[str, tuple[Value, ...]] = {
        "mechanism": NAMED,
        "symbols": (2, 3),
        "n": (1, 3),
        "population": ("uniform", "rare last"),
        "rule": ("1", "5/4"),
    }
    drawn: dict[str, tuple[Value, ...]] = {
        "mechanism": ("random", "random with zeros"),
        "symbols": (2, 3),
        "n": (1, 2),
        "population": ("uniform", "rare last"),
        "rule": ("1", "21/20"),
        "seed": (1,),
    }
    pure: dict[str, tuple[Value, ...]] = {
        "mechanism": ("random", "tells a record half of the time"),
        "symbols": (2,),
        "n": (1, 6),
        "population": ("uniform", "rare last"),
        "rule": ("pure",),
        "seed": (4,),
    }
    text: dict[str, Value] = {"mechanism": NAMED[0], "symbols": 2, "n": 1, "population": "uniform", "rule": "1"}
    proof: dict[str, Value] = {"mechanism": NAMED[1], "symbols": 2, "n": 1, "population": "rare last", "rule": "1"}
    for part, sharp in ((TEXT, text), (PROOF, proof)):
        out += [
            *grid(part, printed, named, regime="mechanisms that tell a record", quick_every=9),
            *grid(part, printed, drawn, regime="random finite mechanisms", quick_every=13),
            *grid(part, printed, pure, regime="delta = 0", quick_every=5),
            adversarial(part, printed, quick=False),
            mutant(part, "no cross term", sharp),
            mutant(part, "one factor exp(epsilon)", sharp),
            mutant(part, "bound cut by 5 %", sharp, severity=0.05),
        ]
    return (case(TEXT, printed, text | {"seed": 0}, regime="equality"), *out)


def _formula(size: str) -> Formula:
    return Formula(
        f"EE_(Z tilde.op cal(D)^({size})) (EE_(z tilde.op cal(D)) [e^(epsilon(Z, z)) | Z])^2 - 1 + EE delta(Z, z)"
        f" + EE_(Z tilde.op cal(D)^({size})) EE_z [e^(epsilon(Z, z)) | Z] EE_z [delta(Z, z) | Z]",
        f"E over Z ~ D^({size}) of (E_z[exp(epsilon)|Z])^2 - 1 + E delta + E over Z of E_z[exp(epsilon)|Z] E_z[delta|Z]",
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="proposition",
    title="Moment pDP implies generalisation",
    locator="Proposition 2.9",
    domain=(
        "Independent, identically distributed records; data sets without order (a record is added to or removed from a set); losses "
        "in [0, 1]. No claim is counted where the bound is 1 or more. Decided exactly for 2 and 3 symbols, up to 3 outputs, n <= 6"
    ),
    summary=(
        "True in both readings, with equality for Z ~ D^n (one fair coin, told as it is) and in the limit of a rare symbol for "
        "Z ~ D^(n-1). For delta = 0 it is loose by a factor 2 or more: 2 E[(exp(epsilon) - 1 + 2 delta)/(exp(epsilon) + 1)] is a "
        "bound too, and a smaller one. For a mechanism that looks at the order of records the proposition would be false."
    ),
    parts=(
        Part(TEXT, "Z of n records, as in the text", _formula("n"), reading="a"),
        Part(PROOF, "Z of n - 1 records, as in the proof", _formula("n-1"), reading="b"),
    ),
    cases=_cases(),
    check=check,
)
