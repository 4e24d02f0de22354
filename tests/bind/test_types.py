"""Types that the binder is certain of are the types that Spark gives."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from tvfsql import Session, compile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NUMBERS = {
    "t": "TINYINT",
    "i": "INT",
    "l": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "p": "DECIMAL(10, 2)",
    "q": "DECIMAL(38, 10)",
    "z": "DECIMAL(4, 4)",
}
OTHERS = {
    "s": "STRING",
    "ts": "TIMESTAMP(3)",
    "day": "DATE",
    "yes": "BOOLEAN",
    "a": "ARRAY<INT>",
    "b": "BYTES",
    "tz": "TIMESTAMP_LTZ(3)",
}
ARITHMETIC = [f"{x} {op} {y}" for x, y in product([*NUMBERS, "2", "1.5"], repeat=2) for op in ("+", "*", "/", "%")]
SHAPES = [
    "CASE WHEN yes THEN i ELSE l END",
    "COALESCE(i, 0)",
    "IF(yes, t, i)",
    "NULLIF(p, 0)",
    "-p",
    "ABS(i)",
    "ABS(s)",
    "-s",
    "ABS(s) / 2",
    "SUBSTRING(b FROM 2)",
    "tz || 'a'",
    "LEFT(b, i)",
    "REVERSE(b)",
    "ARRAY_APPEND(a, l)",
    "ARRAY_PREPEND(ARRAY[d], i)",
    "ROUND(d, 2)",
    "COALESCE(a, ARRAY[l])",
    "COALESCE(MAP['k', t], MAP['k', i])",
    "ROUND(p, 1)",
    "ROUND(p)",
    "ROUND(p, -1)",
    "ROUND(z)",
    "ROUND(z, 2)",
    "ROUND(q, 3)",
    "ROUND(l, -1)",
    "ROUND(p, 1) / 3",
    "TRUNCATE(z, 0)",
    "POSITION('a' IN s)",
    "s LIKE 'a!%' ESCAPE '!'",
    "day + INTERVAL '1' MONTH",
    "EXTRACT(SECOND FROM ts)",
    "EXTRACT(HOUR FROM ts)",
    "YEAR(day)",
    "ts - INTERVAL '1' HOUR",
    "UPPER(s)",
    "s || s",
    "CONCAT(a, a)",
    "LENGTH(s)",
    "i > 1",
    "CAST(s AS DECIMAL(5, 1))",
    "7 / 2",
    "TO_TIMESTAMP(s)",
    "TO_TIMESTAMP_LTZ(l, 3)",
    "SQRT(p)",
    "p * 2 + 1",
    "p / 3",
]


@pytest.mark.spark
def test_what_the_binder_says_of_a_type_is_so(spark: SparkSession) -> None:
    session = Session(spark)
    columns = ", ".join(f"CAST(NULL AS {kind}) AS `{name}`" for name, kind in {**NUMBERS, **OTHERS}.items())
    session.execute(f"CREATE VIEW v AS SELECT {columns}")
    expressions = [*ARITHMETIC, *SHAPES]
    items = ", ".join(f"{text} AS e{i}" for i, text in enumerate(expressions))
    result = session.sql(f"SELECT {items} FROM v")
    said = [field.type.spark for field in result.query.physical.schema]
    given = [kind for _, kind in result.dataframe().dtypes]
    wrong = [
        (text, one, other) for text, one, other in zip(expressions, said, given, strict=True) if one and one != other
    ]
    assert not wrong
    unsure = [text for text, kind in zip(ARITHMETIC, said, strict=False) if not kind]
    assert not unsure


@pytest.mark.parametrize(
    "expression",
    [
        "TIMESTAMPADD(SECOND, n, TIMESTAMP '2020-01-01 00:00:00')",
        "TIMESTAMPADD(DAY, 1, r.inner_row.t)",
        "arr[1]",
        "m['k']",
        "rows_[1].t",
        "FLOOR(t TO MINUTE)",
        "CASE WHEN n = 1 THEN t ELSE r.t END",
        "GREATEST(t, r.t)",
        "COALESCE(TO_TIMESTAMP(s), t)",
        "NOW()",
        "LOCALTIMESTAMP",
        "CURRENT_TIMESTAMP",
        "t + INTERVAL '1' DAY * n",
        "TO_TIMESTAMP_LTZ(n, 3)",
    ],
)
def test_the_type_of_a_time_is_known(expression: str) -> None:
    columns = (
        "n INT, s STRING, t TIMESTAMP(3), r ROW<t TIMESTAMP(3), inner_row ROW<`a,b` INT, t TIMESTAMP(3)>>, "
        "arr ARRAY<TIMESTAMP(3)>, m MAP<STRING, TIMESTAMP(3)>, rows_ ARRAY<ROW<t TIMESTAMP(3)>>"
    )
    table = f"CREATE TABLE x ({columns}, rt AS {expression}, WATERMARK FOR rt AS rt - INTERVAL '1' SECOND);"
    window = "TABLE(TUMBLE(TABLE x, DESCRIPTOR(rt), INTERVAL '1' HOUR)) GROUP BY window_start, window_end"
    assert compile(f"{table} SELECT COUNT(*) FROM {window}", mode="streaming").code
