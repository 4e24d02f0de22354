"""The project of flights: `dbt run`, `dbt test`, `dbt docs generate`, and streams that go on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.tvfsql import engine
from dbt.cli.main import dbtRunner

HERE = Path(__file__).parent
DAYS = "2013-01-01 05:15:00,EWR,1\n2013-01-01 05:40:00,EWR,2\n2013-01-01 06:10:00,JFK,3\n"
LATER = "2013-01-01 06:20:00,JFK,4\n2013-01-01 07:30:00,LGA,5\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the project, over a small file."""
    folder = tmp_path_factory.mktemp("dbt") / "flights"
    shutil.copytree(HERE / "flights", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIGHTS", str(HERE.parents[2] / "examples" / "data" / "flights.parquet"))
        patch.setenv("TVFSQL_DBT_PATH", str(folder / "target" / "tvfsql"))
        patch.chdir(folder)
        yield folder
    for each in engine._engines.values():
        each.close()
    engine._engines.clear()


def dbt(folder: Path, *arguments: str, fails: bool = False) -> Any:
    done = dbtRunner().invoke([*arguments, "--project-dir", str(folder), "--profiles-dir", str(folder), "--quiet"])
    assert done.success is not fails, done.exception or done.result
    return done.result


def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with engine.engine_of(str(folder / "target" / "tvfsql"), {}, None, None).lock:
        result = engine.engine_of(str(folder / "target" / "tvfsql"), {}, None, None).execute(sql)
        assert result is not None
        return sorted(tuple(row) for row in result.collect())


def test_run_test_and_docs(project: Path) -> None:
    ran = {each.node.name: each for each in dbt(project, "run").results}
    assert ran["departures_so_far"].adapter_response["_message"].startswith("OK 336776 rows in, ")
    assert [str(each.status) for each in dbt(project, "test").results if each.node.resource_type == "test"] == [
        "pass"
    ] * 5
    dbt(project, "docs", "generate")
    catalog = json.loads((project / "target" / "catalog.json").read_text())
    model = catalog["nodes"]["model.flights.departures_per_hour"]
    assert {name: column["type"] for name, column in model["columns"].items()} == {
        "window_start": "TIMESTAMP(3)",
        "origin": "STRING",
        "departures": "BIGINT",
        "mean_delay": "DOUBLE",
    }
    assert [*catalog["sources"]["source.flights.raw.flights"]["columns"]][-1] == "day"
    manifest = json.loads((project / "target" / "manifest.json").read_text())
    parents = manifest["parent_map"]["model.flights.departures_so_far"]
    assert parents == ["model.flights.departed"]
    busy = "SELECT departures FROM analytics.departures_per_hour ORDER BY departures DESC LIMIT 1"
    assert rows(project, busy) == rows(
        project,
        """SELECT COUNT(*) AS n FROM analytics.departed
        GROUP BY origin, EXTRACT(HOUR FROM sched_dep), CAST(sched_dep AS DATE) ORDER BY n DESC LIMIT 1""",
    )


def test_a_streaming_table_goes_on_where_it_stopped(project: Path) -> None:
    """Windows that are not over wait for the next run; --full-refresh begins anew."""
    folder = project / "data"
    folder.mkdir()
    (folder / "1.csv").write_text(DAYS)
    (project / "models" / "small.yml").write_text(
        f"""version: 2
sources:
  - name: small
    tables:
      - name: hours
        meta:
          watermark: {{column: ts, delay: INTERVAL '1' SECOND}}
          with: {{connector: filesystem, path: {folder}, format: csv}}
        columns:
          - {{name: ts, data_type: TIMESTAMP(3)}}
          - {{name: origin, data_type: STRING}}
          - {{name: n, data_type: INT}}
"""
    )
    (project / "models" / "hours.sql").write_text(
        """{{ config(materialized='streaming_table') }}
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE {{ source('small', 'hours') }}, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end"""
    )
    hours = "SELECT EXTRACT(HOUR FROM window_start), n FROM analytics.hours"
    dbt(project, "run", "--select", "hours")
    assert rows(project, hours) == [(5, 2)]
    (folder / "2.csv").write_text(LATER)
    dbt(project, "run", "--select", "hours")
    assert rows(project, hours) == [(5, 2), (6, 2)]
    dbt(project, "run", "--select", "hours")
    assert rows(project, hours) == [(5, 2), (6, 2)]
    dbt(project, "run", "--select", "hours", "--full-refresh")
    assert rows(project, hours) == [(5, 2), (6, 2)]


def test_a_table_that_fails_keeps_its_rows(project: Path) -> None:
    model = project / "models" / "kept.sql"
    model.write_text("SELECT 1 AS a")
    dbt(project, "run", "--select", "kept")
    model.write_text("SELECT CAST(origin AS INT) AS a FROM {{ ref('departed') }}")
    failed = dbt(project, "run", "--select", "kept", fails=True)
    assert "Hint" in failed.results[-1].message or "error" in failed.results[-1].message
    assert rows(project, "SELECT a FROM analytics.kept") == [(1,)]
    model.write_text("SELECT itme AS a FROM {{ ref('departed') }}")
    failed = dbt(project, "run", "--select", "kept", fails=True)
    assert "table departed has no column itme" in failed.results[-1].message.replace("analytics.", "")
    model.unlink()


def test_the_catalog_is_read_again_by_another_process(project: Path) -> None:
    root = project / "target" / "tvfsql"
    again = engine.Engine(root)
    assert {
        ("analytics", "departed"),
        ("analytics", "departures_so_far"),
        ("raw", "flights"),
    } <= again.relations().keys()


def test_a_contract_compares_names_and_types(project: Path) -> None:
    (project / "models" / "agreed.sql").write_text(
        "SELECT origin, COUNT(*) AS n FROM {{ ref('departed') }} GROUP BY origin"
    )
    agreed = """version: 2
models:
  - name: agreed
    config: {contract: {enforced: true}}
    columns: [{name: origin, data_type: STRING}, {name: n, data_type: KIND}]
"""
    (project / "models" / "agreed.yml").write_text(agreed.replace("KIND", "INT"))
    failed = dbt(project, "run", "--select", "agreed", fails=True)
    assert "contract" in failed.results[-1].message
    (project / "models" / "agreed.yml").write_text(agreed.replace("KIND", "BIGINT"))
    dbt(project, "run", "--select", "agreed")


def test_a_table_with_a_connector_and_a_stream_without_an_end_are_refused(project: Path) -> None:
    (project / "models" / "endless.yml").write_text(
        """version: 2
sources:
  - name: endless
    tables:
      - name: ticks
        meta: {with: {connector: datagen}}
        columns: [{name: n, data_type: INT}]
"""
    )
    model = project / "models" / "endless.sql"
    model.write_text("{{ config(options={'connector': 'print'}) }} SELECT 1 AS n")
    assert "only added" in dbt(project, "run", "--select", "endless", fails=True).results[-1].message
    stream = "{{ config(materialized='streaming_table'OPTION) }} SELECT n FROM {{ source('endless', 'ticks') }}"
    model.write_text(stream.replace("OPTION", ""))
    assert "would never end" in dbt(project, "run", "--select", "endless", fails=True).results[-1].message
    model.write_text(stream.replace("OPTION", ", run_seconds=3"))
    dbt(project, "run", "--select", "endless")
