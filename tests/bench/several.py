"""Four windows over one table: in one pass, apart, and each of them alone."""

from __future__ import annotations

import time
from collections.abc import Collection
from statistics import median

import tvfsql
from tests.bench import report
from tests.bench.data import Bids, StreamOfBids
from tests.bench.processes import cpu_seconds

RULE = "aggregate_windows_in_one_pass"
TARGET = 1.5  # times the dearest window alone
WINDOWS = {
    "TUMBLE 1 min": "TUMBLE(INTERVAL '1' MINUTE)",
    "TUMBLE 1 h": "TUMBLE(INTERVAL '1' HOUR)",
    "HOP 1 min/1 h": "HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR)",
    "CUMULATE 1 min/24 h": "CUMULATE(INTERVAL '1' MINUTE, INTERVAL '24' HOUR)",
}
MODES = {"several-batch": "batch", "several-stream": "streaming"}
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
    session.spark.stop()


def _timed(
    session: tvfsql.Session, mode: str, files: Bids, windows: dict[str, str], disabled: str
) -> tuple[float, float]:
    """The seconds and cpu seconds of an INSERT, from its text to the end of its input."""
    clock, cpu = time.perf_counter(), cpu_seconds()
    one = tvfsql.Session(session.spark, mode=mode, options={"tvfsql.rules.disabled": disabled} if disabled else {})
    form = "csv', 'maxFilesPerTrigger' = '1" if mode == "streaming" else "parquet"
    named = ", ".join(f"{window} AS `{title}`" for title, window in windows.items())
    one.execute(
        "CREATE TABLE bid (ts TIMESTAMP(3), k INT, v BIGINT, item INT, WATERMARK FOR ts AS ts)"
        f" WITH ('connector' = 'filesystem', 'path' = '{files.whole()}', 'format' = '{form}');"
        "CREATE TABLE nothing (window_name STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), k INT,"
        " total BIGINT, n BIGINT, top BIGINT) WITH ('connector' = 'blackhole');"
        "INSERT INTO nothing SELECT window_name, window_start, window_end, k, SUM(v), COUNT(*), MAX(v)"
        f" FROM WINDOWS(TABLE bid, DESCRIPTOR(ts), {named}) GROUP BY window_name, window_start, window_end, k"
    )
    return time.perf_counter() - clock, cpu_seconds() - cpu
