"""The arguments of FROM_CHANGELOG, which reads a table whose rows say what has changed as a changelog, and of
TO_CHANGELOG, which makes rows of changes. Source: semantics.md#changelogs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tvfsql.catalog import Table
from tvfsql.catalog.table_options import op_column
from tvfsql.errors import BindError, Span, UnsupportedError, did_you_mean
from tvfsql.syntax import ast

KINDS = {"INSERT": "+I", "UPDATE_BEFORE": "-U", "UPDATE_AFTER": "+U", "DELETE": "-D"}  # by Flink's names
PARAMETERS = ("INPUT", "OP", "OP_MAPPING")
USAGE = (
    "FROM_CHANGELOG(input => TABLE t [PARTITION BY id], [op => DESCRIPTOR(op)], "
    "[op_mapping => MAP['c, r', 'INSERT', ...]])"
)
OF_ROWS = (
    "TO_CHANGELOG(input => TABLE t, [op => DESCRIPTOR(op)], [op_mapping => MAP['INSERT, UPDATE_AFTER', 'u', ...]])"
)
USAGES = {"FROM_CHANGELOG": USAGE, "TO_CHANGELOG": OF_ROWS}


@dataclass(frozen=True)
class Codes:
    """A call of FROM_CHANGELOG: its input, the column with the code of a change, and the operation of each code. `key`:
    each row replaces the one with the same values there."""

    relation: ast.Relation
    op: str
    codes: tuple[tuple[str, str], ...]
    key: tuple[ast.Name, ...]


def read_codes(call: ast.WindowCall) -> Codes:
    """Read the arguments of FROM_CHANGELOG. Raises BindError, and UnsupportedError for an order."""
    given = _by_name(call)
    data = given["INPUT"].value
    if not isinstance(data, ast.Input):
        raise BindError("the input of FROM_CHANGELOG must be a table or a query", span=data.span, hint=USAGE)
    if data.order_by:
        problem = "FROM_CHANGELOG takes no ORDER BY: changes count in the order in which they come"
        raise UnsupportedError(problem, span=data.span, hint=USAGE)
    op = _op(given)
    codes = dict(KINDS)
    if "OP_MAPPING" in given:
        codes = dict(_codes(given["OP_MAPPING"]))
    updates = {kind for kind in codes.values() if kind in ("-U", "+U")}
    if updates == {"-U"}:
        raise BindError("op_mapping has UPDATE_BEFORE without UPDATE_AFTER", span=given["OP_MAPPING"].span, hint=USAGE)
    if updates == {"+U"} and not data.partition_by:
        named = data.relation.name if isinstance(data.relation, ast.TableName) else "t"
        raise BindError(
            "op_mapping has UPDATE_AFTER without UPDATE_BEFORE, so a row replaces the one with its key; name the key",
            span=given["OP_MAPPING"].span,
            hint=f"TABLE {named} PARTITION BY id, or a code for UPDATE_BEFORE",
        )
    return Codes(data.relation, op, tuple(codes.items()), data.partition_by if updates == {"+U"} else ())


@dataclass(frozen=True)
class RowsOfChanges:
    """A call of TO_CHANGELOG: its input, the name of the column with the operation, and the code of each operation."""

    relation: ast.Relation
    op: str
    codes: tuple[tuple[str, str], ...]


def read_rows_of_changes(call: ast.WindowCall) -> RowsOfChanges:
    """Read the arguments of TO_CHANGELOG. Raises BindError, or UnsupportedError for what only later releases of Flink
    have.
    """
    given = _by_name(call)
    data = given["INPUT"].value
    if not isinstance(data, ast.Input):
        raise BindError("the input of TO_CHANGELOG must be a table or a query", span=data.span, hint=OF_ROWS)
    if data.partition_by or data.order_by:
        clause = "PARTITION BY" if data.partition_by else "ORDER BY"
        raise UnsupportedError(
            f"TO_CHANGELOG takes no {clause}: it makes a row of each change", span=data.span, hint=OF_ROWS
        )
    codes = {kind: name for name, kind in KINDS.items()}
    if "OP_MAPPING" in given:
        codes = dict(_kinds(given["OP_MAPPING"]))
    return RowsOfChanges(data.relation, _op(given), tuple(codes.items()))


def changed_table(table: Table, call: Codes, span: Span) -> Table:
    """The table as a changelog. Raises BindError if it has no such columns, or is a changelog already."""
    if table.is_changelog:
        raise BindError(
            f"FROM_CHANGELOG needs insert-only input, but {table.name} is a changelog already",
            span=span,
            hint=f"FROM {table.name}",
        )
    op = op_column(call.op, table.physical, span, "op")
    return table.changed_by(op, call.codes, tuple(_key(table, name) for name in call.key))


def _key(table: Table, name: ast.Name) -> str:
    found = next((part.name for part in table.columns if part.name.lower() == name.text.lower()), None)
    if found is None:
        hint = did_you_mean(name.text, [part.name for part in table.columns], otherwise="columns: ")
        raise BindError(f"{table.name} has no column {name.text}", span=name.span, hint=hint)
    return found


def _op(given: Mapping[str, ast.Argument]) -> str:
    """The column with the operation."""
    if "OP" not in given:
        return "op"
    named = given["OP"].value
    if not isinstance(named, ast.Descriptor) or len(named.columns) != 1:
        raise BindError("op takes one column", span=named.span, hint="op => DESCRIPTOR(op)")
    return named.columns[0].text


def _kinds(argument: ast.Argument) -> Iterator[tuple[str, str]]:
    """The code of each operation, for several operations with commas between their names."""
    value = _texts(argument, "MAP['INSERT, UPDATE_AFTER', 'u', 'DELETE', 'd']")
    seen: set[str] = set()
    for names, code in value.pairs:
        for name in (each.strip() for each in names.split(",")):
            if name in seen:
                raise BindError(f"op_mapping has the operation {name} twice", span=value.span)
            seen.add(name)
            yield _kind(name, value), code


def _kind(name: str, mapping: ast.TextMap) -> str:
    """The operation that Flink calls `name`. Raises BindError for an unknown name."""
    if name not in KINDS:
        raise BindError(
            f"op_mapping knows no operation {name}",
            span=mapping.span,
            hint=did_you_mean(name, KINDS, otherwise="operations: "),
        )
    return KINDS[name]


def _texts(argument: ast.Argument, example: str) -> ast.TextMap:
    if not isinstance(argument.value, ast.TextMap):
        raise BindError("op_mapping takes a MAP of strings", span=argument.value.span, hint=example)
    return argument.value


def _codes(argument: ast.Argument) -> Iterator[tuple[str, str]]:
    """The operation of each code, for several codes with commas between them."""
    value = _texts(argument, "MAP['c, r', 'INSERT', 'd', 'DELETE']")
    seen: set[str] = set()
    for codes, name in value.pairs:
        kind = _kind(name, value)
        for code in (each.strip() for each in codes.split(",")):
            if code in seen:
                raise BindError(f"op_mapping has the code {code} twice", span=value.span)
            seen.add(code)
            yield code, kind


def _by_name(call: ast.WindowCall) -> dict[str, ast.Argument]:
    given: dict[str, ast.Argument] = {}
    for at, argument in enumerate(call.arguments):
        name = argument.name.text.upper() if argument.name else PARAMETERS[at] if at < len(PARAMETERS) else ""
        if name not in PARAMETERS or name in given:
            problem = f"{call.function} has no parameter {name}" if name not in PARAMETERS else f"{name} is given twice"
            raise BindError(problem, span=argument.span, hint=USAGES[call.function])
        given[name] = argument
    if "INPUT" not in given:
        raise BindError(f"{call.function} needs an input", span=call.span, hint=USAGES[call.function])
    return given
