"""The worked example of `channel_messages`."""

from __future__ import annotations

import pyarrow as pa

from tvfsql.plan.window import Tumble
from tvfsql.runtime.stream.time.channel_messages import ChannelWatermarks, WatermarkColumns
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.time.valve import IDLE, TRIGGER


def batch(*rows: tuple[str | None, int | None, int | None]) -> WatermarkColumns:
    """Rows of channel, watermark and control."""
    channels, watermarks, control = (list(column) for column in zip(*rows, strict=True))
    micros = [None if each is None else each * 1000 for each in watermarks]
    return WatermarkColumns(
        pa.array(channels, pa.string()), pa.array(micros, pa.int64()), pa.array(control, pa.int64())
    )


EXAMPLE = batch(("0", 95, None), ("1", 98, None), ("0", 97, None), ("1", None, IDLE), (None, None, TRIGGER))


def test_a_partition_sends_the_latest_watermark_of_each_channel_that_it_heard_of() -> None:
    channels = ChannelWatermarks()
    channels.add(EXAMPLE)
    assert channels.take() == [("1", IDLE), ("0", 97), ("1", 98), (None, TRIGGER)]
    channels.add(batch(("0", 90, None)))
    assert channels.take() == [("0", 97)]
    assert channels.take() == []


def test_an_idle_channel_with_rows_in_the_same_micro_batch_stays_active() -> None:
    channels = ChannelWatermarks()
    channels.add(batch(("1", None, IDLE), ("2", None, IDLE)))
    assert channels.take(active={"1": 98}) == [("2", IDLE)]


def test_rows_are_cut_where_a_watermark_passes_the_end_of_a_slice() -> None:
    channels = ChannelWatermarks({"0": 85, "1": 85})
    assert channels.slice_cuts(EXAMPLE, Span(Tumble(10))) == [1, 2]
    assert channels.slice_cuts(EXAMPLE, Span(Tumble(100))) == []
    in_time = pa.array([100_000, 103_000, 102_000, None, None], pa.int64())
    assert channels.session_cuts(EXAMPLE, in_time) == []
    late = pa.array([100_000, 96_000, 102_000, None, None], pa.int64())
    assert channels.session_cuts(EXAMPLE, late) == [1]
