"""Draw a figure as SVG with matplotlib: the same bytes for the same figure in every process.

No pyplot, no user settings, no date; text as outlines, so no font is needed to show it. Colours are Okabe and Ito's
(distinguishable by colour-blind readers) in an order of falling contrast; line styles, markers and hatches differ too,
so that a print in black and white can be read.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .numbers import format_number, power_of_ten
from .row import Drawing, Figure, HeatMap, Mark, Scale, Series, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH, _HEIGHT = 6.4, 2.8  # inches; the width of the text on A4
_LETTER = 0.068  # inches; of a label
_LINE_HEIGHT = 0.95  # inches; of a scale
_INK, _FAINT = "#22303c", "#c9d1d8"
_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#7a3e8e", "#000000", "#e69f00", "#56b4e9", "#8c6d31"),
    *("#cc79a7", "#7f7f7f"),
)
_LINES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.3)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (9, 3)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", "p")
_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++", "oooo")
_MARK_LINES: tuple[Any, ...] = ((0, (2, 2)), (0, (6, 2, 1, 2, 1, 2)), (0, (8, 3)), (0, (1, 4)), (0, (12, 2, 2, 2)))
_UPRIGHT = "| "  # before the label of a mark that does not run as its line in the legend does
_SETTINGS: dict[str, Any] = {
    "svg.hashsalt": "pdp-verify",
    "svg.fonttype": "path",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "hatch.linewidth": 0.6,
    "hatch.color": "white",
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.0,
    "grid.color": _FAINT,
    "grid.linewidth": 0.5,
}


def figure_svg(figure: Drawing) -> bytes:
    """Return the drawing of one figure as SVG, without its title and caption (the page sets those).

    Picklable with its argument, so figures can be drawn in worker processes. The caller thins out long series.

    Parameters
    ----------
    figure : Drawing
        Points that are not finite, or not positive on a logarithmic axis, are left out.

    Returns
    -------
    bytes
        UTF-8 SVG; a pure function of the figure (and of the version of matplotlib).
    """
    with _quiet():
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context():
        settings: Any = matplotlib.rcParams
        settings.update({k: v for k, v in matplotlib.rcParamsDefault.items() if k not in _LEFT_ALONE})
        settings.update(_SETTINGS)
        height = _LINE_HEIGHT if isinstance(figure, Scale) else _HEIGHT
        canvas = Canvas(figsize=(_WIDTH, height), layout="constrained")
        FigureCanvasSVG(canvas)
        axes = canvas.add_subplot()
        if isinstance(figure, HeatMap):
            _draw_heat_map(axes, figure)
        elif isinstance(figure, Scale):
            _draw_scale(axes, figure)
        else:
            _draw_curves(axes, figure)
        axes.set_xlabel(_drawable(figure.x_label))
        if not isinstance(figure, Scale):
            axes.set_ylabel(_drawable(figure.y_label))
        buffer = io.BytesIO()
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        canvas.savefig(buffer, format="svg", metadata=metadata)
    return buffer.getvalue()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Import matplotlib without its words about a cache that it cannot keep: nothing is lost but time."""
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


# Settings that are not about drawing, or that warn when they are set.
_LEFT_ALONE = {"backend", "backend_fallback", "interactive", "toolbar", "timezone", "webagg.port", "webagg.address"}


def _drawable(text: str) -> str:
    """Return the text with every character that the font lacks written as its code point."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known = get_font(findfont(FontProperties(family=_SETTINGS["font.family"]))).get_charmap()
    return "".join(c if c == "\n" or (ord(c) in known and c.isprintable()) else f"<U+{ord(c):04X}>" for c in text)


def _tick_text(value: float) -> str:
    return format_number(value, 6, typographic=True)


def _format_ticks(axis: Any, log: bool) -> None:
    """Label the ticks without mathtext: powers of ten as such, and more of them where the axis has few decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if not log:
        axis.set_major_formatter(FuncFormatter(lambda value, _: _tick_text(value)))
        return
    low, high = axis.get_view_interval()
    wide = low < 0.01 or high > 1e4

    def text(value: float, _: float) -> str:
        if value <= 0:
            return ""
        return _tick_text(value).removeprefix("1×") if not wide else _power_text(value)

    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(NullFormatter())
    if high < 30 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if high > 4 * low else MaxNLocator(6))


def _power_text(value: float) -> str:
    exponent = round(math.log10(value))
    if not math.isclose(value, 10.0**exponent, rel_tol=1e-9):
        return _tick_text(value)
    return power_of_ten(exponent)


