"""A curve as SVG, log-log: time on the left, memory on the right, and what linear growth would be, dashed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench.growth.curves import Curve
from tests.bench.growth.measure import Point

sys.path.append(str(Path(__file__).parents[3] / "docs" / "pictures"))  # at the end: it has modules of the same names

from canvas import FIRE, GRID, INK, MUTED, ROW, WATERMARK, Canvas

WIDTH, TOP, BOTTOM = 860, 62, 300
PANELS = ((64, 400), (500, 836))
COLORS = {"batch": ROW, "stream": FIRE}
MIB = 1 << 20
Value = Callable[[Point], float]
DOTTED = "2 3"
TIMES: tuple[tuple[Value, str], ...] = ((lambda point: point.seconds, ""), (lambda point: point.cpu, DOTTED))
MEMORY: tuple[tuple[Value, str], ...] = (
    (lambda point: point.java / MIB, ""),
    (lambda point: point.worker / MIB, DOTTED),
)
OF_TIME, OF_MEMORY = "seconds; dotted: CPU seconds; dashed: linear", "MiB at the peak: the JVM; dotted: a Python worker"


def picture(curve: Curve, points: Sequence[Point]) -> str:
    canvas = Canvas(WIDTH, BOTTOM + 62, curve.title)
    canvas.text(16, 20, curve.title, INK, bold=True)
    for i, mode in enumerate(curve.modes):
        canvas.text(PANELS[1][1] - 60 * i, 20, mode, COLORS[mode], size=12, anchor="end", bold=True)
    x = Log([point.size for point in points], *PANELS[0])
    _panel(canvas, x, points, OF_TIME, TIMES)
    _linear(canvas, x, curve, points)
    _panel(canvas, Log([point.size for point in points], *PANELS[1]), points, OF_MEMORY, MEMORY)
    for left, _ in PANELS:
        canvas.text(left, BOTTOM + 48, curve.axis, MUTED, size=12)
    return canvas.svg()


class Log:
    """Logarithms of values between two pixels; the bounds are powers of ten."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.first, self.last = first, last

    def __call__(self, value: float) -> float:
        place = (math.log10(value) - self.low) / (self.high - self.low)
        return self.first + place * (self.last - self.first)

    @property
    def ticks(self) -> list[int | float]:
        return [10**n for n in range(self.low, self.high + 1)]


def _scale(points: Sequence[Point], lines: Sequence[tuple[Value, str]]) -> Log:
    return Log([value(point) for point in points for value, _ in lines if value(point)], BOTTOM, TOP)


def _panel(canvas: Canvas, x: Log, points: Sequence[Point], title: str, lines: Sequence[tuple[Value, str]]) -> None:
    y = _scale(points, lines)
    canvas.text(x.first, 46, title, MUTED, size=12)
    for tick in y.ticks:
        canvas.line([(x.first, y(tick)), (x.last, y(tick))], GRID)
        canvas.text(x.first - 8, y(tick), f"{tick:g}" if tick < 1 else f"{tick:,}", MUTED, size=12, anchor="end")
    for tick in x.ticks:
        canvas.line([(x(tick), BOTTOM), (x(tick), BOTTOM + 5)], MUTED)
        canvas.text(x(tick), BOTTOM + 18, _short(tick), MUTED, size=12, anchor="middle")
    for mode in dict.fromkeys(point.mode for point in points):
        for value, dash in lines:
            at = [(x(point.size), y(value(point))) for point in points if point.mode == mode and value(point)]
            canvas.line(at, COLORS[mode], 2, dash)
            for each in at:
                canvas.dot(*each, COLORS[mode], radius=2)


def _linear(canvas: Canvas, x: Log, curve: Curve, points: Sequence[Point]) -> None:
    """The time of the first point if it grew with what it may grow with."""
    y = _scale(points, TIMES)
    for mode in dict.fromkeys(point.mode for point in points):
        first, *rest = [point for point in points if point.mode == mode]
        at = [(x(first.size), y(first.seconds))]
        for point in rest:
            growth = point.values / first.values if curve.by_values else point.size / first.size
            height = y(first.seconds * growth)
            if height < TOP:
                (a, b), c = at[-1], x(point.size)
                at.append((a + (c - a) * (b - TOP) / (b - height), TOP))
                break
            at.append((x(point.size), height))
        canvas.line(at, WATERMARK, 1, "6 4")


def _short(number: float) -> str:
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:g}{name}"
    return f"{number:g}"
