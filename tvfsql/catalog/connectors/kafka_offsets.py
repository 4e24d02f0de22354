"""Where the `kafka` connector starts and ends reading: `scan.startup.*` and `scan.bounded.*` of Flink."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from tvfsql.plan.tables.options import TableOptions

STARTUP_MODES = ("earliest-offset", "latest-offset", "timestamp", "specific-offsets")
BOUNDED_MODES = ("unbounded", "latest-offset", "timestamp", "specific-offsets")
RESET = "properties.auto.offset.reset"
# Options that are only read together with others.
WITH_MODES = tuple(
    f"scan.{side}.{name}" for side in ("startup", "bounded") for name in ("timestamp-millis", "specific-offsets")
)


@dataclass(frozen=True)
class End:
    """Where reading ends: at the latest offset, or before. `options` are Spark's for reading in batch. `kept` is the
    condition for the messages before the end, in SQL over Spark's columns of messages; streams have no options for it.
    """

    options: tuple[tuple[str, str], ...] = ()
    kept: str | None = None


def starts_at_group(options: TableOptions) -> bool:
    """Whether it starts at the offsets of its consumer group, with a given start for a new group."""
    if "scan.startup.mode" in options:
        return options.text("scan.startup.mode") == "group-offsets"
    return options.text(RESET, "none").lower() in ("earliest", "latest")


def start_of(options: TableOptions, topic: str | None) -> list[tuple[str, str]]:
    """Spark's options for where reading starts without a checkpoint. `topic` is None if there are several."""
    reset = options.word(RESET, ("earliest", "latest", "none"), "none")  # only used for group offsets
    if starts_at_group(options):
        return [("startingOffsets", "earliest" if reset == "none" else reset)]
    match options.word("scan.startup.mode", STARTUP_MODES, STARTUP_MODES[0]):
        case "timestamp":
            return from_time(options.whole("scan.startup.timestamp-millis", least=0))
        case "specific-offsets":
            offsets = _offsets("scan.startup.specific-offsets", options, topic)
            return [("startingOffsets", json.dumps({topic: offsets}))]
        case mode:
            return [("startingOffsets", mode.removesuffix("-offset"))]


def from_time(at: int) -> list[tuple[str, str]]:
    """Spark's options to start at messages from `at` (epoch ms) on. A partition without so new a message starts at its
    next message, as in Flink.
    """
    return [("startingTimestamp", str(at)), ("startingOffsetsByTimestampStrategy", "latest")]


def end_of(options: TableOptions, topic: str | None) -> End | None:
    """Where reading ends; None: a stream does not end, and batch reads what is there."""
    match options.word("scan.bounded.mode", BOUNDED_MODES, BOUNDED_MODES[0]):
        case "unbounded":
            return None
        case "timestamp":
            at = options.whole("scan.bounded.timestamp-millis", least=0)
            return End((("endingTimestamp", str(at)),), f"timestamp < TIMESTAMP_MILLIS({at})")
        case "specific-offsets":
            offsets = _offsets("scan.bounded.specific-offsets", options, topic)
            cases = " ".join(f"WHEN {partition} THEN {offset}" for partition, offset in offsets.items())
            return End((), f"offset < CASE partition {cases} ELSE 0 END")  # nothing of other partitions, as in Flink
        case _:
            return End()


def _offsets(name: str, options: TableOptions, topic: str | None) -> dict[str, int]:
    """Offsets by partition."""
    text = options.text(name, example="partition:0,offset:42;partition:1,offset:300")
    found = [re.fullmatch(r"\s*partition:(\d+),\s*offset:(\d+)\s*", part) for part in text.split(";") if part]
    offsets = {pair[1]: int(pair[2]) for pair in found if pair}
    if topic is None or not found or len(offsets) < len(found):
        problem = "needs a single topic" if topic is None else f"cannot be {text!r}"
        raise options.error(name, problem, "'partition:0,offset:42;partition:1,offset:300'")
    return offsets
