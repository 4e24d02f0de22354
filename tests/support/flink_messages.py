"""Asks Flink for messages in Avro: the schema that it derives from a table's columns, its bytes for rows, and what it
reads from these. What it refuses is there too. The answers are in tests/data/flink_avro.json.

It runs in the Python of Flink's own virtual environment, with the jar of org.apache.flink:flink-sql-avro
of the same version as Flink:
export HADOOP_CLASSPATH=flink-sql-avro-2.3.0.jar
.venv-flink/bin/python -m tests.support.flink_messages > tests/data/flink_avro.json
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment

LEGACY = "avro.timestamp_mapping.legacy"
# Columns of a table, and rows: an expression for each column.
CASES: list[tuple[str, list[list[str]]]] = [
    ("a STRING NOT NULL, b STRING, n INT NOT NULL", [["'x'", "'ü'", "-3"], ["''", "NULL", "2147483647"]]),
    (
        "a TINYINT, b SMALLINT, c INT, d BIGINT, e FLOAT, f DOUBLE, g BOOLEAN",
        [["-128", "300", "1", "9000000000", "0.5", "-1e300", "TRUE"], ["NULL"] * 7],
    ),
    (
        "a DECIMAL(10, 2), b DECIMAL(38, 10) NOT NULL",
        [["-1.5", "'123456789012345678.0123456789'"], ["NULL", "0"], ["99999999.99", "-0.0000000001"]],
    ),
    ("a BYTES, b BINARY(3) NOT NULL, c CHAR(3), d VARCHAR(5)", [["X'00ff'", "X'010203'", "'abc'", "'de'"]]),
    ("a DATE, b DATE NOT NULL", [["DATE '2020-04-15'", "DATE '1969-12-31'"]]),
    ("a TIME(3), b TIME NOT NULL, c TIME(6)", [["TIME '12:34:56.789'", "TIME '12:34:56'", "TIME '00:00:00.001'"]]),
    (
        "a TIMESTAMP(3), b TIMESTAMP(3) NOT NULL",
        [["TIMESTAMP '2020-04-15 12:00:00.123'", "TIMESTAMP '1969-12-31 23:59:59.999'"]],
    ),
    (
        "a TIMESTAMP(0), b TIMESTAMP(1), c TIMESTAMP(2)",
        [
            [
                "TIMESTAMP '2020-04-15 12:00:00'",
                "TIMESTAMP '2020-04-15 12:00:00.1'",
                "TIMESTAMP '2020-04-15 12:00:00.12'",
            ]
        ],
    ),
    ("a TIMESTAMP", []),
    ("a TIMESTAMP(6)", [["TIMESTAMP '2020-04-15 12:00:00.123456'"]]),
    ("a TIMESTAMP(9)", []),
    ("a TIMESTAMP_LTZ(3), b INT", [["TO_TIMESTAMP_LTZ(1586952000123, 3)", "1"]]),
    ("a TIMESTAMP_LTZ", []),
    ("a TIMESTAMP_LTZ(6)", []),
    (
        "a ROW<x INT NOT NULL, y STRING> NOT NULL, b ROW<x ROW<z INT>>",
        [["ROW(1, 'q')", "ROW(ROW(2))"], ["ROW(1, CAST(NULL AS STRING))", "NULL"]],
    ),
    (
        "a ARRAY<INT NOT NULL> NOT NULL, b ARRAY<ROW<x INT>>, c ARRAY<ARRAY<STRING>>",
        [["ARRAY[1, 2]", "ARRAY[ROW(7)]", "ARRAY[ARRAY['p', CAST(NULL AS STRING)]]"], ["ARRAY[3]", "NULL", "NULL"]],
    ),
    (
        "a MAP<STRING, INT>, b MAP<STRING NOT NULL, BIGINT NOT NULL> NOT NULL",
        [["MAP['k', 1]", "MAP['k', 2]"], ["NULL", "MAP['l', -1]"]],
    ),
    ("a MULTISET<STRING>", []),
    ("a INT ARRAY, b INT MULTISET NOT NULL", []),
    ("a MAP<STRING, ROW<x INT>>, b ROW<c TIMESTAMP(3) NOT NULL, d DECIMAL(5, 1)>", []),
    ("a MAP<INT, STRING>", []),
    ("a INT, b STRING, PRIMARY KEY (b) NOT ENFORCED", [["NULL", "'k'"]]),
    ("id INT PRIMARY KEY NOT ENFORCED, b INT NULL", []),
    ("a_b ROW<c INT>, a ROW<b_c INT, b ROW<c INT>>", [["ROW(1)", "ROW(2, ROW(3))"]]),
    ("a_b ROW<c INT>, a ROW<b ROW<c STRING>>", []),
    ("`a b` INT", []),
    ("a VARIANT", []),
    ("a DOUBLE PRECISION, b CHARACTER VARYING(3), c TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL, d DEC(5, 1)", []),
    ("a TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL", []),
]


def main() -> None:
    flink = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for key, value in {"parallelism.default": "1", "table.local-time-zone": "UTC"}.items():
        flink.get_config().set(key, value)
    cases = [
        {"columns": columns, LEGACY: legacy, **answer(flink, columns, rows, legacy)}
        for columns, rows in CASES
        for legacy in (True, False)
    ]
    print("[" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "]")


def answer(flink: TableEnvironment, columns: str, rows: list[list[str]], legacy: bool) -> dict[str, Any]:
    """The schema and messages, or what is refused."""
    java = get_gateway().jvm
    avro = java.org.apache.flink.formats.avro
    flink.execute_sql("DROP TEMPORARY TABLE IF EXISTS t")
    flink.execute_sql(f"CREATE TEMPORARY TABLE t ({columns}) WITH ('connector' = 'datagen')")
    table = flink.from_path("t")
    kind = table._j_table.getResolvedSchema().toPhysicalRowDataType()
    row = kind.getLogicalType()
    encoding = avro.AvroFormatOptions.AVRO_ENCODING.defaultValue()
    try:
        schema = avro.typeutils.AvroSchemaConverter.convertToSchema(row, legacy)
        writer = avro.AvroRowDataSerializationSchema(row, encoding, legacy)
        made = java.org.apache.flink.table.runtime.typeutils.InternalTypeInfo.of(row)
        reader = avro.AvroRowDataDeserializationSchema(row, made, encoding, legacy)
        for each in (writer, reader):
            each.open(None)
    except Exception as error:
        return {"refused": _reason(error)}
    types = [str(part.getType().copy(True).asSerializableString()) for part in row.getFields()]
    convert = java.org.apache.flink.table.data.conversion.DataStructureConverters.getConverter(kind)
    convert.open(java.java.lang.Thread.currentThread().getContextClassLoader())
    messages = []
    for given in _rows(flink, types, rows):
        message = writer.serialize(convert.toInternal(given))
        back = convert.toExternal(reader.deserialize(message))
        messages.append({"written": given.toString(), "message": bytes(message).hex(), "read": back.toString()})
    return {"schema": json.loads(schema.toString()), "messages": messages}


def _rows(flink: TableEnvironment, types: list[str], rows: list[list[str]]) -> Iterator[Any]:
    for expressions in rows:
        items = [f"CAST({each} AS {kind})" for each, kind in zip(expressions, types, strict=True)]
        found = flink.sql_query(f"SELECT {', '.join(items)}")._j_table.execute().collect()
        yield found.next()
        found.close()


def _reason(error: Exception) -> str:
    """The message of Java's exception."""
    line = next(line for line in str(error).splitlines() if line.startswith(": "))
    return line.partition("Exception: ")[2]


if __name__ == "__main__":
    main()
