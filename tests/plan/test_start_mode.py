"""Where streams start: the modes, what they do to sources, and which checkpoints they accept. No JVM."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tvfsql import Session
from tvfsql.api.program import Program, streams_of
from tvfsql.api.script import Script, queries_of
from tvfsql.api.streams.state import check_checkpoint
from tvfsql.catalog.connectors import Kafka
from tvfsql.errors import DataError, OptionError, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import START_MODE
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.start_mode import USUAL, Place, StartMode, start_mode
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.checkpoints import claim, refuse_start

TABLES = """CREATE TABLE bid (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
CREATE TABLE page (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'pages', 'properties.bootstrap.servers' = 'one:9092', 'format' = 'json',
  'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:0,offset:42',
  'failOnDataLoss' = 'false');
CREATE TABLE live WITH ('tvfsql.history' = 'bid') LIKE page;
"""
COUNTS = """SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;"""


def stream(table: str, mode: str | None = None) -> Program:
    options = Options.of({START_MODE.key: mode} if mode is not None else {})
    outcomes = Script(options=options, mode="streaming").outcomes(TABLES + COUNTS.format(table=table))
    (program,) = (each for outcome in outcomes for each in streams_of(queries_of(outcome)))
    return program


def begun(folder: Path) -> LocalPlace:
    """The checkpoint of a stream that has begun a micro-batch."""
    (folder / "spark" / "offsets").mkdir(parents=True)
    (folder / "spark" / "offsets" / "0").write_text("v1")
    return LocalPlace(folder)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("RESUME", StartMode(True, None)),
        (" resume_or_from_beginning ", USUAL),
        ("FROM_BEGINNING", StartMode(False, Place.BEGINNING)),
        ("From_Now", StartMode(False, Place.NOW)),
        ("RESUME_OR_FROM_NOW", StartMode(True, Place.NOW)),
        ("FROM_TIMESTAMP(TIMESTAMP '1970-01-01 00:01:00.5')", StartMode(False, Place.TIMESTAMP, 60_500)),
        ("RESUME_OR_FROM_TIMESTAMP ( '1970-01-02' )", StartMode(True, Place.TIMESTAMP, 86_400_000)),
        ("FROM_TIMESTAMP('1970-01-01 01:00:00+01:00')", StartMode(False, Place.TIMESTAMP, 0)),
    ],
)
def test_a_mode_is_read_and_printed(text: str, mode: StartMode) -> None:
    assert start_mode(text) == mode
    assert start_mode(str(mode)) == mode


@pytest.mark.parametrize(
    "text",
    [
        "",
        "BEGINNING",
        "RESUME_OR",
        "RESUME_OR_RESUME",
        "RESUMEFROM_NOW",
        "FROM_TIMESTAMP",
        "FROM_TIMESTAMP('noon')",
        "FROM_NOW('2024-01-01')",
        "RESUME('2024-01-01')",
        "FROM_NOW(INTERVAL '7' DAY)",
    ],
)
def test_what_is_no_mode_is_told(text: str) -> None:
    with pytest.raises(OptionError, match=r"tvfsql\.start-mode cannot be") as raised:
        Options.of({START_MODE.key: text})
    assert "FROM_" in str(raised.value) or "RESUME?" in str(raised.value)


@pytest.mark.parametrize(
    ("mode", "start"),
    [
        (None, {"startingOffsets": '{"pages": {"0": 42}}'}),
        ("RESUME", {"startingOffsets": '{"pages": {"0": 42}}'}),
        ("FROM_BEGINNING", {"startingOffsets": '{"pages": {"0": 42}}'}),
        ("RESUME_OR_FROM_NOW", {"startingOffsets": "latest"}),
        (
            "FROM_TIMESTAMP('1970-01-01 00:00:01')",
            {"startingTimestamp": "1000", "startingOffsetsByTimestampStrategy": "latest"},
        ),
    ],
)
def test_kafka_starts_at_the_place_of_the_mode(mode: str | None, start: dict[str, str]) -> None:
    """The manifest does not depend on it, and a program has the mode in its job."""
    program = stream("page", mode)
    (scan,) = (node for node in program.queries[0].physical.walk() if isinstance(node, TableSourceScan))
    assert isinstance(scan.source.connector, Kafka)
    reading = dict(scan.source.connector.reading)
    assert {name: value for name, value in reading.items() if name.startswith("starting")} == start
    assert (reading["subscribe"], reading["failOnDataLoss"]) == ("pages", "false")
    assert program.manifest == stream("page").manifest
    assert program.job.get("start") == (None if mode is None else str(start_mode(mode)))


@pytest.mark.parametrize("table", ["bid", "live"])
def test_other_sources_only_start_at_their_beginning(table: str) -> None:
    stream(table, "FROM_BEGINNING")
    for mode in ("FROM_NOW", "RESUME_OR_FROM_TIMESTAMP('2024-01-01')"):
        with pytest.raises(UnsupportedError, match=f"table {table} can only be read from its beginning") as raised:
            stream(table, mode)
        assert raised.value.hint and raised.value.span


def test_resume_needs_state_and_from_needs_a_new_folder(tmp_path: Path) -> None:
    new, old = LocalPlace(tmp_path / "new"), begun(tmp_path / "old")
    resume, anew, either = (start_mode(text) for text in ("RESUME", "FROM_NOW", "RESUME_OR_FROM_NOW"))
    assert resume and anew and either
    for folder, mode in ((old, resume), (old, either), (new, either), (None, either), (new, anew), (None, anew)):
        refuse_start(folder, mode)
    for nothing in (new, None):
        with pytest.raises(OptionError, match=r"is RESUME, but .* checkpoint"):
            refuse_start(nothing, resume)
    with pytest.raises(OptionError, match="old has the state of a stream") as raised:
        refuse_start(old, anew)
    assert "RESUME_OR_FROM_NOW" in str(raised.value)


def test_check_says_in_advance_what_the_mode_does(tmp_path: Path) -> None:
    kept = begun(tmp_path / "1")
    for mode, says in (("FROM_BEGINNING", "has the state"), ("RESUME_OR_FROM_BEGINNING", None), ("RESUME", None)):
        outcomes = [
            *Script(options=Options.of({START_MODE.key: mode}), mode="streaming").outcomes(
                TABLES + COUNTS.format(table="bid")
            )
        ]
        claim(kept, stream("bid").code, stream("bid").manifest)
        out = io.StringIO()
        if says is None:
            check_checkpoint(LocalPlace(tmp_path), outcomes, False, out)
            assert out.getvalue() == "stream 1 resumes\n"
        else:
            with pytest.raises(OptionError, match=says):
                check_checkpoint(LocalPlace(tmp_path), outcomes, False, out)


def test_a_checkpoint_of_a_script_without_streams_is_refused(tmp_path: Path) -> None:
    batch = [*Script().outcomes(TABLES + COUNTS.format(table="bid"))]
    with pytest.raises(OptionError, match="no query of the script is a stream"):
        check_checkpoint(LocalPlace(tmp_path), batch, False, io.StringIO())


def test_a_session_takes_the_mode() -> None:
    assert Session(start_mode="from_now").options[START_MODE] == StartMode(False, Place.NOW)
    with pytest.raises((OptionError, DataError)):
        Session(start_mode="now")
