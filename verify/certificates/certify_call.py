"""A certificate in a notebook or a script: the claims of a configuration, decided; nothing is printed.

``pdp-verify certify`` does the same and writes the folder with record, report and attestation.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.estimate import Result
from audits.verdict import Decision
from reports.row import Audience

from ..engine.rows import Row
from ..engine.worker import one_blas_thread
from ..messages.errors import UserError
from .certificate import Certificate, decide, read_deployment, record_rows
from .claims.types import BY_TYPE
from .config.config import Configuration, Loaded, load
from .folder.finished import kept_answers


@dataclass(frozen=True, eq=False, repr=False)
class Certification(Result):
    """What was decided, as one audience may see it.

    Attributes
    ----------
    decision : Decision
        PASS, FAIL or UNDECIDED, over all claims that the audience may see.
    rows : tuple of dict
        The record: header, releases, then each claim with its checks and figures.
    certificate : Certificate
        Everything, private findings included.
    """

    decision: Decision
    rows: tuple[Row, ...]
    audience: Audience
    certificate: Certificate

    @property
    def claims(self) -> dict[str, Decision]:
        """The verdict on each claim that the audience may see, by the claim's name."""
        return {finding.name: finding.verdict.decision for finding in self.certificate.visible(self.audience)}

    @property
    def words(self) -> dict[str, str]:
        """The same verdicts with what they rest on: ``PASS (proved)``, ``UNDECIDED (not examined)``, …."""
        return {finding.name: finding.verdict.words for finding in self.certificate.visible(self.audience)}

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {"decision": self.decision, "audience": self.audience, **self.words}


def certify(
    config: str | Path | Loaded, *, audience: str | None = None, jobs: int = 1, complete: bool = False
) -> Certification:
    """Decide every claim of a configuration.

    A private release that the configuration asks to be drawn is drawn once, kept beside the configuration, and reused.
    So are the answers of a command or a service, until every claim is decided.

    Parameters
    ----------
    config : path or Loaded
        CONFIG.toml, or what ``load`` made of it.
    audience : {"curator", "release"}, optional
        Who will see the result. By default the curator for private data, everyone for public ones.
    jobs : int
        Worker processes for sampled checks.
    complete : bool
        Whether every pair of data sets of an imported mechanism is examined; without it, none after the first one that
        refutes the claim.

    Returns
    -------
    Certification
        The decision, a verdict for every claim, and the rows of the record.

    Raises
    ------
    UserError
        One line: what is wrong with the configuration or its data.
    """
    loaded = config if isinstance(config, Loaded) else load(Path(config))
    reader = reader_of(loaded.config, audience)
    if jobs < 1:
        raise UserError(f"jobs must be at least 1, got jobs={jobs}")
    with one_blas_thread(), kept_answers(loaded) as answers:
        deployment, digest = read_deployment(loaded, jobs=jobs, answers=answers, complete=complete)
        certificate = decide(deployment, digest)
        rows = tuple(record_rows(certificate, reader, loaded))
        if answers is not None:
            answers.finish(cut=certificate.cut)
    return Certification(certificate.decision(reader), rows, reader, certificate)


def reader_of(config: Configuration, audience: str | None) -> Audience:
    """Return the audience that was asked for, or the default; refuses a release that would have nothing to say."""
    public = config.data.is_public
    known = [option.value for option in Audience]
    if audience is not None and audience not in known:
        raise UserError(f"audience must be {' or '.join(known)}, got audience={audience}")
    reader = Audience(audience) if audience else (Audience.RELEASE if public else Audience.CURATOR)
    if reader is Audience.RELEASE and not public and config.budget.max_seconds is not None:
        raise UserError(
            "budget.max_seconds must be absent for --audience release on private data, got "
            f"budget.max_seconds={config.budget.max_seconds:g}; what is reached by then depends on how long the "
            "records take (budget.max_draws caps what is drawn)"
        )
    about_everyone = any(claim.everywhere for claim in config.claims)
    if reader is Audience.RELEASE and not public and not about_everyone:
        *others, last = (type_ for type_, section in BY_TYPE.items() if section.everywhere)
        raise UserError(
            f"claims must hold one of type {', '.join(others)} or {last} for --audience release on private data, "
            "got none; the others depend on the records and stay with the curator"
        )
    return reader
