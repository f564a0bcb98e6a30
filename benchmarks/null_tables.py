"""How often audits of a stated law refute true ones with point masses: ``python benchmarks/null_tables.py``.

For each law: 300 draws of one data set (of each of two for the loss), 1,000 repetitions, and of how many of these
``audit_law``, ``audit_loss`` and ``audit_range`` refute it at levels .05 and .2, in the form of the table of
docs/calibration.md. One audit serves both levels: its p-values do not depend on the level. A count is marked where a
binomial one of that level would be as large with probability 0.001 over the whole table. ``--stride`` and ``--offset``
divide the laws between processes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from running import options
from scipy.stats import binom

from audits import Budget, StreamKey
from audits.density_tests.stated_law import LawAudit, audit_law, audit_loss
from audits.density_tests.stated_law_range import audit_range
from verify.calibration.series.series import PAIR

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from oracles.audits import mixed_laws, stated_laws
from oracles.audits.stated_laws import Stated

DRAWS = 300
LEVELS = (0.05, 0.2)
LAWS = (*mixed_laws.HONEST, *(law for law in stated_laws.HONEST if law.name in ("Gaussian", "Student", "Cauchy")))


def refuted(audit: LawAudit, level: float) -> bool:
    return any(test.p_value <= test.level * level / audit.failure_prob for test in audit.tests)


def counts(law: Stated, repetitions: int, seed: int) -> list[list[int]]:
    """Return, for each audit, how many of the repetitions refute the law at each level."""
    found = [[0] * len(LEVELS) for _ in range(3)]
    for i in range(repetitions):
        key, top = StreamKey(seed, (law.name, str(i))), max(LEVELS)
        one, both = Budget(DRAWS, top, key), Budget(2 * DRAWS, top, key)
        audits = audit_law(law, PAIR.first, one), audit_loss(law, PAIR, both), audit_range(law, PAIR.first, one)
        for row, audit in zip(found, audits, strict=True):
            for j, level in enumerate(LEVELS):
                row[j] += refuted(audit, level)
    return found


def main() -> None:
    given = options(__doc__, repetitions=1000, seed=20210527, stride=1, offset=0)
    cells = 3 * len(LEVELS) * len(LAWS)
    started = time.process_time()
    for law in LAWS[given.offset :: given.stride]:
        row = [
            f"{count}{' *' if binom.sf(count - 1, given.repetitions, level) < 1e-3 / cells else ''}"
            for audit in counts(law, given.repetitions, given.seed)
            for level, count in zip(LEVELS, audit, strict=True)
        ]
        print("| " + " | ".join([law.name, *row]) + " |", flush=True)
    print(f"{time.process_time() - started:.0f} processor seconds")


if __name__ == "__main__":
    main()
