"""Temporal joins through SQL on Spark: batch gives Flink's rows, streams give what batch and a plain model give."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FLINK = json.loads((Path(__file__).parents[2] / "data" / "flink_temporal_joins.json").read_text(encoding="utf-8"))
START = datetime(2024, 2, 29)
FILES = 3
Row = tuple[Any, ...]


def rows(made: Session, sql: str) -> Counter[Row]:
    return Counter(map(tuple, made.sql(sql).collect()))


def text(value: Any) -> str | None:
    return None if value is None else str(value)


def test_batch_gives_the_rows_of_flink(spark: SparkSession, tmp_path: Path) -> None:
    made = Session(spark, mode="batch")
    for name, table in FLINK["tables"].items():
        (tmp_path / name).mkdir()
        lines = (",".join("" if value is None else str(value) for value in row) + "\n" for row in table["rows"])
        (tmp_path / name / "1.csv").write_text("".join(lines), encoding="utf-8")
        options = f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'csv'"
        made.execute(f"CREATE TABLE {name} ({table['columns']}) WITH ({options})")
    for view in FLINK["views"]:
        made.execute(view)
    for query in FLINK["asked"]:
        found = Counter(tuple(map(text, row)) for row in made.sql(query["sql"]).collect())
        wanted = query.get("here", query["rows"])  # for Flink NULL equals NULL here
        assert found == Counter(map(tuple, wanted)), query["name"]


def events(seed: int, keys: int, every: int) -> list[list[Row]]:
    """Files of rows (key, number, time) that move on in time, up to 2 minutes out of order; some keys are NULL. No two
    rows of a key have the same number."""
    rng, made = random.Random(seed), []
    for file in range(FILES):
        part = []
        for i in range(200):
            number = file * 200 + i
            at = START + timedelta(seconds=number * every - rng.randrange(120), milliseconds=rng.randrange(3) * 333)
            part.append((rng.choice([None, *(f"k{key}" for key in range(keys))]), number, at))
        made.append(part)
    return made


def session(spark: SparkSession, mode: str, folder: Path) -> Session:
    made = Session(spark, mode=mode)
    for name, more in (("orders", ""), ("rates", ", PRIMARY KEY (k) NOT ENFORCED")):
        columns = f"k STRING, `the.``number` INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' MINUTE{more}"
        options = f"'path' = '{folder / name}', 'format' = 'csv', 'maxFilesPerTrigger' = '1'"
        made.execute(f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', {options})")
    return made


def write(folder: Path, name: str, files: list[list[Row]]) -> None:
    (folder / name).mkdir()
    for number, part in enumerate(files):
        lines = (f"{k or ''},{value},{ts.isoformat(' ', 'milliseconds')}\n" for k, value, ts in part)
        file = folder / name / f"{number}.csv"
        file.write_text("".join(lines), encoding="utf-8")
        os.utime(file, (number, number))  # file streams go by the time of a file


JOIN = "orders AS o {} JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k"
LEFT = (
    "SELECT 'left' AS what, o.k, o.`the.``number` AS n, r.`the.``number` AS m, r.ts "
    f"FROM {JOIN.format('LEFT')} AND r.`the.``number` > 10"
)
WINDOWS = (
    "SELECT 'windows', k, CAST(COUNT(*) AS INT), CAST(SUM(m) AS INT), window_start FROM TABLE(TUMBLE("
    f"(SELECT o.k, o.ts, r.`the.``number` AS m FROM {JOIN.format('INNER')}), DESCRIPTOR(ts), INTERVAL '5' MINUTE)) "
    "GROUP BY k, window_start, window_end"
)


@pytest.mark.usefixtures("several_partitions")
def test_streams_give_the_rows_of_batch_and_of_a_model(spark: SparkSession, tmp_path: Path) -> None:
    """A left join with a further condition, and windows of an inner join."""
    orders, rates = events(5, 6, 2), events(6, 6, 2)
    write(tmp_path, "orders", orders)
    write(tmp_path, "rates", rates)
    wanted: Counter[Row] = Counter()
    sums: dict[Row, list[int]] = {}
    versions = [row for part in rates for row in part]
    for key, number, time in (row for part in orders for row in part):
        of_key = [row for row in versions if row[0] == key is not None and row[2] <= time]
        best = max(of_key, key=lambda row: (row[2], row[1]), default=None)
        met = best is not None and best[1] > 10
        wanted["left", key, number, best[1] if best and met else None, best[2] if best and met else None] += 1
        if best is not None:
            window = START + (time - START) // timedelta(minutes=5) * timedelta(minutes=5)
            sums.setdefault((key, window), []).append(best[1])
    wanted += Counter(("windows", key, len(own), sum(own), window) for (key, window), own in sums.items())
    sql = f"{LEFT} UNION ALL {WINDOWS}"
    assert rows(session(spark, "batch", tmp_path), sql) == wanted
    streamed = session(spark, "streaming", tmp_path)
    assert rows(streamed, sql) == wanted
    assert (streamed.counts["numLateRecordsDropped"], streamed.counts["stateRows"]) == (0, 0)
    assert len(sums) > 20


def test_late_rows_of_the_right_side_are_counted_by_the_stream(spark: SparkSession, tmp_path: Path) -> None:
    """A late version counts for rows to come; a late row of an interval join is dropped."""
    minutes = {"orders": (0, 10, 20), "rates": (0, 10, 1)}
    for name, times in minutes.items():
        write(tmp_path, name, [[("a", i, START + timedelta(minutes=at))] for i, at in enumerate(times)])
    between = "o.ts BETWEEN r.ts - INTERVAL '1' MINUTE AND r.ts + INTERVAL '1' MINUTE"
    interval = (
        "SELECT 'near', o.k, o.`the.``number`, r.`the.``number`, r.ts "
        f"FROM orders o JOIN rates r ON o.k = r.k AND {between}"
    )
    made = session(spark, "streaming", tmp_path)
    found = rows(made, f"{LEFT.replace(' > 10', ' < 10')} UNION ALL {interval}")
    assert sorted(row[:4] for row in found) == [
        ("left", "a", 0, 0), ("left", "a", 1, 1), ("left", "a", 2, 1), ("near", "a", 0, 0), ("near", "a", 1, 1)
    ]  # fmt: skip
    assert (made.counts["numLateVersions"], made.counts["numLateRecordsDroppedRight"]) == (1, 1)
    assert made.counts["numLateRecordsDropped"] == 1


def changes(seed: int, keys: int) -> list[list[Row]]:
    """Files of the changes (op, key, number, time) of a table, with a time in each tenth of a second at most: of one
    time the order of the lines counts."""
    rng, made, there = random.Random(seed), [], dict[str, int]()
    for file in range(FILES):
        part: list[Row] = []
        for i in range(150):
            number = file * 150 + i
            at = START + timedelta(seconds=number // 3 * 8)
            key = f"k{rng.randrange(keys)}"
            if key not in there:
                part.append(("+I", key, number, at))
            elif rng.random() < 0.4:
                part.append(("-D", key, there.pop(key), at))
                continue
            else:
                part += [("-U", key, there[key], at), ("+U", key, number, at)]
            there[key] = number
        made.append(part)
    return made


def debezium(part: list[Row]) -> list[str]:
    """The changes as Debezium's messages; the row before an update and the one after it are in one."""
    lines, before = [], None
    for op, k, number, at in part:
        row = {"k": k, "the.`number": number, "ts": at.isoformat(" ", "milliseconds")}
        if op == "-U":
            before = row
            continue
        deleted = op == "-D"
        kind = "d" if deleted else "c" if before is None else "u"
        sent = {"before": row if deleted else before, "after": None if deleted else row, "op": kind}
        lines.append(json.dumps(sent) + "\n")
        before = None
    return lines


