"""Mutations of SQL texts. `python -m tests.support.fuzz 100000` tries that many; `tests/laws/test_fuzz.py` tries
some. No text changes a file while it is compiled, and no statement one outside the warehouse while it is executed.
"""

from __future__ import annotations

import ast
import random
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.changed_files import changed_files, outside
from tvfsql import TvfSqlError, compile
from tvfsql.api.script import Script
from tvfsql.api.tables.catalogs import Warehouse
from tvfsql.catalog import Table
from tvfsql.folders import cache_folder
from tvfsql.options import Options
from tvfsql.runtime import managed_folder

HERE = Path(__file__).parent.parent
WORD = re.compile(r"\s+|'(?:''|[^'])*'|`(?:``|[^`])*`|\w+|.", re.DOTALL)
STRANGE = (
    "'", "`", "(", ")", "[", "]", "<", ">", ",", ";", "--", "/*", "*/", "*", ".", "..", "=>", "->", "::", "${x}", "{x}",
    "\x1b", "\x00", "\u2028", "NULL", "0", "-1", "1e400", "9" * 40, "''", "'${env:HOME}'", "`$control`", "`class`",
    "FOR SYSTEM_TIME AS OF ts", "GROUP", "WITH ORDINALITY", "DISTINCT", "OVER ()", "UNION ALL", "TABLE",
    "DESCRIPTOR(ts)", "INTERVAL '1' MONTH", "TUMBEL", "CASE", "END", "NATURAL", "LATERAL", "IS JSON",
    "FILTER (WHERE TRUE)",
)  # fmt: skip
STATEMENTS = (
    "CREATE TABLE a (x INT); DROP TABLE a;",
    "CREATE TABLE `..` (x INT); DROP TABLE IF EXISTS `..`; DROP TABLE IF EXISTS `.`;",
    "CREATE TABLE `a/b` (x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts); DROP TABLE `a/b`;",
    "CREATE OR REPLACE TABLE a (x INT); CREATE OR REPLACE TABLE a (x INT, y STRING); DROP TABLE a;",
    "CREATE TABLE a (x INT); CREATE TABLE b LIKE a; DROP TABLE b; DROP TABLE a;",
    "CREATE TABLE a (x INT); ALTER TABLE a ADD y INT; ALTER TABLE a RENAME TO b; DROP TABLE b;",
    "CREATE TABLE f (x INT) WITH ('connector' = 'filesystem', 'path' = '../precious', 'format' = 'csv'); DROP TABLE f;",
    "CREATE TABLE f (x INT) WITH ('connector' = 'filesystem', 'path' = 'wh/a', 'format' = 'json'); DROP TABLE f;",
    "CREATE VIEW v AS SELECT 1 AS x; CREATE TEMPORARY TABLE v (x INT); DROP TEMPORARY TABLE v; DROP VIEW v;",
    "CREATE DATABASE d; USE d; CREATE TABLE a (x INT); DROP TABLE d.a; USE default_database;",
    "SET 'tvfsql.warehouse' = '..'; CREATE TABLE a (x INT); RESET; DROP TABLE a;",
    "CREATE TABLE a (x INT); INSERT INTO a VALUES (1); SHOW TABLES; SHOW CREATE TABLE a; EXPLAIN SELECT * FROM a;",
)


def seeds() -> list[str]:
    """Scripts that compile, without those that only differ in a mode."""
    return [path.read_text(encoding="utf-8") for path in sorted((HERE / "cases").rglob("*.sql"))]


def mutants(texts: list[str], seed: int) -> Iterator[str]:
    """Yield texts with some words removed, doubled, swapped, replaced, or taken from another text. Never ends."""
    draw = random.Random(seed)
    words = [WORD.findall(text) for text in texts]
    while True:
        made = list(draw.choice(words))
        for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
            at = draw.randrange(len(made) + 1) if made else 0
            match draw.randrange(6):
                case 0:
                    del made[at : at + draw.choice((1, 1, 3, 10))]
                case 1:
                    made[at:at] = [" ", draw.choice(STRANGE), " "]
                case 2:
                    made[at : at + 1] = [draw.choice(STRANGE)]
                case 3:
                    made[at:at] = made[at : at + draw.choice((1, 3, 20))] * draw.choice((1, 2, 8))
                case 4:
                    other = draw.choice(words)
                    start = draw.randrange(len(other))
                    made[at:at] = other[start : start + draw.choice((1, 5, 20))]
                case _:
                    made[at : at + 1] = [draw.choice(draw.choice(words))]
        yield "".join(made)


def fault(sql: str, mode: str) -> str | None:
    """What is wrong with the treatment of a text; None if it is refused properly or compiles to valid Python."""
    with changed_files() as changed:
        try:
            code = compile(sql, mode=mode).code
        except TvfSqlError as error:
            str(error)
            return f"it changes {found}" if (found := outside(changed, cache_folder())) else None
        except Exception:
            return traceback.format_exc()
    try:
        ast.parse(code)
    except SyntaxError:
        return traceback.format_exc() + code
    return f"it changes {found}" if (found := outside(changed, cache_folder())) else None


def fault_of_statements(sql: str, folder: Path) -> str | None:
    """What is wrong with how statements are executed, without Spark: they change files outside the warehouse, or fail
    with another error than tvfsql's. None if nothing is."""
    warehouse = folder / "wh"
    script = Script(options=Options.of({"tvfsql.warehouse": str(warehouse)}), warehouse=Warehouse(), folder=str(folder))
    with changed_files() as changed:
        try:
            for _ in script.outcomes(sql):
                _fill(script, warehouse)
        except TvfSqlError:
            pass
        except Exception:
            return traceback.format_exc()
    return f"it changes {found}" if (found := outside(changed, warehouse, cache_folder())) else None


def _fill(script: Script, warehouse: Path) -> None:
    """Give each table without a connector rows, which DROP then deletes."""
    for name in script.catalog.names(Table):
        table = script.catalog.get(name)
        path = table.connector.path if isinstance(table, Table) and table.connector else None
        if path and Path(path).parent == warehouse:
            Path(managed_folder(path), "part-0").touch()


def main() -> int:
    """Try as many mutations as the first argument says; the second argument is the first seed."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    source = mutants(seeds(), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    found: dict[str, int] = {}
    for i in range(wanted):
        sql = next(source)
        if problem := fault(sql, ("batch", "streaming")[i % 2]):
            kind = " / ".join(problem.strip().splitlines()[-3:])
            if kind not in found:
                print(f"--- mutant {i}\n{sql}\n{problem}", flush=True)
            found[kind] = found.get(kind, 0) + 1
        if i % 1000 == 999:
            print(f"{i + 1} mutants, {sum(found.values())} faults", flush=True)
    source = mutants([*STATEMENTS], 1)
    with TemporaryDirectory() as folder:
        for _ in range(wanted // 10):
            sql = next(source)
            if problem := fault_of_statements(sql, Path(folder)):
                print(f"--- statements\n{sql}\n{problem}", flush=True)
                found[problem.strip().splitlines()[-1]] = 1
    print(found or "no faults")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
