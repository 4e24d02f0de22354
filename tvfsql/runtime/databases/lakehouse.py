"""Rows in tables of Delta and Iceberg: added, or in place of the rows with the same primary key.

A micro-batch is one commit of the table, which also stores its number. So one that is repeated after a kill changes
nothing. Delta keeps the last number of each stream in its log, and skips a commit whose number it has. Iceberg keeps it
in the summary of a snapshot, and after that in a property of the table, because snapshots expire. It is looked up in
both before rows are written, so it is lost only if a process is killed between the two commits, and another one expires
the snapshot before the stream resumes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tvfsql.errors import DataError
from tvfsql.plan.tables.internal_columns import ADDED, REMOVED
from tvfsql.plan.tables.options import NOTHING
from tvfsql.runtime.databases.same_key import same_key
from tvfsql.runtime.host.input_checks import check_input
from tvfsql.runtime.host.spark_catalog import format_of
from tvfsql.runtime.host.stream_id import stream_name

DELTA, ICEBERG = "delta", "iceberg"
FORMATS = (DELTA, ICEBERG)
STREAM, NUMBER = "tvfsql.stream", "tvfsql.micro-batch"  # in the summaries of Iceberg's snapshots
OP, ORDER = "op", "order"


def append_rows(rows: DataFrame, number: int, table: str, format: str) -> None:
    """Add the rows of micro-batch `number` to a table, by position; to one of Delta or Iceberg only once."""
    with _once(rows.sparkSession, number, table, format) as new:
        if new:
            rows.write.insertInto(table)


def merge_rows(
    rows: DataFrame,
    number: int | None,
    table: str,
    *,
    keys: Sequence[str],
    op: str | None = None,
    created: str = "",
    conflict: str = "",
    ordered: bool = False,
) -> None:
    """Write rows into a table of Delta or Iceberg, by the names of their columns, in place of those with the same key.

    `number` is that of the micro-batch; None in batch. `created` is the CREATE TABLE IF NOT EXISTS that comes first, if
    any. `op` names the column with the operation (+I, -U, +U, -D), which is not stored: the last change of a key
    counts, and a retraction deletes its row. `conflict` says what happens to rows without `op` that have the same key,
    here or in the table: NOTHING (the first one stays), or DEDUPLICATE (the last one stays). Rows of a micro-batch have
    an order, those of batch only if they are `ordered`. Raises DataError if the table is of another format, if a key is
    NULL, or if two rows here have the same key and no order, or if `conflict` says nothing.
    """
    check_input(rows)
    spark = rows.sparkSession
    if created:
        spark.sql(created)
    format = format_of(spark, table)
    if format not in FORMATS:
        kind = f"its format is {format}" if format else "it has no format"
        raise DataError(
            f"rows of table {table} cannot be replaced by PRIMARY KEY: {kind}",
            hint=f"leave out PRIMARY KEY, or use a table of {' or '.join(FORMATS)}",
        )
    with _once(spark, number, table, format) as new:
        if new:
            picked = op is not None or bool(conflict and (ordered or number is not None))
            _merge(rows, table, keys, op, picked, first=conflict == NOTHING)


def _merge(rows: DataFrame, table: str, keys: Sequence[str], op: str | None, picked: bool, first: bool) -> None:
    """With `picked` only the last row of each key counts, or the `first`. The first one does not replace a row."""
    spark = rows.sparkSession
    types = {field.name.lower(): field.dataType for field in spark.table(table).schema.fields}
    names = [name for name in rows.columns if name != op]
    if missing := [name for name in names if name.lower() not in types]:
        raise DataError(f"table {table} has no column {missing[0]}")
    short = {name: f"c{i}" for i, name in enumerate(names)}
    wanted = [F.col(_quoted(name)).cast(types[name.lower()]).alias(short[name]) for name in names]
    if op is not None:
        wanted += [F.col(_quoted(op)).alias(OP)]
    if picked:
        wanted += [F.monotonically_increasing_id().alias(ORDER)]
    by = [short[key] for key in keys]
    kept = rows.select(*wanted).persist()  # a MERGE reads its rows more than once
    try:
        _refuse_keys(kept, table, keys, by, picked)
        spark.sql(_statement(table, short, keys, op, first), rows=_picked(kept, by, first) if picked else kept)
    finally:
        kept.unpersist()


def _picked(rows: DataFrame, by: Sequence[str], first: bool) -> DataFrame:
    """The last row of each key, or the first. Changes of a key are in one partition, in order.

    They are computed here: a MERGE of Iceberg takes no plan that numbers rows.
    """
    row = F.struct(*(name for name in rows.columns if name != ORDER))
    one = (F.min_by if first else F.max_by)(row, ORDER)
    return rows.groupBy(*by).agg(one.alias("one")).select("one.*").localCheckpoint()


def _refuse_keys(rows: DataFrame, table: str, keys: Sequence[str], by: Sequence[str], picked: bool) -> None:
    """Raise DataError for a key that is NULL, or that two rows have unless one is picked."""
    null = F.lit(False)
    for name in by:
        null |= F.col(name).isNull()
    repeated = F.lit(False) if picked else F.col("count") > 1
    found = rows.groupBy(*by).count().where(null | repeated).select(null).head()
    key = ", ".join(keys)
    if found is not None and found[0]:
        raise DataError(
            f"a row for table {table} has a NULL in its primary key ({key})", hint=f"WHERE {keys[0]} IS NOT NULL"
        )
    if found is not None:
        raise same_key(table, keys)


def _statement(table: str, short: Mapping[str, str], keys: Sequence[str], op: str | None, first: bool) -> str:
    """The MERGE, as a template of `spark.sql`, in which braces are doubled."""
    columns = {_quoted(name).replace("{", "{{").replace("}", "}}"): f"s.{own}" for name, own in short.items()}
    of_key = {short[key] for key in keys}
    same = " AND ".join(f"t.{name} = {value}" for name, value in columns.items() if value[2:] in of_key)
    changed = ", ".join(f"t.{name} = {value}" for name, value in columns.items() if value[2:] not in of_key)
    lines = [f"MERGE INTO {table.replace('{', '{{').replace('}', '}}')} AS t USING {{rows}} AS s ON {same}"]
    if op is not None:
        lines.append(f"WHEN MATCHED AND s.{OP} IN {REMOVED} THEN DELETE")
    if changed and not first:
        lines.append(f"WHEN MATCHED THEN UPDATE SET {changed}")
    added = f" AND s.{OP} IN {ADDED}" if op is not None else ""
    lines.append(f"WHEN NOT MATCHED{added} THEN INSERT ({', '.join(columns)}) VALUES ({', '.join(columns.values())})")
    return "\n".join(lines)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@contextmanager
def _once(spark: SparkSession, number: int | None, table: str, format: str) -> Iterator[bool]:
    """Have the commits in its block store the number of a micro-batch. Yields False if the table already has it."""
    if number is None or format not in FORMATS:
        yield True
        return
    stream = stream_name(spark)
    if format == ICEBERG and _last_number(spark, table, stream) >= number:
        yield False
        return
    settings = {
        DELTA: {
            "spark.databricks.delta.write.txnAppId": f"tvfsql {stream}",
            "spark.databricks.delta.write.txnVersion": str(number),
        },
        ICEBERG: {
            f"spark.sql.iceberg.snapshot-property.{STREAM}": stream,
            f"spark.sql.iceberg.snapshot-property.{NUMBER}": str(number),
        },
    }[format]
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield True
    finally:
        for key in settings:
            spark.conf.unset(key)
    if format == ICEBERG:
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{_property(stream)}' = '{number}')")


def _property(stream: str) -> str:
    """The property of an Iceberg table that has the last number of a stream."""
    return f"{NUMBER}.{stream.replace(' ', '.')}"


def _last_number(spark: SparkSession, table: str, stream: str) -> int:
    """The number of the stream's last micro-batch in an Iceberg table; -1 before the first one."""
    summaries = spark.table(f"{table}.snapshots").where(F.col("summary")[STREAM] == stream)
    (last,) = summaries.agg(F.max(F.col("summary")[NUMBER].cast("bigint"))).collect()
    kept = spark.sql(f"SHOW TBLPROPERTIES {table}").where(F.col("key") == _property(stream)).collect()
    return max(-1 if last[0] is None else int(last[0]), *(int(row["value"]) for row in kept), -1)
