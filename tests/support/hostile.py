"""Names and texts that are not what one expects. `python -m tests.support.hostile 20000` compiles so many of them, and
with `--spark` sends those that are taken through Spark: each comes out as it went in. `tests/laws/test_hostile.py` does
so with some hundred."""

from __future__ import annotations

import argparse
import ast
import json
import keyword
import random
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from tvfsql import Session, TvfSqlError, compile
from tvfsql.api.script import Script
from tvfsql.api.tables.catalogs import Warehouse
from tvfsql.catalog import Table
from tvfsql.options import Options
from tvfsql.runtime import managed_folder
from tvfsql.runtime.local_spark.start import start_spark

PIECES = (
    "'", "''", '"', '""', "`", "``", "\\", "\\\\", "\\'", '\\"', "\\n", "\\u0041", "\\x41", "\\0", "\n", "\r",
    "\t", "\r\n", "\x00", "\x01", "\x1b[31m", "\x7f", "\x85", "\xa0", "\u200b", "\u2028", "\u2029", "\ufeff",
    "\u202e", "\ufffd", "\uffff", "\ud800", "\udfff", "\ud83d\ude00", "😀", "👩‍👩‍👧", "e\u0301", "ß", "ı", "İ",
    "ſ", "Ω", "漢", "עברית", "𝒳", "${", "${x}", "$${x}", "${env:HOME}", "${system:user.home}",
    "${spark.app.name}", "${ENV:HOME}", "$", "{", "}", "{}", "{0}", "{x}", "{{", "}}", "{zone}", "%s", "%(x)s",
    "%", "?", ":x", "@x", "#", "--", "/*", "*/", "/*+ x */", ";", ",", "(", ")", "[", "]", "<", ">", "<b>",
    "&amp;", "<!--", "=", "+", "-", "*", ".", "..", "a.b", "a.*", "|", "||", "~", "^", "' OR '1'='1",
    "'); DROP TABLE t; --", '"""', "'''", 'f"', "r'", "b'", "__import__('os').system('x')", "\\N{BULLET}", " ",
    "  ", "\\ ", "\\\n", "a", "A", "é", "0", "1", "-1", "1e400", "NULL", "null", "NaN", "true", "x" * 300,
)  # fmt: skip
WORDS = (
    *keyword.kwlist, *keyword.softkwlist, "self", "args", "kwargs", "sqlQuery", "spark", "F", "Window", "rows",
    "df", "query", "main", "print", "str", "Session", "tvfsql", "pyspark", "now", "seq", "payload", "value",
    "key", "group", "channel", "control", "$control", "$watermark", "$channel", "$late", "$op", "$0", "_c0",
    "EXPR$0", "_corrupt_record", "_metadata", "__name__", "window", "window_start", "window_end", "window_time",
    "select", "from", "table", "order", "timestamp", "default", "values", "user", "current_date", "interval",
    "array", "map", "row", "struct", "unnest", "lateral", "descriptor", "tumble", "session", "default_catalog",
    "default_database", "information_schema", "col1", "item", "element", "entries", "partial", "merged",
)  # fmt: skip
TABLE = "CREATE TABLE t (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ({}'path' = '{}');\n"
BATCH = 500  # texts in one query
LONGEST = 50_000  # characters of a name that Spark reads in JSON; it fails at longer ones
JSON_FILES = "'connector' = 'filesystem', 'format' = 'json', "


def texts(seed: int) -> Iterator[str]:
    """Texts, no two of them the same: the pieces and words alone, then joined; some are very long. Without end."""
    draw, seen = random.Random(seed), set()
    alone = iter((*PIECES, *WORDS, "", "x" * 100_000))
    while True:
        made = next(alone, None)
        if made is None:
            parts = draw.choices((*PIECES, *draw.choices(WORDS, k=20)), k=draw.choice((2, 2, 3, 4, 8)))
            made = draw.choice(("", "", " ", "_")).join(parts)
        if made not in seen:
            seen.add(made)
            yield made


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def places(text: str) -> Iterator[tuple[str, str]]:
    """Where a text may stand in SQL, each with a script."""
    name, word = quoted(text), literal(text)
    table = TABLE.format(JSON_FILES, "in")
    windows = "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    yield "literal", f"{table}SELECT {word} AS x FROM t WHERE k <> {word}"
    yield "literal for Spark", f"{table}SELECT k FROM t WHERE k <> ALL (SELECT k FROM t WHERE k LIKE {word})"
    yield (
        "literal in windows",
        f"{table}SELECT {word}, LISTAGG(k, ';') FILTER (WHERE k <> {word}) {windows} GROUP BY window_start, window_end",
    )
    yield "column", f"{table.replace('(k', f'({name} INT, k')}SELECT {name}, {name} + 1 AS k1 FROM t WHERE {name} > 1"
    yield (
        "column of windows",
        (
            f"{table.replace('(k', f'({name} INT, k')}SELECT {name}, window_end, SUM({name}) {windows} "
            f"GROUP BY {name}, window_start, window_end"
        ),
    )
    yield "alias", f"{table}SELECT k AS {name} FROM t AS {name} WHERE {name}.k = 'x'"
    yield "CTE", f"{table}WITH {name} AS (SELECT k FROM t) SELECT k FROM {name}"
    yield "table", f"{table.replace('TABLE t', f'TABLE {name}')}SELECT k FROM {name}"
    yield "field", f"{table.replace('(k', f'(r ROW<{name} INT>, k')}SELECT t.r.{name} FROM t"
    yield "option", f"{TABLE.format(JSON_FILES, text.replace(chr(39), chr(39) * 2))}SELECT k FROM t"
    yield "comment", f"{table}SELECT k -- {text.splitlines()[0] if text.splitlines() else ''}\nFROM t"
    yield "SET", f"SET 'pipeline.name' = {word}; {table}SELECT k FROM t"


