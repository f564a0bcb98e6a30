"""What a certificate would run and about how long it would take, from two small runs of the same checks."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from reports.document import pdf_bytes
from reports.row import Audience

from .attestation import sha256
from .certificate import decide, record_rows, record_text
from .config import Loaded
from .finding import DRAWS, Deployment
from .layout import document

#: Draws of the two small runs.
SMALL = (200, 1_000)


@dataclass(frozen=True)
class Plan:
    """The checks of each claim, and the seconds that all of it would take."""

    checks: tuple[tuple[str, str], ...]
    seconds: float


def plan(deployment: Deployment, loaded: Loaded, read_seconds: float) -> Plan:
    """Return the plan: costs that do not grow with the draws, plus those that do, extrapolated."""
    decide(replace(deployment, draws=SMALL[0], jobs=1))  # the first run pays for imports and caches
    times = []
    for draws in SMALL:
        start = time.perf_counter()
        certificate = decide(replace(deployment, draws=draws, jobs=1))
        times.append(time.perf_counter() - start)
    each = max(0.0, (times[1] - times[0]) / (SMALL[1] - SMALL[0]))
    wanted = DRAWS[loaded.config.budget.profile]
    start = time.perf_counter()
    rows = record_rows(certificate, Audience.CURATOR, loaded)
    record = record_text(rows).encode()
    pdf_bytes(document(rows, digest=sha256(record), date="", record=record))
    pages = time.perf_counter() - start
    both = 2 if not deployment.private else 1
    seconds = read_seconds + max(times[0], times[1] - each * SMALL[1]) + each * wanted + both * pages
    checks = tuple((finding.name, check.name) for finding in certificate.findings for check in finding.checks)
    return Plan(checks, seconds)
