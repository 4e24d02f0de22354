"""The shell: its commands and answers without a terminal, its keys through a pipe. No Spark but in the last test."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from tvfsql.api import Session
from tvfsql.errors import DataError, TvfSqlError
from tvfsql.shell import run_shell
from tvfsql.shell.commands import COMMANDS, run_command
from tvfsql.shell.drawing import Screen, draw
from tvfsql.shell.interrupts import interruptible
from tvfsql.shell.pager import pager
from tvfsql.shell.printing import last_query
from tvfsql.shell.splitting import chunks
from tvfsql.shell.state import Shell
from tvfsql.shell.terminal import PrivateHistory, history_file, run_terminal, start_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BID = """CREATE TABLE bid (ts TIMESTAMP(3), price DECIMAL(10, 2), item STRING, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');
"""
Typed = Callable[[str], str]


@pytest.fixture(autouse=True)
def own_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No history and no start file of who runs the tests."""
    monkeypatch.setenv("TVFSQL_HISTORY", str(tmp_path / "history"))
    monkeypatch.setenv("TVFSQL_SHELLRC", "")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Typed:
    """What the shell prints while someone types on a terminal."""

    def type_in(keys: str) -> str:
        with create_pipe_input() as pipe:
            pipe.send_text(f"{keys}\x03\x04")  # whatever is left is discarded, and the shell ends
            code = run_terminal(
                Session(), input=pipe, output=DummyOutput(), start_spark=False, history=InMemoryHistory()
            )
        assert code == 0
        printed = capsys.readouterr()
        return printed.out + printed.err

    return type_in


def piped(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return run_shell(Session())


# ------------------------------------------------------------------------------------------ from a pipe


def test_a_piped_script_goes_on_after_an_error_and_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert piped(f"{BID}SELECT nothing FROM bid;\n\\nope\n\\format csv\nSHOW TABLES;\n", monkeypatch) == 1
    printed = capsys.readouterr()
    assert printed.out == "created table bid\ntable name\nbid\n"
    assert "has no column nothing" in printed.err and "there is no command \\nope" in printed.err


def test_a_piped_script_without_an_error_exits_with_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert piped("SET 'table.local-time-zone' = 'UTC';\nSHOW TABLES\n", monkeypatch) == 0
    assert piped("SHOW TABLES;\nquit;\nSELECT nothing;\n", monkeypatch) == 0
    assert "nothing" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "begin",
    [
        "EXECUTE STATEMENT SET BEGIN",
        "BEGIN STATEMENT SET;",
        "EXPLAIN STATEMENT SET BEGIN",
        "EXPLAIN PHYSICAL EXECUTE STATEMENT SET BEGIN",
        "EXPLAIN PLAN FOR STATEMENT SET BEGIN",
        "EXPLAIN BEGIN STATEMENT SET;",
    ],
)
def test_a_statement_set_is_one_piece(begin: str) -> None:
    lines = [begin, "INSERT INTO a SELECT CASE WHEN b THEN 1 END;", "INSERT INTO b SELECT 2;", "END;", "SHOW TABLES;"]
    assert [text.splitlines() for _, text in chunks(lines)] == [lines[:4], lines[4:]]


# ------------------------------------------------------------------------------------------ commands


@pytest.fixture
def shell() -> Shell:
    shell = Shell(Session(), run_command)
    assert shell.run(BID)
    return shell


def said(shell: Shell, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    shell.run(text)
    printed = capsys.readouterr()
    return printed.out + printed.err


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("\\d", "| bid  | table | filesystem |"),
        ("\\d bid", "DECIMAL(10, 2)"),
        (".tables", "bid"),
        ("\\dt nothing", "| name | kind | connector |"),
        ("\\df date_form", "DATE_FORMAT("),
        ("\\rules two_phase", "split_local_global"),
        ("\\set table.local-time-zone", "UTC"),
        ("\\set table.local-time-zone Europe/Berlin", "set table.local-time-zone = Europe/Berlin"),
        ("\\set execution.runtime-mode=stream", "did you mean streaming?"),
        ("\\set", "tvfsql.rules.disabled"),
        ("\\explain", "there is no last query"),
        ("\\explain physical SELECT item FROM bid", "TableSourceScan"),
        ("\\watch", "there is no last query"),
        ("\\format tabel", "did you mean table?"),
        ("\\x maybe", "one of: auto, off, on"),
        ("\\limit many", "a limit is a number of rows"),
        ("\\i nothing.sql", "the script nothing.sql cannot be read: No such file"),
        ("\\i", "hint: \\i script.sql"),
        ("\\e", "\\e needs a terminal"),
        ("\\timng", "did you mean \\timing?"),
        ("\\zzz", "hint: \\? lists them"),
    ],
)
def test_commands(command: str, expected: str, shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert expected in said(shell, command, capsys)


def test_help_and_the_page_list_every_command(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(shell, "help;", capsys)
    page = (Path(__file__).parents[2] / "docs" / "shell.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert command.summary in told and all(name in told for name in command.names)
        assert f"`{command.names[0]}" in page, command.names


def test_a_script_stops_at_its_first_error_and_names_the_line(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.sql"
    script.write_text("-- a script\n\\format csv\nSHOW TABLES;\nSELECT\n  nothing FROM bid;\nDROP TABLE bid;\n")
    told = said(shell, f"\\i {script}", capsys)
    assert f" --> {script}:5:3" in told and "table name\nbid\n" in told
    assert shell.failed and shell.session.catalog.find("bid")
    assert shell.session.script.folder == ""


def test_results_go_to_a_file_and_back(shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(shell, f"\\o {tmp_path / 'out.txt'}", capsys) == ""
    assert said(shell, "SHOW TABLES;", capsys) == ""
    assert said(shell, "\\o", capsys) == ""
    assert "bid" in (tmp_path / "out.txt").read_text()
    assert "bid" in said(shell, "SHOW TABLES;", capsys)
    assert "cannot be written" in said(shell, f"\\o {tmp_path}/no/folder", capsys)


def test_the_last_query_keeps_a_hint_at_its_end_and_is_then_no_view(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "SELECT item FROM bid /*+ OPTIONS('path' = 'other.csv') */ /*+ BROADCAST(bid) */"
    (outcome,) = shell.session.script.outcomes(f"{query} -- so\n;")
    shell.last = last_query(outcome) or ""
    assert shell.last == query
    assert '.load("other.csv")' in said(shell, "\\explain code", capsys)
    told = said(shell, "SELECT COUNT(*) FROM _;", capsys)
    assert "the last query cannot be the view _: OPTIONS hints are only allowed in queries" in told


def test_a_hint_about_the_mode_can_be_typed(capsys: pytest.CaptureFixture[str]) -> None:
    for mode, hint in ((None, "SET 'execution.runtime-mode' = 'batch'"), ("streaming", "--mode batch")):
        shell = Shell(Session(mode=mode, options={"execution.runtime-mode": "streaming"}), run_command)
        told = said(shell, f"{BID}SELECT item FROM bid ORDER BY price;", capsys)
        assert f"in CREATE TABLE; or {hint}" in told


# ------------------------------------------------------------------------------------------ on a terminal


def test_a_statement_is_typed_over_lines_and_counted(typed: Typed) -> None:
    told = typed(BID.replace("\n", "\r") + "SHOW\rTABLES;\r\\q\r")
    assert "created table bid" in told and re.search(r"1 row, \d", told)


def test_ctrl_c_and_ctrl_d_discard_and_ctrl_d_leaves(typed: Typed) -> None:
    told = typed("SELECT nothing\r\x03SELECT nothing\x04SHOW TABLES;\r\x04")
    assert "nothing" not in told and "0 rows" in told


def test_an_error_leaves_the_session_alive(typed: Typed) -> None:
    told = typed("SELECT nothing FROM there;\rSHOW VIEWS;\r\x04")
    assert "there is no table there" in told and "| view name |" in told


def test_vi_keys(typed: Typed) -> None:
    assert "0 rows" in typed("\\keys vi\rSHOW TABLESSS;\x1bXXA\r")


def test_an_editor_fills_the_prompt(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "edited.sql"
    script.write_text("SHOW TABLES;\n")
    monkeypatch.setenv("VISUAL", f"{sys.executable} -c 'pass'")
    assert "0 rows" in typed(f"\\e {script}\r\r\x04")
    monkeypatch.setenv("VISUAL", "no-such-editor")
    assert "did not work" in typed(f"\\e {script}\r\x04")


def test_the_start_file_runs_first(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rc").write_text(f"\\timing off\n{BID}")
    monkeypatch.setenv("TVFSQL_SHELLRC", str(tmp_path / "rc"))
    told = typed("SHOW TABLES;\r\x04")
    assert "1 row\n" in told


def test_history_is_private_and_keeps_no_passwords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TVFSQL_HISTORY", str(tmp_path / "folder" / "history"))
    path = history_file()
    assert path and stat.S_IMODE(path.stat().st_mode) == 0o600
    history = PrivateHistory(str(path))
    history.append_string("SELECT 1\n  AS one;")
    history.append_string("CREATE TABLE t (a INT) WITH ('connector' = 'jdbc', 'password' = 'hunter2');")
    assert "hunter2" not in path.read_text()
    assert [*PrivateHistory(str(path)).load_history_strings()] == ["SELECT 1\n  AS one;"]
    monkeypatch.setenv("TVFSQL_HISTORY", "")
    assert history_file() is None and start_file() is None


# ------------------------------------------------------------------------------------------ drawing


def test_what_does_not_fit_is_cut_and_told() -> None:
    columns, row = [f"column_{i}" for i in range(20)], [f"value {i}" for i in range(20)]
    text = draw(columns, ["string"] * 20, [row], Screen(width=60))
    assert max(map(len, text.splitlines()[:-1])) <= 60
    assert text.splitlines()[-1].startswith("15 of 20 columns do not fit")
    assert draw(columns, ["string"] * 20, [row], Screen(width=60, expanded="auto")).startswith("-[ row 1 ]")
    assert draw(columns, ["string"] * 20, [row], Screen()).count("column_") == 20


def test_a_long_value_is_cut_by_the_columns_of_the_screen() -> None:
    text = draw(["a", "b"], ["string", "int"], [["漢" * 100, 1]], Screen(width=40))
    assert "漢…" in text and text.splitlines()[1].endswith("b |")


def test_null_is_told_from_a_text() -> None:
    text = draw(["a"], ["string"], [[None], ["NULL"]], Screen(colours=True))
    assert "\x1b[2mNULL\x1b[0m" in text and "| NULL |" in text
    assert "| ∅ " in draw(["a"], ["string"], [[None], ["NULL"]], Screen(null="∅"))


# ------------------------------------------------------------------------------------------ Ctrl-C


PATIENCE = 600  # seconds for anything at all to happen, on a busy machine
INTERRUPTED = """
import signal, threading
from tvfsql.shell.interrupts import interruptible
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests may ignore it
ended = threading.Event()
presses = []
def work():
    print("begun", flush=True)
    ended.wait(600)
    raise ValueError("cancelled")
def cancel(count):
    presses.append(count)
    ended.set()
try:
    interruptible(work, cancel)
except KeyboardInterrupt:
    print("interrupted", presses[0], ended.is_set(), interruptible(lambda: 3, cancel))
"""


def test_an_interrupt_cancels_the_work_and_waits_for_its_end() -> None:
    """In a process of its own: a signal goes to the main thread, which may not be that of the test."""
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, told) == (0, "interrupted 1 True 3\n")


def test_what_the_work_raises_is_raised() -> None:
    with pytest.raises(TvfSqlError, match="of the work"):
        interruptible(_fail, lambda presses: None)


def _fail() -> None:
    raise TvfSqlError("of the work")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
def test_on_a_real_terminal() -> None:
    """The keys of a real one: what is typed while a statement runs is not echoed, and the prompt comes back."""
    import pexpect

    program = "from tvfsql.shell.terminal import run_terminal; from tvfsql.api import Session; "
    program += "run_terminal(Session(), start_spark=False)"
    child = pexpect.spawn(sys.executable, ["-c", program], encoding="utf-8", timeout=PATIENCE, dimensions=(30, 100))
    child.expect("lists the commands")
    child.expect("tvfsql>")
    child.send("SHOW TABLES;\r")
    child.expect("table name")
    child.expect("0 rows")
    child.send("SHOW TABL\x03")
    for _ in range(PATIENCE):  # between two prompts the terminal swallows the key
        child.send("\x04")
        if child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=1) == 0:
            break
    child.close()
    assert child.exitstatus == 0


# ------------------------------------------------------------------------------------------ pager


def test_which_pager(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pager({"PAGER": "less -x 'two words'"}) == ["less", "-x", "two words"]
    assert pager({"PAGER": " "}) == []
    monkeypatch.setenv("PATH", "")
    assert pager({}) == []
    with pytest.raises(DataError, match="the pager less ' did not work"):
        pager({"PAGER": "less '"})


@pytest.fixture
def on_a_terminal(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell that believes that its output is a screen of 24 lines."""
    monkeypatch.setattr(Shell, "on_screen", True)
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("COLUMNS", "60")
    shell.terminal = True
    return shell


def test_long_results_go_to_the_pager_and_short_ones_do_not(
    on_a_terminal: Shell, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", "sed s/^/paged:/")
    capfd.readouterr()
    assert on_a_terminal.run("\\df\n")
    told = capfd.readouterr().out
    assert all(line.startswith("paged:") for line in told.splitlines()) and len(told.splitlines()) > 24
    assert on_a_terminal.run("SHOW TABLES;")
    assert "paged:" not in capfd.readouterr().out
    on_a_terminal.run("\\pager on")
    assert on_a_terminal.run("SHOW TABLES;")
    assert "paged:| bid " in capfd.readouterr().out
    on_a_terminal.run("\\pager off")
    assert on_a_terminal.run("\\df")
    assert "paged:" not in capfd.readouterr().out


def test_a_pager_that_ends_early_or_does_not_exist(
    on_a_terminal: Shell, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", "true")
    assert on_a_terminal.run("\\df")
    monkeypatch.setenv("PAGER", "no-such-pager")
    capfd.readouterr()
    assert not on_a_terminal.run("\\df")
    told = capfd.readouterr()
    assert "ARRAY_" in told.out and "hint: \\pager off" in told.err


@pytest.mark.skipif(not shutil.which("less"), reason="needs less")
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
def test_less_ends_with_q_and_with_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    import pexpect

    monkeypatch.delenv("PAGER", raising=False)
    monkeypatch.delenv("LESS", raising=False)
    program = "from tvfsql.api import Session; from tvfsql.shell.commands import run_command; "
    program += "from tvfsql.shell.state import Shell; "
    program += "shell = Shell(Session(), run_command, terminal=True); "
    program += "[print(shell.run('\\\\df'), each) for each in ('one', 'two')]"
    child = pexpect.spawn(sys.executable, ["-c", program], encoding="utf-8", timeout=PATIENCE, dimensions=(24, 80))
    child.expect("ARRAY_")
    child.expect(r"\n:")
    child.send("q")
    child.expect("True one")
    child.expect(r"\n:")
    child.send("\x03")
    child.expect("True two")
    child.expect(pexpect.EOF)


# ------------------------------------------------------------------------------------------ with Spark


@pytest.mark.spark
def test_rows_are_limited_and_the_last_query_is_a_view(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(Session(spark), run_command, terminal=True)
    shell.settings.limit = 2
    assert shell.run("SELECT * FROM (VALUES (1), (2), (3)) AS t(n) ORDER BY n;")
    told = capsys.readouterr()
    assert "the first 2 rows: \\limit 0 shows all" in told.out and "2 rows, " in told.err
    assert shell.run("SELECT SUM(n) AS total FROM _;")
    assert "|     6 |" in capsys.readouterr().out
    assert shell.run("SELECT total + 1 AS more FROM _;")
    assert "|    7 |" in capsys.readouterr().out
    assert shell.run(f"{shell.last};", again=True)
    assert "|    7 |" in capsys.readouterr().out
    assert not shell.run("SELECT nothing FROM _;")
    for more in (8, 9, 10):
        assert shell.run("WITH added AS (SELECT more + 1 AS more FROM _) SELECT * FROM added -- again\n;"), more
        assert f"|{more:>5} |" in capsys.readouterr().out
