"""The page of EXPLAIN: its data without a browser, and its keys and clicks in Chromium where there is one."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen
from xml.etree import ElementTree

import pytest

import tvfsql
from tvfsql.api.live_page import KEPT, LivePage, places, serve
from tvfsql.api.page.drawing import ACROSS, DOWN, LETTERS, WIDE
from tvfsql.api.program import Program
from tvfsql.physical.window_operators import StreamSliceMerge
from tvfsql.plan.window import Hop, Tumble
from tvfsql.runtime.stream.progress.metrics import Metrics
from tvfsql.runtime.stream.progress.operators import OperatorCounts
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

SVG = "{http://www.w3.org/2000/svg}"
BID = """CREATE TABLE bid (ts TIMESTAMP(3), price INT, item STRING, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');
"""
HOP = """SELECT window_end, item, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))
WHERE item <> '</script>' GROUP BY window_start, window_end, item"""


def data(sql: str) -> dict[str, Any]:
    return found_in(tvfsql.compile(BID + sql).explain(format="html"))


def found_in(page: str) -> dict[str, Any]:
    found = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    query: dict[str, Any] = found["queries"][0]
    return query


def test_each_step_has_the_whole_plan_its_reason_and_what_changed() -> None:
    query = tvfsql.compile(BID + HOP)
    first, *steps, physical = data(HOP)["steps"]
    assert [step["title"].split(". ")[1] for step in steps] == [step.rule for step in query.steps]
    assert [node["inputs"] for node in first["nodes"]] == [[i + 1] for i in range(len(first["nodes"]) - 1)] + [[]]
    assert [node["columns"] for node in steps[-1]["nodes"]] == [
        [f"{part.name} {part.type.flink}" if part.type else part.name for part in node.schema]
        for node in query.optimized.walk()
    ]
    for step in steps:
        assert "Before:" in step["reason"] and "After:" in step["reason"]
        assert any(node["new"] for node in step["nodes"]) or step["gone"]
    assert not any(node["new"] for node in [*first["nodes"], *physical["nodes"]])


def test_an_operator_at_two_places_is_drawn_twice() -> None:
    nodes = data("WITH b AS (SELECT price FROM bid) SELECT * FROM b UNION ALL SELECT * FROM b")["steps"][0]["nodes"]
    below = sorted(number for node in nodes for number in node["inputs"])
    assert below == [*range(1, len(nodes))]


def test_an_operator_stands_below_the_middle_of_its_inputs() -> None:
    nodes = data("SELECT price FROM bid UNION ALL SELECT price + 1 FROM bid WHERE price > 1")["steps"][-1]["nodes"]
    assert nodes[0]["x"] == (WIDE + ACROSS) / 2 and min(node["y"] for node in nodes) == 0
    for node in nodes:
        inputs = [nodes[each] for each in node["inputs"]]
        assert all(each["y"] + each["high"] + DOWN <= node["y"] and each["number"] < node["number"] for each in inputs)
        assert not inputs or node["x"] == (inputs[0]["x"] + inputs[-1]["x"]) / 2
    assert len({(node["x"], node["y"]) for node in nodes}) == len(nodes)
    assert sorted(node["number"] for node in nodes) == [*range(1, len(nodes) + 1)]


def test_a_card_has_all_of_its_sentence() -> None:
    long = "a_table_with_a_name_that_is_longer_than_a_line_of_a_card_can_ever_be"
    page = tvfsql.compile(BID.replace("TABLE bid", f"TABLE {long}") + f"SELECT item FROM {long}").explain(format="html")
    (scan,) = (node for node in found_in(page)["steps"][-1]["nodes"] if node["operator"] == "TableSourceScan")
    assert "".join(scan["lines"]).replace(" ", "") == scan["does"].replace(" ", "") and long in scan["does"]
    assert max(map(len, scan["lines"])) <= LETTERS


def test_no_internal_name_is_shown() -> None:
    found = tvfsql.compile(BID + HOP, mode="streaming")
    assert "$" not in found.explain("physical").replace("'w$", "")
    for node in found_in(found.explain(format="html"))["steps"][-1]["nodes"]:
        assert not any(name.startswith("$") for name in node["columns"])


def test_a_part_that_is_read_twice_is_drawn_once() -> None:
    twice = "WITH b AS (SELECT item, COUNT(*) AS n FROM bid GROUP BY item) SELECT * FROM b UNION ALL SELECT * FROM b"
    names = [node["operator"] for node in data(twice)["steps"][-1]["nodes"]]
    assert names.count("Shared") == names.count("Reused") == 1 and names.count("TableSourceScan") == 1


def test_a_notebook_shows_the_plan_of_the_page_as_a_picture() -> None:
    query = tvfsql.compile(BID + HOP)
    drawn = query._repr_html_().split("<details>")[0]
    svg = drawn[drawn.index("<svg") : drawn.index("</svg>") + 6]
    cards = ElementTree.fromstring(svg).findall(f"{SVG}g")
    nodes = data(HOP)["steps"][-1]["nodes"]
    assert [card.findtext(f"{SVG}text") for card in cards] == [node["operator"] for node in nodes]
    assert [card.get("transform") for card in cards] == [f"translate({node['x']:g} {node['y']:g})" for node in nodes]
    assert svg.count("<path") == 2 * (len(nodes) - 1) and "&lt;/script&gt;" in svg
    assert not re.search(r"<script|<style|href|url\(|\bon\w+=", drawn)
    many = " UNION ALL ".join(["SELECT price + 1 AS p FROM bid WHERE price > 1"] * 40)
    assert "too many for a picture" in tvfsql.compile(BID + many)._repr_html_().split("<details>")[0]


def test_places_are_those_of_the_statement() -> None:
    query = data(HOP)
    assert query["sql"] == HOP
    scan = query["steps"][-1]["nodes"][-1]
    assert query["sql"][slice(*scan["span"])] == "bid"


@pytest.mark.parametrize(
    ("call", "slices", "windows", "per_window"),
    [
        ("TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' HOUR)", 9, (1, 2), 1),
        ("HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '2' HOUR, INTERVAL '5' HOUR)", 20, (2, 7), 5),
        ("CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '4' HOUR)", 9, (0, 2), 4),
        ("HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '5' HOUR)", 0, (1 / 3600, 5 + 1 / 3600), 18000),
    ],
)
def test_windows_are_to_scale(call: str, slices: int, windows: tuple[float, float], per_window: int) -> None:
    sql = f"SELECT window_end, COUNT(*) AS n FROM TABLE({call}) GROUP BY window_start, window_end"
    (strip,) = data(sql)["strips"]
    assert len(strip["slices"]) == slices and strip["perWindow"] == per_window
    assert [each / 3_600_000 for each in strip["windows"][1]] == pytest.approx(windows)
    assert strip["end"] == max(end for _, end in strip["windows"])


def test_a_session_has_no_slices_to_draw() -> None:
    session = "SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    assert (
        data(f"SELECT item, COUNT(*) AS n FROM TABLE({session}) GROUP BY item, window_start, window_end")["strips"]
        == []
    )


# ------------------------------------------------------------------------------------------ while streams run


def metrics(stream: str, number: int) -> Metrics:
    sums = {"rows_in": 100 * number + 100, "rows_out": 10 * number, "late_rows_dropped": number // 2}
    latest = {"last_micro_batch_seconds": 0.5, "open_slices": 3, "state_rows": 7, "state_bytes": 4096}
    latest |= {"watermark": 1_700_000_000.0 + number, "watermark_lag_seconds": 2.5}
    phases = {"latestOffset": 20, "queryPlanning": 30, "addBatch": 400, "walCommit": 40, "triggerExecution": 500}
    ended = 1_700_000_003.0 + number
    return Metrics(stream, number, ended, sums, latest, operators(number), 10 * number, phases=phases)


def operators(number: int) -> OperatorCounts:
    """What one window aggregate and one table have counted after that micro-batch."""
    found = OperatorCounts()
    for i in range(number + 1):
        channels = [(1, "0", 1_700_000_000_000 + 1000 * i, "active"), (1, "1", END_OF_INPUT, "active")]
        found.take_table_rows([100])
        found.take("tvfsql", {"rowsIn": 90, "windowsOut": 10, "stateRows": 7 + i, "stateBytes": 4096, "openSlices": 3})
        found.take("tvfsql", {"numLateRecordsDropped": 2, "stateRows": 7 + i, "channels": json.dumps(channels)})
        found.take("tvfsql_bid", {"numNullRowTimeRecordsDropped": 1})
    return found


def asked(address: str, path: str = "/", host: str = "") -> tuple[int, str]:
    parts = urlsplit(address)
    request = Request(f"{parts.scheme}://{parts.netloc}{path}?{parts.query}", headers={"Host": host} if host else {})
    try:
        with urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def test_the_live_page_has_plans_and_the_last_metrics() -> None:
    live = LivePage(lambda: True, zone=lambda: "Asia/Tokyo")
    address = serve(live)
    assert address.startswith("http://127.0.0.1:")
    assert "waiting for the first query" in asked(address)[1]
    live.add([tvfsql.compile(BID + HOP, mode="streaming")])
    for number in range(KEPT + 2):
        live.take(metrics("1", number))
    assert "TableSourceScan" in asked(address)[1]
    figures = json.loads(asked(address, "/figures")[1])
    assert (figures["queries"], figures["active"], len(figures["streams"])) == (1, True, 1)
    batches = figures["streams"][0]["batches"]
    assert [batches[0]["micro_batch"], batches[-1]["micro_batch"]] == [2, KEPT + 1]
    last = metrics("1", KEPT + 1)
    (operator,) = batches[-1].pop("operators").values()
    parts = {"tables": [100 * (KEPT + 2)], "result": last.rows_out, "phases": last.phases}
    clocks = {"time": "2023-11-15 07:18:24.000", "watermark": "2023-11-14 22:18:21.000"}
    assert batches[-1] == last.values | parts | {"clocks": clocks}
    assert [each["clock"] for each in operator["channels"]] == ["2023-11-14 22:18:21.000", "end of input"]


def test_operators_count_from_the_start_of_the_run() -> None:
    found = operators(2)
    assert found.tables == [300]
    (counted,) = found.operators.values()
    channels = counted.pop("channels")
    assert counted == {
        "rows_in": 270,
        "rows_out": 30,
        "late": 6,
        "state_rows": 9,
        "zone": "",
        "watermark": None,
        "ended": False,
        "fired_end": None,
    }
    assert channels == [
        {"input": 1, "partition": "0", "watermark": 1_700_000_002.0, "status": "active", "ended": False},
        {"input": 1, "partition": "1", "watermark": None, "status": "active", "ended": True},
    ]


def test_figures_belong_to_the_operators_of_the_plan() -> None:
    view = f"CREATE VIEW w AS {HOP.replace('window_end, item', 'window_time AS wt, item', 1)}, window_time;"
    upper = "SELECT window_end, MAX(total) AS top FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(wt), INTERVAL '1' HOUR)) "
    query = tvfsql.compile(BID + view + upper + "GROUP BY window_start, window_end", mode="streaming")
    found = places(Program((query,)), [tvfsql.compile(BID + HOP, mode="streaming"), query])
    nodes = [*query.physical.walk()]
    inner, outer = (nodes[place[1]] for place in found["operators"].values())
    assert isinstance(inner, StreamSliceMerge) and isinstance(inner.window, Hop)
    assert isinstance(outer, StreamSliceMerge) and isinstance(outer.window, Tumble)
    assert found["tables"] == [(1, len(nodes) - 1)] and found["result"] == (1, 0)


def test_the_live_page_answers_only_those_who_know_its_address() -> None:
    address = serve(LivePage())
    without = address.partition("?")[0]
    for wrong in (without, f"{without}?token=", f"{address}x"):
        assert asked(wrong) == (403, "the address needs its token")
        assert asked(wrong, "/figures")[0] == 403
    assert asked(address, host="example.org")[0] == 403  # a name that someone points to this machine
    assert asked(address, "/etc/passwd")[0] == 404


# ------------------------------------------------------------------------------------------ in Chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium of this machine, driven by playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("needs Chromium (apt install chromium)")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.slow
def test_in_a_browser(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(tvfsql.compile(BID + HOP).explain(format="html"), encoding="utf-8")
    page = browser.new_page(color_scheme="dark")
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(file.as_uri())
    assert page.locator("html[data-dark]").count() == 1
    page.keyboard.press("d")
    assert page.locator("html[data-dark]").count() == 0

    scan = page.locator("g.node", has_text="TableSourceScan")
    scan.click()
    assert page.locator("#sql mark").inner_text() == "bid"
    assert "TableSourceScan" in page.locator("tr.at").inner_text()
    assert "Reads ts, price and item of bid." in page.locator("#selected").inner_text()
    page.keyboard.press("ArrowDown")
    assert "TableSourceScan" not in page.locator("tr.at").inner_text()
    assert page.evaluate("document.activeElement.classList.contains('at')")
    assert page.locator("g.node[tabindex='0']").count() == 1
    assert "1 source, 1 shuffle" in page.locator("#verdict").inner_text()

    before = page.locator("#graph").get_attribute("width")
    page.keyboard.press("+")
    assert page.locator("#graph").get_attribute("width") != before
    page.keyboard.press("0")
    assert page.locator("#graph").get_attribute("width") == before

    page.keyboard.press("[")
    assert page.locator("g.node.new").count() + page.locator("#gone").inner_text().count("−") > 0
    page.locator("#reasonBox summary").click()
    assert "Holds because" in page.locator("#reason").inner_text()
    page.locator("#step").select_option("Logical plan")
    assert page.locator("g.node.new").count() == 0 and not page.locator("#change").is_visible()

    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("windowtable")
    assert page.locator("#found").inner_text().startswith("1 of ")
    assert page.locator("g.node.hit").count() == 1
    page.locator("#search").fill("")
    page.locator("#grid th", has_text="operator").click()
    names = page.locator("#grid tbody td:nth-child(2)").all_inner_texts()
    assert names == sorted(names)
    assert "</script>" in page.locator("#sql").inner_text()
    assert not problems


@pytest.mark.slow
@pytest.mark.parametrize("width", [1000, 1440, 1900])
def test_nothing_is_wider_than_the_page(browser: Any, tmp_path: Path, width: int) -> None:
    file = tmp_path / "page.html"
    join = f"SELECT l.item FROM ({HOP}) AS l JOIN ({HOP}) AS r ON l.item = r.item JOIN bid ON bid.item = l.item"
    for sql in (HOP, join):
        file.write_text(tvfsql.compile(BID + sql).explain(format="html"), encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for card in page.locator("g.node").all():
            room = card.locator(".card").bounding_box()
            for text in card.locator("text").all():
                box = text.bounding_box()
                assert box["x"] + box["width"] <= room["x"] + room["width"], text.text_content()
        page.close()


@pytest.mark.slow
def test_the_live_page_in_a_browser(browser: Any) -> None:
    active = [True]
    live = LivePage(lambda: active[0])
    page = browser.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda told: problems.append(told.text) if told.type == "error" else None)
    page.goto(serve(live))
    query = tvfsql.compile(BID + HOP, mode="streaming")
    live.program_of = lambda stream: Program((query,))
    live.add([query])
    page.locator("#live", has_text="Waiting for the first micro-batch").wait_for()
    for number in range(3):
        live.take(metrics("sales", number))
    page.locator("#live h2", has_text="stream sales").wait_for()
    assert page.locator(".facts").inner_text().split("\n")[:4] == ["reads", "bid", "writes", "what runs it"]
    tile = page.locator(".tile", has_text="rows in").inner_text()
    assert "300 in all" in tile and "100/s" in tile
    assert "at 22:13:22" in page.locator(".tile", has_text="watermark lag").inner_text()
    assert "bad" in page.locator(".tile", has_text="late rows").get_attribute("class")
    assert "computing rows and state 400 ms" in page.locator(".keysOf").inner_text()
    page.locator("#live summary", has_text="micro-batches").click()
    live.take(metrics("sales", 3))
    page.locator("#live td", has_text="22:13:26.000").wait_for()  # the table stays open
    assert page.locator("g.node").count() > 3
    aggregate = page.locator("#live tr", has_text="GlobalWindowAggregate")
    assert aggregate.first.inner_text().split("\t")[1:5] == ["360", "40", "8", "-"]
    assert "400 rows" in page.locator("#graph .edges").text_content()
    assert page.locator("#live details p").inner_text().startswith("The other operators have no state")
    channels = page.locator("#live td", has_text="end of input").locator("..")
    assert channels.inner_text().split("\t")[1:6] == ["1", "1", "end of input", "-", "active"]
    assert "3.0 s" in page.locator("#live tr", has_text="22:13:23.000").filter(has_text="active").inner_text()
    page.locator("g.node", has_text="GlobalWindowAggregate").click()
    live.take(metrics("sales", 4))
    page.locator("#graph .edges text", has_text="500 rows").wait_for()
    assert "GlobalWindowAggregate" in page.locator("#selected").inner_text()  # the selection stays
    assert page.locator("#live .pill").inner_text() == "idle"  # its last micro-batch was years ago
    live.take(replace(metrics("sales", 5), time=time()))
    page.locator("#live .pill", has_text="running").wait_for()
    for width in (1000, 1440, 1900):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert problems == []
    active[0] = False
    page.locator("#live .pill", has_text="finished").wait_for()
    live.close("bid.csv cannot be <b>read</b>")
    page.locator("#live .pill", has_text="failed").wait_for()
    assert page.get_by_role("alert").locator("pre").inner_text() == "bid.csv cannot be <b>read</b>"


@pytest.mark.slow
def test_sixty_operators_are_all_shown(browser: Any, tmp_path: Path) -> None:
    part = "SELECT price + {0} AS p FROM bid WHERE price > {0}"
    query = tvfsql.compile(BID + " UNION ALL ".join(part.format(i) for i in range(20)))
    assert len([*query.physical.walk()]) >= 59
    file = tmp_path / "page.html"
    file.write_text(query.explain(format="html"), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.locator("g.node").first.wait_for()
    assert page.locator("g.node").count() == len([*query.physical.walk()])
