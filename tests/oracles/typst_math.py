"""The characters that Typst math prints, read from its source: a literal list of names, and no layout."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

NAMES = {
    **{name: unicodedata.lookup(f"GREEK SMALL LETTER {name.upper()}") for name in (
        "alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "kappa", "mu", "nu", "xi", "pi", "rho",
        "sigma", "tau", "omega", "zeta", "chi", "psi", "phi",
    )},
    **{name: unicodedata.lookup(f"GREEK CAPITAL LETTER {name.upper()}") for name in (
        "Theta", "Phi", "Delta", "Omega", "Pi", "Gamma", "Sigma", "Psi",
    )},
    "lambda": "λ", "Lambda": "Λ", "ell": "l", "nabla": "∇", "partial": "∂", "infinity": "∞", "dif": "d",
    "EE": "E", "PP": "P", "ZZ": "Z", "RR": "R", "NN": "N",
    "in": "∈", "in.not": "∉", "forall": "∀", "exists": "∃", "subset": "⊂", "and": "∧", "or": "∨", "prop": "∝",
    "times": "×", "dot": "⋅", "plus.minus": "±", "minus.plus": "∓", "approx": "≈", "tilde.op": "∼", "tilde": "∼",
    "gt.tilde": "≳", "lt.tilde": "≲", "succ": "≻", "prec": "≺", "succ.eq": "⪰", "prec.eq": "⪯",
    "sum": "∑", "product": "∏", "integral": "∫", "chevron.l": "⟨", "chevron.r": "⟩", "arrow": "→", "arrow.not": "↛",
    "quad": "", "wide": "",
    **{name: name for name in ("log", "min", "max", "sup", "inf", "Pr", "tr", "det", "exp", "ln", "arg")},
}  # fmt: skip
CALLS = {
    "norm": "‖‖", "abs": "||", "floor": "⌊⌋", "ceil": "⌈⌉", "sqrt": "", "root": "", "frac": "", "binom": "()",
    "cal": "", "bold": "", "upright": "", "op": "", "limits": "", "lr": "", "cases": "{",
    "hat": "\u0302", "tilde": "\u0303", "macron": "\u0304", "overline": "\u0305",
}  # fmt: skip
SHORT = {
    "...": "...", "<=": "≤", ">=": "≥", "!=": "≠", "==>": "⟹", "=>": "⇒", "->": "→", ":=": "≔", "<<": "≪",
    ">>": "≫", "||": "‖", "-": "−", "*": "∗", "'": "′", "~": "∼", "^": "", "_": "", "/": "", "&": "",
    "\\ ": "", "\\#": "#", "\\/": "/",
}  # fmt: skip
TOKEN = re.compile(
    r'"(?P<text>[^"]*)"|(?P<name>[A-Za-z][A-Za-z]+(?:\.[a-z]+)*)|(?P<short>'
    + "|".join(re.escape(short) for short in sorted(SHORT, key=len, reverse=True))
    + r")|(?P<any>\S)|\s+",
    re.DOTALL,
)


def plain(text: str) -> Counter[str]:
    """Return how often each character stands in a text: whatever its style, without spaces and round brackets."""
    characters = "".join(unicodedata.normalize("NFKC", character) for character in text)
    return Counter(c for c in characters if not c.isspace() and c not in "()")


def printed(source: str) -> Counter[str]:
    """Return the characters that a source prints, without round brackets (some only group)."""
    said = "".join(_printed(match, source) for match in TOKEN.finditer(source))
    called = re.sub(r'"[^"]*"', "", source)
    commas = sum(_separators(called, match.end()) for match in re.finditer(r"\b(?:cases|frac|root|binom)\(", called))
    return plain(said) - Counter({",": commas})


def _printed(match: re.Match[str], source: str) -> str:
    name, short = match["name"], match["short"]
    if name is not None:
        called = source[match.end() : match.end() + 1] == "("
        return CALLS[name] if called and name in CALLS else NAMES[name]
    return SHORT[short] if short is not None else match["text"] or match["any"] or ""


def _separators(source: str, start: int) -> int:
    """Return how many commas stand between the arguments of the call that begins before ``start``."""
    depth, commas = 1, 0
    for character in source[start:]:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if depth == 0:
            break
        commas += character == "," and depth == 1
    return commas
