"""The lines or bars of a chart: a number per window over time, one line or kind of bars per key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from tvfsql.errors import BindError, did_you_mean
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.plan.values.times import FarTime, micros_of, wall_time
from tvfsql.plan.values.types import DATE, is_time
from tvfsql.runtime.host.row_formats import is_integer, is_number, visible

LINES, BARS = "lines", "bars"
KINDS = (LINES, BARS)
BY = "by"
MOST_SERIES = 6  # more would not be distinguishable
LABEL = 16  # the most characters of a tick label

Point = tuple[float, float]


@dataclass(frozen=True)
class Chart:
    r"""The arguments of `\chart`: `values` and `by` are columns; () and "" let the chart choose."""

    kind: str = ""
    values: tuple[str, ...] = ()
    by: str = ""


@dataclass(frozen=True)
class Rows:
    """The points of a chart: `series` has the place and the value at each label, `order` the place of each label.
    `times`: places are times, in seconds. `notes` say what is left out.
    """

    title: str
    series: dict[str, dict[str, Point]]
    order: dict[str, float]
    kind: str
    times: bool
    notes: tuple[str, ...] = ()


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


def series_of(columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]], asked: Chart) -> Rows:
    """What a chart of rows draws; without series if no row has a value. Raises BindError if the rows have nothing to
    draw, if a column does not exist, or if a line has several values at one place.
    """
    across = _across(columns, types, rows, asked)
    numbers = _numeric_keys(columns, types, rows, asked, across)
    values = _values(columns, types, asked, across, numbers)
    by = _by(columns, types, asked, across, values, numbers)
    times = across is not None and _is_time(types[across])
    rows = rows if across is None or not times else sorted(rows, key=lambda row: _at(row[across]))
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
    shown = sorted(series, key=lambda name: -sum(abs(y) for _, y in series[name].values()))[:MOST_SERIES]
    notes = (f"{len(series) - len(shown)} more of {len(series)} are not shown",) if len(shown) < len(series) else ()
    kept = {name: series[name] for name in sorted(shown, key=_in_order if by else [*series].index)}
    title = ", ".join(columns[value] for value in values)
    title += f" by {', '.join(columns[key] for key in by)}" if by else ""
    order = dict(zip(labels, places, strict=True))
    bars = asked.kind == BARS or (across is not None and not times)  # a line needs places
    return Rows(title, kept, order, BARS if bars else LINES, times, notes)


def _in_order(name: str) -> list[tuple[int, int, str]]:
    """A key by which 9 comes before 10."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name)]


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


def clocks(seconds: Sequence[float]) -> list[str]:
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
