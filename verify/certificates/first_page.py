"""The first page of a certificate: what a reader who turns no page must know; nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from audits.verdict import Ground
from reports.numbers import format_count, format_number, format_probability
from reports.row import Block, Fact, Facts, Paragraph, Reference, Scale, Table, TextStyle

from ..kernel.rows import Row, number
from ..kernel.words import allowed, figure
from ..messages.verdict_words import verdict_said
from .certificate_words import (
    CANNOT_CATCH,
    SEVERITY,
    badge_of,
    claim_id,
    examined_words,
    left_out,
    numbers_in_words,
    on_whose_word,
    unseen_words,
)
from .claims.types import BY_TYPE

Parts = dict[str, list[Row]]

#: What no certificate looks at, whatever it is about.
NEVER_EXAMINED = (
    "the bits that a floating-point implementation puts out (decided is the law in real arithmetic)",
    "anything else that is released about the same people",
)
#: A word in the quantity that a check is about -> what it is called here.
FOUND = {
    "delta": "Delta",
    "loss": "Loss",
    "fails": "Failure probability",
    "probability": "Probability",
}
#: Conditions and meanings that the page has room for, and claims beside which it has room for a scale and more.
SHOWN, MEANINGS, WITH_SCALE = 3, 2, 3
#: Of what no audit of draws can catch, as much as the page has room for.
CAUGHT = 2
#: Changes since the previous certificate that the page has room for.
CHANGES = 4
#: The key by which a mechanism is given that is asked by lines of JSON -> what it is.
DOORS = {"command": "a command", "url": "a service"}
#: Digits of a digest that the page shows.
DIGITS = 12


def first_page(header: Row, parts: Parts) -> tuple[Block, ...]:
    """Return what stands under the verdict on the first page."""
    claims = parts["claim"]
    blocks: list[Block] = [_claims(header, parts), *_scale(claims, parts)]
    blocks += [Paragraph(text) for text in _meanings(claims)]
    full = len(claims) > 1 or header["imported"] or "previous" in header
    facts = [*_since(header), *_said(claims), *_counterexamples(claims, parts), *_ways_out(claims)]
    facts += [*_scope(header, parts), *_object(header)]
    blocks.append(Facts(tuple(facts), small=full))
    if header["audience"] == "release" and not header["data"]["public"]:
        blocks.append(Paragraph(left_out(header), TextStyle.NOTE))
    return tuple(blocks)


def _claims(header: Row, parts: Parts) -> Table:
    rows = tuple(
        (Reference(claim_id(c), c["claim"]), _sentence(c, header), _to_whom(c), _found(c, parts), badge_of(c))
        for c in parts["claim"]
    )
    columns = ("Claim", "In words", "Promised to", "Found", "Verdict")
    return Table("What is promised, to whom, and what was found", columns, rows, ("left",) * 5, (0, 5, 3, 4, 0))


def _sentence(claim: Row, header: Row) -> str:
    """Return a claim in words; what it is about stands in the page's title."""
    text = str(claim["sentence"])
    if text.startswith(f"{header['mechanism']} is "):
        text = "it" + text.removeprefix(header["mechanism"])
    elif text.startswith(header["mechanism"]):
        text = "the output" + text.removeprefix(header["mechanism"])
    return f"{text[0].upper()}{text[1:]}."


def _scale(claims: Sequence[Row], parts: Parts) -> Iterator[Scale]:
    """Yield the delta of one claim, the gravest that has one, on a logarithmic line beside what is promised."""
    for claim in [] if len(claims) > WITH_SCALE else sorted(claims, key=lambda each: SEVERITY.index(each["verdict"])):
        row = _deciding(claim, parts)
        if row is None:
            continue
        about = row["about"]
        if "delta" not in about["quantity"] or not 0 < number(about["high"]) < 1:
            continue
        witness = row["exact"] or row["sampled"]
        low, high, limit = (number(each) for each in (witness["low"], witness["high"], about["high"]))
        words = f"delta of {claim['claim']} on a logarithmic line: {_range(witness)}, where "
        yield Scale(
            "promised-and-found",
            "Promised and found",
            "",
            f"{words}{allowed(about, typographic=True)} is allowed",
            f"delta at the promised epsilon ({claim['claim']})",
            max(0.0, min(low, high)),
            high,
            limit,
        )
        return


