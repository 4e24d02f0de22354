"""CALL: procedures that act on the streams of the session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tvfsql.catalog import Catalog, Table
from tvfsql.errors import BindError, did_you_mean
from tvfsql.syntax import ast, statements

ADVANCE_WATERMARK = "advance_watermark"
PROCEDURES = (ADVANCE_WATERMARK,)
USAGE = "CALL advance_watermark(TIMESTAMP '2020-04-15 08:20:00'), or ('bid', TIMESTAMP '...') for table bid only"


@dataclass(frozen=True)
class AdvanceWatermark:
    """Event time has reached `watermark` (epoch ms) in the channels of `table`; None: in all channels.

    Source: semantics.md#watermarks.
    """

    watermark: int
    table: str | None = None


def bind_call(call: statements.Call, catalog: Catalog) -> AdvanceWatermark:
    """Return the action that a CALL asks for. Raises BindError."""
    name = call.procedure.text
    if name.lower() not in PROCEDURES:
        hint = did_you_mean(name, PROCEDURES)
        raise BindError(f"there is no procedure {name}", span=call.procedure.span, hint=hint)
    *tables, time = call.arguments or (None,)
    if time is None or len(tables) > 1:
        raise BindError(f"{name} takes a TIMESTAMP, or a table and a TIMESTAMP", span=call.span, hint=USAGE)
    watermark = _time(time)
    return AdvanceWatermark(watermark, _table(tables[0], catalog) if tables else None)


def epoch_ms(time: datetime) -> int:
    """Return a wall-clock time as milliseconds since the epoch."""
    return (time - datetime(1970, 1, 1)) // timedelta(milliseconds=1)


def table_with_watermark(name: str, catalog: Catalog) -> Table:
    """Return the table of that name. Raises BindError if it does not exist or has no watermark."""
    table = catalog.get(name)
    if not isinstance(table, Table):
        raise BindError(f"{table.name} is a view, which has no watermark", hint="name a table of the view")
    if table.watermark is None:
        raise BindError(
            f"table {table.name} has no watermark", hint=f"WATERMARK FOR ts AS ts in CREATE TABLE {table.name}"
        )
    return table


def _time(argument: statements.Constant | ast.Other) -> int:
    if isinstance(argument, statements.Constant) and argument.type == "TIMESTAMP":
        try:
            return epoch_ms(datetime.fromisoformat(argument.text.strip()))
        except (ValueError, TypeError):  # not a time, or a time with a zone
            raise BindError(f"{argument.text!r} is not a TIMESTAMP", span=argument.span, hint=USAGE) from None
    raise BindError("the watermark must be a TIMESTAMP literal", span=argument.span, hint=USAGE)


def _table(argument: statements.Constant | ast.Other, catalog: Catalog) -> str:
    if not isinstance(argument, statements.Constant) or argument.type:
        raise BindError("the table must be named in a string", span=argument.span, hint=USAGE)
    try:
        return table_with_watermark(argument.text, catalog).name
    except BindError as error:
        error.span = argument.span
        raise
