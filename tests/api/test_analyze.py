"""EXPLAIN ANALYZE: figures as Spark writes them, which nodes belong to which operator, and what is printed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import tvfsql
from tvfsql.api.analyze.attributed import attributed, kind
from tvfsql.api.analyze.measured import Measured, MicroBatch
from tvfsql.api.analyze.report import as_json, text, told
from tvfsql.cli import main
from tvfsql.errors import TvfSqlError
from tvfsql.runtime.measured import Figure, SparkNode, SparkRun, read_figure, sum_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BID = """CREATE TABLE bid (
  auction BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), WATERMARK FOR `dateTime` AS `dateTime`)
WITH ('connector' = 'nexmark', 'nexmark.table' = 'bid', 'first-event.rate' = '10', 'number-of-rows' = '300');
"""
HOP = """SELECT window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
WHERE price > 0 GROUP BY window_start, window_end"""
JOIN = "SELECT b.price FROM bid b JOIN (SELECT auction, MAX(price) AS top FROM bid GROUP BY auction) t"
JOIN += " ON b.auction = t.auction AND b.price = t.top"


@pytest.mark.parametrize(
    ("written", "figure"),
    [
        ("46,462", Figure(46462)),
        ("0", Figure(0)),
        ("277 ms", Figure(277)),
        ("1.5 m", Figure(90_000)),
        ("1814.9 KiB", Figure(1814.9 * 1024)),
        (
            "total (min, med, max (stageId: taskId))\n2.0 MiB (1 B, 512.0 KiB, 1024.0 KiB (stage 8.0: task 5))",
            Figure(2 << 20, 512 << 10, 1 << 20),
        ),
        ("(min, med, max (stageId: taskId)):\n(1.5, 1.5, 3.0 (stage 8.0: task 5))", Figure(1.5, 1.5, 3.0)),
        ("a few furlongs", None),
        ("3 furlongs", None),
    ],
)
def test_figures(written: str, figure: Figure | None) -> None:
    assert read_figure(written) == figure


def test_skew_and_sums_of_figures() -> None:
    even, uneven = Figure(10, 5, 5), Figure(10, 1, 9)
    assert (even.skew, uneven.skew, Figure(1).skew, Figure(0, 0, 0).skew) == (1, 9, None, None)
    assert even.plus(uneven) == Figure(20, 1, 9)


def chain(*nodes: tuple[str, int | None], below: tuple[SparkNode, ...] = (), first: int = 0) -> SparkNode:
    """Nodes from the result down, with their rows; a time of 1 s each, and bytes that are sent."""
    (name, rows), *others = nodes
    children = (chain(*others, below=below, first=first + 1),) if others else below
    figures = {} if rows is None else {"rows": Figure(rows)}
    if name.startswith("Exchange"):
        figures |= {"shuffle": Figure(2048, 10, 30), "partitions": Figure(2)}
    times = {} if name == "Project" else {"sort time": Figure(1000)}
    return SparkNode(first, name, f"{name} text", figures, times, 7 if name == "HashAggregate" else None, children)


HOP_RUN = chain(
    ("Project", None),
    ("MapInArrow", 40),
    ("Project", None),
    ("Sort", None),
    ("Exchange", 20),
    ("HashAggregate", 20),
    ("Exchange", 25),
    ("HashAggregate", 25),
    ("Project", None),
    ("Filter", 90),
    ("BatchScan nexmark", 100),
)


def owners(sql: str, root: SparkNode) -> list[str | None]:
    found = attributed(tvfsql.compile(BID + sql).physical, root)
    return [kind(found[node.number]) if node.number in found else None for node in root.walk()]


def test_both_shuffles_of_a_hop_have_their_operator() -> None:
    local, merge = "LocalWindowAggregate", "GlobalWindowAggregate"
    expected = ["Calc", merge, merge, merge, "Exchange", local, local, local, "Calc", "Calc", "TableSourceScan"]
    assert owners(HOP, HOP_RUN) == expected


def test_what_fits_no_operator_has_none() -> None:
    root = chain(("Project", None), ("Warp", 3), ("Filter", 90), ("BatchScan", 100))
    assert owners("SELECT price FROM bid WHERE price > 0", root) == ["Calc", None, "Calc", "TableSourceScan"]
    state = SparkNode(30, "PlanLater", "LocalRelation <empty>", {}, {})
    control = SparkNode(20, "PlanLater", "LocalRelation <empty>", {}, {})
    source = chain(("Project", None), ("BatchScan", 100), first=10)
    union = SparkNode(0, "Union", "Union", {}, {}, None, (source, control))
    assert owners("SELECT price + 1 AS p FROM bid", union) == [None, "Calc", "TableSourceScan", None]
    stateful = chain(
        ("MapInArrow", 1), ("TransformWithStateInPySpark", 1), below=(chain(("Exchange", 9), first=3), state)
    )
    assert owners(HOP, stateful)[:3] == ["GlobalWindowAggregate", "GlobalWindowAggregate", "Exchange"]


def test_a_micro_batch_that_only_reads_the_control_channel_has_operators_down_to_the_exchange() -> None:
    state = SparkNode(30, "PlanLater", "LocalRelation <empty>", {}, {})
    control = SparkNode(20, "Scan json", "FileScan json /tmp/x/control", {"rows": Figure(1)}, {})
    local = chain(("Exchange", 1), ("MapInArrow", 1), ("Filter", 1), below=(control,), first=3)
    top = chain(("Project", None), ("MapInArrow", 5), ("TransformWithStateInPySpark", 1), below=(local, state))
    merge = "GlobalWindowAggregate"
    assert owners(HOP, top) == ["Calc", merge, merge, "Exchange", None, None, None, None]


def test_branches_are_aligned_apart_and_a_join_may_need_their_last_nodes() -> None:
    left = chain(("BroadcastExchange", 100), ("BatchScan", 100), first=10)
    right = chain(("HashAggregate", 30), ("Exchange", 30), ("HashAggregate", 30), ("BatchScan", 100), first=20)
    join = chain(("Project", None), ("BroadcastHashJoin", 5), below=(left, right))
    found = owners(JOIN, join)
    assert found[:4] == ["Calc", "Join", "Join", "TableSourceScan"]
    assert found[4::3] == ["Aggregate", "TableSourceScan"]
    other_shape = chain(("BroadcastHashJoin", 5), ("BatchScan", 1))
    assert owners(JOIN, other_shape) == ["Join", None]


def measured(*batches: MicroBatch) -> Measured:
    return Measured(tvfsql.compile(BID + HOP).physical, 40, 1.25, SparkRun(HOP_RUN, {7: Figure(3000)}), batches)


def test_the_report_has_operators_and_nodes() -> None:
    lines = text(measured()).splitlines()
    assert lines[0] == "40 rows in 1.2 s"
    tables = [line.split("  ") for line in lines]
    merge = next(line for line in tables if line[-1].strip().startswith("+- GlobalWindowAggregate"))
    assert [cell.strip() for cell in merge if cell.strip()][:3] == ["20", "40", "2.0 s"]
    exchange = next(line for line in lines if "+- Exchange(distribution" in line)
    assert exchange.split()[:8] == ["20", "20", "1.0", "s", "2.0", "KiB", "2", "3.0"]
    assert any(line.startswith("3.0 s in one pipeline") for line in lines)


def test_the_bottleneck_is_named_if_there_is_one() -> None:
    line = text(measured()).splitlines()[1]
    assert line.startswith("bottleneck: LocalWindowAggregate takes 38% of the operators' time; it adds up the rows")
    none = Measured(tvfsql.compile(BID + HOP).physical, 40, 1.25, None)
    assert none.bottleneck is None and "bottleneck" not in text(none)


def test_the_report_as_json() -> None:
    found = json.loads(as_json(measured()))
    assert found["rows"] == 40 and found["plan"]["operator"] == "Calc"
    assert found["plan"]["inputs"][0]["rowsOut"] == 40 and found["plan"]["inputs"][0]["stateBytes"] is None
    assert (
        found["spark"][1] | {"name": "MapInArrow", "operator": "GlobalWindowAggregate", "inputs": [2]}
        == found["spark"][1]
    )


def test_the_page_has_figures() -> None:
    query = tvfsql.compile(BID + HOP)
    page = told(Measured(query.physical, 40, 1.25, SparkRun(HOP_RUN, {})), query, "html")
    data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    merge = data["queries"][0]["steps"][-1]["nodes"][1]
    assert (merge["operator"], merge["figures"]["rows in"]) == ("GlobalWindowAggregate", 20)


def test_micro_batches_have_a_sum() -> None:
    batches = [MicroBatch(0, 200, 1, 500, "10:00", 0, 8, 1024), MicroBatch(1, 100, 2, 250, None, 3, 0, 0)]
    printed = text(measured(*batches))
    assert "== Operators, sum of 1 of 2 micro-batches: others had other plans ==" in printed
    table = printed.split("== Micro-batches ==\n")[1].split("\n\n")[0].splitlines()
    assert table[1].endswith("0  watermark 10:00")
    assert table[-1].split() == ["300", "3", "750", "ms", "0", "0", "B", "3", "sum"]
    assert "== Operators by micro-batch ==" not in printed, "Spark has reported none"
    other = SparkRun(chain(("Project", None), ("Scan", 1)), {})
    both = sum_of([SparkRun(HOP_RUN, {7: Figure(1)}), other, SparkRun(HOP_RUN, {7: Figure(2)})])
    assert both.added == 2 and both.pipelines == {7: Figure(3)}
    assert both.root.children[0].figures["rows"].total == 80


def test_micro_batches_have_operators() -> None:
    less = chain(("MapInArrow", 4), ("Sort", None), ("Exchange", 2), ("HashAggregate", 2), ("BatchScan", 9))
    batches = tuple(MicroBatch(i, 9, 4, 500) for i in range(13))
    runs = (SparkRun(HOP_RUN, {}, batch=0), *(SparkRun(less, {}, batch=i) for i in range(1, 12)))
    found = replace(measured(*batches), runs=runs)
    entries = json.loads(as_json(found))["microBatches"]
    names = [kind(node) for node in found.plan.walk()]
    assert [each["operator"] for each in entries[0]["operators"]] == names
    merge = [each["operators"][1] for each in entries[:2]]
    assert [(each["rowsIn"], each["rowsOut"], each["ms"]) for each in merge] == [(20, 40, 2000), (2, 4, 2000)]
    assert entries[12]["operators"] is None, "Spark has not reported it"
    table = text(found).split("== Operators by micro-batch ==\n")[1].split("\n\n")[0].splitlines()
    assert table[-1] == "the last 10 of 12; JSON has all" and len(table) == 1 + 10 * len(names) + 1
    assert table[2].split()[:4] == ["2", "4", "2.0", "s"] and table[2].endswith("2  GlobalWindowAggregate")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("EXPLAIN ANALYZE INSERT INTO p SELECT price FROM bid", "needs a SELECT, but this is an INSERT"),
        ("EXPLAIN ANALYZE PHYSICAL SELECT 1", "EXPLAIN ANALYZE does not know PHYSICAL"),
        ("EXPLAIN ANALYZE MERMAID SELECT 1", "EXPLAIN ANALYZE does not know MERMAID"),
        ("EXPLAIN ANALYSE SELECT 1", "did you mean ANALYZE?"),
        ("SET 'execution.runtime-mode' = 'streaming'; EXPLAIN ANALYZE SELECT n FROM endless", "would never end"),
    ],
)
def test_what_is_not_analyzed(sql: str, message: str) -> None:
    tables = BID + "CREATE TABLE p (n BIGINT) WITH ('connector' = 'print');"
    tables += "CREATE TABLE endless (n INT) WITH ('connector' = 'datagen');"
    with pytest.raises(TvfSqlError, match=message.replace("?", r"\?")):
        tvfsql.Session(mode=None).execute(f"{tables} {sql}")


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "--analyze", "--format", "mermaid", "-e", "SELECT 1"])
    assert "--format text or json or html" in capsys.readouterr().err


@pytest.mark.spark
def test_a_query_and_a_stream_are_run_and_measured(spark: SparkSession) -> None:
    session = tvfsql.Session(spark, mode=None)
    session.execute(BID)
    found = json.loads(session.sql(f"EXPLAIN ANALYZE JSON {HOP}").text())
    rows, merge = found["rows"], found["plan"]["inputs"][0]
    assert 10 < rows < 30  # windows of 30 s of bids
    assert (merge["operator"], merge["rowsOut"]) == ("GlobalWindowAggregate", rows)
    assert merge["inputs"][0]["shuffleBytes"] > 0 and merge["inputs"][0]["partitions"] == 1
    scan = found["spark"][-1]
    assert (scan["operator"], scan["rows"]) == ("TableSourceScan", 300)
    session.execute("SET 'execution.runtime-mode' = 'streaming'")
    found = json.loads(session.sql(f"EXPLAIN ANALYZE JSON {HOP}").text())
    assert found["rows"] == rows
    assert [each["rows_in"] for each in found["microBatches"]] == [300, 0]
    assert sum(each["rows_out"] for each in found["microBatches"]) == rows
    first, last = (each["operators"] for each in found["microBatches"])
    assert [each["rowsOut"] for each in first if each["operator"] == "TableSourceScan"] == [300]
    by_merge = [each["rowsOut"] for batch in (first, last) for each in batch if each["operator"].startswith("Global")]
    assert by_merge == [each["rows_out"] for each in found["microBatches"]]
    assert any(node["operator"] == "GlobalWindowAggregate" and node["ms"] for node in found["spark"])
