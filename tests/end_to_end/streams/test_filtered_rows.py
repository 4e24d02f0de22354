"""Rows that a filter of a stream drops: they bring watermarks, but no expression fails for them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import create_table, write_files
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = "ts TIMESTAMP(3), kind STRING, payload STRING, n INT, q INT, WATERMARK FOR ts AS ts"
TUMBLE = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR({}), INTERVAL '10' SECOND))"
NUMBERS = "(SELECT ts, payload, n, q, n / q AS share, RAND() AS r FROM t WHERE q <> 0 AND kind = 'number')"
EITHER = "(SELECT ts, n / q AS x FROM t WHERE q <> 0 UNION ALL SELECT ts, q FROM t WHERE q > 0)"
QUERIES = (
    f"""SELECT window_end, n / q, SUM(CAST(payload AS INT)), MAX(onlySome(q) + 1), MAX(JSON_VALUE(payload, '$.a'))
        FROM {TUMBLE.format("t", "ts")} WHERE q <> 0 AND kind = 'number' AND onlySome(q) > 0
        GROUP BY window_start, window_end, n / q""",
    # computed twice, so not in one projection with the filter; and a filter that could fail for rows dropped before it
    f"""SELECT window_end, MAX(share * share), SUM(share + CAST(payload AS INT)), MAX(onlySome(q)), NULL
        FROM {TUMBLE.format(NUMBERS, "ts")} WHERE share * share / q < 1000 AND r >= 0
        GROUP BY window_start, window_end""",
    f"""SELECT window_end, SUM(x), COUNT(*), MIN(x / x), NULL FROM {TUMBLE.format(EITHER, "ts")}
        GROUP BY window_start, window_end""",
    """SELECT ts, 10 / q, CAST(payload AS INT), onlySome(q), NULL FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY 12 / q ORDER BY ts) AS place FROM t WHERE q <> 0 AND kind = 'number'
    ) WHERE place = 1""",
)


@pytest.mark.spark
def test_a_stream_computes_only_what_batch_computes(spark: SparkSession, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"kind": "number", "payload": "7", "n": 6, "q": 2},
        {"kind": "text", "payload": "seven", "n": 6, "q": 1},
        {"kind": "text", "payload": "{", "n": 1, "q": 0},
        {"kind": "number", "payload": "8", "n": 9, "q": 3},
        {"kind": None, "payload": "x", "q": 0},
        {"kind": "text", "payload": "last", "n": 1, "q": 0},
    ]
    timed = [{"ts": f"2020-04-15 08:00:{4 * i:02d}", **row} for i, row in enumerate(rows)]
    write_files(tmp_path / "in", [timed[:3], timed[3:]])
    found: list[Counter[tuple[Any, ...]]] = []
    for mode in ("batch", "streaming"):
        session = Session(spark, mode=mode)
        session.execute("CREATE FUNCTION onlySome AS 'user_functions.only_some' LANGUAGE PYTHON")
        create_table(session, "t", COLUMNS, tmp_path / "in")
        answers = [session.sql(sql).collect() for sql in QUERIES]
        found.append(Counter((i, *row) for i, rows_of in enumerate(answers) for row in map(tuple, rows_of)))
    assert found[0] == found[1]
    assert {row[0] for row in found[0]} == {*range(len(QUERIES))}
