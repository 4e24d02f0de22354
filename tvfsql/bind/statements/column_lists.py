"""Lists of column names in statements."""

from __future__ import annotations

from tvfsql.catalog import TableColumn
from tvfsql.errors import BindError, did_you_mean
from tvfsql.syntax import ast


def known_column(name: ast.Name, columns: tuple[TableColumn, ...]) -> str:
    """Return the column's name as the table spells it. Raises BindError if the table lacks it."""
    found = next((part.name for part in columns if part.name.lower() == name.text.lower()), None)
    if found is None:
        hint = did_you_mean(name.text, [part.name for part in columns], otherwise="columns: ")
        raise BindError(f"the table has no column {name.text}", span=name.span, hint=hint)
    return found


def refuse_repeated(names: list[ast.Name]) -> None:
    """Raise BindError at the first name that occurs twice; the case of letters does not matter."""
    seen: set[str] = set()
    for name in names:
        if name.text.lower() in seen:
            raise BindError(f"two columns are named {name.text}", span=name.span)
        seen.add(name.text.lower())
