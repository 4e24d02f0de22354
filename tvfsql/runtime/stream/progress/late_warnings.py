"""The warning of the late rows that a run has dropped. Source: semantics.md#late-rows."""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.runtime.stream.progress.counts import LATE, StreamCounts

HINT = "a longer delay in WATERMARK waits for them; 'tvfsql.late-output' = 'TABLE' keeps them"


def late_warning(
    counts: StreamCounts, tables: Sequence[str], *, idle_timeout: bool = False, idle_advance: bool = False
) -> str:
    """How many rows a stream of these tables has dropped because they were late, why that may be, and what helps.

    `idle_timeout`: a table may become idle. `idle_advance`: windows fire then, if all are.
    """
    late, rows = counts.added[LATE], counts.added["rowsIn"]
    share = f" of {rows:,} ({_percent(late / rows)})" if 0 < late <= rows else ""
    of = f" of {' and '.join(dict.fromkeys(tables))}" if tables else ""
    one = late == 1 and not share
    dropped = f"{late:,}{share} row{'' if one else 's'}{of} {'was' if one else 'were'} late and dropped"
    return f"{dropped}: {_cause(counts, idle_timeout, idle_advance)}\nhint: {HINT}"


def _cause(counts: StreamCounts, idle_timeout: bool, idle_advance: bool) -> str:
    """The likely cause."""
    if idle_timeout and idle_advance:
        return "windows fired while all tables were idle ('tvfsql.source.lossy-idle-advance')"
    if counts.of_files > 1:
        return (
            "files are read in order of modification time, then of name, unless 'source.file-order' says otherwise: is "
            "this the order of their rows?"
        )
    if idle_timeout:
        return "they came after windows had stopped waiting for an idle table, or later than the delay of WATERMARK"
    return "they came later than the delay of WATERMARK allows"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{share:.2%}"
