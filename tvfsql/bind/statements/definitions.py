"""The definition of a table from CREATE TABLE, with LIKE or AS, or from ALTER TABLE."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from tvfsql.bind.scope import Bound
from tvfsql.catalog import Table, View
from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.values.types import NULL, UNKNOWN, of_column
from tvfsql.syntax import ast, statements

RULES = ("including", "excluding", "overwriting")
FEATURES = ("all", "constraints", "distribution", "generated", "metadata", "options", "partitions", "watermarks")
OVERWRITABLE = ("generated", "metadata", "options", "watermarks")
Column = statements.Column | statements.ComputedColumn
Columns = tuple[Column, ...]


def definition_of(entry: Table | View, span: Span) -> statements.CreateTable:
    """Return the CREATE TABLE of a table. Raises BindError if it has none."""
    found = entry.definition if isinstance(entry, Table) else None
    if not isinstance(found, statements.CreateTable):
        kind = "a view" if isinstance(entry, View) else "a table without a CREATE TABLE"
        raise BindError(f"{entry.name} is {kind}", span=span, hint="CREATE TABLE ...")
    return found


# ---- LIKE ------------------------------------------------------------------------------------------


def derived(create: statements.CreateTable, base: statements.CreateTable) -> statements.CreateTable:
    """Resolve the LIKE of a CREATE TABLE into a full definition. Raises BindError."""
    assert create.like is not None
    how = _rules(create.like)
    own = {column.name.text.lower() for column in create.columns}
    kept: list[statements.Column | statements.ComputedColumn] = []
    for column in base.columns:
        feature = _feature(column)
        if how.get(feature) == "excluding":
            continue
        if column.name.text.lower() not in own:
            kept.append(column)
        elif how.get(feature) != "overwriting":
            places = [part.name.span for part in create.columns if part.name.text.lower() == column.name.text.lower()]
            raise BindError(f"two columns are named {column.name.text}", span=places[0])
    if base.watermark and create.watermark and how["watermarks"] == "including":
        hint = "LIKE t (OVERWRITING WATERMARKS)"
        raise BindError("a table can only have one WATERMARK", span=create.watermark.column.span, hint=hint)
    inherits = {feature: how[feature] != "excluding" for feature in FEATURES}
    return replace(
        create,
        columns=(*kept, *create.columns),
        watermark=create.watermark or (base.watermark if inherits["watermarks"] else None),
        options=_options(create.options, base.options if inherits["options"] else (), how["options"]),
        partitioned_by=create.partitioned_by or (base.partitioned_by if inherits["partitions"] else ()),
        primary_key=create.primary_key or (base.primary_key if inherits["constraints"] else ()),
        like=None,
    )


def _rules(like: statements.Like) -> dict[str, str]:
    for rule, feature in like.rules:
        for word, known in ((rule, RULES), (feature, FEATURES)):
            if word not in known:
                hint = did_you_mean(word.upper(), [each.upper() for each in known], otherwise="words: ")
                raise BindError(f"{word.upper()} cannot be used with LIKE", span=like.span, hint=hint)
        if rule == "overwriting" and feature not in OVERWRITABLE:
            raise BindError(f"LIKE cannot overwrite {feature.upper()}", span=like.span, hint="INCLUDING or EXCLUDING")
    given = {feature: rule for rule, feature in like.rules}
    usual = dict.fromkeys(FEATURES, given.get("all", "including"))
    return usual | ({} if "all" in given else {"options": "overwriting"}) | given


def _feature(column: statements.Column | statements.ComputedColumn) -> str:
    if isinstance(column, statements.ComputedColumn):
        return "generated"
    return "metadata" if column.metadata is not None else ""


def _options(
    own: tuple[statements.Option, ...], inherited: tuple[statements.Option, ...], how: str
) -> tuple[statements.Option, ...]:
    """Merge a table's own options over inherited ones. Raises BindError if an option may not be overwritten."""
    known = {option.key: option for option in own}
    for option in inherited:
        if option.key in known and how == "including":
            span = known[option.key].span
            raise BindError(f"option {option.key} is given twice", span=span, hint="LIKE t (OVERWRITING OPTIONS)")
    return (*(option for option in inherited if option.key not in known), *own)


# ---- AS --------------------------------------------------------------------------------------------


