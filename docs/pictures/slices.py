"""Rows in slices, and the windows of HOP and CUMULATE that are merged from them."""

from __future__ import annotations

from collections import Counter

from canvas import INK, MINUTE, MUTED, ROW, STRONG, STRONG_EDGE, WINDOW, WINDOW_EDGE, Canvas, Scale, at, clock

from tvfsql.plan.window import Cumulate, Hop

ROWS = [at(text) for text in ("12:01", "12:03", "12:04", "12:08", "12:11", "12:12", "12:13", "12:18", "12:21", "12:27")]
MARKED = at("12:12")
STEP = 26


def picture() -> str:
    hop, cumulate = Hop(5 * MINUTE, 15 * MINUTE), Cumulate(5 * MINUTE, 15 * MINUTE)
    x = Scale(at("11:45"), at("12:45"), 20, 840)
    counts = Counter(hop.slice_end(row) for row in ROWS)
    ends = [sorted({end for slice_ in counts for end in window.window_ends(slice_)}) for window in (hop, cumulate)]
    canvas = Canvas(860, 236 + STEP * sum(map(len, ends)), "HOP and CUMULATE made from slices")
    for minute in range(at("11:45"), at("12:45") + 1, 5 * MINUTE):
        canvas.line([(x(minute), 52), (x(minute), 57)], MUTED)
        anchor = {at("11:45"): "start", at("12:45"): "end"}.get(minute, "middle")
        canvas.text(x(minute), 42, clock(minute), MUTED, size=12, anchor=anchor)
    canvas.text(20, 18, "Rows go into slices, and windows are computed from slices", INK, bold=True)
    canvas.text(20, 68, "rows", INK)
    for row in ROWS:
        canvas.dot(x(row), 68, ROW, hollow=row != MARKED)
    canvas.text(20, 98, "slices of 5 minutes: each row is in one, and is aggregated once", INK)
    for end, count in sorted(counts.items()):
        strong = end == hop.slice_end(MARKED)
        width = x(end) - x(end - hop.slice_size)
        canvas.rect(x(end) - width + 1.5, 112, width - 3, 26, *_colors(strong), radius=4)
        canvas.text(x(end) - width / 2, 125, str(count), anchor="middle", bold=strong)
    y = 166.0
    for window, of in ((hop, ends[0]), (cumulate, ends[1])):
        canvas.text(20, y, _title(window), INK)
        y += 24
        for end in of:
            _bar(canvas, x, y, window, end, counts)
            y += STEP
        y += 20
    return canvas.svg()


def _bar(canvas: Canvas, x: Scale, y: float, window: Hop | Cumulate, end: int, counts: Counter[int]) -> None:
    """A window, over the counts of its slices."""
    start = window.window_start(end)
    slices = range(start + window.slice_size, end + 1, window.slice_size)
    strong = window.slice_end(MARKED) in slices
    canvas.rect(x(start) + 1.5, y - 10, x(end) - x(start) - 3, 20, *_colors(strong), radius=4)
    for slice_ in slices:
        middle = (x(slice_) + x(slice_ - window.slice_size)) / 2
        canvas.text(middle, y, str(counts[slice_] or "–"), INK if counts[slice_] else MUTED, size=12, anchor="middle")
    total = sum(counts[slice_] for slice_ in slices)
    canvas.text(x(end) + 8, y, f"= {total}", INK, size=12, bold=True)


def _title(window: Hop | Cumulate) -> str:
    name = "HOP, a window of 15 minutes every 5" if isinstance(window, Hop) else "CUMULATE, steps of 5 minutes up to 15"
    return f"{name}: each is the sum of its slices"


def _colors(strong: bool) -> tuple[str, str]:
    return (STRONG, STRONG_EDGE) if strong else (WINDOW, WINDOW_EDGE)
