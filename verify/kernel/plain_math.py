"""A formula in Typst math, read out as plain text for a terminal: nothing is typed twice, and no number is lost.

The grammar is Typst's own (attachments bind tighter than fractions, a name directly before a bracket is a call, the
parentheses of an operand of a fraction or of a script are not shown). What a fraction needs to stay what it is in one
line is put into parentheses; scripts keep theirs unless they are one word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

TOKEN = re.compile(
    r'\s+|"(?:[^"\\]|\\.)*"|\\.|\d+(?:\.\d+)?|[A-Za-z]{2,}(?:\.[a-z]+)*|[A-Za-z]|\'+|==>|\.\.\.|<=|>=|->|:=|\|\||.'
)
RELATIONS: Mapping[str, str] = {
    "=": "=",
    "<": "<",
    ">": ">",
    "<=": "<=",
    ">=": ">=",
    ":=": ":=",
    "->": "->",
    "==>": "implies",
    "||": "||",
    "|": "|",
    "in": "in",
    "in.not": "not in",
    "subset": "subset of",
    "tilde.op": "~",
    "~": "~",
    "tilde": "~",
    "approx": "approx",
    "prop": "proportional to",
    "arrow": "->",
    "arrow.not": "does not tend to",
    "gt.tilde": ">~",
    "lt.tilde": "<~",
    "succ": ">(psd)",
    "succ.eq": ">=(psd)",
    "prec": "<(psd)",
    "times": "*",
}
EXTREMA: Mapping[str, str] = {"and": "min", "or": "max"}
SIGNS: Mapping[str, str] = {"+": "+", "-": "-", "plus.minus": "+-", "minus.plus": "-+"}
NAMES: Mapping[str, str] = {
    "EE": "E",
    "PP": "Pr",
    "nabla": "grad",
    "product": "prod",
    "dif": "d",
    "partial": "d",
    "dot": ".",
    "forall": "for all",
    "exists": "there is",
    "ZZ": "the integers",
    "RR": "R",
    "chevron.l": "<",
    "chevron.r": ">",
    "quad": "",
}
ACCENTS: Mapping[str, str] = {"hat": "hat", "tilde": "tilde", "overline": "bar", "macron": "bar"}
BARS: Mapping[str, str] = {"norm": "||", "abs": "|"}
#: Operators that apply to what follows: a fraction behind one is put into parentheses.
OPERATORS = frozenset(("log", "sum", "prod", "integral", "det", "tr", "E", "Pr", "d"))


class Kind(Enum):
    """What a phrase of text is to its neighbours."""

    FACTOR = "one factor"
    WORDS = "words"
    PRODUCT = "several factors"
    FRACTION = "a fraction"
    SUM = "a sum, a relation or a list"
    SIGN = "a sign"
    RELATION = "a relation"
    EXTREMUM = "a minimum or maximum between its operands"
    COMMA = "punctuation"
    SLASH = "a slash in the line"
    SPACE = "a wide space"


@dataclass(frozen=True)
class Phrase:
    """Rendered text, what it is, what stands between its round brackets, and the operator that it begins with."""

    text: str
    kind: Kind = Kind.FACTOR
    inside: Phrase | None = None
    head: str = ""
    spaced: bool = False  # white space stands before it


def plain_math(typst: str) -> str:
    """Return a formula in Typst math as plain text.

    Raises
    ------
    ValueError
        If a bracket is closed that is not open, or the other way round.

    Examples
    --------
    >>> plain_math("norm(theta)_A^2 <= (kappa^2 d)/(2 n) sqrt(log(1.25/delta))")
    '||theta||_A^2 <= (kappa^2 d/(2 n)) sqrt(log(1.25/delta))'
    """
    reader = _Reader(typst)
    text = reader.sequence("").text
    if reader.peek():
        raise ValueError(f"formula must close only brackets that are open, got formula={typst!r}")
    return text


class _Reader:
    """A reader of the tokens of one formula."""

    def __init__(self, typst: str) -> None:
        self.tokens = TOKEN.findall(typst)
        self.at = 0
        styled = re.compile(r"\b(?:cal|bold)\((\w+)\)")
        self.shared = set(styled.findall(typst)) & set(TOKEN.findall(styled.sub("", typst)))  # letters in two styles

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        if not self.peek():
            raise ValueError(f"formula must close its brackets and end behind an operand, got {''.join(self.tokens)!r}")
        self.at += 1
        return str(self.tokens[self.at - 1])

    def sequence(self, stop: str) -> Phrase:
        """Read phrases up to a closing bracket (any, as in Typst), the given stop, or the end."""
        phrases: list[Phrase] = []
        spaced = False
        while (token := self.peek()) and token not in (")", "]", "}", "chevron.r") and not (stop and token == stop):
            if token.isspace():
                self.take()
                spaced = True
                continue
            phrase = self.expression(0)
            phrases.append(Phrase(phrase.text, phrase.kind, phrase.inside, phrase.head, spaced))
            spaced = False
        return _joined(_extrema_first(phrases))

    def expression(self, level: int) -> Phrase:
        """Read one phrase with its calls, primes, scripts (level 2) and fractions (level 1)."""
        phrase = self.primary()
        while token := self.peek():
            if token == "!" or token.startswith("'"):
                phrase = Phrase(phrase.text + self.take(), phrase.kind, head=phrase.head)
            elif token in "_^" and level <= 2:
                phrase = self.attached(phrase)
            elif token == "/" and level <= 1 and phrase.kind is not Kind.SLASH:
                self.take()
                self.skip()
                phrase = _fraction(_bare(phrase), _bare(self.expression(2)))
            elif token.isspace() and self.ahead() == "/" and level <= 1:
                self.take()
            else:
                break
        return phrase

    def skip(self) -> None:
        while self.peek().isspace():
            self.take()

    def ahead(self) -> str:
        return self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ""

    def attached(self, base: Phrase) -> Phrase:
        """Read the scripts of a base; ``e^x`` is exp(x)."""
        scripts: dict[str, Phrase] = {}
        while (token := self.peek()) in ("_", "^") and token not in scripts:
            self.take()
            self.skip()
            scripts[token] = _bare(self.expression(3))
        if base.text == "e" and set(scripts) == {"^"}:
            return Phrase(f"exp({scripts['^'].text})")
        text = base.text if base.kind in (Kind.FACTOR, Kind.WORDS) else f"({base.text})"
        for mark in "_^":
            if mark in scripts:
                text += mark + _script(scripts[mark].text, signed=mark == "^")
        return Phrase(text, head=base.head)

    def primary(self) -> Phrase:
        """Read a token, a bracket with what is in it, or a name with the bracket directly behind it."""
        token = self.take()
        if token in ("(", "[", "{", "chevron.l"):
            return self.bracket(token)
        if token == "\\/":
            return Phrase("/", Kind.SLASH)
        if token in RELATIONS and not (token in ACCENTS and self.peek() == "("):
            return Phrase(RELATIONS[token], Kind.RELATION)
        if token in EXTREMA:
            return Phrase(EXTREMA[token], Kind.EXTREMUM)
        if token in SIGNS:
            return Phrase(SIGNS[token], Kind.SIGN)
        if token in (",", ";", ":"):
            return Phrase(token, Kind.COMMA)
        if token == "quad":
            return Phrase("", Kind.SPACE)
        if token[0] == '"':
            return self.applied(Phrase(" ".join(token[1:-1].split()), Kind.WORDS))
        if token[0] == "\\":
            return self.applied(Phrase(token[1:]))
        if token[0].isalpha() and self.peek() == "(":
            return self.call(token)
        name = NAMES.get(token, token)
        phrase = Phrase(name, head=name if name in OPERATORS else "")
        return self.applied(phrase) if token[0].isalpha() else phrase

    def applied(self, name: Phrase) -> Phrase:
        """Read the bracket directly behind a name, if there is one: it is part of the name."""
        if self.peek() not in ("(", "[", "{"):
            return name
        return Phrase(name.text + self.bracket(self.take()).text, head=name.head)

    def bracket(self, opening: str) -> Phrase:
        inside = self.sequence("")
        closing = self.take()
        text = NAMES.get(opening, opening) + inside.text + NAMES.get(closing, closing)
        return Phrase(text, inside=inside if opening == "(" else None)

    def call(self, token: str) -> Phrase:
        """Read the brackets of a call; norms, accents, styles and cases have a form of their own."""
        self.take()
        if token == "cases":
            rows = [self.sequence(",")]
            while self.peek() == ",":
                self.take()
                rows.append(self.sequence(","))
            self.take()
            return Phrase("{" + "; ".join(row.text for row in rows) + "}")
        text = self.sequence("").text
        self.take()
        if token in BARS:
            bar = BARS[token]
            gap = " " if "|" in (text[:1], text[-1:]) else ""
            return Phrase(bar + gap + text + gap + bar)
        if token in ACCENTS:
            return Phrase(f"{text}_{ACCENTS[token]}" if text.isalpha() else f"{ACCENTS[token]}({text})")
        if token in ("op", "limits"):
            return Phrase(text, head=text if text in OPERATORS else "")
        if token in ("cal", "bold"):
            return Phrase(f"{token}({text})" if text in self.shared else text)
        return Phrase(f"{NAMES.get(token, token)}({text})")


def _bare(phrase: Phrase) -> Phrase:
    """Return what stands in round brackets without them."""
    return phrase.inside or phrase


def _script(text: str, *, signed: bool) -> str:
    """Return a script without spaces round its signs, in brackets unless it is one word (``signed``: or -1)."""
    close = re.sub(r" ([+=-]) ", r"\1", text)
    close = re.sub(r"^(\w), (\w)$", r"\1,\2", close)
    word = r"[+-]?[A-Za-z0-9.*']+" if signed else r"[A-Za-z0-9.*']+"
    return close if re.fullmatch(word, close) else f"({close})"


def _extrema_first(phrases: list[Phrase]) -> list[Phrase]:
    """Return phrases with ``a and b`` as ``min{a, b}``: the operands reach to the next sign, relation or comma."""
    done: list[Phrase] = []
    start = 0  # of the operands
    for i, phrase in enumerate([*phrases, Phrase("", Kind.COMMA)]):
        if phrase.kind in (Kind.SIGN, Kind.RELATION, Kind.COMMA, Kind.SPACE):
            done += _extremum(phrases[start:i])
            done += phrases[i : i + 1]
            start = i + 1
    return done


def _extremum(phrases: list[Phrase]) -> list[Phrase]:
    """Return operands with what stands between them as one phrase; others as they are."""
    at = [i for i, phrase in enumerate(phrases) if phrase.kind is Kind.EXTREMUM]
    if not at:
        return phrases
    left, right = _joined(_extremum(phrases[: at[-1]])), _joined(phrases[at[-1] + 1 :])
    return [Phrase(f"{phrases[at[-1]].text}{{{left.text}, {right.text}}}", spaced=phrases[0].spaced)]


def _fraction(top: Phrase, bottom: Phrase) -> Phrase:
    above = top.text if top.kind in (Kind.FACTOR, Kind.PRODUCT, Kind.WORDS) else f"({top.text})"
    below = bottom.text if bottom.kind in (Kind.FACTOR, Kind.WORDS) else f"({bottom.text})"
    return Phrase(f"{above}/{below}", Kind.FRACTION)


def _joined(phrases: list[Phrase]) -> Phrase:
    """Return phrases in one line, and what they are together."""
    text, before = "", Phrase("", Kind.COMMA)
    for phrase, after in zip(phrases, [*phrases, Phrase("", Kind.COMMA)][1:], strict=True):
        shown = phrase.text
        if phrase.kind is Kind.FRACTION and (before.head or before.text == "/" or _follows(after)):
            shown = f"({shown})"
        if phrase.kind is Kind.SPACE:
            text += "" if before.kind is Kind.WORDS or text[-1:] in ("", ",", ";", ":") else ","
            before = Phrase("", Kind.COMMA)
            continue
        text += _gap(text, before, phrase) + shown
        unary = phrase.kind is Kind.SIGN and (
            before.kind in (Kind.SIGN, Kind.RELATION, Kind.COMMA) or (before.kind is Kind.WORDS and not after.spaced)
        )
        before = Phrase("", Kind.SLASH) if unary else phrase
    if len(phrases) == 1:
        return phrases[0]
    return Phrase(text, _kind(phrases))


def _kind(phrases: list[Phrase]) -> Kind:
    """Return what several phrases in one line are together."""
    kinds = {phrase.kind for phrase in phrases}
    if not phrases or kinds & {Kind.WORDS, Kind.SIGN, Kind.RELATION, Kind.COMMA, Kind.SPACE}:
        return Kind.SUM
    if kinds & {Kind.FRACTION, Kind.SLASH}:
        return Kind.FRACTION
    applied = all(phrase.inside and not phrase.spaced for phrase in phrases[1:])
    return Kind.FACTOR if applied else Kind.PRODUCT


def _follows(phrase: Phrase) -> bool:
    """Return whether what comes next could be read as part of a denominator."""
    return phrase.kind in (Kind.FACTOR, Kind.FRACTION, Kind.SLASH)


def _gap(text: str, before: Phrase, phrase: Phrase) -> str:
    """Return the white space between two phrases."""
    if not text or Kind.SLASH in (before.kind, phrase.kind):
        return ""
    if phrase.kind is Kind.COMMA:
        return ""
    if before.kind is Kind.COMMA:
        return " " if phrase.spaced or before.text != ":" else ""
    if {before.kind, phrase.kind} & {Kind.SIGN, Kind.RELATION}:
        return " "
    if before.head == "E" and phrase.text.startswith("["):
        return ""
    named = before.head == "Pr" or before.text in ("lambda_min", "lambda_max")
    if phrase.inside and before.kind is Kind.FACTOR and (named or ", " in phrase.inside.text):
        return ""  # the arguments of a name with a script, which Typst must have apart
    glued = before.text[-1:].isalnum() and phrase.text[:1].isalnum()
    return " " if phrase.spaced or glued else ""
