"""Idle channels, as the driver tells them from progress reports and its clock. Source: semantics.md#idle-channels."""

from __future__ import annotations

from typing import Any

from tvfsql.runtime.stream.lives.idle_sources import Idleness, Source
from tvfsql.runtime.stream.time.valve import IDLE, Valve


def report(rows: int, before: Any = None, after: Any = None) -> dict[str, Any]:
    return {"numInputRows": rows, "startOffset": before, "endOffset": after}


def test_a_table_without_rows_turns_idle_once_and_is_busy_again_with_its_next_row() -> None:
    idleness = Idleness([Source("bid", 10_000), Source("auction", 0)], now=0)
    assert idleness.nothing(9) == []
    assert idleness.micro_batch([report(3), report(0)], started=9, ended=12) == []
    assert idleness.nothing(21.9) == []
    assert idleness.nothing(22) == ["bid"]
    assert idleness.nothing(40) == []
    assert not idleness.all_idle, "auction has no timeout"
    assert idleness.micro_batch([report(1), report(1)], started=40, ended=41) == []
    assert idleness.nothing(50.9) == []
    assert idleness.nothing(51) == ["bid"]


def test_a_registered_dataframe_of_several_sources_is_one_channel() -> None:
    idleness = Idleness([Source("both", 10_000)], now=0)
    assert idleness.micro_batch([report(0), report(1)], started=20, ended=21) == []
    assert idleness.micro_batch([report(0), report(0)], started=31, ended=32) == ["both"]


def test_what_a_long_micro_batch_holds_back_is_not_idle() -> None:
    idleness = Idleness([Source("bid", 10_000), Source("auction", 10_000)], now=0)
    assert idleness.micro_batch([report(1), report(1)], started=0, ended=1) == []
    # it took 30 s; when it started, nothing had been missing for long
    assert idleness.micro_batch([report(9), report(0)], started=2, ended=32) == []
    assert idleness.micro_batch([report(9), report(0)], started=32, ended=33) == ["auction"]
    assert not idleness.all_idle
    assert idleness.nothing(43) == ["bid"]
    assert idleness.all_idle


def test_partitions_of_topics_are_channels_of_their_own() -> None:
    idleness = Idleness([Source("bid", 10_000), Source("log", 10_000, by_topic=True)], now=0)
    start, later = '{"bids": {"0": 5, "1": 7}}', {"bids": {"0": 6, "1": 7}}
    topics = {"a": {"0": 1}, "b": {"0": 0}}
    assert idleness.micro_batch([report(2, None, start), report(1, None, topics)], started=1, ended=2) == []
    assert sorted(idleness.channels) == ["bid/0", "bid/1", "log/a-0", "log/b-0"]
    turned = idleness.micro_batch([report(1, start, later), report(0, topics, topics)], started=12, ended=13)
    assert turned == ["bid/1", "log/a-0", "log/b-0"]
    assert idleness.nothing(23) == ["bid/0"]
    assert idleness.all_idle


def test_a_table_that_was_idle_before_its_partitions_were_known_stays_so() -> None:
    idleness = Idleness([Source("bid", 10_000)], now=0)
    offsets = {"bids": {"0": 5, "1": 7}}
    assert idleness.nothing(10) == ["bid"]
    assert idleness.micro_batch([report(0, offsets, offsets)], started=10, ended=11) == []
    assert idleness.all_idle
    assert idleness.micro_batch([report(1, offsets, {"bids": {"0": 5, "1": 8}})], started=20, ended=21) == []
    assert [idleness.channels[f"bid/{partition}"].idle for partition in (0, 1)] == [True, False]


def test_what_is_said_of_a_table_is_said_of_its_partitions() -> None:
    valve = Valve()
    for partition, watermark in (("0", 1000), ("1", 5000)):
        valve.receive(partition, watermark)
    assert valve.settle() == 1000
    valve.receive("", 3000)
    assert (valve.settle(), sorted(valve.channels)) == (3000, ["0", "1"])
    valve.receive("", IDLE)
    valve.receive("1", 6000)
    assert valve.settle() == 6000
    whole = Valve()
    whole.receive("", 1000)
    assert (whole.settle(), list(whole.channels)) == (1000, [""])
