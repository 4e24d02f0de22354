"""`tvfsql rewrite`: group windows as window functions, the plan as before and all other text byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.golden import CASES, Case, after_prelude, cases
from tvfsql.api import Compiled
from tvfsql.cli import main
from tvfsql.errors import TvfSqlError, UnsupportedError
from tvfsql.plan.plan_text import tree
from tvfsql.syntax.rewrite import rewrite

TEN = "INTERVAL '10' MINUTE"
QUERIES = {
    "SELECT COUNT(*) AS n FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE)": (
        "SELECT COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) "
        "GROUP BY window_start, window_end"
    ),
    "select /* s */ hop_end(b.`bidtime`,interval '1' minute, interval '10' minute), -- the end\n  b.item\r\n"
    "from `default_catalog` . default_database.bid b -- TUMBLE(x)\n"
    "where b.item <> 'GROUP BY TUMBLE(bidtime)' and extract(hour from bidtime) > 3\n"
    "group by b.item, hop( b.`bidtime`,interval '1' minute, interval '10' minute )": (
        "select /* s */ window_end, -- the end\n  b.item\r\n"
        "from TABLE(HOP(TABLE `default_catalog` . default_database.bid, DESCRIPTOR(`bidtime`),"
        "interval '1' minute, interval '10' minute )) b -- TUMBLE(x)\n"
        "where b.item <> 'GROUP BY TUMBLE(bidtime)' and extract(hour from bidtime) > 3\n"
        "group by b.item, window_start, window_end"
    ),
    f"WITH t AS (SELECT TUMBLE_ROWTIME(bidtime, {TEN}) AS ts, item FROM bid GROUP BY item, TUMBLE(bidtime, {TEN}))\n"
    f"SELECT item, COUNT(*) AS n FROM t GROUP BY item, TUMBLE(ts, {TEN})": (
        f"WITH t AS (SELECT window_time AS ts, item FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), {TEN})) "
        "GROUP BY item, window_start, window_end, window_time)\n"
        f"SELECT item, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), {TEN})) "
        "GROUP BY item, window_start, window_end"
    ),
    f"SELECT HOP_START(window_time, INTERVAL '1' HOUR, INTERVAL '1' DAY) AS s, COUNT(*) AS n "
    f"FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), {TEN})) AS w (a, b, c, d, e, f, g, h, window_time) "
    "GROUP BY HOP(window_time, INTERVAL '1' HOUR, INTERVAL '1' DAY)": None,
    f"SELECT n FROM (SELECT COUNT(*) AS n FROM (SELECT * FROM bid) GROUP BY TUMBLE(bidtime, {TEN})) WHERE n > 3": (
        "SELECT n FROM (SELECT COUNT(*) AS n FROM TABLE(TUMBLE((SELECT * FROM bid), DESCRIPTOR(bidtime), "
        f"{TEN})) GROUP BY window_start, window_end) WHERE n > 3"
    ),
    f"SELECT item, n, RANK() OVER (ORDER BY n) AS r FROM (SELECT item, COUNT(*) AS n FROM bid GROUP BY item, "
    f"TUMBLE(bidtime, {TEN}))": (
        "SELECT item, n, RANK() OVER (ORDER BY n) AS r FROM (SELECT item, COUNT(*) AS n FROM "
        f"TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), {TEN})) GROUP BY item, window_start, window_end)"
    ),
    f"INSERT INTO screen SELECT item, COUNT(*) FROM bid GROUP BY TUMBLE(bidtime, {TEN}), item": (
        f"INSERT INTO screen SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), {TEN})) "
        "GROUP BY window_start, window_end, item"
    ),
    # WHERE chooses the rows that sessions are made of, and the other keys part them
    f"SELECT SESSION_END(bidtime, {TEN}) AS e, item FROM bid GROUP BY SESSION(bidtime, {TEN}), item": (
        f"SELECT window_end AS e, item FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), {TEN})) "
        "GROUP BY window_start, window_end, item"
    ),
    f"SELECT b.item FROM bid AS b WHERE (b.price > 1) -- dear\nGROUP BY b.item, bidder, SESSION(bidtime, {TEN})": (
        "SELECT b.item FROM TABLE(SESSION(TABLE (SELECT * FROM bid AS b WHERE (b.price > 1)) "
        f"PARTITION BY (item, bidder), DESCRIPTOR(bidtime), {TEN})) AS b -- dear\n"
        "GROUP BY b.item, bidder, window_start, window_end"
    ),
    f"SELECT bid.item FROM bid WHERE price > 1 GROUP BY bid.item, SESSION(bidtime, {TEN})": (
        "SELECT bid.item FROM TABLE(SESSION(TABLE (SELECT * FROM bid WHERE price > 1) PARTITION BY item, "
        f"DESCRIPTOR(bidtime), {TEN})) AS bid GROUP BY bid.item, window_start, window_end"
    ),
}
# Spark plans window functions in subqueries of expressions, so there the plans differ
OTHERS = ("TABLE(", "JOIN", " IN (SELECT")
OLD_CASES = [case for case in cases("group_windows") if not any(word in case.sql for word in OTHERS)]


def physical(sql: str) -> list[str]:
    return [tree(outcome.physical) for outcome in after_prelude().outcomes(sql) if isinstance(outcome, Compiled)]


@pytest.mark.parametrize("old", [old for old, new in QUERIES.items() if new])
def test_the_smallest_edit(old: str) -> None:
    new = QUERIES[old]
    assert rewrite(f"{old};\n-- GROUP BY TUMBLE(ts)") == f"{new};\n-- GROUP BY TUMBLE(ts)"


@pytest.mark.parametrize("old", [*(old for old, new in QUERIES.items() if new), *(case.sql for case in OLD_CASES)])
def test_the_plan_stays(old: str) -> None:
    new = rewrite(old)
    assert new != old
    assert physical(new) == physical(old)
    assert rewrite(new) == new


def test_statements_of_every_kind() -> None:
    legacy = f"SELECT item, COUNT(*) AS n FROM bid GROUP BY TUMBLE(bidtime, {TEN}), item"
    new = rewrite(legacy)
    for frame in (
        "CREATE VIEW v AS {0};SELECT * FROM v",
        "EXPLAIN PLAN FOR {0}",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO screen {0}; INSERT INTO nowhere {0}; END",
        "SELECT * FROM TABLE(TUMBLE(({0}), DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
        "{0} UNION ALL {0} ORDER BY n",
    ):
        assert rewrite(frame.format(legacy)) == frame.format(new)


def test_all_other_text_is_printed_byte_for_byte() -> None:
    unchanged = 0
    for path in sorted(CASES.rglob("*.sql")):
        case = Case(path.relative_to(CASES).with_suffix("").as_posix())
        if "group_window" not in case.name:
            try:
                assert rewrite(case.sql) == case.sql
                unchanged += 1
            except TvfSqlError:
                assert path.parent.parent.name == "errors"
    assert unchanged > 200


def test_a_window_function_in_from() -> None:
    for source, argument in (("TABLE(HOP(TABLE t))", "TABLE(HOP(TABLE t))"), ("HOP(TABLE t)", "TABLE HOP(TABLE t)")):
        new = f"SELECT 1 FROM TABLE(TUMBLE({argument}, DESCRIPTOR(ts), {TEN})) GROUP BY window_start, window_end"
        assert rewrite(f"SELECT 1 FROM {source} GROUP BY TUMBLE(ts, {TEN})") == new


def test_what_has_no_place_in_the_text() -> None:
    for sql in (Case("group_windows/join").sql, *(old for old, new in QUERIES.items() if new is None)):
        assert len(physical(sql)) == 1
        with pytest.raises(UnsupportedError, match="needs a single table"):
            rewrite(sql)


def test_a_hint_would_be_misplaced() -> None:
    with pytest.raises(UnsupportedError, match="OPTIONS hints cannot be rewritten"):
        rewrite(f"SELECT 1 FROM t /*+ OPTIONS('path' = 'p') */ GROUP BY TUMBLE(ts, {TEN})")


def test_the_command(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    old = next(iter(QUERIES))
    file = tmp_path / "old.sql"
    file.write_bytes(f"-- é\r\n{old};\r\n".encode())
    assert main(["rewrite", str(file), "-e", old]) == 0
    assert capsysbinary.readouterr().out.decode() == f"-- é\r\n{QUERIES[old]};\r\n{QUERIES[old]}\n"
    assert main(["rewrite", "-e", "SELECT FROM"]) == 1
    assert capsysbinary.readouterr().out == b""
