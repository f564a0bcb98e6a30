"""A formula read out as plain text: by hand, over every committed formula, and over formulas made up at random."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.kernel.plain_math import plain_math
from verify.papers import registry


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
