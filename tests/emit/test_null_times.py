"""What a program does with rows without a time: it refuses them, or drops and counts them."""

from __future__ import annotations

import pytest

import tvfsql

QUERY = (
    "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) "
    "GROUP BY window_start, window_end"
)
OPTION = "SET 'table.exec.source.rowtime-null-handling' = '{}';"


@pytest.mark.parametrize(
    ("mark", "option", "drops"),
    [
        ("", "", True),
        ("", OPTION.format("FAIL"), False),
        (", WATERMARK FOR ts AS ts", "", False),
        (", WATERMARK FOR ts AS ts", OPTION.format("DROP"), True),
    ],
)
def test_in_batch_a_table_without_watermark_loses_rows_without_a_time(mark: str, option: str, drops: bool) -> None:
    """As Flink's windows in batch, which look at no option; here one that is set counts."""
    create = (
        f"CREATE TABLE t (ts TIMESTAMP(3){mark}) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'csv');"
    )
    code = tvfsql.compile(f"{option} {create} {QUERY}", mode="batch").code
    assert ("drop_null_times" in code, "refuse_null_times" in code) == (drops, not drops)


def test_a_deduplication_may_order_by_processing_time_without_a_column() -> None:
    create = "CREATE TABLE t (id INT, v INT) WITH ('connector' = 'datagen');"
    ranked = "SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY PROCTIME()) AS rn FROM t"
    found = tvfsql.compile(f"{create} SELECT id, v FROM ({ranked}) WHERE rn = 1", mode="streaming")
    plan = str(found.explain("physical"))
    assert "Deduplicate(keep=[FirstRow], key=[id]" in plan
    assert "order=[PROCTIME]" in plan
