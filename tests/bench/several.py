"""Four windows over one table: in one pass, apart, each of them alone, and on streams in Flink, which has four
aggregates over one scan."""

from __future__ import annotations

import time
from collections.abc import Collection
from statistics import median

import tvfsql
from tests.bench import report, stream_engines
from tests.bench.data import Bids, StreamOfBids, in_one_file
from tests.bench.processes import cpu_seconds

RULE = "aggregate_windows_in_one_pass"
TARGET = 1.5  # times the dearest window alone
WINDOWS = {
    "TUMBLE 1 min": "TUMBLE(INTERVAL '1' MINUTE)",
    "TUMBLE 1 h": "TUMBLE(INTERVAL '1' HOUR)",
    "HOP 1 min/1 h": "HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR)",
    "CUMULATE 1 min/24 h": "CUMULATE(INTERVAL '1' MINUTE, INTERVAL '24' HOUR)",
}
FLINK = {  # the functions with a table, of which WINDOWS has but one
    title: window.replace("(", "(TABLE bid, DESCRIPTOR(ts), ", 1) for title, window in WINDOWS.items()
}
COLUMNS = "ts TIMESTAMP(3), k INT, v BIGINT, item INT, WATERMARK FOR ts AS ts"
FILES = "'connector' = 'filesystem', 'path' = '{}', 'format' = '{}'"
RESULTS = "window_start TIMESTAMP(3), window_end TIMESTAMP(3), k INT, total BIGINT, n BIGINT, top BIGINT"
MODES = {"several-batch": "batch", "several-stream": "streaming"}
SET = "several-set"
CASES = (*MODES, SET)
SHARING = "table.optimizer.reuse-sub-plan-enabled"
ONE_PASS, APART = "in one pass", "apart"


def run(bids: Bids, names: Collection[str], repeats: int) -> None:
    """Print what was found."""
    session = tvfsql.Session(mode=None)
    for name in (name for name in MODES if name in names):
        mode = MODES[name]
        files = StreamOfBids(bids.rows, bids.keys) if mode == "streaming" else bids
        report.say(
            f"\nFour windows, {mode}, {bids.rows:,} rows, {bids.keys:,} keys; medians of {repeats} after a warm-up, by"
            " turns"
        )
        ways = {ONE_PASS: (WINDOWS, ""), APART: (WINDOWS, RULE)}
        ways |= {title: ({title: window}, "") for title, window in WINDOWS.items()}
        times: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for i in range(repeats + 1):
            for way, (windows, disabled) in ways.items():
                found = _timed(session, mode, files, windows, disabled)
                if i:
                    times[way].append(found)
        seconds = {way: median(each for each, _ in found) for way, found in times.items()}
        for way, found in times.items():
            cpu = median(each for _, each in found)
            report.say(f"  {way:<22} {seconds[way]:7.2f} s, cpu {cpu:6.1f} s")
        ratio = seconds[ONE_PASS] / max(seconds[title] for title in WINDOWS)
        text = f"four windows in at most {TARGET} times the dearest alone, {mode}: {ratio:.2f}"
        report.say(report.target(f"{text}; apart {seconds[APART] / seconds[ONE_PASS]:.2f} times that", ratio <= TARGET))
        if isinstance(files, StreamOfBids):
            _flink(files, repeats)
    if SET in names:
        _set(session, StreamOfBids(bids.rows, bids.keys), repeats)
    session.spark.stop()


def _set(session: tvfsql.Session, files: Bids, repeats: int) -> None:
    """Print what a statement set takes in batch with shared slices, and with a scan for each INSERT."""
    report.say(
        f"\nA statement set of four windows, batch, CSV, {files.rows:,} rows, {files.keys:,} keys; medians of"
        f" {repeats} after a warm-up, by turns"
    )
    times: dict[str, list[tuple[float, float]]] = {"shared slices": [], "a scan for each": []}
    for i in range(repeats + 1):
        for way, found in times.items():
            one = tvfsql.Session(session.spark, mode="batch", options={SHARING: str(way == "shared slices").lower()})
            clock, cpu = time.perf_counter(), cpu_seconds()
            one.execute(";".join(_statements(files.whole())))
            if i:
                found.append((time.perf_counter() - clock, cpu_seconds() - cpu))
    for way, found in times.items():
        seconds, cpu = (median(each) for each in zip(*found, strict=True))
        report.say(f"  {way:<22} {seconds:7.2f} s, cpu {cpu:6.1f} s")


def _statements(path: str) -> tuple[str, ...]:
    """Tables and a statement set, for tvfsql and Flink."""
    inserts = (
        f"INSERT INTO nothing SELECT window_start, window_end, k, SUM(v), COUNT(*), MAX(v) FROM TABLE({window})"
        " GROUP BY window_start, window_end, k"
        for window in FLINK.values()
    )
    return (
        f"CREATE TEMPORARY TABLE bid ({COLUMNS}) WITH ({FILES.format(path, 'csv')})",
        f"CREATE TEMPORARY TABLE nothing ({RESULTS}) WITH ('connector' = 'blackhole')",
        f"EXECUTE STATEMENT SET BEGIN {'; '.join(inserts)}; END",
    )


def _flink(files: StreamOfBids, repeats: int) -> None:
    """Print what Flink takes for a statement set of the four."""
    statements = _statements(str(in_one_file(files.whole())))
    with stream_engines.flink() as peers:
        for peer in peers:
            found = []
            for _ in range(repeats + 1):
                clock, cpu = time.perf_counter(), cpu_seconds()
                peer.execute(statements)
                found.append((time.perf_counter() - clock, cpu_seconds() - cpu))
            seconds, cpu = (median(each) for each in zip(*found[1:], strict=True))
            report.say(f"  {peer.name:<22} {seconds:7.2f} s, cpu {cpu:6.1f} s")


def _timed(
    session: tvfsql.Session, mode: str, files: Bids, windows: dict[str, str], disabled: str
) -> tuple[float, float]:
    """The seconds and cpu seconds of an INSERT, from its text to the end of its input."""
    clock, cpu = time.perf_counter(), cpu_seconds()
    one = tvfsql.Session(session.spark, mode=mode, options={"tvfsql.rules.disabled": disabled} if disabled else {})
    form = "csv', 'maxFilesPerTrigger' = '1" if mode == "streaming" else "parquet"
    named = ", ".join(f"{window} AS `{title}`" for title, window in windows.items())
    one.execute(
        f"CREATE TABLE bid ({COLUMNS}) WITH ({FILES.format(files.whole(), form)});"
        f"CREATE TABLE nothing (window_name STRING, {RESULTS}) WITH ('connector' = 'blackhole');"
        "INSERT INTO nothing SELECT window_name, window_start, window_end, k, SUM(v), COUNT(*), MAX(v)"
        f" FROM WINDOWS(TABLE bid, DESCRIPTOR(ts), {named}) GROUP BY window_name, window_start, window_end, k"
    )
    return time.perf_counter() - clock, cpu_seconds() - cpu