def fault(script: str, mode: str) -> str | None:
    """What is wrong with how a script is taken; None: it is refused as it should be, or makes a program of Python."""
    try:
        code = compile(script, mode=mode).code
    except TvfSqlError as error:
        str(error).encode()
        return None
    except Exception:
        return traceback.format_exc()
    try:
        ast.parse(code)
        code.encode()
    except (SyntaxError, UnicodeError):
        return traceback.format_exc() + code
    return None


def faults(count: int, seed: int = 1) -> Iterator[str]:
    """What is wrong with how so many texts are taken: each in two places, in all places in turn."""
    for i, text in enumerate(islice(texts(seed), count)):
        scripts = [*places(text)]
        for place, script in (scripts[i % len(scripts)], scripts[(i * 5 + 3) % len(scripts)]):
            if problem := fault(script, ("batch", "streaming")[i // 2 % 2]):
                yield f"{place} {ascii(text)[:80]}\n{problem}"


def taken(text: str, place: str) -> bool:
    """Whether a text is not refused in that place."""
    script = dict(places(text))[place]
    try:
        compile(script, mode="batch")
    except TvfSqlError:
        return False
    return True


def through_spark(session: Session, batch: Sequence[str], folder: Path, sent: Counter[str]) -> Iterator[str]:
    """What comes out of Spark otherwise than it went in: texts as literals, as names of columns that are read and
    made, and in conditions. Texts that are refused are left out; `sent` counts the others."""
    words = [text for text in batch if taken(text, "literal")]
    sent["literals"] += len(words)
    made = ", ".join(f"{literal(text)} AS x{i}" for i, text in enumerate(words))
    yield from _differ("literal", words, session.sql(f"SELECT {made}").collect()[0])
    frame = session.spark.createDataFrame([(text,) for text in words], "k STRING")
    session.register("held", frame)
    counts = ", ".join(f"COUNT(*) FILTER (WHERE k = {literal(text)}) AS x{i}" for i, text in enumerate(words))
    yield from _differ("condition", [1] * len(words), session.sql(f"SELECT {counts} FROM held").collect()[0], words)
    short = [text for text in batch if len(text) < LONGEST]
    names = [*{text.casefold(): text for text in short if taken(text, "column") and taken(text, "alias")}.values()]
    sent["names"] += len(names)
    (folder / "rows.json").write_text(json.dumps(dict(zip(names, range(len(names)), strict=True))))
    columns = ", ".join(f"{quoted(name)} INT" for name in names)
    session.execute(f"CREATE TABLE named ({columns}) WITH ({JSON_FILES}'path' = '{folder}')")
    rows = session.sql(f"SELECT {', '.join(map(quoted, names))} FROM named")
    yield from _differ("column", names, rows.dataframe().columns)
    yield from _differ("column", [*range(len(names))], rows.collect()[0], names)
    session.execute("DROP TABLE named")


def dropped(names: Sequence[str], folder: Path) -> Iterator[str]:
    """What a table of each name, made, filled and dropped, has changed outside its own folder."""
    warehouse = folder / "wh"
    warehouse.mkdir()
    (folder / "precious").write_text("precious")
    (warehouse / "stranger").mkdir()
    (warehouse / "stranger" / "part-0").write_text("precious")
    script = Script(options=Options.of({"tvfsql.warehouse": str(warehouse)}), warehouse=Warehouse())
    before = sorted(folder.rglob("*"))
    for name in names:
        made = quoted(name)
        try:
            list(script.outcomes(f"CREATE TABLE {made} (a INT)"))
        except TvfSqlError:
            continue
        table = script.catalog.get(name)
        assert isinstance(table, Table) and table.connector is not None and table.connector.path is not None
        Path(managed_folder(table.connector.path), "part-0").touch()
        if Path(table.connector.path).resolve().parent != warehouse.resolve():
            yield f"table {name!r}: its folder is {table.connector.path}"
            continue
        list(script.outcomes(f"DROP TABLE {made}"))
        if sorted(folder.rglob("*")) != before:
            yield f"table {name!r}: DROP changes the files of others"
            return


def _differ(
    what: str, wanted: Sequence[object], found: Sequence[object], of: Sequence[str] | None = None
) -> Iterator[str]:
    assert len(wanted) == len(found)
    for given, want, got in zip(of or wanted, wanted, found, strict=True):
        if want != got:
            yield f"{what} {given!r}: {got!r}, and it is {want!r}"


def main() -> int:
    """Try texts, without Spark or through it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("count", type=int)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--spark", action="store_true", help="send those that are taken through Spark")
    given = arguments.parse_args()
    found, sent = 0, Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for problem in dropped([*islice(texts(given.seed), given.count)], Path(folder)):
            found += 1
            print(problem, flush=True)
    for problem in sent_through(given.count, given.seed, sent) if given.spark else faults(given.count, given.seed):
        found += 1
        print(problem, flush=True)
    print(f"{given.count} texts, {found} faults; through Spark: {dict(sent)}")
    return bool(found)


def sent_through(count: int, seed: int, sent: Counter[str]) -> Iterator[str]:
    """What comes out of Spark otherwise than it went in, of so many texts."""
    session, source = Session(start_spark()), texts(seed)
    for done in range(0, count, BATCH):
        with tempfile.TemporaryDirectory() as folder:
            yield from through_spark(session, [*islice(source, min(BATCH, count - done))], Path(folder), sent)


if __name__ == "__main__":
    sys.exit(main())
