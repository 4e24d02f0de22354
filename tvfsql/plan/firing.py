"""Early and late firing: when windows of a stream emit results other than at their end.

Source: semantics.md#early-and-late-firing.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.plan.durations import duration


@dataclass(frozen=True)
class Firing:
    """Before their end, and after it for rows that come late. Times are in ms.

    `early`: how long after a row its open windows emit what they hold, by processing time; 0: in the micro-batch
    of the row; None: never. `lateness`: how long after its end (by event time) a window still takes rows. `late`: the
    same as `early` for rows that come after the end. What is emitted is the whole result, which takes the place
    of the one before it, or with `purge` what the rows since then amount to.
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
