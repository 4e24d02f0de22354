"""Streams to look at: the rows that are kept, the view and its keys, and charts, on made rows. No Spark."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

import pytest
from prompt_toolkit.data_structures import Size as ScreenSize
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from tvfsql.api import Session
from tvfsql.charts import Chart, Size, draw_chart, read_chart
from tvfsql.errors import BindError, DataError
from tvfsql.shell.commands import run_command
from tvfsql.shell.drawing import Screen
from tvfsql.shell.live import KeptRows, LiveView
from tvfsql.shell.printing import last_query
from tvfsql.shell.state import Shell

COLUMNS = [("window_end", "timestamp"), ("item", "string"), ("n", "bigint")]
TYPES = [kind for _, kind in COLUMNS]
CHANGES = [("op", "string"), *COLUMNS]


def end(minutes: int) -> datetime:
    return datetime(2024, 1, 1, 10) + timedelta(minutes=minutes)


def table(count: int, most: int = 1000) -> KeptRows:
    kept = KeptRows(COLUMNS, most, changes=False)
    kept.take(TYPES, [(end(i), "ab"[i % 2], i) for i in range(count)])
    return kept


class Screen24(DummyOutput):
    def get_size(self) -> ScreenSize:
        return ScreenSize(rows=24, columns=80)


def shown(kept: KeptRows, keys: str, *, colours: bool = False) -> tuple[str, LiveView, list[int]]:
    """The last page after someone typed keys, the view, and how often the stream was asked to stop."""
    stopped: list[int] = []
    ended = threading.Event()

    def stop(presses: int) -> None:
        stopped.append(presses)
        ended.set()

    view = LiveView(kept, lambda: "status", stop, Screen(80, colours=colours))
    with create_pipe_input() as pipe:
        pipe.send_text(f"{keys}q")
        view.run(lambda: ended.wait(30), input=pipe, output=Screen24())
    return view.page(80, 21), view, stopped


# ------------------------------------------------------------------------------------------ rows


def test_changes_are_applied_to_the_table() -> None:
    kept = KeptRows(CHANGES, 10, changes=False, op="op")
    assert kept.columns == ["window_end", "item", "n"]
    kept.take(["string", *TYPES], [("+I", end(0), "a", 1), ("+I", end(0), "a", 1), ("+I", end(0), "b", 2)])
    kept.take(["string", *TYPES], [("-U", end(0), "a", 1), ("+U", end(0), "a", 3), ("-D", end(0), "b", 2)])
    assert [row[1:] for row in kept.sorted(2, falling=False)] == [("a", 1), ("a", 3)]


def test_changes_are_kept_as_they_came() -> None:
    kept = KeptRows(CHANGES, 10, changes=True, op="op")
    kept.take(["string", *TYPES], [("-U", end(0), "a", 1), ("+U", end(0), "a", None)])
    assert kept.columns == ["op", "window_end", "item", "n"]
    assert kept.sorted(None, falling=False) == [("-U", end(0), "a", 1), ("+U", end(0), "a", None)]
    plain = KeptRows(COLUMNS, 10, changes=True)
    plain.take(TYPES, [(end(0), "a", 1)])
    assert plain.sorted(None, falling=False)[0][0] == "+I"


def test_the_oldest_rows_go_and_are_told() -> None:
    kept = table(5, most=3)
    assert [row[2] for row in kept.sorted(None, falling=False)] == [2, 3, 4]
    kept.take([*TYPES], [(end(9), "a", None)])
    assert [row[2] for row in kept.sorted(2, falling=True)] == [4, 3, None]
    assert "2 older ones" not in LiveView(kept, str, print, Screen()).title()
    assert "3 older ones are dropped" in LiveView(kept, str, print, Screen()).title()


def test_the_last_query_is_the_text_of_its_statement() -> None:
    *_, query = Session().script.outcomes("SHOW TABLES;\n-- why\nSELECT 1 AS one;")
    assert last_query(query) == "SELECT 1 AS one"


# ------------------------------------------------------------------------------------------ view


def test_the_newest_windows_are_first_and_keys_page_and_sort() -> None:
    page, view, stopped = shown(table(100), "")
    assert stopped[0] == 1
    assert page.splitlines()[3].split("|")[3].strip() == "99"
    assert len(page.splitlines()) <= 21
    page, view, _ = shown(table(100), "rG")
    assert page.splitlines()[-2].split("|")[3].strip() == "99"
    assert view.title() == "100 rows, by window_end  from row 84"
    assert shown(table(100), "\x1b[B\x1b[B")[1].top == 2
    assert shown(table(100), "\x1b[6~\x1b[6~\x1b[5~")[1].top == 17
    assert "by item, descending" in shown(table(3), "s")[1].title()
    assert "in order of arrival, newest first" in shown(table(3), "S")[1].title()


def test_columns_move() -> None:
    page, _, _ = shown(table(3), "\x1b[C")
    assert "window_end" not in page and "item" in page
    assert "| n |" in shown(table(3), "\x1b[C" * 9)[0]


def test_a_frozen_page_stays() -> None:
    kept = table(3)
    _, view, _ = shown(kept, " ")
    kept.take(TYPES, [(end(50), "new", 50)])
    assert "new" not in view.page(80, 21)
    view.frozen = False
    assert "new" in view.page(80, 21)


def test_changes_follow_the_newest_and_have_colours() -> None:
    kept = KeptRows(CHANGES, 100, changes=True, op="op")
    kept.take(["string", *TYPES], [("-U" if i % 2 else "+U", end(i), "a", i) for i in range(60)])
    page, view, _ = shown(kept, "", colours=True)
    assert view.top == 60 - 17 and "\x1b[33m-U" in page and "\x1b[36m+U" in page
    assert shown(kept, "g", colours=True)[1].top == 0


def test_what_the_stream_raises_is_raised() -> None:
    def work() -> None:
        raise DataError("of the stream")

    view = LiveView(table(1), str, print, Screen())
    with create_pipe_input() as pipe, pytest.raises(DataError, match="of the stream"):
        view.run(work, input=pipe, output=Screen24())


# ------------------------------------------------------------------------------------------ charts


def drawn(asked: str, rows: list[tuple[object, ...]], width: int = 70) -> str:
    return draw_chart([name for name, _ in COLUMNS], TYPES, rows, read_chart(asked), Size(width, 12))


ROWS: list[tuple[object, ...]] = [(end(5 * i), key, i * i) for i in range(12) for key in "ab"]


def test_lines_by_key_over_time() -> None:
    text = drawn("", ROWS)
    assert "n by item" in text and "** a" in text and "oo b" in text
    assert "10:00" in text and "10:55" in text and "121" in text
    assert max(map(len, text.splitlines())) <= 70


@pytest.mark.parametrize("kind", ["lines", "bars"])
def test_names_of_series_cover_no_value(kind: str) -> None:
    """Not even that of a series with a single point, on the left at the top."""
    rows = [(end(0), "a", 1), (end(5), "a", 2), (end(0), "b", 1), (end(5), "b", 2), (end(0), "c", 40)]
    columns, types = ["window_end", "item", "n"], ["timestamp", "string", "int"]
    text = draw_chart(columns, types, rows, read_chart(kind), Size(70, 14))
    (top,) = (line for line in text.splitlines() if line.startswith("40"))
    assert "+" in top


@pytest.mark.parametrize("asked", ["", "n", "n BY auction"])
def test_a_key_that_is_a_number_has_a_line_for_each_value(asked: str) -> None:
    rows = [(end(i), key, i * key) for i in range(4) for key in (7, 8)]
    text = draw_chart(
        ["window_end", "auction", "n"], ["timestamp", "int", "int"], rows, read_chart(asked), Size(70, 12)
    )
    assert "n by auction" in text and "** 7" in text and "oo 8" in text
    single = [row for row in rows if row[1] == 7]
    text = draw_chart(["window_end", "low", "high"], ["timestamp", "int", "int"], single, Chart(), Size(70, 12))
    assert "low, high" in text  # values: no two rows are at one place


def test_a_number_in_front_labels_the_bars_if_it_is_a_key() -> None:
    text = draw_chart(["auction", "n"], ["bigint", "bigint"], [(70, 1), (80, 5)], Chart(), Size(40, 10))
    assert "70" in text and "80" in text and "auction" not in text
    text = draw_chart(["low", "high"], ["bigint", "bigint"], [(70, 1), (70, 5)], Chart(), Size(40, 10))
    assert "low, high" in text


def test_bars_of_many_windows_are_cut_and_told() -> None:
    assert "the last 10 of 12" in drawn("bars n", ROWS)
    text = draw_chart(["item", "n"], ["string", "int"], [("a", 3), (None, 4)], Chart(), Size(40, 10))
    assert "NULL" in text and "█" in text


def test_many_keys_are_cut_and_told() -> None:
    assert "3 more of 9 are not shown" in drawn("", [(end(i), key, i) for i in range(3) for key in "abcdefghi"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("m", "there is no column m to draw"),
        ("item", "item is not a number"),
        ("n BY", "BY takes one column"),
        ("n BY window_end", "several values"),
    ],
)
def test_what_cannot_be_drawn(asked: str, message: str) -> None:
    rows: list[tuple[object, ...]] = [(end(0), "a", 1), (end(0), "b", 2)]
    columns, types = (["item", "n"], ["string", "int"]) if "window" in asked else ([], [])
    with pytest.raises(BindError, match=message):
        if columns:
            draw_chart(columns, types, [("a", 1), ("a", 2)], Chart(), Size(60, 10))
        else:
            drawn(asked, rows)


def test_a_chart_of_a_stream_is_refused_before_spark_starts(capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(Session(mode="streaming"), run_command, terminal=True)
    assert shell.run("CREATE TABLE t (n INT, item STRING) WITH ('connector' = 'datagen');")
    shell.last = "SELECT item, n FROM t"
    assert not shell.run("\\chart lines n BY itme")
    assert "there is no column itme to draw\nhint: did you mean item?" in capsys.readouterr().err
    assert shell.session.own.spark is None


def test_no_rows_and_no_values() -> None:
    assert drawn("", []) == "no rows yet\n"
    assert drawn("", [(end(0), "a", None)]) == "no values yet\n"
