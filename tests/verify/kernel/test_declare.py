"""A declaration becomes parts, cases and a dispatch; names, ids and standings are derived, and nothing is dropped."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits import Budget, Estimate, StreamKey
from mechanisms import GaussianProfile
from mechanisms.linear.gaussian_output import GaussianOutput
from verify.kernel.box_search import Axis, Point
from verify.kernel.declare import At, Display, Form, Mutant, definition, over, search, smallest, statement
from verify.kernel.formal import FormalClaim, PairAtPoint, on_data, pair_of
from verify.kernel.paper import Paper, read_paper
from verify.kernel.plain_math import plain_math
from verify.kernel.statement import Case, Claim, Evidence, Observer, Role, Standing
from verify.kernel.verdict import Outcome, judge
from verify.messages.errors import Defect
from verify.papers import registry

TOML = """
prefix = "T99"
position = 9
slots = 1
[reference]
author = "Ada One"
title = "A toy"
year = 1999
["T99-T1"]
kind = "theorem"
title = "A theorem"
locator = "Theorem 1"
printed = "REFUTED"
["T99-T1.a"]
parent = "T99-T1"
kind = "theorem"
title = "A child"
printed = "SUPPORTED"
["T99-D1"]
kind = "definition"
title = "A definition"
locator = "Definition 1"
printed = "DEFINITION"
implemented = "somewhere.Something"
formula = "x := 1"
domain = "everywhere"
summary = "One."
"""
BUDGET = Budget(7, 0.25, StreamKey(1))


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    path = tmp_path / "toy1999" / "paper.toml"
    path.parent.mkdir()
    path.write_text(TOML, encoding="utf-8")
    return read_paper(path)


def says(case: Case, *, words: str) -> Evidence:
    """Evidence whose quantity tells which version was asked."""
    return Evidence(Claim(words, 0.0, 1.0, 1.0), exact=Estimate.proved(0.5, 0.5, "made up"))


def draws(case: Case, budget: Budget) -> Evidence:
    return says(case, words=f"{budget.n_draws} draws of {case.number('n'):g}")


def example(paper: Paper):  # type: ignore[no-untyped-def]
    small = smallest("small", {"n": 1})
    return statement(
        "T99-T1",
        domain="everywhere",
        derivation="docs/derivations/toy.md",
        paper=paper,
        displays={
            "": Display(
                "the bound",
                Form("x <= 1", partial(says, words="printed"), [small, search()]),
                Form(
                    "x <= 2",
                    partial(says, words="corrected"),
                    [small, *over("grid", {"n": (1.5, 3), "what": ("a", "b")}, draws=(1, 2, 3), quick_every=3)],
                ),
                "a factor",
                {
                    "2 % less": Mutant(partial(says, words="less"), {"n": 2}, severity=0.02, quick=False),
                    "searched": Mutant(partial(says, words="searched")),
                    "twice": Mutant(partial(says, words="twice"), [{"n": 1}, None, {}][:2]),
                },
            ),
            "#10": Display("ten", Form("y = 2", draws, [At("edge", {"n": 4}, role=Role.EDGE, quick=False)])),
            ".a": Display("", Form("z = 3", partial(says, words="child"), [At("on the box")])),
            "#w@a": Display("a reading", Form("w = 4", partial(says, words="reading"), [At("as read")])),
            "#shown": Display("not decided", Form("v = 5")),
        },
    )


def test_parts_are_derived(paper: Paper) -> None:
    found = example(paper)
    assert (found.id, found.paper, found.kind, found.title, found.locator) == (
        "T99-T1", "toy1999", "theorem", "A theorem", "Theorem 1",
    )  # fmt: skip
    assert [(part.id, part.title, part.reading) for part in found.parts] == [
        ("T99-T1", "the bound", ""),
        ("T99-T1#10", "ten", ""),
        ("T99-T1.a", "A child", ""),
        ("T99-T1#w@a", "a reading", "a"),
        ("T99-T1#shown", "not decided", ""),
    ]
    assert [part.derivation for part in found.parts] == ["docs/derivations/toy.md", "", "", "", ""]
    assert found.parts[0].corrected is not None
    assert found.parts[0].corrected.text == "x <= 2"
    assert found.share == paper.share


def test_cases_are_derived(paper: Paper) -> None:
    found = {case.name: case for case in example(paper).cases}
    assert list(found) == [
        "T99-T1 | printed | n=1",
        "T99-T1 | printed search",
        "T99-T1 | corrected | n=1",
        "T99-T1 | corrected | n=1.5 what=a",
        "T99-T1 | corrected | n=1.5 what=b",
        "T99-T1 | corrected | n=3 what=a",
        "T99-T1 | corrected | n=3 what=b",
        "T99-T1 | mutant: 2 % less | n=2",
        "T99-T1 | mutant: searched",
        "T99-T1 | mutant: twice | n=1",
        "T99-T1 | mutant: twice",
        "T99-T1#10 | printed | n=4",
        "T99-T1.a | printed",
        "T99-T1#w@a | printed",
    ]
    assert [case.quick for case in found.values()] == [
        True, True, True, True, False, False, True, False, True, True, True, False, True, True,
    ]  # fmt: skip
    assert found["T99-T1 | printed | n=1"].role is Role.COUNTEREXAMPLE
    assert found["T99-T1 | printed search"].role is Role.ADVERSARIAL
    assert found["T99-T1 | mutant: searched"].role is Role.ADVERSARIAL
    assert found["T99-T1#10 | printed | n=4"].role is Role.EDGE
    wrong = found["T99-T1 | mutant: 2 % less | n=2"]
    assert (wrong.standing, wrong.mutant, wrong.severity) == (Standing.MUTANT, "2 % less", 0.02)
    assert found["T99-T1 | corrected | n=3 what=b"].draws == (1, 2, 3)


def test_each_version_is_decided_by_its_own_check(paper: Paper) -> None:
    found = example(paper)
    asked = {case.name: found.check(case, BUDGET).claim.quantity for case in found.cases}
    assert asked["T99-T1 | printed search"] == "printed"
    assert asked["T99-T1 | corrected | n=3 what=b"] == "corrected"
    assert asked["T99-T1 | mutant: 2 % less | n=2"] == "less"
    assert asked["T99-T1 | mutant: twice"] == "twice"
    assert asked["T99-T1#10 | printed | n=4"] == "7 draws of 4"
    assert asked["T99-T1.a | printed"] == "child"
    assert asked["T99-T1#w@a | printed"] == "reading"


def test_a_definition_has_nothing_to_decide(paper: Paper) -> None:
    found = definition("T99-D1", paper)
    assert found.cases == ()
    assert (found.definition, found.domain, found.summary) == ("somewhere.Something", "everywhere", "One.")
    assert [(part.id, part.title, part.printed.typst) for part in found.parts] == [("T99-D1", "A definition", "x := 1")]
    assert paper.entries["T99-D1"].file == "toy1999/paper.toml"


def test_an_id_needs_its_table() -> None:
    with pytest.raises(Defect, match=r"got id=T99-T1$"):
        definition("T99-T1")


def test_a_child_needs_its_table(paper: Paper) -> None:
    with pytest.raises(Defect, match=r"^toy1999/paper.toml must have a table for T99-T1\.b, or its display a title$"):
        statement("T99-T1", domain="", paper=paper, displays={".b": Display("", Form("x = 1"))})


def test_what_a_mutant_changes_is_a_keyword_of_its_check() -> None:
    changed = Mutant(says, {"n": 1}, severity=0.5, words="twice")
    assert changed.check(Case("", "", Standing.MUTANT, {})).claim.quantity == "twice"
    assert Mutant(says).check is says
    with pytest.raises(TypeError, match="wrds"):
        Mutant(says, wrds="twice")


def test_two_cases_of_one_name_are_refused(paper: Paper) -> None:
    twice = Form("x = 1", partial(says, words=""), [At("one", {"n": 1}), At("two", {"n": 1})])
    with pytest.raises(ValueError, match=r"^case names must be unique in T99-T1, got twice: T99-T1 \| printed \| n=1$"):
        statement("T99-T1", domain="", paper=paper, displays={"": Display("x", twice)})


def test_cases_without_a_check_are_refused(paper: Paper) -> None:
    with pytest.raises(ValueError, match=r"^a version with cases must have a check, got none for T99-T1 \(printed\)$"):
        statement("T99-T1", domain="", paper=paper, displays={"": Display("x", Form("x = 1", None, [At("one")]))})


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True)),
    st.integers(1, 5),
)
def test_a_grid_holds_every_point_once(axes: dict[str, list[int]], every: int) -> None:
    cases = over("grid", axes, quick_every=every)
    size = 1
    for values in axes.values():
        size *= len(values)
    points = {tuple(sorted(case.params.items())) for case in cases}
    assert len(points) == len(cases) == size
    assert [case.quick for case in cases] == [i % every == 0 for i in range(size)]
    assert all(list(case.params) == list(axes) for case in cases)


BUDGET_OF_FORMAL = Budget(2_000, 1e-6, StreamKey(3))


def classical(p: Point) -> float:
    """The classical bound of the Gaussian mechanism, true where it is at most 1."""
    return p["mu"] * math.sqrt(2.0 * math.log(1.25 / p["delta"]))


def at_most_one(p: Point, epsilon: float) -> bool:
    return epsilon <= 1.0


def on_record(case: Case) -> PairAtPoint:
    pair = pair_of(case)
    mechanism = GaussianOutput(precision=np.eye(pair.dataset.dim), gamma=case.number("gamma"))
    mu = math.sqrt(mechanism.gamma) * mechanism.sensitivity(pair)
    return PairAtPoint(mechanism, pair, {"mu": mu, "delta": case.number("delta")})


CLAIM = FormalClaim(
    profile=lambda p: GaussianProfile(p["mu"]),
    box={"mu": Axis(1e-3, 10.0), "delta": Axis(1e-9, 0.5)},
    observer=Observer.TRANSCRIPT,
    instance=on_record,
)


def case_of(at: At) -> Case:
    return Case("X", "case", Standing.PRINTED, at.params, at.role, at.regime, at.draws)


def numbers(mu: float, delta: float) -> Case:
    return case_of(At("here", {"mu": mu, "delta": delta}))


@pytest.mark.parametrize(
    ("factor", "outcome"), [(1.0, Outcome.HOLDS), (0.5, Outcome.FAILS), (1000.0, Outcome.OUT_OF_DOMAIN)]
)
def test_a_version_is_decided_at_the_numbers_of_its_case(factor: float, outcome: Outcome) -> None:
    evidence = CLAIM.of(lambda p: factor * classical(p), at_most_one)(numbers(0.1, 1e-3), BUDGET_OF_FORMAL)
    assert judge(evidence)[0] is outcome
    assert evidence.claim.published == pytest.approx(factor * 0.1 * math.sqrt(2.0 * math.log(1250.0)))
    assert evidence.claim.observer is Observer.TRANSCRIPT
    assert evidence.found == {}


def test_a_search_finds_where_the_classical_bound_breaks() -> None:
    """Without the condition epsilon <= 1 the bound fails for large mu; with it there is no such point."""
    evidence = CLAIM.of(classical)(case_of(search()), BUDGET_OF_FORMAL)
    assert judge(evidence)[0] is Outcome.FAILS
    assert set(evidence.found) == {"mu", "delta"}
    assert judge(CLAIM.of(classical, at_most_one)(case_of(search()), BUDGET_OF_FORMAL))[0] is Outcome.HOLDS


def test_a_record_of_real_data_has_both_witnesses() -> None:
    """The exact law decides, the Monte Carlo interval holds its value."""
    case = case_of(on_data("fair", 0, {"gamma": 100.0, "delta": 1e-2}, draws=(2_000, 2_000, 2_000)))
    assert (case.params["data"], case.params["record"], case.role) == ("fair", 0, Role.REGIME)
    evidence = CLAIM.of(classical, at_most_one)(case, BUDGET_OF_FORMAL)
    assert evidence.exact is not None
    assert evidence.sampled is not None
    assert evidence.sampled.low <= evidence.exact.value <= evidence.sampled.high
    assert judge(evidence)[0] is Outcome.HOLDS
    assert judge(CLAIM.of(lambda p: 0.01 * classical(p))(case, BUDGET_OF_FORMAL))[0] is Outcome.FAILS


@pytest.mark.parametrize(
    ("typst", "text"),
    [
        ("norm(x)_A^2", "||x||_A^2"),
        ("abs(norm(x) - 1)", "| ||x|| - 1 |"),
        ("(X^T X + lambda I)^(-1) X^T bold(y)", "(X^T X + lambda I)^-1 X^T y"),
        ("bold(y)' - y", "bold(y)' - y"),
        ("hat(theta)' - tilde(theta)_0", "theta_hat' - theta_tilde_0"),
        ("overline(epsilon_1^P)", "bar(epsilon_1^P)"),
        ("(a b)/(c d)", "a b/(c d)"),
        ("(a + b)/c", "(a + b)/c"),
        ("a/b/c", "(a/b)/c"),
        ("a/(b/c)", "a/(b/c)"),
        ("(-a)/b", "(-a)/b"),
        ("mu/2 log(2/delta)", "(mu/2) log(2/delta)"),
        ("log a/b", "log (a/b)"),
        ("1/2 <= x", "1/2 <= x"),
        ("a/b \\/ c", "(a/b)/c"),
        ("a \\/ b/c", "a/(b/c)"),
        ("A^(-1) \\/ gamma", "A^-1/gamma"),
        ("e^(-t^2\\/2)", "exp(-t^2/2)"),
        ("e_1^2", "e_1^2"),
        ("EE [x | Z] + EE_(z tilde.op cal(D)) [x]", "E[x | Z] + E_(z ~ D)[x]"),
        ("Pr_p (x > 1) <= delta", "Pr_p(x > 1) <= delta"),
        ("sum_(i=1)^d x_i ==> n^(2\\/3) >= 1.5", "sum_(i=1)^d x_i implies n^(2/3) >= 1.5"),
        ('epsilon <= 1 quad "if" n > 2, quad x in RR', "epsilon <= 1, if n > 2, x in R"),
        ('"is" (epsilon, delta)"-DP"', "is (epsilon, delta)-DP"),
        ('lambda_"min" succ 0', "lambda_min >(psd) 0"),
        ('cases(1 quad "if" n > 2, 0 quad "otherwise")', "{1, if n > 2; 0, otherwise}"),
        ("f'(dot) plus.minus g''(x)", "f'(.) +- g''(x)"),
        ("D_(plus.minus z)", "D_(+-z)"),
        ("f_Y (y, z) = a (b + c)", "f_Y(y, z) = a (b + c)"),
        ('"diag"(H)/sqrt(2)', "diag(H)/sqrt(2)"),
        ("e^(-t^2\\/(2 sigma^2))", "exp(-t^2/(2 sigma^2))"),
        ("a/b and c d", "min{a/b, c d}"),
        ("x <= O(a or b/c), quad k", "x <= O(max{a, b/c}), k"),
        ("min{1/a or b, c or d/e}", "min{max{1/a, b}, max{c, d/e}}"),
        ("x = a and b + c", "x = min{a, b} + c"),
        ("a and b and c", "min{min{a, b}, c}"),
        ('X "and" Y "or" Z', "X and Y or Z"),
        ('op("argmin")_(t >= s) (a b)/(t + c) + t quad "is unique"', "argmin_(t >= s) a b/(t + c) + t, is unique"),
        ("min_(t >= s) a/t + t", "min_(t >= s) a/t + t"),
        ("sum_i a/b + c", "sum_i (a/b) + c"),
        ("hat(theta)_(-i)", "theta_hat_(-i)"),
        ("Z_(-i)^(-1)", "Z_(-i)^-1"),
        ("lambda_min (H) - lambda_max (H + A)", "lambda_min(H) - lambda_max(H + A)"),
        ("lambda_min (a + b)^2", "lambda_min (a + b)^2"),
        ("lambda_1 (a + b)", "lambda_1 (a + b)"),
        ("p(theta | X, bold(y))", "p(theta | X, y)"),
        ("norm(cal(X)) X", "||cal(X)|| X"),
        ("hat(theta)(X), A^(-1)\\/gamma", "theta_hat(X), A^-1/gamma"),
        ("chevron.l z, theta chevron.r prop max{2, -3}", "<z, theta> proportional to max{2, -3}"),
    ],
)
def test_by_hand(typst: str, text: str) -> None:
    assert plain_math(typst) == text


#: What another word stands for in the plain text; a style shows as itself only where a letter has two styles.
WORDS = {
    "EE": "E",
    "PP": "Pr",
    "nabla": "grad",
    "product": "prod",
    "partial": "d",
    "dif": "d",
    "infinity": "infinity",
    "ZZ": "integers",
    "RR": "R",
}
STRUCTURE = {
    "norm", "abs", "cal", "bold", "op", "limits", "cases", "hat", "tilde", "overline", "macron", "quad", "dot",
    "forall", "exists", "in", "subset", "prop", "times", "and", "or", "succ", "prec", "approx", "arrow", "e",
}  # fmt: skip
RELATIONS = {"<=": "<=", ">=": ">=", ":=": ":=", "==>": "implies", "->": "->", "||": "||", "=": "=", "<": "<", ">": ">"}


def without_strings(typst: str) -> str:
    return re.sub(r'"[^"]*"', " ", typst)


def numerals(text: str) -> Counter[str]:
    return Counter(re.findall(r"\d+(?:\.\d+)?", text))


def names(typst: str) -> Counter[str]:
    """Return the variables, Greek letters and functions of a formula, under their names in plain text."""
    bare = re.sub(r"[A-Za-z]+\.[a-z.]+", " ", without_strings(typst))
    return Counter(WORDS.get(name, name) for name in re.findall(r"[A-Za-z]+", bare) if name not in STRUCTURE)


def relations(typst: str) -> Iterator[str]:
    for token in re.findall(r"==>|<=|>=|:=|->|\|\||[=<>]", without_strings(typst)):
        yield RELATIONS[token]


@pytest.mark.parametrize("source", registry.default().select(), ids=lambda source: source.id)
def test_every_formula_of_a_statement_is_read_out(source: registry.Source) -> None:
    for part in source.load().parts:
        for formula in (part.printed, part.corrected):
            if formula:
                check_nothing_is_lost(formula.typst, formula.text)


def check_nothing_is_lost(typst: str, text: str) -> None:
    """No numeral is lost or made; no variable and no relation is lost; every word in quotes is there."""
    assert numerals(text) == numerals(typst)
    words = Counter(re.findall(r"[A-Za-z]+", text))
    assert names(typst) - words == Counter()
    for relation in set(relations(typst)):
        assert text.count(relation) >= list(relations(typst)).count(relation), relation
    for quoted in re.findall(r'"([^"]*)"', typst):
        assert " ".join(quoted.split()) in text
    for opening, closing in ("()", "[]", "{}"):
        assert text.count(opening) == text.count(closing)
    assert not re.search(r"[\\\"]|  |,,| ,|\( | \)", text)


NUMBERS = st.integers(0, 99).map(str)
LETTERS = st.sampled_from(["x", "y", "n", "gamma", "delta", "theta"])


def compound(inner: st.SearchStrategy[tuple[str, str]]) -> st.SearchStrategy[tuple[str, str]]:
    """Return strategies of (Typst, Python) pairs one level deeper, each with what it means."""

    def of(typst: str, python: str) -> st.SearchStrategy[tuple[str, str]]:
        return st.tuples(inner, inner).map(
            lambda pair: (
                typst.replace("A", f"({pair[0][0]})").replace("B", f"({pair[1][0]})"),
                python.replace("A", f"({pair[0][1]})").replace("B", f"({pair[1][1]})"),
            )
        )

    return st.one_of(of("A/B", "A/B"), of("A + B", "A+B"), of("A - B", "A-B"), of("A B", "A*B"), of("A^2", "A**2"))


def value(text: str, names_of: dict[str, float]) -> float:
    """Return the value of plain text: white space between factors is a product, of the rank of a fraction."""
    python = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", text).replace("^", "**")
    return float(eval(python, {"__builtins__": {}}, dict(names_of)))


LEAVES = st.one_of(NUMBERS.map(lambda n: (n, f"{n}.0")), LETTERS.map(lambda letter: (letter, letter)))


@given(st.recursive(LEAVES, compound, max_leaves=8))
def test_brackets_keep_the_value_of_a_formula(pair: tuple[str, str]) -> None:
    """Fractions, sums, products and squares: the line, read by the usual rules, has the value of the formula."""
    typst, python = pair
    numbers = {"x": 1.25, "y": -0.75, "n": 3.5, "gamma": 0.4, "delta": 2.2, "theta": -1.6}
    try:
        expected = value(python, numbers)
    except (ZeroDivisionError, OverflowError):
        expected = None
    if expected is not None:
        assert value(plain_math(typst), numbers) == pytest.approx(expected, rel=1e-9)


def depth(typst: str) -> bool:
    """Return whether brackets are left open or closed too often."""
    level = 0
    for letter in typst:
        level += (letter in "([{") - (letter in ")]}")
        if level < 0:
            return True
    return level != 0


@given(st.text(alphabet="abxn()[]{}/^_+-=<> ,.0123", max_size=40))
def test_what_is_not_refused_keeps_its_numbers(typst: str) -> None:
    try:
        text = plain_math(typst)
    except ValueError:  # refused: then it is broken indeed
        assert depth(typst) or re.search(r"[_^/]\s*($|[])},/^_])", typst)
    else:
        assert sorted(re.findall(r"\d", text)) == sorted(re.findall(r"\d", typst))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("(a + b", "must close its brackets"),
        ("a + b)", "brackets that are open"),
        ("sqrt(2", "must close its brackets"),
    ],
)
def test_brackets_that_do_not_match_are_refused(broken: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plain_math(broken)


@pytest.mark.parametrize(
    ("typst", "text"),
    [("2 x <= 3", "x <= 3"), ("x <= 3", "x < 3"), ('x quad "for all" y', "x, y"), ("gamma x", "x"), ("x_1", "x_1 1")],
)
def test_a_text_that_loses_something_is_noticed(typst: str, text: str) -> None:
    with pytest.raises(AssertionError):
        check_nothing_is_lost(typst, text)
