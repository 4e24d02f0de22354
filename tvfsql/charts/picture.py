"""A chart as a picture: an SVG without scripts and styles, in the text colour of what is around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Any

from tvfsql.charts.series import BARS, Chart, Point, Rows, clocks, series_of

WIDE, HIGH = 760, 300  # pixels
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 48, 30  # around what is drawn
TICKS, LETTER = 5, 7  # lines across the values; the width of a letter
DOTS = 60  # more points of a line have no dot of their own
# Colours that people who see few colours can tell apart, after Okabe and Ito.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9")

_TEXT = 'font-size="12" fill="currentColor"'
_GRID = 'stroke="currentColor" stroke-opacity=".15"'


def chart_picture(columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]], asked: Chart) -> str:
    """The chart as HTML. Names in it are escaped. Raises BindError as `series_of` does."""
    if not rows:
        return "<p>no rows yet</p>"
    found = series_of(columns, types, rows, asked)
    return _picture(found) if found.series else "<p>no values yet</p>"


def _picture(rows: Rows) -> str:
    drawn = _Bars(rows) if rows.kind == BARS else _Lines(rows)
    parts = [*_legend(rows), *drawn.values_axis(), *drawn.ticks(), *drawn.shapes()]
    notes = "".join(f"<div><small>{escape(note)}</small></div>" for note in (*rows.notes, *drawn.notes))
    label = escape(f"chart of {rows.title}: {', '.join(rows.series)}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" viewBox="0 0 {WIDE} {HIGH}" '
        f'width="{WIDE}" style="max-width:100%" font-family="system-ui, sans-serif">{"".join(parts)}</svg>{notes}'
    )


class _Drawn:
    """What lines and bars share: where a value stands."""

    notes: tuple[str, ...] = ()

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        values = [value for points in rows.series.values() for _, value in points.values()]
        zero = [0.0] if self.from_zero(values) else []
        self.steps = _steps(min([*values, *zero]), max([*values, *zero]))

    def from_zero(self, values: Sequence[float]) -> bool:
        """Whether the axis begins at 0: unless the values are close together and far from it."""
        low, high = min(values), max(values)
        return low <= 0 or high - low > low / 2

    def y(self, value: float) -> float:
        low, high = self.steps[0], self.steps[-1]
        return HIGH - BOTTOM - (value - low) / (high - low) * (HIGH - BOTTOM - TOP)

    def values_axis(self) -> Iterator[str]:
        for step in self.steps:
            y = self.y(step)
            yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDE - RIGHT}" y2="{y:.1f}" {_GRID}/>'
            yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" {_TEXT}>{_number(step)}</text>'

    def below(self, places: Sequence[tuple[float, str]]) -> Iterator[str]:
        """Labels below the chart, as many as there is room for."""
        room = max((len(label) for _, label in places), default=1) * LETTER + 12
        every = max(1, ceil(len(places) * room / (WIDE - LEFT - RIGHT)))
        for x, label in places[::every]:
            yield f'<text x="{x:.1f}" y="{HIGH - 10}" text-anchor="middle" {_TEXT}>{escape(label)}</text>'

    def ticks(self) -> Iterator[str]:
        raise NotImplementedError

    def shapes(self) -> Iterator[str]:
        raise NotImplementedError


class _Lines(_Drawn):
    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self.places = sorted({*rows.order.values()})

    def x(self, place: float) -> float:
        low, high = self.places[0], self.places[-1]
        part = 0.5 if high == low else (place - low) / (high - low)
        return LEFT + 12 + part * (WIDE - LEFT - RIGHT - 40)

    def ticks(self) -> Iterator[str]:
        labels = clocks(self.places) if self.rows.times else [f"{place:g}" for place in self.places]
        return self.below([*zip(map(self.x, self.places), labels, strict=True)])

    def shapes(self) -> Iterator[str]:
        for at, (name, points) in enumerate(self.rows.series.items()):
            colour = COLOURS[at % len(COLOURS)]
            inorder = sorted(points.items(), key=lambda point: point[1])
            path = " L".join(f"{self.x(place):.1f} {self.y(value):.1f}" for _, (place, value) in inorder)
            yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>'
            if len(inorder) <= DOTS:
                yield from (self._dot(name, label, point, colour) for label, point in inorder)

    def _dot(self, name: str, label: str, point: Point, colour: str) -> str:
        place, value = point
        title = escape(f"{name}, {label}: {value:,.10g}")
        x, y = self.x(place), self.y(value)
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{title}</title></circle>'


class _Bars(_Drawn):
    MOST = 60  # groups of bars

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        labels = [label for label in rows.order if any(label in points for points in rows.series.values())]
        self.labels = labels[-self.MOST :]
        if len(labels) > self.MOST:
            self.notes = (f"the last {self.MOST} of {len(labels)}",)
        self.room = (WIDE - LEFT - RIGHT) / len(self.labels)

    def from_zero(self, values: Sequence[float]) -> bool:
        return True

    def ticks(self) -> Iterator[str]:
        names = clocks([self.rows.order[label] for label in self.labels]) if self.rows.times else self.labels
        return self.below([(LEFT + (i + 0.5) * self.room, name[:24]) for i, name in enumerate(names)])

    def shapes(self) -> Iterator[str]:
        wide = self.room * 0.8 / len(self.rows.series)
        for at, (name, points) in enumerate(self.rows.series.items()):
            for i, label in enumerate(self.labels):
                if label not in points:
                    continue
                _, value = points[label]
                top, bottom = sorted((self.y(value), self.y(0)))
                x = LEFT + i * self.room + self.room * 0.1 + at * wide
                title = escape(f"{name}, {label}: {value:,.10g}")
                yield (
                    f'<rect x="{x:.1f}" y="{top:.1f}" width="{max(wide - 1, 0.5):.1f}" height="{bottom - top:.1f}" '
                    f'fill="{COLOURS[at % len(COLOURS)]}"><title>{title}</title></rect>'
                )


def _legend(rows: Rows) -> Iterator[str]:
    """The title, and the colour of each line or kind of bars."""
    yield f'<text x="{LEFT}" y="16" font-size="13" font-weight="600" fill="currentColor">{escape(rows.title)}</text>'
    if len(rows.series) == 1 and next(iter(rows.series)) in rows.title:
        return
    x, room = LEFT, (WIDE - LEFT) // len(rows.series) // LETTER - 5
    for at, name in enumerate(rows.series):
        shown = name if len(name) <= room else f"{name[: room - 1]}\N{HORIZONTAL ELLIPSIS}"
        yield f'<rect x="{x}" y="26" width="12" height="12" rx="2" fill="{COLOURS[at % len(COLOURS)]}"/>'
        yield f'<text x="{x + 17}" y="36" {_TEXT}>{escape(shown)}<title>{escape(name)}</title></text>'
        x += 17 + len(shown) * LETTER + 16


def _steps(low: float, high: float) -> list[float]:
    """Round numbers from one at or below `low` to one at or above `high`."""
    if high == low:
        low, high = low - 1, high + 1
    raw = (high - low) / TICKS
    unit = 10 ** floor(log10(raw))
    step = next(each * unit for each in (1, 2, 2.5, 5, 10) if each * unit >= raw)
    first, last = floor(low / step), ceil(high / step)
    return [number * step for number in range(first, last + 1)]


def _number(value: float) -> str:
    """A number on the axis: 1,500 or 2.5M."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:,.10g}" if abs(value) >= 1 else f"{value:.4g}"
