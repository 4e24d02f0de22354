"""What emitted code calls at run time. Names load on first use; importing this loads no Spark, no numpy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvfsql.runtime.captured import canal_changes as canal_changes
    from tvfsql.runtime.captured import debezium_changes as debezium_changes
    from tvfsql.runtime.changes import applied_changes as applied_changes
    from tvfsql.runtime.changes import change_sign as change_sign
    from tvfsql.runtime.distinct import distinct_changes as distinct_changes
    from tvfsql.runtime.functions import AggregateFunction as AggregateFunction
    from tvfsql.runtime.functions import OfRows as OfRows
    from tvfsql.runtime.functions import ScalarFunction as ScalarFunction
    from tvfsql.runtime.generated.source import DatagenSource as DatagenSource
    from tvfsql.runtime.generated.source import NexmarkSource as NexmarkSource
    from tvfsql.runtime.local import slice_rows as slice_rows
    from tvfsql.runtime.merge import merge_slices as merge_slices
    from tvfsql.runtime.output import print_rows as print_rows
    from tvfsql.runtime.sessions import local_sessions as local_sessions
    from tvfsql.runtime.sessions import merge_sessions as merge_sessions
    from tvfsql.runtime.sessions import session_windows as session_windows
    from tvfsql.runtime.windows import cumulate_windows as cumulate_windows
    from tvfsql.runtime.windows import drop_null_times as drop_null_times
    from tvfsql.runtime.windows import local_time as local_time
    from tvfsql.runtime.windows import month_windows as month_windows
    from tvfsql.runtime.windows import refuse_null_times as refuse_null_times
    from tvfsql.runtime.windows import windows_or_null as windows_or_null

_MODULE_OF = {
    "AggregateFunction": "functions",
    "DatagenSource": "generated.source",
    "NexmarkSource": "generated.source",
    "OfRows": "functions",
    "ScalarFunction": "functions",
    "applied_changes": "changes",
    "canal_changes": "captured",
    "change_sign": "changes",
    "cumulate_windows": "windows",
    "debezium_changes": "captured",
    "distinct_changes": "distinct",
    "drop_null_times": "windows",
    "local_sessions": "sessions",
    "local_time": "windows",
    "merge_sessions": "sessions",
    "merge_slices": "merge",
    "month_windows": "windows",
    "print_rows": "output",
    "refuse_null_times": "windows",
    "session_windows": "sessions",
    "slice_rows": "local",
    "windows_or_null": "windows",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
