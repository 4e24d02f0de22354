"""Reports the measurements as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tvfsql.api.analyze.attributed import kind
from tvfsql.api.analyze.measured import Figures, Measured, rows_of, time_of
from tvfsql.api.explain import html
from tvfsql.api.program import Stages
from tvfsql.physical.sentences import sentence
from tvfsql.plan.node import Node
from tvfsql.runtime.measured import PARTITIONS, SHUFFLE, SPILL, SparkNode

NOTE = (
    "time: Spark's own counters of all tasks, which can include waiting for the input; "
    "bytes are as Spark rounds them; -: Spark does not tell"
)
LISTED = 10  # the most micro-batches whose operators are printed
LONGEST = 100  # the most characters of a node's text
Column = tuple[str, Callable[[Figures], str]]
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def told(measured: Measured, query: Stages, format: str) -> str:
    """The report as `text` or `json`, or on the `html` page of the query."""
    if format == "html":
        return html([query], lambda node: _shown(measured.figures.get(id(node), Figures())))
    return as_json(measured) if format == "json" else text(measured)


def _shown(figures: Figures) -> dict[str, float | None]:
    """The figures for the table on the page."""
    return {
        "rows in": figures.rows_in,
        "rows out": figures.rows_out,
        "ms": figures.time,
        "shuffle bytes": figures.shuffle,
        "spill bytes": figures.spill,
        "state bytes": figures.state_bytes,
        "partitions": figures.partitions,
        "skew": None if figures.skew is None else round(figures.skew, 1),
    }


def text(measured: Measured) -> str:
    """A table of operators, one of micro-batches for a stream, and one of Spark's nodes."""
    parts = [f"{measured.rows:,} row{'s' if measured.rows != 1 else ''} in {_time(measured.seconds * 1000)}"]
    if measured.bottleneck is not None:
        node, part = measured.bottleneck
        parts[0] += f"\nbottleneck: {node.title} takes {part:.0%} of the operators' time; it {sentence(node)}"
    if measured.micro_batches:
        parts += ["== Micro-batches ==", _micro_batches(measured)]
    parts += [f"== Operators{_of_batches(measured)} ==", _operators(measured)]
    if len(measured.of_batches) > 1:
        parts += ["== Operators by micro-batch ==", _by_batch(measured)]
    if measured.run is not None:
        parts += ["== Spark's nodes ==", _nodes(measured)]
    return "\n\n".join(["\n".join(pair) for pair in _pairs(parts)] + [NOTE])


def _of_batches(measured: Measured) -> str:
    """Which micro-batches the figures cover: Spark plans a micro-batch without rows differently."""
    batches, run = len(measured.micro_batches), measured.run
    if not batches or run is None:
        return ""
    return f", sum of {run.added} of {batches} micro-batches" + (
        ": others had other plans" if run.added < batches else ""
    )


def data(measured: Measured) -> dict[str, Any]:
    """The same as data: rows, ms and bytes; null if Spark does not report it."""
    found: dict[str, Any] = {"rows": measured.rows, "ms": round(measured.seconds * 1000)}
    if measured.micro_batches:
        found["microBatches"] = [vars(each) | _of_batch(measured, each.number) for each in measured.micro_batches]
    found["plan"] = _operator(measured, measured.plan)
    found["spark"] = [_node(measured, node) for node in measured.nodes]
    pipelines = measured.run.pipelines if measured.run else {}
    found["pipelines"] = {number: figure.total for number, figure in pipelines.items()}
    return found


def as_json(measured: Measured) -> str:
    return json.dumps(data(measured), indent=2, ensure_ascii=False)


def _pairs(parts: list[str]) -> Iterator[list[str]]:
    yield parts[:1]
    for i in range(1, len(parts), 2):
        yield parts[i : i + 2]


# ------------------------------------------------------------------------------------------ text


COLUMNS: tuple[Column, ...] = (
    ("rows in", lambda each: _count(each.rows_in)),
    ("rows out", lambda each: _count(each.rows_out)),
    ("time", lambda each: _time(each.time)),
    ("shuffle", lambda each: _size(each.shuffle)),
    ("spill", lambda each: _size(each.spill)),
    ("state", lambda each: _size(each.state_bytes)),
    ("partitions", lambda each: _count(each.partitions)),
    ("skew", lambda each: "-" if each.skew is None else f"{each.skew:.1f}"),
)


def _operators(measured: Measured) -> str:
    lines = [*_tree(measured.plan)]
    return _table([measured.figures[id(node)] for _, node in lines], "operator", [line for line, _ in lines])


def _by_batch(measured: Measured) -> str:
    """The operators of the last micro-batches; JSON has all."""
    nodes = [*measured.plan.walk()]
    numbers = sorted(measured.of_batches)
    figures = [measured.of_batches[number][id(node)] for number in numbers[-LISTED:] for node in nodes]
    texts = [f"{number}  {kind(node)}" for number in numbers[-LISTED:] for node in nodes]
    table = _table(figures, "micro-batch and operator", texts)
    return table if len(numbers) <= LISTED else f"{table}\nthe last {LISTED} of {len(numbers)}; JSON has all"


