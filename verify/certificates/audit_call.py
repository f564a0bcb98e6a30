"""One claim of privacy about a release in hand: ``audits.audit``, and the result that ``pdp-verify audit`` prints.

Both write down the configuration of ``certify`` that asks the same, and decide that: the same pairs, draws, intervals.
"""

from __future__ import annotations

import base64
import html
import io
import json
import math
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.adapters.records import PublicRecords
from audits.adapters.releases import as_mechanism
from audits.black_box.claims import ADD_REMOVE, PrivacyClaim
from audits.estimate import Result
from audits.examination.witnesses import BROKEN
from audits.verdict import Decision, Ground
from mechanisms import DataError, Dataset, NeighbouringPair, Relation
from reports.numbers import format_number, format_probability
from reports.row import Audience

from ..engine.follow import SILENT, progress
from ..engine.worker import one_blas_thread
from ..messages.errors import UserError
from ..messages.pair_words import pair_said
from ..messages.texts import toml_value
from .asked import EXIT_CODES
from .audit_options import DEFAULT_SEED, UNIT, Options, as_parameters, checked, stated_bounds
from .certificate import Certificate, decide, read_deployment, record_rows
from .certify_call import reader_of
from .claims.examination import apart
from .claims.finding import Finding
from .claims.types import DPClaim, said
from .config.config import Loaded
from .config.mechanism_source import IN_MEMORY, Imported, build_mechanism
from .counterexample import Counterexample, counterexample_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIGITS = 3
#: How the check is called whose lower end bounds epsilon from draws alone.
BOUND = "black box: epsilon"
#: How advice begins where nothing refutes the claim; the bound has a line of its own.
NOTHING_FOUND = re.compile(r"^No violation found(?:; epsilon is at least [^ ]+ .*?certified)?\. ")


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Result):
    """What an audit of one claim found.

    Attributes
    ----------
    verdict : str
        PASS, FAIL or UNDECIDED, with what it rests on.
    epsilon_lower : float
        The true epsilon at the claimed delta is at least this (natural logarithm), but for ``failure_prob``.
    failure_prob : float
        Probability, at most, that a true claim gets FAIL or that ``epsilon_lower`` is wrong.
    certificate : Certificate
        Every check with its numbers.
    loaded : Loaded
        The configuration of ``certify`` that asks the same; its ``text`` is TOML.
    """

    verdict: str
    epsilon_lower: float
    failure_prob: float
    certificate: Certificate
    loaded: Loaded

    @property
    def finding(self) -> Finding:
        """What was found about the claim."""
        return self.certificate.findings[0]

    @property
    def claim(self) -> DPClaim:
        """What is claimed."""
        claim = self.loaded.config.claims[0]
        assert isinstance(claim, DPClaim)
        return claim

    @property
    def point(self) -> tuple[float, float]:
        """The claimed epsilon and delta; of a claim of another form, a point that it implies."""
        return self.claim.privacy.epsilon, self.claim.privacy.delta

    @property
    def decision(self) -> Decision:
        """PASS, FAIL or UNDECIDED."""
        return self.finding.verdict.decision

    @property
    def passed(self) -> bool:
        """Whether the verdict is a PASS; draws alone never give one."""
        return self.decision is Decision.PASS

    @property
    def pair(self) -> str:
        """The two data sets that refute the claim, in words; empty where none does."""
        return "" if self.finding.violation is None else pair_said(self.finding.violation.pair)

    @property
    def counterexample(self) -> Counterexample | None:
        """The two data sets that refute the claim, as arrays; None where none does."""
        rows = record_rows(self.certificate, Audience.CURATOR, self.loaded)
        claim = next(row for row in rows if row["kind"] == "claim")
        return counterexample_of(rows[0], claim) if claim.get("counterexample") else None

    @property
    def exit_code(self) -> int:
        """What ``pdp-verify audit`` exits with: 0 for PASS, 1 for FAIL, 3 for UNDECIDED."""
        return EXIT_CODES[self.decision]

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {"verdict": self.verdict, "epsilon_lower": self.epsilon_lower, "failure_prob": self.failure_prob}

    def summary(self) -> str:
        """Return the verdict, its numbers and how far it reaches, in at most eight lines."""
        return "\n".join(self._said())

    def to_json(self) -> str:
        """Return the same as one JSON object; an infinite bound is null."""
        bound = self.epsilon_lower if math.isfinite(self.epsilon_lower) else None
        epsilon, delta = self.point
        row = {
            "verdict": self.verdict,
            "decision": self.decision.name,
            "claimed": {"epsilon": epsilon, "delta": delta, "relation": self.claim.relation, "words": self.claim.words},
            "epsilon_lower": bound,
            "failure_prob": self.failure_prob,
            "pair": self.pair,
            "seed": self.loaded.config.budget.seed,
            "summary": self._said(),
        }
        return json.dumps(row, ensure_ascii=False)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the claimed trade-off curve and what the audit saw beside it, red where that refutes the claim."""
        from .audit_picture import draw

        return draw(self, axes)

    def save(self, folder: str | Path, *, jobs: int = 1) -> Path:
        """Write the folder of ``certify`` (record, PDF, HTML, attestation) and return it.

        Raises
        ------
        UserError
            If the folder is not empty, or cannot be written.
        """
        from ..engine.versions import Clock
        from .folder.output import contents, inside_about, today, write_all

        reader, folder = reader_of(self.loaded.config, None), Path(folder)
        about = Clock().about(["audit"], jobs=jobs, exit_code=self.exit_code, **inside_about(self.loaded, {}))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise UserError(f"folder must be new or empty, got folder={folder}")
            wanted = (Audience.CURATOR, Audience.RELEASE) if reader is Audience.RELEASE else (reader,)
            made = (self.certificate, self.loaded)
            parts = [contents(*made, each, date=today(), jobs=jobs, about=about) for each in wanted]
            write_all(parts, folder)
        except OSError as stop:
            rule = "be a folder that can be written"
            raise UserError(f"folder must {rule}, got folder={folder} ({stop.strerror})") from None
        return folder

    def _repr_html_(self) -> str:
        from matplotlib.figure import Figure

        figure, buffer = Figure(figsize=(5.2, 3.6), layout="constrained"), io.BytesIO()
        self.plot(figure.subplots())
        figure.savefig(buffer, format="png", dpi=110)
        image = base64.b64encode(buffer.getvalue()).decode()
        lines = "<br>".join(html.escape(line) for line in self._said())
        words = "claimed trade-off curve and what was seen"
        return f'<p>{lines}</p><img alt="{words}" src="data:image/png;base64,{image}">'

    def _said(self) -> list[str]:
        finding, claim, wrong = self.finding, self.claim, format_probability(self.failure_prob)
        name = self.certificate.deployment.mechanism.name
        what = f"{claim.words} ({apart(claim.neighbours)})"
        proved = finding.violation is not None and finding.violation.failure_prob == 0
        sure = "proved" if proved else f"confidence 1 - {wrong}"
        lines = [f"{self.verdict}: {name}, claimed {what}."]
        if math.isinf(self.epsilon_lower):
            lines.append(f"No epsilon holds at delta {said(self.point[1])} ({sure}).")
        elif self.epsilon_lower > 0:
            least = format_number(self.epsilon_lower, DIGITS, rounding="down")
            lines.append(f"Epsilon at delta {said(self.point[1])} is at least {least} ({sure}).")
        if finding.violation is not None:
            event, hits, cause = finding.violation.event, finding.violation.hits, finding.violation.cause
            example = self.counterexample if self.loaded.config.data.records is not None else None
            seen = self.pair if example is None else example.in_records
            lines += [f"Seen on: {seen}."] if seen else []
            lines += [f"{event[0].upper()}{event[1:]}: {hits}."] if event else []
            lines += [f"Likely cause: {cause}."] if cause else []
        else:
            open_ = self.decision is Decision.UNDECIDED
            lines.append(f"{'Why this is no PASS: ' * open_}{finding.sentence_of_verdict.removesuffix('.')}.")
        if finding.advice and not self.passed:
            wider = f"pairs={2 * (self.loaded.config.budget.pairs or 1)} tries more data sets. "
            advice = as_parameters(NOTHING_FOUND.sub("", finding.advice))
            looks_on = finding.verdict.ground is Ground.NO_VIOLATION and not broken(finding)
            lines.append(f"Next: {wider * looks_on}{advice}")
        lines.append(self._reach())
        if self.decision is Decision.PASS or proved:
            return lines
        runs = f"in at most 1 of {math.floor(1 / self.failure_prob + 1e-9):,} such runs"
        if self.epsilon_lower == 0:
            return [*lines, f"A claim that is true gets a FAIL {runs}."]
        return [*lines, f"Such a {'FAIL' if self.decision is Decision.FAIL else 'bound on epsilon'} is wrong {runs}."]

    def _reach(self) -> str:
        """Return what was tested, and what that could not have seen."""
        data, row = self.loaded.config.data, {} if self.finding.examined is None else self.finding.examined.row
        dataset = self.certificate.deployment.dataset
        x_bound, y_bound = format_number(dataset.x_bound), format_number(dataset.y_bound)
        domain = f"norm of a row at most {x_bound}, |y| at most {y_bound}"
        if (records := data.public_records) is not None:
            domain = f"records with {records.words}"
        domain += f", {data.n_min} records or more"
        pairs = len(row.get("pairs", ()))
        if not row:
            return f"All data sets: {domain}."
        tested = f"Tested: {pairs} pair{'' if pairs == 1 else 's'} of data sets, {row.get('draws', 0):,} draws of each"
        visible = 1.0 if row.get("visible") is None or self.finding.violation else row["visible"]
        missed = f"; events rarer than {format_number(visible, 2, rounding='up')} are not seen" if visible < 1 else ""
        return f"{tested}; {domain}{missed}."


def audit(
    release: Any,
    epsilon: float | None = None,
    delta: float = 0.0,
    *,
    claim: PrivacyClaim | None = None,
    relation: str = "add-remove",
    records: Any = None,
    dim: int = 2,
    bounds: tuple[float, float] | None = None,
    n_min: int | None = None,
    pairs: int | Sequence[NeighbouringPair] | None = None,
    draws: int | None = None,
    max_seconds: float | None = None,
    failure_prob: float = 1e-4,
    seed: int = DEFAULT_SEED,
) -> AuditResult:
    """Test whether a release is (epsilon, delta)-differentially private.

    Pairs of neighbouring data sets that reveal most are built and searched, and the release is drawn on both sides of
    each; a reference mechanism of ``mechanisms`` is decided by its theorem. It is what ``pdp-verify certify`` does with
    the same claim, to the bit. In an interactive session the time left is shown on standard error.

    Parameters
    ----------
    release : object
        A function of one release, ``f(X, y, rng)``, ``f(X, rng)`` or ``f(dataset, rng)`` (of many where it takes
        ``n_draws``); an estimator with ``fit``; an object with ``draw(dataset, n_draws, *, rng)``; a command (a list of
        words) or a url that answers lines of JSON. X has shape ``(n, dim)``, y has shape ``(n,)``.
    epsilon, delta : float
        The claim: epsilon is a natural logarithm, at least 0; delta in [0, 1).
    claim : PrivacyClaim, optional
        Instead of them, a claim of another form: ``gaussian_dp_claim(mu)``, ``zcdp_claim(rho)``, ``renyi_claim(order,
        epsilon)``, ``table_claim(points)``, ``group_claim(claim, group)``. Its relation is its own.
    relation : {"add-remove", "replace"}
        What neighbouring data sets are: one record added or removed, or one replaced.
    records : mapping, tuple, list, (X, y) or Dataset, optional
        What the release is given in place of rows of numbers. A mapping from columns to a range ``(low, high)``, of
        whole numbers where both ends are, or to a list of levels: a data frame, ``f(frame, rng)``, or all but the last
        column and the last one, ``f(X, y, rng)`` and ``fit(X, y)``. One range or list: an array or a list of such
        values. Or records of your own, (X, y) or a Dataset: pairs around them are tested too.
    dim : int
        Number of columns of X, where ``records`` do not say it.
    bounds : (float, float), optional
        Public bounds on the Euclidean norm of a row of X and on the absolute value of y, never read off the data. By
        default those that a diffprivlib estimator states (``data_norm``, ``bounds_X``, ``bounds_y``), else 1 and 1.
    n_min : int, optional
        Every data set has so many records at least. By default the least number, up to ``dim + 2``, of which the
        release makes something finite.
    pairs, draws : int, optional
        Pairs of data sets, and draws of each of their data sets; by default 8 and 4,000, or 8 and 1,500 where one
        draw takes longer than a millisecond. ``pairs`` may be a list of ``NeighbouringPair``: those, and no others.
    max_seconds : float, optional
        What is not decided by then is left open.
    failure_prob : float
        Probability, at most, that a true claim gets FAIL or that the bound on epsilon is wrong.
    seed : int
        The same seed gives the same result where the release takes its randomness from what it is given.

    Returns
    -------
    AuditResult
        With ``verdict``, ``epsilon_lower``, ``summary()``, ``plot()``, ``save(folder)`` and ``to_json()``.

    Raises
    ------
    UserError
        If the release is of no kind that can be audited, or a parameter is out of its range: one line.

    Examples
    --------
    >>> from audits import audit
    >>> def noisy_mean(X, y, rng):
    ...     return y.mean() + rng.laplace(scale=1 / len(y))  # its sensitivity is 2 / n: half the noise
    >>> found = audit(noisy_mean, epsilon=1.0)
    >>> found.verdict, found.epsilon_lower > 1
    ('FAIL', True)
    """
    if (epsilon is None) == (claim is None):
        raise UserError(f"audit must be given epsilon or claim, got {'neither' if claim is None else 'both'}")
    if claim is not None and (delta, relation) != (0.0, "add-remove"):
        raise UserError("delta and relation must be left out beside claim, which has its own, got one of them")
    if claim is not None and set(claim.relations) not in (set(ADD_REMOVE), {Relation.REPLACE}):
        rule = "a record added and removed, or about one replaced"
        raise UserError(f"claim must be about {rule}, got {', '.join(each.name for each in claim.relations)}")
    own = () if pairs is None or isinstance(pairs, int) else tuple(pairs)
    if own and not all(isinstance(each, NeighbouringPair) for each in own):
        raise UserError("pairs must be a whole number or a list of NeighbouringPair, got another list")
    number = None if own else pairs
    asked = Options(epsilon, delta, relation, dim, bounds, n_min, number, draws, max_seconds, failure_prob, seed, claim)  # type: ignore[arg-type]
    loaded = _configured(release, records, asked.of(own) if own else asked)
    somebody_waits = hasattr(sys, "ps1") or "ipykernel" in sys.modules
    following = progress(True, partial(print, file=sys.stderr)) if somebody_waits else nullcontext(SILENT)
    with one_blas_thread(), following as phases:
        deployment, digest = read_deployment(loaded, jobs=1, progress=phases)
        return result(decide(deployment, digest), loaded)


def result(certificate: Certificate, loaded: Loaded) -> AuditResult:
    """Return what a certificate of one claim says."""
    (finding,), (claim,) = certificate.findings, loaded.config.claims
    assert isinstance(claim, DPClaim)
    bounds = [c.evidence.sampled.low for c in finding.checks if c.name.startswith(BOUND) and c.evidence.sampled]
    if broken(finding):
        bounds = []  # draws that depend on each other, or on their call, bound nothing
    if finding.violation is not None:  # the true epsilon is larger than the claimed
        bounds += [finding.violation.epsilon, 0.0 if claim.profile else claim.privacy.epsilon]
    least = max((bound for bound in bounds if not math.isnan(bound)), default=0.0)
    return AuditResult(finding.verdict.words, least, loaded.config.budget.failure_prob, certificate, loaded)


def broken(finding: Finding) -> bool:
    """Return whether the draws depend on each other, or on their call."""
    row = {} if finding.examined is None else finding.examined.row
    return any(part["outcome"] == "VIOLATED" and part["name"] in BROKEN for part in row.get("contract", ()))


def _configured(release: Any, records: Any, asked: Options) -> Loaded:
    """Return the configuration that asks the same; a release in memory, and records, go beside it."""
    mechanism, line, data, public = None, "", None, None
    if isinstance(records, Dataset) or _is_sample(records):
        data = records
    elif records is not None:
        try:
            public = PublicRecords.of(records)
        except ValueError as stop:
            raise UserError(str(stop)) from None
        asked = replace(asked, dim=max(asked.dim if asked.own_pairs else 1, public.dim), records=public)
    if isinstance(release, str):
        if not release.startswith(("http://", "https://")):
            raise UserError(f"release must be a url where it is a text, got release={release:.60}; a command is a list")
        line = f"url = {toml_value(release)}"
    elif isinstance(release, Sequence):
        line = f"command = {toml_value([str(word) for word in release])}"
    else:
        try:
            mechanism = as_mechanism(release, public)
        except ValueError as stop:
            raise UserError(f"{stop}") from None
        name = str(getattr(mechanism, "name", type(mechanism).__name__))
        line = f"import = {toml_value(IN_MEMORY + ':' + (re.sub(r'[^A-Za-z0-9]', '_', name)[:60] or 'release'))}"
    if not (asked.bounds is None or (isinstance(asked.bounds, Sequence) and len(asked.bounds) == 2)):
        raise UserError(f"bounds must be two numbers, of the norm of a row and of |y|, got bounds={asked.bounds}")
    checked(asked.text(line))
    dataset = _dataset(data, asked, mechanism)
    lines: tuple[str, ...] = ()
    if dataset is not None:
        asked = replace(asked, dim=dataset.dim, bounds=(dataset.x_bound, dataset.y_bound))
        lines = ('file = "in memory"', 'features = ["X"]', 'target = "y"')
    place, mine = Path("audit.toml"), mechanism
    if mine is None:
        made = build_mechanism(Loaded(checked(text := asked.text(line, lines)), place, text), asked.dim)[0]
        mine = made.inner if isinstance(made, Imported) else made
    text = asked.filled(mine).text(line, lines)
    return Loaded(checked(text), place, text, mechanism, dataset)


def _is_sample(records: Any) -> bool:
    return isinstance(records, tuple | list) and len(records) == 2 and all(np.ndim(part) > 0 for part in records)


def _dataset(data: Any, asked: Options, mechanism: Any) -> Dataset | None:
    if data is None or isinstance(data, Dataset):
        return data
    try:
        X, y = (np.asarray(part, dtype=np.float64) for part in data)
    except (TypeError, ValueError):
        raise UserError(
            "records must be two arrays of numbers (X, y) where they are your own, got another pair"
        ) from None
    bounds = asked.bounds or (stated_bounds(mechanism, X.shape[-1]) if X.ndim == 2 else None) or UNIT
    try:
        return Dataset(X, y, *bounds, name="own data")
    except DataError as stop:
        raise UserError(f"records must lie inside bounds={bounds}: {stop}") from None
