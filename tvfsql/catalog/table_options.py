"""Options of a table's WITH clause that every connector accepts: its history, its changelog column, its watermark.

`tvfsql.history` names another table, whose rows come first; `tvfsql.history.until` says where it ends and the live
table begins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.options.known import LATE_OUTPUT
from tvfsql.options.readers import duration
from tvfsql.plan.node import Field
from tvfsql.plan.values.types import STRING

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


# The WITH option that makes a table a changelog: `changelog.op` names the column with the operation of a row. Its
# values are Flink's row kinds.


OP = "changelog.op"


def changelog_option(
    options: Mapping[str, str], spans: Mapping[str, Span], columns: Sequence[Field]
) -> tuple[str | None, dict[str, str]]:
    """Return the column that the option names, one of the stored `columns`, and the remaining options.

    Raises BindError if the column does not exist or is not a STRING.
    """
    rest = {key: value for key, value in options.items() if key != OP}
    return (op_column(options[OP], columns, spans[OP]) if OP in options else None), rest


def op_column(name: str, columns: Sequence[Field], span: Span | None, of: str = OP) -> str:
    """Return the stored column of that name. Raises BindError if it does not exist or is not a STRING."""
    found = next((part for part in columns if part.name.lower() == name.lower()), None)
    if found is None:
        hint = did_you_mean(name, [part.name for part in columns], otherwise="columns: ")
        raise BindError(f"there is no column {name} for {of}", span=span, hint=hint)
    if found.type != STRING:
        problem = f"{of} needs a STRING column, but {found.name} is {found.type.flink}"
        raise BindError(problem, span=span, hint=f"{found.name} STRING")
    return found.name


# The options of a table's WITH clause on its watermark and late rows, which every connector accepts.
#
# Source: semantics.md#watermarks, semantics.md#late-rows.


STRATEGY = "scan.watermark.emit.strategy"
IDLE_TIMEOUT = "scan.watermark.idle-timeout"
STRATEGIES = ("on-periodic", "on-event")


@dataclass(frozen=True)
class WatermarkOptions:
    """`on_event`: the watermark advances with each row, not once per micro-batch. `idle_timeout`: milliseconds; None:
    unset. `late_output`: the table for its late rows, "" for none; None: the one that SET names.
    """

    on_event: bool = False
    idle_timeout: int | None = None
    late_output: str | None = None


def watermark_options(options: Mapping[str, str], spans: Mapping[str, Span]) -> tuple[WatermarkOptions, dict[str, str]]:
    """Return these options, and the remaining ones for the connector. Raises BindError or OptionError."""
    rest = {key: value for key, value in options.items() if key not in (STRATEGY, IDLE_TIMEOUT, LATE_OUTPUT.key)}
    strategy = options.get(STRATEGY, STRATEGIES[0])
    if strategy not in STRATEGIES:
        hint = did_you_mean(strategy, STRATEGIES)
        raise BindError(f"{STRATEGY} cannot be {strategy!r}", span=spans[STRATEGY], hint=hint)
    idle = duration(options[IDLE_TIMEOUT], IDLE_TIMEOUT, spans[IDLE_TIMEOUT]) if IDLE_TIMEOUT in options else None
    return WatermarkOptions(strategy == "on-event", idle, options.get(LATE_OUTPUT.key)), rest
