"""Connections of dbt: cursors over the engine of the profile's folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState, Credentials
from dbt.adapters.sql import SQLConnectionManager
from dbt.adapters.tvfsql.engine import Engine, engine_of
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from tvfsql.errors import TvfSqlError


@dataclass
class TvfsqlCredentials(Credentials):
    """A profile: `path` is the folder of definitions, rows and checkpoints; `options` are those of SET; `master` and
    `remote` name another Spark than one on this machine.
    """

    database: str = "tvfsql"
    schema: str = "default"
    path: str = "target/tvfsql"
    master: str | None = None
    remote: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    _ALIASES = {"dbname": "database"}

    @property
    def type(self) -> str:
        return "tvfsql"

    @property
    def unique_field(self) -> str:
        return self.path

    def _connection_keys(self) -> tuple[str, ...]:
        return ("database", "schema", "path", "master", "remote")  # dbt takes the database of models from here


class Cursor:
    """The rows of one statement, as DB-API has them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.description: list[tuple[Any, ...]] | None = None
        self.rows: list[tuple[Any, ...]] = []

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        if bindings:
            raise DbtRuntimeError("tvfsql takes no bindings")
        self.description, self.rows = None, []
        with self.engine.lock:
            result = self.engine.execute(sql)
            if result is not None and result.query.sink is None:
                kinds = [(part.name, part.type.flink) for part in result.query.physical.schema]
                self.description = [(name, kind, None, None, None, None, True) for name, kind in kinds]
                self.rows = [tuple(row) for row in result.collect()]

    def fetchall(self) -> list[tuple[Any, ...]]:
        rows, self.rows = self.rows, []
        return rows

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        rows, self.rows = self.rows[:size], self.rows[size:]
        return rows

    def fetchone(self) -> tuple[Any, ...] | None:
        return self.rows.pop(0) if self.rows else None

    def close(self) -> None: ...


@dataclass
class Handle:
    """A connection of DB-API."""

    engine: Engine

    def cursor(self) -> Cursor:
        return Cursor(self.engine)

    def close(self) -> None: ...

    def rollback(self) -> None: ...


class TvfsqlConnectionManager(SQLConnectionManager):
    """Opens handles. There are no transactions."""

    TYPE = "tvfsql"

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        try:
            yield
        except TvfSqlError as error:
            raise DbtDatabaseError(str(error)) from error
        except DbtRuntimeError:
            raise
        except Exception as error:
            raise DbtDatabaseError(str(error)) from error

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        given = connection.credentials
        options = {
            key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in given.options.items()
        }
        try:
            connection.handle = Handle(engine_of(given.path, options, given.master, given.remote))
        except TvfSqlError as error:
            connection.state = ConnectionState.FAIL
            raise DbtRuntimeError(str(error)) from error
        connection.state = ConnectionState.OPEN
        return connection

    def cancel(self, connection: Connection) -> None: ...

    @classmethod
    def get_response(cls, cursor: Cursor) -> AdapterResponse:
        return AdapterResponse(_message="OK")

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def add_begin_query(self, *_: Any, **__: Any) -> None: ...

    def add_commit_query(self, *_: Any, **__: Any) -> None: ...

    def commit_if_has_connection(self) -> None: ...

    def rollback_if_open(self) -> None: ...
