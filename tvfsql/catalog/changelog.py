"""The WITH option that makes a table a changelog: `changelog.op` names the column with the operation of a row. Its
values are Flink's row kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.node import Field
from tvfsql.plan.values.types import STRING

OP = "changelog.op"


def changelog_option(
    options: Mapping[str, str], spans: Mapping[str, Span], columns: Sequence[Field]
) -> tuple[str | None, dict[str, str]]:
    """Return the column that the option names, one of the stored `columns`, and the remaining options.

    Raises BindError if the column does not exist or is not a STRING.
    """
    rest = {key: value for key, value in options.items() if key != OP}
    return (op_column(options[OP], columns, spans[OP]) if OP in options else None), rest


def op_column(name: str, columns: Sequence[Field], span: Span | None) -> str:
    """Return the stored column of that name. Raises BindError if it does not exist or is not a STRING."""
    found = next((part for part in columns if part.name.lower() == name.lower()), None)
    if found is None:
        hint = did_you_mean(name, [part.name for part in columns], otherwise="columns: ")
        raise BindError(f"there is no column {name} for {OP}", span=span, hint=hint)
    if found.type != STRING:
        problem = f"{OP} needs a STRING column, but {found.name} is {found.type.flink}"
        raise BindError(problem, span=span, hint=f"{found.name} STRING")
    return found.name
