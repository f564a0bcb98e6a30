"""A statement that one paper quotes from another: the same parts, cases and check under the quoting paper's id."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from audits import Budget

from ..kernel.paper import paper_of
from ..kernel.statement import Case, Evidence, Formula, Part, Role, Statement


def carry(
    source: Statement, id_: str, *, domain: str, summary: str, numbers: Mapping[str, str] | None = None
) -> Statement:
    """Return ``source`` as the statement ``id_`` of another paper: draws of its own, the formulas of the source.

    Where its parts were read is stated in that other paper's ``paper.toml``.

    ``numbers`` maps equation numbers of the source to those of the other paper, in the words of the parts (their ids
    stay).
    """
    paper = paper_of(id_)
    about = paper.entries[id_]
    cases = (
        replace(
            case,
            part=_moved(case.part, source.id, id_),
            name=_moved(case.name, source.id, id_),
            quick=case.quick and case.role is not Role.ADVERSARIAL,  # the source's own quick run has the searches
        )
        for case in source.cases
    )
    return Statement(
        id=id_,
        paper=paper.name,
        kind=about.kind,
        title=about.title,
        locator=about.locator,
        domain=domain,
        parts=tuple(
            replace(part, provenance=paper.provenance(part.id))
            for part in (_renumbered(part, source.id, id_, numbers or {}) for part in source.parts)
        ),
        cases=tuple(cases),
        check=partial(_check, source.check, id_, source.id),
        summary=summary,
        share=paper.share,
    )


def _renumbered(part: Part, old: str, new: str, numbers: Mapping[str, str]) -> Part:
    def words(text: str) -> str:
        for before, after in numbers.items():
            text = text.replace(before, after)
        return text

    def formula(shown: Formula) -> Formula:
        return Formula(words(shown.typst))

    return replace(
        part,
        id=_moved(part.id, old, new),
        title=words(part.title),
        printed=formula(part.printed),
        corrected=formula(part.corrected) if part.corrected else None,
        what_went_wrong=words(part.what_went_wrong),
    )


def _moved(text: str, old: str, new: str) -> str:
    return new + text.removeprefix(old)


def _check(check: Callable[[Case, Budget], Evidence], id_: str, source: str, case: Case, budget: Budget) -> Evidence:
    return check(replace(case, part=_moved(case.part, id_, source), name=_moved(case.name, id_, source)), budget)
