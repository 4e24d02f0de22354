"""Triggers: micro-batches that happen because it is time, from the driver's clock to the operators.

Source: semantics.md#processing-time.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from tests.models.streams import EMITTED, LAYOUT, Event, operator, source
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL
from tvfsql.plan.window import Tumble
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.in_process import Triggers
from tvfsql.runtime.stream.driver.running import StreamDriver
from tvfsql.runtime.stream.driver.stream import Stream
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.exchange.local_windows import LocalSlices
from tvfsql.runtime.stream.operator.micro_batch import by_seq
from tvfsql.runtime.stream.operator.operator import OperatorShell, Unpack
from tvfsql.runtime.stream.progress.counts import StreamCounts, due
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT, trigger
from tvfsql.runtime.stream.time.valve import TRIGGER

LABELS = key_group_labels(3)
A_TRIGGER = Event(None, None, TRIGGER)


def test_a_tick_is_wanted_once_when_what_is_due_has_come() -> None:
    triggers = Triggers()
    assert not triggers.wanted(None, 0, now=10_000)
    assert [triggers.wanted(5000, 0, now) for now in (4999, 5000, 5001, 9000)] == [False, True, False, False]
    assert not triggers.wanted(7000, 1, now=6999)  # its micro-batch
    assert [triggers.wanted(7000, 1, now) for now in (7000, 7001)] == [True, False]


UNCOUNTED = {"numOutputRows": -1}


def test_what_is_due_is_the_first_of_all_operators_as_of_their_last_call() -> None:
    counts = StreamCounts()

    def told(**due: int | None) -> int | None:
        metrics = {name: Row(watermark=1, due=at) if at is not None else Row(watermark=1) for name, at in due.items()}
        report = {"batchId": 0, "sources": [], "sink": UNCOUNTED, "observedMetrics": metrics}
        counts.take(report, LocalPlace(Path("control")))
        return globals()["due"]([counts])

    assert due([counts]) is None
    assert told(tvfsql=7000, tvfsql_2=5000) == 5000
    assert told(tvfsql=9000) == 5000  # the other one was not called
    assert told(tvfsql_2=None) == 9000


class Query:
    """What a query tells of itself: a micro-batch that has ended."""

    def __init__(self, number: int, due: int, active: bool = False) -> None:
        self.status = {"message": "Waiting for next trigger", "isTriggerActive": active, "isDataAvailable": False}
        self.lastProgress = {"batchId": number, "durationMs": {"addBatch": 1}, "sources": [], "sink": UNCOUNTED}
        self.lastProgress["observedMetrics"] = {"tvfsql": Row(due=due)}
        self.recentProgress = [self.lastProgress]


@pytest.mark.parametrize(("endless", "ticks"), [(True, 2), (False, 0)])
def test_a_stream_without_end_ticks_when_it_is_time_and_nothing_is_at_work(
    endless: bool, ticks: int, tmp_path: Path
) -> None:
    run: Any = StreamDriver(SimpleNamespace(), Stream(lambda: None, endless=endless))  # type: ignore[arg-type, return-value]
    far = 10**15
    for query in (Query(0, far), Query(1, 1, active=True), Query(1, 1), Query(1, 1), Query(2, far), Query(3, 1)):
        run._look(query, LocalPlace(tmp_path))
    said = [json.loads(file.read_text()) for file in tmp_path.glob("*.json")]
    assert said == [{CONTROL: TRIGGER}] * ticks


def test_a_tick_reaches_every_key_group_and_moves_no_watermark(tmp_path: Path) -> None:
    trigger(LocalPlace(tmp_path))
    (file,) = tmp_path.glob("*.json")
    assert json.loads(file.read_text()) == {CONTROL: TRIGGER}
    for on_event, zone in ((False, ""), (True, ""), (False, "Europe/Paris")):
        local = LocalPhase(LocalSlices(LAYOUT, Tumble(1000)), LABELS, on_event, zone)
        numbers = [None] if on_event else None
        out = [row for batch in local([source([A_TRIGGER], LABELS, numbers)]) for row in batch.to_pylist()]
        assert sorted(row["key_group"] for row in out) == sorted(LABELS)
        assert [[*by_seq([row])] for row in out] == [[([], [])]] * 3
    assert [*local([source([], LABELS)])] == []


def test_an_operator_that_is_called_calls_those_above() -> None:
    """Also before it has a watermark, which it then hands on."""
    (label,) = key_group_labels(1)
    above = operator(Tumble(1000), StreamContext(marks=True))
    tester = TwsTester(OperatorShell(above, Description("GlobalWindowAggregate", ("key",), Tumble(1000))))
    unpack = Unpack(above, pa.schema([(CONTROL, pa.int64()), (CHANNEL, pa.string())]))
    emitted = []
    end = Event(None, None, END_OF_INPUT)
    for event in (A_TRIGGER, Event("a", 500, None), A_TRIGGER, Event("a", 600, 700), A_TRIGGER, end):
        sent = LocalPhase(LocalSlices(LAYOUT, Tumble(1000)), (label,))([source([event], (label,))])
        rows = [Row(**row, now=0) for batch in sent for row in batch.to_pylist()]
        reports = [row.asDict(recursive=True) for row in tester.test(label, rows) if row.kind == "Report"]
        for batch in pa.Table.from_pylist(reports, schema=EMITTED).to_batches():
            emitted += [row[CONTROL] for made in unpack(iter([batch])) for row in made.to_pylist()]
    assert emitted == [TRIGGER, TRIGGER, TRIGGER, 700, 700, END_OF_INPUT]
