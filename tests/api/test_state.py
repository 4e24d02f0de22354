"""`tvfsql state`: what it says is open is what comes out at the end of the input; what it says of a running checkpoint
is what its streams counted."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import WINDOWS, micro_batches
from tests.models.firing import FiringOperator
from tests.models.streams import Event, Operator
from tests.support.examples import examples
from tests.support.row_streams import COLUMNS, RowStream
from tvfsql import Session
from tvfsql.api.streams.state import GLANCE, read_streams, write_tables
from tvfsql.cli import main
from tvfsql.errors import DataError
from tvfsql.plan.checkpoint.manifest import LAYOUT
from tvfsql.plan.stream import Firing
from tvfsql.plan.window import Cumulate, Hop, Tumble, TumbleMonths
from tvfsql.plan.window import Session as Sessions
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.inspect import STATE_TABLES
from tvfsql.runtime.stream.inspect.checkpoint import Operator as OperatorState
from tvfsql.runtime.stream.inspect.checkpoint import StreamState, streams_of
from tvfsql.runtime.stream.inspect.state_reader import (
    KeyGroupState,
    OpenWindow,
    SetTimers,
    Snapshot,
    TimerSnapshot,
    furthest_behind,
    key_group_state,
)
from tvfsql.runtime.stream.progress.counts import watermark_text
from tvfsql.runtime.stream.rows.deduplicate import FIRST, LAST, KeepRow
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.time.channel_states import ChannelState, channel_states
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.valve import IDLE, Valve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
NO_TIMERS = TimerSnapshot({})
END = Event(None, None, END_OF_INPUT)


# ---- without Spark: what the state of key groups says


@pytest.mark.parametrize(
    "window",
    [Tumble(5, 2), TumbleMonths(3, 1), Hop(5, 12), Cumulate(2, 8, emit_only_on_change=True), Sessions(7, 90), None],
)
def test_a_description_is_read_as_it_was_written(window: Any) -> None:
    written = Description("GlobalWindowAggregate", ("a b", "ü"), window, "kept", "Asia/Tokyo", ("1/", "2/"))
    assert Description.load(written.dump()) == written


@pytest.mark.parametrize("text", [None, "{}", '{"layout": 99}'])
def test_state_of_another_layout_is_refused(text: str | None) -> None:
    with pytest.raises(DataError, match=f"reads layout {LAYOUT}") as refused:
        Description.load(text)
    assert refused.value.hint


@examples(60)
@given(
    window=WINDOWS | st.builds(Sessions, st.integers(1, 40), st.none() | st.integers(41, 90)), batches=micro_batches()
)
def test_open_windows_are_those_that_come_out_at_the_end_of_the_input(window: Any, batches: list[list[Event]]) -> None:
    operator = Operator(window, groups=2)
    for events in batches[:-1]:
        operator.batch(events)
    groups = [told(window, operator, label) for label in operator.states]
    open_ = Counter[tuple[int, int]]()
    for group in groups:
        assert group.watermark is None or all(each.end - 1 > group.watermark for each in group.windows)
        assert [each.end for each in group.windows] == sorted(each.end for each in group.windows)
        for each in group.windows:
            open_[each.start, each.end] += each.rows
    fired = Counter((start, end) for _, start, end, *_ in operator.batch(batches[-1]))
    if window.emit_only_on_change or getattr(window, "emit_only_on_update", False):
        assert {*fired} <= {*open_}
        return
    assert {*open_} == {*fired}
    if isinstance(window, Sessions):  # and each row is a session of a key
        assert open_ == fired


def told(window: Any, operator: Operator, label: int) -> KeyGroupState:
    memory = operator.states[label]
    kept, chunks = memory.kept, dict(memory.chunks)
    found = key_group_state(Description("", ("key",), window), Snapshot(chunks, kept), NO_TIMERS)
    assert (memory.kept, memory.chunks) == (kept, chunks)
    return found


def test_windows_that_gave_out_early_are_open_until_they_take_no_more_rows() -> None:
    operator = FiringOperator(Tumble(1000), firing=Firing(early=0, lateness=500))
    assert [op for op, _ in operator.changes([Event("a", 100, 50), Event("b", 200)], 0)] == ["+I", "+I"]
    assert told(operator.window, operator, 0).windows == ((0, 1000, 2, ""),)
    assert operator.changes([Event(None, None, 1498)], 1) == []
    assert told(operator.window, operator, 0).windows == ((0, 1000, 2, ""),)
    operator.changes([Event(None, None, 1499)], 2)
    assert told(operator.window, operator, 0).windows == ()


def test_rows_of_a_window_are_the_partials_of_its_slices() -> None:
    operator = Operator(Hop(1000, 3000))
    operator.batch([Event("a", 500), Event("a", 600), Event("b", 700), Event("a", 1500, 999)])
    assert told(operator.window, operator, 0).windows == ((-1000, 2000, 3, ""), (0, 3000, 3, ""), (1000, 4000, 1, ""))
    found = told(operator.window, operator, 0)
    assert found.rows == 3 and found.size


@pytest.mark.parametrize("keep", [FIRST, LAST])
def test_rows_by_key_have_timers_and_no_windows(keep: str) -> None:
    stream = RowStream(KeepRow(COLUMNS, (0,), 1, keep, (), 1000))
    stream.batch([Event("a", 500, 499), Event("b", 400, 499), Event("c", 900)])
    ((_, group),) = stream.state.items()
    found = key_group_state(
        Description("Deduplicate", ("key",)), Snapshot({}, group.rows.kept), TimerSnapshot(group.timers.queues)
    )
    assert (found.watermark, found.rows, found.windows) == (499, 3, ())
    timers = [SetTimers("clean-up", "event_time", 1, 1400), SetTimers("final", "event_time", 2, 500)]
    of_last = [SetTimers("clean-up", "event_time", 3, 1400), SetTimers("final", "event_time", 0, None)]
    assert [*found.timers] == (timers if keep == FIRST else of_last)


def test_channels_say_where_they_stand_and_which_were_never_heard_of() -> None:
    valve = Valve(inputs=("1/", "2/", "3/"))
    for channel, watermark in (("1/0", 500), ("1/1", 900), ("1/2", None), ("1/1", IDLE), ("3/*", 700)):
        valve.receive(channel, watermark)
    valve.settle()
    assert [*channel_states(valve)] == [
        ChannelState(1, "0", 500, "active"),
        ChannelState(1, "1", 900, "idle"),
        ChannelState(1, "2", None, "no watermark"),
        ChannelState(2, None, None, "no report yet"),
        ChannelState(3, "*", 700, "active"),
    ]
    valve = Valve()
    for channel, watermark in (("0", 500), ("1", 100), ("1", IDLE), ("1", None)):
        valve.receive(channel, watermark)
        valve.settle()
    assert [*channel_states(valve)][1] == ChannelState(1, "1", 100, "catching up")
    valve = Valve()
    assert [*channel_states(valve)] == [ChannelState(1, None, None, "no report yet")]
    valve.receive("*", 500)
    assert [*channel_states(valve)] == [ChannelState(1, "*", 500, "active")]


def test_of_several_key_groups_a_channel_is_where_it_is_furthest_behind() -> None:
    def group(watermark: int | None) -> KeyGroupState:
        return KeyGroupState(None, (ChannelState(1, None, watermark, "active"),), (), (), 0, 0)

    assert furthest_behind([group(7), group(5), group(6)]) == [ChannelState(1, None, 5, "active")]
    assert furthest_behind([group(7), group(None), group(6)]) == [ChannelState(1, None, None, "active")]


def test_long_tables_are_cut_beside_others_and_empty_ones_left_out() -> None:
    group = KeyGroupState(999, (), tuple(OpenWindow(i, i + 3000, 2) for i in range(GLANCE + 5)), (), 7, 70)
    tumble = Description("GlobalWindowAggregate", ("item",), Tumble(3000))
    streams = [StreamState("1", 4, [OperatorState(0, tumble, {0: group, 6: group})]), StreamState("2", None)]
    text = printed(streams, *STATE_TABLES)
    titles = ["Streams", "Operators", "Open windows", "Key groups"]
    assert [line for line in text.splitlines() if line[:1].isalpha()] == [
        *titles[:3], "and 5 more: --show windows", titles[3]
    ]  # fmt: skip
    assert printed(streams, "windows", format="csv").count("\n") == 1 + GLANCE + 5
    assert printed(streams, "streams", format="csv") == "stream,micro_batch,operators\n1,4,1\n2,,0\n"
    (operator,) = told_by(streams, "operators")
    assert operator | {"details": ""} == {
        "stream": "1", "operator": 0, "kind": "GlobalWindowAggregate", "keys": "item", "details": "", "zone": None,
        "watermark": "1970-01-01 00:00:00.999", "windows": GLANCE + 5, "timers": 0, "rows": 14, "bytes": 140,
    }  # fmt: skip
    first, *_ = told_by(streams, "windows")
    assert (first["window_end"], first["rows"]) == ("1970-01-01 00:00:03.000", 4)  # of both key groups


# ---- the command, where it needs no Spark


@pytest.mark.parametrize("made", ["nothing", "folder", "stream"])
def test_what_is_no_checkpoint_is_an_error_with_a_hint(
    made: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "ck"
    if made == "folder":
        (folder / "somewhere").mkdir(parents=True)
    elif made == "stream":
        (folder / "1" / "spark" / "commits").mkdir(parents=True)
        (folder / "1" / "query.py").write_text("")
    assert main(["state", str(folder)]) == 1
    said = capsys.readouterr()
    assert said.out == "" and str(folder) in said.err
    message = {"nothing": "there is no folder", "folder": "not a checkpoint", "stream": "no micro-batch"}[made]
    assert message in said.err and "hint: " in said.err


def test_streams_come_in_their_order_or_alone(tmp_path: Path) -> None:
    for name in ("10", "2", "1", "other"):
        (tmp_path / name).mkdir()
        if name != "other":
            (tmp_path / name / "query.py").write_text("")
    assert [folder.name for folder in streams_of(LocalPlace(tmp_path))] == ["1", "2", "10"]
    assert streams_of(LocalPlace(tmp_path / "2")) == [LocalPlace(tmp_path / "2")]


def test_formats_for_programs_are_for_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["state", str(tmp_path), "--format", "csv"])
    assert stopped.value.code == 2
    assert "--show streams or operators" in capsys.readouterr().err


# ---- on Spark

SCRIPT = """
CREATE TABLE ask (asked TIMESTAMP(3), what STRING, price DECIMAL(10, 2), who STRING, WATERMARK FOR asked AS asked)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');
CREATE TABLE sessions (ends TIMESTAMP(3), item STRING, n BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE pairs (ends TIMESTAMP(3), n BIGINT) WITH ('connector' = 'blackhole');
SET 'table.exec.state.ttl' = '1 h';
EXECUTE STATEMENT SET BEGIN
INSERT INTO sessions SELECT window_end, item, COUNT(*) FROM TABLE(SESSION(
    (SELECT bidtime, item FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item, bidder ORDER BY bidtime) AS r FROM bid)
     WHERE r = 1) PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
INSERT INTO pairs SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(
    (SELECT asked FROM bid JOIN ask ON item = what AND bidtime BETWEEN asked - INTERVAL '5' MINUTE AND asked),
    DESCRIPTOR(asked), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
END;
"""


@pytest.mark.spark
def test_a_checkpoint_is_told_as_its_streams_counted(spark: SparkSession, tmp_path: Path) -> None:
    """The query of docs/cli.md with the tables that are shown there; then four operators in two queries."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    query, shown = re.search(r'--checkpoint \S+ -e "(.*?)"\n.*?\n```\n(Streams\n.*?)```', page, re.DOTALL).groups()
    groups = {"pipeline.max-parallelism": "4"}
    session = Session(spark, "streaming", groups, checkpoint=tmp_path / "ck", final=False)
    session.script.folder = str(ROOT / "docs")
    session.execute((ROOT / "docs" / "tables.sql").read_text(encoding="utf-8"))
    session.sql(query).collect()
    assert bare(printed(read_streams(lambda: spark, str(tmp_path / "ck")), *STATE_TABLES)) == bare(shown)

    session.execute(SCRIPT)
    files = listed(tmp_path)
    streams = read_streams(lambda: spark, str(tmp_path / "ck"))
    assert listed(tmp_path) == files
    operators, windows, groups = (told_by(streams, table) for table in ("operators", "windows", "key-groups"))
    assert [(each["stream"], each["kind"]) for each in operators] == [
        ("1", "GlobalWindowAggregate"),
        ("2", "Deduplicate"),
        ("2", "GlobalWindowAggregate"),
        ("3", "IntervalJoin"),
        ("3", "GlobalWindowAggregate"),
    ]
    for stream, counts in zip("23", session.streams.runs[-1].counts, strict=True):
        counted = counts.latest.values()
        mine = [each for each in operators if each["stream"] == stream]
        figures = [(each["rows"], each["bytes"], each["watermark"]) for each in mine]
        assert sorted(figures) == sorted(
            (one["stateRows"], one["stateBytes"], watermark_text(one["watermark"], "")) for one in counted
        )
        last = max(each["window_end"] for each in windows if each["stream"] == stream)
        assert last in {watermark_text(one["newestWindow"], "") for one in counted if "newestWindow" in one}
    for each in operators:
        mine = [group for group in groups if (group["stream"], group["operator"]) == (each["stream"], each["operator"])]
        assert all(sum(group[name] for group in mine) == each[name] for name in ("timers", "rows", "bytes"))
    assert {each["details"] for each in operators} >= {"SESSION(gap=[10 min])", "keep=[FirstRow], retention=[1 h]"}
    assert [each["timers"] > 0 for each in operators] == [False, True, False, True, False]
    (joined,) = (stream for stream in streams if stream.name == "3")
    inputs = [(each["operator"], each["input"], each["status"]) for each in told_by([joined], "channels")]
    assert inputs == [(1, 1, "active"), (1, 2, "active"), (0, 1, "active")]


def listed(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def printed(streams: Sequence[StreamState], *tables: str, format: str = "table") -> str:
    out = io.StringIO()
    write_tables(streams, tables, format, out)
    return out.getvalue()


def told_by(streams: Sequence[StreamState], table: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed(streams, table, format="ndjson").splitlines()]


def bare(text: str) -> list[str]:
    """The tables without sizes, which go by the version of Arrow: where they are, they are the last column."""
    of_sizes = re.compile(r"[^|+]*[|+]$", re.MULTILINE)
    return [of_sizes.sub("", table) if "bytes |" in table else table for table in text.split("\n\n")]
