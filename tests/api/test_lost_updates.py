"""The warning about TO_CHANGELOG without a code for UPDATE_BEFORE, which may be all that says that a row is gone."""

from __future__ import annotations

import pytest

import tvfsql

STOCK = """CREATE TABLE stock (op STRING, item STRING, price INT) WITH (
    'connector' = 'filesystem', 'path' = 'stock', 'format' = 'json', 'changelog.op' = 'op');
    SET 'table.exec.state.ttl' = '1 d';"""
UPSERTS = "MAP['INSERT, UPDATE_AFTER', 'up', 'DELETE', 'gone']"
WHOLE = "MAP['INSERT, UPDATE_AFTER', 'up', 'DELETE, UPDATE_BEFORE', 'gone']"
DEAR = "SELECT item, price FROM stock WHERE price > 5"
GROUPS = "SELECT item, COUNT(*) AS n FROM stock WHERE price > 5 GROUP BY item HAVING COUNT(*) > 1"


def warnings(rows: str, codes: str, mode: str = "streaming") -> tuple[str, ...]:
    query = f"SELECT * FROM TO_CHANGELOG(({rows}), DESCRIPTOR(code), {codes})"
    return tvfsql.compile(STOCK + query, mode=mode).warnings


def test_a_condition_over_a_changelog_needs_a_code_for_update_before() -> None:
    assert warnings(DEAR, UPSERTS) == (
        "op_mapping has no code for UPDATE_BEFORE, and a row of stock that no longer meets WHERE leaves with it alone",
    )


@pytest.mark.parametrize(
    ("rows", "codes", "mode"),
    [
        (DEAR, WHOLE, "streaming"),
        (DEAR, UPSERTS, "batch"),
        (GROUPS, UPSERTS, "streaming"),
        ("SELECT item, price FROM stock", UPSERTS, "streaming"),
    ],
)
def test_others_do_not(rows: str, codes: str, mode: str) -> None:
    assert warnings(rows, codes, mode) == ()
