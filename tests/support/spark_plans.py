"""The plans that Spark makes of the shapes of queries, reduced to what decides how they scale: scans with the
conditions that reach them, shuffles with their tasks, kinds of joins, and passes through Python.

`python -m tests.support.spark_plans` writes the plans anew (tests/data/spark_plans.txt).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PLANS = Path(__file__).parents[1] / "data" / "spark_plans.txt"
DAY = "window_start >= TIMESTAMP '2024-01-02 00:00:00' AND window_end <= TIMESTAMP '2024-01-03 00:00:00'"
MINUTES = "TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
HOURS = "HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"
SECONDS = "HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '1' HOUR)"
STEPS = "CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' DAY)"
WINDOW = "window_start, window_end"


def by(window: str, keys: str = "k", calls: str = "COUNT(*) AS n, SUM(v) AS s", where: str = "") -> str:
    """An aggregate by keys and windows."""
    keyed = f"{WINDOW}{f', {keys}' if keys else ''}"
    condition = f" WHERE {where}" if where else ""
    return f"SELECT {keyed}, {calls} FROM TABLE({window}){condition} GROUP BY {keyed}"


def joined(left: str, right: str, kind: str = "JOIN") -> str:
    """Two windowed queries, by window and key."""
    same = "l.window_start = r.window_start AND l.window_end = r.window_end AND l.k = r.k"
    return f"SELECT l.k, l.n, r.s FROM ({left}) AS l {kind} ({right}) AS r ON {same}"


def ranked(window: str, function: str = "ROW_NUMBER", order: str = "s DESC", rows: str = "") -> str:
    """The three best keys of each window, or of rows with windows the first."""
    source = f"({by(window)})" if not rows else f"(SELECT * FROM TABLE({window}))"
    return f"""SELECT * FROM (SELECT *, {function}() OVER (PARTITION BY {WINDOW}{rows} ORDER BY {order}) AS rn
        FROM {source}) WHERE rn <= {1 if rows else 3}"""


MOST = "MAX(v) AS s"
SESSIONS = "SESSION(TABLE bid{}, DESCRIPTOR(ts), INTERVAL '30' MINUTE)"
OF_KEY = " PARTITION BY k"
SHAPES = {
    "rows of a day": "SELECT * FROM bid WHERE ts >= TIMESTAMP '2024-01-02 00:00:00'",
    "rows of a partition": "SELECT * FROM days WHERE dt = '2024-01-02'",
    "TUMBLE": by(MINUTES),
    "TUMBLE, no keys": by(MINUTES, ""),
    "TUMBLE, one day": by(MINUTES, where=DAY),
    "TUMBLE, one day, condition above": f"SELECT * FROM ({by(MINUTES)}) WHERE {DAY}",
    "TUMBLE of a partitioned table, one day": by(MINUTES.replace("bid", "days"), where=f"{DAY} AND dt = '2024-01-02'"),
    "TUMBLE, COUNT(DISTINCT)": by(MINUTES, calls="COUNT(DISTINCT item) AS n, COUNT(DISTINCT v) AS m"),
    "TUMBLE of TUMBLE": """SELECT window_start, window_end, MAX(n) FROM TABLE(TUMBLE(DATA => TABLE counted,
        TIMECOL => DESCRIPTOR(wt), SIZE => INTERVAL '1' HOUR)) GROUP BY window_start, window_end""",
    "HOP": by(HOURS),
    "HOP, no keys": by(HOURS, ""),
    "HOP, no keys, 100 ms": by(HOURS.replace("'1' MINUTE", "'0.1' SECOND"), ""),
    "HOP, one day": by(HOURS, where=DAY),
    "HOP 1 s/1 h": by(SECONDS),
    "HOP, COUNT(DISTINCT)": by(HOURS, calls="COUNT(DISTINCT item) AS n, COUNT(DISTINCT v) AS m"),
    "HOP, one shuffle": by(HOURS),
    "HOP, grouping sets": f"SELECT {WINDOW}, k, item, COUNT(*) FROM TABLE({HOURS}) GROUP BY {WINDOW}, CUBE (k, item)",
    "HOP, rows": f"SELECT k, v, {WINDOW} FROM TABLE({HOURS})",
    "CUMULATE": by(STEPS),
    "SESSION": by(SESSIONS.format(OF_KEY)),
    "SESSION, no keys": by(SESSIONS.format(""), ""),
    "SESSION, rows": f"SELECT * FROM TABLE({SESSIONS.format(OF_KEY)})",
    "SESSION, rows, no keys": f"SELECT * FROM TABLE({SESSIONS.format('')})",
    "Top-N of TUMBLE": ranked(MINUTES),
    "Top-N of HOP": ranked(HOURS),
    "deduplication in windows": ranked(MINUTES, order="ts DESC", rows=", k"),
    "last row of a key": """SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM bid)
        WHERE rn = 1""",
    "join of TUMBLE": joined(by(MINUTES), by(MINUTES, calls=MOST, where="v > 5")),
    "join of HOP": joined(by(HOURS), by(HOURS, calls=MOST, where="v > 5")),
    "join of HOP 1 s/1 h": joined(by(SECONDS), by(SECONDS, calls=MOST, where="v > 5")),
    "HOP joined with itself": f"WITH a AS ({by(HOURS)}) {joined('SELECT * FROM a', 'SELECT * FROM a')}",
    "HOP with the hour before": f"""WITH a AS ({by(HOURS)}) SELECT l.k, l.n - r.n FROM a AS l JOIN a AS r
        ON l.k = r.k AND l.window_start = r.window_end""",
    "share of the total": f"""WITH a AS ({by(HOURS)}) SELECT a.k, a.n / t.n FROM a JOIN (SELECT {WINDOW}, SUM(n) AS n
        FROM a GROUP BY {WINDOW}) AS t ON a.window_start = t.window_start AND a.window_end = t.window_end""",
    "HOP with a small table": f"SELECT name, n FROM ({by(HOURS)}) AS w JOIN dim ON w.k = dim.k",
    "HOP with rows": f"SELECT v, n FROM bid JOIN ({by(HOURS)}) AS w ON w.k = bid.k AND bid.ts = w.window_end",
    "IN of HOP": f"SELECT * FROM bid WHERE k IN (SELECT k FROM ({by(HOURS)}) WHERE n > 1)",
    "interval join": """SELECT a.k, b.v FROM bid AS a JOIN bid AS b
        ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' MINUTE""",
    "OVER": """SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT
        ROW) FROM bid""",
    "largest rows": "SELECT * FROM bid ORDER BY v DESC LIMIT 10",
}
OPTIONS = {"HOP, one shuffle": "tvfsql.batch.slices-in-python"}  # that are true for a shape
# Spark decides about their joins while they run
AFTER = (
    *("join of HOP", "HOP with the hour before", "share of the total"),
    *("HOP with a small table", "HOP with rows"),
)
TABLES = """
CREATE TABLE bid (ts TIMESTAMP(3), k INT, item INT, v BIGINT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{folder}/bid', 'format' = 'parquet');
CREATE TABLE days (ts TIMESTAMP(3), k INT, item INT, v BIGINT, dt STRING, WATERMARK FOR ts AS ts) PARTITIONED BY (dt)
WITH ('connector' = 'filesystem', 'path' = '{folder}/days', 'format' = 'parquet');
CREATE TABLE dim (k INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{folder}/dim', 'format' = 'parquet');
CREATE VIEW counted AS SELECT window_time AS wt, k, COUNT(*) AS n FROM TABLE({minutes})
GROUP BY window_start, window_end, window_time, k
"""
# as on a cluster, with texts that are whole
SETTINGS = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.autoBroadcastJoinThreshold": "30000",  # bytes: more than the files, less than the windows
    "spark.sql.maxMetadataStringLength": "2000",
    "spark.sql.debug.maxToStringFields": "1000",
}


