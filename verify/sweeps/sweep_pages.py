"""A sweep on paper: counts, where the bound is tight and where it breaks over the grid, and the worst cells."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from reports.numbers import format_count, format_interval, format_number, format_probability
from reports.row import (
    Audience,
    Badge,
    Block,
    Callout,
    Document,
    Fact,
    Facts,
    HeatMap,
    Paragraph,
    Section,
    Table,
    TextStyle,
    Tone,
)

from ..kernel.rows import word_of
from ..kernel.words import setting
from .mechanism_axis import RECIPES
from .sweep_run import WORDS, Sweep, about_delta, counts_text, flat, rows

WORST = 25
VOUCHING = (
    "An imported mechanism is as it is, whatever the target, and is examined: its draws are held against its own law "
    "and against the claim. Where its claim holds as attested, that rests on the word of the person named below, not "
    "on a proof of ours."
)
#: Ratios are shown between these decades; beyond, the colour says "as far as this and farther".
DECADES = 12.0
#: Axes a map is drawn over, the first two that vary.
MAPPED = ("epsilon", "n", "dim", "conditioning", "delta", "target", "seed")
Kind = tuple[str, str]


@dataclass
class Group:
    """The cells of one mechanism with one loss: counts, and per place of the map the worst ratio and the failures."""

    counts: Counter[str] = field(default_factory=Counter)
    worst: dict[tuple[Any, Any], float] = field(default_factory=dict)
    decided: Counter[tuple[Any, Any]] = field(default_factory=Counter)
    failed: Counter[tuple[Any, Any]] = field(default_factory=Counter)


@dataclass
class Tally:
    """What one pass over the rows leaves: a group per mechanism and loss, the worst cells, the first crashes."""

    x: str
    y: str
    groups: dict[Kind, Group] = field(default_factory=dict)
    worst: list[tuple[float, int, dict[str, Any]]] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        """Counts of the whole sweep by word."""
        total: Counter[str] = Counter()
        for group in self.groups.values():
            total.update(group.counts)
        return total

    @property
    def n_rows(self) -> int:
        """Number of cells that have a row."""
        return self.counts.total()


def tally(sweep: Sweep) -> Tally:
    """Return the counts, maps and worst cells of a sweep as it stands."""
    varying = [axis for axis in MAPPED if len(sweep.grid.axes.get(axis, ())) > 1]
    chosen = [*varying, *(axis for axis in ("epsilon", "target") if axis not in varying)]
    found = Tally(chosen[0], chosen[1])
    for place, row in enumerate(rows(sweep)):
        cell, word = row["cell"], word_of(row)
        group = found.groups.setdefault((cell["mechanism"], cell["loss"]), Group())
        group.counts[word] += 1
        columns = flat(row)
        if word == "ERROR" and len(found.errors) < WORST:
            found.errors.append(columns)
        ratio = columns["log10_ratio"]
        if math.isnan(ratio):
            continue
        at = (cell[found.x], cell[found.y])
        group.worst[at] = max(ratio, group.worst.get(at, -math.inf))
        group.decided[at] += 1
        group.failed[at] += word == "FAILS"
        entry = (ratio, -place, columns)
        (heapq.heappush if len(found.worst) < WORST else heapq.heappushpop)(found.worst, entry)
    return found


def exit_code(sweep: Sweep, counts: Counter[str]) -> int:
    """130 interrupted, 4 crashes, 1 a cell fails or is inconsistent, 3 undecided or not reached, 0 all hold."""
    if sweep.interrupted:
        return 130
    if counts["ERROR"]:
        return 4
    if counts["FAILS"] or counts["INCONSISTENT"]:
        return 1
    return 3 if counts["UNDECIDED"] or counts.total() < len(sweep.grid) else 0


def document(sweep: Sweep, found: Tally, *, date: str) -> Document:
    """Return the summary of a sweep, with an ISO date."""
    private = sweep.grid.private
    audience = Audience.CURATOR if private else Audience.RELEASE
    sections = [*_maps(sweep, found), _worst(found)]
    if found.errors:
        sections.append(_errors(found))
    return Document(
        title=f"Sweep: {sweep.grid.name}",
        subtitle=f"{format_count(len(sweep.grid))} cells",
        date=date,
        author="pdp-verify",
        keywords=("differential privacy", "sweep"),
        summary=_callout(sweep, found),
        front=_front(sweep, found),
        sections=tuple(Section(s.title, s.level, s.blocks, audience, s.badges, s.kicker, s.id) for s in sections),
        running_header="pdp-verify sweep",
        audience=audience,
        confidential=private,
    )


def _callout(sweep: Sweep, found: Tally) -> Callout:
    counts, left = found.counts, len(sweep.grid) - found.n_rows
    end = f"; {format_count(left)} not reached." if left else "."
    holds = "The claim holds in every cell where it is made"
    told = (
        (counts["ERROR"] or left, Tone.WARNING, "Incomplete: not every cell was decided"),
        (counts["FAILS"] or counts["INCONSISTENT"], Tone.BAD, "The claim breaks in some cells"),
        (counts["UNDECIDED"], Tone.WARNING, "No cell breaks; some are undecided at this budget"),
        (counts["ATTESTED"], Tone.GOOD, f"{holds}, in some of them as attested"),
        (True, Tone.GOOD, holds),
    )
    tone, title = next((tone, title) for is_so, tone, title in told if is_so)
    return Callout(tone, title, f"Of {format_count(len(sweep.grid))} cells: {counts_text(counts)}{end}")


def _front(sweep: Sweep, found: Tally) -> tuple[Block, ...]:
    grid = sweep.grid
    axes = tuple(Fact(axis, ", ".join(_tick(value) for value in values)) for axis, values in grid.axes.items())
    words = [word for word in WORDS if word != "ATTESTED" or found.counts[word]]
    rows_ = tuple(
        (mechanism, loss, *(format_count(group.counts[word]) for word in words), _rule(sweep, mechanism))
        for (mechanism, loss), group in found.groups.items()
        if set(group.counts) != {"OUT_OF_DOMAIN"}
    )
    columns = ("Mechanism", "Loss", *(WORDS[word].capitalize() for word in words), "Set up by")
    spent = format_probability(grid.spends(), typographic=True) if grid.spends() else "nothing: all cells are exact"
    blocks: list[Block] = [
        Paragraph(
            "Each cell sets a mechanism up for a target epsilon and delta by the rule named below, and asks whether it "
            "is that private between the two data sets of the cell: the hockey-stick divergence, worse direction, "
            "exact where the law of the loss is known and simulated otherwise."
        ),
        *([Paragraph(VOUCHING)] if sweep.shared.imported else []),
        Facts((Fact("Seed", str(grid.seed)), Fact("Failure probability, sum over cells", spent))),
        Facts(axes),
    ]
    if rows_:
        blocks.append(Table("Cells by outcome", columns, rows_, ("left", "left", *("right",) * len(words), "left")))
    return tuple(blocks)


def _rule(sweep: Sweep, mechanism: str) -> str:
    own = sweep.grid.imported.get(mechanism)
    return RECIPES[mechanism].rule if own is None else own.rule


def _tick(value: Any) -> str:
    return format_number(value) if isinstance(value, float) else str(value)


def _maps(sweep: Sweep, found: Tally) -> Iterator[Section]:
    numbers = itertools.count(1)
    level = 1
    for (mechanism, loss), group in found.groups.items():
        if not group.worst:
            continue
        highest = max(group.worst, key=lambda at: group.worst[at])
        ratios = {at: min(max(ratio, -DECADES), DECADES) for at, ratio in group.worst.items()}
        name, axes = f"{mechanism}, {loss}", f"{found.x} and {found.y}"
        tight = _map(
            sweep,
            found,
            ratios,
            f"map-{next(numbers)}",
            f"Where it is tight, where it breaks: {name}",
            "Decades between delta and its target in the worst cell of all other axes: above 0 the claim is not shown "
            "to hold, at 0 it is tight, below there is room. Values beyond "
            f"{DECADES:g} decades are shown as {DECADES:g}; a blank place makes no claim.",
            f"Heat map over {axes}; the largest value, {format_number(group.worst[highest])}, is at "
            f"{found.x} {_tick(highest[0])} and {found.y} {_tick(highest[1])}.",
            "log10 of delta / target",
        )
        blocks: list[Block] = [tight]
        if group.counts["FAILS"]:
            title = f"Share of cells where it fails: {name}"
            caption = "Share, over all other axes, of the cells in which a claim is made and is false."
            alt = f"Heat map over {axes} of the share of failing cells."
            shares = {at: group.failed[at] / count for at, count in group.decided.items() if count}
            number = f"map-{next(numbers)}"
            blocks.append(_map(sweep, found, shares, number, title, caption, alt, "share that fails"))
        badge = Badge("breaks", Tone.BAD) if group.counts["FAILS"] else Badge("does not break here", Tone.NEUTRAL)
        yield Section(f"{name} loss", level, tuple(blocks), badges=(badge,), kicker="Margin over the grid")
        level = 2


def _map(
    sweep: Sweep,
    found: Tally,
    values: Mapping[tuple[Any, Any], float],
    name: str,
    title: str,
    caption: str,
    alt: str,
    unit: str,
) -> HeatMap:
    xs, ys = sweep.grid.axes[found.x], sweep.grid.axes[found.y]
    shown = tuple(tuple(values.get((x, y), math.nan) for x in xs) for y in ys)
    x_ticks, y_ticks = tuple(_tick(x) for x in xs), tuple(_tick(y) for y in ys)
    return HeatMap(name, title, caption, alt, found.x, found.y, x_ticks, y_ticks, shown, unit)


def _worst(found: Tally) -> Section:
    ordered = sorted(found.worst, key=lambda entry: (-entry[0], -entry[1]))
    tones = {"HOLDS": Tone.GOOD, "FAILS": Tone.BAD}
    lines = []
    for ratio, _, columns in ordered:
        outcome = str(columns["outcome"]).lower() + (", attested" if columns["ground"] == "attested" else "")
        badge = Badge(outcome, tones.get(columns["outcome"], Tone.WARNING))
        lines.append((badge, _setting(columns), _delta(columns), format_number(ratio, 3, typographic=True)))
    if not lines:
        return Section("The worst cells", 1, (Paragraph("No cell was decided in its domain.", TextStyle.NOTE),))
    columns_ = ("Outcome", "Cell", "Delta", "Decades over target")
    aligned = ("left", "left", "right", "right")
    table = Table("Cells with the largest delta over its target", columns_, tuple(lines), aligned, (0, 1, 0, 0))
    return Section("The worst cells", 1, (table,))


def _delta(columns: dict[str, Any]) -> str:
    if not about_delta(columns["quantity"], columns["allowed"], columns["delta"]):
        return "refuted by a test of draws"
    if columns["n_draws"] == 0:  # proved to far more digits than anybody reads
        return format_number(columns["value"], typographic=True)
    return format_interval(columns["value"], columns["low"], columns["high"], typographic=True)


def _errors(found: Tally) -> Section:
    lines = tuple((_setting(columns), str(columns["error"])) for columns in found.errors)
    table = Table("Cells whose check stopped (the first of them)", ("Cell", "Why"), lines, ("left", "left"), (1, 1))
    note = Paragraph("They may be tried again, on the same streams, with --retry-failed.", TextStyle.NOTE)
    return Section("Crashes", 1, (table, note))


def _setting(columns: dict[str, Any]) -> str:
    axes = list(itertools.takewhile(lambda name: name != "outcome", columns))
    return setting({name: columns[name] for name in axes}, typographic=True)
