"""The options that give a live table a history: `tvfsql.history` names another table, whose rows come first;
`tvfsql.history.until` says where it ends and the live table begins.

Source: docs/streams.md#history-then-live.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tvfsql.errors import BindError, Span

HISTORY, UNTIL = "tvfsql.history", "tvfsql.history.until"
TIME = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?")


@dataclass(frozen=True)
class History:
    """The rows of a table before its live ones: those of the table `name`. With `until` (`2020-04-15 08:00:00`) only
    those before that time, and of the live table only those from it on. An instant is meant in `zone`.
    """

    name: str
    until: str | None = None
    zone: str = "UTC"

    def __str__(self) -> str:
        return f"{self.name} until {self.until}" if self.until else self.name


def history_options(
    options: Mapping[str, str], spans: Mapping[str, Span], table: str, zone: str, *, timed: bool
) -> tuple[History | None, dict[str, str]]:
    """Return the history that the options name, and the remaining ones. `timed`: the table has a watermark. Raises
    BindError.
    """
    rest = {key: value for key, value in options.items() if key not in (HISTORY, UNTIL)}
    until = options.get(UNTIL)
    if HISTORY not in options:
        if until is not None:
            raise BindError(f"{UNTIL} needs {HISTORY}", span=spans[UNTIL], hint=f"'{HISTORY}' = 'a_table'")
        return None, rest
    name = options[HISTORY]
    if name.lower() == table.lower():
        raise BindError(f"{table} cannot be its own history", span=spans[HISTORY], hint="name another table")
    if until is None:
        return History(name), rest
    if not TIME.fullmatch(until):
        hint = f"'{UNTIL}' = '2020-04-15 08:00:00'"
        raise BindError(f"{UNTIL} needs a time, not {until!r}", span=spans[UNTIL], hint=hint)
    if not timed:
        hint = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
        raise BindError(f"{UNTIL} compares the time of the WATERMARK, which is missing", span=spans[UNTIL], hint=hint)
    return History(name, until, zone), rest
