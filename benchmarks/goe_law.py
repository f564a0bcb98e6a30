"""Speed and accuracy of the finite-dimensional GOE laws: ``python benchmarks/goe_law.py [--large]``.

Prints, per dimension and extreme: milliseconds per distribution function and per quantile (cache off), and the largest
relative error of 1 - F against ball arithmetic over upper tails from 0.9 down to 1e-12.
"""

from __future__ import annotations

import statistics

from running import options, timed

from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation, _isf
from mechanisms.numerics.goe_brackets import sf_bracket

TAILS = (0.9, 0.5, 0.1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)


def measure(dim: int, extreme: Extreme) -> str:
    law = GoeLaw(dim, extreme, Normalisation.UNIT_OFF_DIAGONAL)
    law.isf(0.123)
    quantile_ms, cdf_ms, ball_ms, errors = [], [], [], []
    for level in TAILS:
        _isf.cache_clear()
        x, spent = timed(lambda level=level: law.isf(level))
        quantile_ms.append(1e3 * spent)
        tail, spent = timed(lambda x=x: law.sf(x))
        cdf_ms.append(1e3 * spent)
        if dim < 150 or level in (0.9, 1e-6, 1e-12):
            proved, spent = timed(lambda x=x: sf_bracket(law, x))
            ball_ms.append(1e3 * spent)
            errors.append(abs(tail - proved.mid) / proved.mid)
    return (
        f"{dim:4d}  {extreme.value:18s}  {statistics.median(cdf_ms):7.2f}  {statistics.median(quantile_ms):8.2f} "
        f"{max(quantile_ms):8.2f}  {statistics.median(ball_ms):8.1f}  {max(errors):.1e}"
    )


def main() -> None:
    dims = (1, 2, 3, 5, 10, 11, 25, 50, 51) + (
        (100, 200) if options(__doc__, large=False).large else ()
    )  # a minute of ball arithmetic
    print(" dim  extreme               cdf ms  isf ms (median, max)    ball ms  max rel. error of 1 - F")
    for dim in dims:
        for extreme in Extreme:
            print(measure(dim, extreme), flush=True)


if __name__ == "__main__":
    main()
