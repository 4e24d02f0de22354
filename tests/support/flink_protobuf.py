"""Asks Flink for messages of Protocol Buffers: its bytes for rows, and what it reads. The answers are in
tests/data/flink_protobuf.json.

It runs in the Python of Flink's own virtual environment, with the jar of flink-sql-protobuf of Flink's version, and
classes of tests/data/protobuf, which protoc 32.1 (Maven: com.google.protobuf:protoc:4.32.1) and javac make:
protoc --java_out=java -I tests/data/protobuf shop.proto old.proto
protoc --include_imports --descriptor_set_out=tests/data/protobuf/shop.desc -I tests/data/protobuf shop.proto
(in java, com.google.protobuf is org.apache.flink.formats.protobuf.shaded.com.google.protobuf)
export HADOOP_CLASSPATH=flink-sql-protobuf-2.3.0.jar:classes
.venv-flink/bin/python -m tests.support.flink_protobuf > tests/data/flink_protobuf.json
"""

from __future__ import annotations

import json
from typing import Any

from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment

ORDER, OLD = "com.acme.shop.Order", "com.acme.old.OldOuterClass$Old"
ALL = (
    "id BIGINT, maybe BIGINT, item STRING, note STRING, paid BOOLEAN, f FLOAT, `d` DOUBLE, `raw` BYTES, kind STRING, "
    "kind_number INT, `first` ROW<sku STRING, `count` INT, price DOUBLE>, "
    "`lines` ARRAY<ROW<sku STRING, `count` INT, price DOUBLE>>, numbers ARRAY<INT>, counts MAP<STRING, BIGINT>, "
    "by_number MAP<INT, ROW<sku STRING, `count` INT>>, u INT, ul BIGINT, s INT, fx BIGINT, `left` STRING, `right` INT, "
    "words ARRAY<STRING>, kinds ARRAY<STRING>"
)
FULL = """7; 0; 'x'; 'n'; TRUE; 0.5; -2.5; X'00ff'; 'GOOD'; 7; ROW('s', 1, CAST(NULL AS DOUBLE));
ARRAY[ROW('s', 0, 1.5)]; ARRAY[1, 2]; MAP['k', 1]; MAP[3, ROW('q', 4)]; -1; -1; -5; 9; 'l'; NULL;
ARRAY['a', CAST(NULL AS STRING)]; ARRAY['BAD', 'GOOD']"""
# Columns, the Java class, rows to write (expressions between semicolons), and messages to read.
CASES: list[tuple[str, str, list[str], list[str]]] = [
    (ALL, ORDER, [FULL, "; ".join(["NULL"] * 23)], ["", "08001000", "5a00", "9806070801", "0801080210"]),
    ("id INT", ORDER, [], []),
    ("u BIGINT", ORDER, [], []),
    ("ids BIGINT", ORDER, [], []),
    ("f DOUBLE", ORDER, [], []),
    ("kind BOOLEAN", ORDER, [], []),
    ("item BYTES", ORDER, [], []),
    ("`first` STRING", ORDER, [], []),
    ("`first` ROW<sku INT>", ORDER, [], []),
    ("numbers INT", ORDER, [], []),
    ("counts MAP<STRING, INT>", ORDER, [], []),
    ("id ARRAY<BIGINT>", ORDER, [], []),
    ("`lines` ARRAY<ROW<nope INT>>", ORDER, [], []),
    (
        "numbers ARRAY<INT>, words ARRAY<STRING>",
        ORDER,
        ["ARRAY[1, CAST(NULL AS INT)]; ARRAY[CAST(NULL AS STRING)]"],
        [],
    ),
    ("counts MAP<STRING, BIGINT>", ORDER, ["MAP['k', CAST(NULL AS BIGINT)]"], []),
    ("kind_number INT, kind STRING", ORDER, ["7; 'BAD'"], ["5005", "4805", "ff", "0801ff", "0a"]),
    ("`left` STRING, `right` INT", ORDER, ["'l'; 5"], []),
    (
        "id BIGINT, item STRING, n INT, many ARRAY<INT>, b BOOLEAN",
        OLD,
        ["1; NULL; NULL; NULL; NULL", "2; 'a'; 0; ARRAY[0]; FALSE"],
        ["", "0801"],
    ),
    ("sku STRING", "com.acme.shop.Order$Line", ["'q'"], []),
    ("id BIGINT", "com.acme.shop.Nope", [], []),
]


def main() -> None:
    flink = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    flink.get_config().set("parallelism.default", "1")
    cases = [
        {"columns": columns, "class": name, **answer(flink, columns, name, rows, messages)}
        for columns, name, rows, messages in CASES
    ]
    print("[" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "]")


def answer(flink: TableEnvironment, columns: str, name: str, rows: list[str], messages: list[str]) -> dict[str, Any]:
    java = get_gateway().jvm
    protobuf = java.org.apache.flink.formats.protobuf
    flink.execute_sql("DROP TEMPORARY TABLE IF EXISTS t")
    flink.execute_sql(f"CREATE TEMPORARY TABLE t ({columns}) WITH ('connector' = 'datagen')")
    kind = flink.from_path("t")._j_table.getResolvedSchema().toPhysicalRowDataType()
    row = kind.getLogicalType()

    def config(defaults: bool) -> Any:
        builder = getattr(protobuf, "PbFormatConfig$PbFormatConfigBuilder")()
        return builder.messageClassName(name).readDefaultValues(defaults).writeNullStringLiterals("~").build()

    made = java.org.apache.flink.table.runtime.typeutils.InternalTypeInfo.of(row)
    try:
        readers = [
            protobuf.deserialize.PbRowDataDeserializationSchema(row, made, config(each)) for each in (False, True)
        ]
        writer = protobuf.serialize.PbRowDataSerializationSchema(row, config(False))
        for each in (*readers, writer):
            each.open(None)
    except Exception as error:
        return {"refused": str(error).splitlines()[1]}
    convert = java.org.apache.flink.table.data.conversion.DataStructureConverters.getConverter(kind)
    convert.open(java.java.lang.Thread.currentThread().getContextClassLoader())
    types = [str(part.getType().copy(True).asSerializableString()) for part in row.getFields()]
    written = []
    for given in rows:
        items = [f"CAST({each} AS {of})" for each, of in zip(given.split(";"), types, strict=True)]
        found = flink.sql_query(f"SELECT {', '.join(items)}")._j_table.execute().collect()
        written.append(bytes(writer.serialize(convert.toInternal(found.next()))).hex())
        found.close()

    def read(message: str, reader: Any) -> str | None:
        try:
            return str(convert.toExternal(reader.deserialize(bytes.fromhex(message))).toString())
        except Exception:
            return None

    told = [{"message": each, "read": [read(each, reader) for reader in readers]} for each in (*written, *messages)]
    return {"written": len(written), "messages": told}


if __name__ == "__main__":
    main()
