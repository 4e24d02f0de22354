"""Asks Flink for rows of changes, as TO_CHANGELOG makes them, and for the messages that its formats debezium-json and
canal-json write: tests/data/flink_changes.json.

.venv/bin/python -m tests.support.flink_changes
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.conformance import HERE, Situation, Table
from tests.support.flink_process import Flink

ANSWERS = HERE / "data" / "flink_changes.json"
DELAY = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
BID = Table(
    "bid",
    "ts TIMESTAMP(3), item STRING, price INT",
    DELAY,
    (
        ("2024-01-01 00:00:01", "a", 4),
        ("2024-01-01 00:00:02", "b", 1),
        ("2024-01-01 00:00:03", "a", 2),
        ("2024-01-01 00:00:04.500", None, None),
        ("2024-01-01 00:00:05", "a", 9),
        ("2024-01-01 00:00:06", "b", 7),
    ),
)
USERS = Table(
    "users",
    "ts TIMESTAMP(3), id INT, name STRING, score INT",
    DELAY,
    (
        ("+I", "2024-01-01 00:00:01", 1, "ann", 5),
        ("+I", "2024-01-01 00:00:02", 2, "bob", 10),
        ("-U", "2024-01-01 00:00:01", 1, "ann", 5),
        ("+U", "2024-01-01 00:00:03", 1, "ann", 12),
        ("-D", "2024-01-01 00:00:02", 2, "bob", 10),
        ("-U", "2024-01-01 00:00:03", 1, "ann", 12),
        ("+U", "2024-01-01 00:00:04", 1, "eva", 3),
        ("+I", "2024-01-01 00:00:05", 2, None, None),
    ),
    changes=True,
)
CODED = Table(
    "coded",
    "ts TIMESTAMP(3), id INT, kind INT, score INT",
    DELAY,
    (
        ("2024-01-01 00:00:01", 1, 1, 5),
        ("2024-01-01 00:00:02", 2, 1, 6),
        ("2024-01-01 00:00:01", 1, 2, 5),
        ("2024-01-01 00:00:03", 1, 3, 8),
        ("2024-01-01 00:00:04", 3, 0, 9),
        ("2024-01-01 00:00:02", 2, 4, 6),
    ),
)
OF_CODES = """FROM_CHANGELOG(
    input => (SELECT ts, id, score, CASE kind WHEN 1 THEN 'i' WHEN 4 THEN 'd' ELSE CAST(kind AS STRING) END AS op
              FROM coded WHERE kind > 0),
    op_mapping => MAP['i', 'INSERT', 'd', 'DELETE', '2', 'UPDATE_BEFORE', '3', 'UPDATE_AFTER'])"""
COUNTS = "(SELECT item, COUNT(*) AS n, MAX(price) AS most FROM bid GROUP BY item)"
BEST = """(SELECT item, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS r FROM bid)
    WHERE r <= 1)"""
ROWS = {
    "rows that only come": (BID, "SELECT * FROM TO_CHANGELOG(TABLE bid, DESCRIPTOR(code))"),
    "groups": (BID, f"SELECT * FROM TO_CHANGELOG({COUNTS}, DESCRIPTOR(code))"),
    "some operations of groups, by other names": (
        BID,
        f"SELECT * FROM TO_CHANGELOG({COUNTS}, DESCRIPTOR(code), MAP['INSERT, UPDATE_AFTER', 'u', 'DELETE', 'd'])",
    ),
    "no operation that occurs": (
        BID,
        f"SELECT * FROM TO_CHANGELOG({COUNTS}, DESCRIPTOR(code), MAP['DELETE', 'd'])",
    ),
    "a condition on the operation": (
        BID,
        f"SELECT item, n FROM TO_CHANGELOG(input => {COUNTS}, op => DESCRIPTOR(code)) WHERE code <> 'UPDATE_BEFORE'",
    ),
    "the best rows": (BID, f"SELECT code, item, price FROM TO_CHANGELOG({BEST}, DESCRIPTOR(code))"),
    "a changelog": (USERS, "SELECT * FROM TO_CHANGELOG(TABLE users, DESCRIPTOR(code))"),
    "a part of a changelog": (
        USERS,
        "SELECT * FROM TO_CHANGELOG((SELECT id, UPPER(name) AS name FROM users WHERE score < 11), DESCRIPTOR(code))",
    ),
    "windows of a changelog": (
        USERS,
        """SELECT window_end, code, COUNT(*) AS n, SUM(score) AS total FROM TABLE(TUMBLE((
            SELECT * FROM TO_CHANGELOG((SELECT * FROM users WHERE score > 4), DESCRIPTOR(code))),
            DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY window_start, window_end, code""",
    ),
    "groups of a query's changes": (CODED, f"SELECT id, COUNT(*) AS n, MAX(score) AS most FROM {OF_CODES} GROUP BY id"),
    "windows of a query's changes": (
        CODED,
        f"""SELECT window_end, COUNT(*) AS n, SUM(score) AS total
            FROM TABLE(TUMBLE((SELECT * FROM {OF_CODES}), DESCRIPTOR(ts), INTERVAL '2' SECOND))
            GROUP BY window_start, window_end""",
    ),
    "the changes of a query's changes": (
        CODED,
        f"SELECT * FROM TO_CHANGELOG((SELECT * FROM {OF_CODES}), DESCRIPTOR(code))",
    ),
    "groups by way of rows": (
        BID,
        f"""SELECT item, SUM(n) AS n FROM FROM_CHANGELOG(input => (SELECT * FROM TO_CHANGELOG({COUNTS})))
            GROUP BY item""",
    ),
    "groups of a changelog": (
        USERS,
        "SELECT * FROM TO_CHANGELOG((SELECT id, SUM(score) AS total FROM users GROUP BY id), DESCRIPTOR(code))",
    ),
}
REFUSED = {
    "a key": "SELECT * FROM TO_CHANGELOG(TABLE bid PARTITION BY item, DESCRIPTOR(code))",
    "an unknown operation": "SELECT * FROM TO_CHANGELOG(input => TABLE bid, op_mapping => MAP['insert', 'i'])",
    "one twice": "SELECT * FROM TO_CHANGELOG(input => TABLE bid, op_mapping => MAP['INSERT', '', 'DELETE,INSERT', ''])",
    "two columns": "SELECT * FROM TO_CHANGELOG(input => TABLE bid, op => DESCRIPTOR(a, b))",
    "a name that the input has": "SELECT * FROM TO_CHANGELOG(TABLE bid, DESCRIPTOR(item))",
    "no table": "SELECT * FROM TO_CHANGELOG(op => DESCRIPTOR(a))",
}
FORMATS = ("debezium-json", "canal-json")
OF_GROUPS = "item STRING, n BIGINT, most INT, latest TIMESTAMP(3)"
GROUPS = "SELECT item, COUNT(*) AS n, MAX(price) AS most, MAX(ts) AS latest FROM bid GROUP BY item"
OF_ALL = """a TINYINT, b INT, c BIGINT, d FLOAT, e DOUBLE, i STRING, j BYTES, k BOOLEAN, l DATE, n TIMESTAMP(3),
    o TIMESTAMP(3), p TIMESTAMP(6), q TIMESTAMP_LTZ(3), r ARRAY<INT>, s MAP<STRING, INT>, t ROW<x INT, y TIMESTAMP(3)>,
    u CHAR(4), v ARRAY<TIMESTAMP(3)>, w ROW<x INT>"""
ALL = """SELECT CAST(1 AS TINYINT), CAST(NULL AS INT), 9000000000, CAST(0.5 AS FLOAT), CAST(1e10 AS DOUBLE),
    'ü"/\\ x', X'00ff', TRUE, DATE '2024-02-29', TIMESTAMP '2024-01-01 00:00:00',
    TIMESTAMP '2024-03-31 02:30:01.500', CAST(TIMESTAMP '2024-01-01 00:00:01.123456' AS TIMESTAMP(6)),
    TO_TIMESTAMP_LTZ(1711848601123, 3), ARRAY[1, 2], MAP['x', 1],
    ROW(1, TIMESTAMP '2024-01-01 00:00:01'), CAST('ab' AS CHAR(4)), ARRAY[TIMESTAMP '2024-01-01 00:00:01'],
    CAST(NULL AS ROW<x INT>) FROM bid WHERE price = 9"""
OF_NUMBERS = "f DECIMAL(10, 2), g DECIMAL(10, 2), h DECIMAL(20, 10)"
NUMBERS = """SELECT CAST(12.50 AS DECIMAL(10, 2)), CAST(100 AS DECIMAL(10, 2)), CAST(0.00000001 AS DECIMAL(20, 10))
    FROM bid WHERE price = 9"""
# columns of a table, the query that fills it, and what follows `format` in its WITH clause
MESSAGES = {
    "groups": (OF_GROUPS, GROUPS, {}),
    "groups without NULLs": (OF_GROUPS, GROUPS, {"encode.ignore-null-fields": "true"}),
    "decimals": (OF_NUMBERS, NUMBERS, {}),
    "all types": (OF_ALL, ALL, {}),
    "all types, times as in ISO 8601": (OF_ALL, ALL, {"timestamp-format.standard": "ISO-8601"}),
}


def situations() -> Iterator[Situation]:
    """The queries with TO_CHANGELOG, each over one table."""
    for about, (table, sql) in ROWS.items():
        yield Situation("TO_CHANGELOG", about, "", sql, (table,), modes=("streaming",), zone="Europe/Berlin")
    for about, sql in REFUSED.items():
        yield Situation("TO_CHANGELOG", about, "", sql, (BID,), modes=("streaming",), zone="Europe/Berlin")


def table_of(columns: str, form: str, options: dict[str, str], path: str) -> str:
    """The CREATE TABLE of a table of messages."""
    told = "".join(f", '{form}.{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE o ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}'{told})"


def answers() -> dict[str, dict[str, Any]]:
    """Flink's answers by name."""
    return {each["name"]: each for each in map(json.loads, ANSWERS.read_text(encoding="utf-8").splitlines())}


def main() -> None:
    with Flink() as flink, ANSWERS.open("w", encoding="utf-8") as out:
        for each in situations():
            found = flink.ask({**each.asked("streaming"), "kinds": True})
            print(json.dumps({**found, "name": each.about, "sql": each.sql}, ensure_ascii=False), file=out)
        for form in FORMATS:
            for about, (columns, sql, options) in MESSAGES.items():
                told = ask_for_messages(flink, columns, form, sql, options)
                print(json.dumps({"name": f"{form}: {about}", "sql": sql, **told}, ensure_ascii=False), file=out)


def ask_for_messages(flink: Flink, columns: str, form: str, sql: str, options: dict[str, str]) -> dict[str, Any]:
    """The lines that Flink writes for the rows of a query."""
    line = "(line STRING) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'raw')"
    query = {
        **Situation("messages", "", "", "SELECT line FROM back", (BID,), zone="Europe/Berlin").asked("streaming"),
        "options": {"execution.checkpointing.interval": "300 ms"},  # files are complete at a checkpoint
        "statements": [
            "DROP TABLE IF EXISTS o",
            "DROP TABLE IF EXISTS back",
            table_of(columns, form, options, "{folder}"),
            f"INSERT INTO o {sql}",
            f"CREATE TABLE back {line}",
        ],
        "kinds": True,
    }
    found = flink.ask(query)
    if "changes" not in found:
        return {key: found[key] for key in ("refused", "failed") if key in found}
    return {"lines": [row[0] for _, row in found["changes"]]}


if __name__ == "__main__":
    main()
