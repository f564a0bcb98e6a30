"""Every formula of every statement says in MathML what it says in Typst and in plain text, and the font can show it."""

import io
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from xml.etree.ElementTree import Element

from fontTools.ttLib import TTFont
from oracles.typst_math import plain, printed

from reports.row import FormulaBlock
from reports.web.mathml import Formulas, rendered_formulas
from verify.papers import registry


@cache
def blocks() -> tuple[FormulaBlock, ...]:
    return tuple(_blocks())


def _blocks() -> Iterator[FormulaBlock]:
    for source in registry.default().select(()):
        for part in source.load().parts:
            for form in filter(None, (part.printed, part.corrected)):
                yield FormulaBlock(part.id, form.typst, form.text)


@cache
def formulas() -> Formulas:
    return rendered_formulas(blocks())


def math(block: FormulaBlock) -> Element:
    return formulas().by_source[block.typst]


def words(block: FormulaBlock) -> str:
    return "".join(math(block).itertext())


def greek(text: str) -> set[str]:
    """Return the names of the Greek letters in a text, ``Delta`` apart from ``delta``."""
    names = set()
    for character in "".join(unicodedata.normalize("NFKC", character) for character in text):
        name = unicodedata.name(character, "")
        if name.startswith("GREEK "):
            letter = name.removeprefix("GREEK ").split()[-1].replace("LAMDA", "LAMBDA").lower()
            names.add(letter.capitalize() if "CAPITAL" in name else letter)
    return names


def test_mathml_has_the_characters_of_its_source() -> None:
    wrong = {block.label: block.typst for block in blocks() if plain(words(block)) != printed(block.typst)}
    assert wrong == {}
    assert len(blocks()) >= 500


def test_mathml_has_the_letters_and_numbers_of_the_plain_text() -> None:
    known = {name for block in blocks() for name in greek(words(block))}
    for block in blocks():
        said = set(re.findall(r"[A-Za-z]+", block.text)) & known
        assert said == greek(words(block)), block.label
        numbers = {number for node in math(block).iter() for number in re.findall(r"\d+(?:\.\d+)?", node.text or "")}
        assert numbers == set(re.findall(r"\d+(?:\.\d+)?", block.text)), block.label
    assert {"epsilon", "Delta", "lambda"} <= known


def test_a_lost_sign_is_seen() -> None:
    """What the first test holds is no tautology: a formula without one of its signs is told apart."""
    assert printed("overline(x) <= 2 y") != plain("x≤2y")
    assert printed("overline(x) <= 2 y") == plain("𝑥‾≤2𝑦")
    assert printed("sqrt(2 log(1/delta))") == plain("√2log1𝛿".replace("√", ""))


def test_no_formula_has_an_inline_style_or_a_variation_selector() -> None:
    for block in blocks():
        assert all("style" not in node.attrib for node in math(block).iter())
        assert "\ufe00" not in words(block)


def test_pieces_of_a_formula_are_the_whole_formula() -> None:
    for block in blocks():
        pieces = formulas().pieces(block.typst)
        assert "".join(text for piece in pieces for text in piece.itertext()) == words(block)


def test_the_font_has_every_character_of_every_formula() -> None:
    """Where this fails: add the character to .ci/math_font.py and cut the font again."""
    font = TTFont(io.BytesIO((files("reports") / "templates" / "math.woff").read_bytes()))
    known = set(font.getBestCmap())
    missing = {f"U+{ord(c):04X}" for block in blocks() for c in words(block) if ord(c) not in known}
    assert missing == set()
    assert "MATH" in font
