"""What a certificate would run and about how long it would take, from small runs of the same checks on few records."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from audits.error_budget import Part
from audits.examination.examine_choose import LEARNED, places
from audits.harness.calls import NoAnswer
from audits.harness.guarded_subject import call_plan
from audits.white_box.tails import thinned
from mechanisms import Dataset, NeighbouringPair
from reports.document import pdf_bytes
from reports.row import Audience

from ..engine.follow import SILENT
from ..messages.errors import UserError
from .certificate import Certificate, decide, record_rows, record_text
from .certificate_pages import document
from .claims.examination import DEMANDED, OWN_PAIRS
from .claims.finding import DRAWS, Deployment
from .claims.pairs import pair_search, public_pairs
from .claims.record_losses import ROC_DRAWS, record_epsilons
from .claims.types import Claim, DPClaim
from .config.config import Loaded
from .config.mechanism_source import Imported, law_of, white_box_of
from .folder.attestation import sha256

#: Draws of the small runs, and records of theirs; records on which what grows with the records is timed.
SMALL, FEW, SOME = (200, 1_000), 1_000, 20_000
#: Draws that are timed there.
TIMED = (2, 18)
#: Draws that are timed at once, beside a single one.
TIMED_DRAWS = 10
#: For an imported mechanism, pairs that are examined beside those that were asked for: its own data, and two searched.
BESIDE = 5
#: A draw that takes more seconds is not repeated for an estimate; one that takes more than the second is made once.
SLOW, VERY_SLOW = 2e-4, 0.2


@dataclass(frozen=True)
class Plan:
    """The checks of each claim, the seconds that all of it would take, and how the failure probability is split.

    Of an imported mechanism's the claims' shares are known beforehand.
    """

    checks: tuple[tuple[str, str], ...]
    seconds: float
    parts: tuple[Part, ...] = ()


def plan(deployment: Deployment, loaded: Loaded, read_seconds: float, audience: Audience = Audience.CURATOR) -> Plan:
    """Return the plan: costs that do not grow with the draws, plus those that do, extrapolated.

    Of an imported mechanism one structured pair is examined; of a slow one, a command or a service nothing but a few
    draws is made. What others than the curator read about private data names neither private claims nor anything that
    depends on a clock.

    Raises UserError if a command or a service does not answer.
    """
    outside = audience is Audience.RELEASE and deployment.private
    wanted, factor, tried = (
        DRAWS[loaded.config.budget.profile],
        1.0,
        replace(deployment, jobs=1, deadline=None, complete=True, progress=SILENT),
    )
    if isinstance(deployment.mechanism, Imported):
        pairs, wanted = loaded.config.budget.examined
        factor, tried = (pairs + BESIDE) / (1 + BESIDE), _one_pair(tried)
        a_draw = 0.0 if outside else _seconds_a_draw(deployment)
        alone = deployment.is_door or loaded.config.budget.sequential
        if outside or a_draw > SLOW or alone:
            return _drawing_alone(deployment, a_draw, read_seconds, outside=outside)
    with deployment.progress.phase("small runs for an estimate"):
        once = _seconds(lambda: _decided(tried, SMALL[0]))  # imports, and laws that are composed once and kept
        times = []
        for draws in SMALL:
            start = time.perf_counter()
            certificate = _decided(tried, draws)
            times.append(time.perf_counter() - start)
        start = time.perf_counter()
        rows = record_rows(certificate, Audience.CURATOR, loaded)
        record = record_text(rows).encode()
        pdf_bytes(document(rows, digest=sha256(record), date="", record=record))
        pages = time.perf_counter() - start
        large = 0.0 if outside else _of_the_records(tried, wanted)
    large += max(0.0, once - times[0])
    a_draw = max(0.0, (times[1] - times[0]) / (SMALL[1] - SMALL[0]))
    both = 2 if not deployment.private else 1
    decided = max(times[0], times[1] - a_draw * SMALL[1]) + a_draw * wanted
    checks = tuple((finding.name, check.name) for finding in certificate.visible(audience) for check in finding.checks)
    parts = certificate.spending(audience)
    if isinstance(deployment.mechanism, Imported):
        parts = tuple(part for part in parts if len(part.place) < 2)
    return Plan(checks, read_seconds + factor * decided + large + both * pages, parts)


def _decided(deployment: Deployment, draws: int) -> Certificate:
    """Return a small certificate, of some of the records; of all where these will not do."""
    try:
        return decide(replace(_part(deployment, FEW), draws=draws))
    except (ValueError, ArithmeticError):  # some records may leave a matrix singular that all of them do not
        return decide(replace(deployment, draws=draws))


def _part(deployment: Deployment, most: int) -> Deployment:
    data = deployment.dataset
    if data.n_records <= most or isinstance(deployment.mechanism, Imported):
        return deployment
    places = np.linspace(0, data.n_records - 1, most).astype(int)
    return replace(deployment, dataset=replace(data, X=data.X[places], y=data.y[places]))


def _of_the_records(deployment: Deployment, wanted: int) -> float:
    """Return the seconds that more than a few records add: laws of all of them, and draws from the data themselves."""
    n_records, mechanism = deployment.dataset.n_records, deployment.mechanism
    white_box = white_box_of(mechanism)
    if n_records <= FEW or isinstance(mechanism, Imported):
        return 0.0
    dataset = _part(deployment, SOME).dataset
    ratio = n_records / dataset.n_records
    claims = deployment.config.claims
    thin = (lambda n: n) if law_of(mechanism) is not None else (lambda n: thinned(n, n_records))
    total = 0.0
    with contextlib.suppress(ValueError, ArithmeticError):
        if any(claim.looks_at_records for claim in claims):
            total += ratio * _seconds(lambda: record_epsilons(mechanism, dataset, 1e-6))
        if white_box is not None:
            pair = NeighbouringPair.remove(dataset, 0)

            def draws(n: int) -> None:
                white_box.privacy_loss(mechanism.draw(dataset, n, rng=np.random.default_rng(0)), pair)

            few, more = (_seconds(partial(draws, n)) for n in TIMED)
            per_draw = max(0.0, more - few) / (TIMED[1] - TIMED[0])
            for claim in claims:
                n_draws = claim.draws(thin, ROC_DRAWS, wanted)
                total += ratio * (per_draw * n_draws + 2 * few * (n_draws > 0))
    return total


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _seconds_a_draw(deployment: Deployment) -> float:
    """Return the mean seconds of a draw in the calls of an examination; setting up, in the first call, is no draw.

    It is timed on the largest structured pair and on the data themselves, and where a draw is slow on the latter alone.
    """

    def seconds(dataset: Dataset, n: int) -> float:
        def work() -> None:
            with contextlib.suppress(Exception):  # what it raises is looked at when it is examined
                deployment.mechanism.draw(dataset, n, rng=np.random.default_rng(0))

        return _seconds(work)

    def draws(n: int) -> float:
        return seconds(deployment.dataset, n) / n

    def in_calls(dataset: Dataset) -> float:
        few, more = seconds(dataset, 1), seconds(dataset, TIMED_DRAWS)
        each = max(0.0, more - few) / (TIMED_DRAWS - 1)
        sizes = [call.n_draws for call in call_plan(wanted)]
        return (len(sizes) * max(0.0, few - each) + sum(sizes) * each) / sum(sizes)

    wanted = deployment.config.budget.examined[1]
    with deployment.progress.phase("a draw for an estimate"):
        if deployment.is_door and isinstance(deployment.mechanism, Imported):
            return _seconds_an_answer(draws, deployment.mechanism.inner)
        draws(1)  # a library is imported, tables are made: once a process
        one = draws(1)
        if one > VERY_SLOW:
            return one
        structured = _largest_structured(deployment)
        own = in_calls(deployment.dataset)
        pairs = deployment.config.budget.examined[0]
        return own if structured is None else (OWN_PAIRS * own + pairs * in_calls(structured)) / (OWN_PAIRS + pairs)


def _largest_structured(deployment: Deployment) -> Dataset | None:
    """Return a public data set as an examination draws from it; None where there is no claim about pairs."""
    claim = next((each for each in deployment.config.claims if isinstance(each, DPClaim)), None)
    if claim is None:
        return None
    count = deployment.config.budget.examined[0]
    pairs = public_pairs(deployment, claim.privacy, claim.neighbours, count)[0]
    found: list[Dataset] = [named.pair.first for named in pairs]
    return max(found, key=lambda dataset: dataset.n_records, default=None)


def _seconds_an_answer(draws: Callable[[int], float], door: Any) -> float:
    """Return the seconds of a draw of a door in the requests of an examination: of one where that is slow already."""
    try:
        draws(1)  # a process starts
        one = draws(1)
        return (one if one > VERY_SLOW else draws(door.batch)) / float(door.concurrency)
    except NoAnswer as stop:
        raise UserError(f"mechanism must answer, got: {stop}") from None
    finally:
        door.close()


def _drawing_alone(deployment: Deployment, each: float, read_seconds: float, *, outside: bool) -> Plan:
    """Return the plan for a mechanism so slow that its draws are what takes the time."""
    budget = deployment.config.budget
    pairs, draws = budget.examined
    audited = [claim for claim in deployment.config.claims if claim.audits_pairs and (claim.everywhere or not outside)]
    total, named = sum(_draws_for(deployment, claim) for claim in audited), [str(claim.name) for claim in audited]
    words = f"examination of {pairs} pairs, {draws:,} draws of each data set"
    if budget.sequential:
        words = f"sparing audit, {budget.max_draws:,} draws at most"
    jobs = 1 if budget.sequential or deployment.is_door else deployment.jobs
    shown = {str(claim.name) for claim in deployment.config.claims if claim.everywhere or not outside}
    parts = tuple(part for part in deployment.ledger.tree() if not part.place or part.place[0] in shown)
    return Plan(tuple((name, words) for name in named), read_seconds + each * total / jobs, parts)


def _draws_for(deployment: Deployment, claim: Claim) -> int:
    """Return how many draws an examination makes for a claim at most, its search for a worst pair among them."""
    budget = deployment.config.budget
    pairs, draws = budget.examined
    if budget.sequential:
        return budget.max_draws or 0
    total = (pairs + BESIDE) * (2 * draws + LEARNED)
    if isinstance(claim, DPClaim):
        search = pair_search(deployment, claim.privacy, claim.neighbours)
        total = (pairs + min(OWN_PAIRS, pairs) + places(search) + 1) * (2 * draws + LEARNED)
        total += 0 if search is None else 2 * search.n_draws * search.units
    return total if budget.max_draws is None else min(total, budget.max_draws)


def too_long(deployment: Deployment, planned: Plan) -> str:
    """Return in words that ``budget.max_seconds`` is not enough, and what would fit; empty where it is enough."""
    most = deployment.config.budget.max_seconds
    if most is None or planned.seconds <= most:
        return ""
    fit = that_fit(deployment, planned)
    words = "" if fit is None else f"; pairs = {fit[0]} and draws = {fit[1]} would fit"
    return f"not all of it fits into budget.max_seconds = {most:g}{words}"


def that_fit(deployment: Deployment, planned: Plan) -> tuple[int, int] | None:
    """Return the pairs and draws of an examination that ``budget.max_seconds`` would be enough for.

    None where all of it fits, or none would. Draws are given up before pairs, down to those that a verdict needs.
    """
    budget = deployment.config.budget
    most = budget.max_seconds
    if most is None or planned.seconds <= most or budget.sequential or not isinstance(deployment.mechanism, Imported):
        return None
    (pairs, draws), audited = budget.examined, [each for each in deployment.config.claims if each.audits_pairs]
    least = min(draws, DEMANDED[budget.profile].draws)

    def total(count: int, size: int) -> int:
        section = budget.model_copy(update={"pairs": count, "draws": size})
        tried = replace(deployment, config=deployment.config.model_copy(update={"budget": section}))
        return sum(_draws_for(tried, claim) for claim in audited)

    sizes = [(count, max(least, draws * tenths // 10)) for count in range(pairs, 0, -1) for tenths in range(10, 0, -1)]
    allowed = most / planned.seconds * total(pairs, draws)
    return next((each for each in sizes if total(*each) <= allowed), None)


def _one_pair(deployment: Deployment) -> Deployment:
    budget = deployment.config.budget.model_copy(update={"pairs": 1, "max_draws": None})
    return replace(deployment, config=deployment.config.model_copy(update={"budget": budget, "pairs": []}))
