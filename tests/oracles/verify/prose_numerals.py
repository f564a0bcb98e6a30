"""Which numerals stand in a statement's words, and which of its own numbers explain them.

A numeral is explained by a formula, by a parameter or the name of a case, in a domain by a number of the source, or
by a number of a row: rounded as it is printed, to two digits at least (one digit agrees with something nearly always).
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path

from audits import Budget, Estimate, StreamKey
from verify.kernel.statement import Case, Evidence, Statement
from verify.papers.registry import default

#: What a number can stand behind without being one: what it counts, and one place or several.
_KINDS = (
    "lemmas? theorems? tables? figures? remarks? steps? sections? corollar(?:y|ies) definitions? algorithms? "
    "propositions? facts? equations? lines? items? displays? examples?"
)
_PLACE = r"[A-Z]?\.?\d[\d.]*(?:\([ivx\d]+\))?[a-z]?\b"
_NAMED = "|".join(f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in _KINDS.split())
#: Names with numbers in them, which say nothing about a size.
NAMES = re.compile(
    rf"""\b(?:W18|W19|RW21)-[A-Za-z0-9_.#@]*[A-Za-z0-9]
      | \b[A-Z]+[a-z]?\d+[.\d]*[a-z]{{0,3}}(?:\.[a-z]\d*)?(?:\ to\ [A-Z]\d+)?\b  # T9.1, F1 to F3, TH2i
      | \(\d+(?:\.\d+)?[a-z]?\)  # numbers of equations
      | \b(?:{_NAMED})\ {_PLACE}(?:(?:,|\ and|,\ and|\ or|\ to)\ {_PLACE}(?!\ ?%))*
      | \b[A-Z][a-z]+(?:\ et\ al\.)?\ (?:19|20)\d\d\b  # years of references
      | \bappendix\ [A-Z](?:\.\d)?
      | \b[A-Z]\.\d\b | \b[A-Za-z]+_\d\b | \btheta\d\b""",
    re.VERBOSE,
)
NUMERAL = re.compile(r"(?<![\w.])(?:\d+/\d+(?![\d.])|\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)(?!\w)")
WRITTEN = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
DIGITS = 2  # that a number of a row must share with a numeral


@dataclass(frozen=True)
class Numeral:
    """One number in words: as it is written, and whether percents follow."""

    text: str
    start: int
    percent: bool

    @property
    def plain(self) -> str:
        """The number without commas."""
        return self.text.rstrip(",").replace(",", "")

    @property
    def value(self) -> float:
        """Its size."""
        return float(Fraction(self.plain)) if "/" in self.plain else float(self.plain)


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the numbers of a text that are no names of something."""
    bare = NAMES.sub(lambda name: "_" * len(name.group()), text)
    for found in NUMERAL.finditer(bare):
        written = found.group().rstrip(",")
        end = found.start() + len(written)
        yield Numeral(written, found.start(), bare[end : end + 2] == " %")


def agrees(printed: str, value: float) -> bool:
    """Return whether a value, rounded to the digits that are printed, is the printed number."""
    if "/" in printed:
        return math.isclose(float(Fraction(printed)), value, rel_tol=1e-9)
    step = 10.0 ** int(Decimal(printed).as_tuple().exponent)
    return abs(value - float(printed)) <= 0.5 * step * (1 + 1e-9)


def digits(printed: str) -> int:
    """Return how many digits of a number are stated (30 and 1e-6 have one)."""
    mantissa = printed.partition("e")[0]
    return len(mantissa.replace(".", "").lstrip("0") if "." in mantissa else mantissa.strip("0"))


class Explained:
    """The numbers of one statement that can explain a numeral; rows are worked out when they are needed."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement

    @cached_property
    def written(self) -> frozenset[float]:
        """The numbers of formulas, names (but for what stands in brackets there), parameters, severities in percent."""
        texts = [f.text for part in self.statement.parts for f in (part.printed, part.corrected) if f]
        texts += [text for case in self.statement.cases for text in (case.regime, case.mutant.partition("(")[0])]
        texts += [text for case in self.statement.cases for text in case.params.values() if isinstance(text, str)]
        found = {float(number) for text in texts for number in re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)}
        found |= {numeral.value for text in texts for numeral in numerals(text)}
        for case in self.statement.cases:
            found |= {float(value) for value in case.params.values() if isinstance(value, (int, float))}
            found |= {10.0 ** case.number("last")} if "last" in case.params else set()
            found |= {round(100 * case.severity, 9)} if case.severity else set()
        return frozenset(found)

    @cached_property
    def constants(self) -> frozenset[float]:
        """The numbers that its file is written with, and those that it shares with others: ranges of its domain."""
        module = default().sources[self.statement.id].module
        return constants(module) if module else frozenset()

    @cached_property
    def evidence(self) -> tuple[tuple[Case, Evidence], ...]:
        """The evidence of all exact cases that the quick profile runs."""
        cases = [case for case in self.statement.cases if case.quick and not any(case.draws)]
        return tuple((case, self.statement.check(case, Budget(10, 1e-6, StreamKey(1)))) for case in cases)

    @cached_property
    def measured(self) -> tuple[float, ...]:
        """Numbers of the rows, and ratios of what is found to what is claimed."""
        return tuple(number for _, evidence in self.evidence for number in (*_numbers(evidence), *_ratios(evidence)))

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The same in percent, and by how many percent what is found differs from what is claimed."""
        return tuple(
            100 * number
            for _, evidence in self.evidence
            for number in (*_numbers(evidence), *(abs(1 - ratio) for ratio in _ratios(evidence)))
        )

    def by_row(self, numeral: Numeral) -> bool:
        """Return whether a number of a row, rounded, is the numeral."""
        if "/" in numeral.plain:
            return False
        if digits(numeral.plain) < DIGITS:
            return "e" in numeral.plain and numeral.value in self.measured
        return any(agrees(numeral.plain, value) for value in (self.shares if numeral.percent else self.measured))


@cache
def constants(module: str) -> frozenset[float]:
    """Return the numbers in the source of a module, and of what it imports from its own papers."""
    path = importlib.import_module(module).__file__
    assert path
    found: set[float] = set()
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        found |= _number(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "growth_evidence":
            found |= {10.0**power for argument in node.args for power in _number(argument)}  # decades of a sequence
        elif isinstance(node, ast.ImportFrom) and node.level in (1, 2) and node.module:
            name = importlib.util.resolve_name("." * node.level + node.module, module.rpartition(".")[0])
            found |= _shared(name, [alias.name for alias in node.names])
    return frozenset(found)


def _number(node: ast.AST) -> set[float]:
    """Return the number that is written there: a constant, a quotient of two, or the text of one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return {top / bottom for top in _number(node.left) for bottom in _number(node.right) if bottom}
    if not isinstance(node, ast.Constant) or isinstance(node.value, (bytes, complex)):
        return set()
    written = isinstance(node.value, (int, float)) or WRITTEN.fullmatch(str(node.value))
    return {float(node.value)} if written and node.value is not None else set()


def _shared(module: str, names: list[str]) -> frozenset[float]:
    """Return the numbers of a module of the papers, or of those that are imported from a folder of them."""
    found = importlib.util.find_spec(module) if ".papers." in module else None
    if found is None:
        return frozenset()
    if found.submodule_search_locations is None:
        return constants(module)
    return frozenset().union(*(_shared(f"{module}.{name}", []) for name in names))


def _numbers(evidence: Evidence) -> Iterator[float]:
    claim = evidence.claim
    for value in (claim.published, claim.low, claim.high, *evidence.notes.values(), *evidence.found.values()):
        if isinstance(value, (int, float)) and math.isfinite(value):
            yield float(value)
    for estimate in _exact(evidence):
        yield from (estimate.value, estimate.low, estimate.high)


def _exact(evidence: Evidence) -> list[Estimate]:
    return [evidence.exact] if evidence.exact and math.isfinite(evidence.exact.value) else []


def _ratios(evidence: Evidence) -> Iterator[float]:
    for estimate in _exact(evidence):
        for claimed in {evidence.claim.low, evidence.claim.high, evidence.claim.published}:
            if claimed and estimate.value and math.isfinite(claimed):
                yield from (estimate.value / claimed, claimed / estimate.value)


def altered(numeral: Numeral) -> Iterator[str]:
    """Yield wrong numerals: one more and one less in the last digit, and ten times as much."""
    if "/" in numeral.text:
        top, _, bottom = numeral.text.partition("/")
        yield from (f"{int(top) + 1}/{bottom}", f"{top}/{int(bottom) + 1}")
        return
    mantissa, e, power = numeral.plain.partition("e")
    places = len(mantissa.partition(".")[2])
    step = Decimal(1).scaleb(-places)
    yield from (
        f"{Decimal(mantissa) + sign * step}{e}{power}" for sign in (1, -1) if Decimal(mantissa) + sign * step > 0
    )
    yield (
        f"{mantissa}e{int(power) + 1}"
        if e
        else f"{Decimal(mantissa) * 10:f}".rstrip("0").rstrip(".")
        if places
        else f"{mantissa}0"
    )
