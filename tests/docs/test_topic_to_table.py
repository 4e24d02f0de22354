"""The page "From a topic to a table", with a real Kafka and a real PostgreSQL."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.pages import ROOT, blocks
from tests.support.server_jars import jars_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker
    from tests.support.postgres_server import Database

PAGE, SCRIPT = "docs/topic-to-table.md", ROOT / "examples" / "topic_to_table.sql"
MINUTE, NINE = 60_000, 1_795_770_000_000
ORDERS = [(0, "tea", "4.50"), (2_377, "coffee", "2.90"), (59_999, "tea", "4.50"), (MINUTE, "tea", "1.00")]


def test_the_page_has_the_script_of_the_example() -> None:
    (shown,) = (block.text for block in blocks("sql") if block.page == PAGE)
    script = SCRIPT.read_text(encoding="utf-8")
    assert script[script.index("CREATE TABLE") :] == shown


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a PostgreSQL of a wheel")
def test_the_steps_of_the_page(spark: SparkSession, broker: Broker, database: Database, tmp_path: Path) -> None:
    broker.make_topic(spark, "orders", partitions=1)
    shown = (block.text for block in blocks("") if block.page == PAGE)
    (table,) = re.findall(r'psql shop -c "(CREATE TABLE[^"]*)"', "\n".join(shown))
    database.connection.execute(table)
    script = SCRIPT.read_text(encoding="utf-8").replace("localhost:9092", broker.servers)
    url = database.url.replace("\\", "\\\\")
    script = re.sub("jdbc:postgresql://localhost:5432/shop", url, script).replace("${ENV:PGPASSWORD}", "")
    (tmp_path / "orders.sql").write_text(script, encoding="utf-8")
    tvfsql = command(tmp_path)

    send(spark, broker, ORDERS)
    looked = tvfsql("peek", f"kafka://{broker.servers}/orders", "-n", "2")
    assert "value STRING" in looked and "coffee" in looked and len(looked.splitlines()) == 6
    try:
        tvfsql("run", "orders.sql", "--checkpoint", "kept", "--detach")
        send(spark, broker, [(MINUTE + 5_000, "tea", "0.50")])
        wait_for(lambda: len(rows(database)) == 2)
        assert " running " in tvfsql("ps")
        tvfsql("stop", "kept")
        send(spark, broker, [(2 * MINUTE + 5_000, "coffee", "2.90")])
        tvfsql("restart", "kept")
        wait_for(lambda: len(rows(database)) == 3)
    finally:
        tvfsql("stop", "kept")
    assert rows(database) == {
        (0, "tea", 2, Decimal("9.00")),
        (0, "coffee", 1, Decimal("2.90")),
        (1, "tea", 2, Decimal("1.50")),  # one order before the stop
    }


def command(folder: Path) -> Callable[..., str]:
    """`tvfsql`, in a folder, as somebody types it there."""
    jars = jars_in("kafka", "client")
    environ = os.environ | {
        "PYTHONPATH": str(ROOT),
        "XDG_STATE_HOME": str(folder / "state"),
        "PYSPARK_SUBMIT_ARGS": f"--jars {jars} --driver-memory 1g pyspark-shell",
        "PGUSER": "postgres",
    }

    def tvfsql(*arguments: str) -> str:
        line = [sys.executable, "-m", "tvfsql", *arguments]
        done = subprocess.run(line, cwd=folder, env=environ, capture_output=True, text=True, timeout=400)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return tvfsql


def send(spark: SparkSession, broker: Broker, orders: list[tuple[int, str, str]]) -> None:
    messages = [(f'{{"ts":{NINE + after},"item":"{item}","price":{price}}}',) for after, item, price in orders]
    rows = spark.createDataFrame(messages, "value STRING").coalesce(1)
    rows.write.format("kafka").options(**{"kafka.bootstrap.servers": broker.servers, "topic": "orders"}).save()


def rows(database: Database) -> set[tuple[int, str, int, Decimal]]:
    """The table, with minutes since nine."""
    return {
        (round(start.timestamp() * 1000 - NINE) // MINUTE, item, count, total)
        for start, item, count, total in database.rows("orders_per_minute")
    }


def wait_for(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 180
    while not done():
        assert time.monotonic() < until, "the rows did not come"
        time.sleep(0.5)