def write_tables(folder: Path) -> str:
    """Write the tables and return the statements that create them."""
    start, rows = datetime(2024, 1, 1), 400
    columns = {
        "ts": pa.array([start + timedelta(minutes=15 * i) for i in range(rows)], pa.timestamp("us")),
        "k": pa.array([i % 7 for i in range(rows)], pa.int32()),
        "item": pa.array([i % 3 for i in range(rows)], pa.int32()),
        "v": pa.array([i % 11 for i in range(rows)], pa.int64()),
    }
    table = pa.table(columns)
    days = [(f"days/dt=2024-01-0{day + 1}", table.slice(96 * day, 96)) for day in range(2)]
    for path, part in [("bid", table), *days]:
        (folder / path).mkdir(parents=True)
        pq.write_table(part, folder / path / "part.parquet")
    (folder / "dim").mkdir()
    names = pa.table({"k": pa.array(range(7), pa.int32()), "name": [f"key {i}" for i in range(7)]})
    pq.write_table(names, folder / "dim" / "part.parquet")
    return TABLES.format(folder=folder, minutes=MINUTES)


def plans(session: Any, folder: Path) -> str:
    """The reduced plans of all shapes: before they run, but of those that AFTER names afterwards."""
    session.execute(write_tables(folder))
    found = []
    for name, sql in SHAPES.items():
        if option := OPTIONS.get(name):
            session.execute(f"SET '{option}' = 'true'")
        frame = session.sql(sql).dataframe()
        if option:
            session.execute(f"RESET '{option}'")
        if name in AFTER:
            frame.collect()
        text = frame._jdf.queryExecution().executedPlan().toString()
        found.append("\n".join([name, *reduced(text.partition("== Initial Plan ==")[0])]))
    return "\n\n".join(found) + "\n"


