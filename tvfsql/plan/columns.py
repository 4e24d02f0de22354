"""Names of columns that no query names: physical operators, emitted code and the runtime agree on them here.

No name of a query begins with a $. Columns that only one module of the runtime sees have their names there.
"""

from __future__ import annotations

# Besides the columns of a stream's rows: the watermark that a row brings; a watermark that no row brings, IDLE or a
# TRIGGER, in control rows; the partition of the source that says it.
WATERMARK, CONTROL, CHANNEL = "$watermark", "$control", "$channel"
MARKS = (WATERMARK, CONTROL, CHANNEL)
# A row of the source, should it be late; a late row and a window that it missed.
LATE = "$late"

# What a row does, where rows are changes: +I, -U, +U or -D. In stored changelogs it has the table's own name.
OP = "$op"
# The partials of the row that a change replaces, or of the previous step of a CUMULATE that emits changed steps only.
BEFORE = "before"
# Whether a change adds its row (1) or takes it away (-1); another name, where a table has a column of this one.
SIGN = "sign"
# How often a row is left when all changes are applied.
TIMES = "$times"

# What a window function adds.
WINDOW_COLUMNS = ("window_start", "window_end", "window_time")
# A slice, by its end; the interval of a session, by the times of its first and last row.
SLICE_END = "slice_end"
INTERVAL_START, INTERVAL_LAST = "$start", "$last"
