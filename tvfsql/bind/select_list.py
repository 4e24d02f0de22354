"""The items of a SELECT: stars become columns, and other clauses refer to items by number, name or expression."""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.bind import scalar
from tvfsql.bind.scalar import Resolved
from tvfsql.bind.scope import Relation, resolve
from tvfsql.errors import BindError, Span, nearest
from tvfsql.plan.values.scalar import free_name
from tvfsql.plan.values.types import Row, fields
from tvfsql.syntax import ast


def spread(item: ast.SelectItem, relation: Relation) -> list[ast.SelectItem]:
    """Expand a star into its columns; return any other item unchanged."""
    if item.expr is not None:
        return [item]
    columns = [part for part in relation.visible if item.table is not None or not part.hidden]
    if item.table is not None:
        columns = [part for part in columns if part.qualifier.lower() == item.table.lower()]
    if not columns and item.table is not None and (fields := _fields_of_row(item, relation)):
        return fields
    if not columns:
        reason = f"there is no table {item.table} in this FROM" if item.table else "SELECT * needs a FROM clause"
        known = {part.qualifier for part in relation.visible if part.qualifier}
        close = nearest(item.table, known) if item.table else None
        hint = f"did you mean {close}.*?" if close else None
        raise BindError(reason, span=item.span, hint=hint)
    exprs = (scalar.column_expr(part.plan, part.type, item.span) for part in columns)
    names = (ast.Name(part.name, item.span) for part in columns)
    return [ast.SelectItem(expr, name, "*", item.span) for expr, name in zip(exprs, names, strict=True)]


def _fields_of_row(item: ast.SelectItem, relation: Relation) -> list[ast.SelectItem]:
    """`r.*` of a column that is a ROW: its fields; [] if there is no such column."""
    assert item.table is not None
    rows = [part for part in relation.matches(None, item.table) if isinstance(part.type, Row)]
    if len(rows) != 1:
        return []
    row = scalar.column_expr(rows[0].plan, rows[0].type, item.span)
    return [
        ast.SelectItem(scalar.field_expr(row, name), ast.Name(name, item.span), "*", item.span)
        for name in fields(rows[0].type)
    ]


def refuse_repeated(items: list[ast.SelectItem]) -> None:
    """Refuse two columns that were explicitly given the same name. Names inherited from the columns get a number
    instead.
    """
    seen: set[str] = set()
    for item in items:
        if item.alias is None or item.table == "*":
            continue
        if item.alias.text.lower() in seen:
            raise BindError(
                f"two columns are named {item.alias.text}",
                span=item.alias.span,
                hint=f"AS {item.alias.text}_2",
            )
        seen.add(item.alias.text.lower())


def output_names(items: Sequence[ast.SelectItem]) -> tuple[str, ...]:
    """The alias, else the column's own name, else EXPR$n as in Flink; a name that * repeats gets a number (id0)."""
    names: list[str] = []
    for position, item in enumerate(items):
        assert item.expr is not None
        name = item.alias.text if item.alias else scalar.output_name(item.expr) or f"EXPR${position}"
        names.append(free_name(name, names.__contains__) if item.table == "*" else name)
    return tuple(names)


def group_target(expr: ast.Expr, items: list[ast.SelectItem], relation: Relation) -> int | None:
    """The position of the item that GROUP BY 2 or GROUP BY alias refers to. A column of the input takes precedence
    over an alias. A number that cannot be a position is a constant, which each number is in Flink.
    """
    number = scalar.ordinal(expr)
    if number is not None:
        item = items[number - 1].expr if 1 <= number <= len(items) else None
        return number - 1 if item and not scalar.has_aggregate(item.tree) else None
    name = scalar.bare_name(expr)
    if name is None or relation.matches(None, name):
        return None
    return next((i for i, item in enumerate(items) if item.alias and item.alias.text == name), None)


def order_target(item: ast.OrderItem, items: list[ast.SelectItem], relation: Relation) -> Resolved | int:
    """The target of ORDER BY: an item, by number, name or expression, else an expression over items and the input.

    An item takes precedence over a column of the input, but an aggregate does not inside an aggregate.
    """
    number = scalar.ordinal(item.expr)
    if number is not None:
        return position_of(number, items, item.expr.span)
    name = scalar.bare_name(item.expr)
    at = _named(name, items, relation) if name is not None else None
    if at is not None:
        return at
    calls = scalar.aggregate_calls(item.expr.tree, item.expr.span)
    aggregated = {name for call in calls for name, _ in scalar.columns_of(call.tree)}

    def meaning(name: str) -> ast.Expr | None:
        at = _named(name, items, relation)
        found = items[at].expr if at is not None else None
        return None if found and name in aggregated and scalar.has_aggregate(found.tree) else found

    meant = scalar.spelled_out(item.expr, meaning)
    same = (i for i, known in enumerate(items) if known.expr and known.expr.tree == meant.tree)
    at = next(same, None)
    return resolve(meant, relation) if at is None else at


def with_items(expr: ast.Expr, items: Sequence[ast.SelectItem], relation: Relation) -> ast.Expr:
    """An expression of QUALIFY in which names that are not columns of the input are replaced by the items they name."""
    aliases = {item.alias.text: item.expr for item in items if item.alias and item.expr}
    return scalar.spelled_out(expr, lambda name: None if relation.matches(None, name) else aliases.get(name))


def _named(name: str, items: list[ast.SelectItem], relation: Relation) -> int | None:
    """The position of the first item with that name in the same case, else in any case. A column of the input with
    the name in the same case comes between.
    """
    names = [item.alias.text if item.alias else scalar.output_name(item.expr) if item.expr else None for item in items]
    if name in names:
        return names.index(name)
    if any(part.name == name for part in relation.matches(None, name)):
        return None
    lowered = [known and known.lower() for known in names]
    return lowered.index(name.lower()) if name.lower() in lowered else None


def position_of(number: int, items: list[ast.SelectItem], span: Span) -> int:
    if not 1 <= number <= len(items):
        raise BindError(
            f"there is no column {number} in this SELECT", span=span, hint=f"a number from 1 to {len(items)}"
        )
    return number - 1