def _deciding(claim: Row, parts: Parts) -> Row | None:
    """Return the check that decided a claim or left it open, where it found a number; None where none is named.

    What a mechanism states is no finding where one of its statements is refuted.
    """
    if claim["ground"] == Ground.MISSTATED.value:
        return None
    reason = claim["reason"]
    own = [row for row in parts["check"] if row["claim"] == claim["claim"]]
    named = [row for row in own if row["check"] == reason]
    named += [row for row in own if reason.startswith(f"{row['check']}: ")]
    if claim["verdict"] != "FAIL":
        named += [row for row in own if row["power"] == "DECIDES"]
    return next((row for row in named if row["about"] and (row["exact"] or row["sampled"])), None)


def _to_whom(claim: Row) -> str:
    text = BY_TYPE[claim["type"]].promise.partition(":")[0].partition(".")[0]
    text = text.removeprefix("To ")
    return text[0].upper() + text[1:] if claim["verdict"] == "PASS" else "Nobody"


def _found(claim: Row, parts: Parts) -> str:
    """Return what was found of the number that decides, beside what is allowed."""
    row = _deciding(claim, parts)
    if row is None:
        against = claim["examination"] is not None and claim["verdict"] == "UNDECIDED"
        return "Nothing was found against it" if against else "–"
    witness = row["exact"] or row["sampled"]
    if "p-value" in row["about"]["quantity"]:
        violation = claim.get("violation")
        least = math.nan if violation is None else number(violation["epsilon"])
        if math.isnan(least):
            return "More than is claimed"
        return f"Epsilon at least {format_number(least, 3, rounding='down', typographic=True)}"
    found = _range(witness)
    what = next((word for key, word in FOUND.items() if key in row["about"]["quantity"]), "")
    return f"{what} {found}, where {allowed(row['about'], typographic=True)} is allowed".strip()


def _range(witness: Row) -> str:
    low, high = number(witness["low"]), number(witness["high"])
    lower = format_number(low, 3, rounding="down", typographic=True)
    upper = format_number(high, 3, rounding="up", typographic=True)
    if low <= 0:
        return f"at most {upper}"
    if math.isinf(high):
        return f"at least {lower}"
    near = high - low <= 1e-3 * high
    return figure(high, 3, typographic=True) if near else f"between {lower} and {upper}"


def _meanings(claims: Sequence[Row]) -> Iterator[str]:
    """Yield what the claims about privacy mean to somebody who guesses, those with the same numbers together."""
    alike: dict[tuple[Any, ...], list[Row]] = {}
    for claim in claims:
        odds = claim.get("odds")
        if odds is not None:
            key = (odds["factor"], odds["delta"], odds["guess"], claim["verdict"] == "PASS")
            alike.setdefault(key, []).append(claim)
    first, *others = list(alike.values())[: MEANINGS if len(claims) <= WITH_SCALE else 1] or [[]]
    if not first:
        return
    abouts = list(dict.fromkeys(claim["odds"]["about"] for claim in first))
    names = ", ".join(claim["claim"] for claim in first) if len(claims) > 1 else ""
    kept = first[0]["verdict"] == "PASS"
    text = odds_words(first[0]["odds"] | {"about": " or ".join(abouts)}, kept=kept, name=names)
    yield " ".join([text, *(_short_odds(found) for found in others)])


def _short_odds(found: Sequence[Row]) -> str:
    odds, names = found[0]["odds"], ", ".join(claim["claim"] for claim in found)
    factor, percent, delta = _numbers(odds)
    parts = [] if odds["factor"] is None else [f"a factor of at most {factor}", f"but for {delta}"]
    if delta == "0":
        parts = parts[:1]
    return f"For {names}: {', '.join([*parts, f'at most {percent} %'])}."


def _numbers(odds: Row) -> tuple[str, str, str]:
    """Return factor, percentage of right guesses and delta, rounded so that what is promised is no more than it is."""
    factor = "" if odds["factor"] is None else _up(number(odds["factor"]))
    return factor, _up(100 * number(odds["guess"])), _up(number(odds["delta"]))


def _up(value: float) -> str:
    return format_number(value, 3, rounding="up", typographic=True)


