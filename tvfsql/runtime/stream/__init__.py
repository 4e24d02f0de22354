"""What emitted code calls for streams. Names are loaded on first use; importing this loads neither Spark nor numpy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvfsql.runtime.stream.driver.jobs import Job as Job
    from tvfsql.runtime.stream.driver.jobs import printed as printed
    from tvfsql.runtime.stream.driver.jobs import run_streams as run_streams
    from tvfsql.runtime.stream.driver.jobs import start_streams as start_streams
    from tvfsql.runtime.stream.driver.jobs import to_tables as to_tables
    from tvfsql.runtime.stream.exchange.late_rows import in_time as in_time
    from tvfsql.runtime.stream.exchange.late_rows import late_rows as late_rows
    from tvfsql.runtime.stream.lives.idle_sources import Source as Source
    from tvfsql.runtime.stream.lives.listed_files import listed_files as listed_files
    from tvfsql.runtime.stream.progress.counts import counted_out as counted_out
    from tvfsql.runtime.stream.rows.changelog_normalize import normalized_stream as normalized_stream
    from tvfsql.runtime.stream.rows.changes_by_key import changes_by_key as changes_by_key
    from tvfsql.runtime.stream.rows.current_watermark import current_watermark_stream as current_watermark_stream
    from tvfsql.runtime.stream.rows.deduplicate import deduplicate_stream as deduplicate_stream
    from tvfsql.runtime.stream.rows.gap_fill import fill_gaps_stream as fill_gaps_stream
    from tvfsql.runtime.stream.rows.gap_fill import fill_grid_stream as fill_grid_stream
    from tvfsql.runtime.stream.rows.joins.intervals import interval_join_stream as interval_join_stream
    from tvfsql.runtime.stream.rows.joins.regular import regular_join_stream as regular_join_stream
    from tvfsql.runtime.stream.rows.joins.versions import temporal_join_stream as temporal_join_stream
    from tvfsql.runtime.stream.rows.over.operator import over_stream as over_stream
    from tvfsql.runtime.stream.rows.ranks.of_windows import sort_stream as sort_stream
    from tvfsql.runtime.stream.rows.ranks.of_windows import top_n_stream as top_n_stream
    from tvfsql.runtime.stream.rows.ranks.updating import updating_top_n_stream as updating_top_n_stream
    from tvfsql.runtime.stream.rows.row_patterns import match_rows_stream as match_rows_stream
    from tvfsql.runtime.stream.rows.temporal_sort import temporal_sort_stream as temporal_sort_stream
    from tvfsql.runtime.stream.sinks.catalog_tables import write_table as write_table
    from tvfsql.runtime.stream.sinks.files import write_files as write_files
    from tvfsql.runtime.stream.time.watermarks import drop_null_times as drop_null_times
    from tvfsql.runtime.stream.time.watermarks import union_streams as union_streams
    from tvfsql.runtime.stream.time.watermarks import with_processing_time as with_processing_time
    from tvfsql.runtime.stream.time.watermarks import with_watermarks as with_watermarks
    from tvfsql.runtime.stream.windows.upserts import upserted_groups as upserted_groups
    from tvfsql.runtime.stream.windows.window_stream import local_sessions as local_sessions
    from tvfsql.runtime.stream.windows.window_stream import local_slices as local_slices
    from tvfsql.runtime.stream.windows.window_stream import merge_session_stream as merge_session_stream
    from tvfsql.runtime.stream.windows.window_stream import merge_slice_stream as merge_slice_stream

_MODULE_OF = {
    "changes_by_key": "rows.changes_by_key",
    "counted_out": "progress.counts",
    "normalized_stream": "rows.changelog_normalize",
    "current_watermark_stream": "rows.current_watermark",
    "deduplicate_stream": "rows.deduplicate",
    "drop_null_times": "time.watermarks",
    "fill_gaps_stream": "rows.gap_fill",
    "fill_grid_stream": "rows.gap_fill",
    "in_time": "exchange.late_rows",
    "interval_join_stream": "rows.joins.intervals",
    "Job": "driver.jobs",
    "late_rows": "exchange.late_rows",
    "listed_files": "lives.listed_files",
    "local_sessions": "windows.window_stream",
    "local_slices": "windows.window_stream",
    "match_rows_stream": "rows.row_patterns",
    "merge_session_stream": "windows.window_stream",
    "merge_slice_stream": "windows.window_stream",
    "over_stream": "rows.over.operator",
    "printed": "driver.jobs",
    "regular_join_stream": "rows.joins.regular",
    "run_streams": "driver.jobs",
    "Source": "lives.idle_sources",
    "sort_stream": "rows.ranks.of_windows",
    "start_streams": "driver.jobs",
    "temporal_join_stream": "rows.joins.versions",
    "temporal_sort_stream": "rows.temporal_sort",
    "to_tables": "driver.jobs",
    "top_n_stream": "rows.ranks.of_windows",
    "union_streams": "time.watermarks",
    "updating_top_n_stream": "rows.ranks.updating",
    "upserted_groups": "windows.upserts",
    "with_processing_time": "time.watermarks",
    "with_watermarks": "time.watermarks",
    "write_files": "sinks.files",
    "write_table": "sinks.catalog_tables",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