def of_query(create: statements.CreateTable, bound: Bound) -> statements.CreateTable:
    """Return a CREATE TABLE AS with the columns of its query. Raises BindError if a column's type is unknown."""
    assert create.query is not None
    span = create.query.span
    own = {column.name.text.lower(): column for column in create.columns}
    found = {}
    for name, field in zip(bound.names, bound.node.schema, strict=True):
        if name.lower() in own:
            continue
        if field.type in (UNKNOWN, NULL):
            hint = f"CAST(... AS STRING) AS {name}"
            raise BindError(f"the type of column {name} is not known before the query runs", span=span, hint=hint)
        found[name] = statements.Column(ast.Name(name, create.name.span), of_column(field.type))
    names = [name.text for name in create.names]
    if names and sorted(map(str.lower, names)) != sorted(name.lower() for name in bound.names):
        hint = f"({', '.join(bound.names)})"
        raise BindError("the column names differ from those of the query", span=create.names[0].span, hint=hint)
    order = {name.lower(): i for i, name in enumerate(names)}
    columns = sorted(found.values(), key=lambda column: order.get(column.name.text.lower(), 0))
    return replace(create, columns=(*create.columns, *columns), names=(), query=None)


# ---- ALTER TABLE -----------------------------------------------------------------------------------


def altered(table: statements.CreateTable, change: statements.Change) -> statements.CreateTable:
    """Return the definition after a change. Raises BindError."""
    match change:
        case statements.SetOptions(options):
            return replace(table, options=_options(options, table.options, "overwriting"))
        case statements.ResetOptions(keys):
            return replace(table, options=tuple(option for option in table.options if option.key not in keys))
        case statements.RenameTable(name):
            return replace(table, name=name)
        case statements.RenameColumn(old, new):
            _known(old, table.columns)
            columns = (replace(each, name=new) if _named(each, [old]) else each for each in table.columns)
            return replace(table, columns=tuple(columns))
        case statements.Add(parts):
            return _with(table, parts)
        case statements.Modify(parts):
            for column in parts.columns:
                _known(column.name, table.columns)
            changed = {column.name.text.lower(): column for column in parts.columns}
            columns = (changed.get(each.name.text.lower(), each) for each in table.columns)
            return replace(
                table,
                columns=_placed(columns, parts.places),
                watermark=parts.watermark or table.watermark,
                primary_key=parts.primary_key or table.primary_key,
            )
        case statements.DropParts(names, watermark):
            for name in names:
                _known(name, table.columns)
            if watermark:
                return replace(table, watermark=None)
            if not names:
                return replace(table, primary_key=())
            return replace(table, columns=tuple(each for each in table.columns if not _named(each, names)))


def _with(table: statements.CreateTable, parts: statements.Parts) -> statements.CreateTable:
    if table.watermark and parts.watermark:
        span, hint = parts.watermark.column.span, "ALTER TABLE t MODIFY WATERMARK FOR ..."
        raise BindError(f"{table.name.text} has a watermark already", span=span, hint=hint)
    return replace(
        table,
        columns=_placed((*table.columns, *parts.columns), parts.places),
        watermark=parts.watermark or table.watermark,
        primary_key=parts.primary_key or table.primary_key,
    )


def _placed(columns: Iterable[Column], places: Iterable[statements.Position]) -> Columns:
    """The columns in the order that FIRST and AFTER ask for. Raises BindError."""
    found = list(columns)
    for place in places:
        moved = next(each for each in found if _named(each, [place.column]))
        found.remove(moved)
        if place.after is not None:
            _known(place.after, found)
        before = [each for each in found if place.after is not None and _named(each, [place.after])]
        found.insert(found.index(before[0]) + 1 if before else 0, moved)
    return tuple(found)


def _named(column: statements.Column | statements.ComputedColumn, names: Collection[ast.Name]) -> bool:
    return column.name.text.lower() in [name.text.lower() for name in names]


def _known(name: ast.Name, columns: Iterable[statements.Column | statements.ComputedColumn]) -> None:
    names = [column.name.text for column in columns]
    if name.text.lower() not in map(str.lower, names):
        hint = did_you_mean(name.text, names, otherwise="columns: ")
        raise BindError(f"the table has no column {name.text}", span=name.span, hint=hint)
