"""What emitted code calls. Names are loaded on first use; importing this loads neither Spark nor numpy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvfsql.runtime.avro.messages import from_avro as from_avro
    from tvfsql.runtime.avro.messages import to_avro as to_avro
    from tvfsql.runtime.avro.records import from_avro_record as from_avro_record
    from tvfsql.runtime.avro.records import to_avro_record as to_avro_record
    from tvfsql.runtime.batch.common_parts import computed_once as computed_once
    from tvfsql.runtime.batch.common_parts import holding as holding
    from tvfsql.runtime.batch.file_tables import refuse_file_log as refuse_file_log
    from tvfsql.runtime.batch.file_tables import replaced_files as replaced_files
    from tvfsql.runtime.batch.merge_slices import merge_slices as merge_slices
    from tvfsql.runtime.batch.session_windows import local_sessions as local_sessions
    from tvfsql.runtime.batch.session_windows import merge_sessions as merge_sessions
    from tvfsql.runtime.batch.session_windows import session_windows as session_windows
    from tvfsql.runtime.batch.sizes import sized as sized
    from tvfsql.runtime.batch.slices_in_python import slice_rows as slice_rows
    from tvfsql.runtime.batch.temporal_join import temporal_join as temporal_join
    from tvfsql.runtime.databases.lakehouse import merge_rows as merge_rows
    from tvfsql.runtime.databases.postgres import write_postgres as write_postgres
    from tvfsql.runtime.frames.assigned_windows import cumulate_windows as cumulate_windows
    from tvfsql.runtime.frames.assigned_windows import drop_null_times as drop_null_times
    from tvfsql.runtime.frames.assigned_windows import hop_windows as hop_windows
    from tvfsql.runtime.frames.assigned_windows import local_time as local_time
    from tvfsql.runtime.frames.assigned_windows import month_windows as month_windows
    from tvfsql.runtime.frames.assigned_windows import refuse_null_times as refuse_null_times
    from tvfsql.runtime.frames.assigned_windows import windows_or_null as windows_or_null
    from tvfsql.runtime.frames.cdc_messages import Unread as Unread
    from tvfsql.runtime.frames.cdc_messages import canal_changes as canal_changes
    from tvfsql.runtime.frames.cdc_messages import debezium_changes as debezium_changes
    from tvfsql.runtime.frames.change_messages import canal_message as canal_message
    from tvfsql.runtime.frames.change_messages import debezium_message as debezium_message
    from tvfsql.runtime.frames.changelog import applied_changes as applied_changes
    from tvfsql.runtime.frames.changelog import change_kind as change_kind
    from tvfsql.runtime.frames.changelog import change_sign as change_sign
    from tvfsql.runtime.frames.changelog import feed_kind as feed_kind
    from tvfsql.runtime.frames.changelog import feed_sign as feed_sign
    from tvfsql.runtime.frames.changelog import last_rows as last_rows
    from tvfsql.runtime.frames.changelog import latest_messages as latest_messages
    from tvfsql.runtime.frames.dead_letters import forgiving as forgiving
    from tvfsql.runtime.frames.dead_letters import readable as readable
    from tvfsql.runtime.frames.dead_letters import refuse_far_times as refuse_far_times
    from tvfsql.runtime.frames.dead_letters import refuse_unreadable as refuse_unreadable
    from tvfsql.runtime.frames.dead_letters import unreadable as unreadable
    from tvfsql.runtime.frames.folder_values import chosen_folders as chosen_folders
    from tvfsql.runtime.frames.folder_values import folder_value as folder_value
    from tvfsql.runtime.frames.gaps import fill_gaps as fill_gaps
    from tvfsql.runtime.frames.gaps import fill_grid as fill_grid
    from tvfsql.runtime.frames.row_patterns import match_rows as match_rows
    from tvfsql.runtime.frames.shown_rows import print_rows as print_rows
    from tvfsql.runtime.frames.shown_rows import show_rows as show_rows
    from tvfsql.runtime.host.environment import from_environment as from_environment
    from tvfsql.runtime.host.warehouse import managed_folder as managed_folder
    from tvfsql.runtime.protobuf.messages import from_protobuf as from_protobuf
    from tvfsql.runtime.protobuf.messages import to_protobuf as to_protobuf
    from tvfsql.runtime.synthetic.source import DatagenSource as DatagenSource
    from tvfsql.runtime.synthetic.source import FakerSource as FakerSource
    from tvfsql.runtime.synthetic.source import NexmarkSource as NexmarkSource
    from tvfsql.runtime.udf import AggregateFunction as AggregateFunction
    from tvfsql.runtime.udf import OfRows as OfRows
    from tvfsql.runtime.udf import ScalarFunction as ScalarFunction

_MODULE_OF = {
    "AggregateFunction": "udf",
    "DatagenSource": "synthetic.source",
    "FakerSource": "synthetic.source",
    "NexmarkSource": "synthetic.source",
    "OfRows": "udf",
    "ScalarFunction": "udf",
    "Unread": "frames.cdc_messages",
    "applied_changes": "frames.changelog",
    "last_rows": "frames.changelog",
    "canal_changes": "frames.cdc_messages",
    "canal_message": "frames.change_messages",
    "change_kind": "frames.changelog",
    "change_sign": "frames.changelog",
    "chosen_folders": "frames.folder_values",
    "computed_once": "batch.common_parts",
    "cumulate_windows": "frames.assigned_windows",
    "debezium_changes": "frames.cdc_messages",
    "debezium_message": "frames.change_messages",
    "drop_null_times": "frames.assigned_windows",
    "fill_gaps": "frames.gaps",
    "fill_grid": "frames.gaps",
    "forgiving": "frames.dead_letters",
    "from_avro": "avro.messages",
    "from_avro_record": "avro.records",
    "from_protobuf": "protobuf.messages",
    "from_environment": "host.environment",
    "feed_kind": "frames.changelog",
    "feed_sign": "frames.changelog",
    "folder_value": "frames.folder_values",
    "holding": "batch.common_parts",
    "hop_windows": "frames.assigned_windows",
    "latest_messages": "frames.changelog",
    "local_sessions": "batch.session_windows",
    "local_time": "frames.assigned_windows",
    "managed_folder": "host.warehouse",
    "merge_rows": "databases.lakehouse",
    "merge_sessions": "batch.session_windows",
    "match_rows": "frames.row_patterns",
    "merge_slices": "batch.merge_slices",
    "month_windows": "frames.assigned_windows",
    "print_rows": "frames.shown_rows",
    "show_rows": "frames.shown_rows",
    "readable": "frames.dead_letters",
    "refuse_null_times": "frames.assigned_windows",
    "replaced_files": "batch.file_tables",
    "session_windows": "batch.session_windows",
    "sized": "batch.sizes",
    "slice_rows": "batch.slices_in_python",
    "temporal_join": "batch.temporal_join",
    "to_avro": "avro.messages",
    "to_avro_record": "avro.records",
    "to_protobuf": "protobuf.messages",
    "refuse_file_log": "batch.file_tables",
    "refuse_far_times": "frames.dead_letters",
    "refuse_unreadable": "frames.dead_letters",
    "unreadable": "frames.dead_letters",
    "windows_or_null": "frames.assigned_windows",
    "write_postgres": "databases.postgres",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
