"""The definitions of dbt-tvfsql without dbt and Spark. `make test-dbt` runs the adapter itself, in a dbt of its own."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tvfsql.catalog import View
from tvfsql.errors import DataError, TvfSqlError

PLACE = Path(__file__).parents[2] / "integrations" / "dbt" / "dbt" / "adapters" / "tvfsql" / "engine.py"


@pytest.fixture(scope="module")
def engine() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dbt_tvfsql_engine", PLACE)
    assert spec is not None and spec.loader is not None
    module = sys.modules["dbt_tvfsql_engine"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_definitions_outlive_the_process(engine: ModuleType, tmp_path: Path) -> None:
    first = engine.Engine(tmp_path)
    first.create_schema("raw")
    meta = {"with": {"connector": "filesystem", "path": str(tmp_path), "format": "csv", "csv.header": True}}
    meta |= {"watermark": {"column": "ts", "delay": "INTERVAL '1' SECOND"}, "primary_key": "id"}
    columns = [
        {"name": "id", "data_type": "STRING"},
        {"name": "ts", "data_type": "TIMESTAMP(3)"},
        {"name": "day", "meta": {"as": "CAST(ts AS DATE)"}},
    ]
    text = engine.source_table(("raw", "it's"), columns, meta)
    first.session.execute(text)
    first.keep(("raw", "it's"), text)
    first.create_view(("raw", "a"), "SELECT `day` FROM raw.`it's`")
    first.create_view(("raw", "b"), "SELECT `day` AS `other` FROM `raw`.`a`")
    first.rename(("raw", "b"), ("raw", "0"))
    with pytest.raises(TvfSqlError, match="has no column missing"):
        first.create_view(("raw", "a"), "SELECT missing FROM raw.`it's`")
    again = engine.Engine(tmp_path)
    assert {key: type(entry) is View for key, entry in again.relations().items()} == {
        ("raw", "it's"): False,
        ("raw", "a"): True,
        ("raw", "0"): True,
    }
    again.drop(("raw", "a"))
    assert [*engine.Engine(tmp_path).relations()] == [("raw", "it's")]  # what rests on it is gone with it
    again.drop_schema("raw")
    assert engine.Engine(tmp_path).schemas() == []


@pytest.mark.parametrize(
    ("columns", "meta", "message"),
    [
        ([{"name": "a"}], {"with": {"connector": "print"}}, "the column s.t.a of a source has no data_type"),
        ([], {"watermark": "ts", "with": {}}, "the watermark of a source needs a column and a delay"),
        ([{"name": "a", "data_type": "INT"}], {"watermark": None}, "the source s.t has no connector"),
    ],
)
def test_a_source_that_is_not_complete_is_refused(
    engine: ModuleType, columns: list[dict[str, str]], meta: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=message) as refused:
        engine.source_table(("s", "t"), columns, meta)
    assert refused.value.hint
