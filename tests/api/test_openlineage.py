"""Events of OpenLineage: valid by its JSON schemas, with the lineage of columns, for batch and streams."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tvfsql.api import Session
from tvfsql.api.openlineage.datasets import datasets
from tvfsql.api.script import queries_of
from tvfsql.catalog import Table
from tvfsql.errors import DataError

pytest.importorskip("openlineage.client", reason="pip install 'tvfsql[openlineage]'")
jsonschema = pytest.importorskip("jsonschema")

SCHEMAS = Path(__file__).parents[1] / "data" / "openlineage"
TABLES = """
CREATE TABLE click (ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), item STRING, price INT,
WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'clicks;more',
'properties.bootstrap.servers' = 'one:9092,two:9092', 'format' = 'json');
CREATE TABLE item (name STRING, class STRING)
WITH ('connector' = 'filesystem', 'path' = '/data/items.csv', 'format' = 'csv');
CREATE TABLE totals (class STRING, total BIGINT, wend TIMESTAMP_LTZ(3))
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://me:hush-1@db/shop?password=hush-2', 'table-name' = 'totals',
'username' = 'me', 'password' = 'hush-3');
"""
INSERT = """INSERT INTO totals SELECT class, SUM(price + 1) FILTER (WHERE price > 0), window_time
FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) JOIN item ON item = name
WHERE class LIKE 'a%' GROUP BY window_start, window_end, window_time, class"""


def validator() -> Any:
    from referencing import Registry, Resource

    contents = [json.loads(file.read_text()) for file in SCHEMAS.glob("*.json")]
    registry = Registry().with_resources([(each["$id"], Resource.from_contents(each)) for each in contents])

    def check(event: dict[str, Any]) -> None:
        def against(url: str, value: object) -> None:
            kind = jsonschema.Draft202012Validator(
                {"$ref": url}, registry=registry, format_checker=jsonschema.FormatChecker()
            )
            kind.validate(value)

        against(event["schemaURL"].partition("#")[0], event)
        against(event["schemaURL"], event)
        parts = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
        for name, facet in [pair for part in parts for pair in part["facets"].items()]:
            against(facet["_schemaURL"].partition("#")[0], {name: facet})

    return check


@pytest.fixture(autouse=True)
def environment_of_before() -> Iterator[None]:
    """OpenLineage's client adds variables to the environment, which later clients and processes would follow."""
    yield
    for name in [name for name in os.environ if name.startswith("OPENLINEAGE__")]:
        del os.environ[name]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    for name in ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    session = Session(mode=None)
    session.script.warehouse = None
    return session


def told(session: Session, sql: str, file: Path, how: BaseException | None = None) -> list[dict[str, Any]]:
    """The events of an INSERT that ends in that way, without running it."""
    from tvfsql.api.openlineage.runs import Events, open_client

    events = Events(open_client(str(file)))
    for outcome in session.script.outcomes(sql):
        if queries := queries_of(outcome):
            try:
                with events.around(queries, session.catalog, "jobs/hourly.sql"):
                    if how is not None:
                        raise how
            except BaseException as error:
                assert error is how
    events.flush()
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_an_insert_tells_its_datasets_and_the_lineage_of_its_columns(session: Session, tmp_path: Path) -> None:
    start, done = told(session, f"SET 'execution.runtime-mode' = 'batch'; {TABLES} {INSERT}", tmp_path / "events.jsonl")
    check = validator()
    check(start)
    check(done)
    assert (start["eventType"], done["eventType"]) == ("START", "COMPLETE")
    assert start["run"]["runId"] == done["run"]["runId"]
    assert (start["job"]["namespace"], start["job"]["name"]) == ("default", "hourly.totals")
    assert start["job"]["facets"]["jobType"]["processingType"] == "BATCH"
    assert start["job"]["facets"]["sql"]["query"] == INSERT
    assert "hush" not in json.dumps(start)
    inputs = {(each["namespace"], each["name"]): each for each in start["inputs"]}
    assert [*inputs] == [("kafka://one:9092", "clicks"), ("kafka://one:9092", "more"), ("file", "/data/items.csv")]
    columns = inputs["file", "/data/items.csv"]["facets"]["schema"]["fields"]
    assert [(each["name"], each["type"]) for each in columns] == [("name", "STRING"), ("class", "STRING")]
    assert [each["name"] for each in inputs["kafka://one:9092", "more"]["facets"]["schema"]["fields"]] == [
        "ms",
        "item",
        "price",
    ]
    (output,) = start["outputs"]
    assert (output["namespace"], output["name"]) == ("postgres://db:5432", "shop.public.totals")
    lineage = output["facets"]["columnLineage"]
    assert {name: fields(each["inputFields"]) for name, each in lineage["fields"].items()} == {
        "class": {"items.csv.class": "DIRECT IDENTITY"},
        "total": {"clicks.price": "DIRECT AGGREGATION", "more.price": "DIRECT AGGREGATION"},
        "wend": {"clicks.ms": "DIRECT TRANSFORMATION", "more.ms": "DIRECT TRANSFORMATION"},
    }
    rows = [
        f"{each['name'].rpartition('/')[2]}.{each['field']} {each['transformations'][0]['subtype']}"
        for each in lineage["dataset"]
    ]
    assert [each for each in rows if not each.startswith("more")] == [
        "clicks.ms WINDOW",
        "clicks.item JOIN",
        "items.csv.name JOIN",
        "items.csv.class FILTER",
        "items.csv.class GROUP_BY",
        "clicks.ms GROUP_BY",
    ]