def odds_words(odds: Row, *, kept: bool, name: str = "") -> str:
    """Return what a claim means in plain words; ``kept``: whether it was shown to hold."""
    begin = ("What this means" if kept else "What it would mean if it were kept") + (f" ({name})" if name else "")
    factor, percent, delta = _numbers(odds)
    guess = (
        f"whoever first holds either answer for as likely as the other guesses right in at most {percent} % of cases"
    )
    if odds["factor"] is None:
        return f"{begin}: of those who know everything else and ask {odds['about']}, {guess}."
    rare = "" if delta == "0" else f", but for a probability of at most {delta} (delta)"
    return (
        f"{begin}: the release changes anybody's odds on {odds['about']} by a factor of at most {factor} (e to the "
        f"epsilon){rare}; {guess}."
    )


def _said(claims: Sequence[Row]) -> Iterator[Fact]:
    told = claims if len(claims) == 1 else [claim for claim in claims if claim["verdict"] == "FAIL"][:1]
    for claim in told:
        text = verdict_said(claim)
        yield Fact(f"Verdict ({claim['claim']})" if len(claims) > 1 else "Verdict", f"{text.removesuffix('.')}.")


def _counterexamples(claims: Sequence[Row], parts: Parts) -> Iterator[Fact]:
    """Yield the numbers of the pair that refutes the first claim that fails; nothing beside many claims."""
    failed = [claim for claim in claims if claim["verdict"] == "FAIL"]
    for claim in failed[:1] if len(claims) <= WITH_SCALE else []:
        row = _deciding(claim, parts)
        if row is None or not row["found"]:
            continue
        found = numbers_in_words(row["found"], of_a_pair=True)
        name = f" ({claim['claim']})" if len(claims) > 1 else ""
        yield Fact(f"Refuted by{name}", f"{row['check']}: {found.removesuffix('.')}.")


def _ways_out(claims: Sequence[Row]) -> Iterator[Fact]:
    still = [claim for claim in claims if claim["verdict"] != "PASS" and claim["advice"]]
    for claim in still:
        yield Fact(f"Would pass ({claim['claim']})" if len(claims) > 1 else "What would pass", claim["advice"])


def _since(header: Row) -> Iterator[Fact]:
    before = header.get("previous")
    if before is None:
        return
    turns = {"WORSE": " (for the worse)", "CHANGED": "", "BETTER": " (for the better)"}
    lines = [f"{change['words']}{turns[change['turn']]}" for change in before["changes"][:CHANGES]]
    left = len(before["changes"]) - len(lines) + before["more"]
    lines += [f"and {left} more (pdp-verify diff)"] if left else []
    since = f"since {before['words']} in record {before['record'][:DIGITS]}…: {before['headline']}"
    yield Fact("What changed", "; ".join([since, *lines]) + ".")


def _scope(header: Row, parts: Parts) -> Iterator[Fact]:
    claims = parts["claim"]
    counted = len(claims) <= WITH_SCALE
    yield Fact("Tested", _each(claims, lambda claim: _examined(claim, parts if counted else None)))
    yield Fact("Not tested", "; ".join(_unexamined(header, claims)) + ".")
    nobody = " Nobody's word is needed." if all(claim["examination"] is None for claim in claims) else ""
    yield Fact("Rests on", _each(claims, lambda claim: _rests_on(claim, parts)) + nobody)
    stands = [claim for claim in claims if claim["ground"] != Ground.MISSTATED.value]
    conditions = sorted({condition for claim in stands for condition in claim["conditions"]})
    conditions += [f"preparation that reads the data: {note}" for note in header["data"]["data_dependent"]]
    if conditions and header["verdict"] != "FAIL":
        more = f"; and {len(conditions) - SHOWN} more, with each claim" if len(conditions) > SHOWN else ""
        yield Fact("On condition that", "; ".join(conditions[:SHOWN]) + f"{more}.")


def _each(claims: Sequence[Row], words: Callable[[Row], str]) -> str:
    """Return what is said of each claim, with its name where not the same is said of all."""
    said: dict[str, list[str]] = {}
    for claim in claims:
        said.setdefault(words(claim), []).append(claim["claim"])
    if len(said) == 1:
        return f"{next(iter(said))}."
    return "; ".join(f"{' and '.join(names)}: {text}" for text, names in said.items()) + "."


