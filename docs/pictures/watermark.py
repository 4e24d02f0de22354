"""Rows in order of arrival over event time, the watermark that follows them, and the windows that it closes."""

from __future__ import annotations

from dataclasses import dataclass, field

from canvas import (
    FIRE,
    GROUND,
    INK,
    LATE,
    MINUTE,
    MUTED,
    ROW,
    WATERMARK,
    WINDOW,
    WINDOW_EDGE,
    Canvas,
    Scale,
    arrivals,
    at,
    clock,
)

from tvfsql.plan.window import Tumble

WINDOWS = Tumble(10 * MINUTE)
DELAY = 3 * MINUTE
ARRIVALS = arrivals("visit.csv")
STEP, TOP = 34, 118


@dataclass
class Replay:
    """Processes rows one by one, like a stream with `on-event` watermarks. Source: semantics.md#late-rows."""

    watermark: int = -(2**62)
    counts: dict[int, int] = field(default_factory=dict)  # by the ends of open windows

    def take(self, ts: int) -> tuple[str, list[tuple[int, int]]]:
        """Return the state of a row (late, behind or fine), and the windows that it fires: their ends and counts."""
        end = WINDOWS.slice_end(ts)
        fate = "late" if end - 1 <= self.watermark else "behind" if ts <= self.watermark else "fine"
        if fate != "late":
            self.counts[end] = self.counts.get(end, 0) + 1
        return fate, self.advance(ts - DELAY)

    def advance(self, watermark: int) -> list[tuple[int, int]]:
        self.watermark = max(self.watermark, watermark)
        due = sorted(end for end in self.counts if end - 1 <= self.watermark)
        return [(end, self.counts.pop(end)) for end in due]


def picture() -> str:
    first, last = at("12:00"), at("12:30")
    canvas = Canvas(860, TOP + (len(ARRIVALS) + 1) * STEP + 8, "Rows, their watermark, and the windows that it closes")
    x = Scale(first, last, 110, 836)
    rows = [at(text) for text in ARRIVALS]
    ys = [TOP + i * STEP for i in range(len(rows) + 1)]
    replay = Replay()
    taken = [(ts, y, *replay.take(ts), replay.watermark) for ts, y in zip(rows, ys, strict=False)]
    taken.append((None, ys[-1], "end", replay.advance(2**62), last))
    fired = {end: (y, count) for _, y, _, fires, _ in taken for end, count in fires}

    _axes(canvas, x, ys)
    for end, (y, _) in fired.items():
        left, right = x(WINDOWS.window_start(end)), x(end)
        canvas.rect(left + 2, 62, right - left - 4, y + 26 - 62, WINDOW, WINDOW_EDGE, radius=5)
    for ts, y, fate, _, _ in taken:
        if ts is not None:
            canvas.line([(110, y), (x(ts), y)], LATE if fate == "late" else WINDOW_EDGE, 1, "2 3")
    _watermark(canvas, x, taken)
    for minute in range(first, last + 1, 5 * MINUTE):
        canvas.line([(x(minute), 56), (x(minute), 62)], MUTED)
        canvas.text(x(minute), 46, clock(minute), MUTED, size=12, anchor="middle")
    for end, (y, count) in fired.items():
        middle = (x(WINDOWS.window_start(end)) + x(end)) / 2
        canvas.text(middle, 78, f"window {clock(WINDOWS.window_start(end))} – {clock(end)}", anchor="middle", size=12)
        rows_text = f"fires: {count} row{'s' if count != 1 else ''}"
        canvas.text(middle, y + 14, rows_text, FIRE, anchor="middle", bold=True)
    for ts, y, fate, _, _ in taken:
        if ts is not None:
            _row(canvas, x, ts, y, fate)
    return canvas.svg()


def _axes(canvas: Canvas, x: Scale, ys: list[int]) -> None:
    canvas.text(16, 22, "TUMBLE of 10 minutes, WATERMARK FOR ts AS ts - INTERVAL '3' MINUTE", INK, bold=True)
    canvas.text(836, 22, "event time →", MUTED, size=12, anchor="end")
    canvas.text(16, 78, "arrives", MUTED, size=12)
    canvas.arrow((26, 90), (26, ys[-1] + 8), MUTED)
    for text, y in zip((*ARRIVALS, "end"), ys, strict=True):
        canvas.text(44, y, text, MUTED if text == "end" else INK, size=12)


def _watermark(canvas: Canvas, x: Scale, taken: list) -> None:
    """A staircase: at each row the watermark moves to the right, or stays."""
    points, before = [], None
    for _, y, fate, _, watermark in taken:
        if before is not None:
            points.append((x(before), y))
        points.append((836 if fate == "end" else x(watermark), y))
        before = watermark
    canvas.line(points, WATERMARK, 3)
    canvas.text(points[5][0] + 8, points[5][1] - 17, "watermark", WATERMARK, size=12, bold=True)
    end = "end of the input: the watermark goes to the maximum"
    canvas.text(points[-2][0] - 10, taken[-1][1] + 5, end, WATERMARK, size=12, anchor="end")


def _row(canvas: Canvas, x: Scale, ts: int, y: float, fate: str) -> None:
    if fate == "late":
        canvas.cross(x(ts), y, LATE)
        canvas.text(x(ts) - 14, y, "late: its window has fired", LATE, size=12, anchor="end", halo=GROUND)
        return
    canvas.dot(x(ts), y, ROW)
    if fate == "behind":
        left = x(WINDOWS.window_start(WINDOWS.slice_end(ts))) - 8
        canvas.text(left, y, "behind, but its window is open", ROW, size=12, anchor="end", halo=GROUND)
