"""The lives of tables, in random histories of files, clocks, lulls, kills and runs (`stream_lives`), and by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.models.stream_lives import History
from tests.support.examples import SOAK
from tvfsql.runtime.stream.lives import table_lives
from tvfsql.runtime.stream.lives.idle_sources import Source
from tvfsql.runtime.stream.lives.table_lives import TableLives, is_read
from tvfsql.runtime.stream.time.valve import END_OF_INPUT, ENDED, Valve, idle_since

FEW = 300
HISTORIES = 5_000 if SOAK else FEW  # of each kind


def check_bounded(seed: int, **faults: Any) -> None:
    """Runs over growing folders keep what one run keeps: rows are late by the order of files only."""
    history = History(seed, idle=False)
    history.bounded_runs(**faults)
    assert not history.kept.windows, "the final run fires everything"
    assert history.kept.valve[0] == END_OF_INPUT
    read = {id(file) for table in history.tables for file in table.read}
    pinned = [file for table in history.tables for file in table.pinned or ()]
    assert all(id(file) in read for file in pinned), "the final run reads all that there was at its start"
    assert history.counted + history.kept.late == sum(len(file.rows) for table in history.tables for file in table.read)


def check_endless(seed: int) -> None:
    """Tables that have ended hold nobody back; those that are idle do not either."""
    history = History(seed, idle=True)
    last = history.endless_runs()
    names = [f"{i}/" for i in range(1, len(history.tables) + 1)] if len(history.tables) > 1 else [""]
    valve = Valve.load(*history.kept.valve, names)
    for table, name in zip(history.tables, names, strict=True):
        if table.source.ends:
            assert valve.channels[name].watermark == ENDED, "it has been read to its end"
    if all(table.source.ends for table in history.tables):
        assert valve.watermark == END_OF_INPUT
    history.now += 1000
    for action in (last.look, last.spark, last.spark, last.look):
        action()
    valve = Valve.load(*history.kept.valve, names)
    assert all(valve.channels[name].idle or valve.channels[name].ended for name in names)


@pytest.mark.soak
def test_runs_over_growing_folders_lose_nothing() -> None:
    for seed in range(HISTORIES):
        check_bounded(seed)


@pytest.mark.soak
def test_tables_that_end_or_pause_hold_nobody_back_and_are_not_passed() -> None:
    for seed in range(HISTORIES):
        check_endless(seed)


def found(check: Any, **faults: Any) -> bool:
    for seed in range(FEW):
        try:
            check(seed, **faults)
        except AssertionError:
            return True
    return False


def test_the_end_of_a_run_as_the_end_of_time_is_found() -> None:
    """As it was: each run over a checkpoint announced the end."""
    assert found(check_bounded, closes_each=True)


def test_an_end_by_clocks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: all files of the last micro-batch were modified after the start of the run."""
    monkeypatch.setattr(table_lives, "is_read", lambda report, at_rest: at_rest or report["numInputRows"] > 0)
    assert found(check_bounded) and found(check_endless)


def test_an_idle_message_that_comes_too_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: rows of a micro-batch between the decision and the message did not count."""
    monkeypatch.setattr(table_lives, "idle_since", lambda _: -(2**63))
    assert found(check_endless)


def report(start: Any, end: Any, latest: Any = None, description: str = "FileStreamSource[file:/in]") -> dict[str, Any]:
    return {
        "description": description,
        "startOffset": start,
        "endOffset": end,
        "latestOffset": latest,
        "numInputRows": int(start != end),
    }


def test_what_spark_says_proves_that_a_table_has_been_read() -> None:
    assert not is_read(report('{"logOffset":0}', '{"logOffset":1}'), at_rest=False)
    assert is_read(report('{"logOffset":0}', '{"logOffset":1}'), at_rest=True)
    assert is_read(report('{"logOffset":1}', {"logOffset": 1}), at_rest=False)
    assert not is_read(report(None, '{"row": 4, "of": 5}'), at_rest=True), "a rate"
    assert is_read(report(None, "{'row': 5, 'of': 5}"), at_rest=False), "as Spark 4.1 writes it"
    topic = "KafkaV2[Subscribe[bids]]"
    assert not is_read(report(None, {"bids": {"0": 3}}, {"bids": {"0": 4}}, topic), at_rest=True)
    assert is_read(report(None, {"bids": {"0": 4}}, '{"bids": {"0": 4}}', topic), at_rest=False)


def test_a_micro_batch_that_an_earlier_run_has_planned_proves_nothing() -> None:
    lives = TableLives([Source("files", ends=True), Source("topic")], now=0, planned=7)
    reports = [report({"logOffset": 1}, {"logOffset": 1}), report({"t": {"0": 1}}, {"t": {"0": 2}})]
    lives.micro_batch(7, reports, 0, 1)
    assert lives.look(7, reports, at_rest=False, now=1) == []
    lives.micro_batch(8, reports, 1, 2)
    assert lives.look(8, reports, at_rest=False, now=2) == [("files", ENDED)]
    assert lives.look(8, reports, at_rest=True, now=3) == [], "once"


def test_the_end_comes_after_the_rows_and_the_stop_after_the_end() -> None:
    lives = TableLives([Source("files")], now=0, closes=True)
    more, none = [report({"logOffset": 0}, {"logOffset": 1})], [report({"logOffset": 1}, {"logOffset": 1})]
    assert lives.look(None, [], at_rest=False, now=0) == []
    for number in (0, 1):
        lives.micro_batch(number, more, 0, 1)
        assert lives.look(number, more, at_rest=False, now=1) == []
    assert lives.look(1, more, at_rest=True, now=2) == [(None, END_OF_INPUT)]
    assert not lives.has_ended(more, at_rest=True), "the query has not seen the end yet"
    lives.micro_batch(2, none, 2, 3)
    assert not lives.has_ended(none, at_rest=False), "micro-batch 2 may have begun before the end was announced"
    assert lives.has_ended(none, at_rest=True)


def test_rows_after_the_judged_micro_batch_speak_against_idleness() -> None:
    valve = Valve(inputs=("1/", "2/"))
    for number, messages in enumerate([[("1/", 1), ("2/", 1)], [("1/", 900), ("2/", 2)]]):
        valve.micro_batch = number
        valve.advance(messages)
    valve.micro_batch = 2
    assert valve.advance([("2/", idle_since(0)), ("1/", 950)]) == 2
    assert valve.advance([("2/", idle_since(1))]) == 950
    again = Valve.load(valve.watermark, valve.dump(), valve.inputs)
    assert again == Valve(valve.watermark, valve.channels, valve.inputs)


def test_an_ended_table_holds_nobody_back_and_the_last_one_ends_time() -> None:
    valve = Valve(inputs=("1/", "2/"))
    assert valve.advance([("1/", 5), ("2/", 9)]) == 5
    assert valve.advance([("1/", ENDED)]) == 9
    assert valve.advance([("2/", idle_since(3))]) == 9, "an idle table may have rows again"
    assert valve.advance([("2/", 20)]) == 20
    assert valve.advance([("1/", 7)]) == 20, "rows after the end are behind"
    assert valve.advance([("1/", 30), ("2/", 25)]) == 25
    assert valve.advance([("1/", ENDED), ("2/", ENDED)]) == END_OF_INPUT