def _draw_curves(axes: Axes, figure: Figure) -> None:
    axes.set_xscale(figure.x_scale)
    axes.set_yscale(figure.y_scale)
    axes.grid(True)
    n_bars = sum(series.style is Style.BARS for series in figure.series)
    bars = 0
    for index, series in enumerate(figure.series):
        points = _finite(series, figure.x_scale == "log", figure.y_scale == "log")
        if series.style is Style.BARS:
            _draw_bars(axes, series, points, index, (bars, n_bars, figure.x_scale == "log"))
            bars += 1
        else:
            _draw_series(axes, series, points, index)
    scales = {"x": figure.x_scale, "y": figure.y_scale}
    for index, mark in enumerate(figure.marks):
        if mark.value > 0 or scales[mark.axis] == "linear":
            _draw_mark(axes, mark, index)
    for axis, scale in ((axes.xaxis, figure.x_scale), (axes.yaxis, figure.y_scale)):
        _format_ticks(axis, scale == "log")
    if figure.x_at:
        axes.set_xticks(figure.x_at, [_drawable(text) for text in figure.x_ticks])
        axes.set_xticks([], minor=True)
    if figure.y_from is not None:
        axes.set_ylim(bottom=figure.y_from)
    labels = axes.get_legend_handles_labels()[1]
    if labels:
        fitting = int((_WIDTH - 1.0) / (0.6 + _LETTER * max(map(len, labels))))
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": min(3, max(fitting, 1))}
        axes.legend(**above, borderaxespad=0.3, columnspacing=1.6)


Point = tuple[float, float, float, float]


def _finite(series: Series, log_x: bool, log_y: bool) -> list[Point]:
    """Return (x, y, low, high) for the points that can be drawn; a bound that cannot be is the y value itself."""

    def fits(value: float, log: bool) -> bool:
        return math.isfinite(value) and (value > 0 or not log)

    points = []
    for i, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
        low, high = (series.low[i], series.high[i]) if series.low else (y, y)
        if series.style is Style.BAND:
            if fits(x, log_x) and fits(low, log_y) and fits(high, log_y):
                points.append((x, y if fits(y, log_y) else math.nan, low, high))
        elif fits(x, log_x) and fits(y, log_y):
            points.append((x, y, low if fits(low, log_y) else y, high if fits(high, log_y) else y))
    return points


def _error_bars(axes: Axes, points: Sequence[Point], colour: str) -> None:
    x, _, low, high = (list(column) for column in zip(*points, strict=True))
    axes.vlines(x, low, high, colors=colour, linewidth=1.1)
    for ends in (low, high):
        axes.plot(x, ends, linestyle="none", marker="_", color=colour, markersize=5)


