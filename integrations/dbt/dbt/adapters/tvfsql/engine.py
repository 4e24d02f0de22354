"""The tables and views of a project: definitions as scripts and rows as Parquet in a folder, and the session that runs
them.

`catalog/SCHEMA/NAME.sql` has the CREATE statement of a relation, `data/SCHEMA/NAME/` its rows, and
`checkpoints/SCHEMA/NAME` the state of a streaming table. A definition is replaced as a whole, after the rows that it
names are written.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tvfsql import Session
from tvfsql.api import Compiled, Result
from tvfsql.catalog import Table, View
from tvfsql.errors import DataError, TvfSqlError, UnsupportedError
from tvfsql.plan.values.types import SqlType

Key = tuple[str, str]  # schema and name
END = "\n;\n"  # of a definition, also after a comment


@dataclass
class Engine:
    """What all connections of a process share. One statement runs at a time."""

    root: Path
    options: Mapping[str, str] = field(default_factory=dict)
    master: str | None = None
    remote: str | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    texts: dict[Key, str] = field(default_factory=dict)  # the definitions of relations, as they are in the catalog

    def __post_init__(self) -> None:
        self.session = Session(mode="batch", options=self.options, master=self.master, remote=self.remote)
        self.load()

    # ---------------------------------------------------------------------------------------------- definitions

    def load(self) -> None:
        """Execute the definitions in the catalog: tables first, then views, in any order in which they can be."""
        files = sorted((self.root / "catalog").glob("*/*.sql"))
        for schema in self.schemas():
            self.session.execute(f"CREATE DATABASE IF NOT EXISTS {quoted(schema)}")
        waiting = {(file.parent.name, file.stem): file.read_text(encoding="utf-8").removesuffix(END) for file in files}
        while waiting:
            made = []
            for key, text in waiting.items():
                try:
                    self.session.execute(text)
                except TvfSqlError:
                    continue
                made.append(key)
                self.texts[key] = text
            if not made:
                return  # what rests on a table that is gone; dbt makes it anew
            waiting = {key: text for key, text in waiting.items() if key not in made}

    def keep(self, key: Key, text: str) -> None:
        """Write a definition, as a whole or not at all."""
        folder = self.root / "catalog" / key[0]
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f".{key[1]}.{uuid.uuid4().hex}"
        draft.write_text(text + END, encoding="utf-8")
        os.replace(draft, folder / f"{key[1]}.sql")
        self.texts[key] = text

    def schemas(self) -> list[str]:
        return sorted(each.name for each in (self.root / "catalog").glob("*") if each.is_dir())

    def create_schema(self, schema: str) -> None:
        with self.lock:
            (self.root / "catalog" / schema).mkdir(parents=True, exist_ok=True)
            self.session.execute(f"CREATE DATABASE IF NOT EXISTS {quoted(schema)}")

    def drop_schema(self, schema: str) -> None:
        with self.lock:
            for key in [key for key in self.relations() if key[0] == schema]:
                self.drop(key)
            for part in ("catalog", "data", "checkpoints"):
                shutil.rmtree(self.root / part / schema, ignore_errors=True)

    def relations(self) -> dict[Key, Table | View]:
        """The tables and views by schema and name."""
        split = ((name.rpartition("."), entry) for name, entry in self.session.catalog.entries.items())
        return {(schema, name): entry for (schema, _, name), entry in split if schema}

    def drop(self, key: Key) -> None:
        """Remove a relation, its rows and its state."""
        with self.lock:
            entry = self.relations().get(key)
            if entry is not None:
                kind = "VIEW" if isinstance(entry, View) else "TABLE"
                self.session.execute(f"DROP {kind} {rendered(key)}")
            (self.root / "catalog" / key[0] / f"{key[1]}.sql").unlink(missing_ok=True)
            self.texts.pop(key, None)
            for part in ("data", "checkpoints"):
                shutil.rmtree(self.root / part / key[0] / key[1], ignore_errors=True)

    def rename(self, old: Key, new: Key) -> None:
        """Give a relation another name. Its rows stay where they are, under the old name, until they are replaced."""
        with self.lock:
            entry, text = self.relations()[old], self.texts[old]
            kind = "VIEW" if isinstance(entry, View) else "TABLE"
            renamed = text.replace(rendered(old), rendered(new), 1)
            self.drop_definition(old, kind)
            for part in ("data", "checkpoints"):
                if (self.root / part / old[0] / old[1]).is_dir():
                    place = self.root / part / new[0] / new[1]
                    shutil.rmtree(place, ignore_errors=True)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    os.replace(self.root / part / old[0] / old[1], place)
                    renamed = renamed.replace(str(self.root / part / old[0] / old[1]), str(place))
            self.session.execute(renamed)
            self.keep(new, renamed)

    def drop_definition(self, key: Key, kind: str) -> None:
        self.session.execute(f"DROP {kind} IF EXISTS {rendered(key)}")
        (self.root / "catalog" / key[0] / f"{key[1]}.sql").unlink(missing_ok=True)
        self.texts.pop(key, None)

    # ---------------------------------------------------------------------------------------------- statements

    def execute(self, sql: str) -> Result | None:
        """Execute one statement in batch. Its result is its rows; None: it has none."""
        with self.lock:
            results = self.session.execute(sql)
            return results[-1] if results and isinstance(results[-1].outcome, Compiled) else None

    def create_view(self, key: Key, sql: str, comment: str = "") -> None:
        with self.lock:
            text = f"CREATE VIEW {rendered(key)}{_comment(comment)} AS\n{sql}"
            self.session.execute(text.replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1))
            self.keep(key, text)

    def create_table(
        self, key: Key, sql: str, options: Mapping[str, Any], partitions: Sequence[str], comment: str
    ) -> None:
        """Fill a new folder with the rows of a query, or the table that `options` name, then replace the definition."""
        with self.lock:
            before = self.session.catalog.copy()
            place = self.root / "data" / key[0] / key[1] / uuid.uuid4().hex
            own = not options.get("connector")
            with_options = {"connector": "filesystem", "path": str(place), "format": "parquet"} if own else {}
            try:
                text = self._table(key, sql, with_options | dict(options), partitions, comment)
                self.session.execute(text)
                self.session.execute(f"INSERT INTO {rendered(key)} {sql}", file=f"{key[1]}.sql")
            except BaseException:
                self.session.script.catalog = before
                shutil.rmtree(place, ignore_errors=True)
                raise
            self.keep(key, text)
            self._delete_others(key, place)

    def _delete_others(self, key: Key, place: Path) -> None:
        """Remove the rows that a definition no longer names."""
        for other in (self.root / "data" / key[0] / key[1]).glob("*"):
            if other != place:
                shutil.rmtree(other, ignore_errors=True)

    def _table(
        self,
        key: Key,
        sql: str,
        options: Mapping[str, Any],
        partitions: Sequence[str],
        comment: str,
        mode: str = "batch",
    ) -> str:
        """The CREATE TABLE for the rows of a query."""
        probe = self._probe(mode)
        (query,) = (each.query for each in probe.execute(sql))
        columns = [f"    {quoted(part.name)} {type_of(part.type)}" for part in query.physical.schema]
        return create_table(key, columns, options, partitions, comment)

    def _probe(self, mode: str, checkpoint: Path | None = None) -> Session:
        """A session over the same tables and the same Spark. A SELECT in it is only compiled."""
        own = Session(self.session.spark if checkpoint else self.session.own.spark, mode=mode, checkpoint=checkpoint)
        own.script.catalog, own.script.options = self.session.catalog, self.session.options
        own.script.databases = self.session.script.databases
        return own

    def append(self, key: Key, sql: str) -> None:
        """Add the rows of a query to a table."""
        self.execute(f"INSERT INTO {rendered(key)} {sql}")

    def stream(
        self,
        key: Key,
        sql: str,
        options: Mapping[str, Any],
        partitions: Sequence[str],
        comment: str,
        seconds: float | None,
    ) -> str:
        """Run a stream from where its checkpoint is up to the end of its input, or for some seconds if that has none.
        Returns the counts of rows that it has read and written.
        """
        with self.lock:
            checkpoint = self.root / "checkpoints" / key[0] / key[1]
            entry = self.relations().get(key)
            if not isinstance(entry, Table):
                place = self.root / "data" / key[0] / key[1] / uuid.uuid4().hex
                own = {"connector": "filesystem", "path": str(place), "format": "parquet"}
                text = self._table(
                    key,
                    sql,
                    (own if not options.get("connector") else {}) | dict(options),
                    partitions,
                    comment,
                    "streaming",
                )
                self.session.execute(text)
                self.keep(key, text)
            session = self._probe("streaming", checkpoint)
            try:
                return _run_stream(session, f"INSERT INTO {rendered(key)} {sql}", f"{key[1]}.sql", seconds)
            finally:
                for run in session.streams.runs:
                    run.stop()

    def close(self) -> None:
        self.session.close()


def _run_stream(session: Session, sql: str, file: str, seconds: float | None) -> str:
    *_, outcome = session.script.outcomes(sql, file)
    assert isinstance(outcome, Compiled)
    if outcome.awaits_start and seconds is None:
        raise UnsupportedError(
            f"table {outcome.unbounded} is unbounded, so this model would never end",
            hint="'scan.bounded.mode' = 'latest-offset' in the source, or run_seconds: 60 in the model",
        )
    running = session.start(outcome)
    if running is not None and outcome.awaits_start and seconds is not None:
        end = time.monotonic() + seconds
        while running.active and time.monotonic() < end:
            time.sleep(0.2)
        running.stop()
    if running is not None:
        running.wait()
    counts = session.counts
    return f"OK {counts.get('rowsIn', 0)} rows in, {counts.get('rowsOut', 0)} out"


def create_table(
    key: Key, columns: Sequence[str], options: Mapping[str, Any], partitions: Sequence[str] = (), comment: str = ""
) -> str:
    """The statement for a table of these columns and options."""
    by = f"\nPARTITIONED BY ({', '.join(map(quoted, partitions))})" if partitions else ""
    given = ",\n".join(f"    {literal(name)} = {literal(_text(value))}" for name, value in options.items())
    inner = ",\n".join(columns)
    return f"CREATE OR REPLACE TABLE {rendered(key)} (\n{inner}\n){_comment(comment)}{by}\nWITH (\n{given}\n)"


def source_table(key: Key, columns: Sequence[Mapping[str, Any]], meta: Mapping[str, Any]) -> str:
    """The statement for a source: `columns` are those of its YAML, `meta` has its connector's options under `with`, its
    `watermark` and `primary_key`. Raises DataError for a column without a type, and for an unknown key in `meta`.
    """
    lines = []
    for column in columns:
        own = column.get("meta") or {}
        if computed := own.get("as"):
            lines.append(f"    {quoted(column['name'])} AS {computed}")
        elif not column.get("data_type"):
            name = f"{key[0]}.{key[1]}.{column['name']}"
            raise DataError(f"the column {name} of a source has no data_type", hint="data_type: TIMESTAMP(3)")
        else:
            extra = f" METADATA FROM {literal(own['metadata'])}" if own.get("metadata") else ""
            lines.append(f"    {quoted(column['name'])} {column['data_type']}{extra}")
    if watermark := meta.get("watermark"):
        time, delay = _watermark(watermark)
        lines.append(f"    WATERMARK FOR {quoted(time)} AS {delay}")
    if keys := meta.get("primary_key"):
        names = [keys] if isinstance(keys, str) else keys
        lines.append(f"    PRIMARY KEY ({', '.join(map(quoted, names))}) NOT ENFORCED")
    if not isinstance(meta.get("with"), Mapping):
        raise DataError(f"the source {key[0]}.{key[1]} has no connector", hint="meta: {with: {connector: filesystem}}")
    return create_table(key, lines, meta["with"], meta.get("partitioned_by") or ())


def _watermark(given: Any) -> tuple[str, str]:
    """`{column: ts, delay: INTERVAL '5' SECOND}`, or `{column: ts, as: ts - ...}`."""
    if not isinstance(given, Mapping) or "column" not in given or not {"delay", "as"} & given.keys():
        raise DataError("the watermark of a source needs a column and a delay", hint=WATERMARK)
    column = str(given["column"])
    return column, str(given["as"]) if "as" in given else f"{quoted(column)} - {given['delay']}"


WATERMARK = "watermark: {column: ts, delay: INTERVAL '5' SECOND}"


def type_of(kind: SqlType) -> str:
    """A type as it is written; any column of a table may be NULL."""
    return replace(kind, nullable=True).flink


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def rendered(key: Key) -> str:
    return f"{quoted(key[0])}.{quoted(key[1])}"


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _comment(text: str) -> str:
    return f" COMMENT {literal(text)}" if text else ""


_engines: dict[str, Engine] = {}
_opening = threading.Lock()


def engine_of(root: str, options: Mapping[str, str], master: str | None, remote: str | None) -> Engine:
    """The engine of a folder in this process, which all connections to it share."""
    place = os.path.abspath(root)
    with _opening:
        if place not in _engines:
            _engines[place] = Engine(Path(place), options, master, remote)
        return _engines[place]
