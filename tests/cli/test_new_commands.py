"""`tvfsql init`, `tvfsql completion` and the groups of `tvfsql --help`."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from tvfsql.cli import COMMANDS, main
from tvfsql.cli.arguments import GROUPS, build_parser
from tvfsql.cli.set_up import commands, script


def test_every_command_is_in_one_group_of_the_help() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)
    told = build_parser().format_help()
    assert all(f"{title}:" in told for title in GROUPS)
    assert all(command.description in told for command in commands(build_parser()).values() if command.description)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("tvfsql ex", {"explain"}),
        ("tvfsql explain --ana", {"--analyze"}),
        ("tvfsql explain --format h", {"html"}),
        ("tvfsql run --mode ", {"batch", "streaming"}),
        ("tvfsql completion ", {"bash", "zsh", "fish"}),
        ("tvfsql run scr", {"script.sql"}),
    ],
)
def test_bash_completes(typed: str, offered: set[str], tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    (tmp_path / "script.sql").touch()
    (tmp_path / "tvfsql.bash").write_text(script(build_parser(), "bash"))
    words = typed.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    line = f"source tvfsql.bash; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _tvfsql; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == "" and offered <= {*done.stdout.split()}
    assert offered == {*done.stdout.split()} or typed.startswith("tvfsql completion")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_their_script(shell: str, tmp_path: Path) -> None:
    text = script(build_parser(), shell)
    assert "explain" in text and ("analyze" in text and "mermaid" in text)
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell} to read it")
    (tmp_path / "script").write_text(text)
    assert subprocess.run([shell, "-n", str(tmp_path / "script")]).returncode == 0


def test_init_writes_a_project_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "bids")
    assert main(["init", folder]) == 0
    printed = capsys.readouterr()
    assert "totals.sql" in printed.out and f"cd {folder}; tvfsql run totals.sql; tvfsql test" in printed.err
    assert main(["check", f"{folder}/totals.sql"]) == 0
    assert main(["init", folder]) == 1
    assert "totals.sql exists" in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_project_s_own_test_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path)]) == 0
    assert main(["test", str(tmp_path)]) == 0
    assert "1 passed, 0 failed" in capsys.readouterr().out


def test_peek_says_that_no_broker_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # it does not listen
        port = taken.getsockname()[1]
        for servers in (f"127.0.0.1:{port}", "127.0.0.1", f"127.0.0.1:{port},127.0.0.1:99999"):
            assert main(["peek", f"kafka://{servers}/orders"]) == 1
            assert f"error: no broker answers at {servers}" in capsys.readouterr().err