def fields(inputs: list[dict[str, Any]]) -> dict[str, str]:
    return {
        f"{each['name'].rpartition('/')[2]}.{each['field']}": " ".join(
            (each["transformations"][0]["type"], each["transformations"][0]["subtype"])
        )
        for each in inputs
    }


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("SELECT a FROM (SELECT a, b FROM t WHERE b > 1)", {"t.a": "IDENTITY"}),
        ("SELECT a FROM t UNION ALL SELECT UPPER(b) FROM u", {"t.a": "IDENTITY", "u.b": "TRANSFORMATION"}),
        (
            "SELECT b FROM (SELECT b, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS n FROM t) WHERE n < 3",
            {"t.b": "IDENTITY"},
        ),
        ("SELECT t.a || u.b FROM t JOIN u ON t.a = u.a", {"t.a": "TRANSFORMATION", "u.b": "TRANSFORMATION"}),
        ("SELECT x FROM t CROSS JOIN UNNEST(SPLIT(a, ',')) AS e (x)", {"t.a": "TRANSFORMATION"}),
        ("WITH c AS (SELECT MAX(b) AS m FROM t GROUP BY a) SELECT m || m FROM c", {"t.b": "AGGREGATION"}),
        ("SELECT (SELECT MAX(b) FROM u) || a FROM t", {"t.a": "TRANSFORMATION", "u.b": "AGGREGATION"}),
        ("SELECT SUM(LENGTH(b)) OVER (ORDER BY a) || '' FROM t", {"t.a": "TRANSFORMATION", "t.b": "TRANSFORMATION"}),
        ("SELECT 'x'", {}),
    ],
)
def test_lineage_of_a_column(session: Session, select: str, expected: dict[str, str]) -> None:
    from tvfsql.bind.pass_through.lineage import origins
    from tvfsql.plan.analysis.lineage import lineage

    tables = "CREATE TABLE t (a STRING, b STRING); CREATE TABLE u (a STRING, b STRING); CREATE TABLE o (x STRING);"
    *_, last = session.script.outcomes(f"{tables} SET 'execution.runtime-mode' = 'batch'; INSERT INTO o {select}")
    (query,) = queries_of(last)
    found = lineage(query.logical, origins)
    assert {".".join(origin): how for origin, how in found.columns["x"].items()} == expected
    assert not found.unknown


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("'connector' = 'filesystem', 'path' = 's3a://bucket/a/b', 'format' = 'csv'", ("s3://bucket", "a/b")),
        ("'connector' = 'filesystem', 'path' = 'hdfs://nn:8020/a/b', 'format' = 'csv'", ("hdfs://nn:8020", "/a/b")),
        ("'connector' = 'filesystem', 'path' = 'file:///a/b', 'format' = 'csv'", ("file", "/a/b")),
        ("'connector' = 'jdbc', 'url' = 'jdbc:mysql://u:p@h/d', 'table-name' = 't'", ("mysql://h:3306", "d.t")),
        ("'connector' = 'jdbc', 'url' = 'jdbc:postgresql://h:1/d', 'table-name' = 's.t'", ("postgres://h:1", "d.s.t")),
        (
            "'connector' = 'jdbc', 'url' = 'jdbc:sqlserver://h;databaseName=d;password=p', 'table-name' = 't'",
            ("sqlserver://h:1433", "d.dbo.t"),
        ),
        ("'connector' = 'spark-catalog', 'table-name' = 'c.d.t'", ("spark", "c.d.t")),
        ("'connector' = 'datagen'", ("datagen", "x")),
    ],
)
def test_datasets_are_named_as_openlineage_does(session: Session, options: str, expected: tuple[str, str]) -> None:
    [*session.script.outcomes(f"CREATE TABLE x (a INT) WITH ({options})")]
    table = session.catalog.find("x")
    assert isinstance(table, Table)
    assert [(each.namespace, each.name) for each in datasets(table)] == [expected]


