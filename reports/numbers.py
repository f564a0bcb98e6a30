"""Numbers as text: digits that follow the interval, bounds rounded outwards, no locale.

Every function has an ASCII form (terminal, JSON, Markdown) and a typographic one (PDF): ``1.2e-6`` and ``1.2×10⁻⁶``.
Rounding is done in exact decimal arithmetic on the shortest decimal that names the float (``repr``), so a printed
interval, read back as floats, always contains the computed one, and 0.9 is not printed as 0.901.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ROUNDING = {"nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}
# A float has at most 1074 decimal places and 309 digits before them: nothing is lost in between.
_EXACT = Context(prec=1500)
_MOST_DIGITS = 6  # of an interval that is narrower than anybody reads
_APART_DIGITS = 3  # of each number when one common last place would show nothing of the smaller ones


def format_number(value: float, digits: int = 4, *, rounding: str = "nearest", typographic: bool = False) -> str:
    """Return the value to at most ``digits`` significant digits, final zeros dropped.

    Parameters
    ----------
    value : float
        Any float; nan is a dash.
    digits : int
        At least 1.
    rounding : str
        ``nearest``, or ``down``/``up`` (towards −inf/+inf) for a printed lower/upper bound.
    typographic : bool
        Minus sign, superscripts and ∞ instead of ASCII.

    Examples
    --------
    >>> format_number(0.5), format_number(123456.0), format_number(1234567.0), format_number(0.00001)
    ('0.5', '123500', '1.235e6', '1e-5')
    >>> format_number(-2.0e-7, typographic=True), format_number(float("inf")), format_number(float("nan"))
    ('−2×10⁻⁷', 'inf', '-')
    >>> format_number(1.00001, 3, rounding="up"), format_number(1.99999, 3, rounding="down")
    ('1.01', '1.99')
    """
    if rounding not in _ROUNDING:
        raise ValueError(f"rounding must be nearest, down or up, got rounding={rounding!r}")
    if not math.isfinite(value) or value == 0:
        return _special(value, typographic)
    return _text(_significant(_decimal(value), digits, rounding), typographic, keep_zeros=False)


def digits_that_differ(first: float, second: float, *, typographic: bool = False) -> tuple[str, str]:
    """Return two numbers to as many digits, at least four, as tell them apart.

    Examples
    --------
    >>> digits_that_differ(0.01, 0.0100000001), digits_that_differ(1.0, 2.0)
    (('0.01', '0.0100000001'), ('1', '2'))
    """
    for digits in range(4, 18):
        texts = [format_number(value, digits, typographic=typographic) for value in (first, second)]
        if texts[0] != texts[1]:
            break
    return texts[0], texts[1]


def format_interval(value: float, low: float, high: float, *, typographic: bool = False) -> str:
    """Return ``value [low, high]`` with two significant digits of the width, the bounds rounded outwards.

    One last place is common to the three numbers, unless they are decades apart; then each has three digits. An
    interval of no width is one number. Infinite bounds are printed as such.

    Raises
    ------
    ValueError
        If not low <= high. The value may be nan (a dash), or lie outside.

    Examples
    --------
    >>> format_interval(1.2345, 1.2291, 1.2402)
    '1.234 [1.229, 1.241]'
    >>> format_interval(1.234e-6, 1.204e-6, 1.271e-6)
    '1.234e-6 [1.204e-6, 1.271e-6]'
    >>> format_interval(3.0e-9, 0.0, 1.0e-3)
    '3.00e-9 [0, 0.00100]'
    >>> format_interval(0.71, 0.68, float("inf"), typographic=True)
    '0.710 [0.680, ∞]'
    >>> format_interval(2.0, 2.0, 2.0)
    '2'
    """
    if math.isnan(low) or math.isnan(high):
        return _special(math.nan, typographic)
    if low > high:
        raise ValueError(f"an interval must satisfy low <= high, got low={low}, high={high}")
    if low == value == high:
        return format_number(low, _MOST_DIGITS, typographic=typographic)
    numbers = [_decimal(number) for number in (value, low, high) if math.isfinite(number) and number != 0]
    place = _common_place(numbers, low, high)
    parts = []
    for number, rounding in ((value, "nearest"), (low, "down"), (high, "up")):
        if not math.isfinite(number) or number == 0:
            parts.append(_special(number, typographic))
        elif place is None:
            parts.append(_text(_significant(_decimal(number), _APART_DIGITS, rounding), typographic))
        else:
            parts.append(_text(_at_place(_decimal(number), place, rounding), typographic))
    return f"{parts[0]} [{parts[1]}, {parts[2]}]"


def format_probability(probability: float, digits: int = 2, *, typographic: bool = False) -> str:
    """Return a probability to ``digits`` significant digits, zeros kept, from whichever end it is near.

    Examples
    --------
    >>> format_probability(1e-6), format_probability(0.05), format_probability(0.0), format_probability(1.0)
    ('1.0e-6', '0.050', '0', '1')
    >>> format_probability(0.9999999), format_probability(1e-6, typographic=True)
    ('1 - 1.0e-7', '1.0×10⁻⁶')
    """
    if not math.isfinite(probability) or probability in (0, 1):
        return _special(probability, typographic)
    exact = _decimal(probability)
    if Decimal("0.99") < exact < 1:
        rest = _text(_significant(_EXACT.subtract(Decimal(1), exact), digits, "nearest"), typographic)
        return f"1 {_minus(typographic)} {rest}"
    return _text(_significant(exact, digits, "nearest"), typographic)


def format_percent(fraction: float, digits: int = 3, *, typographic: bool = False) -> str:
    """Return a fraction as a percentage.

    Examples
    --------
    >>> format_percent(0.1234), format_percent(-0.5, typographic=True), format_percent(float("nan"))
    ('12.3%', '−50%', '-')
    """
    if not math.isfinite(fraction):
        return _special(fraction, typographic)
    if fraction == 0:
        return "0%"
    hundredfold = _EXACT.multiply(_decimal(fraction), Decimal(100))
    return _text(_significant(hundredfold, digits, "nearest"), typographic, keep_zeros=False) + "%"


def power_of_ten(exponent: int) -> str:
    """Return a power of ten for the label of an axis.

    Examples
    --------
    >>> power_of_ten(-6)
    '10⁻⁶'
    """
    return "10" + str(exponent).translate(_SUPERSCRIPT)


def format_count(count: int) -> str:
    """Return a whole number in groups of three.

    Examples
    --------
    >>> format_count(1000000), format_count(999)
    ('1,000,000', '999')
    """
    return f"{count:,}"


def _decimal(value: float) -> Decimal:
    return Decimal(repr(float(value)))


def _special(value: float, typographic: bool) -> str:
    if math.isnan(value):
        return "–" if typographic else "-"
    if math.isinf(value):
        sign = _minus(typographic) if value < 0 else ""
        return sign + ("∞" if typographic else "inf")
    return str(int(value))


def _minus(typographic: bool) -> str:
    return "−" if typographic else "-"


def _common_place(numbers: list[Decimal], low: float, high: float) -> int | None:
    """Return the exponent of the last common decimal place, or None when it would hide the smallest number."""
    largest = max((number.adjusted() for number in numbers), default=0)
    if math.isfinite(low) and math.isfinite(high) and low < high:
        width = _EXACT.subtract(_decimal(high), _decimal(low)).adjusted()
    else:
        width = largest - 1
    place = max(width - 1, largest - _MOST_DIGITS)
    return place if all(number.adjusted() >= place for number in numbers) else None


def _at_place(number: Decimal, place: int, rounding: str) -> Decimal:
    return number.quantize(Decimal(1).scaleb(place), rounding=_ROUNDING[rounding], context=_EXACT)


def _significant(number: Decimal, digits: int, rounding: str) -> Decimal:
    if digits < 1:
        raise ValueError(f"digits must be at least 1, got digits={digits}")
    rounded = _at_place(number, number.adjusted() - digits + 1, rounding)
    if rounded and rounded.adjusted() > number.adjusted():  # 9.99 became 10.0: one digit too many
        rounded = _at_place(rounded, rounded.adjusted() - digits + 1, rounding)
    return rounded


def _text(number: Decimal, typographic: bool, *, keep_zeros: bool = True) -> str:
    """Return the digits of a rounded decimal, fixed between 1e-3 and 1e6 and scientific outside."""
    if not number:
        return "0"
    exponent = number.adjusted()
    scientific = not -3 <= exponent < 6
    mantissa = number.scaleb(-exponent, context=_EXACT) if scientific else number
    digits = format(mantissa, "f")
    if not keep_zeros and "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    if typographic:
        digits = digits.replace("-", "−")
    if not scientific:
        return digits
    return f"{digits}×{power_of_ten(exponent)}" if typographic else f"{digits}e{exponent}"
