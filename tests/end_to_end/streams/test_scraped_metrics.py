"""What Prometheus scrapes from a running stream: sums that continue over a restart, watermarks, and delays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.bids import WINDOWS, create_table
from tvfsql import Session
from tvfsql.runtime.stream.progress.metrics import Metrics
from tvfsql.runtime.stream.progress.prometheus import serve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOTALS = f"SELECT item, COUNT(*) FROM TABLE({WINDOWS['tumble']}) GROUP BY window_start, window_end, item"
AT = 1_586_937_600  # 2020-04-15 08:00:00 UTC
Scrape = dict[tuple[str, str], float]  # by metric and table


@pytest.mark.spark
def test_a_running_stream_is_scraped(spark: SparkSession, tmp_path: Path) -> None:
    """Each scrape happens while the stream waits for it, after a micro-batch."""
    folder = tmp_path / "in"
    folder.mkdir()
    first = run(spark, tmp_path, ["08:00:10", "08:30:00"])
    second = run(spark, tmp_path, ["08:00:20", "09:30:00", "09:30:01"])
    assert [scrape["tvfsql_rows_in_total", ""] for scrape in (first[-1], second[-1])] == [2, 5]
    assert second[-1]["tvfsql_late_rows_dropped_total", ""] == 1
    assert second[-1]["tvfsql_micro_batches_total", ""] == len(first) + len(second)
    marks = [scrape["tvfsql_channel_watermark", "bid"] - AT for scrape in (first[-1], second[0])]
    assert marks == [30 * 60, 90 * 60 + 1]
    lags = second[0]["tvfsql_channel_watermark_lag_seconds", "bid"]
    assert lags == second[0]["tvfsql_watermark_lag_seconds", ""]
    assert second[0]["tvfsql_window_delay_seconds", ""] > lags, "windows ended before the watermark"


def run(spark: SparkSession, folder: Path, times: list[str]) -> list[Scrape]:
    """What is scraped after each micro-batch of a stream that reads one more file and then stops."""
    rows = "".join(f'{{"ts": "2020-04-15 {time}", "item": "a"}}\n' for time in times)
    (folder / "in" / f"{len(times)}.json").write_text(rows)
    options = {"pipeline.name": "totals"}
    session = Session(spark, mode="streaming", checkpoint=folder / "checkpoint", options=options, final=False)
    create_table(session, "bid", "ts TIMESTAMP(3), item STRING, WATERMARK FOR ts AS ts", folder / "in")
    port, found = serve(0, lambda: [*session.streams.metrics.values()]), list[Scrape]()

    def scrape(_: Metrics) -> None:
        with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            families = text_string_to_metric_families(answer.read().decode())
        samples = (sample for family in families for sample in family.samples)
        found.append({(sample.name, sample.labels.get("table", "")): sample.value for sample in samples})

    session.streams.reports.append(scrape)
    session.sql(TOTALS).collect()
    return found
