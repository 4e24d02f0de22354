"""`tvfsql lint`: each rule with scripts in which it fires, and others, close to them, in which it must not."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from tests.support.golden import after_prelude
from tests.support.pages import ROOT
from tvfsql.api import Compiled
from tvfsql.cli import main
from tvfsql.errors import BindError
from tvfsql.lint import COMPILER, RULES, Warned, lint_script
from tvfsql.lint.rules import OF_SCRIPTS, OF_STATEMENTS

HOP = "TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))"
TUMBLE = "TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))"
COUNT = f"SELECT window_start, window_end, COUNT(*) AS n FROM {TUMBLE}"
MORNING = "TIMESTAMP '2020-04-15 08:00:00'"
KEYS = "GROUP BY window_start, window_end"
TIMED = "CREATE TABLE timed (ts TIMESTAMP(3){}) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'csv');\n"
OF_TIMED = "SELECT COUNT(*) AS n FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(ts), INTERVAL '1' HOUR)) " + KEYS
NOT_HERE = "SET 'parallelism.default' = '4';\n"
MATCHES = (
    "SELECT * FROM bid MATCH_RECOGNIZE (ORDER BY bidtime MEASURES A.price AS p PATTERN (A B{} C) "
    "WITHIN INTERVAL '1' HOUR DEFINE A AS A.price > 1)"
)

# rule: (the text that the caret is under, the script)
FIRES = {
    "beyond-flink": [
        ("item || quantity", "SELECT item || quantity AS a FROM bid"),
        ("'1' + quantity", "SELECT '1' + quantity AS a FROM bid"),
        ("quantity = '7'", "SELECT quantity = '7' AS a FROM bid"),
        ("quantity LIKE", "SELECT quantity LIKE '7' AS a FROM bid"),
        ("CAST(joined", "SELECT CAST(joined AS BIGINT) AS a FROM person"),
        ("bidtime - bidtime", "SELECT bidtime - bidtime AS a FROM bid"),
        ("!= 1", "SELECT quantity != 1 AS a FROM bid"),
        ("::STRING", "SELECT quantity::STRING AS a FROM bid"),
        ("quantity & 1", "SELECT quantity & 1 AS a FROM bid"),
        ("1;", "SELECT item, COUNT(*) AS n FROM bid GROUP BY 1;"),
        ("B{,3}", MATCHES.format("{,3}")),
    ],
    "compiler-warning": [("SELECT", NOT_HERE + "SELECT item FROM bid")],
    "filter-after-windows": [
        ("window_start", f"{COUNT} WHERE item = 'a' AND window_start >= {MORNING} {KEYS}"),
        ("CAST", f"{COUNT} {KEYS} HAVING CAST(window_end AS DATE) = DATE '2020-04-15'"),
    ],
    "group-without-window": [
        ("HOP(", f"SELECT item, COUNT(*) AS n FROM {HOP} GROUP BY item"),
        ("TUMBLE(", f"SELECT COUNT(*) AS n FROM {TUMBLE}"),
    ],
    "idle-order-by": [
        ("n", f"CREATE VIEW v AS {COUNT} {KEYS} ORDER BY n; SELECT * FROM v"),
        ("price", "INSERT INTO screen SELECT item, 1 FROM bid ORDER BY price"),
        ("item", "SELECT * FROM (SELECT item FROM bid ORDER BY item)"),
    ],
    "limit-without-order": [("3", "CREATE VIEW v AS SELECT item FROM bid LIMIT 3; SELECT * FROM v")],
    "no-delay": [
        ("ts", TIMED.format(", WATERMARK FOR ts AS ts") + OF_TIMED),
        ("ts", TIMED.format(", WATERMARK FOR ts AS ts - INTERVAL '0' SECOND") + OF_TIMED),
    ],
    "no-watermark": [("TABLE timed", TIMED.format("") + OF_TIMED)],
    "null-comparison": [
        ("price", "SELECT item FROM bid WHERE item = 'a' AND price = NULL"),
        ("price", "SELECT item, SUM(quantity) OVER (PARTITION BY item) FROM bid WHERE price <> NULL"),
    ],
    "uneven-hop": [
        ("INTERVAL '10' MINUTE", HOP.replace("'1'", "'3'").join(("SELECT * FROM ", ""))),
        ("SIZE => INTERVAL '10' MINUTE", "SELECT * FROM TABLE(HOP(DATA => TABLE bid, TIMECOL => DESCRIPTOR(bidtime), "
         "SIZE => INTERVAL '10' MINUTE, SLIDE => INTERVAL '4' MINUTE))"),
    ],
    "unused": [
        ("v", "CREATE VIEW v AS SELECT item FROM bid; SELECT item FROM bid"),
        ("timed", TIMED.format("") + "SELECT item FROM bid"),
    ],
    "zoneless-literal": [("joined", "SELECT name FROM person WHERE joined > TIMESTAMP '2020-04-15 08:00:00'")],
}  # fmt: skip
SILENT = {
    "beyond-flink": [
        "SELECT item || 'x' AS a, price + 1.5 AS b, quantity <> 1 AS c, bidtime - INTERVAL '1' DAY AS d FROM bid",
        "SELECT quantity, COUNT(*) AS n FROM bid WHERE item = 'a' GROUP BY quantity ORDER BY 1",
        MATCHES.format("{0,3}"),
    ],
    "compiler-warning": ["SET 'table.local-time-zone' = 'UTC'; SELECT item FROM bid"],
    "filter-after-windows": [
        f"{COUNT} WHERE window_start >= {MORNING} AND bidtime >= {MORNING} {KEYS}",
        f"{COUNT} WHERE item = 'a' {KEYS} HAVING COUNT(*) > 3",
        f"CREATE VIEW v AS {COUNT} {KEYS}; SELECT n FROM v WHERE window_start >= {MORNING}",
        f"SELECT COUNT(*) AS n FROM {TUMBLE} WHERE window_end > window_start {KEYS}",
    ],
    "group-without-window": [
        f"{COUNT} {KEYS}",
        f"SELECT window_start AS w, COUNT(*) AS n FROM {TUMBLE} GROUP BY window_start",
        f"SELECT item, price FROM {HOP}",
        "SELECT COUNT(*) AS n FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '1' MINUTE)",
        f"SELECT item, COUNT(*) AS n FROM (SELECT item FROM {HOP}) GROUP BY item",
    ],
    "idle-order-by": [
        "SELECT item FROM bid ORDER BY item",
        "CREATE VIEW v AS SELECT item FROM bid ORDER BY item LIMIT 3; SELECT * FROM v",
    ],
    "limit-without-order": ["SELECT item FROM bid LIMIT 3"],
    "no-delay": [TIMED.format(", WATERMARK FOR ts AS ts - INTERVAL '1' SECOND") + OF_TIMED],
    "no-watermark": [
        TIMED.format("") + "SET 'execution.runtime-mode' = 'batch';" + OF_TIMED,
        f"{COUNT} {KEYS}",
        TIMED.format(", p AS PROCTIME()") + OF_TIMED.replace("(ts)", "(p)"),
    ],
    "null-comparison": ["SELECT item FROM bid WHERE price IS NULL", "INSERT INTO screen VALUES (NULL, 1)"],
    "uneven-hop": [f"SELECT * FROM {HOP}", f"SELECT * FROM {HOP.replace('HOP', 'CUMULATE')}"],
    "unused": [
        TIMED.format(""),
        "CREATE VIEW v AS SELECT item FROM bid; CREATE VIEW w AS SELECT item FROM v; SELECT * FROM W",
        TIMED.format("") + "CREATE TABLE same WITH ('path' = 'y') LIKE timed; SELECT * FROM same",
        "CREATE VIEW v AS SELECT item FROM bid; SELECT item FROM bid WHERE item IN (SELECT item FROM v)",
        "CREATE VIEW v AS SELECT item FROM bid; SELECT *, SUM(1) OVER (ORDER BY item) AS n FROM v",
    ],
    "zoneless-literal": [
        "SELECT name FROM bid, person WHERE bidtime > TIMESTAMP '2020-04-15 08:00:00'",
        "SET 'table.local-time-zone' = 'UTC'; SELECT name FROM person WHERE joined > TIMESTAMP '2020-04-15 08:00:00'",
    ],
}


def warnings(sql: str, *ignore: str) -> list[Warned]:
    return lint_script(sql, after_prelude(), "x.sql", ignore)


@pytest.mark.parametrize(("rule", "place", "sql"), [(rule, *each) for rule, all_ in FIRES.items() for each in all_])
def test_a_rule_fires_at_its_place(rule: str, place: str, sql: str) -> None:
    (found,) = (each for each in warnings(sql) if each.rule == rule)
    assert sql[found.span.start :].startswith(place), sql[found.span.start :]
    assert f"x.sql:{found.line}:{found.column}" in found.shown(sql, "x.sql") and "^" in found.shown(sql, "x.sql")
    assert [each for each in warnings(sql, rule) if each.rule == rule] == []


@pytest.mark.parametrize(("rule", "sql"), [(rule, each) for rule, all_ in SILENT.items() for each in all_])
def test_a_rule_is_silent_where_the_sql_is_meant(rule: str, sql: str) -> None:
    assert [each.message for each in warnings(sql) if each.rule == rule] == []


def test_each_rule_has_both_and_a_line_in_its_page() -> None:
    assert sorted(FIRES) == sorted(SILENT) == list(RULES)
    assert {*OF_STATEMENTS, *OF_SCRIPTS, COMPILER} == {*RULES}
    page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE) == list(RULES)


def test_only_a_condition_on_the_time_goes_below_the_windows() -> None:
    """What `filter-after-windows` says."""
    for sql, pushed in (
        (FIRES["filter-after-windows"][0][1].replace("item = 'a' AND", ""), False),
        (SILENT["filter-after-windows"][0], True),
    ):
        *_, query = after_prelude("batch").outcomes(sql)
        assert isinstance(query, Compiled)
        rules = [step.rule for step in query.steps]
        assert ("push_filter_below_window" in rules) is pushed, rules


def test_comments_silence_a_rule_on_their_line_and_the_next() -> None:
    sql = "SELECT item\nFROM bid\nWHERE price = NULL{}"
    assert len(warnings(sql.format(""))) == 1
    assert warnings(sql.format("  -- lint: ignore null-comparison")) == []
    assert warnings(sql.format("").replace("WHERE", "-- lint: ignore unused, null-comparison\nWHERE")) == []
    assert len(warnings(sql.format("  -- lint: ignore unused"))) == 1
    assert len(warnings("-- lint: ignore null-comparison\n" + sql.format(""))) == 1


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.sql"
    file.write_text("SELECT 1 AS n WHERE 1 = NULL;\n")
    assert main(["lint", str(file)]) == 0
    assert capsys.readouterr().out.startswith("warning: a comparison with NULL is never true [null-comparison]\n")
    assert main(["lint", "--strict", str(file)]) == 1
    assert main(["lint", "--strict", "--ignore", "null-comparison", str(file)]) == 0
    capsys.readouterr()
    assert main(["lint", "--strict", "--format", "json", "-e", "SELECT NULL = 2 AS n"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["file"], found["line"], found["rule"]) == (None, 1, "null-comparison")
    tables = [str(ROOT / "examples" / name) for name in ("sliding_day.sql", "day_so_far.sql")]
    assert main(["lint", "--strict", *tables]) == 0  # both create the same table
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 1 AS n"))
    assert main(["lint", "--strict", "-"]) == 0
    assert main(["lint", "--ignore", "nul-comparison", str(file)]) == 1
    assert "did you mean null-comparison?" in capsys.readouterr().err


def test_a_script_with_an_error_is_no_warning() -> None:
    with pytest.raises(BindError):
        warnings("SELECT itm FROM bid")


def test_the_examples_have_no_warnings() -> None:
    from tvfsql.api import Session

    for path in sorted({*ROOT.glob("examples/*.sql")} - {ROOT / "examples" / "weighted_delay.sql"}):
        # that one imports a module whose name one in the docs has too
        session = Session()
        session.script.folder = str(path.parent)
        found = lint_script(path.read_text(encoding="utf-8"), session.script, str(path))
        assert found == [], [each.message for each in found]
