"""A window that fires early, on time and late: what it emits at each time, as changes and as increments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from canvas import (
    FIRE,
    GRID,
    INK,
    LATE,
    MINUTE,
    MUTED,
    PASSED,
    ROW,
    STRONG,
    STRONG_EDGE,
    WINDOW,
    WINDOW_EDGE,
    Canvas,
    Scale,
    at,
    clock,
)

from tvfsql.plan.stream import Firing, StreamContext
from tvfsql.plan.tables.internal_columns import OP
from tvfsql.plan.values.times import duration
from tvfsql.plan.window import Tumble
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.state.chunk_store import ChunkKey, Index
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.windows.slicing_operator import SlicingOperator

WINDOW_SHOWN = Tumble(10 * MINUTE)
END = at("12:10")
DELAY = 1 * MINUTE
EARLY, LATE_DELAY, LATENESS = 3 * MINUTE, 2 * MINUTE, 5 * MINUTE
# when a row comes, and its time
ROWS = {
    "12:01": "12:00",
    "12:02": "12:01",
    "12:05": "12:04",
    "12:07": "12:06",
    "12:10": "12:09",
    "12:12": "12:11",
    "12:13": "12:06",
    "12:14": "12:08",
    "12:17": "12:16",
    "12:18": "12:05",
}
LAYOUT = SliceRows(0, (("rows", "sum"),))


class Memory:
    """State in a dictionary."""

    def __init__(self) -> None:
        self.kept: Index | None = None
        self.chunks: dict[ChunkKey, bytes] = {}
        self.index, self.chunk = (lambda: self.kept), self.chunks.__getitem__
        self.set_chunk, self.remove_chunk = self.chunks.__setitem__, self.chunks.__delitem__

    def set_index(self, index: Index) -> None:
        self.kept = index


def replay(purge: bool) -> Iterator[tuple[int, int, int | None, list[tuple[str, int]]]]:
    """One micro-batch per minute: its time, the number of late rows so far, the watermark, and the rows that the window
    emits.
    """
    state, late = Memory(), 0
    firing = Firing(early=EARLY, late=LATE_DELAY, lateness=LATENESS, purge=purge)
    operator = SlicingOperator(WINDOW_SHOWN, LAYOUT, "rows", StreamContext(firing=firing))
    for now in range(at("12:00"), at("12:20"), MINUTE):
        windows = operator.open(state, None, now)
        emitted: list[Any] = []
        row = ROWS.get(clock(now))
        if row is not None:
            numbers = Span(WINDOW_SHOWN).numbers(pa.array([at(row)]).to_numpy()) + 1
            windows.add([LAYOUT.batch([], numbers, [pa.array([1])])])
            emitted += windows.advance([("", at(row) - DELAY)])
        emitted += windows.finish()
        windows.flush()
        late += windows.counts.late
        changes = [made for message in emitted for made in operator.unpack(message)]
        yield now, late, windows.watermark, [change for made in changes for change in _changes(made, purge)]


def _changes(made: pa.RecordBatch, purge: bool) -> Iterator[tuple[str, int]]:
    ops = made.column(OP).to_pylist() if not purge else [""] * made.num_rows
    ends = made.column("window_end").cast(pa.int64()).to_pylist()
    for op, end, rows in zip(ops, ends, made.column("rows").to_pylist(), strict=True):
        if end // 1000 == END:
            yield op, rows


def picture() -> str:
    canvas = Canvas(860, 372, "A window that fires early, on time, and late")
    x = Scale(at("12:00"), at("12:20"), 130, 836)
    canvas.text(16, 20, "The window of a TUMBLE from 12:00 to 12:10", INK, bold=True)
    delays = zip(("early", "late"), (EARLY, LATE_DELAY), strict=True)
    settings = [*(f"{name}-fire.delay {duration(delay)}" for name, delay in delays), f"lateness {duration(LATENESS)}"]
    canvas.text(836, 20, ", ".join(settings), MUTED, size=12, anchor="end")
    for text, y in (("clock", 42), ("rows arrive", 86), ("with times", 106)):
        canvas.text(16, y, text, MUTED, size=12)
    for ms in range(at("12:00"), at("12:20") + 1, 2 * MINUTE):
        canvas.line([(x(ms), 52), (x(ms), 58)], MUTED)
        canvas.text(x(ms), 42, clock(ms), MUTED, size=12, anchor="middle")
    for text, y in (("the window", 150), ("accumulate", 240), ("purge", 324)):
        canvas.text(16, y, text, INK, bold=True)
    accumulated, purged = list(replay(False)), list(replay(True))
    _phases(canvas, x, accumulated)
    _rows(canvas, x, accumulated)
    for steps, y in ((accumulated, 240), (purged, 324)):
        canvas.line([(130, y), (836, y)], GRID)
        for now, _, watermark, changes in steps:
            if changes:
                _fire(canvas, x(now), y, _when(now, watermark, steps), changes)
    return canvas.svg()


def _phases(canvas: Canvas, x: Scale, steps: list) -> None:
    """The times until which the window is open, accepts late rows, and is closed."""
    ended = next(now for now, _, watermark, _ in steps if watermark is not None and watermark >= END - 1)
    closed = next(now for now, _, watermark, _ in steps if watermark is not None and watermark >= END - 1 + LATENESS)
    spans = (
        (at("12:00"), ended, "open", STRONG, STRONG_EDGE),
        (ended, closed, "accepts late rows", WINDOW, WINDOW_EDGE),
        (closed, at("12:20"), "closed", PASSED, GRID),
    )
    for first, last, text, fill, edge in spans:
        canvas.rect(x(first) + 1, 136, x(last) - x(first) - 2, 28, fill, edge, radius=4)
        canvas.text((x(first) + x(last)) / 2, 150, text, INK if fill != PASSED else MUTED, anchor="middle")
    for now, text in ((ended, "watermark 12:10"), (closed, "watermark 12:15")):
        canvas.text(x(now), 178, text, MUTED, size=11, anchor="middle")


def _rows(canvas: Canvas, x: Scale, steps: list) -> None:
    before = 0
    for now, late, _, _ in steps:
        row = ROWS.get(clock(now))
        if row is not None and late > before:
            canvas.cross(x(now), 86, LATE)
            canvas.text(x(now), 106, row, LATE, size=11, anchor="middle")
            canvas.text(x(now) + 10, 86, "late", LATE, size=12)
        elif row is not None:
            mine = WINDOW_SHOWN.slice_end(at(row)) == END
            canvas.dot(x(now), 86, ROW if mine else MUTED, hollow=not mine)
            canvas.text(x(now), 106, row, INK if mine else MUTED, size=11, anchor="middle")
        before = late


def _when(now: int, watermark: int | None, steps: list) -> str:
    if watermark is None or watermark < END - 1:
        return "early"
    ended = next(each for each, _, reached, _ in steps if reached is not None and reached >= END - 1)
    return "on time" if now == ended else "late"


def _fire(canvas: Canvas, x: float, y: float, when: str, changes: list[tuple[str, int]]) -> None:
    canvas.rect(x - 30, y - 24, 60, 48, "#ffffff", FIRE if when == "on time" else STRONG_EDGE, radius=5)
    canvas.text(x, y - 34, when, FIRE if when == "on time" else MUTED, size=12, anchor="middle", bold=when == "on time")
    middle = y - 9 * (len(changes) - 1)
    for i, (op, rows) in enumerate(changes):
        color = LATE if op == "-U" else INK
        canvas.text(x, middle + 18 * i, f"{op} {rows}" if op else f"{rows} more", color, anchor="middle")
