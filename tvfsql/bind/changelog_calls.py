"""FROM_CHANGELOG: a table whose rows say what has changed, read as a changelog. Source: semantics.md#changelogs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tvfsql.catalog import Table
from tvfsql.catalog.table_options import op_column
from tvfsql.errors import BindError, UnsupportedError, did_you_mean
from tvfsql.syntax import ast

KINDS = {"INSERT": "+I", "UPDATE_BEFORE": "-U", "UPDATE_AFTER": "+U", "DELETE": "-D"}  # by Flink's names
PARAMETERS = ("INPUT", "OP", "OP_MAPPING")
USAGE = (
    "FROM_CHANGELOG(input => TABLE t [PARTITION BY id], [op => DESCRIPTOR(op)], "
    "[op_mapping => MAP['c, r', 'INSERT', ...]])"
)


@dataclass(frozen=True)
class Codes:
    """A call of FROM_CHANGELOG: its table, the column with the code of a change, and the operation of each code. `key`:
    each row replaces the one with the same values there."""

    table: ast.TableName
    op: str
    codes: tuple[tuple[str, str], ...]
    key: tuple[ast.Name, ...]


def read_codes(call: ast.WindowCall) -> Codes:
    """Read the arguments of FROM_CHANGELOG. Raises BindError, or UnsupportedError for what is not a table."""
    given = _by_name(call)
    data = given["INPUT"].value
    if not isinstance(data, ast.Input):
        raise BindError("the input of FROM_CHANGELOG must be a table", span=data.span, hint=USAGE)
    if not isinstance(data.relation, ast.TableName):
        raise UnsupportedError(
            "FROM_CHANGELOG reads a table, not a query",
            span=data.span,
            hint="FROM_CHANGELOG(input => TABLE t), and the query over it",
        )
    op = "op"
    if "OP" in given:
        named = given["OP"].value
        if not isinstance(named, ast.Descriptor) or len(named.columns) != 1:
            raise BindError("op takes one column", span=named.span, hint="op => DESCRIPTOR(op)")
        op = named.columns[0].text
    codes = dict(KINDS)
    if "OP_MAPPING" in given:
        codes = dict(_codes(given["OP_MAPPING"]))
    updates = {kind for kind in codes.values() if kind in ("-U", "+U")}
    if updates == {"-U"}:
        raise BindError("op_mapping has UPDATE_BEFORE without UPDATE_AFTER", span=given["OP_MAPPING"].span, hint=USAGE)
    if updates == {"+U"} and not data.partition_by:
        raise BindError(
            "op_mapping has UPDATE_AFTER without UPDATE_BEFORE, so a row replaces the one with its key; name the key",
            span=given["OP_MAPPING"].span,
            hint=f"TABLE {data.relation.name} PARTITION BY id, or a code for UPDATE_BEFORE",
        )
    return Codes(data.relation, op, tuple(codes.items()), data.partition_by if updates == {"+U"} else ())


def changed_table(table: Table, call: Codes) -> Table:
    """The table as a changelog. Raises BindError if it has no such columns, or is a changelog already."""
    if table.is_changelog:
        raise BindError(
            f"FROM_CHANGELOG needs insert-only input, but {table.name} is a changelog already",
            span=call.table.span,
            hint=f"FROM {table.name}",
        )
    op = op_column(call.op, table.physical, call.table.span, "op")
    return table.changed_by(op, call.codes, tuple(_key(table, name) for name in call.key))


def _key(table: Table, name: ast.Name) -> str:
    found = next((part.name for part in table.columns if part.name.lower() == name.text.lower()), None)
    if found is None:
        hint = did_you_mean(name.text, [part.name for part in table.columns], otherwise="columns: ")
        raise BindError(f"{table.name} has no column {name.text}", span=name.span, hint=hint)
    return found


def _codes(argument: ast.Argument) -> Iterator[tuple[str, str]]:
    value = argument.value
    if not isinstance(value, ast.TextMap):
        raise BindError(
            "op_mapping takes a MAP of strings", span=value.span, hint="MAP['c, r', 'INSERT', 'd', 'DELETE']"
        )
    seen: set[str] = set()
    for codes, name in value.pairs:
        if name not in KINDS:
            raise BindError(
                f"op_mapping knows no operation {name}",
                span=value.span,
                hint=did_you_mean(name, KINDS, otherwise="operations: "),
            )
        for code in (each.strip() for each in codes.split(",")):
            if code in seen:
                raise BindError(f"op_mapping has the code {code} twice", span=value.span)
            seen.add(code)
            yield code, KINDS[name]


def _by_name(call: ast.WindowCall) -> dict[str, ast.Argument]:
    given: dict[str, ast.Argument] = {}
    for at, argument in enumerate(call.arguments):
        name = argument.name.text.upper() if argument.name else PARAMETERS[at] if at < len(PARAMETERS) else ""
        if name not in PARAMETERS or name in given:
            problem = f"{call.function} has no parameter {name}" if name not in PARAMETERS else f"{name} is given twice"
            raise BindError(problem, span=argument.span, hint=USAGE)
        given[name] = argument
    if "INPUT" not in given:
        raise BindError("FROM_CHANGELOG needs an input", span=call.span, hint=USAGE)
    return given
