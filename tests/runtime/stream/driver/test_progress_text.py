"""What a stream reports while it runs and at its end: counters, the progress line, and windows that stay open."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql import Row

from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.progress_text import (
    ProgressText,
    counter_lines,
    duration_text,
    open_lines,
    size_text,
)
from tvfsql.runtime.stream.progress.counts import (
    StreamCounts,
    new_reports,
    newest_window,
    open_slices,
    totals,
    watermark_text,
)
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

CONTROL = LocalPlace(Path("/checkpoint/control"))


def progress(batch: int, *, rows: int = 0, control: int = 0, ran: bool = True, **observed: dict[str, Any]) -> Any:
    sources = (("KafkaV2[Subscribe[bids]]", rows), (f"FileStreamSource[file:{CONTROL}]", control))
    return {
        "batchId": batch,
        "durationMs": {"triggerExecution": 5} | ({"addBatch": 3} if ran else {}),
        "sources": [{"description": description, "numInputRows": count} for description, count in sources],
        "sink": {"description": "ForeachBatchSink", "numOutputRows": -1},
        "observedMetrics": {name: Row(**metrics) for name, metrics in observed.items()},
    }


def test_what_micro_batches_did_is_added_and_what_is_held_is_as_of_the_last() -> None:
    one, other = StreamCounts(), StreamCounts()
    one.take(
        progress(
            0,
            rows=10,
            control=1,
            tvfsql={"numLateRecordsDropped": 2, "watermark": 1000, "stateRows": 7, "stateBytes": 90, "newestWindow": 5},
            tvfsql_out={"rowsOut": 4},
            users_own={"rowsOut": 100},
        ),
        CONTROL,
    )
    held = {"watermark": 3000, "stateRows": 5, "stateBytes": 70, "newestWindow": None}
    one.take(progress(1, rows=5, tvfsql=held | {"numLateRecordsDropped": None}), CONTROL)
    assert totals([one]) == {
        "rowsIn": 15,
        "rowsOut": 4,
        "numLateRecordsDropped": 2,
        "numNullRowTimeRecordsDropped": 0,
        "numNullRowTimeRecordsSkipped": 0,
        "watermark": 3000,
        "stateRows": 5,
        "stateBytes": 70,
    }
    held = {"watermark": 2000, "stateRows": 1, "stateBytes": 9, "newestWindow": 9000}
    other.take(progress(0, rows=1, tvfsql=held), CONTROL)
    both = totals([one, other])
    assert (both["rowsIn"], both["watermark"], both["stateRows"]) == (16, 2000, 6)
    assert (newest_window([one, other]), newest_window([one]), open_slices([one, other])) == (9000, None, 0)
    assert "watermark" not in totals([StreamCounts()])


def test_each_micro_batch_is_counted_once_and_none_is_passed_over() -> None:
    def ids(recent: list[Any], seen: int | None) -> list[int]:
        query: Any = SimpleNamespace(lastProgress=recent[-1] if recent else None, recentProgress=recent)
        return [each["batchId"] for each in new_reports(query, seen)]

    idle = progress(3, ran=False)
    batches = [progress(number) for number in range(3)]
    assert ids([], None) == []
    assert ids(batches, None) == [0, 1, 2]
    assert ids(batches, 1) == [2]
    assert ids(batches, 2) == []
    assert ids([*batches, idle], 2) == []
    assert ids([*batches, idle], 1) == [2]
    assert ids([idle, progress(3), idle | {"batchId": 4}, progress(4)], 2) == [3, 4]


def test_only_reports_that_are_new_are_taken_out_of_java() -> None:
    taken = []

    class Reported:
        def __init__(self, number: int) -> None:
            self.number = number

        def batchId(self) -> int:  # Spark's name
            return self.number

        def json(self) -> str:
            taken.append(self.number)
            told = {"id": str(UUID(int=1)), "runId": str(UUID(int=2)), "name": None, "timestamp": "", "sources": []}
            told |= {"batchDuration": 5, "stateOperators": [], "sink": {"description": "Noop", "numOutputRows": -1}}
            return json.dumps(progress(self.number) | told)

    java = SimpleNamespace(recentProgress=lambda: [Reported(number) for number in range(100)])
    query: Any = SimpleNamespace(_jsq=java, lastProgress=progress(99))
    for seen, new in ((99, []), (98, [99]), (96, [97, 98, 99]), (None, [*range(100)])):
        assert [each["batchId"] for each in new_reports(query, seen)] == new
        assert sorted(taken) == (new if seen != 98 else [])  # the last one is there already
        taken.clear()


def test_the_line_tells_rates_watermark_and_state() -> None:
    counts = StreamCounts()
    running: Any = SimpleNamespace(
        counts=[counts],
        drivers=[SimpleNamespace(stream=SimpleNamespace(endless=True))],
        stopping=SimpleNamespace(is_set=lambda: False),
    )
    live = ProgressText("UTC", lambda: 65)
    assert live.text(running) is None
    held = {"watermark": 60_000, "stateRows": 12_000, "stateBytes": 3 << 20, "openSlices": 4}
    counts.take(progress(0, rows=9, tvfsql=held | {"numLateRecordsDropped": 2}), CONTROL)
    said = live.text(running)
    assert said is not None and said.startswith("in 9/s  out 0/s  watermark 1970-01-01 00:01:00.000 (lag 5.0 s)")
    assert said.endswith("4 slices open  state 12,000 rows 3.0 MiB  2 late rows dropped")
    counts.take(progress(1, rows=9, tvfsql=held | {"openSlices": 1}), CONTROL)
    assert "  1 slice open  " in (live.text(running) or "")
    running.drivers[0].stream.endless = False
    assert "lag" not in (live.text(running) or "")
    assert [size_text(size) for size in (0, 1023, 1536, 5 << 40)] == ["0 B", "1023 B", "1.5 KiB", "5.0 TiB"]
    assert [duration_text(ms) for ms in (400, 720_000, -30_000)] == ["0.4 s", "12 min", "-30.0 s"]
    assert (watermark_text(-1, ""), watermark_text(END_OF_INPUT, "Asia/Tokyo")) == (
        "1969-12-31 23:59:59.999",
        "end of input",
    )
    of_zone = StreamCounts()
    of_zone.take(progress(0, rows=1, tvfsql=held | {"zone": "Asia/Tokyo"}), CONTROL)
    assert "watermark: 1970-01-01 09:01:00.000" in counter_lines([of_zone])
    running.counts, running.drivers[0].stream.endless = [of_zone], True
    assert "watermark 1970-01-01 09:01:00.000 (lag 5.0 s)" in (live.text(running) or "")
    rates = ProgressText("UTC")
    assert [rates.rates(second, second * 100, second) for second in range(0, 41, 4)][-1] == (100, 1)


@pytest.mark.parametrize(
    ("windows", "named"),
    [
        (1, "1 window of totals/1 stays open"),
        (3, "3 windows of totals/1 stay open"),
        (101, "more than 100 windows of totals/1 stay open"),
        (None, "the windows of totals/1 stay open"),  # sessions belong to keys
    ],
)
def test_the_end_of_a_run_says_how_many_windows_are_open_and_until_when(windows: int | None, named: str) -> None:
    counts = StreamCounts()
    counts.latest["tvfsql_0"] = {"newestWindow": 1_586_938_800_000, "stateRows": 7}
    counts.latest["tvfsql_0"] |= {} if windows is None else {"openWindows": windows}
    stream = SimpleNamespace(leaves_open=True, checkpoint="totals/1")
    running: Any = SimpleNamespace(drivers=[SimpleNamespace(stream=stream, counts=counts)])
    assert open_lines(running) == [
        f"open: {named} until 2020-04-15 08:20:00.000, with 7 rows in state; the next run goes on, --final emits them"
    ]
