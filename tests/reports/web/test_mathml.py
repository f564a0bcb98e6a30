"""Formulas as MathML: nothing is dropped in silence, and what is wrong is named."""

import pytest

from reports.row import FormulaBlock
from reports.web.elements import serialised
from reports.web.mathml import rendered_formulas


def block(typst: str, label: str = "a label") -> FormulaBlock:
    return FormulaBlock(label, typst, "in words")


def markup(typst: str) -> str:
    return "".join(map(serialised, rendered_formulas([block(typst)]).pieces(typst)))


def test_a_bar_is_kept_and_grows() -> None:
    assert '<mo stretchy="true">\u203e</mo>' in markup("overline(x + y)")


def test_accents_have_a_width_of_their_own() -> None:
    """A combining mark would be set beside its letter, where it has no width."""
    assert '<mo stretchy="false">\u00af</mo>' in markup("macron(epsilon)")
    assert '<mo stretchy="false">\u02dc</mo>' in markup("tilde(delta)")


def test_script_letters_and_spaces_in_texts_come_without_selectors_and_styles() -> None:
    made = markup('cal(A) "a release,  then"')
    assert "\U0001d49c" in made
    assert "\ufe00" not in made
    assert "style" not in made
    assert "a release,  then" in made


def test_what_html_would_leave_out_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"typst must be math that HTML can hold, but Typst says: .*ignored"):
        rendered_formulas([block("cancel(x)")])


def test_a_wrong_formula_is_named() -> None:
    with pytest.raises(ValueError, match="in formula 'the second'"):
        rendered_formulas([block("x"), block("frac(", "the second")])


def test_a_wide_space_divides_a_formula_and_nothing_is_lost() -> None:
    made = rendered_formulas([block("x <= 1, quad forall y")])
    first, second = made.pieces("x <= 1, quad forall y")
    assert "".join(first.itertext()) == "\U0001d465≤1,"
    assert "".join(second.itertext()) == "∀\U0001d466"
    assert [piece.get("display") for piece in (first, second)] == ["block", "block"]


def test_formulas_keep_their_order_and_equal_ones_are_one() -> None:
    made = rendered_formulas([block("a"), block("b"), block("a")])
    assert list(made.by_source) == ["a", "b"]
    assert "".join(made.by_source["b"].itertext()) == "\U0001d44f"
    assert rendered_formulas([]).by_source == {}


def test_a_formula_can_close_nothing() -> None:
    """Sources are data to the template: a sign that ends math in Typst ends nothing here."""
    with pytest.raises(ValueError, match="typst must be"):
        rendered_formulas([block("x $ y")])
