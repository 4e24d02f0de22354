"""The plan that Spark ran, with its measurements, read from the store of Spark's SQL page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

ROWS, SHUFFLE, SPILL, PARTITIONS, SPREAD = "rows", "shuffle", "spill", "partitions", "spread"
STATE_BYTES, DURATION = "stateBytes", "duration"
TO_PYTHON, FROM_PYTHON = "toPython", "fromPython"
SENT = "shuffle records written"  # a shuffle's output rows; other nodes count what they send before they end
FIGURES = {
    "number of output rows": ROWS,
    SENT: ROWS,
    "shuffle bytes written": SHUFFLE,
    "spill size": SPILL,
    "number of partitions": PARTITIONS,
    "partition data size": SPREAD,
    "memory used by state": STATE_BYTES,
    "duration": DURATION,
    "data sent to Python workers": TO_PYTHON,
    "data returned from Python workers": FROM_PYTHON,
}
TIMES = (
    "time in aggregation build", "sort time", "scan time", "shuffle write time", "fetch wait time",
    "time to run Python workers", "time to build hash map", "time to build", "time to collect", "time to broadcast",
    "time to update", "time to remove", "time to commit changes",
)  # fmt: skip
PIPELINE = "WholeStageCodegen"
AROUND = ("AdaptiveSparkPlan", "ResultQueryStage", "InputAdapter", "CommandResult")  # nodes that do nothing


@dataclass(frozen=True)
class SparkNode:
    """A node of Spark's plan. `figures` are by the names of this module; `times` are Spark's timers of the node, in ms.

    `pipeline` is the number of the group of nodes that Spark compiled into one function, which has its own duration.
    """

    number: int
    name: str
    text: str
    figures: Mapping[str, Figure]
    times: Mapping[str, Figure]
    pipeline: int | None = None
    children: tuple[SparkNode, ...] = ()

    def walk(self) -> Iterator[SparkNode]:
        """Every node, this one first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class SparkRun:
    """An execution of Spark. `pipelines`: durations in ms of nodes that were compiled into one function, by number.

    `added`: the number of executions that it is the sum of. `batch`: the number of its micro-batch, if it is one.
    """

    root: SparkNode
    pipelines: Mapping[int, Figure]
    added: int = 1
    batch: int | None = None


def runs_of(spark: SparkSession, mark: str) -> list[SparkRun]:
    """The executions of this Spark whose description contains `mark`, in order. Waits until all figures have arrived.

    Executions without figures are left out: Spark keeps two for a micro-batch.
    """
    java: JavaObject = spark
    java._jsc.sc().listenerBus().waitUntilEmpty()
    store = java._jsparkSession.sharedState().statusStore()
    every = store.executionsList()
    executions = (every.apply(i) for i in range(every.size()))
    found = {each.executionId(): text for each in executions if mark in (text := each.description())}
    every_run = [replace(run, batch=_batch(found[number])) for number in sorted(found) if (run := _run(store, number))]
    return [run for run in every_run if any(node.figures or node.times for node in run.root.walk())]


def _batch(description: str) -> int | None:
    """The number in Spark's description of a micro-batch."""
    number = re.search(r"^batch = (\d+)$", description, re.MULTILINE)
    return int(number[1]) if number else None


def sum_of(runs: list[SparkRun]) -> SparkRun:
    """The sum of several runs: the micro-batches of a stream whose plans have the shape of the first."""
    first, *others = runs
    for other in others:
        if _shape(other.root) == _shape(first.root):
            pipelines = {
                k: v.plus(other.pipelines[k]) if k in other.pipelines else v for k, v in first.pipelines.items()
            }
            first = SparkRun(_sum(first.root, other.root), pipelines, first.added + 1)
    return first


def _sum(one: SparkNode, other: SparkNode) -> SparkNode:
    def added(left: Mapping[str, Figure], right: Mapping[str, Figure]) -> dict[str, Figure]:
        latest = (STATE_BYTES, PARTITIONS)  # as of the last micro-batch
        both = {k: v.plus(right[k]) if k in right and k not in latest else right.get(k, v) for k, v in left.items()}
        return {**right, **both}

    figures, times = added(one.figures, other.figures), added(one.times, other.times)
    children = tuple(_sum(*pair) for pair in zip(one.children, other.children, strict=True))
    return replace(one, figures=figures, times=times, children=children)


