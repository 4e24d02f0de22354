"""Random streams through Spark, cut into micro-batches and restarted anywhere: the rows of batch, and of the model."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bids import create_table, write_files
from streams import Event, Model, Out, at, ms

from tvfsql import Session
from tvfsql.plan.window import Cumulate, Hop, Tumble, Window
from tvfsql.runtime import stream
from tvfsql.runtime.stream.control import END_OF_INPUT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCHES, ROWS, DISORDER = 6, 120, 9000
COLUMNS = "ts TIMESTAMP(3), mark TIMESTAMP(3), item STRING, n INT, WATERMARK FOR ts AS mark"
QUERY = """SELECT item, window_start, window_end, COUNT(*), SUM(n), MAX(n), MIN(n),
FIRST_VALUE(n), COUNT(DISTINCT n), ARRAY_AGG(n)
FROM TABLE({}(TABLE bid, DESCRIPTOR(ts), {})) GROUP BY item, window_start, window_end"""
TUMBLE = QUERY.format("TUMBLE", "INTERVAL '7' SECOND"), Tumble(7000)
HOP = QUERY.format("HOP", "INTERVAL '2' SECOND, INTERVAL '40' SECOND, INTERVAL '1' SECOND"), Hop(2000, 40_000, 1000)
CUMULATE = QUERY.format("CUMULATE", "INTERVAL '3' SECOND, INTERVAL '30' SECOND"), Cumulate(3000, 30_000)


@pytest.mark.spark
def test_cuts_and_restarts_change_no_row(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Key groups and shuffle partitions as drawn; after a restart Spark keeps to the partitions of the checkpoint."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    local_slices = stream.local_slices
    for seed, ((query, window), late) in enumerate([(HOP, True), (CUMULATE, True), (TUMBLE, True), (HOP, False)]):
        draw = random.Random(seed)
        groups = partial(local_slices, key_groups=draw.randrange(1, 7))
        monkeypatch.setattr(stream, "local_slices", groups, raising=False)
        folder = tmp_path / str(seed)
        folder.mkdir()
        batches = random_batches(draw, late=late)
        rows: Counter[Out] = Counter()
        dropped = 0
        for upto in (*sorted(draw.sample(range(1, BATCHES), 2)), BATCHES):
            write_files(folder / "in", [[shown(event) for event in batch] for batch in batches[:upto]])
            spark.conf.set("spark.sql.shuffle.partitions", draw.randrange(1, 5))
            session = Session(spark, mode="streaming", checkpoint=folder / "checkpoint", flush=upto == BATCHES)
            create_table(session, "bid", COLUMNS, folder / "in")
            rows.update(map(plain, session.sql(query).collect()))
            dropped += session.counts["numLateRecordsDropped"]
        spark.conf.set("spark.sql.shuffle.partitions", before)

        expected, of_model = model_rows(window, batches)
        assert (rows, dropped) == (expected, of_model)
        assert (dropped > 0) == late
        if not late:
            session = Session(spark)
            create_table(session, "bid", COLUMNS, folder / "in")
            assert Counter(map(plain, session.sql(query).collect())) == rows


def random_batches(draw: random.Random, *, late: bool) -> list[list[Event]]:
    """Rows up to DISORDER behind, and every third or so brings a watermark; if `late`, some are further behind."""
    now = draw.randrange(-50_000, 50_000)
    batches = []
    for _ in range(BATCHES):
        events = []
        for _ in range(draw.randrange(ROWS // 2, ROWS)):
            now += draw.randrange(400)
            ts = now - draw.randrange(80_000 if late and draw.randrange(9) == 0 else DISORDER)
            mark = draw.choice([None, None, now - DISORDER])
            events.append(Event(draw.choice(["a", "b", "", None]), ts, mark, draw.randrange(50)))
        batches.append(events)
    return batches


def shown(event: Event) -> dict[str, Any]:
    def text(time: int | None) -> str | None:
        return None if time is None else at(time).isoformat(" ", "milliseconds")

    return {"ts": text(event.ts), "mark": text(event.watermark), "item": event.key, "n": event.value}


def model_rows(window: Window, batches: list[list[Event]]) -> tuple[Counter[Out], int]:
    """The rows of all windows, and how many rows of the input were late."""
    model = Model(window)
    made = [row for batch in (*batches, [Event(None, None, END_OF_INPUT)]) for row in model.batch(batch)]
    return Counter((*row, len(different), every) for *row, different, every, _ in made), model.late


def plain(row: Any) -> Out:
    item, window_start, window_end, *values, every = row
    return item, ms(window_start), ms(window_end), *values, tuple(every)
