"""Drawings as SVG text: shapes from back to front, on a background."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

INK, MUTED, GRID, GROUND = "#1f2933", "#616e7c", "#dfe3e8", "#ffffff"
ROW, WINDOW, WINDOW_EDGE = "#2059b8", "#dce8fb", "#6f9be3"
STRONG, STRONG_EDGE = "#a9c8f7", "#2059b8"
WATERMARK, PASSED = "#c2660a", "#f1f2f4"
LATE, LATE_GROUND = "#c62f2f", "#fbdcdc"
FIRE = "#1d7f56"
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"

Point = tuple[float, float]


class Canvas:
    """A drawing of `width` by `height` pixels; (0, 0) is its top left corner."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="{FONT}" role="img">',
            f"<title>{escape(title)}</title>",
        ]
        self.rect(0.5, 0.5, width - 1, height - 1, GROUND, GRID, radius=8)

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, edge: str = "none", *, radius: float = 0
    ) -> None:
        self.parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(radius)}" '
            f'fill="{fill}" stroke="{edge}"/>'
        )

    def line(self, points: Sequence[Point], color: str, width: float = 1, dash: str = "") -> None:
        at = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<polyline points="{at}" fill="none" stroke="{color}" stroke-width="{_n(width)}"'
            f' stroke-linejoin="round"{dashed}/>'
        )

    def area(self, points: Sequence[Point], fill: str) -> None:
        at = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self.parts.append(f'<polygon points="{at}" fill="{fill}"/>')

    def dot(self, x: float, y: float, color: str, *, radius: float = 6, hollow: bool = False) -> None:
        fill = GROUND if hollow else color
        self.parts.append(
            f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" fill="{fill}" stroke="{color}" stroke-width="2"/>'
        )

    def cross(self, x: float, y: float, color: str) -> None:
        for sign in (1, -1):
            self.line([(x - 5, y - 5 * sign), (x + 5, y + 5 * sign)], color, 3)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        color: str = INK,
        *,
        size: int = 13,
        anchor: str = "start",
        bold: bool = False,
        halo: str = "",
    ) -> None:
        """Text whose middle line is at `y`. `anchor` is start, middle or end; a `halo` keeps lines away from it."""
        weight = ' font-weight="600"' if bold else ""
        weight += f' paint-order="stroke" stroke="{halo}" stroke-width="5" stroke-linejoin="round"' if halo else ""
        self.parts.append(
            f'<text x="{_n(x)}" y="{_n(y)}" dy="0.35em" font-size="{size}" fill="{color}" '
            f'text-anchor="{anchor}"{weight}>{escape(text)}</text>'
        )

    def arrow(self, start: Point, end: Point, color: str, width: float = 1.5) -> None:
        """A straight arrow along one of the axes."""
        self.line([start, end], color, width)
        (x, y), (u, v) = start, end
        back = (-6 if u > x else 6 if u < x else 0, -6 if v > y else 6 if v < y else 0)
        side = (0, 4) if back[0] else (4, 0)
        self.area(
            [(u, v), (u + back[0] + side[0], v + back[1] + side[1]), (u + back[0] - side[0], v + back[1] - side[1])],
            color,
        )

    def svg(self) -> str:
        return "\n".join([*self.parts, "</svg>", ""])


class Scale:
    """Times (ms) along a line from `left` to `right` pixels."""

    def __init__(self, first: int, last: int, left: float, right: float) -> None:
        self.first, self.last, self.left, self.right = first, last, left, right

    def __call__(self, time: float) -> float:
        inside = min(max(time, self.first), self.last)
        return self.left + (inside - self.first) * (self.right - self.left) / (self.last - self.first)


MINUTE = 60_000
HOUR = 60 * MINUTE


def at(text: str) -> int:
    """`12:05` as ms of the day."""
    hours, minutes = text.split(":")
    return int(hours) * HOUR + int(minutes) * MINUTE


def arrivals(table: str) -> list[str]:
    """The times of day (`12:05`) of a table of docs/time.sql, in the order of its rows."""
    lines = Path(__file__).parents[1].joinpath(table).read_text(encoding="utf-8").splitlines()
    return [line.split(",")[0][11:16] for line in lines]


def clock(ms: int) -> str:
    """Ms as `12:05`."""
    minutes = ms // MINUTE % (24 * 60)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _n(number: float) -> str:
    """One decimal at most, so that the text is the same on every machine."""
    return f"{round(number, 1):g}"