LINE = re.compile(r"^(?P<indent>[\s:+|-]*)(?:\* ?)?(?:\(\d+\) )?(?P<node>\w.*)$")
HASHED = re.compile(r"^hashpartitioning\((.*)\)$")


def reduced(text: str) -> Iterator[str]:
    """The lines of Spark's plan that matter, each below the next one that reads it."""
    above: list[tuple[int, bool]] = []
    for line in text.splitlines():
        if (match := LINE.match(line)) is None:
            continue
        shown, indent = _shown(re.sub(r"#\d+L?", "", match["node"])), len(match["indent"])
        while above and above[-1][0] >= indent:
            above.pop()
        above.append((indent, shown is not None))
        if shown is not None:
            yield "  " * sum(kept for _, kept in above) + shown


def _shown(node: str) -> str | None:
    kind = node.split("(")[0].split()[0]
    if kind == "FileScan":
        read = re.search(r"\[([^\]]*)\]", node)
        location = re.search(r"Location: .*?\[.*?/(\w+)\]", node)
        filters = {part: _filters(node, part) for part in ("PartitionFilters", "PushedFilters")}
        assert read and location, node
        told = "".join(f", {part} {found}" for part, found in filters.items() if found)
        return f"Scan {location[1]} [{', '.join(read[1].split(','))}]{told}"
    if kind == "Exchange":
        by_number = ", fixed" if "REPARTITION_BY_NUM" in node else ""
        how = node.removeprefix("Exchange ").split(", ENSURE")[0].split(", REPARTITION")[0].split(", [plan_id")[0]
        return f"Exchange {HASHED.sub(_sorted, how)}{by_number}"
    if kind == "BroadcastExchange":
        return "Broadcast"
    if kind.endswith("Join"):
        pairs = re.sub(r",? *(BuildLeft|BuildRight|false|true)", "", node.removeprefix(kind).strip())
        return f"{kind} {pairs}"
    if kind in ("MapInArrow", "CartesianProduct", "ReusedExchange", "InMemoryRelation", "WindowGroupLimit", "Expand"):
        return {"InMemoryRelation": "Kept"}.get(kind, kind)
    return "Generate" if kind == "Generate" else None


def _sorted(match: re.Match[str]) -> str:
    """The columns of a shuffle in the order of their names: Spark's own order for several DISTINCT differs by run."""
    *columns, tasks = match[1].split(", ")
    return f"hashpartitioning({', '.join([*sorted(columns), tasks])})"


def _filters(node: str, part: str) -> str:
    start = node.find(f"{part}: [")
    return node[start + len(part) + 3 :].split("]")[0] if start >= 0 else ""


@dataclass(frozen=True)
class Shape:
    """What a plan says about a shape."""

    name: str
    lines: tuple[str, ...]

    def count(self, kind: str) -> int:
        return sum(line.strip().startswith(kind) for line in self.lines)


def shapes() -> list[Shape]:
    """The plans of tests/data/spark_plans.txt."""
    blocks = PLANS.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    return [Shape(block.split("\n")[0], tuple(block.split("\n")[1:])) for block in blocks]


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    import tvfsql

    with TemporaryDirectory() as made:
        own = tvfsql.Session()
        for key, value in SETTINGS.items():
            own.spark.conf.set(key, value)
        PLANS.write_text(plans(own, Path(made)), encoding="utf-8")
        own.spark.stop()
    sys.exit()