def test_a_failure_and_an_interrupt_are_told_without_secrets(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "shop")
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", "airflow/dag.task/01938a2e-3f0c-7e10-8a5e-0242ac120002")
    failure = DataError("jdbc:postgresql://me:hush@db/shop cannot be reached")
    batch = f"SET 'execution.runtime-mode' = 'batch'; {TABLES} {INSERT}"
    _, failed = told(session, batch, tmp_path / "failed.jsonl", failure)
    validator()(failed)
    assert failed["eventType"] == "FAIL"
    assert failed["run"]["facets"]["errorMessage"]["message"] == "jdbc:postgresql://me:******@db/shop cannot be reached"
    assert failed["run"]["facets"]["parent"]["job"]["name"] == "dag.task"
    assert failed["job"]["namespace"] == "shop"
    _, aborted = told(session, INSERT, tmp_path / "aborted.jsonl", KeyboardInterrupt())
    assert aborted["eventType"] == "ABORT"


def test_a_target_without_the_client_is_refused_and_the_environment_only_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openlineage.client", None)
    with pytest.raises(DataError, match="OpenLineage needs a Python package") as refused:
        _ = Session(openlineage="events.jsonl").events
    assert refused.value.hint == "pip install 'tvfsql[openlineage]'"
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:1")
    assert Session().events is None
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    assert Session().events is None


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The URL of a server on this machine, and what it has received."""
    received: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append({"path": self.path, **json.loads(self.rfile.read(int(self.headers["Content-Length"])))})
            self.send_response(201)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", received
    server.shutdown()


@pytest.mark.spark
def test_states_of_runs_reach_a_server(
    spark: Any, tmp_path: Path, receiver: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, received = receiver
    monkeypatch.setenv("OPENLINEAGE_URL", url)
    (tmp_path / "in.csv").write_text("2026-01-01 00:00:01,1\n2026-01-01 00:01:01,x\n2026-01-01 00:02:01,3\n")
    tables = f"""CREATE TABLE t (ts TIMESTAMP(3), n STRING, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
    WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in.csv', 'format' = 'csv');
    CREATE TABLE g (ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts)
    WITH ('connector' = 'datagen', 'rows-per-second' = '5');
    CREATE TABLE o (n STRING) WITH ('connector' = 'blackhole');"""
    session = Session(spark, mode=None)
    session.execute(tables)
    session.execute("INSERT INTO o SELECT n FROM t")
    session.execute("SET 'execution.runtime-mode' = 'streaming'")
    session.execute("INSERT INTO o SELECT n FROM t", file=str(tmp_path / "copy.sql"))
    session.execute("SET 'execution.runtime-mode' = 'automatic'")
    (running,) = session.execute("INSERT INTO o SELECT CAST(n AS STRING) FROM g")
    for _ in range(600):
        if "RUNNING" in [each["eventType"] for each in received[-1:]]:
            break
        threading.Event().wait(0.1)
    running.stop()
    with pytest.raises(DataError):
        session.execute("INSERT INTO o SELECT CAST(CAST(n AS INT) AS STRING) FROM t")
    session.events.flush()
    check = validator()
    for event in received:
        assert event.pop("path") == "/api/v1/lineage"
        check(event)
    told = {}
    for event in received:
        name = f"{event['job']['name']} {event['job']['facets']['jobType']['processingType']}"
        told.setdefault((event["run"]["runId"], name), []).append(event["eventType"])
    assert [(name, states) for (_, name), states in told.items()] == [
        ("tvfsql.o BATCH", ["START", "COMPLETE"]),
        ("copy.o STREAMING", ["START", "RUNNING", "COMPLETE"]),
        ("tvfsql.o.2 STREAMING", ["START", "RUNNING", "ABORT"]),
        ("tvfsql.o.3 BATCH", ["START", "FAIL"]),
    ]
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:1")
    Session(spark, catalog=session.catalog).execute("INSERT INTO o SELECT n FROM t")  # nobody listens, and it runs
