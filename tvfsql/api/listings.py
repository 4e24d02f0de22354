"""The answers of SHOW and DESCRIBE: names of tables, columns, functions, databases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tvfsql.bind.flink import by_name
from tvfsql.bind.spark_text.functions import functions
from tvfsql.catalog import Catalog, View
from tvfsql.errors import BindError, did_you_mean
from tvfsql.plan.aggregate.table import AGGREGATES
from tvfsql.syntax import ast, statements

OTHERS = ("columns", "user functions", "catalogs", "databases", "create table")  # which SHOW also knows
WITH_FROM = ("tables", "views", "columns", "databases")


@dataclass(frozen=True)
class Listing:
    """Rows that need no Spark: SHOW, DESCRIBE, SET."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


def show(asked: statements.Show, catalog: Catalog) -> Listing:
    """The answer to SHOW, sorted by name. Raises BindError for anything that it does not know."""
    users = sorted(catalog.functions.values(), key=lambda function: function.name.lower())
    if asked.of is not None and asked.what not in WITH_FROM:
        raise BindError(
            f"SHOW {asked.what.upper()} takes no FROM", span=asked.of.span, hint=f"SHOW {asked.what.upper()}"
        )
    if asked.what == "user functions":
        kinds = (("aggregate" if function.aggregate else "scalar") for function in users)
        rows = [(of.name, kind, of.result.flink, of.path) for of, kind in zip(users, kinds, strict=True)]
        return Listing(("function name", "kind", "result", "as"), _like(asked, rows))
    if asked.what == "columns":
        return _columns(asked, catalog)
    own = (function.name for function in users)
    flinks = (name.lower() for name in (*by_name(), *AGGREGATES) if name.isidentifier())
    known = {
        "tables": {*_inside(asked.place, catalog.entries), *_outside(asked, catalog)},
        "views": {*_inside(asked.place, catalog.names(View))},
        "functions": {*functions(), *flinks, *own},
    }
    if asked.rows is not None:
        known[asked.what] = {*asked.rows, *_outside(asked, catalog)}
    if asked.what not in known:
        hint = did_you_mean(asked.what.upper(), [what.upper() for what in (*known, *OTHERS)])
        raise BindError(f"SHOW does not know {asked.what.upper()}", span=asked.span, hint=hint)
    if asked.of is not None and not known[asked.what]:
        _refuse_unknown(asked, catalog)
    return Listing(
        (f"{asked.what.removesuffix('s')} name",), _like(asked, [(name,) for name in sorted(known[asked.what])])
    )


def describe(name: ast.Name, catalog: Catalog) -> Listing:
    """The columns of a table or view. Raises BindError if no table or view has that name."""
    entry = catalog.get(name.text, name.span)
    header = ("name", "type", "computed as", "watermark")
    if isinstance(entry, View):
        return Listing(header, tuple((part.name, part.type.flink, None, None) for part in entry.fields))
    mark = entry.watermark
    return Listing(
        header,
        tuple(
            (
                part.name,
                part.type.flink,
                str(part.scalar) if part.scalar else None,
                str(mark.scalar) if mark and mark.column == part.name else None,
            )
            for part in entry.columns
        ),
    )


def _columns(asked: statements.Show, catalog: Catalog) -> Listing:
    if asked.of is None:
        raise BindError("SHOW COLUMNS needs a table", span=asked.span, hint="SHOW COLUMNS FROM t")
    found = describe(asked.of, catalog)
    return Listing(found.columns, _like(asked, found.rows))


def _like(asked: statements.Show, rows: Iterable[tuple[str | None, ...]]) -> tuple[tuple[str | None, ...], ...]:
    """The rows whose first value matches the pattern, if there is one."""
    return tuple(row for row in rows if asked.like is None or asked.like.takes(row[0] or ""))


def _inside(place: str, names: Iterable[str]) -> tuple[str, ...]:
    """The tables in a database, by their names there."""
    return tuple(name.removeprefix(place) for name in names if name.startswith(place) and "." not in name[len(place) :])


def _outside(asked: statements.Show, catalog: Catalog) -> tuple[str, ...]:
    """What Spark's catalogs add to SHOW TABLES, DATABASES and CATALOGS."""
    outside, place = catalog.outside, asked.place.rstrip(".")
    if outside is None:
        return ()
    if asked.what == "tables":
        return outside.tables(place)
    of, _, _ = place.rpartition(".")
    of = asked.of.text if asked.of is not None else of
    return {"databases": lambda: outside.databases(of), "catalogs": outside.catalogs}.get(asked.what, tuple)()


def _refuse_unknown(asked: statements.Show, catalog: Catalog) -> None:
    """Raise BindError if neither the session nor Spark has the database or catalog after FROM."""
    if asked.exists or asked.of is None:
        return
    kind, outside = ("catalog" if asked.what == "databases" else "database"), catalog.outside
    of, _, name = asked.of.text.rpartition(".")
    names = () if outside is None else outside.catalogs() if kind == "catalog" else outside.databases(of)
    if name not in names:
        hint = did_you_mean(name, names) or f"SHOW {kind.upper()}S"
        raise BindError(f"there is no {kind} {asked.of.text}", span=asked.of.span, hint=hint)
