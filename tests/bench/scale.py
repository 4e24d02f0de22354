"""One task of a large cluster, run in this process: what a micro-batch costs there, and which number grows first.

The local phase of one task and the operator of one key group run with as many rows as their share of a stream, by the
runtime's own code with state in memory. The sums of a cluster are products. Nothing is said about the network, Spark's
scheduler, or the cost of a state call.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from pyspark.sql import Row

from tests.bench.report import say
from tvfsql.plan.window import Hop, Sliced, Tumble
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.exchange.local_windows import LocalSlices
from tvfsql.runtime.stream.operator.micro_batch import micro_batch
from tvfsql.runtime.stream.state.chunk_blocks import unpacked
from tvfsql.runtime.stream.state.memory import MemoryState
from tvfsql.runtime.stream.windows.slicing_operator import SlicingOperator

RATE = 1_000_000  # events per second
KEYS = 1_000_000_000
MICRO_BATCH = 10  # seconds
LAYOUT = SliceRows(1, (("rows", "sum"), ("total", "sum")))
READ_ROWS = 10_000  # rows of an Arrow batch that Spark hands over
MINUTE = 60_000
WINDOWS: dict[str, Sliced] = {"TUMBLE 1 min": Tumble(MINUTE), "HOP 1 min/1 h": Hop(MINUTE, 60 * MINUTE)}


@dataclass
class Counted(MemoryState):
    """State in memory that counts the calls."""

    calls: dict[str, int] = field(default_factory=lambda: {"all": 0})

    def __getattribute__(self, name: str) -> object:
        if name in ("index", "set_index", "chunk", "set_chunk", "remove_chunk"):
            object.__getattribute__(self, "calls")["all"] += 1
        return object.__getattribute__(self, name)


@dataclass(frozen=True)
class Cluster:
    """`tasks` read the source, and as many key groups hold the state."""

    tasks: int

    @property
    def rows_of_task(self) -> int:
        return RATE * MICRO_BATCH // self.tasks


def source(rows: int, start: int, groups: Sequence[int], seed: int) -> Iterator[pa.RecordBatch]:
    """Rows of random keys at times from `start` (epoch ms) on, within a micro-batch; the watermark is their time."""
    draw = np.random.default_rng(seed)
    times = (start + np.sort(draw.integers(0, MICRO_BATCH * 1000, rows))) * 1000
    keys = draw.integers(0, KEYS, rows)
    labels = np.array(groups, dtype=np.int32)[keys % len(groups)]
    columns = {
        "mark": pa.array(times).view(pa.timestamp("us")),
        "control": pa.nulls(rows, pa.int64()),
        "channel": pa.array(["source"] * rows),
        "group": pa.array(labels),
        "key": pa.array(keys),
        "time": pa.array(times).view(pa.timestamp("us")),
        "rows": pa.array(np.ones(rows, dtype=np.int64)),
        "total": pa.array(draw.integers(0, 1000, rows)),
    }
    batch = pa.RecordBatch.from_pydict(columns)
    return (batch.slice(at, READ_ROWS) for at in range(0, rows, READ_ROWS))


def run(tasks: Sequence[int] = (400, 4_000)) -> None:
    """Print for each cluster what one task sends, what one key group receives and keeps, and their products."""
    say(f"\n{RATE:,} events/s, {KEYS:,} keys, micro-batches of {MICRO_BATCH} s; sums of a cluster are products")
    for cluster in map(Cluster, tasks):
        _local(cluster)
        for name, window in WINDOWS.items():
            _global(cluster, name, window)


def _local(cluster: Cluster) -> None:
    labels = key_group_labels(cluster.tasks)
    phase = LocalPhase(LocalSlices(LAYOUT, Tumble(MINUTE)), labels)
    for seed in range(2):  # the first warms up
        started = time.process_time()
        sent = list(phase(source(cluster.rows_of_task, 0, labels, seed)))
        seconds = time.process_time() - started
    payloads = [row for batch in sent for row in batch.column("payload").to_pylist() if row is not None]
    messages = sum(batch.num_rows for batch in sent) - len(payloads)
    bytes_sent = sum(batch.nbytes for batch in sent)
    say(
        f"\n{cluster.tasks:,} tasks and key groups: {cluster.rows_of_task:,} rows a task and micro-batch",
        f"  local phase of a task: {seconds:.2f} s of CPU, {len(payloads):,} payloads of "
        f"{cluster.rows_of_task / len(payloads):.0f} rows, {messages:,} channel messages, {bytes_sent / 1e6:.1f} MB",
        f"  shuffle of all tasks: {cluster.tasks * (len(payloads) + messages):,} rows, "
        f"{cluster.tasks * bytes_sent / 1e9:.1f} GB; the data in it is "
        f"{RATE * MICRO_BATCH * 32 / 1e9:.1f} GB",
    )


def _global(cluster: Cluster, name: str, window: Sliced) -> None:
    """Micro-batches of one key group until the first slice, a minute, is complete."""
    state, operator = Counted(), SlicingOperator(window, LAYOUT, "rows")
    label = key_group_labels(cluster.tasks)[0]
    rows = max(1, cluster.rows_of_task // cluster.tasks)  # of each task to this key group
    senders = min(cluster.tasks, cluster.rows_of_task)
    spent, calls, received = [], [], 0
    for number in range(60 // MICRO_BATCH + 1):
        sent = []
        for sender in range(senders):
            phase = LocalPhase(LocalSlices(LAYOUT, Tumble(MINUTE)), (label,))
            start = number * MICRO_BATCH * 1000
            seed = number * senders + sender
            sent += [Row(**row, now=0) for out in phase(source(rows, start, (label,), seed)) for row in out.to_pylist()]
        received, before, started = len(sent), state.calls["all"], time.process_time()
        reports = list(micro_batch(operator, state, None, sent))
        spent.append(time.process_time() - started)
        calls.append(state.calls["all"] - before)
    report = reports[-1].report
    slices = [] if state.kept is None else [batch for _, batch in unpacked(state.kept[2], state.chunks)]
    of_slice = RATE * 60 // cluster.tasks
    kept = sum(batch.num_rows for batch in slices)
    each = report.state_bytes / kept if kept else 0.0
    open_slices = window.size // MINUTE
    of_group = each * of_slice * open_slices / 1e9
    say(
        f"  {name}, a key group: {received:,} messages, {np.median(spent):.2f} s of CPU "
        f"(longest {max(spent):.2f}), {np.median(calls):.0f} state calls (most {max(calls)})",
        f"    state: {each:.0f} bytes a key and slice, {of_slice:,} keys a slice, {open_slices} slices: "
        f"{of_group:.2f} GB, of all {cluster.tasks * of_group:,.0f} GB",
    )
