"""What INSERT stores without a CAST is what Flink 2.3 does (tests/data/flink_implicit_casts.json)."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from tvfsql import compile
from tvfsql.bind.flink.operators.implicit_casts import is_implicit
from tvfsql.errors import BindError
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.plan.values.types import NULL, UNKNOWN
from tvfsql.syntax.types.words import parse_type

OF_FLINK = json.loads((Path(__file__).parents[1] / "data" / "flink_implicit_casts.json").read_text(encoding="utf-8"))
TAKES: dict[str, list[str]] = OF_FLINK["takes"]
TABLE = "CREATE TABLE {0} (x {1}) WITH ('connector' = 'filesystem', 'path' = '{0}', 'format' = 'parquet');"


def test_a_column_takes_the_values_that_it_takes_in_flink() -> None:
    wrong = [
        f"{source} -> {target}: {'refused' if source in TAKES[target] else 'stored'}"
        for target, source in product(TAKES, repeat=2)
        if is_implicit(parse_type(source), parse_type(target)) != (source in TAKES[target])
    ]
    assert wrong == []


def test_what_is_not_known_here_is_left_to_spark() -> None:
    assert all(is_implicit(kind, of_spark("bigint")) for kind in (UNKNOWN, NULL))
    assert is_implicit(of_spark("array<void>"), of_spark("array<bigint>")) and is_implicit(
        of_spark("string"), of_spark("varchar(3)")
    )
    assert is_implicit(of_spark("bigint"), of_spark("variant")) and not is_implicit(
        of_spark("variant"), of_spark("string")
    )


@pytest.mark.parametrize(
    ("source", "target", "hint"),
    [
        ("DECIMAL(10, 2)", "BIGINT", "CAST(x AS BIGINT)"),
        ("BIGINT", "INT", "CAST(x AS INT)"),
        ("TIMESTAMP_LTZ(3)", "STRING", "CAST(x AS STRING)"),
        ("TIMESTAMP_LTZ(3)", "DATE", "CAST(x AS DATE)"),
        ("ARRAY<INT>", "STRING", "CAST(x AS STRING)"),
        ("STRING", "ARRAY<INT>", None),
        ("BIGINT", "TIMESTAMP(3)", None),
    ],
)
def test_the_hint_is_a_cast_if_there_is_one(source: str, target: str, hint: str | None) -> None:
    tables = TABLE.format("a", source) + TABLE.format("b", target)
    with pytest.raises(BindError, match="but the query gives") as caught:
        compile(f"{tables} INSERT INTO b SELECT x FROM a")
    assert caught.value.hint == hint
    if hint:
        compile(f"{tables} INSERT INTO b SELECT {hint} FROM a")
