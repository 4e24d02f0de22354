"""Prints one instant in every way that tvfsql has. `TZ=Asia/Tokyo python -m tests.support.ways_out FOLDER` does so in
that zone of the machine. Used by `tests/end_to_end/test_printed_times.py`."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from tests.support.small_spark import environment
from tvfsql import Session, TvfSqlError
from tvfsql.answers import Answers
from tvfsql.api.live_page import LivePage
from tvfsql.api.streams.state import show_state
from tvfsql.notebook import run as magic
from tvfsql.runtime.host.row_formats import FORMATS
from tvfsql.runtime.local_spark.start import start_spark
from tvfsql.runtime.stream.inspect import STATE_TABLES
from tvfsql.shell.commands import run_command
from tvfsql.shell.state import Shell

ZONE = "America/Los_Angeles"
TABLES = """CREATE TABLE m (epoch BIGINT, ts AS TO_TIMESTAMP_LTZ(epoch, 3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{folder}/m.csv');
CREATE TABLE bad (n BIGINT, ts TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'format' = 'csv',
    'path' = '{folder}/bad.csv');
CREATE TABLE out (ts TIMESTAMP_LTZ(3)) WITH ('connector' = 'print');
"""
WINDOWS = """SELECT window_start, MIN(ts) AS opening, window_time, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE m, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end, window_time"""
NESTED = "SELECT ts, ROW(ts, 1) AS r, ARRAY[ts] AS a, MAP['k', ts] AS m FROM m"


def main(folder: str) -> None:
    os.environ.update(environment())
    spark = start_spark()
    Path(folder, "m.csv").write_text("1615708799000\n1615708800000\n")
    Path(folder, "bad.csv").write_text("1,2021-03-14T08:00:00Z\n2,never\n")
    for mode in ("batch", "streaming"):
        in_mode(spark, mode, folder)
    session = new_session(spark, "streaming", folder, checkpoint=str(Path(folder, "checkpoint")))
    page = LivePage(zone=lambda: ZONE)
    session.streams.reports.append(page.take)
    told("answers", printed(lambda: [Answers(session).give(each) for each in session.script.outcomes(WINDOWS)]))
    of_page = json.dumps(page.figures["streams"][0]["batches"][-1])
    told("page", re.findall(r'"(?:watermark|clock)": "([^"]*)"', of_page))
    out = StringIO()
    show_state(lambda: spark, str(Path(folder, "checkpoint")), STATE_TABLES, "table", out)
    told("state", re.sub(r"(?m)^.*micro_batch.*$", "", out.getvalue()))


def in_mode(spark: object, mode: str, folder: str) -> None:
    """The ways out of one mode."""
    session = new_session(spark, mode, folder)
    for name, sql in (("windows", WINDOWS), ("nested", NESTED)):
        for form in FORMATS if mode == "batch" else ("csv",):
            told(f"{mode} text {form} {name}", session.sql(sql).text(form))
    told(f"{mode} show", printed(session.sql(WINDOWS).show))
    told(f"{mode} html", session.sql(NESTED)._repr_html_())
    told(f"{mode} print", printed(lambda: session.execute("INSERT INTO out SELECT ts FROM m")))
    told(f"{mode} bad", failed(lambda: session.sql("SELECT n, ts FROM bad").collect()))
    shell = Shell(session, run_command, out=None)
    told(f"{mode} shell and chart", printed(lambda: shell.run(f"{WINDOWS};") and shell.run("\\chart n\n")))
    told(f"{mode} notebook", printed(lambda: magic("--chart n", WINDOWS, {"tvfsql_session": session})))
    code = Path(folder, f"{mode}.py")
    program = session.sql(f"{WINDOWS} ORDER BY 1" if mode == "batch" else WINDOWS).query.code
    code.write_text(program.replace('"checkpoint/', f'"{folder}/checkpoint/'))
    space = {"__name__": "__main__", "__file__": str(code)}
    told(f"{mode} program", printed(lambda: exec(compile(program, code, "exec"), space)))


def new_session(spark: object, mode: str, folder: str, **given: object) -> Session:
    session = Session(spark, mode=mode, options={"table.local-time-zone": ZONE}, **given)  # type: ignore[arg-type]
    session.execute(TABLES.format(folder=folder))
    return session


def told(way: str, what: object) -> None:
    sys.stdout.write(f"== {way}\n{what}\n")


def printed(work: object) -> str:
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        work()
    return re.sub(r"stateBytes: \d+|(?m:^.*starting Spark.*\n)", "", out.getvalue())


def failed(work: object) -> str:
    try:
        return f"no error: {work()}"
    except TvfSqlError as error:
        return str(error)


if __name__ == "__main__":
    main(sys.argv[1])
