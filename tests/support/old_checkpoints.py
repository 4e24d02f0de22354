"""Checkpoints of each stateful operator as a release wrote them: small, kept in tests/data/checkpoints for ever. Those
of the layouts of state before version 1 were not released, and are gone.

`python -m tests.support.old_checkpoints` writes those that are missing, with the code that is checked out. It never
rewrites an existing one, because users have such checkpoints.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = Path(__file__).parents[1] / "data" / "checkpoints"
TABLES = """
CREATE TABLE bid (item STRING, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}/bid', 'format' = 'json');
CREATE TABLE sale (item STRING, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}/sale', 'format' = 'json');
"""
TOTALS = """SELECT window_start, window_end, item, COUNT(*) AS n, SUM(price) AS s, MIN(price) AS low,
  AVG(price) AS mean, COUNT(DISTINCT price) AS different, LAST_VALUE(price) AS newest
FROM TABLE({window}) GROUP BY window_start, window_end, item"""
ROWS = """SELECT item, price, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts {order}) AS place FROM bid
) WHERE place = 1"""
OVER = "TABLE bid, DESCRIPTOR(ts)"
EARLY = {
    "table.exec.emit.early-fire.enabled": "true",
    "table.exec.emit.allow-lateness": "10 min",
}

# Before and after: minutes, seconds of event time, with a price each. Windows are open when the first run ends.
BEFORE = [("a", 5, "00:00:10"), ("b", 7, "00:01:20"), ("a", 3, "00:02:30"), ("a", 5, "00:04:40"), ("c", 1, "00:06:00")]
AFTER = [("c", 4, "00:06:10"), ("a", 9, "00:07:20"), ("b", 2, "00:08:30"), ("a", 2, "00:31:00")]
DELETED = [("c", 1, "00:06:00")]  # from the changelog, after the first run


@dataclass(frozen=True)
class Old:
    """A query with a checkpoint of its own; `options` are those of SET, `before` are statements before the query."""

    query: str
    options: dict[str, str] | None = None
    before: str = ""


CASES = {
    "tumble": Old(TOTALS.format(window=f"TUMBLE({OVER}, INTERVAL '5' MINUTE)")),
    "hop": Old(TOTALS.format(window=f"HOP({OVER}, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)")),
    # without keys, so in one key group, where its small slices share a block
    "many_slices": Old(
        f"""SELECT window_start, window_end, COUNT(*) AS n, SUM(price) AS s
