"""Streams: what emitted code calls. Names load on first use; importing this loads no Spark, no numpy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvfsql.runtime.stream.batches import to_tables as to_tables
    from tvfsql.runtime.stream.batches import write_files as write_files
    from tvfsql.runtime.stream.counts import counted_out as counted_out
    from tvfsql.runtime.stream.deduplicate import deduplicate_stream as deduplicate_stream
    from tvfsql.runtime.stream.interval_join import interval_join_stream as interval_join_stream
    from tvfsql.runtime.stream.late import in_time as in_time
    from tvfsql.runtime.stream.late import late_rows as late_rows
    from tvfsql.runtime.stream.rank import top_n_stream as top_n_stream
    from tvfsql.runtime.stream.run import Running as Running
    from tvfsql.runtime.stream.run import Stream as Stream
    from tvfsql.runtime.stream.slices import local_sessions as local_sessions
    from tvfsql.runtime.stream.slices import local_slices as local_slices
    from tvfsql.runtime.stream.slices import merge_session_stream as merge_session_stream
    from tvfsql.runtime.stream.slices import merge_slice_stream as merge_slice_stream
    from tvfsql.runtime.stream.union import union_streams as union_streams
    from tvfsql.runtime.stream.watermarks import drop_null_times as drop_null_times
    from tvfsql.runtime.stream.watermarks import with_processing_time as with_processing_time
    from tvfsql.runtime.stream.watermarks import with_watermarks as with_watermarks

_MODULE_OF = {
    "counted_out": "counts",
    "deduplicate_stream": "deduplicate",
    "drop_null_times": "watermarks",
    "in_time": "late",
    "interval_join_stream": "interval_join",
    "late_rows": "late",
    "local_sessions": "slices",
    "local_slices": "slices",
    "merge_session_stream": "slices",
    "merge_slice_stream": "slices",
    "Running": "run",
    "Stream": "run",
    "to_tables": "batches",
    "top_n_stream": "rank",
    "union_streams": "union",
    "with_processing_time": "watermarks",
    "with_watermarks": "watermarks",
    "write_files": "batches",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
