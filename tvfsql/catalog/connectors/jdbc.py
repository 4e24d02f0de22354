"""Tables of databases, with the options of Flink's `jdbc` connector. Spark reads them; rows are written to PostgreSQL.

With Spark's own options (`dbtable`, `query`) the connector is Spark's data source instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvfsql.catalog.connectors.connector import Connector
from tvfsql.catalog.connectors.ignored import ignored_names
from tvfsql.errors import BindError, OtherMode, Span, UnsupportedError
from tvfsql.plan.node import Field
from tvfsql.plan.tables.options import CONFLICTS, TableOptions
from tvfsql.plan.values.types import Map, Row
from tvfsql.secrets import without_passwords

JDBC, POSTGRES = "jdbc", "jdbc:postgresql:"
OF_SPARK = ("dbtable", "query")
DRIVERS = {  # classes that read these databases; DriverManager does not find those of packages by itself
    "postgresql": "org.postgresql.Driver",
    "mysql": "com.mysql.cj.jdbc.Driver",
    "mariadb": "org.mariadb.jdbc.Driver",
    "sqlserver": "com.microsoft.sqlserver.jdbc.SQLServerDriver",
    "oracle": "oracle.jdbc.OracleDriver",
}
PARTS = "scan.partition."  # no rows of a lookup join are left out


@dataclass(frozen=True)
class Jdbc(Connector):
    """A table of a database. `login` are parameters of PostgreSQL's connection, `keys` the primary key. `in_parts`: the
    column by which Flink would scan it, in a range of values.
    """

    url: str = ""
    table: str = ""
    login: tuple[tuple[str, str], ...] = ()
    keys: tuple[str, ...] = ()
    in_parts: str = ""
    conflict: str = ""  # of an INSERT

    @property
    def conflicts(self) -> tuple[str, ...]:
        return CONFLICTS

    @property
    def takes_schema(self) -> bool:
        return False

    @property
    def takes_micro_batches(self) -> bool:
        return True

    @property
    def by_number(self) -> str:
        return f"{self.url} {self.table}"

    @property
    def replaces_by(self) -> tuple[str, ...]:
        return self.keys

    def refuse_stream(self, table: str) -> None:
        raise UnsupportedError(
            f"streams cannot read {table}: it is a table of a database",
            hint=OtherMode("batch", f"JOIN {table} FOR SYSTEM_TIME AS OF o.proc"),
        )

    def refuse_batch(self, table: str) -> None:
        if self.in_parts:
            raise UnsupportedError(
                f"{PARTS}* is not supported, because it leaves out the rows of {table} outside its bounds",
                hint=f"leave it out, and write WHERE {self.in_parts} BETWEEN ... AND ... in the query",
            )

    def refuse_insert(self, table: str, metadata: Mapping[str, str], overwrite: bool, span: Span) -> None:
        if overwrite:
            raise BindError("INSERT OVERWRITE does not work with jdbc", span=span, hint="INSERT INTO")
        if not self.url.startswith(POSTGRES):
            problem = f"{table} cannot be written: of the databases, only PostgreSQL can"
            raise BindError(problem, span=span, hint=f"'url' = '{POSTGRES}//localhost:5432/db'")


def jdbc(
    options: TableOptions, columns: Sequence[Field], places: Mapping[str, Span], key: Sequence[str], op: str | None
) -> Jdbc:
    """Return the table that a WITH clause describes. `columns` are its stored columns, `places` the spans of their
    names, `key` is its primary key. `op` is the column of operations, if it has one. Raises BindError.
    """
    url = options.text("url", example=f"{POSTGRES}//localhost:5432/db")
    if not url.startswith("jdbc:"):
        problem = f"is not a JDBC URL: {without_passwords(url)}"
        raise options.error("url", problem, f"'url' = '{POSTGRES}//localhost:5432/db'")
    table = options.text("table-name", example=options.called)
    login = {"user": "username", "password": "password"}
    given = tuple((theirs, options.text(ours)) for theirs, ours in login.items() if ours in options)
    driver = options.text("driver") if "driver" in options else DRIVERS.get(url.split(":")[1])
    in_parts = options.text(f"{PARTS}column") if f"{PARTS}column" in options else ""
    for name in ("num", "lower-bound", "upper-bound"):
        if f"{PARTS}{name}" in options:
            options.text(f"{PARTS}{name}")
    options.refuse_unread(OF_SPARK, ignored_names(JDBC))
    if op and not key:
        hint = "PRIMARY KEY (k) NOT ENFORCED"
        raise BindError("a changelog in a database needs a primary key", span=options.table, hint=hint)
    for field in columns:
        if any(isinstance(kind, Map | Row) for kind in field.type.walk()):
            raise BindError(f"connector jdbc cannot store column {field.name}", span=places[field.name])
    reading = (("url", url), ("dbtable", table), *given, *((("driver", driver),) if driver else ()))
    return Jdbc(JDBC, JDBC, None, reading, url=url, table=table, login=given, keys=tuple(key), in_parts=in_parts)
