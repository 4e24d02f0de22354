"""Random streams of rows and watermarks for SQL, in micro-batches, and queries over them."""

from __future__ import annotations

import random
from typing import Any

from tests.models.streams import Event, at
from tvfsql.plan.window import Cumulate, Hop, Sliced, Tumble

BATCHES, ROWS, DISORDER = 6, 120, 9000
COLUMNS = "ts TIMESTAMP(3), mark TIMESTAMP(3), item STRING, n INT, WATERMARK FOR ts AS mark"
QUERY = """SELECT item, window_start, window_end, COUNT(*), SUM(n), MAX(n), MIN(n),
FIRST_VALUE(n), COUNT(DISTINCT n), ARRAY_AGG(n)
FROM TABLE({}(TABLE bid, DESCRIPTOR(ts), {})) GROUP BY item, window_start, window_end"""
Windowed = tuple[str, Sliced]  # a query and its window
TUMBLE: Windowed = QUERY.format("TUMBLE", "INTERVAL '7' SECOND"), Tumble(7000)
HOP: Windowed = (
    QUERY.format("HOP", "INTERVAL '2' SECOND, INTERVAL '40' SECOND, INTERVAL '1' SECOND"),
    Hop(2000, 40_000, 1000),
)
CUMULATE: Windowed = QUERY.format("CUMULATE", "INTERVAL '3' SECOND, INTERVAL '30' SECOND"), Cumulate(3000, 30_000)


def random_batches(draw: random.Random, *, late: bool, batches: int = BATCHES, rows: int = ROWS) -> list[list[Event]]:
    """Up to `rows` rows for each of the batches, up to DISORDER out of order, about every third with a watermark; with
    `late` some rows are older."""
    now = draw.randrange(-50_000, 50_000)
    made = []
    for _ in range(batches):
        events = []
        for _ in range(draw.randrange(rows // 2, rows)):
            now += draw.randrange(400)
            ts = now - draw.randrange(80_000 if late and draw.randrange(9) == 0 else DISORDER)
            mark = draw.choice([None, None, now - DISORDER])
            events.append(Event(draw.choice(["a", "b", "", None]), ts, mark, draw.randrange(50)))
        made.append(events)
    return made


def shown(event: Event) -> dict[str, Any]:
    def text(time: int | None) -> str | None:
        return None if time is None else at(time).isoformat(" ", "milliseconds")

    return {"ts": text(event.ts), "mark": text(event.watermark), "item": event.key, "n": event.value}
