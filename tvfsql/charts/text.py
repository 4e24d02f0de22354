"""A chart of characters, in the colours of a terminal where there are some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tvfsql.charts.series import BARS, LABEL, Chart, Point, clocks, series_of

MOST_TICKS = 6
FRAME = 4  # lines of a chart for its title, axis and ticks
COLOURS = ("blue", "orange", "green", "red", "magenta", "cyan")
MARKERS = ("*", "o", "+", "x", "#", "@")  # used without colours


@dataclass(frozen=True)
class Size:
    """The size of the screen in characters."""

    width: int
    height: int
    colours: bool = False


def draw_chart(
    columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]], asked: Chart, size: Size
) -> str:
    """Return the chart, followed by a line about what it leaves out. Raises BindError as `series_of` does."""
    if not rows:
        return "no rows yet\n"
    found = series_of(columns, types, rows, asked)
    if not found.series:
        return "no values yet\n"
    draw = _bars if found.kind == BARS or not found.times else _lines
    text, more = draw(found.series, found.order, found.title, size)
    return "\n".join([text, *more, *found.notes]) + "\n"


# ------------------------------------------------------------------------------------------ what is drawn


def _lines(
    series: dict[str, dict[str, Point]], order: dict[str, float], title: str, size: Size
) -> tuple[str, list[str]]:
    plot = _plot(title, size)
    for at, (name, points) in enumerate(series.items()):
        xs, ys = zip(*sorted(points.values()), strict=True)
        colour = COLOURS[at % len(COLOURS)] if size.colours else None
        marker = "braille" if size.colours or len(series) == 1 else MARKERS[at % len(MARKERS)]
        plot.plot(xs, ys, label=name[:LABEL], color=colour, marker=marker)
    values = [value for points in series.values() for _, value in points.values()]
    _leave_room(plot, min(values), max(values), len(series), size)
    places = sorted({*order.values()})
    ticks = [places[round(i * (len(places) - 1) / max(1, MOST_TICKS - 1))] for i in range(MOST_TICKS)]
    ticks = sorted({*ticks})
    plot.xticks(ticks, clocks(ticks))
    return _built(plot, size), []


def _bars(
    series: dict[str, dict[str, Point]], order: dict[str, float], title: str, size: Size
) -> tuple[str, list[str]]:
    plot = _plot(title, size)
    most = max(2, (size.width - 10) // (2 * len(series) + 2))
    labels = [label for label in order if any(label in points for points in series.values())]
    notes = [f"the last {most} of {len(labels)}"] if len(labels) > most else []
    labels = labels[-most:]
    heights = [[points.get(label, (0, 0))[1] for label in labels] for points in series.values()]
    colours = [COLOURS[at % len(COLOURS)] if size.colours else None for at in range(len(series))]
    markers = ["sd" if size.colours or len(series) == 1 else MARKERS[at % len(MARKERS)] for at in range(len(series))]
    numbers = [*range(1, len(labels) + 1)]
    names = [name[:LABEL] for name in series]
    plot.multiple_bar(numbers, heights, labels=names, color=colours, marker=markers, width=0.8)
    values = [value for each in heights for value in each]
    _leave_room(plot, min(0, *values), max(0, *values), len(series), size)
    times = all(isinstance(order[label], float) and order[label] > 0 for label in labels)
    shown = clocks([order[label] for label in labels]) if times else [label[:LABEL] for label in labels]
    step = max(1, -(-len(labels) * (max(map(len, shown)) + 2) // max(1, size.width - 10)))
    plot.xticks(numbers[::step], shown[::step])
    return _built(plot, size), notes


def _plot(title: str, size: Size) -> Any:
    import plotext  # type: ignore[import-untyped]

    plotext.clear_figure()
    plotext.theme("clear")
    plotext.plotsize(size.width, size.height)
    plotext.title(title)
    return plotext


def _leave_room(plot: Any, least: float, most: float, names: int, size: Size) -> None:
    """Leave room above the values for the names of the series, which plotext writes over the chart."""
    lines = size.height - FRAME
    if most > least and lines > names:
        plot.ylim(least, least + (most - least) * lines / (lines - names))
        plot.yticks([least + (most - least) * i / MOST_TICKS for i in range(MOST_TICKS + 1)])


def _built(plot: Any, size: Size) -> str:
    text: str = plot.build()
    text = text if size.colours else plot.uncolorize(text)
    return "\n".join(line.rstrip() for line in text.splitlines())
