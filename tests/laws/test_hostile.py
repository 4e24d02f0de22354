"""Hostile names and texts come out of tvfsql, and of Spark, as they went in, or are refused."""

from __future__ import annotations

import os
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.examples import SOAK
from tests.support.hostile import BATCH, dropped, faults, texts, through_spark
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXTS = 600 // int(os.environ.get("TVFSQL_EXAMPLES_ONE_IN", "1"))


@pytest.mark.parametrize("part", range(2))
def test_hostile_texts_are_refused_or_make_programs(part: int) -> None:
    assert [*faults(TEXTS // 2, seed=part)] == []


def test_dropped_tables_of_hostile_names_leave_all_other_files(tmp_path: Path) -> None:
    assert [*dropped([*islice(texts(1), TEXTS)], tmp_path)] == []


@pytest.mark.spark
@pytest.mark.soak
def test_hostile_texts_come_out_of_spark_as_they_went_in(spark: SparkSession, tmp_path: Path) -> None:
    source, sent = texts(1), Counter[str]()
    for _ in range(10 if SOAK else 1):
        assert [*through_spark(Session(spark), [*islice(source, BATCH if SOAK else 300)], tmp_path, sent)] == []
    assert min(sent.values()) > 100
