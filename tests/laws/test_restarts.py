"""Random streams through Spark, cut into micro-batches and restarted anywhere: the rows of batch, and of the model."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.models.random_streams import BATCHES, COLUMNS, CUMULATE, HOP, TUMBLE, random_batches, shown
from tests.models.streams import Event, Model, Out, ms
from tests.support.bids import create_table, write_files
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.plan.window import Sliced
from tvfsql.runtime import stream
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


STREAMS = [(HOP, True), (CUMULATE, True), (TUMBLE, True), (HOP, False)]  # with late rows or without


@pytest.mark.spark
@pytest.mark.soak
def test_cuts_and_restarts_change_no_row(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Key groups and shuffle partitions as drawn; after a restart Spark keeps to the partitions of the checkpoint."""
    before: Any = spark.conf.get("spark.sql.shuffle.partitions")
    local_slices = stream.local_slices
    for seed, ((query, window), late) in enumerate(STREAMS * 10 if SOAK else STREAMS[::3]):
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
            session = Session(spark, mode="streaming", checkpoint=folder / "checkpoint", final=upto == BATCHES)
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


@pytest.mark.spark
@pytest.mark.soak
def test_a_restart_before_each_of_many_micro_batches_changes_no_row(spark: SparkSession, tmp_path: Path) -> None:
    """Each run has the rows of one micro-batch; there are 100 of them in `make soak`. A run without rows adds none."""
    query, window = HOP
    batches = random_batches(random.Random(1), late=True, batches=100 if SOAK else 3, rows=12)
    rows: Counter[Out] = Counter()
    dropped = 0
    for number in range(1, len(batches) + 1):
        write_files(tmp_path / "in", [[shown(event) for event in batch] for batch in batches[:number]])
        for again in (False, True) if number % 20 == 3 else (False,):
            session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=number == len(batches))
            create_table(session, "bid", COLUMNS, tmp_path / "in")
            found = Counter(map(plain, session.sql(query).collect()))
            assert not (again and found)
            rows += found
            dropped += session.counts["numLateRecordsDropped"]
    assert (rows, dropped) == model_rows(window, batches)


def model_rows(window: Sliced, batches: list[list[Event]]) -> tuple[Counter[Out], int]:
    """The rows of all windows, and how many rows of the input were late."""
    model = Model(window)
    made = [row for batch in (*batches, [Event(None, None, END_OF_INPUT)]) for row in model.batch(batch)]
    return Counter((*row, len(different), every) for *row, different, every, _ in made), model.late


def plain(row: Any) -> Out:
    item, window_start, window_end, *values, every = row
    return item, ms(window_start), ms(window_end), *values, tuple(every)
