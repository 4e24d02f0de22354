"""What the operators of a running stream have counted since the run began, for a page that shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tvfsql.runtime.stream.time.channel_states import ChannelState
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

SUMS = {"rowsIn": "rows_in", "windowsOut": "rows_out", "numLateRecordsDropped": "late"}
LATEST = {"stateRows": "state_rows", "stateBytes": "state_bytes", "openSlices": "open_slices"}


@dataclass
class OperatorCounts:
    """The figures of stateful operators, by the name under which Spark observes them, and the rows of each table.

    An operator has rows_in, rows_out and late, summed up; and as of its last micro-batch state_rows, state_bytes,
    open_slices, zone (of its windows; "": their times have none), watermark (epoch seconds; None: before the first one,
    and after the end of the input), ended, fired_end
    (epoch seconds: the end of the oldest window that fired at its end; None: no window did), and channels: each with
    its input, partition, watermark, status, and whether it has ended.
    """

    operators: dict[str, dict[str, Any]] = field(default_factory=dict)
    tables: list[int] = field(default_factory=list)

    def take_table_rows(self, rows: Sequence[int]) -> None:
        """Add the rows of each table in a micro-batch, in the order in which the query reads the tables."""
        before = self.tables if len(self.tables) == len(rows) else [0] * len(rows)
        self.tables = [old + new for old, new in zip(before, rows, strict=True)]

    def take(self, name: str, observed: Mapping[str, Any]) -> None:
        """Add what Spark observed of one operator in a micro-batch."""
        if "stateRows" not in observed:
            return  # a table or a sink
        before = self.operators.get(name, {})
        found: dict[str, Any] = {to: before.get(to, 0) + int(observed.get(of, 0)) for of, to in SUMS.items()}
        found |= {to: int(observed[of]) for of, to in LATEST.items() if of in observed}
        seconds, ended = _seconds(observed.get("watermark"))
        states = (ChannelState(*state) for state in json.loads(observed.get("channels") or "[]"))
        found |= {
            "zone": observed.get("zone", ""),
            "watermark": seconds,
            "ended": ended,
            "channels": [_channel(state) for state in states],
        }
        found |= {"fired_end": None if observed.get("firedEnd") is None else observed["firedEnd"] / 1000}
        self.operators[name] = found

    def copy(self) -> OperatorCounts:
        """The counts as of now."""
        return OperatorCounts(dict(self.operators), self.tables)


def _channel(state: ChannelState) -> dict[str, Any]:
    seconds, ended = _seconds(state.watermark)
    return {**state._asdict(), "watermark": seconds, "ended": ended}


def _seconds(watermark: int | None) -> tuple[float | None, bool]:
    """A watermark (epoch ms) in seconds, and whether it is that of the end of the input."""
    ended = watermark is not None and watermark >= END_OF_INPUT
    return (None if watermark is None or ended else watermark / 1000), ended
