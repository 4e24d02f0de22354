"""The measurements of a query, by operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from tvfsql.api.analyze.attributed import attributed
from tvfsql.plan.node import Node
from tvfsql.runtime.measured import (
    PARTITIONS,
    ROWS,
    SHUFFLE,
    SPILL,
    SPREAD,
    STATE_BYTES,
    SparkNode,
    SparkRun,
)

NOTABLE = 0.25  # of the time, as in page.js
SAME_ROWS = ("Project", "Sort", "ColumnarToRow", "AQEShuffleRead", "Exchange", "CollectMetrics", "ArrowEvalPython")


@dataclass(frozen=True)
class Figures:
    """The measurements of one operator: rows, time in ms, sizes in bytes. None: Spark does not report it. `nodes` are
    the numbers of Spark's nodes.

    `skew` is the size of the largest partition divided by that of the median one.
    """

    rows_in: int | None = None
    rows_out: int | None = None
    time: float | None = None
    shuffle: float | None = None
    spill: float | None = None
    partitions: int | None = None
    skew: float | None = None
    state_bytes: float | None = None
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class MicroBatch:
    """A micro-batch of a stream: its number, rows in and out, time in ms, and the state of its stateful operators at
    its end.
    """

    number: int
    rows_in: int
    rows_out: int
    time: float
    watermark: str | None = None
    late: int = 0
    state_rows: int | None = None
    state_bytes: int | None = None
    phases: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """A query that has run. `rows` is the number of rows in its result. `seconds` is the time from start to end,
    including planning.

    `run` is the plan that Spark ran; for a stream, the sum over its micro-batches. None if Spark does not report it.
    `runs` are those of the micro-batches.
    """

    plan: Node
    rows: int
    seconds: float
    run: SparkRun | None
    micro_batches: tuple[MicroBatch, ...] = ()
    runs: tuple[SparkRun, ...] = ()

    @cached_property
    def owners(self) -> dict[int, Node]:
        """The operator of each of Spark's nodes, by number."""
        return {} if self.run is None else attributed(self.plan, self.run.root)

    @cached_property
    def figures(self) -> dict[int, Figures]:
        """The measurements by the identity of the operator."""
        found = figures_of(self.plan, [*self.nodes], self.owners)
        if not self.micro_batches:
            found[id(self.plan)] = replace(found[id(self.plan)], rows_out=self.rows)
        return found

    @property
    def bottleneck(self) -> tuple[Node, float] | None:
        """The operator that takes the largest part of the time of all, and that part; None: none takes a quarter."""
        times = {id(node): self.figures[id(node)].time or 0 for node in self.plan.walk()}
        top = max(self.plan.walk(), key=lambda node: times[id(node)])
        part = times[id(top)] / (sum(times.values()) or 1)
        return (top, part) if part >= NOTABLE else None

    @cached_property
    def of_batches(self) -> dict[int, dict[int, Figures]]:
        """The same for each micro-batch that Spark reports, by its number."""
        return {
            run.batch: figures_of(self.plan, [*run.root.walk()], attributed(self.plan, run.root))
            for run in self.runs
            if run.batch is not None
        }

    @property
    def nodes(self) -> Iterator[SparkNode]:
        """All of Spark's nodes, the result first."""
        return iter(()) if self.run is None else self.run.root.walk()


def figures_of(plan: Node, nodes: Sequence[SparkNode], owners: Mapping[int, Node]) -> dict[int, Figures]:
    """The measurements of each operator of a plan, by its identity, from the nodes of a run and their operators."""
    owned: dict[int, list[SparkNode]] = {}
    for node in nodes:
        if node.number in owners:
            owned.setdefault(id(owners[node.number]), []).append(node)
    return {id(operator): _figures(owned.get(id(operator), [])) for operator in plan.walk()}


def rows_of(node: SparkNode) -> int | None:
    """The rows that a node outputs; those of its input if it passes all rows on."""
    if ROWS in node.figures:
        return round(node.figures[ROWS].total)
    if node.name.split()[0] in SAME_ROWS and len(node.children) == 1:
        return rows_of(node.children[0])
    return None


def time_of(node: SparkNode) -> float | None:
    """The total of Spark's time metrics for the node, over all tasks; None if there are none."""
    return sum(figure.total for figure in node.times.values()) if node.times else None


def _figures(nodes: list[SparkNode]) -> Figures:
    """The sum over the nodes of one operator, which are ordered from the result down."""
    if not nodes:
        return Figures()
    numbers = {node.number for node in nodes}
    inputs = [child for node in nodes for child in node.children if child.number not in numbers]
    rows_in = [rows_of(child) for child in inputs]
    skews = [each for node in nodes for key in (SPREAD, SHUFFLE) if (each := _skew(node, key)) is not None]
    return Figures(
        rows_in=sum(each for each in rows_in if each is not None) if rows_in and None not in rows_in else None,
        rows_out=rows_of(nodes[0]),
        time=_total(node_time for node in nodes if (node_time := time_of(node)) is not None),
        shuffle=_sum(nodes, SHUFFLE),
        spill=_sum(nodes, SPILL),
        partitions=_whole(next((n.figures[PARTITIONS].total for n in nodes if PARTITIONS in n.figures), None)),
        skew=max(skews, default=None),
        state_bytes=_sum(nodes, STATE_BYTES),
        nodes=tuple(node.number for node in nodes),
    )


def _skew(node: SparkNode, key: str) -> float | None:
    return node.figures[key].skew if key in node.figures else None


def _sum(nodes: list[SparkNode], key: str) -> float | None:
    return _total(node.figures[key].total for node in nodes if key in node.figures)


def _total(values: Iterator[float]) -> float | None:
    every = [*values]
    return sum(every) if every else None


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
