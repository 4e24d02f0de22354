"""The tables that `tvfsql state` prints. Times are wall-clock times of the operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tvfsql.plan.window_nodes import window_label
from tvfsql.runtime.stream.inspect import STATE_TABLES
from tvfsql.runtime.stream.inspect.checkpoint import Operator, StreamState
from tvfsql.runtime.stream.inspect.state_reader import OpenWindow, furthest_behind
from tvfsql.runtime.stream.progress.counts import watermark_text

Row = Sequence[object]


@dataclass(frozen=True)
class Table:
    """A table about streams: its columns with their Spark types, and a function that makes the rows of one stream."""

    title: str
    columns: Mapping[str, str]
    of: Callable[[StreamState], Iterable[Row]]

    @property
    def names(self) -> list[str]:
        return [*self.columns]

    @property
    def types(self) -> list[str]:
        return [*self.columns.values()]

    def rows(self, streams: Iterable[StreamState]) -> Iterator[Row]:
        return (row for stream in streams for row in self.of(stream))


def _streams(stream: StreamState) -> Iterator[Row]:
    yield stream.name, stream.micro_batch, len(stream.operators)


def _operators(operator: Operator) -> Iterator[Row]:
    about, groups = operator.description, operator.groups.values()
    watermarks = [group.watermark for group in groups]
    yield (
        about.operator,
        ", ".join(about.keys),
        ", ".join([*([window_label(about.window)] if about.window else []), *([about.about] if about.about else [])]),
        about.zone or None,
        _least(watermarks),
        None if about.window is None else len(_windows_of(operator)),
        sum(timers.timers for group in groups for timers in group.timers),
        sum(group.rows for group in groups),
        _sum(group.size for group in groups),
    )


def _channels(operator: Operator) -> Iterator[Row]:
    for channel in furthest_behind(operator.groups.values()):
        yield channel.input, channel.partition, _time(channel.watermark), channel.status


def _windows(operator: Operator) -> Iterator[Row]:
    for window in _windows_of(operator):
        yield window.name or None, _time(window.start), _time(window.end), window.rows


def _timers(operator: Operator) -> Iterator[Row]:
    of_groups = [timers for group in operator.groups.values() for timers in group.timers]
    for service, clock in sorted({(timers.service, timers.clock) for timers in of_groups}):
        those = [timers for timers in of_groups if (timers.service, timers.clock) == (service, clock)]
        first = min((timers.first for timers in those if timers.first is not None), default=None)
        yield service, clock.replace("_", " "), sum(timers.timers for timers in those), _time(first)


def _key_groups(operator: Operator) -> Iterator[Row]:
    of_windows = operator.description.window is not None
    if any(group.size is None for group in operator.groups.values()):
        return  # Spark's own aggregate has partitions, and no key groups
    for label, group in operator.groups.items():
        windows = len(group.windows) if of_windows else None
        timers = sum(timers.timers for timers in group.timers)
        yield label, _time(group.watermark), windows, timers, group.rows, group.size


def _table(title: str, columns: Mapping[str, str], of: Callable[[Operator], Iterable[Row]]) -> Table:
    """A table about the operators of streams. `of` makes the rows of one operator."""

    def rows(stream: StreamState) -> Iterator[Row]:
        return ((stream.name, operator.number, *row) for operator in stream.operators for row in of(operator))

    return Table(title, {"stream": "string", "operator": "int", **columns}, rows)


_FIGURES = {"windows": "bigint", "timers": "bigint", "rows": "bigint", "bytes": "bigint"}
TABLES = dict(
    zip(
        STATE_TABLES,
        (
            Table("Streams", {"stream": "string", "micro_batch": "bigint", "operators": "int"}, _streams),
            _table(
                "Operators",
                dict.fromkeys(("kind", "keys", "details", "zone", "watermark"), "string") | _FIGURES,
                _operators,
            ),
            _table(
                "Channels",
                {"input": "int", "partition": "string", "watermark": "string", "status": "string"},
                _channels,
            ),
            _table(
                "Open windows",
                dict.fromkeys(("window_name", "window_start", "window_end"), "string") | {"rows": "bigint"},
                _windows,
            ),
            _table("Timers", {"service": "string", "clock": "string", "timers": "bigint", "first": "string"}, _timers),
            _table("Key groups", {"key_group": "int", "watermark": "string"} | _FIGURES, _key_groups),
        ),
        strict=True,
    )
)


def _windows_of(operator: Operator) -> list[OpenWindow]:
    """The open windows of all key groups. Windows of one name with the same start and end become one row."""
    rows: Counter[tuple[int, int, str]] = Counter()
    for group in operator.groups.values():
        for window in group.windows:
            rows[window.end, window.start, window.name] += window.rows
    return [OpenWindow(start, end, count, name) for (end, start, name), count in sorted(rows.items())]


def _sum(sizes: Iterable[int | None]) -> int | None:
    """The sum; None if one of them is not known."""
    every = [*sizes]
    known = [size for size in every if size is not None]
    return sum(known) if len(known) == len(every) else None


def _least(watermarks: Sequence[int | None]) -> str | None:
    known = [watermark for watermark in watermarks if watermark is not None]
    return _time(min(known)) if len(known) == len(watermarks) and known else None


def _time(ms: int | None) -> str | None:
    return None if ms is None else watermark_text(ms, "")
