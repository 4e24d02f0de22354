"""EMIT sets for one statement what the options set for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tvfsql import compile
from tvfsql.cli import main
from tvfsql.syntax import ast
from tvfsql.syntax.parser import parse

TABLE = """CREATE TABLE bid (item STRING, emit INT, bidtime TIMESTAMP(3), WATERMARK FOR bidtime AS bidtime)
WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json');
"""
QUERY = """SELECT window_start, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, item"""
EARLY, DELAY = "table.exec.emit.early-fire.enabled", "table.exec.emit.early-fire.delay"
LATE, LATE_DELAY = "table.exec.emit.late-fire.enabled", "table.exec.emit.late-fire.delay"
LATENESS, KEPT = "table.exec.emit.allow-lateness", "tvfsql.emit.late"


@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize(
    ("before", "clause", "options"),
    [
        ({}, "EMIT ON WINDOW CLOSE", {}),
        ({EARLY: "true", LATENESS: "1 h"}, "EMIT ON WINDOW CLOSE", {}),
        ({EARLY: "true"}, "EMIT ON WINDOW CLOSE WITH LATENESS INTERVAL '1' HOUR", {LATENESS: "1 h"}),
        ({}, "EMIT ON UPDATE", {EARLY: "true"}),
        ({DELAY: "5 s", LATENESS: "1 min"}, "EMIT ON UPDATE", {EARLY: "true", LATENESS: "1 min"}),
        ({}, "EMIT EVERY INTERVAL '10' SECOND", {EARLY: "true", DELAY: "10 s"}),
        (
            {LATENESS: "1 min"},
            "EMIT EVERY INTERVAL '10' SECOND",
            {EARLY: "true", DELAY: "10 s", LATE: "true", LATE_DELAY: "10 s", LATENESS: "1 min"},
        ),
        (
            {LATENESS: "1 min"},
            "EMIT EVERY INTERVAL '10' SECOND BEFORE CLOSE",
            {EARLY: "true", DELAY: "10 s", LATENESS: "1 min"},
        ),
        (
            {},
            "emit every interval '2' minutes before close with lateness interval '1' hour purge",
            {EARLY: "true", DELAY: "2 min", LATENESS: "1 h", KEPT: "purge"},
        ),
        ({EARLY: "true", KEPT: "purge"}, "EMIT WITH LATENESS INTERVAL '1' DAY", {EARLY: "true", LATENESS: "1 d"}),
    ],
)
def test_the_clause_is_the_options(before: dict[str, str], clause: str, options: dict[str, str], mode: str) -> None:
    of_clause = compile(f"{TABLE}{_set(before)}{QUERY}\n{clause};", mode=mode)
    of_options = compile(f"{TABLE}{_set(options)}{QUERY};", mode=mode)
    assert of_clause.physical == of_options.physical
    assert of_clause.code.replace(f"# {clause}\n", "") == of_options.code


def _set(options: dict[str, str]) -> str:
    return "".join(f"SET '{key}' = '{value}';\n" for key, value in options.items())


@pytest.mark.parametrize(
    "query",
    [
        "SELECT emit FROM bid AS emit",
        "SELECT a.item FROM bid AS a JOIN bid emit ON emit.item = a.item",
        "SELECT bid.emit, 1 AS emit FROM bid",
        "WITH emit AS (SELECT item FROM bid) SELECT item FROM emit",
    ],
)
def test_emit_is_a_name_too(query: str) -> None:
    (statement,) = parse(query)
    assert isinstance(statement, ast.Query)
    assert statement.emit is None


def test_the_formatter_knows_the_clause(tmp_path: Path) -> None:
    file = tmp_path / "script.sql"
    file.write_text(f"{QUERY} emit every interval '1' minute before close with lateness interval '1' hour purge;")
    assert main(["fmt", str(file)]) == 0
    assert file.read_text().endswith(
        "\nEMIT EVERY INTERVAL '1' MINUTE BEFORE CLOSE WITH LATENESS INTERVAL '1' HOUR PURGE;\n"
    )


def test_lint_says_that_flink_lacks_the_clause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "script.sql"
    file.write_text(f"{TABLE}{QUERY}\nEMIT ON UPDATE;")
    main(["lint", str(file)])
    assert "Flink has no EMIT [beyond-flink]" in capsys.readouterr().out
