"""The adapter: relations, columns and catalog from tvfsql's own catalog, and what the materializations call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import agate
from dbt.adapters.base import AdapterConfig, BaseRelation, Column, available
from dbt.adapters.base.relation import Policy
from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.sql import SQLAdapter
from dbt.adapters.tvfsql.connections import TvfsqlConnectionManager
from dbt.adapters.tvfsql.engine import Engine, Key, literal, quoted, source_table, type_of
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, TableMetadata
from dbt_common.exceptions import DbtRuntimeError

from tvfsql.catalog import Table, View

CATALOG = (
    "table_database table_schema table_name table_type table_comment table_owner column_name column_index column_type "
    "column_comment"
).split()


@dataclass
class TvfsqlIncludePolicy(Policy):
    database: bool = False
    schema: bool = True
    identifier: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class TvfsqlRelation(BaseRelation):
    """A table or view, as `schema`.`name`."""

    include_policy: Policy = field(default_factory=TvfsqlIncludePolicy)
    quote_character: str = "`"


class TvfsqlColumn(Column):
    """A column with a type of Flink's SQL."""

    TYPE_LABELS = {"TEXT": "STRING", "INTEGER": "INT", "FLOAT": "DOUBLE"}

    @property
    def quoted(self) -> str:
        return quoted(self.column)

    @property
    def data_type(self) -> str:
        return self.dtype

    def is_string(self) -> bool:
        return self.dtype.upper().startswith(("STRING", "VARCHAR", "CHAR"))


@dataclass
class TvfsqlConfig(AdapterConfig):
    """The configuration of a model: `with` are the options of its table, `run_seconds` how long a stream without an end
    runs.
    """

    partition_by: list[str] | str | None = None
    options: dict[str, Any] | None = None
    run_seconds: float | None = None


