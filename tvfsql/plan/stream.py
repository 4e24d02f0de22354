"""The settings of a streaming operator besides its window and keys, as one value from the lowering to the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from tvfsql.plan.values.times import duration

KEY_GROUPS = 4  # of a stream that nobody told a number, where the cores are not known
REAL_TIME = 5_000  # ms that a micro-batch of Spark's real-time mode lasts at least
PACE, PACE_BETWEEN_WINDOWS = 500, 2_000  # ms between micro-batches of a stream that nobody told others


@dataclass(frozen=True)
class StreamContext:
    """The time that an operator follows, its inputs and parallelism, and what it emits besides its results.

    `zone`: the time zone whose wall clock windows follow; watermarks are instants then. "": times have no zone.
    `inputs`: the name prefixes of its channels, one per stream of a union or side of a join; the operator waits for
    each of them. `delay`: the watermark of each row is its time minus so many ms; None: it is in the column
    `$watermark`. `proctime`: it follows processing time, so its watermark is the time of the micro-batch. `on_event`: a
    watermark counts from the next row on, not from the next micro-batch on. `key_groups`: how many tasks can share its
    state; None: the run decides. `marks`: it emits its own watermark, in the columns MARKS. `late`: it emits late rows,
    in the column LATE. `adjust`: late rows count in the first open window. `firing`: when its windows fire besides at
    their end. `by_input`: each input has a watermark of its own, as if an operator had it alone; its rows are late by
    that one, and the operator's watermark is the least of them.
    """

    zone: str = ""
    inputs: Sequence[str] = ("",)
    delay: int | None = None
    proctime: bool = False
    on_event: bool = False
    key_groups: int | None = None
    marks: bool = False
    late: bool = False
    adjust: bool = False
    firing: Firing | None = None
    by_input: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))  # emitted programs write a list

    @property
    def emits_changes(self) -> bool:
        """Whether a result can replace an earlier one."""
        return self.firing is not None and not self.firing.purge


# The defaults of the runtime.
ONE_INPUT, TWO_INPUTS = StreamContext(), StreamContext(inputs=("1/", "2/"))


class StreamOptions(TypedDict, total=False):
    """The fields of `StreamContext` as keyword arguments of emitted programs: `**options: Unpack[StreamOptions]`. The
    runtime calls `StreamContext(**options)`.
    """

    zone: str
    inputs: Sequence[str]
    delay: int | None
    proctime: bool
    on_event: bool
    key_groups: int | None
    marks: bool
    late: bool
    adjust: bool
    firing: Firing | None
    by_input: bool


# Early and late firing: when windows of a stream emit results besides at their end.
#
# Source: semantics.md#early-and-late-firing.


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
