"""Faults around streams: each is told in a line, as what it is, and what to do about it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError

from tvfsql import TvfSqlError, compile
from tvfsql.api.program import code_of
from tvfsql.api.script import Script, queries_of
from tvfsql.errors import DataError, OptionError, UnsupportedError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.host.failures import LOSES_ROWS, failure, require_settings, translated
from tvfsql.runtime.stream.driver.checkpoints import claim
from tvfsql.runtime.stream.driver.source_files import missing_files
from tvfsql.runtime.stream.progress.files_read import files_read, planned_files
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT, advance, ended

TABLES = """
CREATE TABLE bid (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json' {options});
CREATE TABLE one (ends TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'one', 'format' = 'json');
CREATE TABLE two (ends TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'two', 'format' = 'json');
"""
COUNTS = """SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '{}' SECOND))
GROUP BY window_start, window_end"""


def program(sql: str, options: str = "") -> str:
    """The main part of the program of a script of streams."""
    script = Script(mode="streaming")
    found = [queries_of(outcome) for outcome in script.outcomes(TABLES.format(options=options) + sql)]
    return code_of([queries for queries in found if queries]).partition('if __name__ == "__main__":\n')[2]


def one_line(error: TvfSqlError) -> bool:
    return "\n" not in error.message and error.hint is not None


def test_streams_of_a_set_start_at_once_and_those_of_other_statements_one_after_the_other() -> None:
    inserts = [f"INSERT INTO {name} {COUNTS.format(seconds)};" for name, seconds in (("one", 5), ("two", 7))]
    apart, together = program("".join(inserts)), program(f"EXECUTE STATEMENT SET BEGIN {''.join(inserts)} END;")
    assert [text.count("run_streams(") for text in (apart, together)] == [2, 1]
    for text in (apart, together):
        assert text.index('checkpoint="checkpoint/1"') < text.index('checkpoint="checkpoint/2"')
    assert 'writes=["two"]' in apart


def test_a_program_says_what_options_make_of_its_sources() -> None:
    idle = "SET 'table.exec.source.idle-timeout' = '5 s'; SET 'tvfsql.source.lossy-idle-advance' = 'true';"
    text = program(f"{idle} SET 'tvfsql.source.missing-files' = 'count'; {COUNTS.format(5)};")
    assert 'Source("bid", timeout=5_000)' in text
    assert "count_missing_files=True" in text and "idle_advance=True" in text
    assert "checkpoint" not in text
    assert 'Source("bid", cleaned=True)' in program(COUNTS.format(5), ", 'cleanSource' = 'delete'")


def test_a_checkpoint_belongs_to_the_query_and_not_to_how_it_is_run(tmp_path: Path) -> None:
    code = compile(TABLES.format(options="") + f"INSERT INTO one {COUNTS.format(5)}", mode="streaming").code
    claim(LocalPlace(tmp_path / "1"), code)
    claim(LocalPlace(tmp_path / "1"), code.replace('"checkpoint/1"', '"elsewhere"'))
    with pytest.raises(OptionError, match="belongs to another query"):
        claim(LocalPlace(tmp_path / "1"), code.replace("5_000", "6_000"))


def test_only_the_owner_reads_the_program_of_a_checkpoint(tmp_path: Path) -> None:
    claim(LocalPlace(tmp_path / "1"), "password")
    assert stat.S_IMODE((tmp_path / "1" / "query.py").stat().st_mode) == 0o600


def damaged(folder: Path) -> None:
    folder.mkdir()
    (folder / "query.py").write_bytes(b"\xff\xfe\x00")


def a_folder(folder: Path) -> None:
    (folder / "query.py").mkdir(parents=True)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda folder: folder.write_text("no folder"), "is a file"),
        (damaged, "is not UTF-8 text"),
        (a_folder, "query.py: Is a directory"),
    ],
    ids=["file", "not-utf-8", "folder"],
)
def test_a_checkpoint_that_cannot_be_one_is_told_in_a_line(make: Any, says: str, tmp_path: Path) -> None:
    make(tmp_path / "1")
    with pytest.raises(DataError, match=says) as raised:
        claim(LocalPlace(tmp_path / "1"), "query")
    assert one_line(raised.value)


def test_a_checkpoint_below_a_file_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(DataError, match="file is a file") as raised:
        claim(LocalPlace(tmp_path / "file" / "1"), "query")
    assert one_line(raised.value)


@pytest.mark.parametrize("text", ["", '{"$contr', "[]", "{}", "\xff"])
def test_an_empty_or_half_control_file_is_no_message(text: str, tmp_path: Path) -> None:
    advance(LocalPlace(tmp_path), END_OF_INPUT)
    assert ended(LocalPlace(tmp_path))
    (tmp_path / "000000009.json").write_text(text, encoding="latin-1")
    with pytest.raises(DataError, match=r"000000009\.json is not a control message") as raised:
        ended(LocalPlace(tmp_path))
    assert one_line(raised.value)


def no_spark() -> Any:
    raise AssertionError("local files need no Spark")


def test_files_that_are_gone_are_those_of_the_micro_batch_and_not_of_another(tmp_path: Path) -> None:
    """Spark's log of a source, with an entry that holds those before it too, and a name that is escaped."""
    log = tmp_path / "spark" / "sources" / "1"
    log.mkdir(parents=True)
    names = ["here.json", "gone before.json", "gone.json", "later.json"]
    (tmp_path / names[0]).write_text("{}")
    entries = [
        json.dumps({"path": (tmp_path / name).as_uri(), "timestamp": 1, "batchId": number})
        for number, name in enumerate(names)
    ]
    (log / "1.compact").write_text("\n".join(["v1", *entries[:2]]))
    (log / "2").write_text("\n".join(["v1", entries[2]]))
    (log / "3").write_text("\n".join(["v1", entries[3]]))
    control = {"description": f"FileStreamSource[file:{tmp_path}/control]", "startOffset": None, "endOffset": None}

    def missing(start: Any, end: Any) -> list[str]:
        files = {"description": "FileStreamSource[file:/in]", "startOffset": start, "endOffset": end}
        place = LocalPlace(tmp_path)
        read = files_read({"sources": [control, files]}, place, place / "control")
        return [Path(path).name for path in missing_files(read, no_spark)]

    assert missing(None, {"logOffset": 0}) == []
    assert missing('{"logOffset":0}', '{"logOffset":2}') == ["gone before.json", "gone.json"]
    assert missing({"logOffset": 2}, {"logOffset": 2}) == []

    offsets = tmp_path / "spark" / "offsets"
    offsets.mkdir()
    for number, line in enumerate(("-", '{"logOffset":0}', '{"logOffset":2}', '{"row":7}')):
        (offsets / str(number)).write_text(f'v1\n{{}}\n{{"logOffset":0}}\n{line}')

    def planned(number: int) -> list[str]:
        place = LocalPlace(tmp_path)
        return [Path(file.path).name for file in planned_files(number, place, place / "control")]

    assert [planned(number) for number in range(5)] == [[], [], names[1:3], [], []]