def _examined(claim: Row, parts: Parts | None) -> str:
    """Return what was examined for a claim; with ``parts``, by how many checks."""
    row = claim["examination"]
    if row is not None:
        return "; ".join(part for part in (examined_words(row), unseen_words(row)) if part)
    about = str(claim["scope"]).partition(":")[0]
    if parts is None:
        return about
    checks = [row for row in parts["check"] if row["claim"] == claim["claim"]]
    drawn = sum(row["sampled"] is not None for row in checks)
    proved = sum(row["exact"] is not None for row in checks)
    counts = ", ".join(f"{n} {what}" for n, what in ((proved, "exact"), (drawn, "simulated")) if n)
    counts = counts and f"checks: {counts}"
    return f"{about} ({counts or 'no check could be made'})"


def _unexamined(header: Row, claims: Sequence[Row]) -> list[str]:
    texts = list(NEVER_EXAMINED)
    examined = [claim["examination"] for claim in claims if claim["examination"] is not None]
    sentences = [sentence for row in examined for sentence in row.get("cannot_catch") or CANNOT_CATCH]
    texts[:0] = list(dict.fromkeys(sentences))[:CAUGHT]
    if header.get("artefact"):
        texts.append(f"the content of {header['artefact']['name']}, which is named by its digest")
    return texts


def _rests_on(claim: Row, parts: Parts) -> str:
    word, ground = on_whose_word(claim), claim["ground"]
    if ground == Ground.ATTESTED.value:
        return f"the word of {word}, and draws that found nothing against it"
    if claim["verdict"] == "FAIL":
        return "a counterexample"
    if claim["examination"] is not None:
        return "draws alone, which can refute and never support" + (f"; {word} vouches" if word else "; nobody vouches")
    named = [
        str(row["notes"]["rests on"])
        for row in parts["check"]
        if row["claim"] == claim["claim"] and row["notes"].get("rests on", "nothing") != "nothing"
    ]
    return named[0] if named else "simulation" if ground == "simulated" else "this suite's own checks"


def _object(header: Row) -> Iterator[Fact]:
    data = header["data"]
    yield Fact("Mechanism", _mechanism(header))
    size = f"{format_count(data['n_records'])} records of {data['dim']}" if "n_records" in data else str(data["dim"])
    bounds = f"||x|| at most {figure(data['x_bound'], typographic=True)}"
    bounds += f", |y| at most {figure(data['y_bound'], typographic=True)}"
    least = f", at least {format_count(data['n_min'])} records" if data.get("n_min") else ""
    kind = "public" if data["public"] else "private"
    yield Fact("Data", f"{data['name']} ({kind}): {size} features; public domain {bounds}{least}")
    digests = {
        "mechanism": header["mechanism_digest"],
        "prepared data": data.get("digest"),
        "configuration": header.get("configuration_digest"),
        "artefact": header["artefact"]["sha256"] if header.get("artefact") else None,
    }
    shown = ", ".join(f"{name} {digest[:DIGITS]}…" for name, digest in digests.items() if digest)
    if shown:
        yield Fact("SHA-256", f"{shown} (in full: last page)")
    failure = format_probability(header["failure_prob"], typographic=True)
    version = header["versions"].get("pdp-verify", "")
    yield Fact(
        "Made by",
        f"pdp-verify {version}, sources {header['sources'][:12]}; profile {header['profile']}; failure probability "
        f"{failure}; for {'release' if header['audience'] == 'release' else 'the curator'}",
    )
    yield Fact("How to check", "pdp-verify check DIR, where DIR is the folder with this file and those beside it")


def _mechanism(header: Row) -> str:
    """Return the mechanism with its parameters; of one behind a command or a url, what it is and how it answers."""
    plain, kind = header["configuration"]["mechanism"], asked_by_lines(header)
    if not kind:
        return ", ".join([str(plain.get("name", header["mechanism"])), *_parameters(plain)])
    parts = [kind, f"version {plain['version']}" if plain["version"] else "no version given"]
    parts += [] if plain["reproducible"] else ["randomness of its own"]
    parts += ["a timeout is an output"] if plain["timeouts"] == "output" else []
    return f"{header['mechanism']} ({', '.join(parts)})"


def asked_by_lines(header: Row) -> str:
    """Return what a mechanism is that is asked by lines of JSON, a command or a service; empty for any other one."""
    return next((words for key, words in DOORS.items() if key in header["configuration"]["mechanism"]), "")


def _parameters(plain: Row) -> Iterator[str]:
    for key, value in plain.items():
        if isinstance(value, dict):
            yield from _parameters(value)
        elif key != "name" and isinstance(value, int | float | str):
            yield f"{key} {value}"