def _shape(node: SparkNode) -> tuple[Any, ...]:
    return node.name, *map(_shape, node.children)


def _run(store: JavaObject, number: int) -> SparkRun | None:
    """An execution; None if it has no plan, or no node that does something."""
    values, graph = store.executionMetrics(number), store.planGraph(number)
    found: dict[int, tuple[str, str, dict[str, Figure], dict[str, Figure], int | None]] = {}
    pipelines: dict[int, Figure] = {}
    for node in _each(graph.nodes()):
        figures, times = _measured(node, values)
        if node.name().startswith(PIPELINE):
            if DURATION in figures:
                pipelines[node.id()] = figures[DURATION]
            for inner in _each(node.nodes()):
                found[inner.id()] = (inner.name(), inner.desc(), *_measured(inner, values), node.id())
        else:
            found[node.id()] = (node.name(), node.desc(), figures, times, None)
    below: dict[int, list[int]] = {}
    above: set[int] = set()
    for edge in _each(graph.edges()):
        below.setdefault(edge.toId(), []).append(edge.fromId())
        above.add(edge.fromId())

    def built(id: int) -> list[SparkNode]:
        name, text, figures, times, pipeline = found[id]
        children = tuple(node for child in sorted(below.get(id, ())) for node in built(child))
        if name.startswith(AROUND):
            return [*children]
        return [SparkNode(id, name.strip(), text, figures, times, pipeline, children)]

    roots = [node for id in sorted(found) if id not in above for node in built(id)]
    return SparkRun(roots[0], pipelines) if roots else None


def _measured(node: JavaObject, values: JavaObject) -> tuple[dict[str, Figure], dict[str, Figure]]:
    figures: dict[str, Figure] = {}
    times: dict[str, Figure] = {}
    for metric in _each(node.metrics()):
        name = metric.name()
        if (name not in FIGURES and name not in TIMES) or (name == SENT and "Exchange" not in node.name()):
            continue
        text = values.get(metric.accumulatorId())
        figure = read_figure(text.get()) if text.isDefined() else None
        if figure is not None and name in TIMES:
            times[name] = figure
        elif figure is not None and not (FIGURES[name] in figures and figure.total == 0):
            figures[FIGURES[name]] = figure
    return figures, times


def _each(scala: JavaObject) -> Iterator[JavaObject]:
    iterator = scala.iterator()
    while iterator.hasNext():
        yield iterator.next()


# Figures as numbers, from the texts on Spark's SQL page: rows, milliseconds, bytes.


UNITS = {
    "ms": 1.0,
    "s": 1_000.0,
    "m": 60_000.0,
    "h": 3_600_000.0,
    **{f"{prefix}B": 1024.0**power for power, prefix in enumerate(("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))},
}
NUMBER = re.compile(r"(-?\d[\d,]*(?:\.\d+)?)(?: ([A-Za-z]+))?")


@dataclass(frozen=True)
class Figure:
    """A figure over all tasks. `middle` and `most` are the figures of the median and of the largest task; None: one
    task."""

    total: float
    middle: float | None = None
    most: float | None = None

    @property
    def skew(self) -> float | None:
        """The ratio of the largest task to the median; None for a single task, or if the median is 0."""
        return None if not self.middle or self.most is None else self.most / self.middle

    def plus(self, other: Figure) -> Figure:
        """The sum of two micro-batches, with the tasks of the one with more skew."""
        wider = max((self, other), key=lambda each: each.skew or 0.0)
        return Figure(self.total + other.total, wider.middle, wider.most)


def read_figure(text: str) -> Figure | None:
    """A figure from `46,462`, `4.9 s`, `1814.9 KiB`, or a total with minimum, median and maximum. None for other texts.

    The texts have at most four digits, so bytes and times are rounded; rows are exact.
    """
    _, of_tasks, values = text.rpartition("\n")
    numbers = [_number(*found) for found in NUMBER.findall(re.sub(r"\(stage [^)]*\)", "", values))]
    if not numbers or any(number is None for number in numbers):
        return None
    known = [number for number in numbers if number is not None]
    if not of_tasks:
        return Figure(known[0])
    if len(known) == 4:
        return Figure(known[0], known[2], known[3])
    return Figure(known[1], known[1], known[2]) if len(known) == 3 else None


def _number(digits: str, unit: str) -> float | None:
    value = float(digits.replace(",", ""))
    return value * UNITS[unit] if unit in UNITS else None if unit else value
