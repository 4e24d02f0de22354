"""Asks Flink for the types and values of expressions: they come in as JSON, the answers go out, a line for each.

It runs in the Python of Flink's own virtual environment:
.venv-flink/bin/python -m tests.support.flink_answers < asked.json > answers.json
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from pyflink.common import Instant, Row
from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, Table, TableEnvironment, utils
from pyflink.table.types import DataType

AT_ONCE = 60
read = utils.pickled_bytes_to_python_converter
PLACE = re.compile(r"line 1, column (\d+)")


def main() -> None:
    utils.pickled_bytes_to_python_converter = null_or_read
    asked = json.load(sys.stdin)
    flink = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for key, value in {"parallelism.default": "1", "table.local-time-zone": asked["zone"]}.items():
        flink.get_config().set(key, value)
    for statement in asked["statements"]:
        flink.execute_sql(statement)
    for group in asked["groups"]:
        expressions = group["expressions"]
        for at in range(0, len(expressions), AT_ONCE):
            for answer in answers(flink, expressions[at : at + AT_ONCE], group["rows"], group["keys"]):
                print(json.dumps({**answer, "group": group["name"]}, ensure_ascii=False), flush=True)


def answers(flink: TableEnvironment, expressions: list[str], rows: str, keys: str) -> Iterator[dict[str, Any]]:
    """The type and the values of each expression. Many at once, as a query costs more than a column."""
    left = [*expressions]
    while left:
        items = [f"{expression} AS x{i}" for i, expression in enumerate(left)]
        try:
            table = flink.sql_query(f"SELECT {keys}{', '.join(items)} {rows}")
            break
        except Exception as error:
            place = PLACE.search(str(error))
            at = _at(items, int(place[1]), len("SELECT ") + len(keys)) if place else None
            if at is None and len(left) > 1:
                half = len(left) // 2
                yield from answers(flink, left[:half], rows, keys)
                yield from answers(flink, left[half:], rows, keys)
                return
            refused = left.pop(at or 0)
            yield {"expr": refused, "type": None, "flink": reason(error)}
    if left:
        yield from of_values(flink, table, left, rows, keys)


def _at(items: list[str], column: int, start: int) -> int | None:
    """The item that has this column of the text, if one has it."""
    end = start
    for i, item in enumerate(items):
        end += len(item) + len(", ")
        if column <= end:
            return i
    return None


def of_values(
    flink: TableEnvironment, table: Table, expressions: list[str], rows: str, keys: str
) -> Iterator[dict[str, Any]]:
    try:
        found = [*collected(table)]
    except Exception as error:
        if len(expressions) == 1:
            yield {"expr": expressions[0], "type": None, "flink": f"ERR {reason(error)}"}
            return
        half = len(expressions) // 2
        yield from answers(flink, expressions[:half], rows, keys)
        yield from answers(flink, expressions[half:], rows, keys)
        return
    first = 1 if keys else 0
    kinds = [kind.asSummaryString() for kind in logical_types(table)][first:]
    for i, expression in enumerate(expressions):
        values = {str(row[0]) if keys else "all": row[first + i] for row in found}
        yield {"expr": expression, "type": kinds[i], "flink": values}


def logical_types(table: Table) -> Iterator[Any]:
    for kind in table._j_table.getResolvedSchema().getColumnDataTypes():
        yield kind.getLogicalType()


def collected(table: Table) -> Iterator[list[Any]]:
    """The rows of a query. A value that PyFlink cannot read is the text UNREAD."""
    kinds = table.get_schema().get_field_data_types()
    with table.execute().collect() as result:
        while result._j_closeable_iterator.hasNext():
            fields = get_gateway().jvm.PythonBridgeUtils.getPickledBytesFromRow(
                result._j_closeable_iterator.next(), result._j_field_data_types
            )
            yield [readable(data, kind) for data, kind in zip(list(fields[1:]), kinds, strict=True)]


def readable(data: Any, kind: DataType) -> Any:
    try:
        return plain(null_or_read(data, kind))
    except (EOFError, TypeError, ValueError):
        return "UNREAD"


def null_or_read(data: Any, kind: DataType) -> Any:
    """The value of these bytes. PyFlink itself knows NULL at the top only, not inside arrays, maps and rows."""
    return None if len(data) == 0 and isinstance(data, bytes | bytearray) else read(data, kind)


def reason(error: Exception) -> str:
    causes = [line.strip() for line in str(error).splitlines() if "Exception" in line]
    return (causes or [str(error)])[-1][:200]


def plain(value: Any) -> Any:
    """A value as the files of answers have it."""
    match value:
        case bool() | None | int() | str():
            return value
        case Decimal():
            return f"D{value:f}"
        case float():
            return repr(value)
        case bytes() | bytearray():
            return f"B{bytes(value).hex()}"
        case timedelta():
            return f"PT{value.total_seconds()}"
        case Instant():
            moment = datetime(1970, 1, 1) + timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
            return moment.isoformat(sep=" ")
        case datetime():
            return value.isoformat(sep=" ")
        case time():
            return value.isoformat().removesuffix("000").removesuffix(":00")
        case date():
            return value.isoformat()
        case dict():
            return {"map": sorted(([plain(key), plain(held)] for key, held in value.items()), key=str)}
        case Row() | list() | tuple():
            return [plain(part) for part in value]
    return repr(value)


if __name__ == "__main__":
    main()
