"""The order of the planner's rules, and nothing else."""

from tvfsql.planner import Phase
from tvfsql.rules.changelog import retract_changes
from tvfsql.rules.distinct import compute_unmergeable_calls_apart, push_expand_below_window, split_distinct
from tvfsql.rules.filters import (
    choose_folders_by_time,
    push_filter_below_expand,
    push_filter_below_gap_fill,
    push_filter_below_set_operation,
)
from tvfsql.rules.joins.aggregates import aggregate_both_sides_of_join
from tvfsql.rules.joins.intervals import make_interval_join
from tvfsql.rules.joins.regular import make_regular_join
from tvfsql.rules.joins.self_join import project_instead_of_self_join, rank_instead_of_self_join
from tvfsql.rules.joins.sides import (
    make_window_join,
    push_filter_below_join,
    push_filter_below_temporal_join,
    push_join_condition_below,
)
from tvfsql.rules.joins.streams import pair_rows_when_window_ends
from tvfsql.rules.over import (
    count_instead_of_rank,
    make_temporal_sort,
    split_over_aggregate,
    split_pattern_aggregates,
)
from tvfsql.rules.projection import (
    drop_idle_project,
    merge_filters,
    merge_projects,
    prune_columns,
    push_filter_below_aggregate,
    push_filter_below_project,
)
from tvfsql.rules.sharing import narrow_common_parts, share_equal_parts
from tvfsql.rules.top_n import make_top_n, update_last_rows
from tvfsql.rules.union_sides import aggregate_each_side, choose_side, rank_each_side
from tvfsql.rules.windows.aggregate import (
    aggregate_attached_windows,
    aggregate_distinct_windows,
    complete_window_keys,
    pull_project_above_window_aggregate,
    pull_up_window_table_function,
    pull_window_filter_above_aggregate,
    update_groups_without_window,
)
from tvfsql.rules.windows.bounds import push_window_bounds_below_window
from tvfsql.rules.windows.held_rows import hold_rows_until_window_ends
from tvfsql.rules.windows.one_pass import aggregate_windows_in_one_pass
from tvfsql.rules.windows.one_pass_for_readers import aggregate_windows_of_readers_in_one_pass
from tvfsql.rules.windows.one_pass_of_ranks import rank_windows_in_one_pass
from tvfsql.rules.windows.rank import (
    make_deduplicate,
    make_window_deduplicate,
    make_window_top_n,
    push_filter_below_rank,
)
from tvfsql.rules.windows.shared_slices import (
    drop_unread_windows,
    prune_windows_of_shared_slices,
    share_slices_of_several_windows,
)
from tvfsql.rules.windows.table_function import (
    push_filter_below_window,
    push_project_below_window,
    push_unnest_below_window,
)
from tvfsql.rules.windows.time_ranges import cut_into_time_ranges
from tvfsql.rules.windows.two_phase import split_local_global
from tvfsql.rules.windows.upserts import aggregate_upserts_in_spark

PHASES = (
    Phase(
        "push_down",
        (
            merge_projects,
            merge_filters,
            push_filter_below_project,
            push_filter_below_aggregate,
            push_filter_below_rank,
            push_filter_below_join,
            push_filter_below_temporal_join,
            push_join_condition_below,
            push_filter_below_window,
            push_window_bounds_below_window,
            choose_side,
            push_filter_below_set_operation,
            push_filter_below_expand,
            push_filter_below_gap_fill,
            choose_folders_by_time,
            aggregate_each_side,
            rank_each_side,
            rank_instead_of_self_join,
            project_instead_of_self_join,
        ),
    ),
    # after push_down: operators still between an aggregate and its window function use the windows
    Phase(
        "windows",
        (
            aggregate_distinct_windows,
            push_project_below_window,
            merge_projects,
            drop_idle_project,
            push_unnest_below_window,
            push_expand_below_window,
            complete_window_keys,
            pull_project_above_window_aggregate,
            pull_window_filter_above_aggregate,
            pull_up_window_table_function,
        ),
    ),
    # after windows, whose rules look for window functions directly below
    Phase("joins", (make_window_join, make_interval_join, make_regular_join)),
    # after push_down: conditions still above a rank depend on it
    Phase("ranks", (make_window_top_n, make_window_deduplicate, make_deduplicate, make_top_n, make_temporal_sort)),
    # after ranks, which know the last rows; before endless and changes, for which they are changes
    Phase("last_rows", (update_last_rows,)),
    # after ranks: those that keep one row need no number for each
    Phase("numbers", (count_instead_of_rank,)),
    # after windows: any remaining Aggregate reads rows that already have windows
    # split_distinct makes an Aggregate of windows, which streams need attached; and attached ones can be split
    Phase("attached", (split_distinct, aggregate_attached_windows)),
    # after attached: any remaining Aggregate of a stream has no window
    Phase("endless", (update_groups_without_window,)),
    # after attached: all window aggregates are known; before prune, which drops columns that signed rows do not need
    Phase("changes", (retract_changes,)),
    # after conditions have moved as far as they can; before prune, in which readings of one part become different
    Phase("sharing", (share_equal_parts,)),
    # before two_phase: slices should only hold columns that are needed
    Phase("prune", (merge_projects, prune_columns, drop_idle_project, narrow_common_parts)),
    # after prune: a projection without needless columns is left above the aggregate; it makes one below idle
    Phase("upserts", (aggregate_upserts_in_spark, drop_idle_project)),
    # after prune, so that rows are buffered with only the columns that are needed; a join of two aggregates needs no
    # buffer, so it is made before others
    Phase("held", (aggregate_both_sides_of_join, hold_rows_until_window_ends, pair_rows_when_window_ends)),
    # before two_phase, which makes slices of one window; after prune, so that equal rows have equal plans
    Phase(
        "one_pass",
        (aggregate_windows_in_one_pass, rank_windows_in_one_pass, aggregate_windows_of_readers_in_one_pass),
    ),
    Phase(
        "two_phase",
        (compute_unmergeable_calls_apart, split_local_global, split_over_aggregate, split_pattern_aggregates),
    ),
    # after two_phase, which makes slices
    Phase("time_ranges", (cut_into_time_ranges,)),
    # after two_phase; of what is computed from shared slices each INSERT reads a part
    Phase(
        "shared_slices",
        (share_slices_of_several_windows, drop_unread_windows, prune_windows_of_shared_slices),
    ),
)