def _draw_series(axes: Axes, series: Series, points: Sequence[Point], index: int) -> None:
    colour, marker = _COLOURS[index % len(_COLOURS)], _MARKERS[index % len(_MARKERS)]
    line, label = _LINES[index % len(_LINES)], _drawable(series.label)
    if not points:
        return
    x, y, low, high = (list(column) for column in zip(*points, strict=True))
    if series.style is Style.BAND:
        hatch = _HATCHES[index % len(_HATCHES)]
        axes.fill_between(x, low, high, facecolor=colour, alpha=0.22, edgecolor="none", label=label)
        axes.fill_between(x, low, high, facecolor="none", edgecolor=colour, alpha=0.35, hatch=hatch, linewidth=0.6)
        axes.plot(x, y, color=colour, linestyle=line, linewidth=1.2)
        return
    if series.low and series.style is Style.POINTS:
        _error_bars(axes, points, colour)
    elif series.low:
        step: Any = "post" if series.style is Style.STEPS else None
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0, step=step)
    if series.style is Style.POINTS:
        axes.plot(x, y, linestyle="none", marker=marker, color=colour, label=label, zorder=3)
        return
    every = max(1, math.ceil(len(x) / 12))
    spread = (index * every // 3 % every, every)
    drawstyle = "steps-post" if series.style is Style.STEPS else "default"
    axes.plot(x, y, color=colour, linestyle=line, marker=marker, markevery=spread, label=label, drawstyle=drawstyle)


def _draw_bars(axes: Axes, series: Series, points: Sequence[Point], index: int, place: tuple[int, int, bool]) -> None:
    """Draw one group of bars beside the others; on a logarithmic axis the widths are ratios."""
    if not points:
        return
    order, n_series, log = place
    there, back = (math.log, math.exp) if log else (float, float)
    x = sorted({there(point[0]) for point in points})
    gap = min((b - a for a, b in itertools.pairwise(x)), default=1.0)
    width = 0.8 * gap / n_series
    lefts = [there(point[0]) + (order - n_series / 2) * width for point in points]
    edges = [(back(left), back(left + width)) for left in lefts]
    style: dict[str, Any] = {"color": _COLOURS[index % len(_COLOURS)], "hatch": _HATCHES[index % len(_HATCHES)]}
    widths = [right - left for left, right in edges]
    heights = [point[1] for point in points]
    axes.bar([left for left, _ in edges], heights, widths, align="edge", label=_drawable(series.label), **style)
    if series.low:
        centres = [back(left + width / 2) for left in lefts]
        _error_bars(axes, [(centre, *point[1:]) for centre, point in zip(centres, points, strict=True)], _INK)


def _draw_mark(axes: Axes, mark: Mark, index: int) -> None:
    """Draw a line; its label, if it has one, stands in the legend, where no line and no curve strikes it."""
    label = (_UPRIGHT if mark.axis == "x" else "") + _drawable(mark.label) if mark.label else "_nolegend_"
    style: dict[str, Any] = {"color": _INK, "linewidth": 1.0, "label": label}
    if mark.span:
        ends, values = list(mark.span), [mark.value] * 2
        axes.plot(*((values, ends) if mark.axis == "x" else (ends, values)), **style)
        return
    across = axes.axvline if mark.axis == "x" else axes.axhline
    across(mark.value, linestyle=_MARK_LINES[index % len(_MARK_LINES)], **style)


def _draw_scale(axes: Axes, scale: Scale) -> None:
    """Draw a bar where the number was found, and a line at what is allowed; decades that hold neither are cut off."""
    left = 10.0 ** (math.floor(math.log10(max(min(scale.limit, scale.high), 1e-290))) - 3)
    right = 10.0 ** (math.ceil(math.log10(max(scale.limit, scale.high))) + 1)
    start = max(scale.low, left)
    end = max(scale.high, start * 1.15)  # a number known to the last digit is still to be seen
    colour, hatch = (1, 1) if scale.low > scale.limit else (0, 0) if scale.high <= scale.limit else (5, 2)
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(0.0, 1.0)
    fill: dict[str, Any] = {"color": _COLOURS[colour], "hatch": _HATCHES[hatch], "edgecolor": "white"}
    axes.barh([0.3], [end - start], 0.42, left=[start], **fill)
    axes.axvline(scale.limit, color=_INK, linewidth=1.6)
    text: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7.5, "va": "center"}
    limit = format_number(scale.limit, 3, typographic=True)
    axes.annotate(f"allowed: at most {limit}", (scale.limit, 0.82), xytext=(-5, 0), ha="right", **text)
    if end < right / 30:
        axes.annotate("found", (end, 0.3), xytext=(5, 0), ha="left", **text)
    else:
        axes.annotate("found", (start, 0.3), xytext=(-5, 0), ha="right", **text)
    for name in ("left", "right", "top"):
        axes.spines[name].set_visible(False)
    axes.yaxis.set_visible(False)
    _format_ticks(axes.xaxis, log=True)


def _draw_heat_map(axes: Axes, figure: HeatMap) -> None:
    import numpy as np
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm, Normalize

    values = np.array(figure.values, dtype=float)
    values[~np.isfinite(values)] = np.nan
    if figure.scale == "log":
        values[values <= 0] = np.nan
    seen = values[~np.isnan(values)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (1.0, 2.0)
    if low == high:
        low, high = (low / 2, high * 2) if figure.scale == "log" else (low - 0.5, high + 0.5)
    norm = LogNorm(low, high) if figure.scale == "log" else Normalize(low, high)
    axes.set_facecolor("#eceff1")
    axes.grid(False)
    edges = "white" if values.size <= 600 else "face"
    drawn: dict[str, Any] = {"cmap": colormaps["cividis"], "norm": norm, "edgecolors": edges, "linewidth": 0.6}
    mesh = axes.pcolormesh(np.ma.masked_invalid(values), **drawn)
    for axis, ticks in ((axes.xaxis, figure.x_ticks), (axes.yaxis, figure.y_ticks)):
        every = max(1, math.ceil(len(ticks) / 14))
        axis.set_ticks([i + 0.5 for i in range(0, len(ticks), every)])
        axis.set_ticklabels([_drawable(tick) for tick in ticks[::every]])
        axis.set_tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if values.size <= 150:
        _write_values(axes, values, norm)
    canvas: Any = axes.get_figure()
    bar = canvas.colorbar(mesh, ax=axes, aspect=25, pad=0.02)
    _format_ticks(bar.ax.yaxis, figure.scale == "log")
    bar.set_label(_drawable(figure.value_label))
    bar.outline.set_visible(False)


def _write_values(axes: Axes, values: Any, norm: Any) -> None:
    """Write each value into its cell, light on dark: the map can then be read without colour."""
    import numpy as np

    small = 6.0 if values.shape[1] > 9 else 7.5
    for (row, column), value in np.ndenumerate(values):
        if not math.isnan(value):
            ink = "white" if norm(value) < 0.55 else "black"
            text = format_number(float(value), 2, typographic=True)
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, fontsize=small)
