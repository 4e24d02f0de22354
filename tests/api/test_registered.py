"""Registered DataFrames: temporary views of a Spark that sessions and the program share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tvfsql import Session
from tvfsql.errors import BindError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READ = "SELECT * FROM of_sessions"


@pytest.mark.spark
def test_each_session_reads_its_own_dataframe_or_says_that_it_is_gone(spark: SparkSession) -> None:
    first, second = Session(spark), Session(spark)
    one, two = spark.createDataFrame([(1,)], "n INT"), spark.createDataFrame([(2,)], "n INT")
    first.register("of_sessions", one)
    result = first.sql(READ)
    second.register("of_sessions", two)
    assert second.sql(READ).collect() == [(2,)]
    with pytest.raises(BindError, match="another session on this Spark") as caught:
        result.collect()
    assert caught.value.hint == 'register("of_sessions", ...) again, or under another name'
    first.register("of_sessions", one)
    assert result.collect() == [(1,)]
    second.register("of_sessions", one)  # the same DataFrame
    assert result.collect() == second.sql(READ).collect() == [(1,)]
    first.register("of_sessions", one)
    first.execute("DROP TABLE of_sessions")
    with pytest.raises(BindError, match="there is no table of_sessions"):
        first.sql(READ)
    first.register("of_sessions", one)
    first.execute("CREATE OR REPLACE TABLE of_sessions (n INT); DROP TABLE of_sessions")
    assert not spark.catalog.tableExists("of_sessions")


@pytest.mark.spark
def test_a_view_of_the_program_is_not_replaced(spark: SparkSession) -> None:
    session = Session(spark)
    spark.createDataFrame([(1,)], "n INT").createOrReplaceTempView("of_program")
    try:
        with pytest.raises(BindError, match="temporary view of_program of the program") as caught:
            session.register("of_program", spark.createDataFrame([(2,)], "n INT"))
        assert caught.value.hint == 'spark.catalog.dropTempView("of_program"), or another name'
        assert spark.table("of_program").collect() == [(1,)]
        assert session.sql("SELECT n FROM of_program").collect() == [(1,)]
    finally:
        spark.catalog.dropTempView("of_program")
    session.register("odd.name", spark.createDataFrame([(2,)], "n INT"))
    session.execute("DROP TABLE `odd.name`")
    assert not spark.catalog.tableExists("`odd.name`")
    session.execute("CREATE VIEW v AS SELECT 1 AS n")
    with pytest.raises(BindError, match="v is a view, which no table replaces"):
        session.register("v", spark.createDataFrame([(2,)], "n INT"))
    assert not spark.catalog.tableExists("v")