class TvfsqlAdapter(SQLAdapter):
    Relation = TvfsqlRelation
    Column = TvfsqlColumn
    ConnectionManager = TvfsqlConnectionManager
    AdapterSpecificConfigs = TvfsqlConfig

    @property
    def engine(self) -> Engine:
        engine: Engine = self.connections.get_thread_connection().handle.engine
        return engine

    # ---------------------------------------------------------------------------------------------- materializations

    @available
    def create_view_from(self, relation: BaseRelation, sql: str, comment: str = "") -> str:
        return self._run(lambda: self.engine.create_view(_key(relation), sql, comment))

    @available
    def create_table_from(
        self, relation: BaseRelation, sql: str, options: Mapping[str, Any] | None, partitions: Any, comment: str = ""
    ) -> str:
        parts = _names(partitions)
        return self._run(lambda: self.engine.create_table(_key(relation), sql, options or {}, parts, comment))

    @available
    def append_from(self, relation: BaseRelation, sql: str) -> str:
        return self._run(lambda: self.engine.append(_key(relation), sql))

    @available
    def stream_into(
        self,
        relation: BaseRelation,
        sql: str,
        options: Mapping[str, Any] | None,
        partitions: Any,
        comment: str = "",
        seconds: float | None = None,
    ) -> str:
        key, parts = _key(relation), _names(partitions)
        return self._run(lambda: self.engine.stream(key, sql, options or {}, parts, comment, seconds))

    @available
    def declare_source(
        self, schema: str, identifier: str, columns: list[Mapping[str, Any]], meta: Mapping[str, Any]
    ) -> None:
        """Make the table of a source with `meta: {with: ...}`, unless it is as before."""
        key, engine = (schema, identifier), self.engine

        def declare() -> None:
            text = source_table(key, columns, meta)
            if engine.texts.get(key) != text:
                engine.create_schema(schema)
                engine.session.execute(text)
                engine.keep(key, text)

        self._run(declare)

    @available
    def load_seed(self, relation: BaseRelation, table: agate.Table, types: Mapping[str, str] | None) -> int:
        """Fill a table with the rows of a file of CSV that dbt has read."""
        given = types or {}
        kinds = [given.get(name) or self.convert_type(table, i) for i, name in enumerate(table.column_names)]
        rows = [", ".join(_value(value, kind) for value, kind in zip(row, kinds, strict=True)) for row in table.rows]
        names = ", ".join(map(quoted, table.column_names))
        nulls = ", ".join(f"CAST(NULL AS {kind})" for kind in kinds)
        values = ", ".join(f"({row})" for row in rows) or f"({nulls})"
        casts = ", ".join(
            f"CAST({quoted(n)} AS {k}) AS {quoted(n)}" for n, k in zip(table.column_names, kinds, strict=True)
        )
        sql = f"SELECT {casts} FROM (VALUES {values}) AS seed ({names})" + ("" if rows else " WHERE FALSE")
        self.create_table_from(relation, sql, None, None)
        return len(rows)

    def _run(self, work: Any) -> str:
        with self.connections.exception_handler(""), self.engine.lock:
            return str(work() or "OK")

    # ---------------------------------------------------------------------------------------------- relations

    def list_schemas(self, database: str) -> list[str]:
        return self.engine.schemas()

    @available
    def check_schema_exists(self, database: str, schema: str) -> bool:
        return schema in self.engine.schemas()

    def create_schema(self, relation: BaseRelation) -> None:
        self.engine.create_schema(relation.schema or "")

    def drop_schema(self, relation: BaseRelation) -> None:
        self.engine.drop_schema(relation.schema or "")
        self.cache.drop_schema(relation.database, relation.schema)

    @available.parse_none
    def drop_relation(self, relation: BaseRelation) -> None:
        self.cache_dropped(relation)
        self.engine.drop(_key(relation))

    @available.parse_none
    def truncate_relation(self, relation: BaseRelation) -> None:
        raise DbtRuntimeError("tvfsql does not truncate tables")

    @available.parse_none
    def rename_relation(self, from_relation: BaseRelation, to_relation: BaseRelation) -> None:
        self.cache_renamed(from_relation, to_relation)
        self._run(lambda: self.engine.rename(_key(from_relation), _key(to_relation)))

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        found = []
        for (schema, name), entry in self.engine.relations().items():
            if schema == schema_relation.schema:
                kind = RelationType.View if isinstance(entry, View) else RelationType.Table
                found.append(self.Relation.create(schema_relation.database, schema, name, type=kind))
        return found

    def get_columns_in_relation(self, relation: BaseRelation) -> list[Column]:
        entry = self.engine.relations().get(_key(relation))
        return [self.Column(name, kind) for name, kind, _ in _columns(entry)] if entry is not None else []

    @available
    def get_column_schema_from_query(self, sql: str, *_: Any) -> list[Column]:
        engine = self.engine
        with self.connections.exception_handler(sql), engine.lock:
            (result,) = engine.session.execute(sql)
        return [self.Column(part.name, type_of(part.type)) for part in result.query.physical.schema]

    def expand_column_types(self, goal: BaseRelation, current: BaseRelation) -> None: ...

    @available.parse_none
    def expand_target_column_types(self, from_relation: BaseRelation, to_relation: BaseRelation) -> None: ...

    # ---------------------------------------------------------------------------------------------- docs

    def get_catalog(
        self, relation_configs: Iterable[Any], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[agate.Table, list[Exception]]:
        schemas = {schema.lower() for _, schema in used_schemas}
        return self._catalog(lambda key: key[0].lower() in schemas), []

    def get_catalog_by_relations(
        self, used_schemas: frozenset[tuple[str, str]], relations: set[BaseRelation]
    ) -> tuple[agate.Table, list[Exception]]:
        keys = {_key(relation) for relation in relations}
        return self._catalog(lambda key: key in keys), []

    def get_catalog_for_single_relation(self, relation: BaseRelation) -> CatalogTable | None:
        entry = self.engine.relations().get(_key(relation))
        if entry is None:
            return None
        columns = {
            name: ColumnMetadata(type=kind, index=i + 1, name=name, comment=comment)
            for i, (name, kind, comment) in enumerate(_columns(entry))
        }
        kind = "view" if isinstance(entry, View) else "table"
        schema, name = _key(relation)
        about = TableMetadata(type=kind, schema=schema, name=name, database=relation.database)
        return CatalogTable(metadata=about, columns=columns, stats={})

    def _catalog(self, wanted: Any) -> agate.Table:
        rows = []
        database = self.config.credentials.database
        for key, entry in self.engine.relations().items():
            if wanted(key):
                kind = "view" if isinstance(entry, View) else "table"
                for i, (name, type_, comment) in enumerate(_columns(entry)):
                    rows.append((database, *key, kind, None, None, name, i + 1, type_, comment))
        kinds = [agate.Number() if name == "column_index" else agate.Text(null_values=()) for name in CATALOG]
        return agate.Table(rows, CATALOG, kinds)

    # ---------------------------------------------------------------------------------------------- words

    @classmethod
    def quote(cls, identifier: str) -> str:
        return quoted(identifier)

    @classmethod
    def date_function(cls) -> str:
        return "CURRENT_TIMESTAMP"

    @classmethod
    def is_cancelable(cls) -> bool:
        return False

    @classmethod
    def convert_text_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "STRING"

    @classmethod
    def convert_number_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        decimals = agate_table.aggregate(agate.MaxPrecision(col_idx))
        return "DOUBLE" if decimals else "BIGINT"

    @classmethod
    def convert_integer_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "BIGINT"

    @classmethod
    def convert_boolean_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "BOOLEAN"

    @classmethod
    def convert_datetime_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "TIMESTAMP(3)"

    @classmethod
    def convert_date_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "DATE"

    @classmethod
    def convert_time_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "TIME"

    def valid_incremental_strategies(self) -> list[str]:
        return ["append"]

    def debug_query(self) -> None:
        self.execute("select 1 as id")


def _key(relation: BaseRelation) -> Key:
    return relation.schema or "", relation.identifier or ""


def _names(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _columns(entry: Table | View) -> list[tuple[str, str, str | None]]:
    if isinstance(entry, Table):
        return [(column.name, type_of(column.type), column.comment) for column in entry.visible]
    return [(part.name, type_of(part.type), None) for part in entry.fields]


def _value(value: Any, kind: str) -> str:
    """A value of agate as a literal, which a CAST gives its type."""
    if value is None:
        return f"CAST(NULL AS {kind})"
    if isinstance(value, bool):
        return str(value).upper()
    if kind.upper().startswith(("STRING", "VARCHAR", "CHAR")):
        return literal(str(value))
    text = value.isoformat(sep=" ") if hasattr(value, "hour") and hasattr(value, "year") else str(value)
    return f"CAST({literal(text)} AS {kind})"
