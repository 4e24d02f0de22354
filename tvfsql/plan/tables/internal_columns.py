"""Names of internal columns, which physical operators, emitted code and the runtime share.

They begin with $. A column that only one runtime module uses is named in that module. No name of a query is one of
them (refused_names.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Beside the columns of a stream's rows: the watermark that a row carries; the channel message of a control row (a
# watermark, IDLE or TRIGGER); the partition of the source that it comes from; with `on-event` watermarks a number that
# only the copies of a row share.
WATERMARK, CONTROL, CHANNEL, ROW = "$watermark", "$control", "$channel", "$row"
MARKS = (WATERMARK, CONTROL, CHANNEL, ROW)
# The row of the source, in case it is late. It holds a struct per table of late rows, and one of them is not NULL. In a
# control row: a late row on its way to its table, with a window that it missed.
LATE = "$late"

# The operation of a change: +I, -U, +U or -D. Stored changelogs use the table's own name for it.
OP = "$op"
ADDED, REMOVED = ("+I", "+U"), (BEFORE_UPDATE := "-U", "-D")
KINDS = {op: op for op in ("+I", "-U", "+U", "-D")}
# The partials of the row that a change replaces, or of the previous step of a CUMULATE that only emits changed steps.
BEFORE = "before"
# Whether a change inserts its row (1) or retracts it (-1); renamed if a table has a column of this name.
SIGN = "sign"
# How many copies of a row remain after all changes.
TIMES = "$times"

# Beside the versions of a changelog: 1 where one begins, -1 where it ends without another one. Then what tells the
# order in which changes of one time came: the place in the source, in the message, and in the batch.
OF_VERSION = "$version"
ARRIVAL = "$arrival_"
OF_MESSAGE, OF_ROW = f"{ARRIVAL}in_message", f"{ARRIVAL}row"

# Where a parser puts the text of a row or message that it cannot read, if dead letters are kept.
TEXT = "$text"

# The time of the rows of a window that never ends: that of their micro-batch.
ALWAYS = "$always"

# The times from which a join keeps the rows of its left and right side: those of their micro-batches.
SINCE = ("$left_since", "$right_since")
CLOCKS = (ALWAYS, *SINCE)

# The columns that a window function adds.
WINDOW_COLUMNS = ("window_start", "window_end", "window_time")
# The column in which WINDOWS(...) tells its windows apart.
WINDOW_NAME = "window_name"
# The end of a slice; the times of the first and last row of a session's interval.
SLICE_END = "slice_end"
# The end of the time range whose task makes windows from a slice.
RANGE = "$range"
SHOWN = {RANGE: "time range"}
INTERVAL_START, INTERVAL_LAST = "$start", "$last"


# Names that no table, column or alias may have.


# Names of internal columns: those of internal_columns.py, and of the modules that use one alone
RESERVED = frozenset(
    "always arrived at bad change changes channel closed control done emitted end first hash i in input last late "
    "lates left_since met namespace new o op opened partners piece range removed right_since row rows runs session "
    "slice span start steps text time timeless timer times touched until version waits watermark window".split()
)
# keys, expansions of grouping sets, the order of changes, parameters of lambdas
NUMBERED = re.compile(r"\$(?:\d+|e\d*|arrival_.*|\$.*)", re.DOTALL)
GROUPING = re.compile(r"\$e\d*\Z")


def refused(name: str) -> str | None:
    """Return why a name cannot be used; None if it can. Other names may begin with $, such as Confluent's $rowtime."""
    if "${" in name:
        return "Spark would replace ${...} in this name"
    if is_internal(name):
        return f"the name {name} is reserved"
    return None


def shown(names: Iterable[str]) -> tuple[str, ...]:
    """The columns as EXPLAIN lists them: without internal ones, but for those by which operators group. Of these, `$e`
    has Flink's name.
    """
    return tuple(
        SHOWN.get(name, name) for name in names if not is_internal(name) or name in SHOWN or GROUPING.match(name)
    )


def is_internal(name: str) -> bool:
    """Whether an internal column has that name."""
    lower = name.lower()
    return lower.startswith("$") and (lower[1:] in RESERVED or NUMBERED.fullmatch(lower) is not None)
