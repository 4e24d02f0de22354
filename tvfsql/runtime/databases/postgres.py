"""Rows in tables of PostgreSQL: added, or in place of the rows with the same primary key.

The driver copies the rows into a temporary table and merges that into the target, in one transaction. The transaction
also stores the number of the micro-batch, so a micro-batch that is repeated after a kill changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.errors import DataError
from tvfsql.plan.tables.internal_columns import ADDED, REMOVED
from tvfsql.plan.tables.options import DEDUPLICATE, ERROR, NOTHING
from tvfsql.runtime.databases.same_key import same_key
from tvfsql.runtime.host.input_checks import check_input
from tvfsql.runtime.host.stream_id import stream_name

if TYPE_CHECKING:
    from psycopg import Connection

HINT = "pip install 'tvfsql[postgres]'"
STORED, MERGED, ORDER = "tvfsql_micro_batches", "tvfsql_rows", "tvfsql_order"


def write_postgres(
    rows: DataFrame,
    number: int | None,
    table: str,
    *,
    url: str,
    options: Mapping[str, str] | None = None,
    keys: Sequence[str] = (),
    op: str | None = None,
    conflict: str = DEDUPLICATE,
    ordered: bool = False,
) -> None:
    """Write rows into a table, by the names of its columns, in one transaction.

    `number` is that of the micro-batch; None in batch. `url` is a URL of JDBC, `options` are parameters of the
    connection (user, password). With `keys`, the primary key of the table, a row replaces the one with the same key.
    `op` names the column with the operation (+I, -U, +U, -D), which is not stored: the last change of a key counts, and
    a retraction deletes its row. `conflict` says what happens to rows without `op` that have the same key, here or in
    the table: NOTHING (the first one stays), ERROR (DataError), or DEDUPLICATE (the last one stays). Rows of a
    micro-batch have an order, those of batch only if they are `ordered`; without it two rows here with the same key
    are an error. Raises DataError also if the database refuses the rows.
    """
    try:
        import psycopg
        from psycopg import conninfo
    except ImportError as error:
        raise DataError("PostgreSQL needs the package psycopg, which is not installed", hint=HINT) from error
    check_input(rows)
    names = tuple(name for name in rows.columns if name != op)
    target = Target(table, names, tuple(keys), op, conflict, ordered or number is not None)
    login = conninfo.make_conninfo(url.removeprefix("jdbc:"), **(options or {}))
    try:
        with psycopg.connect(login) as connection:
            if number is None or _is_new(connection, f"{stream_name(rows.sparkSession)} {table}", number):
                _write(connection, rows, target)
    except psycopg.errors.CardinalityViolation as error:
        raise same_key(table, keys) from error
    except psycopg.errors.UniqueViolation as error:
        if conflict != ERROR:
            raise _refused(table, error) from error
        raise DataError(
            f"two rows for table {table} have the same primary key ({', '.join(keys)})",
            hint=f"ON CONFLICT DO {DEDUPLICATE}, the last one stays",
        ) from error
    except psycopg.errors.UndefinedTable as error:
        columns = [field for field in rows.schema.fields if field.name != op]
        hint = f"in the database: {target.definition(columns)}"
        raise DataError(f"PostgreSQL has no table {table}", hint=hint) from error
    except psycopg.Error as error:
        raise _refused(table, error) from error


def _refused(table: str, error: Exception) -> DataError:
    first = str(error).splitlines()[0]
    if first.startswith("connection"):
        hint = "check that the server runs, and the url of the table; the next run repeats the micro-batch"
        return DataError(f"PostgreSQL cannot be reached for table {table}: {first}", hint=hint)
    return DataError(f"PostgreSQL refuses rows for table {table}: {first}")


@dataclass(frozen=True)
class Target:
    """A table, the columns that are written, those of its key, the column of operations, and what happens to rows with
    the same key, which may have an order.
    """

    table: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    op: str | None
    conflict: str
    ordered: bool

    @property
    def name(self) -> str:
        return ".".join(map(quoted, self.table.split(".")))

    @property
    def selected(self) -> str:
        return ", ".join(map(quoted, self.columns))

    def definition(self, columns: Sequence[T.StructField]) -> str:
        """The CREATE TABLE of PostgreSQL for a table with these columns."""
        parts = [f"{quoted(field.name)} {type_of(field.dataType)}" for field in columns]
        key = f", PRIMARY KEY ({', '.join(map(quoted, self.keys))})" if self.keys else ""
        return f"CREATE TABLE {self.name} ({', '.join(parts)}{key})"

    @property
    def numbered(self) -> bool:
        """Whether one row of each key is picked, by the order in which the rows come."""
        return self.op is not None or bool(self.keys and self.ordered and self.conflict != ERROR)

    @property
    def merge(self) -> Iterator[str]:
        """The statements that merge the temporary table into the target."""
        key = ", ".join(map(quoted, self.keys))
        source = MERGED
        if self.numbered:
            source, way = "tvfsql_last", "ASC" if self.conflict == NOTHING else "DESC"
            picked = f"SELECT DISTINCT ON ({key}) * FROM {MERGED} ORDER BY {key}, {ORDER} {way}"
            yield f"CREATE TEMPORARY TABLE {source} ON COMMIT DROP AS {picked}"
        if self.op is not None:
            op = quoted(self.op)
            same = " AND ".join(f"t.{quoted(name)} = l.{quoted(name)}" for name in self.keys)
            yield f"DELETE FROM {self.name} t USING {source} l WHERE {same} AND l.{op} IN {REMOVED}"
            yield f"DELETE FROM {source} WHERE {op} NOT IN {ADDED}"
        others = [quoted(name) for name in self.columns if name not in self.keys]
        changed = ", ".join(f"{name} = EXCLUDED.{name}" for name in others)
        action = f"DO UPDATE SET {changed}" if changed and self.conflict != NOTHING else "DO NOTHING"
        upsert = f" ON CONFLICT ({key}) {action}" if key and self.conflict != ERROR else ""
        yield f"INSERT INTO {self.name} ({self.selected}) SELECT {self.selected} FROM {source}{upsert}"


TYPES = {
    "string": "text", "tinyint": "smallint", "int": "integer", "float": "real", "double": "double precision",
    "binary": "bytea", "timestamp": "timestamptz", "timestamp_ntz": "timestamp",
}  # fmt: skip


def type_of(kind: T.DataType) -> str:
    """PostgreSQL's type for values of a type of Spark."""
    match kind:
        case T.ArrayType():
            return f"{type_of(kind.elementType)}[]"
        case T.DecimalType():
            return f"numeric({kind.precision}, {kind.scale})"
        case T.StructType() | T.MapType():
            return "jsonb"
    name = kind.simpleString()
    return TYPES.get(name, name)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _write(connection: Connection[Any], rows: DataFrame, target: Target) -> None:
    extra = f", ''::text AS {quoted(target.op)}" if target.op else ""
    extra += f", 0::bigint AS {ORDER}" if target.numbered else ""
    connection.execute(
        f"CREATE TEMPORARY TABLE {MERGED} ON COMMIT DROP AS SELECT {target.selected}{extra} FROM {target.name} LIMIT 0"
    )
    names = [*target.columns, *([target.op] if target.op else [])]
    columns = ", ".join((*map(quoted, names), *([ORDER] if target.numbered else [])))
    with connection.cursor() as cursor, cursor.copy(f"COPY {MERGED} ({columns}) FROM STDIN") as copy:
        for i, row in enumerate(rows.select(*map(_sent, (rows.schema[name] for name in names))).toLocalIterator()):
            copy.write_row((*row, i) if target.numbered else row)
    if target.conflict == NOTHING and not target.numbered:
        key = ", ".join(map(quoted, target.keys))
        twice = f"SELECT 1 FROM {MERGED} GROUP BY {key} HAVING COUNT(*) > 1 LIMIT 1"
        if connection.execute(twice).fetchone() is not None:
            raise same_key(target.table, target.keys)
    for statement in target.merge:
        connection.execute(statement)


def _sent(field: T.StructField) -> Column:
    """A column as PostgreSQL reads it. Python's times have no zone, so instants are texts with an offset."""
    value = F.col(f"`{field.name}`")
    if isinstance(field.dataType, T.TimestampType):
        return F.date_format(value, "yyyy-MM-dd HH:mm:ss.SSSSSSXXX").alias(field.name)
    return value


def _is_new(connection: Connection[Any], stream: str, number: int) -> bool:
    """Whether a micro-batch of a stream has not been written. Its number is then stored."""
    found = connection.execute("SELECT to_regclass(%s)", (STORED,)).fetchone()
    if found is None or found[0] is None:  # IF NOT EXISTS alone fails if two connections create a table at once
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (STORED,))
        connection.execute(f"CREATE TABLE IF NOT EXISTS {STORED} (stream TEXT PRIMARY KEY, number BIGINT NOT NULL)")
    stored = connection.execute(
        f"INSERT INTO {STORED} AS known VALUES (%s, %s) ON CONFLICT (stream) DO UPDATE SET number = EXCLUDED.number "
        "WHERE known.number < EXCLUDED.number RETURNING number",
        (stream, number),
    )
    return stored.fetchone() is not None
