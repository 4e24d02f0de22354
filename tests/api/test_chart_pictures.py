"""Charts of a notebook: pictures of made rows, as XML. No Spark."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tvfsql.charts import Chart, chart_picture, read_chart
from tvfsql.errors import BindError
from tvfsql.notebook import Charted

SVG = "{http://www.w3.org/2000/svg}"
COLUMNS, TYPES = ["window_end", "item", "n"], ["timestamp", "string", "bigint"]
ROWS = [(datetime(2020, 4, 15, 8) + timedelta(minutes=5 * i), key, i * i) for i in range(12) for key in ("10", "9")]


def drawn(asked: str = "", rows: list[tuple[object, ...]] | None = None) -> ElementTree.Element:
    page = chart_picture(COLUMNS, TYPES, ROWS if rows is None else rows, read_chart(asked))
    return ElementTree.fromstring(page[: page.index("</svg>") + 6])


def texts(chart: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in chart.iter(f"{SVG}text")]


def test_each_key_has_a_line_and_a_legend_in_order() -> None:
    chart = drawn()
    assert len(chart.findall(f"{SVG}path")) == 2 and len(chart.findall(f"{SVG}circle")) == 24
    assert texts(chart)[:3] == ["n by item", "9", "10"]
    assert chart.find(f"{SVG}circle/{SVG}title").text == "9, 2020-04-15 08:00:00: 0"


def test_the_axis_has_round_numbers_from_below_to_above_the_values() -> None:
    assert [text for text in texts(drawn()) if re.fullmatch(r"[\d,]+", text)][2:] == [
        "0",
        "25",
        "50",
        "75",
        "100",
        "125",
    ]
    far: list[tuple[object, ...]] = [(when, key, 1_000_000 + number) for when, key, number in ROWS]
    assert "1.00005M" in texts(drawn(rows=far)), "values close together do not begin at 0"


def test_points_are_where_their_values_are() -> None:
    circles = drawn("n", [(when, "a", number) for when, _, number in ROWS[::2]]).findall(f"{SVG}circle")
    xs, ys = ([float(circle.get(name, "")) for circle in circles] for name in ("cx", "cy"))
    steps = {round(b - a, 1) for a, b in pairwise(xs)}
    assert len(steps) <= 2 and max(steps) - min(steps) < 0.2
    part = (ys[0] - ys[6]) / (ys[0] - ys[11])
    assert part == pytest.approx(36 / 121, abs=0.01)


def test_bars_stand_on_zero() -> None:
    page = chart_picture(["item", "n"], ["string", "int"], [("a", 3), (None, -4)], Chart())
    up, down = ElementTree.fromstring(page[: page.index("</svg>") + 6]).findall(f"{SVG}rect")
    top, high = float(up.get("y", "")), float(up.get("height", ""))
    assert top + high == pytest.approx(float(down.get("y", "")), abs=0.2)
    assert float(down.get("height", "")) / high == pytest.approx(4 / 3, abs=0.01)


def test_names_are_escaped_and_nothing_runs_or_is_loaded() -> None:
    rows = [(when, f"</svg><script>{key}'\"", number) for when, key, number in ROWS]
    page = chart_picture(COLUMNS, TYPES, rows, Chart())
    assert "<script" not in page and "&lt;/svg&gt;&lt;script&gt;10" in page
    assert not re.search(r"href|url\(|\bon\w+=", page)


def test_what_is_left_out_is_told() -> None:
    rows = [(ROWS[0][0] + timedelta(minutes=i), key, i) for i in range(3) for key in "abcdefghi"]
    assert "3 more of 9 are not shown" in chart_picture(COLUMNS, TYPES, rows, Chart())
    many = [(str(i), i + 1) for i in range(70)]
    assert "the last 60 of 70" in chart_picture(["item", "n"], ["string", "int"], many, Chart())


def test_a_chart_without_rows_or_with_ambiguous_ones() -> None:
    assert "no rows yet" in chart_picture(COLUMNS, TYPES, [], Chart())
    with pytest.raises(BindError, match="several values at"):
        chart_picture(["window_end", "n"], ["timestamp", "int"], [ROWS[0][::2], ROWS[1][::2]], Chart(values=("n",)))


def test_a_terminal_has_characters() -> None:
    charted = Charted(COLUMNS, TYPES, ROWS, Chart(), of_first=True)
    assert "n by item" in repr(charted) and repr(charted).endswith("of the first 10,000 rows")
    assert "<svg" in charted._repr_html_()
