"""%tvfsql and %%tvfsql in IPython. Without Spark, but for the last test."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

import tvfsql
from tvfsql.charts import Chart
from tvfsql.errors import OptionError, TvfSqlError
from tvfsql.notebook import explained, read_line, run, with_values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BID = """CREATE TABLE bid (ts TIMESTAMP(3), price DECIMAL(10, 2), item STRING, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');"""


@pytest.fixture
def notebook() -> Iterator[Any]:
    shell = InteractiveShell()
    shell.history_manager.enabled = False
    shell.extension_manager.load_extension("tvfsql")
    yield shell
    InteractiveShell.clear_instance()


def test_a_cell_gives_its_last_result(notebook: Any) -> None:
    notebook.run_cell_magic("tvfsql", "", BID)
    assert len(notebook.run_line_magic("tvfsql", "SHOW TABLES")) == 1
    assert notebook.run_cell_magic("tvfsql", "found <<", "DESCRIBE bid; SHOW TABLES") is None
    assert [*notebook.user_ns["found"]] == [("bid",)]
    assert isinstance(notebook.user_ns["tvfsql_session"], tvfsql.Session)


def test_an_error_is_its_caret_alone(notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    notebook.run_cell("%tvfsql SELECT * FROM nothing")
    notebook.run_cell("import tvfsql; tvfsql.compile('SELECT * FROM nothing')")
    told = capsys.readouterr()
    assert told.err.count("error: there is no table nothing") == 2 and "Traceback" not in told.out + told.err


def test_explain(notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    notebook.run_line_magic("tvfsql", "--explain physical SELECT 1")
    assert capsys.readouterr().out.startswith("Calc(")
    notebook.run_cell_magic("tvfsql", "--explain", "SELECT 1")
    assert "What the operators do" in capsys.readouterr().out
    query = tvfsql.compile(f"{BID} SELECT item FROM bid WHERE item < 'x'")
    plan, code = (explained([query], stage) for stage in ("logical", "code"))
    assert "<svg" in plan._repr_html_() and "item &lt; &#x27;x&#x27;" in plan._repr_html_()
    assert "<svg" not in code._repr_html_() and "def query(spark" in repr(code)


def test_another_session_can_be_named(notebook: Any) -> None:
    notebook.user_ns["mine"] = tvfsql.Session()
    notebook.user_ns["mine"].execute(BID)
    assert len(notebook.run_line_magic("tvfsql", "--session mine SHOW TABLES")) == 1
    with pytest.raises(TvfSqlError, match="the variable yours is no"):
        run("--session yours SHOW TABLES", None, notebook.user_ns)


@pytest.mark.parametrize("line", ["--explian", "--session", "SELECT 1"])
def test_a_wrong_line_is_refused(line: str) -> None:
    with pytest.raises(OptionError):
        read_line(line, whole=False)


def test_arguments_of_a_chart() -> None:
    asked = read_line("--chart bars total BY item --session mine", whole=False)
    assert (asked.chart, asked.session) == (Chart("bars", ("total",), "item"), "mine")
    assert read_line("--chart", whole=False).chart == Chart()
    asked = read_line("--chart SELECT 1", whole=True)
    assert (asked.chart, asked.text) == (Chart(), "SELECT 1")
    with pytest.raises(TvfSqlError, match="BY takes one column"):
        read_line("--chart BY", whole=False)


def test_values_of_variables_are_literals() -> None:
    space = {
        "name": "it's; DROP TABLE bid",
        "n": -3,
        "d": Decimal("1.50"),
        "x": 0.5,
        "yes": True,
        "no": None,
        "day": dt.date(2020, 4, 15),
        "at": dt.datetime(2020, 4, 15, 8, 5),
    }
    assert with_values("SELECT :name, 'a:n', b::int, :n", space) == (
        "SELECT 'it''s; DROP TABLE bid', 'a:n', b::int, (-3)"
    )
    assert with_values(":d :x :yes :no :day :at", space) == (
        "(1.50) CAST(0.5 AS DOUBLE) TRUE NULL DATE '2020-04-15' TIMESTAMP '2020-04-15 08:05:00.000'"
    )
    with pytest.raises(TvfSqlError, match="did you mean name"):
        with_values("SELECT :nam", space)
    with pytest.raises(TvfSqlError, match="a list has no SQL literal"):
        with_values("SELECT :many", {"many": [1]})


def test_numbers_of_numpy_and_those_that_are_not_finite_are_literals() -> None:
    space = {"x": np.float64(1.5), "nan": np.float64("nan"), "least": float("-inf"), "d": Decimal("NaN")}
    literals = "CAST(1.5 AS DOUBLE), CAST('NaN' AS DOUBLE), CAST('-Infinity' AS DOUBLE)"
    assert with_values(":x, :nan, :least", space) == literals
    assert tvfsql.compile(f"SELECT {literals}").code
    with pytest.raises(TvfSqlError, match="a Decimal has no SQL literal"):
        with_values(":d", space)


@pytest.mark.parametrize("other", ["INSERT INTO t SELECT 1", "CALL advance_watermark(TIMESTAMP '2020-04-15 08:20:00')"])
def test_a_streamed_cell_runs_nothing_but_its_select(other: str, notebook: Any) -> None:
    table = "CREATE TABLE t (a INT) WITH ('connector' = 'print')"
    with pytest.raises(TvfSqlError, match="--stream runs a SELECT alone") as caught:
        run("--stream", f"{table}; {other}; SELECT 1", notebook.user_ns)
    assert caught.value.span is not None and caught.value.span.start == len(table) + 2
    assert not notebook.user_ns["tvfsql_session"].catalog.entries


def test_a_hint_about_the_mode_can_be_run_in_a_cell(notebook: Any) -> None:
    key = "execution.runtime-mode"
    with pytest.raises(TvfSqlError) as caught:
        run("", f"SET '{key}' = 'streaming'; {BID} SELECT item FROM bid ORDER BY price", notebook.user_ns)
    assert str(caught.value.hint).endswith(f"; or SET '{key}' = 'batch'")


@pytest.mark.spark
def test_frames_of_the_notebook_are_tables(
    spark: SparkSession, notebook: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook.user_ns |= {"prices": pa.table({"price": [1, 2, 3]}), "least": 2, "tvfsql_session": tvfsql.Session(spark)}
    result = notebook.run_line_magic("tvfsql", "SELECT SUM(price) AS total FROM prices WHERE price >= :least")
    assert result.to_pandas()["total"].tolist() == [5]
    notebook.user_ns["prices"] = pa.table({"price": [7]})
    assert notebook.run_line_magic("tvfsql", "SELECT price FROM prices").to_arrow().num_rows == 1
    notebook.run_cell_magic("tvfsql", "kept << --chart bars price", "SELECT 'a' AS item, price FROM prices")
    told = capsys.readouterr().out
    assert "price" in told and "█" in told and [*notebook.user_ns["kept"]] == [("a", 7)]
    spark.catalog.dropTempView("prices")  # other tests list the tables of this Spark