FROM TABLE(HOP({OVER}, INTERVAL '10' SECOND, INTERVAL '10' MINUTE)) GROUP BY window_start, window_end"""
    ),
    "cumulate": Old(TOTALS.format(window=f"CUMULATE({OVER}, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)")),
    "session": Old(TOTALS.format(window="SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(ts), INTERVAL '3' MINUTE)")),
    "early": Old(TOTALS.format(window=f"TUMBLE({OVER}, INTERVAL '5' MINUTE)"), EARLY),
    "first_row": Old(ROWS.format(order=""), {"table.exec.state.ttl": "3 min"}),
    "last_row": Old(ROWS.format(order="DESC") + " EMIT ON WINDOW CLOSE", {"table.exec.state.ttl": "3 min"}),
    "interval_join": Old(
        "SELECT bid.item, bid.price, sale.price AS sold FROM bid LEFT JOIN sale ON bid.item = sale.item "
        "AND sale.ts BETWEEN bid.ts AND bid.ts + INTERVAL '5' MINUTE"
    ),
    "temporal_join": Old(
        "SELECT bid.item, bid.price, s.price AS sold FROM bid LEFT JOIN sold FOR SYSTEM_TIME AS OF bid.ts AS s "
        "ON bid.item = s.item",
        before="CREATE VIEW sold AS SELECT item, price, ts FROM ("
        "SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts DESC) AS place FROM sale) WHERE place = 1;",
    ),
    "order_by_time": Old("SELECT item, price, ts FROM bid ORDER BY ts, price DESC"),
    "over": Old(
        "SELECT item, price, ts, SUM(price) OVER w AS s, COUNT(DISTINCT price) OVER w AS n, "
        "LAG(price) OVER w AS before, AVG(price) OVER (PARTITION BY item ORDER BY ts RANGE BETWEEN INTERVAL '3' MINUTE "
        "PRECEDING AND CURRENT ROW) AS mean FROM bid WINDOW w AS (PARTITION BY item ORDER BY ts)"
    ),
    "rows_that_follow": Old(
        "SELECT item, price, ts, LEAD(price) OVER w AS next, SUM(price) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 2 "
        "FOLLOWING) AS s, MAX(price) OVER (w RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND INTERVAL '4' MINUTE "
        "FOLLOWING) AS most FROM bid WINDOW w AS (PARTITION BY item ORDER BY ts)"
    ),
    "fill": Old(
        "SELECT window_start, item, COUNT(*) AS n, SUM(price) AS s, LOCF(MAX(price)) AS last FROM TABLE(TUMBLE("
        f"{OVER}, INTERVAL '1' MINUTE, FILL => INTERVAL '20' MINUTE)) GROUP BY window_start, window_end, item"
    ),
    "gap_fill": Old(
        "SELECT item, price, ts FROM GAP_FILL(TABLE bid PARTITION BY item, DESCRIPTOR(ts), INTERVAL '1' MINUTE, "
        "MAX_GAP => INTERVAL '20' MINUTE)"
    ),
    "matches": Old(
        "SELECT * FROM bid MATCH_RECOGNIZE (PARTITION BY item ORDER BY ts MEASURES A.price AS low, "
        "LAST(B.price) AS high AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+? C) WITHIN INTERVAL '1' HOUR "
        "DEFINE B AS B.price > A.price, C AS C.price < LAST(B.price))"
    ),
    "window_join": Old(
        f"SELECT b.window_end, b.item, b.price, s.price AS sold "
        f"FROM (SELECT * FROM TABLE(TUMBLE({OVER}, INTERVAL '5' MINUTE))) b "
        "JOIN (SELECT * FROM TABLE(TUMBLE(TABLE sale, DESCRIPTOR(ts), INTERVAL '5' MINUTE))) s "
        "ON b.window_start = s.window_start AND b.window_end = s.window_end AND b.item = s.item"
    ),
    "top_n": Old(
        "SELECT window_end, item, price, place FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, "
        f"window_end ORDER BY price DESC) AS place FROM TABLE(TUMBLE({OVER}, INTERVAL '5' MINUTE))) WHERE place <= 2"
    ),
    "rank_of_totals": Old(
        "SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY window_start, window_end ORDER BY s DESC) AS place FROM ("
        + TOTALS.format(window=f"TUMBLE({OVER}, INTERVAL '5' MINUTE)")
        + ")) WHERE place <= 2"
    ),
    "window_first_row": Old(
        "SELECT window_end, item, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item "
        f"ORDER BY ts) AS place FROM TABLE(HOP({OVER}, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))) WHERE place = 1"
    ),
    "first_row_for_ever": Old(ROWS.format(order="")),
    "replaced_last_row": Old(ROWS.format(order="DESC")),
    "groups_without_window": Old(
        "SELECT item, COUNT(*) AS n, SUM(price) AS s, COUNT(DISTINCT price) AS different FROM bid GROUP BY item"
    ),
    "best_rows": Old(
        "SELECT item, price, place FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS place "
        "FROM bid) WHERE place <= 2"
    ),
    "best_groups": Old(
        "SELECT item, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, item) AS place FROM ("
        "SELECT item, COUNT(*) AS n FROM bid GROUP BY item)) WHERE place <= 2"
    ),
    "several_windows": Old(
        f"SELECT window_name, window_end, item, COUNT(*) AS n, SUM(price) AS s FROM TABLE(WINDOWS({OVER}, "
        "TUMBLE(INTERVAL '1' MINUTE) AS minute, HOP(INTERVAL '1' MINUTE, INTERVAL '5' MINUTE) AS five)) "
        "GROUP BY window_name, window_start, window_end, item"
    ),
    "grouping_sets": Old(
        f"SELECT window_end, item, COUNT(*) AS n, SUM(price) AS s FROM TABLE(TUMBLE({OVER}, INTERVAL '5' MINUTE)) "
        "GROUP BY GROUPING SETS ((window_start, window_end, item), (window_start, window_end))"
    ),
    "windows_over_windows": Old(
        "SELECT window_start, window_end, MAX(n) AS most FROM TABLE(TUMBLE((SELECT window_time AS at, item, "
        f"COUNT(*) AS n FROM TABLE(TUMBLE({OVER}, INTERVAL '1' MINUTE)) GROUP BY window_start, "
        "window_end, window_time, item), DESCRIPTOR(at), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end"
    ),
    "months": Old(TOTALS.format(window=f"TUMBLE({OVER}, INTERVAL '1' MONTH)")),
    "changed_steps": Old(
        f"SELECT window_start, window_end, item, COUNT(*) AS n FROM TABLE(CUMULATE({OVER}, INTERVAL '1' MINUTE, "
        "INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, item",
        {"tvfsql.cumulate.emit": "changed"},
    ),
    "longest_session": Old(
        "SELECT window_start, window_end, item, COUNT(*) AS n FROM TABLE(SESSION(TABLE bid PARTITION BY item, "
        "DESCRIPTOR(ts), INTERVAL '3' MINUTE, INTERVAL '7' MINUTE)) GROUP BY window_start, window_end, item"
    ),
    "lists": Old(
        "SELECT window_start, window_end, item, ARRAY_AGG(price) AS prices, STDDEV_POP(price) AS spread, "
        "COLLECT(price) AS counts, FIRST_VALUE(price) AS opening, SUM(DISTINCT price) AS different "
        f"FROM TABLE(HOP({OVER}, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, item"
    ),
    "python_aggregates": Old(
        "SELECT window_start, window_end, item, weightedAvg(price, 2) AS mean, seen(price, item) AS every "
        f"FROM TABLE(HOP({OVER}, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, item",
        before="CREATE FUNCTION weightedAvg AS 'user_functions.WeightedAvg' LANGUAGE PYTHON; "
        "CREATE FUNCTION seen AS 'user_functions.Seen' LANGUAGE PYTHON;",
    ),
    "sketches": Old(
        "SELECT window_start, window_end, item, APPROX_PERCENTILE(price, ARRAY[0.5, 0.9]) AS p, "
        "KLL_SKETCH_GET_N_BIGINT(KLL_SKETCH_AGG_BIGINT(price, 8)) AS n, APPROX_TOP_K(price, 2, 3) AS top, "
        "HLL_SKETCH_ESTIMATE(HLL_SKETCH_AGG(price)) AS h, THETA_SKETCH_ESTIMATE(THETA_SKETCH_AGG(item)) AS t "
        f"FROM TABLE(HOP({OVER}, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, item"
    ),
    "on_event": Old(
        TOTALS.format(window=f"TUMBLE({OVER}, INTERVAL '5' MINUTE)"),
        before="ALTER TABLE bid SET ('scan.watermark.emit.strategy' = 'on-event');",
    ),
    "current_watermark": Old("SELECT item, price, CURRENT_WATERMARK(ts) AS mark FROM bid"),
    "purge": Old(
        f"SELECT window_start, window_end, item, COUNT(*) AS n FROM TABLE(TUMBLE({OVER}, INTERVAL '5' MINUTE)) "
        "GROUP BY window_start, window_end, item",
        {
            "tvfsql.emit.late": "purge",
            "table.exec.emit.late-fire.enabled": "true",
            "table.exec.emit.late-fire.delay": "5 min",
            "table.exec.emit.allow-lateness": "10 min",
        },
    ),
    "highest": Old(
        f"SELECT w.window_end, w.item, w.price FROM TABLE(TUMBLE({OVER}, INTERVAL '5' MINUTE)) AS w "
        "JOIN (SELECT window_start, window_end, MAX(price) AS most "
        f"FROM TABLE(TUMBLE({OVER}, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end) AS m "
        "ON w.window_start = m.window_start AND w.window_end = m.window_end AND w.price = m.most"
    ),
    "session_on_event": Old(
        TOTALS.format(window="SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(ts), INTERVAL '3' MINUTE)"),
        before="ALTER TABLE bid SET ('scan.watermark.emit.strategy' = 'on-event');",
    ),
    "two_tables": Old(
        "SELECT window_end, item, COUNT(*) AS n, SUM(price) AS s FROM TABLE(TUMBLE((SELECT * FROM bid UNION ALL "
        "SELECT * FROM sale), DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, item"
    ),
    "changelog": Old(
        "SELECT window_start, window_end, item, COUNT(*) AS n, SUM(price) AS s, MIN(price) AS low, "
        "COUNT(DISTINCT price) AS different FROM TABLE(HOP(TABLE change, DESCRIPTOR(ts), INTERVAL '1' MINUTE, "
        "INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, item",
        before="CREATE TABLE change (op STRING, item STRING, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        "WITH ('connector' = 'filesystem', 'path' = '{folder}/change', 'format' = 'json', 'changelog.op' = 'op');",
    ),
    "by_key": Old(
        "SELECT window_start, window_end, COUNT(*) AS n, SUM(price) AS s, MAX(item) AS last FROM TABLE(TUMBLE(TABLE "
        "change, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end",
        {"table.exec.source.cdc-events-duplicate": "true"},
        before="CREATE TABLE change (op STRING, item STRING, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - "
        "INTERVAL '1' HOUR, PRIMARY KEY (item) NOT ENFORCED) "
        "WITH ('connector' = 'filesystem', 'path' = '{folder}/change', 'format' = 'json', 'changelog.op' = 'op');",
    ),
    "history": Old(
        TOTALS.format(window=f"TUMBLE({OVER}, INTERVAL '5' MINUTE)"),
        before="CREATE TABLE past (item STRING, price BIGINT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', "
        "'path' = '{folder}/sale', 'format' = 'json'); ALTER TABLE bid SET ('tvfsql.history' = 'past');",
    ),
}


EXTRA = "CREATE TABLE extra WITH ('path' = '{folder}/extra') LIKE bid;"
WITH_EXTRA = "(SELECT item, price, ts FROM extra UNION ALL SELECT item, price, ts FROM bid)"
# not `highest`, of which another plan is made then, nor `history`, whose history a table like it would have too
EXTENDED = [name for name, old in CASES.items() if " bid" in old.query and name not in ("highest", "history")]


def extended(old: Old) -> Old:
    """The same query with one more table in front of `bid`."""
    before, after = ("TABLE bid", WITH_EXTRA) if "TABLE bid" in old.query else ("FROM bid", f"FROM {WITH_EXTRA} AS bid")
    if "MATCH_RECOGNIZE" in old.query:  # its alias stands behind the clause
        after = f"FROM {WITH_EXTRA}"
    return replace(old, query=old.query.replace(before, after), before=old.before + EXTRA)


def run(spark: SparkSession, name: str, folder: Path, *, last: bool, added: bool = False) -> Counter[str]:
    """The rows that a run over a checkpoint below `folder` emits: the first run, or the last one, in which the input
    ends. With `added`, it reads one more table, which is empty.
    """
    from tvfsql import Session

    old = extended(CASES[name]) if added else CASES[name]
    if added:
        (folder / "extra").mkdir()
    for table in ("bid", "sale"):
        (folder / table).mkdir(exist_ok=True)
        _write(folder / table / "before.json", BEFORE)
        if last:
            _write(folder / table / "after.json", AFTER)
    if name in ("changelog", "by_key"):
        (folder / "change").mkdir(exist_ok=True)
        _write(folder / "change" / "before.json", BEFORE, "+I")
        if last:
            _write(folder / "change" / "after-deleted.json", DELETED, "-D")
            _write(folder / "change" / "after.json", AFTER, "+I")
    checkpoint = folder / "checkpoint"
    session = Session(spark, "streaming", old.options, checkpoint=checkpoint, final=last, allow_changed_input=added)
    session.execute((TABLES + old.before).format(folder=folder))
    return Counter(str(tuple(row)) for row in session.sql(old.query).collect())


def _write(file: Path, rows: list[tuple[str, int, str]], op: str = "") -> None:
    of_change = {"op": op} if op else {}
    told = [of_change | {"item": item, "price": price, "ts": f"2024-01-01 {time}"} for item, price, time in rows]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in told), encoding="utf-8")


def unpack(name: str, folder: Path) -> Counter[str]:
    """Unpack a checkpoint into `folder`, as if it had been made there. Returns the rows that its last run must emit."""
    target = folder / "checkpoint"
    shutil.unpack_archive(KEPT / f"{name}.zip", target)
    log = json.loads((target / "1" / "spark" / "sources" / "0" / "0").read_text().splitlines()[1])
    old = Path(log["path"].removeprefix("file://")).parents[1]
    for file in [
        *target.rglob("sources/*/[0-9]*"),
        *target.rglob("manifest.json"),
        *target.rglob("_metadata/v2/[0-9]*"),
    ]:
        file.write_text(file.read_text(encoding="utf-8").replace(str(old), str(folder)), encoding="utf-8")
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    return Counter(json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8")))


def make(spark: Any, name: str) -> None:
    """Write the archive of a checkpoint between two runs, and the rows that the second run emits."""
    KEPT.mkdir(exist_ok=True)
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        first = run(spark, name, folder, last=False)
        shutil.make_archive(str(KEPT / name), "zip", folder / "checkpoint")
        rows = run(spark, name, folder, last=True)
    assert rows, name
    print(name, len(first), "rows, then", len(rows), file=sys.stderr)
    (KEPT / f"{name}.json").write_text(json.dumps(dict(sorted(rows.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    from tvfsql.runtime.local_spark.start import start_spark

    missing = [name for name in CASES if not (KEPT / f"{name}.json").exists()]
    for each in missing:
        make(start_spark(), each)
