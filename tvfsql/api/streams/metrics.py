"""Metrics that need the plan of a stream: the watermarks of its tables, and the delay of its windows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tvfsql.api.program import Program

if TYPE_CHECKING:
    from tvfsql.runtime.stream.progress.metrics import Metrics

DELAY = "window_delay_seconds"


def by_table(metrics: Metrics, program: Program, before: Metrics | None) -> Metrics:
    """The metrics of a micro-batch with `channels` and window_delay_seconds. `before`: those of the micro-batch before
    it, whose delay holds until windows fire again.

    A table that several operators read has the watermark of the one that is furthest behind.
    """
    latest = dict(metrics.latest)
    of_operators = metrics.operators.operators
    fired = [of_operators[name].get("fired_end") for name in program.last_operators if name in of_operators]
    if ends := [end for end in fired if end is not None]:
        latest[DELAY] = round(metrics.time - min(ends), 3)
    elif before is not None and DELAY in before.latest:
        latest[DELAY] = before.latest[DELAY]
    return replace(metrics, latest=latest, channels=_channels(metrics, program))


def _channels(metrics: Metrics, program: Program) -> tuple[dict[str, Any], ...]:
    found: dict[tuple[str, str | None], dict[str, Any]] = {}
    for name, tables in program.input_tables.items():
        operator = metrics.operators.operators.get(name, {"ended": True})
        for channel in () if operator["ended"] else operator["channels"]:
            table, partition, watermark = tables[channel["input"] - 1], channel["partition"], channel["watermark"]
            if table is None or channel["ended"]:
                continue
            told = {"table": table, "partition": partition, "status": channel["status"]}
            if watermark is not None:
                told |= {"watermark": watermark, "watermark_lag_seconds": round(metrics.time - watermark, 3)}
            known = found.get((table, partition))
            if known is None or _behind(told, known):
                found[table, partition] = told
    return tuple(found.values())


def _behind(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return "watermark" in other and one.get("watermark", float("-inf")) < other["watermark"]