@pytest.mark.parametrize("form", ["debezium-json", "csv"])
@pytest.mark.usefixtures("several_partitions")
def test_a_changelog_is_a_versioned_table(form: str, spark: SparkSession, tmp_path: Path) -> None:
    """Inserts and updates are versions, deletes end them: a stream, stopped and resumed after each file, has the rows
    of batch and of a plain model."""
    orders, made = events(7, 6, 2), changes(8, 5)
    write(tmp_path, "orders", orders)
    (tmp_path / "rates").mkdir()
    for number, part in enumerate(made):
        plain = (f"{op},{k},{value},{ts.isoformat(' ', 'milliseconds')}\n" for op, k, value, ts in part)
        file = tmp_path / "rates" / f"{FILES - number}.txt"  # in another order than the names
        file.write_text("".join(debezium(part) if form == "debezium-json" else plain), encoding="utf-8")
        os.utime(file, (number, number))
    versions = [row for part in made for row in part if row[0] != "-U"]
    wanted: Counter[Row] = Counter()
    for key, number, time in (row for part in orders for row in part):
        of_key = [row for row in versions if row[1] == key and row[3] <= time]
        best = max(reversed(of_key), key=lambda row: row[3], default=None)
        there = best is not None and best[0] != "-D"
        wanted[key, number, best[2] if best and there else None, best[3] if best and there else None] += 1
    columns = "k STRING, `the.``number` INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' MINUTE"
    columns += ", PRIMARY KEY (k) NOT ENFORCED"
    op = ("op STRING, ", ", 'changelog.op' = 'op'") if form == "csv" else ("", "")
    rates = f"'path' = '{tmp_path}/rates', 'format' = '{form}', 'maxFilesPerTrigger' = '1'{op[1]}"
    sql = f"SELECT o.k, o.`the.``number`, r.`the.``number` AS m, r.ts AS since FROM {JOIN.format('LEFT')} /* {form} */"

    def opened(mode: str, **options: Any) -> Session:
        found = Session(spark, mode=mode, **options)
        of_orders = f"'path' = '{tmp_path}/orders', 'format' = 'csv', 'maxFilesPerTrigger' = '1'"
        plain = columns.removesuffix(", PRIMARY KEY (k) NOT ENFORCED")
        found.execute(f"CREATE TABLE orders ({plain}) WITH ('connector' = 'filesystem', {of_orders})")
        found.execute(f"CREATE TABLE rates ({op[0]}{columns}) WITH ('connector' = 'filesystem', {rates})")
        return found

    assert rows(opened("batch"), sql) == wanted
    later = [*tmp_path.glob("orders/*"), *tmp_path.glob("rates/*")]
    later.sort(key=lambda file: file.stat().st_mtime)
    for file in later[2:]:
        file.rename(tmp_path / f"{file.parent.name}-{file.name}")
    found: Counter[Row] = Counter()
    for number in range(FILES):
        for file in later[2 * number : 2 * number + 2] if number else []:
            (tmp_path / f"{file.parent.name}-{file.name}").rename(file)
        found += rows(opened("streaming", checkpoint=tmp_path / "state", final=number == FILES - 1), sql)
    assert found == wanted
    assert sum(row[2] is None for row in wanted) > 30 and sum(row[2] is not None for row in wanted) > 30
    assert len({row[3] for row in versions}) < len(versions)
