"""What `tvfsql init` makes: a script over a small table, its data and a test for `tvfsql test`; or one over a file."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from tvfsql.api.script import Script
from tvfsql.bind.statements.show_create import create_statement
from tvfsql.catalog import Table
from tvfsql.errors import DataError
from tvfsql.plan.values.scalar import free_name, quoted
from tvfsql.runtime.batch.inferred_columns import inferred_columns

FILES = {
    "totals.sql": """\
-- Totals of ten minutes: tvfsql run totals.sql
CREATE TABLE bid (
    bidtime TIMESTAMP(3),
    price   DECIMAL(10, 2),
    item    STRING,
    WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND
) WITH (
    'connector' = 'filesystem',
    'path' = 'data/bids.csv',  -- beside this script
    'format' = 'csv'
);

SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
ORDER BY window_start, item;
""",
    "totals.tvfsql.yaml": """\
# Run it with tvfsql test, or with pytest.
script: totals.sql
mode: batch
tests:
  - name: a row at the end of a window is in the next one
    steps:
      - rows:
          bid:
            - {bidtime: 2020-04-15 08:00:00, price: 4, item: A}
            - {bidtime: 2020-04-15 08:09:59.999, price: 2, item: A}
            - {bidtime: 2020-04-15 08:10:00, price: 3, item: A}
            - {bidtime: 2020-04-15 08:11:00, price: 5, item: B}
        expect:
          - {window_end: 2020-04-15 08:10:00, item: A, total: 6}
          - {window_end: 2020-04-15 08:20:00, item: A, total: 3}
          - {window_end: 2020-04-15 08:20:00, item: B, total: 5}
""",
    "data/bids.csv": """\
2020-04-15 08:05:00,4.00,A
2020-04-15 08:07:00,2.00,A
2020-04-15 08:09:00,5.00,B
2020-04-15 08:11:00,3.00,A
2020-04-15 08:13:00,1.00,B
2020-04-15 08:17:00,6.00,B
""",
}


QUERY = """
-- Rows of each hour: tvfsql run {script}
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE {table}, DESCRIPTOR({time}), INTERVAL '1' HOUR))
GROUP BY window_start, window_end
ORDER BY window_start;
"""


def script_over_file(file: str, form: str) -> tuple[Path, str]:
    """Write a script beside this process: CREATE TABLE with the columns that a local file has, a WATERMARK for its
    first time column, and a query. Returns its path, and a note on the lines of the file that are not rows, or "".
    Raises DataError if it exists, or if the file cannot be read.

    Numbers of milliseconds or seconds since 1970 get a computed column with their time, if there is no other time.
    """
    found = inferred_columns(file, form, {})
    stem = re.sub(r"\W", "_", Path(file).name.partition(".")[0])
    target, table, names = Path(f"{stem}.sql"), quoted(stem), dict(found.columns)
    if target.exists():
        raise DataError(f"{target} exists", hint=f"mv {target} {target}.old")
    elements = []
    time = next((name for name, kind in found.columns if kind.startswith("TIMESTAMP")), None)
    if time is None and found.epochs:
        (number, digits), time = found.epochs[0], free_name("ts", names)
        elements.append(f"{time} AS TO_TIMESTAMP_LTZ({quoted(number)}, {digits})")
    if time is not None:
        elements.append(f"WATERMARK FOR {quoted(time)} AS {quoted(time)} - INTERVAL '5' SECOND")
    path = os.path.relpath(file).replace("'", "''")
    listed, ignore = f"({', '.join(elements)})" if elements else "", f"{form}.ignore-parse-errors"
    options = f"'connector' = 'filesystem', 'path' = '{path}'" + (f", '{ignore}' = 'true'" if found.bad else "")
    text = f"{_create_statement(stem, f'CREATE TABLE {table} {listed} WITH ({options})', ignore)};\n"
    note = f"{found.problem}\nqueries stop there; '{ignore}' = 'true' in {target} reads bad values as NULL"
    if time is None:
        text += f"\n-- {file} has no column of times, so there is no WATERMARK\nSELECT * FROM {table} LIMIT 10;\n"
    else:
        text += QUERY.format(script=target, table=table, time=quoted(time))
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror}") from error
    return target, note if found.bad else ""


def _create_statement(name: str, sql: str, without: str) -> str:
    """The CREATE TABLE of a table with the columns of its files, without the option that was needed to find them."""
    script = Script()
    list(script.outcomes(sql))
    table = script.catalog.get(name)
    assert isinstance(table, Table), table
    return create_statement(replace(table, options=tuple(pair for pair in table.options if pair[0] != without)))


def new_project(folder: str) -> list[Path]:
    """Write the files, and return them. Raises DataError if one exists, before any is written."""
    targets = {Path(folder, name): text for name, text in FILES.items()}
    for target in targets:
        if target.exists():
            raise DataError(f"{target} exists", hint="tvfsql init another_folder")
    try:
        for target, text in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror}") from error
    return [*targets]
