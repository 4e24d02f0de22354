"""Runs in the background: what their checkpoints keep, and the commands about them. One test starts a stream."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.pages import ROOT
from tests.support.small_spark import environment
from tvfsql.cli import main
from tvfsql.cli.background.figures import figures_of
from tvfsql.cli.background.known import know
from tvfsql.cli.background.runs import is_alive, noted, run_in
from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint.owner import owned
from tvfsql.runtime.stream.progress.kept_metrics import SPAN, Kept, rate, with_point

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks of files")
STREAM = """
CREATE TABLE bid (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'datagen', 'rows-per-second' = '100');
CREATE TABLE counts (window_start TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'counts', 'format' = 'json');
INSERT INTO counts SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;
"""
SLEEPS = """
import sys, time, signal
from pathlib import Path
from tvfsql.cli.background.runs import noted
with noted(Path(sys.argv[1]), ["run", "a.sql"]) as codes:
    codes.append(130)
    try:
        print("runs", flush=True)
        time.sleep(60)
    except SystemExit:
        pass
"""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state"


@contextmanager
def running(checkpoint: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that looks like a run in the background, until SIGTERM."""
    checkpoint.mkdir(exist_ok=True)
    know(checkpoint)
    program = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))" + SLEEPS
    command = [sys.executable, "-c", program, str(checkpoint)]
    with subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stdout is not None and one.stdout.readline() == "runs\n"
        try:
            yield one
        finally:
            one.kill()


def reported(stream: Path, end: float, seconds: float = 1.0) -> None:
    """Write what a stream keeps of its micro-batches, the last of which has ended: each took so many seconds."""
    known = {"micro_batch": 3, "micro_batches": 4, "micro_batch_seconds": 4 * seconds, "recent": [(end, 10)]}
    (stream / "metrics.json").write_text(json.dumps(known))


