"""A stream that is killed again and again. `python -m tests.support.soak --rows 10000000 --kills 100` runs each of its
streams once undisturbed and once with kills, and compares what their tables hold: nothing lost, nothing doubled.

Killed are, in turn: the whole process tree, Java alone, a Python worker alone; or it is stopped by SIGTERM or SIGINT.
Rows are in order as far as watermarks go, so no row is late but those that are far behind, and these are late in any
micro-batch. It needs room for the rows, and memory for the windows of a file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PATIENCE = 900  # seconds until something must have happened
ROWS_A_SECOND = 100  # of event time
TUMBLE = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
BY_WINDOW = "GROUP BY window_start, window_end"
BID = "ts TIMESTAMP(3), item STRING, n BIGINT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
TABLE = "CREATE TABLE {} ({}) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'parquet'{});\n"


@dataclass(frozen=True)
class Work:
    """A stream: the columns of its tables, and the statements that fill them."""

    tables: dict[str, str]
    sql: str


WORKS = {
    "hop": Work(
        {"totals": "ends TIMESTAMP(3), item STRING, bids BIGINT, total BIGINT, numbers BIGINT"},
        "INSERT INTO totals SELECT window_end, item, COUNT(*), SUM(n), COUNT(DISTINCT n) FROM "
        "TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '1' MINUTE)) "
        "GROUP BY window_start, window_end, item;",
    ),
    "session": Work(
        {"visits": "starts TIMESTAMP(3), ends TIMESTAMP(3), n BIGINT, bids BIGINT"},
        "INSERT INTO visits SELECT window_start, window_end, n, COUNT(*) FROM "
        "TABLE(SESSION(TABLE bid PARTITION BY n, DESCRIPTOR(ts), INTERVAL '12' SECOND)) "
        "GROUP BY window_start, window_end, n;",
    ),
    "set": Work(
        {
            "by_item": "ends TIMESTAMP(3), item STRING, bids BIGINT",
            "by_number": "ends TIMESTAMP(3), n BIGINT, bids BIGINT",
        },
        "EXECUTE STATEMENT SET BEGIN "
        f"INSERT INTO by_item SELECT window_end, item, COUNT(*) FROM {TUMBLE.format('bid')} {BY_WINDOW}, item;"
        f"INSERT INTO by_number SELECT window_end, n, COUNT(*) FROM {TUMBLE.format('bid')} {BY_WINDOW}, n; END;",
    ),
    "late": Work(
        {
            "totals": "ends TIMESTAMP(3), item STRING, bids BIGINT",
            "too_late": "n BIGINT, item STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3)",
        },
        "SET 'tvfsql.late-output' = 'too_late'; INSERT INTO totals SELECT window_end, item, bids FROM (SELECT "
        f"window_end, item, COUNT(*) AS bids, SUM(n) AS total FROM {TUMBLE.format('bid')} {BY_WINDOW}, item);",
    ),
    "deduplicate": Work(
        {"firsts": "ts TIMESTAMP(3), item STRING, n BIGINT"},
        "INSERT INTO firsts SELECT ts, item, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item, n ORDER BY ts) "
        "AS place FROM bid) WHERE place = 1;",
    ),
    "join": Work(
        {"pairs": "ends TIMESTAMP(3), item STRING, bids BIGINT, total BIGINT"},
        "INSERT INTO pairs SELECT a.window_end, a.item, a.bids, b.total FROM "
        f"(SELECT window_start, window_end, item, COUNT(*) AS bids FROM {TUMBLE.format('bid')} {BY_WINDOW}, item) AS a "
        "JOIN "
        f"(SELECT window_start, window_end, item, SUM(n) AS total FROM {TUMBLE.format('bid')} {BY_WINDOW}, item) AS b "
        "ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.item = b.item;",
    ),
}


@dataclass(frozen=True)
class Sizes:
    rows: int
    files: int

    @property
    def far(self) -> int:
        """By how many ms late rows are behind: late even if several files are one micro-batch."""
        return 10 * self.rows // self.files * 1000 // ROWS_A_SECOND + 60_000


def write_rows(folder: Path, sizes: Sizes, draw: random.Random) -> None:
    """Files in the order of their times: rows out of order by up to 4 seconds, and, after the first files, one in two
    hundred late."""
    folder.mkdir(parents=True)
    schema = pa.schema([("ts", pa.timestamp("ms")), ("item", pa.string()), ("n", pa.int64())])
    size = sizes.rows // sizes.files
    for file in range(sizes.files):
        times, items, numbers = [], [], []
        for i in range(file * size, (file + 1) * size):
            late = sizes.far if file > 12 and draw.randrange(200) == 0 else draw.randrange(4000)
            times.append(1_600_000_000_000 + i * 1000 // ROWS_A_SECOND - late)
            items.append(draw.choice(("", None, *"abcdefgh")))
            numbers.append(draw.randrange(1200))
        path = folder / f"{file:05d}.parquet"
        pq.write_table(pa.table([pa.array(times, schema.types[0]), items, numbers], schema=schema), path)
        os.utime(path, (1_600_000_000 + file, 1_600_000_000 + file))


def script(work: Work, source: str, out: Path) -> str:
    """The statements of a stream; its tables are below `out`."""
    tables = (TABLE.format(name, columns, out / name, "") for name, columns in work.tables.items())
    return source + "".join(tables) + work.sql


@dataclass
class Run:
    """A process of `tvfsql run`, in a session of its own."""

    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, file: Path, checkpoint: Path, jars: str) -> Run:
        command = [
            sys.executable,
            "-m",
            "tvfsql",
            "run",
            "--mode",
            "streaming",
            "--final",
            "--checkpoint",
            str(checkpoint),
        ]
        quick = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'"
        env = os.environ | {"PYSPARK_SUBMIT_ARGS": f"{quick}{jars} pyspark-shell"}
        log = file.with_suffix(".log").open("ab")
        return cls(subprocess.Popen([*command, str(file)], start_new_session=True, env=env, stdout=log, stderr=log))

    def members(self, *words: str) -> list[int]:
        """Its processes whose command line has all of these words, the youngest last."""
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=,sess=,args="], capture_output=True, text=True, check=True
        ).stdout
        lines = (line.split(None, 2) for line in listed.splitlines())
        return [
            int(pid) for pid, of, args in lines if of == str(self.process.pid) and all(word in args for word in words)
        ]

    def kill_tree(self) -> None:
        for pid in (self.process.pid, *self.members()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def kill_one(self, *words: str) -> bool:
        """Whether there was a process to kill."""
        found = self.members(*words)
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(found[-1], signal.SIGKILL)
        return bool(found)


WAYS: dict[str, Callable[[Run], bool]] = {
    "tree": lambda run: bool(run.members()),
    "java": lambda run: run.kill_one("org.apache.spark"),
    "worker": lambda run: run.kill_one("python", "daemon"),
    "SIGTERM": lambda run: run.process.send_signal(signal.SIGTERM) is None,
    "SIGINT": lambda run: run.process.send_signal(signal.SIGINT) is None,
}


def commits(checkpoint: Path) -> int:
    """How many micro-batches all streams of a checkpoint have completed."""
    return sum(1 for file in checkpoint.glob("*/spark/commits/*") if file.name.isdigit())


def killed(file: Path, checkpoint: Path, kills: int, jars: str, draw: random.Random) -> Counter[str]:
    """Run a stream to its end, with so many kills at most. Gives how often each way was taken while it ran."""
    done: Counter[str] = Counter()
    ways = [list(WAYS)[i % len(WAYS)] for i in range(kills)]
    draw.shuffle(ways)
    for way in ways:
        run, wanted = Run.start(file, checkpoint, jars), commits(checkpoint) + draw.choice((0, 1, 1, 1, 2))
        try:
            wait_for(lambda run=run, wanted=wanted: run.process.poll() is not None or commits(checkpoint) >= wanted)
            time.sleep(draw.random())
            if run.process.poll() is None and WAYS[way](run):
                done[way] += 1
                if way == "worker":  # Spark may do without it
                    after = commits(checkpoint) + 2
                    wait_for(
                        lambda run=run, after=after: run.process.poll() is not None or commits(checkpoint) >= after
                    )
                elif way != "tree":
                    assert run.process.wait(PATIENCE) != 0, f"{way}: ends with 0, as if nothing had happened"
        finally:
            run.kill_tree()
    assert Run.start(file, checkpoint, jars).process.wait() == 0, f"see {file.with_suffix('.log')}"
    return done


def wait_for(seen: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not seen():
        assert time.monotonic() < until, "nothing happens"
        time.sleep(0.05)


def compared(spark: Any, work: Work, calm: Path, out: Path) -> Iterator[tuple[str, int, int, int]]:
    """Of each table: its rows, and how many it lacks and has too many."""
    for name in work.tables:
        wanted, found = spark.read.parquet(str(calm / name)), spark.read.parquet(str(out / name))
        yield name, wanted.count(), wanted.exceptAll(found).count(), found.exceptAll(wanted).count()


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=10_000_000, help="of the source, for each stream")
    arguments.add_argument("--kills", type=int, default=100, help="of all streams together")
    arguments.add_argument("--only", choices=WORKS, action="append", help="these streams")
    arguments.add_argument("--kafka", action="store_true", help="read a topic instead of files")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--folder", type=Path, help="where rows, checkpoints and tables are; they stay")
    given = arguments.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs, and their children, ignore it
    works = {name: WORKS[name] for name in given.only or WORKS}
    kills = -(-given.kills // len(works))
    sizes = Sizes(given.rows, max(24, 6 * kills))
    folder = given.folder or Path(tempfile.mkdtemp(prefix="tvfsql-soak-"))
    write_rows(folder / "rows", sizes, random.Random(given.seed))
    with source_of(folder / "rows", sizes, given.kafka) as (spark, source, jars):
        bad = 0
        for name, work in works.items():
            began, draw = time.monotonic(), random.Random(f"{given.seed} {name}")
            (folder / name).mkdir()
            for run in ("calm", "killed"):
                (folder / name / f"{run}.sql").write_text(script(work, source, folder / name / run))
            calm = Run.start(folder / name / "calm.sql", folder / name / "calm-state", jars)
            assert calm.process.wait() == 0, f"see {folder / name / 'calm.log'}"
            state = folder / name / "killed-state"
            done = killed(folder / name / "killed.sql", state, kills, jars, draw)
            told = {"stream": name, "source": "kafka" if given.kafka else "files", "rows": given.rows, "kills": done}
            told |= {"micro-batches": commits(state), "seconds": round(time.monotonic() - began)}
            for table, rows, lost, doubled in compared(spark, work, folder / name / "calm", folder / name / "killed"):
                told[table] = {"rows": rows, "lost": lost, "doubled": doubled}
                bad += lost + doubled
            print(json.dumps(told), flush=True)
    if not given.folder:
        shutil.rmtree(folder)
    return bool(bad)


@contextlib.contextmanager
def source_of(rows: Path, sizes: Sizes, kafka: bool) -> Iterator[tuple[Any, str, str]]:
    """A Spark to compare with, the statement that creates the source, and the jars that it needs."""
    from tests.support.broker import Broker
    from tests.support.server_jars import jars_in
    from tvfsql.runtime.local_spark.start import start_spark

    jars = f" --jars {jars_in('kafka', 'client')}" if kafka else ""
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[1]{jars} pyspark-shell"
    spark = start_spark()
    if not kafka:
        yield spark, TABLE.format("bid", BID, rows, ", 'maxFilesPerTrigger' = '1'"), jars
        return
    home = rows.parent / "kafka"
    home.mkdir()
    broker = Broker(home)
    try:
        broker.make_topic(spark, "bid", 1)
        for file in sorted(rows.iterdir()):
            values = spark.read.parquet(str(file)).coalesce(1).selectExpr("to_json(struct(*)) AS value")
            values.write.format("kafka").options(**{"kafka.bootstrap.servers": broker.servers, "topic": "bid"}).save()
        options = f"""WITH ('connector' = 'kafka', 'topic' = 'bid', 'format' = 'json',
            'properties.bootstrap.servers' = '{broker.servers}', 'scan.startup.mode' = 'earliest-offset',
            'scan.bounded.mode' = 'latest-offset', 'maxOffsetsPerTrigger' = '{sizes.rows // sizes.files}');\n"""
        yield spark, f"CREATE TABLE bid ({BID}) {options}", jars
    finally:
        broker.stop()


if __name__ == "__main__":
    sys.exit(main())
