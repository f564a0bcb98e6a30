"""What two records depend on besides their rows: profile, budget, seed, versions, sources, data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from ..engine.rows import Row
from ..schemas.row_parts import Profile
from .changes import RecordChange, Turn, more_is, one, text
from .compared_record import ComparedRecord
from .look_changes import Comparer

#: Every header may say these; of the first two kinds, less is for the worse, and of the third, more.
FEWER_IS_WORSE = ("complete", "n_draws", "imported_draws")
MORE_IS_WORSE = ("failure_prob", "failure_prob_per_id", "failure_prob_per_cell")
#: Letters of a digest that are shown.
DIGEST = 12


def comparer_of(old: ComparedRecord, new: ComparedRecord) -> tuple[Comparer, tuple[str, ...]]:
    """Return how the numbers of two records are compared, and in words what is not, and why."""
    if old.kind == "calibration":  # nothing is drawn from its seed but the repetitions, and their counts are compared
        return Comparer(numbers=True, exactly=True), ()
    notes = []
    seeds = old.header["seed"], new.header["seed"]
    same_data = old.kind == "run" or old.header.get("data") == new.header.get("data")
    if seeds[0] != seeds[1]:
        notes.append(
            f"numbers are not compared: the seeds differ ({seeds[0]}, {seeds[1]}), and with them what a case is about"
        )
    elif not same_data:
        notes.append("numbers are not compared: the data differ")
    exactly = all(old.header[name] == new.header[name] for name in ("platform", "versions"))
    if not notes and not exactly:
        notes.append("another platform or other versions: numbers are compared to 1e-9, and to 1e-12 near 0")
    return Comparer(numbers=seeds[0] == seeds[1] and same_data, exactly=exactly), tuple(notes)


def header_changes(old: Row, new: Row) -> Iterator[RecordChange]:
    """Yield what changed of that which every kind of record says of itself."""
    if "profile" in old and "profile" in new:
        order = get_args(Profile)
        sizes = (order.index(old["profile"]), order.index(new["profile"]))
        if sizes[0] != sizes[1]:
            turn = Turn.WORSE if sizes[1] < sizes[0] else Turn.BETTER
            yield RecordChange(turn, "profile", "", old["profile"], new["profile"])
    for names, more in ((FEWER_IS_WORSE, Turn.BETTER), (MORE_IS_WORSE, Turn.WORSE)):
        for name in names:
            if old.get(name) is not None and new.get(name) is not None and not _follows(name, old, new):
                yield from more_is(more, name.replace("_", " "), "", old[name], new[name])
    yield from one(Turn.CHANGED, "seed", "", old["seed"], new["seed"])
    yield from named_changes("version", old["versions"], new["versions"])
    yield from one(Turn.CHANGED, "platform", "", old["platform"], new["platform"])
    yield from one(Turn.CHANGED, "sources", "", old["sources"][:DIGEST], new["sources"][:DIGEST])


def _follows(name: str, old: Row, new: Row) -> bool:
    """Return whether a change follows from another one: a sum over what there is, or a share of a whole."""
    if name == "failure_prob":
        return "failure_prob_per_cell" in old
    return name == "failure_prob_per_id" and old["failure_prob"] != new["failure_prob"]


def named_changes(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[RecordChange]:
    """Yield the values of two mappings that differ, by name."""
    for name in [*old, *(name for name in new if name not in old)]:
        yield from one(Turn.CHANGED, what, name, old.get(name), new.get(name))


def digests(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[RecordChange]:
    """Yield the data whose digests differ, by name."""
    short = ({name: digest[:DIGEST] for name, digest in each.items()} for each in (old, new))
    yield from named_changes("data", *short)


def flat(value: Any, place: str = "") -> dict[str, Any]:
    """Return the values of a nested object by their dotted places; a list of values is one value."""
    if isinstance(value, Mapping):
        inside = [(f"{place}.{name}".lstrip("."), each) for name, each in value.items()]
    elif isinstance(value, list) and any(isinstance(each, (Mapping, list)) for each in value):
        named = [each.get("name", i) if isinstance(each, Mapping) else i for i, each in enumerate(value)]
        inside = [(f"{place}.{name}", each) for name, each in zip(named, value, strict=True)]
    else:
        return {place: text(value)}
    return {name: each for path, part in inside for name, each in flat(part, path).items()}
