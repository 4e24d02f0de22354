"""How the streams of a program run: each is a job of `run_streams`, in a program and in a Session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tvfsql.catalog import Table
from tvfsql.catalog.connectors import Kafka, Managed
from tvfsql.catalog.connectors.connector import FORMATS
from tvfsql.catalog.connectors.generated import Generated
from tvfsql.emit.python_module import literal
from tvfsql.emit.tables.sources import STREAM
from tvfsql.options import StreamOptions
from tvfsql.physical.operators import LateOutput, StreamOperator, TableSourceScan
from tvfsql.physical.streams.window_ends import waits_for_windows
from tvfsql.plan.analysis.sharing import by_itself, shared_by
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Limit
from tvfsql.plan.start_mode import USUAL
from tvfsql.plan.stream import PACE, REAL_TIME
from tvfsql.runtime.stream.lives.idle_sources import Source

CHECKPOINT = "checkpoint"  # in the program's working directory
OF_LETTERS = "-dead-letters"  # appended to a stream's name, it names the stream of its dead letters


def job_arguments(plans: Sequence[Node], sinks: Iterable[Table | None], options: StreamOptions) -> dict[str, Any]:
    """The fields of a stream's `Job` that differ from their defaults, apart from the one that makes its writer.

    `plans` are physical plans that run as one stream, `sinks` the tables that they fill.
    """
    sinks = [*sinks]
    operators = [node for plan in (*plans, *shared_by(plans)) for node in by_itself(plan).walk()]
    scans = [node for node in operators if isinstance(node, TableSourceScan)]
    read = [node.source for node in scans if node.streaming]
    late = (table for node in operators if isinstance(node, LateOutput) for table in node.tables)
    endless = any(table.connector is not None and table.connector.endless for table in read)
    first = first_rows(plans[0])
    interval = (options.interval or _monitoring(read)) if endless else 0
    real_time = (interval or REAL_TIME) if endless and options.real_time else 0
    arguments: dict[str, Any] = {
        "reads": [_source(table, options.idle_timeout, beside_endless=endless) for table in read],
        "looks_up": list(dict.fromkeys(node.source.name for node in scans if not node.streaming)),
        "writes": _folders(table for table in sinks if not _is_managed(table)),
        "late": _folders([*late, *(table for table in sinks if _is_managed(table))]),
        "endless": endless,
        "idle_advance": options.idle_advance,
        "keeps_late": any(isinstance(node, LateOutput) and node.every for node in operators),
        "count_missing_files": options.count_missing_files,
        "interval": 0 if real_time else interval,
        "real_time": real_time,
        "name": options.name,
        "final": options.final,
        "start": str(options.start) if options.start != USUAL else "",
    }
    paced = _pace(plans, options) if endless and not interval and not real_time else {}
    given = {name: value for name, value in arguments.items() if value} | paced
    return given | ({} if first is None else _limit(first))


def _pace(plans: Sequence[Node], options: StreamOptions) -> dict[str, Any]:
    pace = {} if options.pace == PACE else {"pace": options.pace}
    rare = options.pace and options.between_windows > options.pace and all(map(waits_for_windows, plans))
    return pace | ({"between_windows": options.between_windows} if rare else {})


def _limit(first: Limit) -> dict[str, Any]:
    stateful = any(isinstance(node, StreamOperator) for node in first.walk())
    more = {"offset": first.offset, "stateful": stateful}
    return {"limit": first.count, **{name: value for name, value in more.items() if value}}


def first_rows(plan: Node) -> Limit | None:
    """The LIMIT of a SELECT from a stream, which stops after so many rows: the job takes them, not the plan below."""
    return plan if isinstance(plan, Limit) and is_stream(plan) else None


def is_stream(plan: Node) -> bool:
    parts = (node for part in (plan, *shared_by([plan])) for node in part.walk())
    return any(isinstance(node, TableSourceScan) and node.streaming for node in parts)


def _monitoring(tables: Sequence[Table]) -> int:
    """How often a stream looks for new files, in ms, if it reads nothing else; 0: as soon as it can."""
    every = [table.connector.every if table.connector is not None else 0 for table in tables]
    return min(every, default=0)


def letter_scans(plans: Sequence[Node]) -> list[TableSourceScan]:
    """The scans of a stream whose rows may be unreadable, one per table and set of columns."""
    operators = [node for plan in (*plans, *shared_by(plans)) for node in by_itself(plan).walk()]
    found = (node for node in operators if isinstance(node, TableSourceScan) and node.dead_letters is not None)
    return list(dict.fromkeys(found))


def letter_arguments(plans: Sequence[Node], options: StreamOptions) -> dict[str, Any]:
    """The fields of the `Job` for a stream's dead letters."""
    scans = letter_scans(plans)
    told = job_arguments(scans, [], options) | {"late": _folders([scans[0].dead_letters])}
    name = f"{options.name}{OF_LETTERS}" if options.name else ""
    told |= {"name": name, "beside": True, "start": ""}
    return {key: value for key, value in told.items() if value}


def job_text(build: str, arguments: Mapping[str, Any], checkpoint: str | None) -> str:
    """The text that makes a `Job`, with its checkpoint's folder."""
    given = [f"{name}={_text(value)}" for name, value in arguments.items()]
    given += [f"checkpoint={literal(checkpoint)}"] if checkpoint is not None else []
    return f"Job({', '.join([build, *given])})"


def imports(arguments: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """The imports that the code of some jobs needs."""
    names = {"Job", "run_streams"} | ({"Source"} if any(each.get("reads") for each in arguments) else set())
    return {(STREAM, name) for name in names}


def _source(table: Table, usual: int, *, beside_endless: bool) -> Source:
    timeout = usual if table.idle_timeout is None else table.idle_timeout
    connector = table.connector
    by_topic = isinstance(connector, Kafka) and connector.topic is None
    cleaned = connector is not None and dict(connector.options).get("cleanSource", "off").lower() != "off"
    files = connector is not None and (connector.path is not None or connector.format in FORMATS)
    knows_its_end = files or isinstance(connector, Generated)
    bounded = connector is None or not connector.endless
    ends = beside_endless and bounded and (knows_its_end or isinstance(connector, Kafka))
    in_order = connector is not None and connector.in_order
    return Source(table.name, timeout, by_topic, cleaned, bounded and not knows_its_end, in_order, ends)


def _folders(tables: Iterable[Table | None]) -> list[str]:
    """The folders of the tables that are files."""
    connectors = (table.connector for table in tables if table and table.connector and table.connector.of_files)
    return [connector.path for connector in connectors if connector.path is not None]


def _is_managed(table: Table | None) -> bool:
    return table is not None and isinstance(table.connector, Managed)


def _text(value: Any) -> str:
    if isinstance(value, Source):
        timeout = [f"timeout={value.timeout:_}"] if value.timeout else []
        names = ("by_topic", "cleaned", "snapshot", "in_order", "ends")
        flags = [f"{name}=True" for name in names if getattr(value, name)]
        return f"Source({', '.join([literal(value.table), *timeout, *flags])})"
    return f"[{', '.join(map(_text, value))}]" if isinstance(value, list) else literal(value)
