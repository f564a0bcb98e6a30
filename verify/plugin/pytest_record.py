"""What a pytest session found, as a record of JSON lines and as PDF; the same whoever ran the tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reports.files import write_atomic
from reports.formats import write_document
from reports.numbers import format_count, format_probability
from reports.row import (
    Audience,
    Badge,
    Block,
    Callout,
    Document,
    Fact,
    Facts,
    Paragraph,
    Section,
    Table,
    TextStyle,
    Tone,
)

from ..engine.versions import header
from ..kernel.rows import Row, dumps, word_of
from ..kernel.words import setting, verdict_sentence

SCHEMA_VERSION = 1
TONES = {"HOLDS": Tone.GOOD, "FAILS": Tone.BAD, "SUPPORTED": Tone.GOOD, "REFUTED": Tone.BAD}


@dataclass(frozen=True)
class Session:
    """The rows of a session in their order, and what decided them."""

    rows: tuple[Row, ...]
    seed: int
    n_draws: int
    failure_prob: float
    profile: str
    complete: bool

    def of(self, kind: str) -> list[Row]:
        """Return the rows of a kind."""
        return [row for row in self.rows if row["kind"] == kind]

    @property
    def errors(self) -> list[Row]:
        """Return the rows of tests and checks that stopped."""
        return [row for row in self.rows if row.get("error")]

    @property
    def n_tests(self) -> int:
        """Return the number of tests that left a row."""
        return len({row["test"] for row in self.rows})

    def header(self) -> Row:
        """Return the first line; nothing in it says how many workers there were."""
        own = {
            "complete": self.complete and not self.errors,
            "seed": self.seed,
            "n_draws": self.n_draws,
            "profile": self.profile,
            "failure_prob_per_test": self.failure_prob,
            "tests": self.n_tests,
            "failure_prob": self.failure_prob * self.n_tests,
        }
        return header(own, schema_version=SCHEMA_VERSION, kind="pytest")


def write_record(session: Session, path: Path) -> None:
    """Write the record, whole or not at all."""
    lines = [dumps(session.header()), *(dumps(row) for row in session.rows)]
    write_atomic(path, ("\n".join(lines) + "\n").encode())


def write_report(session: Session, path: Path) -> None:
    """Write the report, dated today. Its rows are about the user's own data, so it is for the curator."""
    write_document(document(session, date=datetime.now(UTC).date().isoformat()), path)


def document(session: Session, *, date: str) -> Document:
    """Return the report of a session, with an ISO date."""
    audits, verdicts = session.of("audit"), [row for row in session.of("verdict") if row["parent"] is None]
    parts = (
        ("Audits", audits, _audits),
        ("Published statements", verdicts, _verdicts),
        ("Errors", session.errors, _errors),
    )
    whole = min(1.0, session.failure_prob * max(session.n_tests, 1))
    facts = (
        Fact("Failure probability of each test", format_probability(session.failure_prob, typographic=True)),
        Fact("In sum at most", format_probability(whole, typographic=True)),
        Fact("Draws of one look", format_count(session.n_draws)),
        Fact("Seed", str(session.seed)),
    )
    return Document(
        title="Audits of a pytest session",
        subtitle=f"{format_count(session.n_tests)} tests",
        date=date,
        author="pdp-verify",
        keywords=("differential privacy", "pytest"),
        summary=_callout(session, audits),
        front=(Facts(facts),),
        sections=tuple(Section(title, 1, blocks(rows)) for title, rows, blocks in parts if rows),
        running_header="pdp-verify audits",
        audience=Audience.CURATOR,
    )


def _callout(session: Session, audits: list[Row]) -> Callout:
    counts = Counter(word_of(row) for row in audits)
    words = ", ".join(f"{count} {word.lower().replace('_', ' ')}" for word, count in sorted(counts.items()))
    text = f"{len(audits)} audits: {words}." if audits else "No audit of a mechanism."
    if session.errors or not session.complete:
        count = len(session.errors)
        return Callout(Tone.WARNING, "Incomplete", f"{text} {count} rows stand for tests or checks that stopped.")
    from .pytest_audit import as_expected

    unmet = [row for row in audits if not as_expected(row)]
    if unmet:
        return Callout(Tone.BAD, f"{len(unmet)} claims are not as their tests expect", text)
    return Callout(Tone.GOOD, "Every claim is as its test expects", text)


def _audits(rows: list[Row]) -> tuple[Block, ...]:
    from .pytest_audit import found_words

    lines = tuple(
        (
            row["test"] + (f" [{row['number']}]" if row["number"] > 1 else ""),
            row["statement"] or "–",
            f"{row['mechanism']}; {setting(row['params'], typographic=True)}",
            Badge(word_of(row).lower().replace("_", " "), TONES.get(word_of(row), Tone.WARNING)),
            found_words(row, typographic=True),
        )
        for row in rows
    )
    columns = ("Test", "Statement", "Mechanism and claim", "Outcome", "Found")
    note = "An audit of one pair of data sets says nothing about other pairs; one that holds is not a proof of privacy."
    table = Table("Audits", columns, lines, ("left",) * 5, (2, 0, 2, 0, 3))
    return (Paragraph(note, TextStyle.NOTE), table)


def _verdicts(rows: list[Row]) -> tuple[Block, ...]:
    lines = []
    for row in rows:
        verdict = row["printed"]["verdict"]
        badge = Badge(verdict.lower().replace("_", " "), TONES.get(verdict, Tone.NEUTRAL))
        lines.append((row["id"], badge, verdict_sentence(row["printed"])))
    return (Table("As printed", ("Id", "Verdict", "In words"), tuple(lines), ("left",) * 3, (0, 0, 1)),)


def _errors(rows: list[Row]) -> tuple[Block, ...]:
    lines = tuple((str(row["test"]), f"{row['error']['type']}: {row['error']['message']}") for row in rows)
    return (Table("Tests and checks that stopped", ("Test", "Why"), lines, ("left", "left"), (1, 2)),)
