"""What a certificate would run and about how long it would take, from two small runs of the same checks."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, replace

import numpy as np

from reports.document import pdf_bytes
from reports.row import Audience

from .attestation import sha256
from .certificate import decide, record_rows, record_text
from .config import Loaded
from .finding import DRAWS, Deployment
from .layout import document
from .mechanism_source import Imported

#: Draws of the two small runs.
SMALL = (200, 1_000)
#: For an imported mechanism, pairs that are examined beside those that were asked for: its own data, and two searched.
BESIDE = 5
#: A draw that takes more seconds is not repeated for an estimate.
SLOW = 2e-3


@dataclass(frozen=True)
class Plan:
    """The checks of each claim, and the seconds that all of it would take."""

    checks: tuple[tuple[str, str], ...]
    seconds: float


def plan(deployment: Deployment, loaded: Loaded, read_seconds: float, audience: Audience = Audience.CURATOR) -> Plan:
    """Return the plan: costs that do not grow with the draws, plus those that do, extrapolated.

    Of an imported mechanism one structured pair is examined; of a slow one nothing but ten draws is made. What others
    than the curator read about private data names neither private claims nor anything that depends on a clock.
    """
    outside = audience is Audience.RELEASE and deployment.private
    wanted, factor, tried = DRAWS[loaded.config.budget.profile], 1.0, deployment
    if isinstance(deployment.mechanism, Imported):
        pairs, wanted = loaded.config.budget.examined
        factor, tried = (pairs + BESIDE) / (1 + BESIDE), _one_pair(deployment)
        each = 0.0 if outside else _seconds_a_draw(deployment)
        if outside or each > SLOW:
            return _drawing_alone(deployment, each, read_seconds, outside=outside)
    decide(replace(tried, draws=SMALL[0], jobs=1))  # the first run pays for imports and caches
    times = []
    for draws in SMALL:
        start = time.perf_counter()
        certificate = decide(replace(tried, draws=draws, jobs=1))
        times.append(time.perf_counter() - start)
    each = max(0.0, (times[1] - times[0]) / (SMALL[1] - SMALL[0]))
    start = time.perf_counter()
    rows = record_rows(certificate, Audience.CURATOR, loaded)
    record = record_text(rows).encode()
    pdf_bytes(document(rows, digest=sha256(record), date="", record=record))
    pages = time.perf_counter() - start
    both = 2 if not deployment.private else 1
    decided = max(times[0], times[1] - each * SMALL[1]) + each * wanted
    checks = tuple((finding.name, check.name) for finding in certificate.visible(audience) for check in finding.checks)
    return Plan(checks, read_seconds + factor * decided + both * pages)


def _seconds_a_draw(deployment: Deployment) -> float:
    start = time.perf_counter()
    with contextlib.suppress(Exception):  # what it raises is looked at when it is examined
        deployment.mechanism.draw(deployment.dataset, 10, rng=np.random.default_rng(0))
    return (time.perf_counter() - start) / 10


def _drawing_alone(deployment: Deployment, each: float, read_seconds: float, *, outside: bool) -> Plan:
    """Return the plan for a mechanism so slow that its draws are what takes the time."""
    budget = deployment.config.budget
    pairs, draws = budget.examined
    total = 2 * draws * (pairs + BESIDE)
    total = total if budget.max_draws is None else min(total, budget.max_draws)
    types = ("dp",) if outside else ("dp", "pdp")
    named = [str(claim.name) for claim in deployment.config.claims if claim.type in types]
    words = f"examination of {pairs} pairs, {draws:,} draws of each data set"
    return Plan(tuple((name, words) for name in named), read_seconds + each * total * len(named) / deployment.jobs)


def _one_pair(deployment: Deployment) -> Deployment:
    """Return the deployment with one structured pair to examine."""
    budget = deployment.config.budget.model_copy(update={"pairs": 1, "max_draws": None})
    return replace(deployment, config=deployment.config.model_copy(update={"budget": budget, "pairs": []}))
