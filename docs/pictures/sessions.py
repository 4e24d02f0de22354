"""Sessions as rows arrive: they grow, they merge, and a row that is too late for its own session can join an open
one.
"""

from __future__ import annotations

import numpy as np
from canvas import (
    GROUND,
    INK,
    LATE,
    MINUTE,
    MUTED,
    ROW,
    STRONG,
    STRONG_EDGE,
    WATERMARK,
    WINDOW,
    WINDOW_EDGE,
    Canvas,
    Scale,
    arrivals,
    at,
    clock,
)

from tvfsql.runtime.merge.session_merge import Intervals

SESSIONS = Intervals(0, (), 10 * MINUTE)
DELAY = 15 * MINUTE
ARRIVALS = arrivals("click.csv")
SAYS = (
    "a session: from its row to 10 minutes after it",
    "arrives within the gap: the session grows",
    "arrives after the gap: another session",
    "late: its own session would have ended",
    "extends the second one; the watermark advances",
    "late alone, but it reaches an open session",
    "exactly the gap before the next one: the two merge",
)
TOP, STEP = 76, 64


def picture() -> str:
    canvas = Canvas(860, TOP + len(ARRIVALS) * STEP + 6, "Sessions that grow and merge as rows arrive")
    x = Scale(at("11:45"), at("12:40"), 100, 826)
    canvas.text(16, 20, "SESSION with a gap of 10 minutes, WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE", bold=True)
    for minute in range(at("11:45"), at("12:40") + 1, 5 * MINUTE):
        canvas.line([(x(minute), 54), (x(minute), 60)], MUTED)
        canvas.text(x(minute), 44, clock(minute), MUTED, size=12, anchor="middle")
    canvas.text(16, 44, "arrives", MUTED, size=12)
    held: list[int] = []
    watermark = -(2**62)
    for i, ts in enumerate(map(at, ARRIVALS)):
        y = TOP + i * STEP
        late = _sessions([*held, ts])[ts][1] - 1 <= watermark
        if not late:
            held.append(ts)
        watermark = max(watermark, ts - DELAY)
        if watermark > x.first:
            canvas.line([(x(watermark), y + 2), (x(watermark), y + STEP - 6)], WATERMARK, 3)
        _panel(canvas, x, y, i, ts, held, late)
    canvas.text(x(at(ARRIVALS[1]) - DELAY) + 9, TOP + STEP + 34, "watermark", WATERMARK, size=12, bold=True)
    return canvas.svg()


def _panel(canvas: Canvas, x: Scale, y: float, i: int, ts: int, held: list[int], late: bool) -> None:
    canvas.text(16, y + 34, ARRIVALS[i], INK, bold=True)
    sessions = _sessions(held)
    for start, end in sorted({*sessions.values()}):
        touched = not late and sessions[ts] == (start, end)
        colors = (STRONG, STRONG_EDGE) if touched else (WINDOW, WINDOW_EDGE)
        canvas.rect(x(start), y + 23, x(end) - x(start), 22, *colors, radius=4)
        canvas.text(x(end) - 6, y + 34, clock(end), INK, size=12, anchor="end")
    for row in held:
        canvas.dot(x(row), y + 34, ROW, hollow=row != ts)
    if late:
        canvas.cross(x(ts), y + 34, LATE)
    left, anchor = (x(ts) - 4, "start") if x(ts) < 550 else (826, "end")
    canvas.text(left, y + 11, SAYS[i], LATE if late else INK, size=12, anchor=anchor, halo=GROUND)


def _sessions(rows: list[int]) -> dict[int, tuple[int, int]]:
    """The session of each row: its start and end."""
    micros = np.sort(np.array(rows, dtype=np.int64)) * 1000
    made = SESSIONS.merged([SESSIONS.batch([], micros, micros, [])])
    windows = list(zip((SESSIONS.starts(made) // 1000).tolist(), SESSIONS.ends(made).tolist(), strict=True))
    return {row: next(window for window in windows if window[0] <= row <= window[1]) for row in rows}
