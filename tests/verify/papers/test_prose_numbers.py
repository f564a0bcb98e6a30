"""Numbers that prose states: each is in the statement's own formulas, cases or rows, or is held by a table.

``oracles.verify.prose_numerals`` says what explains a numeral; ``oracles.verify.prose_table`` has what no row shows.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from oracles.formula_cases import one
from oracles.verify.prose_numerals import Explained, Numeral, agrees, altered, numerals
from oracles.verify.prose_table import DERIVED, MEASURED, SETTINGS, composed, event_widths

from verify.papers import registry
from verify.papers.redberg_wang2021 import thm_5

NOTES = Path(__file__).parents[3] / "docs" / "derivations"
IDS = [source.id for source in registry.default().select()]
#: Ids whose altered numerals the fast tests try: quick rows, and of all three papers.
SOME = ("W19-P4.3.1a", "W19-EA.4", "W18-S1", "W18-L8", "W18-TH3i", "RW21-T10", "RW21-I1")
#: Numbers that a sentence cannot do without.
FREE = frozenset({0.0, 1.0})
#: Share of altered numerals that must be noticed; the rest happen to be another number of the same statement.
NOTICED = 0.7
SMALL = frozenset(map(str, range(11)))


@cache
def explained(id_: str) -> Explained:
    """Return what the numbers of a statement explain, worked out once."""
    return Explained(one(id_))


@cache
def texts(id_: str) -> tuple[tuple[str, str], ...]:
    """Return all that a statement says in words, and the reasons of its ids in the ``paper.toml``, by field."""
    statement, default = one(id_), registry.default()
    words = [("summary", statement.summary), ("domain", statement.domain)]
    words += [("wrong", part.what_went_wrong) for part in statement.parts]
    words += [("why", entry.expected.why) for key, entry in default.catalogue.items() if default.parent(key) == id_]
    return tuple((field, text) for field, text in words if text)


@cache
def values(id_: str, words: str) -> tuple[float, ...]:
    """Return what the numbers of a sentence of the table are made from, worked out once."""
    return dict(MEASURED[id_])[words]()


def held(id_: str, text: str) -> frozenset[int]:
    """Return where the numerals of a text stand that the tables hold, and that are right."""
    found: set[int] = set()
    for words, _ in MEASURED.get(id_, ()):
        for match in re.finditer(words, text):
            for group, value in enumerate(values(id_, words), 1):
                found |= {match.start(group)} if agrees(match[group].replace(",", ""), value) else set()
    copied = [*SETTINGS.get(id_, ()), *(words for words, _, _ in DERIVED.get(id_, ()))]
    for words in copied:
        for match in re.finditer(re.escape(words), text):
            found |= {match.start() + numeral.start for numeral in numerals(words)}
    return frozenset(found)


def unexplained(id_: str, field: str, text: str) -> Iterator[Numeral]:
    """Yield the numerals of a text that nothing explains."""
    table, own = held(id_, text), explained(id_)
    domain = {numeral.value for numeral in numerals(own.statement.domain)} if field != "domain" else own.constants
    for numeral in numerals(text):
        known = numeral.value in FREE or numeral.value in own.written or numeral.value in domain
        if not (known or numeral.start in table or (field != "domain" and own.by_row(numeral))):
            yield numeral


@pytest.mark.parametrize("id_", IDS)
def test_every_numeral_is_explained(id_: str) -> None:
    """No sentence states a number that is in no formula, case, row or entry of the tables."""
    for field, text in texts(id_):
        for numeral in unexplained(id_, field, text):
            pytest.fail(
                f"{id_} {field} states {numeral.text}: … {text[max(0, numeral.start - 60) : numeral.start + 40]} …"
            )


@pytest.mark.parametrize("id_", MEASURED)
def test_no_entry_is_left_over(id_: str) -> None:
    """Every sentence of the table still stands in its statement, with the numbers that are measured."""
    for words, _ in MEASURED[id_]:
        matches = [match for _, text in texts(id_) for match in re.finditer(words, text)]
        assert matches, f"{id_} must say {words}"
        for match in matches:
            for printed, value in zip(match.groups(), values(id_, words), strict=True):
                assert agrees(printed.replace(",", ""), value), (id_, printed, value)


def test_what_is_copied_is_there() -> None:
    """Settings stand in their statements word for word, and derived numbers in our notes."""
    for id_, copied in SETTINGS.items():
        for words in copied:
            assert any(words in text for _, text in texts(id_)), (id_, words)
    for id_, derived in DERIVED.items():
        for words, file, formula in derived:
            assert any(words in text for _, text in texts(id_)), (id_, words)
            assert formula in (NOTES / file).read_text(encoding="utf-8")


def noticed(ids: Iterable[str]) -> tuple[int, int]:
    """Return how many altered numerals nothing explains, and how many there are.

    Whole numbers up to 10 stay as they are: one more or less is nearly always a number of the same statement too.
    """
    found = total = 0
    for id_ in ids:
        for field, text in texts(id_):
            for numeral in (each for each in numerals(text) if each.plain not in SMALL):
                for other in altered(numeral):
                    changed = text[: numeral.start] + other + text[numeral.start + len(numeral.text) :]
                    total += 1
                    found += any(numeral.start == left.start for left in unexplained(id_, field, changed))
    print(f"{found} of {total} altered numerals noticed ({found / total:.1%})")
    return found, total


def test_an_altered_numeral_is_noticed() -> None:
    """Most numerals of a few statements, altered in their last digit or by a power of ten, are explained by nothing."""
    found, total = noticed(SOME)
    assert found > NOTICED * total > 0


@pytest.mark.slow
def test_altered_numerals_are_noticed_everywhere() -> None:
    """The same over all statements."""
    found, total = noticed(IDS)
    assert found > NOTICED * total > 0


def test_words_for_numbers_hold() -> None:
    """A bound that is said in words holds, and not by far."""
    assert any("less than half its noise" in text for _, text in texts("RW21-T5"))
    assert 0.4 < thm_5.CRITICAL < 0.5


def test_numerals_are_found() -> None:
    """Names are no numerals; percents, fractions, powers of ten and commas are read."""
    text = (
        "By Lemma 2.4 (W19-T4.1, step 3) it is 12 % at epsilon = 1e-3, 1/2 of 3,494; F1 to F4, (4.3) and E_1 are names."
    )
    assert [(n.text, n.value, n.percent) for n in numerals(text)] == [
        ("12", 12.0, True), ("1e-3", 1e-3, False), ("1/2", 0.5, False), ("3,494", 3494.0, False)
    ]  # fmt: skip
    assert set(altered(next(numerals("at 0.49 of it")))) == {"0.50", "0.48", "4.9"}


def test_a_wrong_number_is_found() -> None:
    """The numbers that stood here before, and were wrong, do not agree."""
    assert agrees("12", 12.14)
    assert agrees("0.49", 0.48997)
    for printed, value in (("13", composed()[0]), ("0.25", event_widths()[1]), ("0.02", 0.0138), ("10.1", 5.2)):
        assert not agrees(printed, value)