def begun(stream: Path, number: int, at: float, *, done: bool = False) -> None:
    """Write what Spark keeps of a micro-batch that has begun, and that is `done`."""
    for folder in ("offsets", *(["commits"] if done else [])):
        file = stream / "spark" / folder / str(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.utime(file, (at, at))


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    capsys.readouterr()
    assert main(["ps", "--format", "json", *arguments]) == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_a_checkpoint_says_what_runs_and_how_it_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoint = tmp_path / "totals"
    assert listed(capsys) == [] and run_in(checkpoint) is None and not is_alive(checkpoint)
    with running(checkpoint) as process:
        run = run_in(checkpoint)
        assert run is not None and (run.arguments, run.pid, run.code) == (("run", "a.sql"), process.pid, None)
        assert is_alive(checkpoint)
        (one,) = listed(capsys)
        assert one["state"] == "starting" and one["name"] == "totals"  # no stream of it owns a checkpoint yet
        with owned(LocalPlace(checkpoint / "1")):
            (one,) = listed(capsys)
            assert one["state"] == "starting" and one["micro_batch"] is None  # no micro-batch has ended
            reported(checkpoint / "1", time.time())
            assert [each["state"] for each in listed(capsys)] == ["running"]
        with pytest.raises(DataError, match="has a run in the background"), noted(checkpoint, ()):
            raise AssertionError
        assert main(["run", "--detach", "--checkpoint", "totals", "-e", "SELECT 1"]) == 1
        assert main(["stop", "totals"]) == 0
        assert process.wait(10) == 0
    assert [each["state"] for each in listed(capsys)] == ["stopped"]
    assert main(["stop", "totals"]) == 0 and "totals does not run" in capsys.readouterr().err


def test_a_stream_is_starting_until_a_micro_batch_has_ended_and_stuck_in_one_that_lasts(tmp_path: Path) -> None:
    stream = tmp_path / "totals" / "1"
    with running(tmp_path / "totals"), owned(LocalPlace(stream)):
        run = run_in(tmp_path / "totals")
        assert run is not None

        def after(seconds: float) -> tuple[str, int | None, float | None]:
            figures = figures_of(tmp_path / "totals", run.started + seconds)
            return figures.state, figures.micro_batch, figures.micro_batch_seconds

        assert after(5) == ("starting", None, None)
        assert after(90) == ("running", None, None)  # it waits for its first rows
        begun(stream, 0, run.started - 1000)  # which the run before has left open
        assert after(90) == ("starting", 0, pytest.approx(90))
        begun(stream, 0, run.started + 2, done=True)
        reported(stream, run.started + 10)
        begun(stream, 1, run.started + 10, done=True)
        assert after(4000) == ("running", 1, None)  # no rows come
        begun(stream, 2, run.started + 100)
        assert after(150) == ("running", 2, pytest.approx(50))
        assert after(161) == ("stuck", 2, pytest.approx(61))
        reported(stream, run.started + 10, seconds=30)
        assert after(399)[0] == "running" and after(401)[0] == "stuck"


def test_a_run_that_is_killed_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running(tmp_path / "killed") as process:
        process.kill()
        process.wait()
        assert [each["state"] for each in listed(capsys)] == ["killed"]
        (tmp_path / "killed" / "run.log").touch()
        assert main(["logs", "killed"]) == 0 and "killed was killed; tvfsql restart killed" in capsys.readouterr().err


def test_streams_that_were_started_otherwise_are_listed_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with owned(LocalPlace(tmp_path / "others" / "1")):
        (one,) = listed(capsys, "others")
        assert (one["state"], one["late_rows"]) == ("starting", 0)
        assert isinstance(one["uptime"], float) and one["uptime"] < 60
    assert [each["state"] for each in listed(capsys, "others")] == ["stopped"]
    assert main(["ps", "nowhere"]) == 1 and "there is no folder nowhere" in capsys.readouterr().err


def test_a_run_that_ends_at_once_tells_how(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tables.sql").write_text("CREATE TABLE t (i INT) WITH ('connector' = 'print');", encoding="utf-8")
    detached = ["run", "tables.sql", "--detach", "--checkpoint", "one"]
    assert main(detached) == 0 and "one has ended" in capfd.readouterr().err
    (tmp_path / "tables.sql").write_text("SELEC 1;", encoding="utf-8")
    assert main(["restart", "one"]) == 1 and "did you mean SELECT?" in capfd.readouterr().err
    assert [each["state"] for each in listed(capfd)] == ["failed"]
    assert main(["logs", "one"]) == 0
    log = re.sub(r"^== \S+ \S+ ", "== ", capfd.readouterr().out, flags=re.MULTILINE).splitlines()
    command = "tvfsql run tables.sql --checkpoint one"
    assert [re.sub(r"\d+:", "N:", line) for line in log if command in line] == [f"== process N: {command}"] * 2
    assert log[1].startswith("== ended after ") and log[-1].startswith("== failed with exit code 1 after ")
    assert main(["logs", "one", "-n", "2"]) == 0 and capfd.readouterr().out.startswith("hint: did you mean SELECT?\n")
    assert main(["logs", "two"]) == 1 and "known: one" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-e", "SELECT 1"], "--detach needs a checkpoint"),
        (["-e", "SELECT 1", "--checkpoint", "hdfs://h/c"], "on a disk of this machine"),
        (["-", "--checkpoint", "c"], "cannot read its script from stdin"),
    ],
)
def test_what_cannot_run_in_the_background(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--detach", *arguments]) == 1
    assert says in capsys.readouterr().err


def test_rates_are_those_of_the_last_minute() -> None:
    points: list[tuple[float, float]] = []
    for second in range(200):
        points = with_point(points, (float(second), second * 10.0))
    assert len(points) < 40
    assert rate(Kept(points, None, 0), 199) == pytest.approx(10, rel=0.05)
    assert rate(Kept(points, None, 0), 199 + SPAN / 2) == pytest.approx(5, rel=0.1)
    assert rate(Kept(points, None, 0), 300) == 0
    assert rate(Kept([], None, 0), 300) == 0


@pytest.mark.spark
@pytest.mark.slow
def test_a_stream_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started, listed, stopped, and started again, where it goes on."""
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    (tmp_path / "counts.sql").write_text(STREAM, encoding="utf-8")

    def tvfsql(*arguments: str) -> str:
        command = [sys.executable, "-m", "tvfsql", *arguments]
        environ = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert tvfsql("run", "counts.sql", "--detach", "--checkpoint", "counts_kept") == "counts_kept\n"
    try:
        until = time.monotonic() + 120
        figures = figures_of(tmp_path / "counts_kept", time.time())
        while not figures.rows_per_second and time.monotonic() < until:
            time.sleep(0.5)
            figures = figures_of(tmp_path / "counts_kept", time.time())
        assert figures.state == "running" and figures.rows_per_second and figures.lag is not None
        assert re.search(r"counts_kept \| running", tvfsql("ps"))
        assert tvfsql("restart", "counts_kept") == "counts_kept\n"
    finally:
        assert tvfsql("stop", "counts_kept") == "stopped counts_kept\n"
    log = tvfsql("logs", "counts_kept")
    assert "interrupted" not in log and log.count("stopped by tvfsql stop or a signal") == 2
    assert log.count(": tvfsql run counts.sql --checkpoint counts_kept") == 2
    rows = [json.loads(line) for file in (tmp_path / "counts").glob("*.json") for line in file.read_text().splitlines()]
    starts = [row["window_start"] for row in rows]
    assert len({*starts}) == len(starts) > 0 and {row["n"] for row in rows} <= {99, 100}
