"""Elements of arrays, maps and variants, by [], and fields of rows."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import Made, made
from tvfsql.errors import BindError, Span, UnsupportedError, did_you_mean
from tvfsql.plan.values.types import UNKNOWN, VARIANT, Array, Map, Row, SqlType, element_type, field_type

TypeOf = Callable[[exp.Expr], SqlType]


def element_of(node: exp.Bracket, type_of: TypeOf) -> Made | None:
    """array[i], which counts from 1, or map[key]; NULL if the element does not exist."""
    if isinstance(node.this, exp.Column) and node.this.name.upper() in ("MAP", "ROW") and not node.this.table:
        return None
    if len(node.expressions) != 1:
        raise BindError(f"[] takes one position or key, not {len(node.expressions)}", hint="a[1][2]")
    kind = type_of(node.this)
    _refuse_beyond_literals(node.this.unnest(), node.expressions[0])
    if isinstance(kind, Array):
        return made(_at(node.expressions[0]), [node.this, *node.expressions], kind.element)
    key = node.expressions[0]
    if kind == VARIANT and isinstance(key, exp.Literal):
        path = f'$["{key.name}"]' if key.is_string else f"$[{int(key.name) - 1}]"
        return made("TRY_VARIANT_GET({0}, {1}, 'variant')", [node.this, exp.Literal.string(path)], VARIANT)
    held = kind.value if isinstance(kind, Map) else UNKNOWN
    return made("TRY_ELEMENT_AT({0}, {1})", [node.this, *node.expressions], held)


def _refuse_beyond_literals(held: exp.Expr, index: exp.Expr) -> None:
    """Refuse an element beyond the end of a literal without NULLs, for which Flink returns an element that does not
    exist."""
    if held.find(exp.Column, exp.Null, exp.Nullif):
        return
    if isinstance(held, exp.Array) and isinstance(index, exp.Literal) and index.is_int:
        missing = not 1 <= int(index.name) <= len(held.expressions)
    elif isinstance(held, Made) and held.template.startswith("MAP(") and isinstance(index, exp.Literal):
        keys = held.expressions[::2]
        missing = all(isinstance(key, exp.Literal) for key in keys) and index not in keys
    else:
        return
    if missing:
        raise UnsupportedError(f"this has no element {index.name}", hint="ARRAY[1, 2, 3][3], MAP['a', 1]['a']")


def _at(index: exp.Expr) -> str:
    """array[i], without Spark's meaning of negative positions, which count from the end."""
    if isinstance(index, exp.Literal) and index.is_int:
        return "TRY_ELEMENT_AT({0}, {1})"
    return "GET({0}, {1} - 1)"


def field_of_row(kind: SqlType, name: str, of: str, span: Span | None = None) -> SqlType:
    """The type of a field of a ROW, whatever its case. Raises BindError if the ROW certainly lacks it."""
    if kind in (UNKNOWN, VARIANT) or isinstance(kind, Map) or isinstance(element_type(kind), Row):
        return UNKNOWN
    if not isinstance(kind, Row):
        raise BindError(f"{of} is {kind.flink}, which has no fields", span=span)
    found = field_type(kind, name)
    if found is None:
        raise BindError(
            f"{of} has no field {name}", span=span, hint=did_you_mean(name, kind.names, otherwise="fields: ")
        )
    return found
