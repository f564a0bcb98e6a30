"""Two certificates: what is claimed, its verdicts, what they rest on, and the deployment that they are about."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from audits.verdict import WEAKEST_FIRST, CheckRole, Ground

from ..kernel.rows import Row, number
from .changes import DIGEST, RecordChange, Turn, alone, flat, less_is_worse, more_is, named_changes, one, paired
from .look_changes import ComparedRecord, Comparer, claim_changes, outcome_turn, outcome_words

GOODNESS = {"FAIL": 0, "UNDECIDED": 1, "PASS": 2}
#: What a claim is of; where one of these is another, the old promise is made no more, and its numbers say other things.
FORM = ("type", "profile", "relation", "metric")
#: Numbers of a claim of which a larger one promises less, and those of which a smaller one does.
LARGER_IS_LESS = ("epsilon", "delta", "mu", "rho", "at_most", "level")
SMALLER_IS_LESS = ("group", "alpha", "at_least", "probability")
#: What a check can do to its claim, least first.
POWERS = [role.name for role in reversed(CheckRole)]
#: For whom a claim about the records speaks, fewest first.
SCOPES = ("target", "records", "everyone")
#: Keys of the budget that cap what is examined; without one, nothing is capped.
CAPS = ("max_draws", "max_seconds")
#: Numbers of the public domain, and which way it goes that one grows.
BOUNDS = {"n_min": Turn.WORSE, "x_bound": Turn.BETTER, "y_bound": Turn.BETTER}
#: A change of the room that a check leaves under its bound, relative and absolute, of which nobody must know.
ROOM = 1e-3
#: What the header itself says of the budget.
SAID_ELSEWHERE = ("budget.profile", "budget.seed", "budget.failure_prob")


def certificate_changes(old: ComparedRecord, new: ComparedRecord, comparer: Comparer) -> Iterator[RecordChange]:
    """Yield what changed between two certificates: the verdict first, then claims, deployment and checks."""
    before, after = old.header, new.header
    if before["words"] != after["words"]:
        grounds = (header["words"].partition("(")[2].rstrip(")") for header in (before, after))
        turn = _turn(*zip((before["verdict"], after["verdict"]), grounds, strict=True))
        yield RecordChange(turn, "verdict", "", before["words"], after["words"])
    yield from _asked(before, after)
    yield from _claims(old.of("claim"), new.of("claim"), _promises(before), _promises(after))
    yield from _deployment(before, after)
    yield from _checks(old.of("check"), new.of("check"), comparer, _restated(before, after))
    yield from _releases(old.of("release"), new.of("release"))
    yield from _spent(old.of("budget"), new.of("budget"))


def certificate_notes(old: Row, new: Row) -> list[str]:
    """Return what a reader must know of two certificates that are compared all the same."""
    notes = [f"numbers of {name} are not compared: it claims something else" for name in _restated(old, new)]
    deployed = [{**row["configuration"], "code": row["mechanism_digest"]} for row in (old, new)]
    if any(deployed[0].get(key) != deployed[1].get(key) for key in ("data", "mechanism", "release", "report", "code")):
        notes.append("the configurations differ: these are verdicts on two deployments")
    return notes


def _restated(old: Row, new: Row) -> list[str]:
    """Return the claims of both configurations that claim something else now."""
    before, after = _promises(old), _promises(new)
    return [name for name in before if name in after and before[name] != after[name]]


def _turn(old: tuple[str, str], new: tuple[str, str]) -> Turn:
    """Return which way a verdict with its ground changed; a failure that is open now is no improvement."""
    before, after = GOODNESS[old[0]], GOODNESS[new[0]]
    if before == after:
        before, after = (WEAKEST_FIRST.index(Ground(ground)) for _, ground in (old, new))
        return Turn.WORSE if after < before else Turn.BETTER if after > before else Turn.CHANGED
    if after < before:
        return Turn.WORSE
    return Turn.BETTER if new[0] == "PASS" else Turn.CHANGED


def _asked(old: Row, new: Row) -> Iterator[RecordChange]:
    """Yield what was asked beyond a PASS, and is not any more."""
    yield from more_is(Turn.BETTER, "proof required", "", *(row.get("required") == "proved" for row in (old, new)))
    yield from more_is(Turn.WORSE, "undecided allowed", "", *(bool(row.get("undecided_allowed")) for row in (old, new)))


def _promises(header: Row) -> dict[str, Row]:
    """Return the claims of the configuration, by name."""
    return {str(claim.get("name")): claim for claim in header["configuration"]["claims"]}


def _claims(
    old: Sequence[Row], new: Sequence[Row], promised: dict[str, Row], promises: dict[str, Row]
) -> Iterator[RecordChange]:
    both, gone, added = paired(old, new, lambda row: str(row["claim"]))
    yield from alone("claim", gone.items(), added.items(), lambda row: f" ({row['words']})")
    for name, (before, after) in both.items():
        if before["words"] != after["words"]:
            standings = [(row["verdict"], row["ground"]) for row in (before, after)]
            yield RecordChange(_turn(*standings), "verdict", name, before["words"], after["words"])
        yield from _promise(name, promised.get(name, {}), promises.get(name, {}))
        yield from one(Turn.CHANGED, "claim", name, before["sentence"], after["sentence"])
        for key in ("scope", "vouched"):
            yield from one(Turn.CHANGED, key, name, before[key], after[key])
        turn = less_is_worse(-len(before["conditions"]), -len(after["conditions"]))
        yield from one(turn, "conditions", name, before["conditions"], after["conditions"])
        yield from _examination(name, before["examination"], after["examination"])


def _promise(name: str, old: Row, new: Row) -> Iterator[RecordChange]:
    """Yield how what is promised changed: another kind of promise is none of what it was; a larger epsilon is less."""
    others = [key for key in FORM if old.get(key) != new.get(key)]
    if others:
        yield from named_changes("promise", old, new, names=others, where=f"{name}, ", turn=Turn.WORSE)
        return
    for key in (*LARGER_IS_LESS, *SMALLER_IS_LESS, "scope", "points"):
        before, after = old.get(key), new.get(key)
        if before is None or after is None:
            continue
        if key == "scope":
            turn = less_is_worse(SCOPES.index(before), SCOPES.index(after))
        elif key == "points":  # every one is still promised where a smaller epsilon and delta are
            covered = all(any(epsilon <= e and delta <= d for epsilon, delta in after) for e, d in before)
            turn = Turn.CHANGED if covered else Turn.WORSE
        else:
            turn = less_is_worse(after, before) if key in LARGER_IS_LESS else less_is_worse(before, after)
        yield from one(turn, "promise", f"{name}, {key}", before, after)


def _examination(name: str, old: dict[str, Any] | None, new: dict[str, Any] | None) -> Iterator[RecordChange]:
    """Yield how many pairs of data sets were examined, and with how many draws."""
    for what, count in (("pairs examined", len), ("draws", lambda pairs: sum(pair.get("draws", 0) for pair in pairs))):
        counts = [count((row or {}).get("pairs", [])) for row in (old, new)]
        yield from more_is(Turn.BETTER, what, name, *counts)


def _deployment(old: Row, new: Row) -> Iterator[RecordChange]:
    """Yield what of the deployment itself is another one: mechanism, data, artefact, configuration."""
    yield from one(Turn.CHANGED, "mechanism", "", old["mechanism"], new["mechanism"])
    for what, key in (("code of the mechanism", "mechanism_digest"), ("configuration file", "configuration_digest")):
        yield from one(Turn.CHANGED, what, "", *(row.get(key, "")[:DIGEST] for row in (old, new)))
    files = [row.get("artefact", {}) for row in (old, new)]
    shown = (f"{file.get('name', '')} {file.get('sha256', '')[:DIGEST]}".strip() for file in files)
    yield from one(Turn.CHANGED, "artefact", "", *shown)
    for name, more in BOUNDS.items():  # a smaller domain holds fewer data sets to speak of
        yield from more_is(more, "domain", name, *(number(row["data"][name]) for row in (old, new)))
    data = (flat({k: v for k, v in row["data"].items() if k not in BOUNDS}) for row in (old, new))
    yield from named_changes("data", *data)
    yield from named_changes("not shown", *(dict.fromkeys(row["not_shown"], "not shown") for row in (old, new)))
    settings = [flat({k: v for k, v in row["configuration"].items() if k != "claims"}) for row in (old, new)]
    keys = [key for key in dict.fromkeys([*settings[0], *settings[1]]) if key not in SAID_ELSEWHERE]
    for key in keys:
        section, _, name = key.partition(".")
        budgets = [row["configuration"]["budget"].get(name) for row in (old, new)]
        if key == "budget.sequential":  # it can refute and never support; records of old are without it
            yield from more_is(Turn.WORSE, "budget", name, *map(bool, budgets))
        elif section == "budget" and name in CAPS:
            yield from more_is(Turn.BETTER, "budget", name, *budgets, absent=float("inf"))
        elif section == "budget" and None not in budgets:
            yield from more_is(Turn.BETTER, "budget", name, *budgets)
        else:
            yield from one(Turn.CHANGED, "configuration", key, settings[0].get(key), settings[1].get(key))


def _checks(
    old: Sequence[Row], new: Sequence[Row], comparer: Comparer, restated: Sequence[str]
) -> Iterator[RecordChange]:
    """Yield how the checks of the claims that both records have changed; which pairs are searched may change freely."""
    ids = [{row["claim"] for row in rows} for rows in (old, new)]
    counts = [Counter((row["claim"], row["power"]) for row in rows) for rows in (old, new)]
    both, gone, added = paired(old, new, _named)
    comparer.compared["checks"] += len(both)
    for row in gone.values():
        if row["claim"] in ids[1]:
            kind = row["claim"], row["power"]
            turn = Turn.WORSE if counts[1][kind] < counts[0][kind] else Turn.CHANGED
            yield RecordChange(turn, "gone", _named(row), f"the check is gone ({outcome_words(row)})", "")
    for before, after in both.values():
        if before == after:
            comparer.equal(before)
            continue
        if before["power"] != after["power"]:
            turn = less_is_worse(*(POWERS.index(row["power"]) for row in (before, after)))
            yield from one(turn, "power", _named(after), *(row["power"].lower() for row in (before, after)))
        if (before["outcome"], before["reason"]) != (after["outcome"], after["reason"]):
            turn = Turn.CHANGED if after["power"] == "REPORTS" else outcome_turn(before, after)
            yield RecordChange(turn, "outcome", _named(after), outcome_words(before), outcome_words(after))
        elif before["sampled"] is not None and after["sampled"] is not None:
            draws = (row["sampled"]["n_draws"] for row in (before, after))
            yield from more_is(Turn.BETTER, "draws", _named(after), *draws)
        if after["claim"] not in restated:
            yield from _numbers(before, after, comparer)
    for row in added.values():
        if row["claim"] in ids[0]:
            yield RecordChange(Turn.CHANGED, "new", _named(row), "", f"the check is new ({outcome_words(row)})")


def _numbers(old: Row, new: Row, comparer: Comparer) -> Iterator[RecordChange]:
    """Yield the numbers of a check that moved, and how much room a deciding one leaves."""
    changed = list(claim_changes(_named(new), old["about"], new["about"], comparer))
    yield from changed
    if changed:
        return
    yield from comparer.moved(_named(new), old, new)
    rooms = [number(row["margin"]) for row in (old, new)]
    known = comparer.numbers and new["power"] == "DECIDES" and all(map(math.isfinite, rooms)) and min(rooms) >= 0.0
    if known and not math.isclose(*rooms, rel_tol=ROOM, abs_tol=ROOM):
        words = [f"{room:.3g} of what is allowed" for room in rooms]
        yield RecordChange(Turn.CHANGED, "room left", _named(new), words[0], words[1])


def _named(row: Row) -> str:
    return f"{row['claim']}, {row['check']}"


def _releases(old: Sequence[Row], new: Sequence[Row]) -> Iterator[RecordChange]:
    """Yield what was released, and at which cost; never its numbers."""
    both, gone, added = paired(old, new, lambda row: str(row["name"]))
    yield from alone("release", gone.items(), added.items(), turn=Turn.CHANGED)
    for name, (before, after) in both.items():
        yield from one(Turn.CHANGED, "cost", name, before["cost"], after["cost"])
        if before["cost"] == after["cost"] and before != after:
            yield RecordChange(Turn.CHANGED, "release", name, "one draw", "another draw")


def _spent(old: Sequence[Row], new: Sequence[Row]) -> Iterator[RecordChange]:
    """Yield how much of the failure probability was spent, by the part that an audience may know of.

    Records of old do not say it; one that says it no longer is the worse for it.
    """
    told = [
        "not said" if not rows else f"{math.fsum(leaf['alpha'] for leaf in rows[0]['leaves'] if leaf['spent']):.4g}"
        for rows in (old, new)
    ]
    turn = Turn.WORSE if old and not new else Turn.CHANGED
    yield from one(turn, "failure probability spent", "", *told)