def _table(rows: Sequence[Figures], last: str, texts: Sequence[str]) -> str:
    """Figures in the columns that have some."""
    used = [
        (name, show)
        for name, show in COLUMNS
        if name in ("rows in", "rows out", "time") or any(show(each) != "-" for each in rows)
    ]
    return _aligned([name for name, _ in used], [[show(each) for _, show in used] for each in rows], last, texts)


def _tree(node: Node, head: str = "", rest: str = "") -> Iterator[tuple[str, Node]]:
    yield head + node.label(), node
    for i, child in enumerate(node.children):
        last = i == len(node.children) - 1
        yield from _tree(child, rest + ("+- " if last else ":- "), rest + ("   " if last else ":  "))


def _nodes(measured: Measured) -> str:
    """Each of Spark's nodes with its operator, then the nodes that Spark compiled into one function."""
    rows, texts = [], []
    for node in measured.nodes:
        owner = measured.owners.get(node.number)
        rows.append(
            [
                _count(rows_of(node)),
                _time(time_of(node)),
                _size(_total(node, SHUFFLE)),
                _size(_total(node, SPILL)),
                _count(_total(node, PARTITIONS)),
                kind(owner) if owner else "-",
            ]
        )
        texts.append(_cut(node.text))
    table = _aligned(["rows out", "time", "shuffle", "spill", "partitions", "operator"], rows, "node", texts)
    assert measured.run is not None
    lines = []
    for number, duration in sorted(measured.run.pipelines.items()):
        names = [node.name for node in measured.nodes if node.pipeline == number]
        lines.append(f"{_time(duration.total)} in one pipeline, with its input: {', '.join(names)}")
    return "\n".join([table, *lines])


def _micro_batches(measured: Measured) -> str:
    heads = ["rows in", "rows out", "time", "state rows", "state", "late"]
    batches = measured.micro_batches
    rows = [
        [
            _count(each.rows_in),
            _count(each.rows_out),
            _time(each.time),
            _count(each.state_rows),
            _size(each.state_bytes),
            _count(each.late),
        ]
        for each in batches
    ]
    last = batches[-1]
    total = [sum(each.rows_in for each in batches), sum(each.rows_out for each in batches)]
    time, late = sum(each.time for each in batches), sum(each.late for each in batches)
    rows.append([*map(_count, total), _time(time), _count(last.state_rows), _size(last.state_bytes), _count(late)])
    texts = [f"{each.number}{f'  watermark {each.watermark}' if each.watermark else ''}" for each in batches]
    return _aligned(heads, rows, "micro-batch", [*texts, "sum"])


def _aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], last: str, texts: Sequence[str]) -> str:
    """Right-aligned columns, followed by texts of any length."""
    widths = [max(len(head), *(len(row[i]) for row in rows)) for i, head in enumerate(heads)]

    def line(cells: Sequence[str], text: str) -> str:
        return "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)) + f"  {text}"

    return "\n".join([line(heads, last), *(line(row, text) for row, text in zip(rows, texts, strict=True))])


def _cut(line: str) -> str:
    shown = " ".join(line.split())
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} ..."


def _total(node: SparkNode, key: str) -> float | None:
    return node.figures[key].total if key in node.figures else None


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _time(ms: float | None) -> str:
    return "-" if ms is None else f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _size(size: float | None) -> str:
    if size is None:
        return "-"
    at = 0
    while size >= 1024 and at < len(UNITS) - 1:
        size, at = size / 1024, at + 1
    return f"{size:.1f} {UNITS[at]}" if at else f"{size:.0f} B"


# ------------------------------------------------------------------------------------------ data


def _operator(measured: Measured, node: Node) -> dict[str, Any]:
    figures = measured.figures[id(node)]
    return {
        "operator": kind(node),
        **dict(node.details()),
        **_figures(figures),
        "spark": list(figures.nodes),
        "inputs": [_operator(measured, child) for child in node.children],
    }


def _of_batch(measured: Measured, number: int) -> dict[str, Any]:
    """The operators of a micro-batch, the result first; null if Spark does not report it."""
    found = measured.of_batches.get(number)
    operators = found and [{"operator": kind(node), **_figures(found[id(node)])} for node in measured.plan.walk()]
    return {"operators": operators}


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "rowsIn": figures.rows_in,
        "rowsOut": figures.rows_out,
        "ms": figures.time,
        "shuffleBytes": figures.shuffle,
        "spillBytes": figures.spill,
        "partitions": figures.partitions,
        "skew": figures.skew,
        "stateBytes": figures.state_bytes,
    }


def _node(measured: Measured, node: SparkNode) -> dict[str, Any]:
    owner = measured.owners.get(node.number)
    return {
        "node": node.number,
        "name": node.name,
        "text": node.text,
        "operator": kind(owner) if owner else None,
        **{name: figure.total for name, figure in node.figures.items()},
        "ms": time_of(node),
        "times": {name: figure.total for name, figure in node.times.items()},
        "pipeline": node.pipeline,
        "inputs": [child.number for child in node.children],
    }
