"""Early and late firing: when windows of a stream emit results besides at their end.

Source: semantics.md#early-and-late-firing.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.plan.values.durations import duration


@dataclass(frozen=True)
class Firing:
    """When a window fires before its end, and after its end for late rows. Times are in ms.

    `early` is the processing time from a row to the early firing of its open windows; 0: in the row's micro-batch;
    None: no early firing. `lateness` is how long after its end, in event time, a window still accepts rows. `late` is
    like `early`, for rows that arrive after the end. A firing emits the whole result, which replaces the earlier one;
    with `purge` it emits the result of the rows since the last firing.
    """

    early: int | None = None
    late: int = 0
    lateness: int = 0
    purge: bool = False

    @property
    def label(self) -> str:
        """As EXPLAIN prints it: `early delay 1 s, late no delay, lateness 10 min`."""
        parts = [] if self.early is None else [f"early {_delay(self.early)}"]
        if self.lateness:
            parts += [f"late {_delay(self.late)}", f"lateness {duration(self.lateness)}"]
        return ", ".join([*parts, *(["purge"] if self.purge else [])])


def _delay(ms: int) -> str:
    return f"delay {duration(ms)}" if ms else "no delay"
