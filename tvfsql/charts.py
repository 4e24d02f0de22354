"""Draws rows as a chart of characters: a number per window over time, with one line or bar per key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from tvfsql.errors import BindError, DataError, did_you_mean
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.times import FarTime, micros_of, wall_time
from tvfsql.plan.values.types import DATE, is_time, of_spark
from tvfsql.runtime.host.row_formats import is_integer, is_number, visible

LINES, BARS = "lines", "bars"
KINDS = (LINES, BARS)
BY = "by"
MOST_SERIES = 6  # more would not be distinguishable
MOST_TICKS = 6
LABEL = 16  # the most characters of a tick label
FRAME = 4  # lines of a chart for its title, axis and ticks
COLOURS = ("blue", "orange", "green", "red", "magenta", "cyan")
MARKERS = ("*", "o", "+", "x", "#", "@")  # used without colours

Point = tuple[float, float]


@dataclass(frozen=True)
class Chart:
    r"""The arguments of `\chart`: `values` and `by` are columns; () and "" let the chart choose."""

    kind: str = ""
    values: tuple[str, ...] = ()
    by: str = ""


@dataclass(frozen=True)
class Size:
    """The size of the screen in characters."""

    width: int
    height: int
    colours: bool = False


def read_chart(argument: str) -> Chart:
    """`[lines|bars] [VALUE ...] [BY COLUMN]`. Raises BindError."""
    words = argument.replace(",", " ").split()
    kind = words.pop(0).lower() if words and words[0].lower() in KINDS else ""
    lower = [word.lower() for word in words]
    if BY not in lower:
        return Chart(kind, tuple(words))
    at = lower.index(BY)
    if len(words) != at + 2:
        raise BindError("BY takes one column", hint="total BY item")
    return Chart(kind, tuple(words[:at]), words[at + 1])


def check_columns(asked: Chart, columns: Sequence[str]) -> None:
    """Raises BindError for a column that does not exist."""
    for name in (*asked.values, *([asked.by] if asked.by else [])):
        _column(name, columns)


def draw_chart(
    columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]], asked: Chart, size: Size
) -> str:
    """Return the chart, followed by a line about what it leaves out. Raises BindError if the rows have nothing to draw,
    if a column does not exist, or if a line has several values at one place.
    """
    if not rows:
        return "no rows yet\n"
    across = _across(columns, types, rows, asked)
    numbers = _numeric_keys(columns, types, rows, asked, across)
    values = _values(columns, types, asked, across, numbers)
    by = _by(columns, types, asked, across, values, numbers)
    rows = rows if across is None or not _is_time(types[across]) else sorted(rows, key=lambda row: _at(row[across]))
    places = [float(i) if across is None else _at(row[across]) for i, row in enumerate(rows)]
    labels = [str(i + 1) if across is None else _label(row[across]) for i, row in enumerate(rows)]
    series: dict[str, dict[str, Point]] = {}
    for row, place, label in zip(rows, places, labels, strict=True):
        for value in values:
            if row[value] is None:
                continue
            name = " ".join(_label(row[key]) for key in by) or columns[value]
            points = series.setdefault(name, {})
            if label in points:
                other = next((columns[i] for i in range(len(columns)) if i not in (across, value)), "KEY")
                raise BindError(f"{columns[value]} has several values at {label}", hint=f"{columns[value]} BY {other}")
            points[label] = (place, float(row[value]))
    if not series:
        return "no values yet\n"
    shown = sorted(series, key=lambda name: -sum(abs(y) for _, y in series[name].values()))[:MOST_SERIES]
    notes = [f"{len(series) - len(shown)} more of {len(series)} are not shown"] if len(shown) < len(series) else []
    kept = {name: series[name] for name in series if name in shown}
    categories = across is None or not _is_time(types[across])
    kind = asked.kind or (BARS if categories and across is not None else LINES)
    title = ", ".join(columns[value] for value in values)
    title += f" by {', '.join(columns[key] for key in by)}" if by else ""
    order = dict(zip(labels, places, strict=True))
    text, more = (_bars if kind == BARS or categories else _lines)(kept, order, title, size)
    return "\n".join([text, *more, *notes]) + "\n"


# ------------------------------------------------------------------------------------------ which columns


def _across(columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]], asked: Chart) -> int | None:
    """The column on the horizontal axis: the end of the window, another time, a text, or in front of other numbers an
    integer that differs in each row. None: the number of the row.
    """
    for name in (WINDOW_COLUMNS[1], WINDOW_COLUMNS[0]):
        if name in columns:
            return columns.index(name)
    times = [i for i, kind in enumerate(types) if _is_time(kind)]
    others = [i for i, kind in enumerate(types) if not is_number(kind)]
    if times or others:
        return (times or others)[0]
    named = {name.lower() for name in (*asked.values, asked.by)}
    key = is_integer(types[0]) and columns[0].lower() not in named and len(columns) > 1 and len(rows) > 1
    return 0 if key and len({row[0] for row in rows}) == len(rows) else None


def _numeric_keys(
    columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]], asked: Chart, across: int | None
) -> list[int]:
    """The first integers of a row, as far as the rows at one place need them to differ; the rest are values."""
    if across is None or asked.by:
        return []
    named = [_column(name, columns) for name in asked.values]
    texts = [i for i in range(len(columns)) if _is_key(columns[i], types[i]) and i != across]
    free = [i for i in range(len(columns)) if is_number(types[i]) and i not in (across, *named)]
    most = len(free) if named else len(free) - 1
    for count in range(most + 1):
        keys = free[:count]
        if not all(is_integer(types[i]) for i in keys):
            break
        if len({tuple(row[i] for i in (across, *texts, *keys)) for row in rows}) == len(rows):
            return keys
    return []


def _values(
    columns: Sequence[str], types: Sequence[str], asked: Chart, across: int | None, keys: Sequence[int]
) -> list[int]:
    if asked.values:
        found = [_column(name, columns) for name in asked.values]
        for i in found:
            if not is_number(types[i]):
                raise BindError(f"column {columns[i]} is not a number", hint="\\chart takes columns of numbers")
        return found
    by = [_column(asked.by, columns)] if asked.by else [*keys]
    numbers = [i for i, kind in enumerate(types) if is_number(kind) and i != across and i not in by]
    if not numbers:
        raise BindError(
            "there is no column of numbers to draw", hint="SELECT window_end, COUNT(*) AS n ...; then \\chart"
        )
    keys = by or [i for i in range(len(columns)) if _is_key(columns[i], types[i]) and i != across]
    return numbers[:1] if keys else numbers[:MOST_SERIES]


def _by(
    columns: Sequence[str],
    types: Sequence[str],
    asked: Chart,
    across: int | None,
    values: Sequence[int],
    keys: Sequence[int],
) -> list[int]:
    """The columns whose values have a line each."""
    if asked.by:
        return [_column(asked.by, columns)]
    if len(values) > 1:
        return []
    return [i for i in range(len(columns)) if i != across and (i in keys or _is_key(columns[i], types[i]))]


def _is_key(name: str, kind: str) -> bool:
    return name not in WINDOW_COLUMNS and not is_number(kind) and not _is_time(kind)


def _column(name: str, columns: Sequence[str]) -> int:
    lower = [column.lower() for column in columns]
    if name.lower() not in lower:
        raise BindError(f"there is no column {name} to draw", hint=did_you_mean(name, columns, otherwise="columns: "))
    return lower.index(name.lower())


def _is_time(kind: str) -> bool:
    return is_time(found := of_spark(kind)) or found == DATE


def _at(value: object) -> float:
    """The position of a time, in seconds; other values are spaced evenly."""
    return micros_of(value) / 1e6 if isinstance(value, date | FarTime) else 0.0


def _label(value: object) -> str:
    return visible("NULL" if value is None else str(value))


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
    plot.xticks(ticks, _clocks(ticks))
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
    shown = _clocks([order[label] for label in labels]) if times else [label[:LABEL] for label in labels]
    step = max(1, -(-len(labels) * (max(map(len, shown)) + 2) // max(1, size.width - 10)))
    plot.xticks(numbers[::step], shown[::step])
    return _built(plot, size), notes


def _plot(title: str, size: Size) -> Any:
    try:
        import plotext  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise DataError("charts need the Python package plotext", hint="pip install 'tvfsql[shell]'") from None
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


def _clocks(seconds: Sequence[float]) -> list[str]:
    """The times in the shortest form in which they still differ."""
    found = [wall_time(round(each * 1e6)) for each in seconds]
    times = [each for each in found if isinstance(each, datetime)]
    if len(times) < len(found):
        return [str(each)[:LABEL] for each in found]
    same_day = len({each.date() for each in times}) == 1
    if all(each.hour == each.minute == each.second == 0 for each in times) and not same_day:
        return [f"{each:%Y-%m-%d}" for each in times]
    clock = "%H:%M:%S" if any(each.second for each in times) else "%H:%M"
    return [each.strftime(clock if same_day else f"%m-%d {clock}") for each in times]