def test_a_file_that_is_gone_is_an_error_unless_it_is_to_be_counted(tmp_path: Path) -> None:
    from tvfsql.runtime.stream.driver.running import StreamDriver
    from tvfsql.runtime.stream.driver.stream import Stream
    from tvfsql.runtime.stream.lives.idle_sources import Source
    from tvfsql.runtime.stream.progress.counts import MISSING, totals

    log = tmp_path / "spark" / "sources" / "0"
    log.mkdir(parents=True)
    (log / "0").write_text(f'v1\n{{"path":"file://{tmp_path}/gone.json","timestamp":1,"batchId":0}}')
    source = {"description": "FileStreamSource[file:/in]", "startOffset": None, "endOffset": {"logOffset": 0}}
    progress: Any = {"batchId": 0, "sources": [source]}
    control = LocalPlace(tmp_path) / "control"

    def run(**given: Any) -> StreamDriver:
        return StreamDriver(SimpleNamespace(), Stream(lambda: None, LocalPlace(tmp_path), **given))  # type: ignore[arg-type, return-value]

    control.make()
    with pytest.raises(DataError, match=r"gone\.json was deleted before it was read") as raised:
        run().checks.after(progress, control)
    with pytest.raises(DataError, match=r"gone\.json was deleted before it was read"):
        run()._to_end(LocalPlace(tmp_path))  # a later run does not go on without a word
    assert one_line(raised.value)
    counting = run(count_missing_files=True)
    counting.checks.after(progress, control)
    assert totals([counting.counts])[MISSING] == 1
    cleaned = run(sources=(Source("bid", cleaned=True),))
    cleaned.checks.after(progress, control)
    assert MISSING not in totals([cleaned.counts])


