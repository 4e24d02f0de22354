"""The metrics of a stream in its checkpoint, as of its last micro-batch. Source: docs/streams.md#metrics.

Reading them loads no Spark: `tvfsql ps` does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import Place

FILE = "metrics.json"  # in the folder of a stream
SPAN = 60.0  # seconds over which the rate of rows is averaged
POINTS = 30  # the most of them that are kept

Point = tuple[float, float]  # the end of a micro-batch (epoch seconds), and the rows read until then


@dataclass(frozen=True)
class Kept:
    """`watermark` is in epoch seconds; None before the first watermark and after the end of the input. `seconds`: how
    long a micro-batch takes, on average.
    """

    recent: Sequence[Point]
    watermark: float | None
    late_rows: int
    seconds: float = 0.0


def kept_in(stream: Place) -> Kept | None:
    """The metrics in the folder of a stream; None if no micro-batch has told any."""
    found = sums_in(stream / FILE)
    if found is None:
        return None
    late = found.get("late_rows_dropped", 0) + found.get("late_rows_written", 0)
    recent = [(float(at), float(rows)) for at, rows in found.get("recent", ())]
    seconds = found.get("micro_batch_seconds", 0) / max(found.get("micro_batches", 0), 1)
    return Kept(recent, found.get("watermark"), int(late), seconds)


def rate(kept: Kept, now: float) -> float:
    """Rows read per second, over the last SPAN seconds."""
    within = [point for point in kept.recent if point[0] >= now - SPAN]
    if not within:
        return 0.0
    before = [point for point in kept.recent if point[0] < now - SPAN]
    at, rows = before[-1] if before else within[0]
    return (within[-1][1] - rows) / max(now - max(at, now - SPAN), 1.0)


def with_point(recent: Sequence[Point], point: Point) -> list[Point]:
    """The points that the next rates need: one before SPAN, and at most POINTS since."""
    since = next((i for i, (at, _) in enumerate(recent) if at >= point[0] - SPAN), len(recent))
    kept = [*recent[max(0, since - 1) :]]
    if len(kept) > 1 and point[0] - kept[-2][0] <= SPAN / POINTS:
        kept.pop()
    return [*kept, point]


def sums_in(file: Place) -> dict[str, Any] | None:
    """The content of the file; None if the file is missing or unreadable. Sums then start at 0."""
    try:
        found = json.loads(file.read() or "")
        return found if isinstance(found, dict) and isinstance(found.get("micro_batch"), int) else None
    except (OSError, DataError, ValueError):
        return None
