"""The page of EXPLAIN: its data without a browser, and its keys and clicks in Chromium where there is one."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tvfsql

BID = """CREATE TABLE bid (ts TIMESTAMP(3), price INT, item STRING, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');
"""
HOP = """SELECT window_end, item, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))
WHERE item <> '</script>' GROUP BY window_start, window_end, item"""


def data(sql: str) -> dict[str, Any]:
    page = tvfsql.compile(BID + sql).explain(format="html")
    found = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    query: dict[str, Any] = found["queries"][0]
    return query


def test_each_step_has_the_whole_plan_its_reason_and_what_changed() -> None:
    query = tvfsql.compile(BID + HOP)
    first, *steps, physical = data(HOP)["steps"]
    assert [step["title"].split(". ")[1] for step in steps] == [step.rule for step in query.steps]
    assert [node["inputs"] for node in first["nodes"]] == [[i + 1] for i in range(len(first["nodes"]) - 1)] + [[]]
    assert [node["columns"] for node in steps[-1]["nodes"]] == [
        [f"{part.name} {part.type or '?'}" for part in node.schema] for node in query.optimized.walk()
    ]
    for step in steps:
        assert "Before:" in step["reason"] and "After:" in step["reason"]
        assert any(node["new"] for node in step["nodes"]) or step["gone"]
    assert not any(node["new"] for node in [*first["nodes"], *physical["nodes"]])


def test_an_operator_at_two_places_is_drawn_twice() -> None:
    nodes = data("WITH b AS (SELECT price FROM bid) SELECT * FROM b UNION ALL SELECT * FROM b")["steps"][0]["nodes"]
    below = sorted(number for node in nodes for number in node["inputs"])
    assert below == [*range(1, len(nodes))]


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
    scan.hover()
    assert page.locator("#sql mark").inner_text() == "bid"
    assert "TableSourceScan" in page.locator("tr.at").inner_text()
    page.locator("#graph").focus()
    page.keyboard.press("ArrowUp")
    assert "TableSourceScan" not in page.locator("tr.at").inner_text()

    before = page.locator("#view").get_attribute("transform")
    page.keyboard.press("+")
    assert page.locator("#view").get_attribute("transform") != before
    page.keyboard.press("0")
    assert page.locator("#view").get_attribute("transform") == before
    page.mouse.move(200, 300)
    page.mouse.wheel(0, -200)
    page.wait_for_function(f"document.getElementById('view').getAttribute('transform') !== {json.dumps(before)}")

    page.keyboard.press("[")
    assert page.locator("g.node.new").count() + page.locator("#gone").inner_text().count("−") > 0
    assert "Holds because" in page.locator("#reason").inner_text()
    page.locator("#step").fill("0")
    assert page.locator("#stepTitle").inner_text() == "Logical plan"
    assert page.locator("g.node.new").count() == 0

    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("windowtable")
    assert page.locator("#found").inner_text().startswith("1 of ")
    assert page.locator("g.node.hit").count() == 1
    page.locator("#search").fill("")
    page.locator("th", has_text="operator").click()
    names = page.locator("#grid tbody td:nth-child(2)").all_inner_texts()
    assert names == sorted(names)
    assert "</script>" in page.locator("#sql").inner_text()
    assert not problems


@pytest.mark.slow
def test_sixty_operators_open_in_a_second(browser: Any, tmp_path: Path) -> None:
    part = "SELECT price + {0} AS p FROM bid WHERE price > {0}"
    query = tvfsql.compile(BID + " UNION ALL ".join(part.format(i) for i in range(20)))
    assert len([*query.physical.walk()]) >= 59
    file = tmp_path / "page.html"
    file.write_text(query.explain(format="html"), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())  # the first page waits for the browser
    begun = time.monotonic()
    page.reload()
    page.locator("g.node").first.wait_for()
    assert time.monotonic() - begun < 5  # a second where nothing else runs
    took = page.evaluate("performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart")
    assert took < 5000