STREAM = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: {} SQLSTATE: XXKST
=== Streaming Query ===
Logical Plan: [CANNOT_LOAD_STATE_STORE] No space left on device, a name of the user's"""
JAVA = """An error occurred while calling o923.start.
: {}
\tat org.apache.hadoop.fs.RawLocalFileSystem.mkdirs(RawLocalFileSystem.java:892)
\tat org.apache.spark.sql.execution.streaming.state.RocksDBException.of(X.scala:1)"""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (STREAM.format("Job aborted: java.io.IOException: No space left on device"), "a disk is full"),
        (
            STREAM.format("IOException: Mkdirs failed to create file:/proc/out (exists=false)"),
            "the folder /proc/out cannot",
        ),
        (
            JAVA.format("org.apache.hadoop.fs.ParentNotDirectoryException: Parent path is not a directory: file:/a/b"),
            "/a/b cannot be written",
        ),
        (STREAM.format("java.io.FileNotFoundException: /out/x.json (Permission denied)"), "/out/x.json cannot be"),
        (STREAM.format("java.nio.file.FileSystemException: /out/x: Read-only file system"), "a folder cannot be"),
        (
            STREAM.format("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log."),
            "another run uses the same checkpoint",
        ),
        (STREAM.format("[CANNOT_LOAD_STATE_STORE.CANNOT_READ_CHECKPOINT] An error"), "the checkpoint is damaged"),
        (STREAM.format("java.lang.IllegalStateException: batch 4 doesn't exist"), "the checkpoint is damaged"),
        (STREAM.format("[MALFORMED_LOG_FILE] Log file was malformed"), "the checkpoint is damaged"),
        (STREAM.format("Python worker failed to connect back."), "a Python worker of Spark has ended"),
        (STREAM.format("Job aborted: java.lang.OutOfMemoryError: Java heap space"), "Spark is out of memory"),
        (STREAM.format("something else"), "the stream failed: something else"),
    ],
    ids=lambda text: text[-30:],
)
def test_a_fault_of_disks_and_processes_is_told_as_one(said: str, told: str) -> None:
    """What a plan or a stack names is not what happened."""
    error = failure(said)
    assert isinstance(error, DataError)
    assert error.message.startswith(told) and "\n" not in error.message


def test_what_spark_refuses_is_still_said_to_be_that() -> None:
    error = failure('[DATATYPE_MISMATCH.X] Cannot resolve "(a + t)". SQLSTATE: 42K09; line 1 pos 0;\n\'Project')
    assert str(error) == 'error: Spark failed: [DATATYPE_MISMATCH.X] Cannot resolve "(a + t)".'
    error = failure("[UNSUPPORTED_FEATURE.X] no: '/a' is no column\n\tat org.apache.spark.X.y(X.scala:1)")
    assert isinstance(error, UnsupportedError)
    assert error.message == "Spark failed: [UNSUPPORTED_FEATURE.X] no: '/a' is no column"


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (Py4JNetworkError("Answer from Java side is empty"), "Spark's Java process has ended"),
        (ConnectionRefusedError(111, "Connection refused"), "Spark's Java process has ended"),
        (OSError(28, "No space left on device", "/c/1/control"), "/c/1/control: No space left on device"),
    ],
    ids=["network", "refused", "disk"],
)
def test_a_java_that_has_ended_and_a_full_disk_are_told_in_a_line(raised: Exception, told: str) -> None:
    with pytest.raises(DataError) as error, translated():
        raise raised
    assert error.value.message == told


def test_who_reads_our_rows_may_go() -> None:
    with pytest.raises(BrokenPipeError), translated():
        raise BrokenPipeError


def test_a_session_that_loses_rows_of_files_is_refused() -> None:
    def session(**given: str) -> Any:
        values = {"spark.sql.ansi.enabled": "true", **dict.fromkeys(LOSES_ROWS, "false"), **given}
        return SimpleNamespace(conf=SimpleNamespace(get=values.get))

    require_settings(session())
    for key in LOSES_ROWS:
        with pytest.raises(OptionError, match=f"{key} is on"):
            require_settings(session(**{key: "true"}))
    with pytest.raises(OptionError, match="ANSI"):
        require_settings(session(**{"spark.sql.ansi.enabled": "false"}))
