"""What `window_of` says of the relations of queries: which columns tell a row's window, and where that is lost."""

from __future__ import annotations

import pytest

from tests.support.golden import after_prelude
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.window import Tumble

TUMBLE = "TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))"
HOP = "TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))"
NAMED = {
    f"SELECT item, window_start, window_end AS e FROM {TUMBLE}": ("window_start", "e"),
    f"SELECT window_start AS s, window_start, window_end AS e FROM {TUMBLE} WHERE price > 3": ("s", "e"),
    f"SELECT window_start, window_end FROM {TUMBLE} GROUP BY window_start, window_end": ("window_start", "window_end"),
    f"SELECT window_start, window_end FROM {TUMBLE} UNION ALL SELECT window_start, window_end FROM {TUMBLE}": (
        "window_start",
        "window_end",
    ),
    f"SELECT window_start, window_end FROM {TUMBLE} JOIN auction USING (item) ORDER BY 1 LIMIT 3": (
        "window_start",
        "window_end",
    ),
}
LOST = (
    "SELECT item FROM bid",
    f"SELECT window_start, item FROM {TUMBLE}",
    f"SELECT window_start, CAST(window_end AS STRING) AS window_end FROM {TUMBLE}",
    f"SELECT window_end, COUNT(*) AS window_start FROM {TUMBLE} GROUP BY window_end",
    f"SELECT window_start, window_end FROM {TUMBLE} UNION ALL SELECT window_start, window_end FROM {HOP}",
    f"SELECT window_start, window_end FROM {TUMBLE} UNION ALL SELECT window_end, window_start FROM {TUMBLE}",
    f"SELECT window_start, window_end FROM auction LEFT JOIN {TUMBLE} USING (item)",
)


def logical(sql: str):
    (query,) = after_prelude().outcomes(sql, "query.sql")
    return query.logical


@pytest.mark.parametrize("sql", NAMED)
def test_columns_name_the_window_wherever_they_are_handed_on(sql: str) -> None:
    plan = logical(sql)
    attached = window_of(plan).named_by(plan.columns)
    assert (attached.window, attached.start, attached.end) == (Tumble(600_000), *NAMED[sql])


@pytest.mark.parametrize("sql", LOST)
def test_what_is_no_longer_a_window_is_none(sql: str) -> None:
    plan = logical(sql)
    found = window_of(plan)
    assert found is None or found.named_by(plan.columns) is None


def test_rowtimes_are_the_time_column_and_the_window_time() -> None:
    found = window_of(logical(f"SELECT window_time AS t, bidtime AS b, window_end FROM {TUMBLE}"))
    assert found.rowtimes == ("t", "b")
    assert [found.kind(name) for name in ("t", "b", "window_end")] == ["time", None, "end"]
