"""The metrics of streams: sums that go on over restarts, lines of JSON, and what Prometheus scrapes."""

from __future__ import annotations

import json
import os
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import Row

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.progress.counts import StreamCounts
from tvfsql.runtime.stream.progress.metrics import Metrics, StreamMetrics, to_file
from tvfsql.runtime.stream.progress.prometheus import serve
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

CONTROL = LocalPlace(Path("/checkpoint/control"))


def progress(number: int, rows: int, **held: int) -> dict[str, Any]:
    """The report of a micro-batch of half a second that began at 100 s."""
    return {
        "batchId": number,
        "timestamp": "1970-01-01T00:01:40.000Z",
        "durationMs": {"addBatch": 1, "triggerExecution": 500},
        "sources": [{"description": "FileStreamSource[file:/in]", "numInputRows": rows}],
        "sink": {"description": "ForeachBatchSink", "numOutputRows": -1},
        "observedMetrics": {"tvfsql": Row(**held)} if held else {},
    }


def run(folder: Path | None, *reports: dict[str, Any]) -> Metrics:
    """A run of a stream, whose micro-batches report this."""
    stream, counts = StreamMetrics("totals", LocalPlace(folder) if folder else None), StreamCounts()
    for each in reports:
        counts.take(each, CONTROL)
        found = stream.take(each, counts)
    return found


HELD = {
    "numLateRecordsDropped": 2,
    "numLateRecordsAdjusted": 1,
    "watermark": 90_000,
    "stateRows": 7,
    "stateBytes": 90,
    "openSlices": 3,
}


def test_sums_go_on_over_restarts_and_what_is_held_is_as_of_the_last_micro_batch(tmp_path: Path) -> None:
    run(tmp_path, progress(0, 10), progress(1, 5, **HELD))
    found = run(tmp_path, progress(2, 4, **HELD))
    assert (found.stream, found.micro_batch, found.time) == ("totals", 2, 100.5)
    assert found.sums == {
        "rows_in": 19,
        "rows_out": 0,
        "late_rows_dropped": 4,
        "late_rows_written": 0,
        "late_rows_adjusted": 2,
        "late_versions": 0,
        "null_time_rows_dropped": 0,
        "null_time_rows_skipped": 0,
        "source_files_missing": 0,
        "dead_letters": 0,
        "micro_batches": 3,
        "micro_batch_seconds": 1.5,
        "micro_batches_unreported": 0,
    }
    assert found.latest == {
        "last_micro_batch_seconds": 0.5,
        "open_slices": 3,
        "state_rows": 7,
        "state_bytes": 90,
        "watermark": 90.0,
        "watermark_lag_seconds": 10.5,
    }


def test_a_micro_batch_that_a_kill_kept_from_being_counted_is_told(tmp_path: Path) -> None:
    run(tmp_path, progress(0, 10))
    assert run(tmp_path, progress(2, 1)).sums["micro_batches_unreported"] == 1
    assert run(tmp_path, progress(3, 1)).sums["micro_batches_unreported"] == 1


def test_without_a_checkpoint_sums_are_those_of_the_run() -> None:
    assert run(None, progress(0, 10)).sums["rows_in"] == run(None, progress(0, 10)).sums["rows_in"] == 10


@pytest.mark.parametrize("text", ["", "[]", "{", '{"rows_in": 3}'])
def test_sums_that_cannot_be_read_begin_anew(text: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text(text)
    assert run(tmp_path, progress(0, 10)).sums["rows_in"] == 10


def test_after_the_end_of_the_input_nothing_lags() -> None:
    assert "watermark" not in run(None, progress(0, 1, **HELD | {"watermark": END_OF_INPUT})).latest


def test_a_file_gets_a_line_for_each_micro_batch(tmp_path: Path) -> None:
    report = to_file(str(tmp_path / "metrics.ndjson"))
    for number in range(2):
        report(run(None, progress(number, 3, **HELD)))
    lines = [json.loads(line) for line in (tmp_path / "metrics.ndjson").read_text().splitlines()]
    assert [(line["stream"], line["rows_in"], line["open_slices"]) for line in lines] == [("totals", 3, 3)] * 2
    assert lines[0]["time"] == "1970-01-01T00:01:40.500+00:00"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_a_warning_that_names_the_file_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = to_file("/dev/full")
    for number in range(2):
        report(run(None, progress(number, 3, **HELD)))
    warned = "warning: metrics cannot be written to /dev/full: No space left on device\n"
    assert capsys.readouterr().err == warned
    (tmp_path / "metrics.json").mkdir()
    assert run(tmp_path, progress(0, 7)).sums["rows_in"] == 7
    assert f"metrics cannot be written to {tmp_path / 'metrics.json'}: " in capsys.readouterr().err


def test_a_disk_that_takes_a_part_of_a_line_keeps_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, write = tmp_path / "metrics.ndjson", os.write
    report = to_file(str(file))
    for number in range(3):
        if number == 1:
            monkeypatch.setattr("os.write", lambda to, line: write(to, line[: len(line) // 2]))
        report(run(None, progress(number, 3, **HELD)))
        monkeypatch.undo()
    assert [json.loads(line)["rows_in"] for line in file.read_text().splitlines()] == [3, 3]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9000", "127.0.0.1.evil.example", ""])
def test_prometheus_answers_requests_to_this_machine_only(host: str) -> None:
    port = serve(0, list)
    for name, status in ((host, 403), (f"localhost:{port}", 200)):
        connection = HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/metrics", headers={"Host": name})
        assert connection.getresponse().status == status
        connection.close()


def test_prometheus_scrapes_counters_and_gauges_of_every_stream() -> None:
    known = [run(None, progress(0, 3, **HELD))]
    port = serve(0, lambda: known)
    channels = ({"table": "bid", "partition": "0", "watermark_lag_seconds": 2.5}, {"table": "bid", "partition": None})
    known.append(Metrics("other", 1, 1.0, {"rows_in": 8}, {"window_delay_seconds": 4.0}, channels=channels))
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        families = [*text_string_to_metric_families(answer.read().decode())]
    found = {(sample.name, sample.labels["stream"]): sample.value for family in families for sample in family.samples}
    assert found["tvfsql_rows_in_total", "totals"] == 3
    assert found["tvfsql_rows_in_total", "other"] == 8
    assert found["tvfsql_window_delay_seconds", "other"] == 4
    (lag,) = (one for of in families for one in of.samples if one.name == "tvfsql_channel_watermark_lag_seconds")
    assert (lag.labels, lag.value) == ({"stream": "other", "table": "bid", "partition": "0"}, 2.5)
    assert found["tvfsql_watermark_lag_seconds", "totals"] == 10.5
    with pytest.raises(DataError, match=f"port {port} cannot be opened") as raised:
        serve(port, list)
    assert raised.value.hint
